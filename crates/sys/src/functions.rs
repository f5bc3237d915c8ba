//! Functions of schema sys: parameters, types and bodies.
//!
//! Those that only compute are Rust, registered with each connection. Those that read tables are a
//! SELECT, which the rewriter inserts where the function is called. Its `?` are the arguments, each used once,
//! in a derived table of its own, so that a name in an argument cannot mean a column of a table that the
//! SELECT reads.

mod list;

use std::sync::{Arc, OnceLock};

use sqlparser::ast::{Expr, Query, Statement, Value};

use tare_dialect::Mode;
use tare_dialect::error::{Error, Result};
use tare_dialect::function::Evaluation;
use tare_dialect::node;
use tare_dialect::rewrite::Rewriter;
use tare_dialect::schema::{RewrittenQuery, Routine};
use tare_dialect::walk;
use tare_functions::{EvaluationContext, Scalar, scalar};
use tare_mysql::interrupt;
use tare_mysql::series::Series;
use tare_query::schema::SystemSchema;

use crate::{Sys, arguments};

pub use self::list::FUNCTIONS;

/// How a function is evaluated.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// By the SQLite function `tare_sys_NAME`, with this body.
    Native(Evaluation, Scalar),
    /// By a SELECT in MySQL's dialect.
    Select(&'static str),
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Its parameters: name and type.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The type of its value.
    pub returns: &'static str,
    /// How it is evaluated.
    pub body: Body,
    rewritten: OnceLock<Result<RewrittenQuery>>,
}

const fn function(
    name: &'static str,
    doc: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    returns: &'static str,
    body: Body,
) -> Function {
    Function {
        name,
        doc,
        parameters,
        returns,
        body,
        rewritten: OnceLock::new(),
    }
}

/// The functions that MySQL also has.
pub fn public() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().filter(|f| !f.name.starts_with("tare_"))
}

/// A function by its name, without case.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name.eq_ignore_ascii_case(name))
}

/// Gives a connection the functions that are not SELECTs.
pub fn register(
    db: &rusqlite::Connection,
    session: &Arc<dyn EvaluationContext>,
) -> rusqlite::Result<()> {
    for function in &FUNCTIONS {
        if let Body::Native(evaluation, body) = function.body {
            let arguments = function.parameters.len() as u8;
            let name = format!("tare_sys_{}", function.name);
            scalar(db, session, &name, arguments, evaluation, body)?;
        }
    }
    Ok(())
}

impl Function {
    fn rewrite(&self, select: &str) -> Result<RewrittenQuery> {
        let Statement::Query(query) = tare_dialect::parse_one(select)? else {
            return Err(tare_dialect::near(self.name));
        };
        let mut schema = SystemSchema::new(Sys::of(Series::default()));
        Rewriter::new(Some("sys"), &mut schema, Mode::default()).rewritten(*query, select)
    }
}

impl Routine for Function {
    fn call(&self, arguments: Vec<Expr>) -> Result<(Expr, &[(String, String)])> {
        if arguments.len() != self.parameters.len() {
            return Err(Error::ArgumentCount {
                kind: "FUNCTION",
                name: self.name,
                expected: self.parameters.len(),
                got: arguments.len(),
            });
        }
        let taken = self.parameters.iter().zip(arguments);
        let arguments: Vec<Expr> = taken
            .map(|((name, kind), argument)| arguments::convert(name, kind, argument))
            .collect();
        let Body::Select(select) = self.body else {
            let name = format!("tare_sys_{}", self.name);
            return Ok((node::call(&name, arguments), &[]));
        };
        let rewritten = self
            .rewritten
            .get_or_init(|| interrupt::ignore_during(|| self.rewrite(select)));
        let RewrittenQuery { query, catalog } = rewritten.as_ref().map_err(Clone::clone)?;
        let mut query = query.clone();
        let filled = substitute(&mut query, &arguments);
        if filled != arguments.len() {
            return Err(tare_dialect::near(self.name));
        }
        Ok((Expr::Subquery(Box::new(query)), catalog))
    }
}

/// Replaces `?1`, `?2` and so on by the arguments, and counts the replacements. Arguments are not searched: a
/// statement may have parameters of its own.
fn substitute(query: &mut Query, arguments: &[Expr]) -> usize {
    let mut filled = 0;
    walk::change_all(query, &mut |e| {
        if let Expr::Value(v) = e
            && let Value::Placeholder(hole) = &v.value
            && let Some(Ok(n)) = hole.strip_prefix('?').map(str::parse::<usize>)
            && let Some(argument) = n.checked_sub(1).and_then(|i| arguments.get(i))
        {
            *e = argument.clone();
            filled += 1;
        }
    });
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_dialect::node::column;

    #[test]
    fn every_body_of_a_function_can_be_rewritten() {
        for function in &FUNCTIONS {
            let arguments = vec![column("x"); function.parameters.len()];
            let (expr, _) = function.call(arguments).expect(function.name);
            let text = expr.to_string();
            assert!(!text.contains('?'), "{text}");
            assert!(function.call(vec![column("x"); 9]).is_err());
        }
    }
}
