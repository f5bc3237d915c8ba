//! SHOW CREATE TABLE of a catalog table.

use tare_mysql::types::parts;

use crate::describe::{Key, Meta, Table};

/// The storage engine that a catalog table names.
pub fn engine(table: &dyn Table) -> Option<&'static str> {
    match table.schema() {
        "information_schema" => None,
        _ if table.view_definition().is_some() => None,
        _ => Some("PERFORMANCE_SCHEMA"),
    }
}

/// The value that a column has when nothing gives one, as MySQL prints it.
fn default_clause(meta: &Meta) -> String {
    let p = parts(meta.column_type);
    let null = if meta.nullable { "" } else { " NOT NULL" };
    match (meta.default, meta.nullable, p.base.as_str()) {
        (Some(default), ..) => format!("{null} DEFAULT '{default}'"),
        (None, true, "timestamp") => " NULL DEFAULT NULL".into(),
        (None, true, base) if base.ends_with("text") => String::new(),
        (None, true, _) => " DEFAULT NULL".into(),
        (None, false, _) => null.into(),
    }
}

/// Character set and collation of a column, where they are not the table's.
fn collation_clause(meta: &Meta) -> &'static str {
    match parts(meta.column_type).is_text() {
        true if meta.is_ascii() => " CHARACTER SET ascii COLLATE ascii_general_ci",
        true if meta.binary => " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        _ => "",
    }
}

fn quoted(columns: &[&str]) -> String {
    columns
        .iter()
        .map(|c| format!("`{c}`"))
        .collect::<Vec<_>>()
        .join(",")
}

fn key_line(key: &Key) -> String {
    match key {
        Key::Primary(columns) => format!("  PRIMARY KEY ({})", quoted(columns)),
        Key::Unique(name, columns) => format!("  UNIQUE KEY `{name}` ({})", quoted(columns)),
        Key::Plain(name, columns) => format!("  KEY `{name}` ({})", quoted(columns)),
    }
}

/// The CREATE TABLE that MySQL would show.
pub fn create_table(table: &dyn Table) -> String {
    let columns = table.columns();
    let column = |c: &Meta| {
        let (collation, default) = (collation_clause(c), default_clause(c));
        format!("  `{}` {}{collation}{default}", c.name, c.column_type)
    };
    let mut lines: Vec<String> = columns.iter().map(column).collect();
    lines.extend(table.keys().iter().map(key_line));
    let temporary = if engine(table).is_none() {
        "TEMPORARY "
    } else {
        ""
    };
    let engine = engine(table).unwrap_or("MEMORY");
    format!(
        "CREATE {temporary}TABLE `{}` (\n{}\n) ENGINE={engine} DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci",
        table.name(),
        lines.join(",\n"),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_table_reads_as_in_mysql() {
        let table =
            crate::registry::find(Default::default(), "performance_schema", "setup_consumers")
                .unwrap();
        assert_eq!(
            super::create_table(table),
            "CREATE TABLE `setup_consumers` (\n  `NAME` varchar(64) NOT NULL,\n  \
             `ENABLED` enum('YES','NO') NOT NULL,\n  PRIMARY KEY (`NAME`)\n\
             ) ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"
        );
    }
}
