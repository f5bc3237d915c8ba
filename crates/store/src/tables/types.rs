//! A column's type as SQLite has it.

use tare_mysql::types::base_type;

/// A type whose affinity in SQLite is the right one. SQLite's grammar wants all words before the
/// parentheses: `decimal unsigned(10,2)`.
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
        _ => format!("{base}{unsigned}{arguments}"),
    }
}
