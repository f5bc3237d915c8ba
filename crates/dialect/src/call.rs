//! CALL.

use crate::error::{Error, Result};
use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, SelectItem};

use super::Mode;
use super::near;
use super::plan::Call;
use super::rewrite::Rewriter;
use super::schema::{Direction, Schema};
use crate::name::last_name;
use crate::node::{self, query};

/// The procedure of schema sys that CALL names; there are no others.
pub fn procedure(
    call: Function,
    text: &str,
    database: Option<&str>,
    schemas: &mut dyn Schema,
) -> Result<Call> {
    let name = last_name(&call.name);
    let schema = match call.name.0.as_slice() {
        [_] => database.ok_or(Error::NoDatabase)?.to_owned(),
        [schema, _] => schema
            .as_ident()
            .map(|i| i.value.clone())
            .unwrap_or_default(),
        _ => return Err(near(&call.name)),
    };
    let matched = schemas
        .procedure(&name)
        .filter(|_| schema.eq_ignore_ascii_case("sys"));
    let Some(procedure) = matched else {
        return Err(Error::NoSuchRoutine {
            kind: "PROCEDURE",
            name: format!("{schema}.{name}"),
        });
    };
    let mut arguments = Vec::new();
    if let FunctionArguments::List(list) = call.args {
        for argument in list.args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument else {
                return Err(near(argument));
            };
            arguments.push(e);
        }
    }
    if arguments.len() != procedure.parameters.len() {
        return Err(Error::ArgumentCount {
            kind: "PROCEDURE",
            name: procedure.name,
            expected: procedure.parameters.len(),
            got: arguments.len(),
        });
    }
    let variable = |e: &Expr| match e {
        Expr::Identifier(i) if i.quote_style.is_none() && !i.value.starts_with("@@") => {
            i.value.strip_prefix('@').map(str::to_lowercase)
        }
        _ => None,
    };
    let variables: Vec<Option<String>> = arguments.iter().map(variable).collect();
    for (variable, (direction, parameter, _)) in variables.iter().zip(procedure.parameters) {
        if *direction == Direction::Out && variable.is_none() {
            return Err(Error::NoVariable {
                parameter,
                procedure: procedure.name,
            });
        }
    }
    if arguments.is_empty() {
        arguments.push(node::number(1));
    }
    let items = arguments.into_iter().map(SelectItem::UnnamedExpr).collect();
    let query = query::query(query::select(items));
    Ok(Call {
        procedure,
        values: Rewriter::new(database, schemas, Mode::default()).query(query, text)?,
        variables,
    })
}
