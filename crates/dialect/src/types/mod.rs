//! The type of an expression, as MySQL sends it to a client: derived from its operands' types, without a
//! row. `None` if it cannot be derived; then SQLite's first row decides.

mod cache;
mod definition;
mod kind;
mod literal;
mod result;

use mysql_common::constants::ColumnType;
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};
use tare_mysql::wire::column::WireType;

pub use self::cache::TypeCache;
pub use self::definition::{both, definition_from_wire, definition_of};
pub use self::kind::{fixed, is_number, is_temporal, is_text, loose, merged};
pub use self::literal::{is_interval, of_cast};

use self::kind::{arithmetic, bigint, display_decimals, is_integer, json, scale, signed_as};
use self::literal::{moved, of_literal};
use self::result::result;
use crate::function::{arguments, name_of};
use crate::grammar::DIV;
use crate::node::MEMBER_MARK;
use crate::scope::Names;

use ColumnType::*;

/// Whether an expression other than a comparison is a condition: its value is 0, 1 or NULL.
fn is_condition(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Exists { .. }
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Like { .. }
            | Expr::RLike { .. }
            | Expr::MemberOf(_)
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. }
    )
}

/// The type of an expression that has not been rewritten yet.
pub fn of(expr: &Expr, names: &mut Names<'_>) -> Option<WireType> {
    match expr {
        Expr::Nested(inner) => of(inner, names),
        Expr::Value(v) => of_literal(&v.value),
        Expr::Prefixed { prefix, .. } if prefix.value == MEMBER_MARK => Some(WireType::bigint()),
        Expr::Prefixed { value, .. } => of(value, names),
        Expr::Identifier(name) if name.value.starts_with('@') && name.quote_style.is_none() => {
            of_variable(&name.value, names)
        }
        Expr::CompoundIdentifier(parts)
            if parts[0].value.starts_with("@@") && parts[0].quote_style.is_none() =>
        {
            of_variable(&format!("@@{}", parts.last()?.value), names)
        }
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            names.column_of(expr).and_then(|c| c.wire)
        }
        Expr::UnaryOp { op, expr } => match op {
            UnaryOperator::Not | UnaryOperator::BangNot => Some(WireType::bigint()),
            UnaryOperator::BitwiseNot => Some(WireType::bigint_unsigned()),
            UnaryOperator::Minus => of(expr, names).map(|t| match t {
                t if is_integer(&t) => WireType::bigint(),
                t if is_text(&t) || t.code == MYSQL_TYPE_NULL => WireType::double(),
                t => t,
            }),
            _ => of(expr, names),
        },
        Expr::BinaryOp { op, left, right } => {
            if let Some(wire) = names.types.get(left, right) {
                return wire;
            }
            let wire = of_binary(op, left, right, names);
            names.types.put(left, right, wire);
            wire
        }
        _ if is_condition(expr) => Some(WireType {
            length: 1,
            ..WireType::bigint()
        }),
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            let mut all = of(&conditions.first()?.result, names);
            for when in &conditions[1..] {
                all = merged(all, of(&when.result, names));
            }
            if let Some(other) = else_result {
                all = merged(all, of(other, names));
            }
            all.map(loose)
        }
        Expr::Cast { data_type, .. } => Some(of_cast(data_type)),
        Expr::Convert { data_type, .. } => {
            Some(data_type.as_ref().map_or(WireType::text(255), of_cast))
        }
        // An expression with one operand: the cache has it as the right one, too.
        Expr::Collate { expr, .. } => {
            if let Some(wire) = names.types.get(expr, expr) {
                return wire;
            }
            let wire = of(expr, names);
            names.types.put(expr, expr, wire);
            wire
        }
        Expr::Substring { .. } | Expr::Trim { .. } | Expr::Overlay { .. } => {
            Some(WireType::text(255))
        }
        Expr::Position { .. } | Expr::Extract { .. } => Some(WireType::bigint()),
        Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => result("floor", &[expr], names),
        Expr::TypedString(typed) => Some(of_cast(&typed.data_type)),
        Expr::Subquery(query) => names.columns(query)?.first()?.wire.map(loose),
        Expr::Function(f) => result(&name_of(f), &arguments(f), names),
        _ => None,
    }
}

/// The type of `left op right`.
fn of_binary(
    op: &BinaryOperator,
    left: &Expr,
    right: &Expr,
    names: &mut Names<'_>,
) -> Option<WireType> {
    let mut both = || (of(left, names), of(right, names));
    Some(match op {
        BinaryOperator::Plus | BinaryOperator::Minus
            if matches!(left, Expr::Interval(_)) || matches!(right, Expr::Interval(_)) =>
        {
            let (date, by) = if matches!(left, Expr::Interval(_)) {
                (of(right, names), left)
            } else {
                (of(left, names), right)
            };
            match date {
                Some(t) if t.code == MYSQL_TYPE_DATE => moved(loose(t), by),
                Some(t) if t.code == MYSQL_TYPE_TIME => t,
                Some(t) if is_temporal(&t) => WireType::number(MYSQL_TYPE_DATETIME, 19),
                _ => WireType::text(29),
            }
        }
        BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Modulo => {
            let (a, b) = both();
            if a.is_none() || b.is_none() {
                return None;
            }
            match arithmetic(a, b, u8::max) {
                // The sign is the dividend's.
                t if *op == BinaryOperator::Modulo && is_integer(&t) => {
                    bigint(a.is_some_and(|a| a.is_unsigned()))
                }
                t if *op == BinaryOperator::Modulo && t.code == MYSQL_TYPE_NEWDECIMAL => {
                    signed_as(t, a.is_some_and(|a| a.is_unsigned()))
                }
                t => t,
            }
        }
        BinaryOperator::Multiply => {
            let (a, b) = both();
            if a.is_none() || b.is_none() {
                return None;
            }
            arithmetic(a, b, |a, b| a + b)
        }
        BinaryOperator::Divide => {
            let (a, b) = both();
            let exact = |t: &WireType| {
                is_integer(t) || matches!(t.code, MYSQL_TYPE_NEWDECIMAL | MYSQL_TYPE_NULL)
            };
            match (a, b) {
                (Some(a), Some(b)) if exact(&a) && exact(&b) => signed_as(
                    WireType::decimal(a.length + 6, (scale(&a) + 4).min(30)),
                    a.is_unsigned() && b.is_unsigned(),
                ),
                (None, Some(b)) | (Some(b), None) if exact(&b) => WireType::decimal(21, 4),
                (None, None) => WireType::decimal(21, 4),
                (Some(a), Some(b)) => fixed(
                    display_decimals(&a)
                        .max(display_decimals(&b))
                        .saturating_add(4),
                ),
                _ => WireType::double(),
            }
        }
        op if is_div(op) => {
            let (a, b) = both();
            bigint([a, b].iter().flatten().any(WireType::is_unsigned))
        }
        BinaryOperator::BitwiseAnd
        | BinaryOperator::BitwiseOr
        | BinaryOperator::BitwiseXor
        | BinaryOperator::PGBitwiseShiftLeft
        | BinaryOperator::PGBitwiseShiftRight => WireType::bigint_unsigned(),
        BinaryOperator::Arrow => json(),
        BinaryOperator::LongArrow => WireType::text(255),
        BinaryOperator::Assignment => return of(right, names),
        _ => WireType {
            length: 1,
            ..WireType::bigint()
        },
    })
}

/// Whether an operator is DIV, as parsed or as rewritten.
pub fn is_div(op: &BinaryOperator) -> bool {
    match op {
        BinaryOperator::MyIntegerDivide => true,
        BinaryOperator::Custom(op) => op == DIV,
        _ => false,
    }
}

/// The type of a system variable; `None` for user variables.
fn of_variable(name: &str, names: &Names<'_>) -> Option<WireType> {
    let name = name.strip_prefix("@@")?;
    names.schema.variable(&name.to_ascii_lowercase())
}
