//! MySQL's column types as they are declared to SQLite.

use tare_mysql::types::parts;
use tare_rows::describe::{Meta, Table};

/// The type as SQLite's grammar can read it back in a column's declared type: nothing may follow
/// parentheses there, and an enum is a string as long as its longest value.
pub fn sqlite_type(column_type: &str) -> String {
    let p = parts(column_type);
    match p.base.as_str() {
        "enum" | "set" => format!("CHAR({})", p.characters().unwrap_or(0)),
        base if p.unsigned => format!("{} UNSIGNED", base.to_ascii_uppercase()),
        base if p.numeric().is_some() && base != "decimal" => base.to_ascii_uppercase(),
        base => match &p.inside {
            Some(inside) => format!("{}({inside})", base.to_ascii_uppercase()),
            None => base.to_ascii_uppercase(),
        },
    }
}

fn sqlite_column(meta: &Meta) -> String {
    let collate = match parts(meta.column_type).is_text() {
        true if !meta.is_binary() => " COLLATE NOCASE",
        _ => "",
    };
    format!(
        "\"{}\" {}{collate}",
        meta.name,
        sqlite_type(meta.column_type)
    )
}

/// The CREATE TABLE with which a virtual table declares itself to SQLite.
pub fn sqlite_schema(table: &dyn Table) -> String {
    let columns: Vec<String> = table.columns().iter().map(sqlite_column).collect();
    format!("CREATE TABLE x({})", columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_can_read_every_type() {
        assert_eq!(sqlite_type("bigint(20) unsigned"), "BIGINT UNSIGNED");
        assert_eq!(sqlite_type("bigint(20)"), "BIGINT");
        assert_eq!(sqlite_type("varchar(64)"), "VARCHAR(64)");
        assert_eq!(sqlite_type("enum('YES','NO')"), "CHAR(3)");
        assert_eq!(sqlite_type("timestamp(6)"), "TIMESTAMP(6)");
        assert_eq!(sqlite_type("longtext"), "LONGTEXT");
    }
}
