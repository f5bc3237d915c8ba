//! Functions of schema sys: what they are called with and what they give.
//!
//! Those that only compute are Rust, registered with each connection. Those that read tables are a
//! SELECT, which the rewriter puts where the function is called; its `?` are the arguments, each of
//! them named once, in a derived table of its own, so that no name of an argument can mean a column
//! of a table that the SELECT reads.

use std::sync::OnceLock;

use sqlparser::ast::{Expr, Statement};

use tare_dialect::Mode;
use tare_dialect::rewrite::{Rewriter, raw};
use tare_dialect::schema::{Rewritten, Routine, Schema};
use tare_mysql::error::{Result, SqlError};

/// How a function is evaluated.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// By the SQLite function `tare_sys_NAME`.
    Native,
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
pub static FUNCTIONS: [Function; 24] = [
    function(
        "extract_schema_from_file_name",
        "The database that a file belongs to.",
        &[("path", "varchar(512)")],
        "varchar(64)",
        Body::Native,
    ),
    function(
        "extract_table_from_file_name",
        "The table that a file holds, where a table has a file of its own.",
        &[("path", "varchar(512)")],
        "varchar(64)",
        Body::Native,
    ),
    function(
        "format_bytes",
        "A number of bytes for people.",
        &[("bytes", "text")],
        "text",
        Body::Native,
    ),
    function(
        "format_path",
        "A path whose beginning is a variable's value, by that variable.",
        &[("in_path", "varchar(512)")],
        "varchar(512)",
        Body::Native,
    ),
    function(
        "format_statement",
        "A statement cut in the middle to @sys.statement_truncate_len characters.",
        &[("statement", "longtext")],
        "longtext",
        Body::Native,
    ),
    function(
        "format_time",
        "Picoseconds for people.",
        &[("picoseconds", "text")],
        "text",
        Body::Native,
    ),
    function(
        "list_add",
        "A list separated by commas with one more value, as sql_mode is.",
        &[("in_list", "text"), ("in_add_value", "text")],
        "text",
        Body::Native,
    ),
    function(
        "list_drop",
        "A list separated by commas without a value.",
        &[("in_list", "text"), ("in_drop_value", "text")],
        "text",
        Body::Native,
    ),
    function(
        "ps_is_account_enabled",
        "Whether setup_actors lets an account be instrumented.",
        &[("in_host", "varchar(60)"), ("in_user", "varchar(32)")],
        YES_NO,
        Body::Select(include_str!("functions/ps_is_account_enabled.sql")),
    ),
    function(
        "ps_is_consumer_enabled",
        "Whether a consumer and all those that it needs are enabled.",
        &[("in_consumer", "varchar(64)")],
        YES_NO,
        Body::Select(include_str!("functions/ps_is_consumer_enabled.sql")),
    ),
    function(
        "ps_is_instrument_default_enabled",
        "Whether an instrument is enabled when the server starts without options.",
        &[("in_instrument", "varchar(128)")],
        YES_NO,
        Body::Native,
    ),
    function(
        "ps_is_instrument_default_timed",
        "Whether an instrument is timed when the server starts without options.",
        &[("in_instrument", "varchar(128)")],
        YES_NO,
        Body::Native,
    ),
    function(
        "ps_is_thread_instrumented",
        "Whether a connection's thread is instrumented; UNKNOWN without such a connection.",
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
        "The thread of a connection; of this one for NULL.",
        &[("in_connection_id", ID)],
        ID,
        Body::Select(include_str!("functions/ps_thread_id.sql")),
    ),
    function(
        "ps_thread_stack",
        "The statements, stages and waits that a thread remembers, as JSON.",
        &[("thd_id", ID), ("debug", "tinyint(1)")],
        "longtext",
        Body::Select(include_str!("functions/ps_thread_stack.sql")),
    ),
    function(
        "ps_thread_trx_info",
        "The transactions that a thread remembers and their statements, as JSON.",
        &[("in_thread_id", ID)],
        "longtext",
        Body::Select(include_str!("functions/ps_thread_trx_info.sql")),
    ),
    function(
        "quote_identifier",
        "A name in backticks.",
        &[("in_identifier", "text")],
        "text",
        Body::Native,
    ),
    function(
        "sys_get_config",
        "A value of sys_config, or the default that is given.",
        &[
            ("in_variable_name", "varchar(128)"),
            ("in_default_value", "varchar(128)"),
        ],
        "varchar(128)",
        Body::Native,
    ),
    function(
        "version_major",
        "The first part of the server's version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native,
    ),
    function(
        "version_minor",
        "The second part of the server's version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native,
    ),
    function(
        "version_patch",
        "The third part of the server's version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native,
    ),
    // Not functions that MySQL has: what the SELECTs above need.
    function(
        "tare_no_consumer",
        "Refuses what is no consumer.",
        &[("in_consumer", "text")],
        "text",
        Body::Native,
    ),
    function(
        "tare_trx_limit",
        "The length at which ps_thread_trx_info stops.",
        &[],
        "bigint(20)",
        Body::Native,
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

/// Where an argument goes.
fn hole(i: usize) -> String {
    format!("?{}", i + 1)
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
            return Err(SqlError::new(
                1318,
                format!(
                    "Incorrect number of arguments for FUNCTION sys.{}; expected {}, got {}",
                    self.name,
                    self.parameters.len(),
                    arguments.len()
                ),
            ));
        }
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let Body::Select(select) = self.body else {
            let text = format!("tare_sys_{}({})", self.name, arguments.join(", "));
            return Ok((raw(text), &[]));
        };
        let made = self.rewritten.get_or_init(|| self.rewrite(select, schema));
        let Rewritten { query, catalog } = made.as_ref().map_err(Clone::clone)?;
        let select = query.to_string();
        // Piece by piece: an argument may itself have something that looks like a hole.
        let mut text = String::with_capacity(select.len() + 64);
        let mut rest = select.as_str();
        for (i, argument) in arguments.iter().enumerate() {
            let hole = hole(i);
            let Some((before, after)) = rest.split_once(&hole) else {
                return Err(tare_dialect::near(self.name));
            };
            text.push_str(before);
            text.push_str(argument);
            rest = after;
        }
        text.push_str(rest);
        Ok((raw(format!("({text})")), catalog))
    }
}

/// `1.50 KiB` of 1536.
pub fn format_bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes.abs() < 1024.0 {
        return format!("{bytes:.0} bytes");
    }
    let mut value = bytes / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value.abs() < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{value:.2} {unit}")
}

/// `1.50 ms` of 1,500,000,000 picoseconds.
pub fn format_time(picoseconds: f64) -> String {
    const UNITS: [(f64, &str); 8] = [
        (604_800e12, "w"),
        (86_400e12, "d"),
        (3_600e12, "h"),
        (60e12, "m"),
        (1e12, "s"),
        (1e9, "ms"),
        (1e6, "us"),
        (1e3, "ns"),
    ];
    for (size, unit) in UNITS {
        if picoseconds.abs() >= size {
            return format!("{:.2} {unit}", picoseconds / size);
        }
    }
    format!(
        "{} ps",
        tare_mysql::wire::value::display_real(picoseconds, false)
    )
}

/// A statement of more than `limit` characters, cut in the middle; on one line.
pub fn format_statement(statement: &str, limit: usize) -> String {
    let line = |text: &mut dyn Iterator<Item = char>| -> String {
        text.map(|c| if c == '\n' { ' ' } else { c }).collect()
    };
    let length = statement.chars().count();
    if length <= limit {
        return line(&mut statement.chars());
    }
    // Five characters stand for what is left out.
    let side = (limit / 2).saturating_sub(2);
    let first = line(&mut statement.chars().take(side));
    let last = line(&mut statement.chars().skip(length - side));
    format!("{first} ... {last}")
}

/// A path whose beginning one of these variables names, by that variable.
pub fn format_path(path: &str, variables: &[(&str, String)]) -> String {
    let known = variables
        .iter()
        .filter(|(_, value)| value.trim_end_matches('/').len() > 1)
        .filter_map(|(name, value)| {
            let value = value.trim_end_matches('/');
            let rest = path.strip_prefix(value)?;
            (rest.is_empty() || rest.starts_with('/')).then_some((value.len(), name, rest))
        })
        .max_by_key(|(length, ..)| *length);
    match known {
        Some((_, name, rest)) => format!("@@{name}{rest}"),
        None => path.to_owned(),
    }
}

/// What SQLite writes beside a database's file.
const ENDINGS: [&str; 4] = [".db", ".db-wal", ".db-shm", ".db-journal"];

/// The database that a file belongs to: its own name here, where a database is a file; otherwise the
/// directory's, where a table is.
pub fn schema_of_file(path: &str) -> Option<&str> {
    let mut parts = path.rsplit(['/', '\\']);
    let file = parts.next()?;
    if let Some(database) = ENDINGS.iter().find_map(|e| file.strip_suffix(e)) {
        return Some(database);
    }
    parts.next().filter(|directory| !directory.is_empty())
}

/// The table that a file holds, where a table has a file of its own.
pub fn table_of_file(path: &str) -> Option<&str> {
    let file = path.rsplit(['/', '\\']).next()?;
    if ENDINGS.iter().any(|e| file.ends_with(e)) {
        return None;
    }
    file.split(['.', '#'])
        .next()
        .filter(|name| !name.is_empty())
}

/// A list with one more value at its end.
pub fn list_add(list: Option<&str>, value: &str) -> String {
    match list {
        None | Some("") => value.to_owned(),
        Some(list) => format!("{},{value}", list.trim_end_matches(',')),
    }
}

/// A list without a value.
pub fn list_drop(list: &str, value: &str) -> String {
    let left: Vec<&str> = list
        .split(',')
        .filter(|item| !item.trim().eq_ignore_ascii_case(value.trim()))
        .collect();
    left.join(",")
}

/// A name in backticks.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_for_people() {
        for (bytes, text) in [
            (0.0, "0 bytes"),
            (1023.0, "1023 bytes"),
            (1024.0, "1.00 KiB"),
            (1536.0, "1.50 KiB"),
            (1048576.0, "1.00 MiB"),
            (5.5e15, "4.88 PiB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
        for (ps, text) in [
            (0.0, "0 ps"),
            (999.0, "999 ps"),
            (1000.0, "1.00 ns"),
            (342_342.0, "342.34 ns"),
            (1_500_000_000.0, "1.50 ms"),
            (60e12, "1.00 m"),
            (86_400e12, "1.00 d"),
            (9e17, "1.49 w"),
        ] {
            assert_eq!(format_time(ps), text);
        }
    }

    #[test]
    fn a_long_statement_loses_its_middle() {
        assert_eq!(format_statement("SELECT\n1", 64), "SELECT 1");
        let long = "é".repeat(100);
        let cut = format_statement(&long, 20);
        assert_eq!(cut, format!("{0} ... {0}", "é".repeat(8)));
        assert_eq!(format_statement("abcdef", 0), " ... ");
    }

    #[test]
    fn paths_begin_with_their_variable() {
        let variables = [
            ("datadir", "/var/data/".to_owned()),
            ("tmpdir", "/".to_owned()),
        ];
        assert_eq!(format_path("/var/data/x.db", &variables), "@@datadir/x.db");
        assert_eq!(format_path("/var/database", &variables), "/var/database");
    }

    #[test]
    fn files_tell_their_database() {
        assert_eq!(schema_of_file("/d/test.db-wal"), Some("test"));
        assert_eq!(table_of_file("/d/test.db-wal"), None);
        assert_eq!(
            schema_of_file("/var/lib/mysql/shop/orders.ibd"),
            Some("shop")
        );
        assert_eq!(
            table_of_file("/var/lib/mysql/shop/orders#P#p1.ibd"),
            Some("orders")
        );
        assert_eq!(schema_of_file("nothing"), None);
    }

    #[test]
    fn lists_grow_and_shrink() {
        assert_eq!(list_add(None, "a"), "a");
        assert_eq!(list_add(Some("a,b"), "c"), "a,b,c");
        assert_eq!(list_drop("a,b, B,c", "b"), "a,c");
        assert_eq!(quote_identifier("a`b"), "`a``b`");
    }

    #[test]
    fn every_body_can_be_rewritten() {
        for function in &FUNCTIONS {
            let mut schema = crate::server::schema::SystemSchema::default();
            let arguments = vec![raw("x"); function.parameters.len()];
            let (expr, _) = function.call(arguments, &mut schema).expect(function.name);
            let text = expr.to_string();
            assert!(!text.contains('?'), "{text}");
            assert!(function.call(vec![raw("x"); 9], &mut schema).is_err());
        }
    }
}
