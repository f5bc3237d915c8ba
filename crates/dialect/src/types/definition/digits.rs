//! How many digits an exact number has at most.

use sqlparser::ast::{BinaryOperator, DataType, ExactNumberInfo, Expr, Value};
use tare_mysql::types::parts;

use super::{column, same_as, width};
use crate::function::{arguments, name_of};
use crate::scope::Names;
use crate::types;

/// Digits before the decimal point of a type.
pub(super) fn integer_digits(column_type: &str) -> u32 {
    let numeric = parts(column_type).numeric();
    numeric.map_or(20, |(all, scale)| {
        (all - scale.unwrap_or(0).min(all)) as u32
    })
}

/// The digits of an expression's number; `None` if they are not known.
pub(super) fn precision(expr: &Expr, names: &mut Names<'_>) -> Option<u32> {
    let (integer, scale) = digits(expr, names)?;
    Some((integer + scale).max(1))
}

/// Digits before and after the decimal point.
fn digits(expr: &Expr, names: &mut Names<'_>) -> Option<(u32, u32)> {
    if let Expr::Nested(inner) = expr {
        return digits(inner, names);
    }
    if let Some(def) = column(expr, names) {
        let scale = parts(&def.column_type).numeric()?.1.unwrap_or(0) as u32;
        return Some((integer_digits(&def.column_type), scale));
    }
    let like = same_as(expr);
    if !like.is_empty() {
        return joined(&like, names);
    }
    match expr {
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) if !n.contains(['e', 'E']) => {
                let (integer, fraction) = n.split_once('.').unwrap_or((n, ""));
                let integer = integer.trim_start_matches('0').len() as u32;
                Some((integer, fraction.len().min(30) as u32))
            }
            Value::Boolean(_) => Some((1, 0)),
            Value::Null => Some((0, 0)),
            _ => None,
        },
        Expr::UnaryOp { expr, .. } => digits(expr, names),
        Expr::BinaryOp { left, op, right } => {
            let (a, b) = (digits(left, names)?, digits(right, names)?);
            match op {
                BinaryOperator::Plus | BinaryOperator::Minus => {
                    Some((a.0.max(b.0) + 1, a.1.max(b.1)))
                }
                BinaryOperator::Multiply => Some((a.0 + b.0, (a.1 + b.1).min(30))),
                // The smallest divisor makes the largest quotient.
                BinaryOperator::Divide => Some((a.0 + b.1, (a.1 + 4).min(30))),
                BinaryOperator::Modulo => Some((a.0.max(b.0), a.1.max(b.1))),
                _ => None,
            }
        }
        Expr::Cast {
            data_type: DataType::Decimal(info) | DataType::Numeric(info) | DataType::Dec(info),
            ..
        } => Some(match info {
            ExactNumberInfo::PrecisionAndScale(p, s) => {
                let scale = (*s).clamp(0, 30) as u32;
                ((*p).min(65) as u32 - scale.min((*p).min(65) as u32), scale)
            }
            ExactNumberInfo::Precision(p) => ((*p).min(65) as u32, 0),
            ExactNumberInfo::None => (10, 0),
        }),
        Expr::Function(f) => {
            let all = arguments(f);
            let first = digits(all.first()?, names)?;
            match name_of(f).as_str() {
                "sum" => Some((first.0 + 22, first.1)),
                "avg" => Some((first.0, (first.1 + 4).min(30))),
                "abs" => Some(first),
                "round" | "truncate" => {
                    let scale = match all.get(1) {
                        None => 0,
                        Some(n) => width::number(n).map_or(first.1, |n| n.clamp(0, 30) as u32),
                    };
                    Some((first.0 + 1, scale.min(first.1)))
                }
                _ => None,
            }
        }
        other => types::of(other, names)
            .filter(types::is_number)
            .filter(|t| t.decimals == 0)
            .map(|_| (20, 0)),
    }
}

fn joined(all: &[&Expr], names: &mut Names<'_>) -> Option<(u32, u32)> {
    let mut most = (0, 0);
    for expr in all {
        let one = digits(expr, names)?;
        most = (most.0.max(one.0), most.1.max(one.1));
    }
    Some(most)
}
