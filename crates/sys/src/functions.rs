//! Functions of schema sys: what they are called with and what they give.
//!
//! Those that only compute are Rust, registered with each connection. Those that read tables are a
//! SELECT, which the rewriter puts where the function is called; its `?` are the arguments, each of
//! them named once, in a derived table of its own, so that no name of an argument can mean a column
//! of a table that the SELECT reads.

use std::sync::{Arc, OnceLock};

use sqlparser::ast::{Expr, Query, Statement, Value};

use tare_dialect::Mode;
use tare_dialect::error::{Error, Result};
use tare_dialect::function::Evaluation::{self, Immutable, Stable};
use tare_dialect::node;
use tare_dialect::rewrite::Rewriter;
use tare_dialect::schema::{Rewritten, Routine, Schema};
use tare_dialect::walk;
use tare_functions::{Scalar, Session, scalar};
use tare_mysql::types::parts;
use tare_mysql::watch;

use crate::native;

/// How a function is evaluated.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// By the SQLite function `tare_sys_NAME`, which is this.
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
    rewritten: OnceLock<Result<Rewritten>>,
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

const YES_NO: &str = "enum('YES','NO')";
const ID: &str = "bigint(20) unsigned";

/// Every function, by name.
pub static FUNCTIONS: [Function; 27] = [
    function(
        "extract_schema_from_file_name",
        "The database that a file's path belongs to.",
        &[("path", "varchar(512)")],
        "varchar(64)",
        Body::Native(Immutable, native::extract_schema_from_file_name),
    ),
    function(
        "extract_table_from_file_name",
        "The table that a file's path belongs to, where a table has a file of its own.",
        &[("path", "varchar(512)")],
        "varchar(64)",
        Body::Native(Immutable, native::extract_table_from_file_name),
    ),
    function(
        "format_bytes",
        "Formats a number of bytes, as 4.00 KiB.",
        &[("bytes", "text")],
        "text",
        Body::Native(Immutable, native::format_bytes),
    ),
    function(
        "format_path",
        "Shortens a path: a leading directory that is the value of a system variable, such as \
         @@datadir, becomes that variable's name.",
        &[("in_path", "varchar(512)")],
        "varchar(512)",
        Body::Native(Stable, native::format_path),
    ),
    function(
        "format_statement",
        "Shortens a statement to @sys.statement_truncate_len characters by cutting out the middle.",
        &[("statement", "longtext")],
        "longtext",
        Body::Native(Stable, native::format_statement),
    ),
    function(
        "format_time",
        "Formats a time in picoseconds, as 1.50 ms.",
        &[("picoseconds", "text")],
        "text",
        Body::Native(Immutable, native::format_time),
    ),
    function(
        "list_add",
        "Adds a value to a comma-separated list such as sql_mode.",
        &[("in_list", "text"), ("in_add_value", "text")],
        "text",
        Body::Native(Immutable, native::list_add),
    ),
    function(
        "list_drop",
        "Removes a value from a comma-separated list.",
        &[("in_list", "text"), ("in_drop_value", "text")],
        "text",
        Body::Native(Immutable, native::list_drop),
    ),
    function(
        "ps_is_account_enabled",
        "Whether setup_actors enables instrumentation for an account.",
        &[("in_host", "varchar(60)"), ("in_user", "varchar(32)")],
        YES_NO,
        Body::Select(include_str!("functions/ps_is_account_enabled.sql")),
    ),
    function(
        "ps_is_consumer_enabled",
        "Whether a consumer and all consumers above it are enabled.",
        &[("in_consumer", "varchar(64)")],
        YES_NO,
        Body::Select(include_str!("functions/ps_is_consumer_enabled.sql")),
    ),
    function(
        "ps_is_instrument_default_enabled",
        "Whether an instrument is enabled by default.",
        &[("in_instrument", "varchar(128)")],
        YES_NO,
        Body::Native(Immutable, native::ps_is_instrument_default_enabled),
    ),
    function(
        "ps_is_instrument_default_timed",
        "Whether an instrument is timed by default.",
        &[("in_instrument", "varchar(128)")],
        YES_NO,
        Body::Native(Immutable, native::ps_is_instrument_default_timed),
    ),
    function(
        "ps_is_thread_instrumented",
        "Whether a connection's thread is instrumented; UNKNOWN if there is no such connection.",
        &[("in_connection_id", ID)],
        "enum('YES','NO','UNKNOWN')",
        Body::Select(include_str!("functions/ps_is_thread_instrumented.sql")),
    ),
    function(
        "ps_thread_account",
        "The account of a thread.",
        &[("in_thread_id", ID)],
        "text",
        Body::Select(include_str!("functions/ps_thread_account.sql")),
    ),
    function(
        "ps_thread_id",
        "The THREAD_ID of a connection; for NULL, of the current connection.",
        &[("in_connection_id", ID)],
        ID,
        Body::Select(include_str!("functions/ps_thread_id.sql")),
    ),
    function(
        "ps_thread_stack",
        "A thread's recorded statements, stages and waits, as JSON.",
        &[("thd_id", ID), ("debug", "tinyint(1)")],
        "longtext",
        Body::Select(include_str!("functions/ps_thread_stack.sql")),
    ),
    function(
        "ps_thread_trx_info",
        "A thread's recorded transactions and their statements, as JSON.",
        &[("in_thread_id", ID)],
        "longtext",
        Body::Select(include_str!("functions/ps_thread_trx_info.sql")),
    ),
    function(
        "quote_identifier",
        "Quotes an identifier with backticks.",
        &[("in_identifier", "text")],
        "text",
        Body::Native(Immutable, native::quote_identifier),
    ),
    function(
        "sys_get_config",
        "The value of an option in sys_config, or the given default.",
        &[
            ("in_variable_name", "varchar(128)"),
            ("in_default_value", "varchar(128)"),
        ],
        "varchar(128)",
        Body::Native(Stable, native::sys_get_config),
    ),
    function(
        "version_major",
        "The server's major version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native(Immutable, native::version_major),
    ),
    function(
        "version_minor",
        "The server's minor version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native(Immutable, native::version_minor),
    ),
    function(
        "version_patch",
        "The server's patch version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native(Immutable, native::version_patch),
    ),
    // Not functions that MySQL has: what the SELECTs above need.
    function(
        "tare_fits",
        "Refuses a text that is longer than its parameter.",
        &[
            ("value", "text"),
            ("parameter", "text"),
            ("characters", "bigint(20)"),
        ],
        "text",
        Body::Native(Immutable, native::tare_fits),
    ),
    function(
        "tare_unsigned",
        "Refuses a number below 0.",
        &[("value", "bigint(20)"), ("parameter", "text")],
        ID,
        Body::Native(Immutable, native::tare_unsigned),
    ),
    function(
        "tare_thread_id",
        "PS_THREAD_ID, which takes any number.",
        &[("connection_id", "bigint(20)")],
        ID,
        Body::Select(include_str!("functions/ps_thread_id.sql")),
    ),
    function(
        "tare_no_consumer",
        "Refuses what is no consumer.",
        &[("in_consumer", "text")],
        "text",
        Body::Native(Immutable, native::tare_no_consumer),
    ),
    function(
        "tare_trx_limit",
        "The length at which ps_thread_trx_info stops.",
        &[],
        "bigint(20)",
        Body::Native(Stable, native::tare_trx_limit),
    ),
];

/// The functions that MySQL has, too.
pub fn public() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().filter(|f| !f.name.starts_with("tare_"))
}

/// A function by its name, without case.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name.eq_ignore_ascii_case(name))
}

/// Gives a connection the functions that are not SELECTs.
pub fn register(db: &rusqlite::Connection, session: &Arc<dyn Session>) -> rusqlite::Result<()> {
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
    fn rewrite(&self, select: &str, schema: &mut dyn Schema) -> Result<Rewritten> {
        let Statement::Query(query) = tare_dialect::parse_one(select)? else {
            return Err(tare_dialect::near(self.name));
        };
        Rewriter::new(Some("sys"), schema, Mode::default()).rewritten(*query, select)
    }
}

impl Routine for Function {
    fn call(
        &self,
        arguments: Vec<Expr>,
        schema: &mut dyn Schema,
    ) -> Result<(Expr, &[(String, String)])> {
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
            .map(|((name, kind), argument)| taken_as(name, kind, argument))
            .collect();
        let Body::Select(select) = self.body else {
            let name = format!("tare_sys_{}", self.name);
            return Ok((node::call(&name, arguments), &[]));
        };
        let made = self
            .rewritten
            .get_or_init(|| watch::shared(|| self.rewrite(select, schema)));
        let Rewritten { query, catalog } = made.as_ref().map_err(Clone::clone)?;
        let mut query = query.clone();
        let filled = fill(&mut query, &arguments);
        if filled != arguments.len() {
            return Err(tare_dialect::near(self.name));
        }
        Ok((Expr::Subquery(Box::new(query)), catalog))
    }
}

/// An argument as a parameter takes it: what does not fit is refused, or cut where the mode is not strict.
fn taken_as(name: &str, kind: &str, argument: Expr) -> Expr {
    let kind = parts(kind);
    let name = node::text(name);
    match (kind.base.as_str(), kind.characters()) {
        ("bigint", _) if kind.unsigned => {
            node::call("tare_sys_tare_unsigned", vec![argument, name])
        }
        ("varchar", Some(most)) => {
            let most = node::number(most as i64);
            node::call("tare_sys_tare_fits", vec![argument, name, most])
        }
        _ => argument,
    }
}

/// Puts the arguments in the places of `?1`, `?2` and so on, and returns how many places there were.
/// What is put there is not looked at again: a statement may have parameters of its own.
fn fill(query: &mut Query, arguments: &[Expr]) -> usize {
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
    use crate::Sys;
    use tare_dialect::node::column;
    use tare_query::schema::SystemSchema;

    #[test]
    fn every_body_of_a_function_can_be_rewritten() {
        for function in &FUNCTIONS {
            let mut schema = SystemSchema::new(Sys::of(Default::default()));
            let arguments = vec![column("x"); function.parameters.len()];
            let (expr, _) = function.call(arguments, &mut schema).expect(function.name);
            let text = expr.to_string();
            assert!(!text.contains('?'), "{text}");
            assert!(function.call(vec![column("x"); 9], &mut schema).is_err());
        }
    }
}
