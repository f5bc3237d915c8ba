//! The column definition that CREATE TABLE ... AS SELECT or CREATE VIEW derives from an expression.

mod digits;
mod null;
mod width;

use mysql_common::constants::ColumnType;
use sqlparser::ast::{Expr, Value};
use tare_mysql::table::{ColumnDef, literal};
use tare_mysql::types::{base_type, parts};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use super::is_condition;
use super::kind::is_integer;
use crate::function::{arguments, name_of};
use crate::scope::Names;

use ColumnType::*;

/// A longer text is TEXT instead of VARCHAR.
const MAX_VARCHAR_CHARS: u32 = 512;

/// The definition of a column that is created from an expression. If that is a column, it is the column's.
pub fn definition_of(expr: &Expr, name: &str, names: &mut Names<'_>) -> ColumnDef {
    if let Some(def) = column(expr, names) {
        return ColumnDef {
            name: name.to_owned(),
            ..def.as_value()
        };
    }
    let (column_type, nullable) = (kind(expr, names), null::nullable(expr, names));
    ColumnDef {
        name: name.to_owned(),
        default: (!nullable).then(|| zero(&column_type)).flatten(),
        nullable,
        binary: parts(&column_type).is_bytes(),
        column_type,
        ..ColumnDef::default()
    }
}

/// The definition of a column of UNION or VALUES, of which only the wire type is known.
pub fn definition_from_wire(wire: Option<WireType>, name: &str) -> ColumnDef {
    let column_type = match wire {
        Some(wire) => written(&wire, None, None),
        None => "longblob".into(),
    };
    ColumnDef {
        name: name.to_owned(),
        nullable: true,
        binary: parts(&column_type).is_bytes(),
        column_type,
        ..ColumnDef::default()
    }
}

/// The definition of a column of two SELECTs: the common one, or one that holds the values of both.
pub fn both(a: &ColumnDef, b: &ColumnDef, wire: Option<WireType>) -> ColumnDef {
    let text = |def: &ColumnDef| {
        let kind = parts(&def.column_type);
        matches!(kind.base.as_str(), "char" | "varchar").then(|| kind.characters().unwrap_or(1))
    };
    let mut def = match (text(a), text(b)) {
        _ if a.column_type == b.column_type => ColumnDef {
            column_type: a.column_type.clone(),
            ..ColumnDef::default()
        },
        (Some(a), Some(b)) => ColumnDef {
            column_type: characters(Some(a.max(b) as u32)),
            ..ColumnDef::default()
        },
        _ if a.column_type == "binary(0)" => ColumnDef {
            column_type: b.column_type.clone(),
            ..ColumnDef::default()
        },
        _ if b.column_type == "binary(0)" => ColumnDef {
            column_type: a.column_type.clone(),
            ..ColumnDef::default()
        },
        _ => ColumnDef {
            column_type: match wire {
                Some(w) if w.code == MYSQL_TYPE_NEWDECIMAL => {
                    let scale = w.decimals.min(30);
                    let integer = digits::integer_digits(&a.column_type)
                        .max(digits::integer_digits(&b.column_type));
                    format!(
                        "decimal({},{scale})",
                        (integer + u32::from(scale)).clamp(1, 65)
                    )
                }
                Some(w) => written(&w, None, None),
                None => "longblob".into(),
            },
            ..ColumnDef::default()
        },
    };
    def.name.clone_from(&a.name);
    def.nullable = a.nullable || b.nullable;
    def.binary = a.binary && b.binary;
    def.default = (!def.nullable).then(|| zero(&def.column_type)).flatten();
    def
}

/// The definition of the column that an expression is, or that a subquery in its place has.
fn column(expr: &Expr, names: &mut Names<'_>) -> Option<ColumnDef> {
    if let Expr::Subquery(query) = expr {
        let column = names.columns(query)?.into_iter().next()?;
        return column.def.map(|def| ColumnDef {
            nullable: true,
            default: None,
            on_update_now: false,
            comment: String::new(),
            ..def.as_value()
        });
    }
    let column = names.column_of(expr)?;
    column.def.as_deref().cloned()
}

/// An expression's type, as MySQL writes it.
fn kind(expr: &Expr, names: &mut Names<'_>) -> String {
    if let Expr::Nested(inner) = expr {
        return kind(inner, names);
    }
    if let Some(def) = column(expr, names) {
        return def.column_type;
    }
    let like = same_as(expr);
    if !like.is_empty() {
        let mut kinds: Vec<String> = like.iter().map(|e| kind(e, names)).collect();
        kinds.retain(|k| k != "binary(0)");
        kinds.dedup();
        if let [one] = kinds.as_slice() {
            return one.clone();
        }
    }
    let Some(wire) = super::of(expr, names) else {
        return "longblob".into();
    };
    let precision = digits::precision(expr, names);
    let width = width::width(expr, names);
    let text = written(&wire, width, precision);
    match text.strip_prefix("bigint") {
        Some(rest) if is_short(expr) => format!("int{rest}"),
        _ => match fraction(expr, names) {
            Some(n) if ["datetime", "time"].contains(&text.as_str()) => format!("{text}({n})"),
            _ => text,
        },
    }
}

/// The expressions that MIN, IF and CASE choose from: they have its type if they agree.
fn same_as(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Function(f) => {
            let all = arguments(f);
            match (name_of(f).as_str(), all.len()) {
                (
                    "min" | "max" | "any_value" | "nullif" | "lag" | "lead" | "first_value"
                    | "last_value" | "nth_value",
                    1..,
                ) => vec![all[0]],
                ("if", 3) => all[1..].to_vec(),
                ("ifnull" | "coalesce" | "greatest" | "least", _) => all,
                _ => Vec::new(),
            }
        }
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            let results = conditions.iter().map(|when| &when.result);
            results.chain(else_result.as_deref()).collect()
        }
        _ => Vec::new(),
    }
}

/// The text of a wire type; `width` is in characters, `precision` in digits.
fn written(wire: &WireType, width: Option<u32>, precision: Option<u32>) -> String {
    let unsigned = if wire.is_unsigned() { " unsigned" } else { "" };
    let with_fraction = |name: &str| match wire.decimals {
        n @ 1..=6 => format!("{name}({n})"),
        _ => name.to_owned(),
    };
    match wire.code {
        MYSQL_TYPE_NULL => "binary(0)".into(),
        MYSQL_TYPE_YEAR => "year".into(),
        MYSQL_TYPE_TINY => format!("tinyint{unsigned}"),
        MYSQL_TYPE_SHORT => format!("smallint{unsigned}"),
        MYSQL_TYPE_INT24 => format!("mediumint{unsigned}"),
        MYSQL_TYPE_LONG => format!("int{unsigned}"),
        _ if is_integer(wire) => format!("bigint{unsigned}"),
        MYSQL_TYPE_NEWDECIMAL => {
            let scale = u32::from(wire.decimals.min(30));
            let digits = precision.unwrap_or(65).clamp(scale.max(1), 65);
            format!("decimal({digits},{scale}){unsigned}")
        }
        MYSQL_TYPE_FLOAT => "float".into(),
        MYSQL_TYPE_DOUBLE => "double".into(),
        MYSQL_TYPE_DATE => "date".into(),
        MYSQL_TYPE_TIME => with_fraction("time"),
        MYSQL_TYPE_DATETIME => with_fraction("datetime"),
        MYSQL_TYPE_TIMESTAMP => with_fraction("timestamp"),
        MYSQL_TYPE_JSON => "json".into(),
        _ if wire.charset == CHARSET_BINARY => match width {
            Some(n) if n <= MAX_VARCHAR_CHARS => format!("varbinary({n})"),
            _ => "longblob".into(),
        },
        _ => characters(width),
    }
}

/// The type of texts of at most so many characters.
fn characters(width: Option<u32>) -> String {
    match width {
        Some(0) => "char(0)".into(),
        Some(n) if n <= MAX_VARCHAR_CHARS => format!("varchar({n})"),
        Some(n) if n <= 65_535 / 4 => "text".into(),
        Some(n) if n <= 16_777_215 / 4 => "mediumtext".into(),
        _ => "longtext".into(),
    }
}

/// Whether an expression's integer is an INT, not a BIGINT.
fn is_short(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(e) => is_short(e),
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) => n.len() < 10,
            Value::Boolean(_) => true,
            _ => false,
        },
        Expr::UnaryOp { expr, .. } => matches!(expr.as_ref(), Expr::Value(_)) && is_short(expr),
        Expr::BinaryOp { op, .. } => null::compares(op),
        Expr::Extract { .. } => true,
        _ if is_condition(expr) => true,
        Expr::Function(f) => INT_FUNCTIONS.contains(&name_of(f).as_str()),
        _ => {
            let like = same_as(expr);
            !like.is_empty() && like.into_iter().all(is_short)
        }
    }
}

/// Functions whose result is an INT.
const INT_FUNCTIONS: [&str; 29] = [
    "ascii",
    "bit_length",
    "char_length",
    "character_length",
    "crc32",
    "datediff",
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "field",
    "find_in_set",
    "hour",
    "instr",
    "length",
    "locate",
    "microsecond",
    "minute",
    "month",
    "octet_length",
    "period_add",
    "quarter",
    "second",
    "time_to_sec",
    "to_days",
    "week",
    "weekday",
    "weekofyear",
    "year",
];

/// Fractional digits of a time, if an argument determines them.
fn fraction(expr: &Expr, names: &mut Names<'_>) -> Option<u8> {
    let of = |e: &Expr, names: &mut Names<'_>| match super::of(e, names) {
        Some(t) if super::is_temporal(&t) && (1..=6).contains(&t.decimals) => Some(t.decimals),
        _ => None,
    };
    match expr {
        Expr::BinaryOp { left, right, .. } => of(left, names).or_else(|| of(right, names)),
        Expr::Function(f) => {
            let all = arguments(f);
            let first = all.first()?;
            match name_of(f).as_str() {
                "now" | "current_timestamp" | "localtime" | "localtimestamp" | "sysdate"
                | "utc_timestamp" | "curtime" | "current_time" | "utc_time" => width::number(first)
                    .and_then(|n| u8::try_from(n).ok())
                    .filter(|n| *n <= 6),
                _ => of(first, names),
            }
        }
        _ => None,
    }
    .filter(|n| *n > 0)
}

/// The default that MySQL gives to a column that cannot be NULL and is created from an expression.
fn zero(column_type: &str) -> Option<String> {
    let kind = parts(column_type);
    match base_type(column_type) {
        "date" | "datetime" | "timestamp" | "time" | "json" => None,
        base if base.ends_with("blob") || base.ends_with("text") => None,
        _ if kind.is_text() || kind.is_bytes() => Some(literal("")),
        "decimal" => {
            let scale = kind.numeric().and_then(|n| n.1).unwrap_or(0) as usize;
            Some(literal(&format!("{:.scale$}", 0.0)))
        }
        _ => Some(literal("0")),
    }
}
