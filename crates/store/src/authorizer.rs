//! What statements may do in SQLite. A client's statement reads and changes the tables of databases and calls
//! functions on a list; the rest of SQLite is the server's own.
//!
//! The dialect refuses the names of everything else, with MySQL's errors. This is the second boundary: SQLite
//! asks it for each name when it prepares a statement, and again when it prepares one anew.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::tables::DEFINITIONS_TABLE;

/// Whose statement SQLite prepares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    /// A client's, translated by the dialect.
    Client,
    /// The server's, with expressions that a client wrote: CREATE TABLE with its defaults and checks.
    Definition,
    /// The server's own.
    Server,
}

thread_local! {
    static AUTHOR: Cell<Author> = const { Cell::new(Author::Client) };
}

/// Sets the author until it is dropped.
struct Guard(Author);

impl Guard {
    fn new(author: Author) -> Self {
        Self(AUTHOR.replace(author))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        AUTHOR.set(self.0);
    }
}

/// Prepares and runs statements of the server's own, which may do everything.
pub fn as_server<R>(run: impl FnOnce() -> R) -> R {
    let _author = Guard::new(Author::Server);
    run()
}

/// Prepares and runs statements that define tables. They may do everything except call a function that
/// clients may not call.
pub(crate) fn as_definition<R>(run: impl FnOnce() -> R) -> R {
    let _author = Guard::new(Author::Definition);
    run()
}

/// SQLite's own functions that statements may call: those that the dialect writes, and others that depend on
/// their arguments only. A function that this server adds is on no list.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil",
    "ceiling", "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist",
    "current_date", "current_time", "current_timestamp", "date", "datetime", "degrees", "dense_rank", "exp",
    "first_value", "floor", "format", "glob", "group_concat", "hex", "if", "ifnull", "iif", "instr", "json",
    "json_array", "json_array_length", "json_extract", "json_group_array", "json_group_object",
    "json_insert", "json_object", "json_patch", "json_pretty", "json_quote", "json_remove", "json_replace",
    "json_set", "json_type", "json_valid", "julianday", "lag", "last_value", "lead", "length", "like",
    "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "min", "mod", "nth_value", "ntile",
    "nullif", "octet_length", "percent_rank", "pi", "pow", "power", "printf", "quote", "radians", "rank",
    "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh", "soundex", "sqrt", "strftime",
    "string_agg", "substr", "substring", "sum", "tan", "tanh", "time", "timediff", "total", "trim", "trunc",
    "typeof", "unhex", "unicode", "unixepoch", "unlikely", "upper",
];

/// The functions that SQLite uses to rewrite its schema. It refuses them in any other statement.
const SCHEMA_FUNCTIONS: [&str; 2] = ["sqlite_rename_", "sqlite_drop_column"];

/// The table of a JSON text's elements: SHOW ... WHERE reads its rows from one.
const JSON_TABLE: &str = "json_each";

/// Names that SQLite itself gives a meaning.
struct OwnNames {
    functions: HashSet<String>,
    /// Modules can be read like tables.
    modules: HashSet<String>,
}

/// The names of a connection to which nothing was added. Until they are read, nothing is allowed.
static OWN_NAMES: OnceLock<OwnNames> = OnceLock::new();

fn read_own_names() -> rusqlite::Result<()> {
    if OWN_NAMES.get().is_some() {
        return Ok(());
    }
    let read = |list: &str| -> rusqlite::Result<HashSet<String>> {
        let db = Connection::open_in_memory()?;
        let mut names = db.prepare(&format!("SELECT lower(name) FROM {list}"))?;
        names.query_map([], |row| row.get(0))?.collect()
    };
    let names = OwnNames {
        functions: read("pragma_function_list")?,
        modules: read("pragma_module_list")?,
    };
    OWN_NAMES.get_or_init(|| names);
    Ok(())
}

/// Checks the statements of a connection from now on.
pub(crate) fn install(db: &mut Connection) -> rusqlite::Result<()> {
    read_own_names()?;
    db.authorizer(Some(|context: AuthContext<'_>| {
        match is_allowed(AUTHOR.get(), &context) {
            true => Authorization::Allow,
            false => Authorization::Deny,
        }
    }))
}

fn is_allowed(author: Author, context: &AuthContext<'_>) -> bool {
    let database = context.database_name;
    match (author, context.action) {
        (Author::Server, _) => true,
        (_, AuthAction::Function { function_name }) => {
            is_function_allowed(function_name)
                || author == Author::Definition
                    && SCHEMA_FUNCTIONS
                        .iter()
                        .any(|f| function_name.starts_with(f))
        }
        (Author::Definition, _) => true,
        (
            Author::Client,
            AuthAction::Select
            | AuthAction::Recursive
            | AuthAction::Transaction { .. }
            | AuthAction::Savepoint { .. },
        ) => true,
        (Author::Client, AuthAction::Read { table_name, .. }) => may_read(database, table_name),
        (
            Author::Client,
            AuthAction::Insert { table_name }
            | AuthAction::Update { table_name, .. }
            | AuthAction::Delete { table_name },
        ) => database.is_some_and(|name| !is_own_database(name)) && !is_internal(table_name),
        (Author::Client, _) => false,
    }
}

fn is_function_allowed(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_own = |own: &OwnNames| own.functions.contains(&name);
    FUNCTIONS.contains(&name.as_str()) || OWN_NAMES.get().is_some_and(|own| !is_own(own))
}

/// Whether a client's statement may read a table. Modules have their tables in the connection's own database.
/// For a table of which no column is read, SQLite names the database as the statement does: not at all in a
/// view, and for a common table expression.
fn may_read(database: Option<&str>, table: &str) -> bool {
    match database {
        _ if table.eq_ignore_ascii_case(JSON_TABLE) => true,
        Some(name) => !is_own_database(name) && !is_internal(table),
        None => !is_internal(table),
    }
}

/// The databases that each connection has: they hold no table of a client's.
fn is_own_database(name: &str) -> bool {
    name.eq_ignore_ascii_case("main") || name.eq_ignore_ascii_case("temp")
}

/// Tables in which SQLite or this server stores facts about others, and modules.
fn is_internal(table: &str) -> bool {
    let table = table.to_ascii_lowercase();
    table.starts_with("sqlite_")
        || table.starts_with("pragma_")
        || table == DEFINITIONS_TABLE
        || OWN_NAMES
            .get()
            .is_none_or(|own| own.modules.contains(&table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use tare_mysql::error::SqlError;

    /// A connection with table `t` in database `shop`, whose statements are checked.
    fn connection() -> Connection {
        let mut db = Connection::open_in_memory().expect("opens");
        install(&mut db).expect("installed");
        let sql = "ATTACH ':memory:' AS shop; CREATE TABLE shop.t (a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT);
             CREATE VIEW shop.v AS SELECT count(*) AS n FROM t;
             CREATE VIEW shop.hidden AS SELECT count(*) AS n FROM sqlite_schema;
             CREATE TABLE shop.__tare_tables (name TEXT); CREATE INDEX shop.j ON t (b);
             INSERT INTO shop.t VALUES (1, 'x')";
        as_server(|| db.execute_batch(sql)).expect("created");
        db
    }

    /// MySQL's error number of a client's statement; 0 if it runs.
    fn error_number(db: &Connection, sql: &str) -> u16 {
        let ran = db
            .prepare(sql)
            .and_then(|mut s| s.query([])?.next().map(drop));
        ran.map_or_else(|error| SqlError::from(Error::from(error)).code, |()| 0)
    }

    fn names(list: &str) -> Vec<String> {
        let db = Connection::open_in_memory().expect("opens");
        let mut names = db
            .prepare(&format!("SELECT DISTINCT name FROM {list}"))
            .expect("a list");
        let names = names.query_map([], |row| row.get(0)).expect("names");
        names.collect::<rusqlite::Result<_>>().expect("names")
    }

    #[test]
    fn clients_use_their_own_tables() {
        let db = connection();
        for sql in [
            "SELECT a, length(b) FROM shop.t",
            "SELECT count(*) FROM shop.t",
            "SELECT * FROM shop.v",
            "WITH c AS (SELECT 1) SELECT count(*) FROM c",
            "INSERT INTO shop.t (b) SELECT 'y'",
            "UPDATE shop.t SET b = 'z'",
            "DELETE FROM shop.t",
            "SELECT key FROM json_each('[1]')",
            "BEGIN",
            "SAVEPOINT s",
            "COMMIT",
        ] {
            assert_eq!(error_number(&db, sql), 0, "{sql}");
        }
    }

    #[test]
    fn clients_reach_no_module_of_sqlites() {
        let db = connection();
        let modules = names("pragma_module_list");
        assert!(modules.iter().any(|m| m == "dbstat"), "{modules:?}");
        let pragmas = names("pragma_pragma_list")
            .into_iter()
            .map(|p| format!("pragma_{p}"));
        let hidden = [
            "sqlite_schema",
            "sqlite_master",
            "sqlite_sequence",
            DEFINITIONS_TABLE,
        ];
        let hidden = hidden.map(str::to_owned);
        for table in modules.into_iter().chain(pragmas).chain(hidden) {
            for from in [
                table.to_string(),
                format!("{table}('x')"),
                format!("{table}(65538)"),
                format!("shop.{table}"),
                format!("shop.{table}(65538)"),
                format!("main.{table}"),
                format!("temp.{table}"),
                format!("shop.t JOIN {table}"),
            ] {
                for columns in ["*", "count(*)", "1"] {
                    let sql = format!("SELECT {columns} FROM {from}");
                    let is_json = table == JSON_TABLE;
                    assert!(is_json || error_number(&db, &sql) != 0, "{sql}");
                }
            }
            for sql in [
                format!("DELETE FROM {table}"),
                format!("DELETE FROM shop.{table}"),
                format!("UPDATE shop.{table} SET name = 'x'"),
                format!("INSERT INTO shop.{table} VALUES (1)"),
                format!("INSERT INTO shop.{table} DEFAULT VALUES"),
                format!("CREATE VIRTUAL TABLE shop.x USING {table}"),
            ] {
                assert_ne!(error_number(&db, &sql), 0, "{sql}");
            }
        }
        assert_eq!(error_number(&db, "SELECT * FROM shop.hidden"), 1146);
        assert_eq!(
            error_number(&db, "SELECT name FROM shop.sqlite_schema"),
            1146
        );
    }

    #[test]
    fn clients_call_no_function_that_is_not_listed() {
        let db = connection();
        for name in names("pragma_function_list") {
            let is_listed = FUNCTIONS.contains(&name.to_lowercase().as_str());
            for arguments in ["", "1", "1, 2", "1, 2, 3", "*", "1, 2, 3, 4"] {
                let call = format!("\"{name}\"({arguments})");
                for sql in [
                    format!("SELECT {call}"),
                    format!("SELECT {call} OVER ()"),
                    format!("SELECT a FROM shop.t WHERE {call}"),
                    format!("UPDATE shop.t SET b = {call}"),
                ] {
                    assert!(is_listed || error_number(&db, &sql) != 0, "{sql}");
                }
                let define = |column: &str| {
                    let sql = format!("CREATE TABLE shop.x (a {column} ({call}))");
                    let created = as_definition(|| db.execute_batch(&sql));
                    if created.is_ok() {
                        as_server(|| db.execute_batch("DROP TABLE shop.x")).expect("dropped");
                    }
                    created
                };
                assert!(is_listed || define("CHECK").is_err(), "{call}");
            }
        }
        assert_eq!(error_number(&db, "SELECT sqlite_version()"), 1305);
        assert_eq!(error_number(&db, "SELECT load_extension('x')"), 1305);
    }

    #[test]
    fn clients_define_nothing() {
        let db = connection();
        for sql in [
            "PRAGMA database_list",
            "PRAGMA shop.user_version = 9",
            "ATTACH 'x' AS x",
            "DETACH shop",
            "VACUUM shop",
            "REINDEX shop.j",
            "ANALYZE",
            "CREATE TABLE shop.x (a)",
            "CREATE TEMP TABLE x (a)",
            "CREATE INDEX shop.i ON t (a)",
            "CREATE VIEW shop.w AS SELECT 1",
            "CREATE TRIGGER shop.w AFTER INSERT ON t BEGIN SELECT 1; END",
            "ALTER TABLE shop.t RENAME TO x",
            "DROP TABLE shop.t",
        ] {
            assert_ne!(error_number(&db, sql), 0, "{sql}");
            assert!(as_server(|| db.prepare(sql)).is_ok(), "{sql}");
        }
    }

    #[test]
    fn tables_are_altered() {
        let db = connection();
        as_definition(|| {
            db.execute_batch(
                "ALTER TABLE shop.t ADD COLUMN c INT; ALTER TABLE shop.t RENAME COLUMN c TO d;
                 ALTER TABLE shop.t DROP COLUMN d; ALTER TABLE shop.t RENAME TO u; DROP TABLE shop.u",
            )
        })
        .expect("altered");
    }
}
