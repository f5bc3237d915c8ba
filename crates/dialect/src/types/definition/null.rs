//! Whether an expression can be NULL, as MySQL sees it.

use sqlparser::ast::{BinaryOperator, Expr, Value};

use crate::function::{arguments, name_of};
use crate::scope::Names;

/// Functions that are never NULL.
const NEVER_NULL: [&str; 30] = [
    "bit_and",
    "bit_or",
    "bit_xor",
    "connection_id",
    "count",
    "cume_dist",
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "curtime",
    "dense_rank",
    "field",
    "found_rows",
    "last_insert_id",
    "localtime",
    "localtimestamp",
    "now",
    "percent_rank",
    "pi",
    "rand",
    "rank",
    "row_count",
    "row_number",
    "sleep",
    "sysdate",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "version",
];

/// Whether the result of an operator is a truth value.
pub(super) fn compares(op: &BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(
        op,
        Eq | NotEq | Lt | LtEq | Gt | GtEq | Spaceship | And | Or | Xor | Regexp
    )
}

/// Whether an expression can be NULL; true if that is not known.
pub(super) fn nullable(expr: &Expr, names: &mut Names<'_>) -> bool {
    let mut any = |all: &[&Expr]| all.iter().any(|e| nullable(e, names));
    match expr {
        Expr::Nested(e) => nullable(e, names),
        Expr::Value(v) => v.value == Value::Null,
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            let definition = names.column_of(expr).and_then(|c| c.def.as_ref());
            definition.is_none_or(|def| def.nullable)
        }
        Expr::UnaryOp { expr, .. } => nullable(expr, names),
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::Spaceship => false,
            BinaryOperator::Divide
            | BinaryOperator::MyIntegerDivide
            | BinaryOperator::Modulo
            | BinaryOperator::Arrow
            | BinaryOperator::LongArrow
            | BinaryOperator::Assignment => true,
            _ if matches!(left.as_ref(), Expr::Interval(_))
                || matches!(right.as_ref(), Expr::Interval(_)) =>
            {
                true
            }
            _ => any(&[left, right]),
        },
        Expr::Exists { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_) => false,
        Expr::Between {
            expr, low, high, ..
        } => any(&[expr, low, high]),
        Expr::InList { expr, list, .. } => {
            nullable(expr, names) || list.iter().any(|e| nullable(e, names))
        }
        Expr::Like { expr, pattern, .. } => any(&[expr, pattern]),
        Expr::Case {
            conditions,
            else_result: Some(other),
            ..
        } => nullable(other, names) || conditions.iter().any(|when| nullable(&when.result, names)),
        Expr::Function(f) => {
            let all = arguments(f);
            match (name_of(f).as_str(), all.as_slice()) {
                ("if", [_, yes, no]) => any(&[yes, no]),
                ("ifnull", [a, b]) => nullable(a, names) && nullable(b, names),
                ("unix_timestamp", []) => false,
                (name, _) => !NEVER_NULL.contains(&name),
            }
        }
        _ => true,
    }
}
