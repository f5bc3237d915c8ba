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
        // A function, which is no text.
        (Some(default), _, "timestamp") if default.starts_with("CURRENT_TIMESTAMP") => {
            format!("{null} DEFAULT {default}")
        }
        (Some(default), ..) => format!("{null} DEFAULT '{default}'"),
        (None, true, "timestamp") => " NULL DEFAULT NULL".into(),
        (None, true, base) if base.ends_with("text") => String::new(),
        (None, true, _) => " DEFAULT NULL".into(),
        (None, false, _) => null.into(),
    }
}

/// The default collation of the tables of performance_schema that declare none.
pub const DEFAULT_COLLATION: &str = "utf8mb4_0900_ai_ci";

/// The character set that a collation is one of.
pub(crate) fn charset(collation: &str) -> &str {
    collation.split('_').next().unwrap_or(collation)
}

/// Character set and collation of a column that declares them. MySQL leaves out the character set where the
/// column has both from its table, and the table has them not by default.
fn collation_clause(meta: &Meta, of_table: &str) -> String {
    match meta.own_collation() {
        Some(_) if !parts(meta.column_type).is_text() => String::new(),
        Some(own) if own == of_table && own != DEFAULT_COLLATION => format!(" COLLATE {own}"),
        Some(own) => format!(" CHARACTER SET {} COLLATE {own}", charset(own)),
        None => String::new(),
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

/// The CREATE TABLE that MySQL would print.
pub fn create_table(table: &dyn Table) -> String {
    let columns = table.columns();
    let collation = table.collation().unwrap_or(DEFAULT_COLLATION);
    let column = |c: &Meta| {
        let (collation, default) = (collation_clause(c, collation), default_clause(c));
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
        "CREATE {temporary}TABLE `{}` (\n{}\n) ENGINE={engine} DEFAULT CHARSET={} COLLATE={collation}",
        table.name(),
        lines.join(",\n"),
        charset(collation),
    )
}

#[cfg(test)]
mod tests {
    fn line(table: &str, column: &str) -> String {
        let table = crate::registry::find(Default::default(), "performance_schema", table).unwrap();
        let text = super::create_table(table);
        let start = format!("  `{column}` ");
        let line = text.lines().find(|line| line.starts_with(&start));
        line.unwrap_or_default().trim_end_matches(',').to_owned()
    }

    #[test]
    fn collations_are_printed_where_mysql_prints_them() {
        assert_eq!(
            line("replication_group_members", "MEMBER_ID"),
            "  `MEMBER_ID` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL"
        );
        assert_eq!(
            line("replication_connection_configuration", "TLS_CIPHERSUITES"),
            "  `TLS_CIPHERSUITES` text CHARACTER SET utf8mb3 COLLATE utf8mb3_bin"
        );
        // Its table has the collation, too.
        assert_eq!(
            line("keyring_keys", "KEY_ID"),
            "  `KEY_ID` varchar(255) COLLATE utf8mb4_bin NOT NULL"
        );
        assert_eq!(
            line("data_locks", "LOCK_DATA"),
            "  `LOCK_DATA` varchar(8192) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci DEFAULT NULL"
        );
        assert_eq!(
            line("threads", "PROCESSLIST_USER"),
            "  `PROCESSLIST_USER` varchar(32) DEFAULT NULL"
        );
    }

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
