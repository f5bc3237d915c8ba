//! A column's type as SQLite has it.

use tare_mysql::types::base_type;

/// BIGINT UNSIGNED.
pub(super) const UNSIGNED: &str = "unsigned blob";

/// The MySQL type of a column, from its declared type in SQLite.
pub(super) fn mysql_type(declared: &str) -> String {
    match declared {
        UNSIGNED => "bigint unsigned".into(),
        _ => match declared.strip_prefix("decimal text") {
            Some(rest) => match rest.strip_prefix(" unsigned") {
                Some(inside) => format!("decimal{inside} unsigned"),
                None => format!("decimal{rest}"),
            },
            None => declared.to_owned(),
        },
    }
}

/// Whether values are exact numbers that SQLite's integers cannot hold.
pub(super) fn is_exact(column_type: &str) -> bool {
    let base = base_type(column_type);
    base == "decimal" || base == "bigint" && column_type.contains("unsigned")
}

/// A declared type with the right affinity in SQLite, whose grammar has all words before the parentheses:
/// `decimal unsigned(10,2)`.
pub(super) fn sqlite_type(column_type: &str) -> String {
    let base = base_type(column_type);
    let arguments = column_type
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or_else(String::new, |(inside, _)| format!("({inside})"));
    let unsigned = if column_type.contains("unsigned") {
        " unsigned"
    } else {
        ""
    };
    match base {
        "binary" | "varbinary" => format!("{base} blob{arguments}"),
        "enum" | "set" => "text".into(),
        "json" => "json text".into(),
        "bit" => format!("bit int{arguments}"),
        "year" => "year int".into(),
        // Exact numbers, see docs/types.md: texts with a collation, and no affinity at all where an
        // integer may be larger than SQLite's.
        "decimal" => format!("decimal text{unsigned}{arguments}"),
        "bigint" if !unsigned.is_empty() => UNSIGNED.into(),
        _ => format!("{base}{unsigned}{arguments}"),
    }
}
