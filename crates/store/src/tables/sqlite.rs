//! The SQLite statements that create a table and its indexes.

use std::fmt::Write as _;

use tare_mysql::decimal::Decimal;
use tare_mysql::real::Real;
use tare_mysql::table::{ColumnDef, IndexDef, TableDef};
use tare_mysql::types::{base_type, is_integer, is_text, parts};

use super::types::{is_exact, sqlite_type};
use crate::connection::quote;
use crate::words::CHECK_PREFIX;

/// A table as SQLite has it.
pub trait ToSqlite {
    /// The SQLite statements that create the table in a database, under a name.
    fn to_sqlite(&self, database: &str, name: &str) -> Vec<String>;

    /// The integer column that is SQLite's rowid: a primary key of its own, or AUTO_INCREMENT.
    fn rowid(&self) -> Option<&ColumnDef>;
}

impl ToSqlite for TableDef {
    fn to_sqlite(&self, database: &str, name: &str) -> Vec<String> {
        let rowid = self.rowid().map(|c| c.name.clone());
        let mut sql = format!("CREATE TABLE {}.{} (", quote(database), quote(name));
        for (i, column) in self.columns.iter().enumerate() {
            let is_rowid = rowid.as_deref() == Some(&column.name);
            let _ = write!(
                sql,
                "{}{} ",
                if i == 0 { "" } else { ", " },
                quote(&column.name)
            );
            if is_rowid {
                sql.push_str("INTEGER PRIMARY KEY");
                if column.auto_increment {
                    sql.push_str(" AUTOINCREMENT");
                }
            } else {
                sql.push_str(&sqlite_type(&column.column_type));
            }
            if !column.nullable {
                sql.push_str(" NOT NULL");
            }
            if let Some(default) = &column.default {
                let _ = write!(sql, " DEFAULT ({})", sqlite_default(column, default));
            }
            if is_exact(&column.column_type) && !is_rowid {
                sql.push_str(" COLLATE tare_decimal");
            }
            if base_type(&column.column_type) == "time" {
                sql.push_str(" COLLATE tare_time");
            }
            if base_type(&column.column_type) == "json" {
                sql.push_str(" COLLATE tare_json");
            }
            if is_text(&column.column_type) && !column.binary {
                sql.push_str(" COLLATE NOCASE");
            }
            if let Some((error, check)) = value_check(column, is_rowid) {
                let name = quote(&format!("tare:{error}:{}", column.name));
                let _ = write!(sql, " CONSTRAINT {name} CHECK ({check})");
            }
        }
        let list = |columns: &[String]| {
            columns
                .iter()
                .map(|c| quote(c))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if let Some(primary) = self.primary() {
            let is_rowid = matches!((primary.columns.as_slice(), &rowid), ([one], Some(r)) if one.eq_ignore_ascii_case(r));
            if !is_rowid {
                let word = if rowid.is_some() {
                    "UNIQUE"
                } else {
                    "PRIMARY KEY"
                };
                let _ = write!(sql, ", {word} ({})", list(&primary.columns));
            }
        }
        for check in self.checks.iter().filter(|check| !check.is_ignored) {
            let name = quote(&format!("{CHECK_PREFIX}{}", check.name));
            let _ = write!(sql, ", CONSTRAINT {name} CHECK ({})", check.condition);
        }
        for key in &self.foreign_keys {
            let _ = write!(
                sql,
                ", FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}",
                list(&key.columns),
                quote(&key.table),
                list(&key.referred),
                action(&key.on_delete),
                action(&key.on_update)
            );
        }
        sql.push(')');
        let mut all = vec![sql];
        for index in self.indexes.iter().filter(|i| i.name != "PRIMARY") {
            all.push(index.to_sqlite(database, &self.name, name));
        }
        all
    }

    fn rowid(&self) -> Option<&ColumnDef> {
        if let Some(column) = self.auto_increment() {
            return Some(column);
        }
        match self.primary()?.columns.as_slice() {
            [one] => self
                .column(one)
                .filter(|c| is_integer(&c.column_type) && !c.column_type.starts_with("bit"))
                // SQLite's rowid has a sign.
                .filter(|c| !is_exact(&c.column_type)),
            _ => None,
        }
    }
}

/// What SQLite does with the rows that refer to a row. RESTRICT is NO ACTION in MySQL, and SQLite can put off only
/// the latter.
fn action(written: &str) -> &str {
    match written {
        "RESTRICT" => "NO ACTION",
        other => other,
    }
}

/// An index as SQLite has it.
pub trait IndexToSqlite {
    /// CREATE INDEX. SQLite's index names are per database, MySQL's per table: the table's name
    /// goes in front.
    fn to_sqlite(&self, database: &str, owner: &str, table: &str) -> String;
}

impl IndexToSqlite for IndexDef {
    fn to_sqlite(&self, database: &str, owner: &str, table: &str) -> String {
        let columns: Vec<String> = self.columns.iter().map(|c| quote(c)).collect();
        format!(
            "CREATE {}INDEX {}.{} ON {} ({})",
            if self.unique { "UNIQUE " } else { "" },
            quote(database),
            quote(&format!("{owner}.{}", self.name)),
            quote(table),
            columns.join(", ")
        )
    }
}

/// The condition on a column's values, which SQLite checks as a constraint in every mode, and the error that a
/// violation is. Without strict mode, values are made to fit before they are stored.
fn value_check(column: &ColumnDef, is_rowid: bool) -> Option<(u16, String)> {
    let name = quote(&column.name);
    let kind = column.column_type.as_str();
    let unsigned = kind.contains("unsigned");
    let argument = || {
        kind.split_once('(')
            .and_then(|(_, rest)| rest.split_once([')', ',']))
            .and_then(|(n, _)| n.trim().parse::<u64>().ok())
    };
    let integer_range = |bits: u32| {
        let (low, high) = if unsigned {
            (0, (1i128 << bits) - 1)
        } else {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        };
        Some((1264, format!("{name} BETWEEN {low} AND {high}")))
    };
    match base_type(kind) {
        // Without strict mode the empty text is stored for what is no member.
        "enum" => Some((1265, format!("{name} IN ('', {}", &kind["enum(".len()..]))),
        "tinyint" => integer_range(8),
        "smallint" => integer_range(16),
        "mediumint" => integer_range(24),
        "int" => integer_range(32),
        "bigint" if unsigned => Some((
            1264,
            format!(
                "{name} IS NULL OR typeof({name}) = 'text' OR typeof({name}) = 'integer' AND {name} >= 0"
            ),
        )),
        "bigint" if is_rowid => None,
        "bigint" => Some((1264, format!("typeof({name}) <> 'text'"))),
        "char" | "varchar" => argument().map(|n| (1406, format!("length({name}) <= {n}"))),
        "binary" | "varbinary" => {
            argument().map(|n| (1406, format!("octet_length({name}) <= {n}")))
        }
        _ => None,
    }
}

/// A default as SQLite computes it, for other programs: Tare's INSERT computes the current time itself, in the
/// session's time zone.
fn sqlite_default(column: &ColumnDef, default: &str) -> String {
    if default == "CURRENT_TIMESTAMP" {
        return match base_type(&column.column_type) {
            "timestamp" => "datetime('now')".into(),
            _ => "datetime('now', 'localtime')".into(),
        };
    }
    if let Some(bits) = column.bits_default() {
        return (bits as i64).to_string();
    }
    let exact = is_exact(&column.column_type)
        .then(|| column.plain_default())
        .flatten()
        .and_then(|text| Decimal::parse(&text));
    if let Some(number) = exact {
        let scale = parts(&column.column_type).numeric().and_then(|n| n.1);
        let text = number.rounded(scale.unwrap_or(0) as i64).text();
        return match text.parse::<i64>() {
            Ok(n) if base_type(&column.column_type) == "bigint" => n.to_string(),
            _ => format!("'{text}'"),
        };
    }
    let real = Real::of(&column.column_type)
        .zip(column.plain_default())
        .and_then(|(real, text)| Some((real, text.parse::<f64>().ok()?)));
    if let Some((real, x)) = real {
        return format!("{:?}", real.stored(real.rounded(x)));
    }
    let default = default.replace("\\\\", "\\");
    match sqlite_type(&column.column_type).contains("blob")
        && base_type(&column.column_type) != "bigint"
    {
        true => format!("CAST({default} AS BLOB)"),
        false => default,
    }
}
