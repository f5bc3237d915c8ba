//! Writes the definitions of columns that do not follow from a table: of the views of information_schema and
//! sys, and of SHOW.

use std::fmt::Write as _;
use std::path::Path;

use mysql::consts::ColumnFlags;
use mysql::prelude::Queryable;
use mysql::{Column, Conn};

const HEAD: &str = "# Written by crates/server/tests/metadata from MySQL 9.7.4; wire/definitions.rs in crates/mysql explains it.\n";

/// A statement for each name of crates/query/src/show/definition.rs.
const STATEMENTS: &[(&str, &str)] = &[
    ("SHOW DATABASES", ""),
    ("SHOW FULL TABLES", ""),
    ("SHOW TABLE STATUS", ""),
    ("SHOW FULL COLUMNS", "FROM a"),
    ("SHOW COLUMNS", "FROM a"),
    ("SHOW INDEX", "FROM a"),
    ("SHOW CREATE TABLE", "p"),
    ("SHOW CREATE DATABASE", "test"),
    ("SHOW GLOBAL VARIABLES", ""),
    ("SHOW VARIABLES", ""),
    ("SHOW GLOBAL STATUS", ""),
    ("SHOW STATUS", ""),
    ("SHOW FULL PROCESSLIST", ""),
    ("SHOW PROCESSLIST", ""),
    ("SHOW WARNINGS", ""),
    ("SHOW COUNT(*) WARNINGS", ""),
    ("SHOW ENGINES", ""),
    ("SHOW COLLATION", ""),
    ("SHOW CHARACTER SET", ""),
    ("SHOW GRANTS", ""),
    ("SHOW CREATE USER", "CURRENT_USER()"),
    ("SHOW CREATE VIEW", "va"),
    ("SHOW CREATE PROCEDURE", "sys.ps_setup_save"),
    ("SHOW CREATE FUNCTION", "sys.format_time"),
    ("SHOW ENGINE INNODB STATUS", ""),
    ("SHOW ENGINE INNODB MUTEX", ""),
    ("SHOW OPEN TABLES", ""),
    ("SHOW TRIGGERS", ""),
    ("SHOW EVENTS", ""),
    ("SHOW PROCEDURE STATUS", ""),
    ("SHOW PRIVILEGES", ""),
    ("CHECK TABLE", "p"),
    ("SHOW PLUGINS", ""),
    ("SHOW BINARY LOG STATUS", ""),
    ("SHOW REPLICAS", ""),
    ("SHOW REPLICA STATUS", ""),
    ("SHOW PROFILES", ""),
    ("SHOW PROFILE", ""),
    ("EXPLAIN", "FORMAT=TRADITIONAL SELECT * FROM a"),
    ("EXPLAIN FORMAT=JSON", "SELECT * FROM a"),
    ("EXPLAIN FORMAT=TREE", "SELECT * FROM a"),
];

/// Stores the definitions of these tables' columns, and of SHOW.
pub fn record(conn: &mut Conn, tables: &[String]) {
    let mut views = HEAD.to_owned();
    for table in tables
        .iter()
        .filter(|t| !t.starts_with("performance_schema."))
    {
        let columns = columns(conn, &format!("SELECT * FROM {table}"));
        let _ = writeln!(views, "{table}{columns}");
        let sorted = sorted_columns(conn, table);
        if table.starts_with("information_schema.") && sorted != columns {
            let _ = writeln!(views, "{table} sorted{sorted}");
        }
    }
    store("rows/src/definitions-9.7.tsv", &views);
    let mut show = HEAD.to_owned();
    for (name, rest) in STATEMENTS {
        let columns = columns(conn, &format!("{name} {rest}"));
        let _ = writeln!(show, "{name}{columns}");
    }
    store("query/src/show/definitions-9.7.tsv", &show);
}

fn store(path: &str, text: &str) {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::write(crates.join(path), text).expect("the definitions are stored");
}

/// The definitions of a table's columns in a sorted result, for which MySQL fills a temporary table.
fn sorted_columns(conn: &mut Conn, table: &str) -> String {
    let result = conn.query_iter(format!("SELECT * FROM {table} LIMIT 0"));
    let names = result
        .expect("the table has columns")
        .columns()
        .as_ref()
        .to_vec();
    let names: Vec<String> = names
        .iter()
        .map(|c| format!("`{}`", c.name_str()))
        .collect();
    let names = names.join(", ");
    columns(conn, &format!("SELECT {names} FROM {table} ORDER BY 1"))
}

/// The definitions of a result's columns, each behind a tab.
fn columns(conn: &mut Conn, sql: &str) -> String {
    crate::support::exec(conn, "SET character_set_results = NULL");
    let original = definitions(conn, sql);
    crate::support::exec(conn, "SET character_set_results = utf8mb4");
    let all = definitions(conn, sql);
    let all = all.iter().zip(&original);
    all.map(|(c, original)| format!("\t{}", column(c, original)))
        .collect()
}

fn definitions(conn: &mut Conn, sql: &str) -> Vec<Column> {
    let mut result = conn
        .query_iter(sql)
        .unwrap_or_else(|e| panic!("{sql}: {e}"));
    let columns = result.columns().as_ref().to_vec();
    while let Some(set) = result.iter() {
        set.for_each(drop);
    }
    columns
}

/// The numbers of the collations of utf8mb3 that MySQL's system tables have.
const UTF8MB3: [u16; 3] = [33, 76, 83];

fn column(column: &Column, original: &Column) -> String {
    let is_text = column.character_set() != 63;
    let is_long = (249..=252).contains(&(column.column_type() as u8));
    // A client that gets utf8mb4 has four times the bytes of a TEXT.
    let length = match column.column_length() {
        length if is_text && is_long && length < u32::MAX => length / 4,
        length => length,
    };
    let flags: ColumnFlags = column.flags();
    let org_name = match column.org_name_str() {
        name if name == column.name_str() || column.table_str().is_empty() => String::new(),
        name => format!(",{name}"),
    };
    format!(
        "{},{length},{},{},{},{},{},{}{org_name}",
        column.column_type() as u8,
        column.decimals(),
        flags.bits(),
        match original.character_set() {
            63 => "b".to_owned(),
            own if UTF8MB3.contains(&own) => own.to_string(),
            _ => "t".to_owned(),
        },
        column.schema_str(),
        column.table_str(),
        column.org_table_str(),
    )
}
