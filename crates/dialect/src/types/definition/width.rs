//! The maximum length of an expression's text.

use sqlparser::ast::{CharacterLength, DataType, Expr, UnaryOperator, Value};
use tare_mysql::types::{base_type, parts};

use super::{column, same_as};
use crate::function::{arguments, name_of};
use crate::scope::Names;
use crate::types;

/// The value of a literal integer.
pub(super) fn number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Nested(e) => number(e),
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) => n.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => number(expr).map(|n| -n),
        _ => None,
    }
}

/// The value of a literal integer, as a number of characters.
fn count(expr: Option<&&Expr>) -> Option<u32> {
    u32::try_from(number(expr?)?.max(0)).ok()
}

/// The maximum characters of an expression, or bytes if it is binary; `None` if not known.
pub(super) fn width(expr: &Expr, names: &mut Names<'_>) -> Option<u32> {
    if let Expr::Nested(inner) = expr {
        return width(inner, names);
    }
    if let Some(def) = column(expr, names) {
        return of_type(&def.column_type);
    }
    let like = same_as(expr);
    if !like.is_empty() {
        return widest(&like, names);
    }
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s)
            | Value::DoubleQuotedString(s)
            | Value::NationalStringLiteral(s) => Some(s.chars().count() as u32),
            Value::Number(n, _) => Some(n.len() as u32),
            Value::Boolean(_) => Some(1),
            Value::Null => Some(0),
            Value::HexStringLiteral(hex) => Some(hex.len().div_ceil(2) as u32),
            Value::SingleQuotedByteStringLiteral(bits) => Some(bits.len().div_ceil(8) as u32),
            _ => None,
        },
        Expr::Collate { expr, .. } | Expr::Trim { expr, .. } => width(expr, names),
        Expr::Prefixed { value, .. } => width(value, names),
        Expr::Substring {
            expr,
            substring_for,
            ..
        } => {
            let total = width(expr, names);
            match substring_for {
                Some(n) => least(total, count(Some(&n.as_ref()))),
                None => total,
            }
        }
        Expr::Cast {
            expr, data_type, ..
        } => cast(expr, data_type, names),
        Expr::Convert {
            expr, data_type, ..
        } => match data_type {
            Some(to) => cast(expr, to, names),
            None => width(expr, names),
        },
        Expr::Function(f) => called(&name_of(f), &arguments(f), names),
        other => types::of(other, names)
            .filter(|t| types::is_number(t) || types::is_temporal(t))
            .map(|t| t.length.max(20) + 7),
    }
}

fn least(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

fn widest(all: &[&Expr], names: &mut Names<'_>) -> Option<u32> {
    let mut most = 0;
    for expr in all {
        most = most.max(width(expr, names)?);
    }
    Some(most)
}

fn cast(expr: &Expr, to: &DataType, names: &mut Names<'_>) -> Option<u32> {
    match to {
        DataType::Char(Some(n))
        | DataType::Character(Some(n))
        | DataType::Varchar(Some(n))
        | DataType::Nvarchar(Some(n)) => match n {
            CharacterLength::IntegerLength { length, .. } => u32::try_from(*length).ok(),
            CharacterLength::Max => None,
        },
        DataType::Binary(Some(n)) => u32::try_from(*n).ok(),
        DataType::Binary(None) => width(expr, names).map(|n| n.saturating_mul(4)),
        _ => width(expr, names),
    }
}

/// The maximum display width of a type.
fn of_type(column_type: &str) -> Option<u32> {
    let kind = parts(column_type);
    let digits = |n: u64| u32::try_from(n).ok();
    match base_type(column_type) {
        "tinyint" => Some(4),
        "smallint" => Some(6),
        "mediumint" => Some(8),
        "int" => Some(11),
        "bigint" => Some(20),
        "year" => Some(4),
        "decimal" => kind.numeric().and_then(|n| digits(n.0 + 2)),
        "float" => Some(12),
        "double" => Some(23),
        "date" => Some(10),
        "time" => Some(17),
        "datetime" | "timestamp" => Some(26),
        _ => kind.characters().and_then(digits),
    }
}

/// The maximum characters of a function's result.
fn called(name: &str, all: &[&Expr], names: &mut Names<'_>) -> Option<u32> {
    let mut of = |i: usize| all.get(i).and_then(|e| width(e, names));
    let times = |a: Option<u32>, n: u32| a.map(|a| a.saturating_mul(n));
    match name {
        "concat" => sum(all, names),
        "concat_ws" => {
            let between = of(0)?.saturating_mul(all.len().saturating_sub(2) as u32);
            Some(sum(&all[1..], names)?.saturating_add(between))
        }
        "upper" | "ucase" | "lower" | "lcase" | "ltrim" | "rtrim" | "trim" | "reverse"
        | "substring_index" | "weight_string" => of(0),
        "left" | "right" => least(of(0), count(all.get(1))),
        "substring" | "substr" | "mid" => match all.len() {
            3 => least(of(0), count(all.get(2))),
            _ => of(0),
        },
        "lpad" | "rpad" => count(all.get(1)),
        "repeat" => Some(of(0)?.saturating_mul(count(all.get(1))?)),
        "space" => count(all.first()),
        "replace" => {
            let (total, new) = (of(0)?, of(2)?);
            Some(total.saturating_mul(new.max(1)))
        }
        "elt" => widest(all.get(1..)?, names),
        "hex" => times(of(0), 8),
        "unhex" => times(of(0), 2),
        "md5" => Some(32),
        "sha" | "sha1" => Some(40),
        "sha2" => Some(128),
        "uuid" => Some(36),
        "version" => Some(60),
        "user" | "current_user" | "session_user" | "system_user" => Some(288),
        "database" | "schema" => Some(64),
        "dayname" | "monthname" => Some(9),
        "bin" | "oct" | "conv" => Some(64),
        "inet_ntoa" => Some(31),
        "format" => Some(100),
        "char" => Some(4 * all.len() as u32),
        _ => None,
    }
}

fn sum(all: &[&Expr], names: &mut Names<'_>) -> Option<u32> {
    let mut total = 0u32;
    for expr in all {
        total = total.saturating_add(width(expr, names)?);
    }
    Some(total)
}
