//! Schema sys: inserts its views and functions into statements.

use crate::error::{Error, Result, near};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query, TableAlias, TableFactor,
};

use super::Rewriter;
use crate::name::{ident, last_name};
use crate::node;

/// Functions of schema sys that have the name of a native one.
const NAMESAKES: [&str; 2] = ["format_bytes", "ps_thread_id"];

impl Rewriter<'_> {
    /// The positions of the columns of a view's SELECT that have no type in SQLite: their numbers would compare
    /// with a text as texts.
    pub fn untyped(&mut self, query: &Query, columns: usize) -> Vec<usize> {
        let all = self.names.columns(query).unwrap_or_default();
        let is_typed = |i: &usize| {
            let origin = all.get(*i).and_then(|c| c.origin.as_ref());
            origin.is_some_and(|o| !o.org_table.is_empty())
        };
        (0..columns).filter(|i| !is_typed(i)).collect()
    }

    /// Replaces a view's name by its query, which is rewritten already.
    pub(super) fn expand(&mut self, factor: &mut TableFactor) -> Result<()> {
        let TableFactor::Table { name, alias, .. } = factor else {
            return Ok(());
        };
        if name.0.len() == 1 && self.ctes.contains(&last_name(name).to_lowercase()) {
            return Ok(());
        }
        let (database, table) = self.resolve(name)?;
        if !database.eq_ignore_ascii_case("sys") {
            return Ok(());
        }
        let Some(view) = self.names.schema.view(&table) else {
            return Ok(());
        };
        let rewritten = view.query()?;
        for (database, table) in &rewritten.catalog {
            (self.names.schema).require_table("SELECT", database, table)?;
        }
        self.sql.catalog.extend(rewritten.catalog.iter().cloned());
        let called = alias.take().unwrap_or_else(|| TableAlias {
            explicit: true,
            name: ident(&table),
            columns: Vec::new(),
            at: None,
        });
        *factor = TableFactor::Derived {
            lateral: false,
            subquery: Box::new(rewritten.query.clone()),
            alias: Some(called),
            sample: None,
        };
        Ok(())
    }

    /// The expression of a call of a function of schema sys; `None` for other functions.
    pub(super) fn routine(&mut self, call: &mut Function) -> Result<Option<Expr>> {
        let name = last_name(&call.name);
        let unknown = |schema: &str| Error::NoSuchRoutine {
            kind: "FUNCTION",
            name: format!("{schema}.{name}"),
        };
        let is_native = call.name.0.len() == 1 && name.eq_ignore_ascii_case("ps_thread_id");
        let function = match call.name.0.as_slice() {
            [_] => match self.database {
                _ if is_native => self.names.schema.routine("tare_thread_id"),
                Some(database) if database.eq_ignore_ascii_case("sys") => {
                    self.names.schema.routine(&name)
                }
                _ => None,
            },
            [schema, _] => {
                let schema = schema
                    .as_ident()
                    .map(|i| i.value.clone())
                    .unwrap_or_default();
                if !schema.eq_ignore_ascii_case("sys") {
                    return Err(unknown(&schema));
                }
                let namesake = NAMESAKES.iter().find(|n| n.eq_ignore_ascii_case(&name));
                self.sql.namesakes.extend(namesake);
                Some(
                    self.names
                        .schema
                        .routine(&name)
                        .ok_or_else(|| unknown("sys"))?,
                )
            }
            _ => None,
        };
        let Some(function) = function else {
            return Ok(None);
        };
        let arguments = match &mut call.args {
            FunctionArguments::List(list) => std::mem::take(&mut list.args),
            _ => Vec::new(),
        };
        if is_native && arguments.len() != 1 {
            return Err(Error::ParameterCount(name));
        }
        let arguments = arguments.into_iter().map(|argument| match argument {
            // Of MySQL's own, NULL is no connection; of schema sys, the client's.
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) if is_native => {
                Ok(node::call("tare_connection", vec![e]))
            }
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Ok(e),
            other => Err(near(other)),
        });
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        let (expr, catalog) = function.call(arguments)?;
        for (database, table) in catalog {
            // Everybody may call the native one.
            match is_native {
                true => self.add_table(database, table),
                false => self.require_table("SELECT", database, table)?,
            }
        }
        Ok(Some(expr))
    }
}
