//! The type of an expression, as MySQL sends it to a client: derived from its operands' types, without a
//! row. `None` if it cannot be derived; then SQLite's first row decides.

mod arithmetic;
mod cache;
mod call;
mod definition;
mod kind;
mod literal;
mod merged;
mod parameter;
mod stored;

use mysql_common::constants::ColumnFlags;
use sqlparser::ast::{BinaryOperator, CaseWhen, Expr, ObjectName, SetExpr, UnaryOperator, Value};
use tare_mysql::wire::column::{NOT_FIXED, WireType};

pub use self::cache::TypeCache;
pub use self::definition::{definition_from_wire, definition_of};
pub use self::kind::{
    characters, digits, fixed, is_json, is_nullable, is_number, is_temporal, is_text, nullable,
    operand, unmarked,
};
pub(crate) use self::literal::fraction_of_text;
pub use self::literal::{is_interval, of_cast};
pub use self::parameter::{Parameter, of_parameter};
pub use self::stored::{of_aggregate, of_union, stored, without_keys};

use self::arithmetic::{Operator, arithmetic, integer_quotient, negative, quotient};
use self::kind::{bigint, date, int, is_bytes, json, text, truth};
use self::literal::{
    as_text, cast, extract_width, like_text, moved, of_literal, of_negative_literal, unit_of,
};
use self::merged::merged;
use crate::function::{arguments, name_of};
use crate::grammar::DIV;
use crate::name::last_name;
use crate::node::MEMBER_MARK;
use crate::scope::Names;

/// Whether an expression other than a comparison is a condition: its value is 0, 1 or NULL.
pub fn is_condition(expr: &Expr) -> bool {
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

/// The type of an expression that has not been rewritten yet. A column has all of its properties.
pub fn of(expr: &Expr, names: &mut Names<'_>) -> Option<WireType> {
    match expr {
        Expr::Nested(inner) => of(inner, names),
        Expr::Value(v) => of_literal(&v.value),
        Expr::Prefixed { prefix, value } if prefix.value == MEMBER_MARK => {
            let of = of_operand(value, names);
            // The number of a member is a double, as that of every text.
            let t = fixed(NOT_FIXED);
            Some(nullable(t, of.is_none_or(|t| is_nullable(&t))))
        }
        Expr::Prefixed { prefix, value } => {
            let t = of_operand(value, names)?;
            Some(match prefix.value.to_ascii_lowercase().as_str() {
                "_binary" => nullable(cast_to_bytes(&t), is_nullable(&t)),
                "binary" => cast_to_bytes(&t),
                _ => t,
            })
        }
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
        Expr::UnaryOp { op, expr } => of_unary(op, expr, names),
        Expr::BinaryOp { op, left, right } => {
            if let Some(wire) = names.types.get(left, right) {
                return wire;
            }
            let wire = of_binary(op, left, right, names);
            names.types.put(left, right, wire);
            wire
        }
        _ if is_condition(expr) => Some(nullable(truth(), condition_is_nullable(expr, names))),
        Expr::Case {
            conditions,
            else_result,
            ..
        } => of_case(conditions, else_result.as_deref(), names),
        Expr::Cast {
            expr, data_type, ..
        } => {
            let of = of_operand(expr, names).unwrap_or_else(|| text(16_383));
            let t = cast(data_type, &of);
            let is_year = t.code == literal::year().code;
            let is_null = is_year || !is_number(&t) || is_nullable(&of);
            Some(nullable(t, is_null))
        }
        Expr::Convert {
            expr,
            data_type,
            charset,
            ..
        } => {
            let of = of_operand(expr, names).unwrap_or_else(|| text(16_383));
            let is_binary = |name: &ObjectName| name.to_string().eq_ignore_ascii_case("binary");
            Some(match (data_type, charset) {
                (Some(to), _) => cast(to, &of),
                (None, Some(name)) if is_binary(name) => cast_to_bytes(&of),
                _ => as_text(&of),
            })
        }
        Expr::Collate { expr, collation } => of_collated(expr, collation, names),
        Expr::Substring {
            expr,
            substring_from,
            substring_for,
            ..
        } => {
            let of = of_operand(expr, names).unwrap_or_else(|| text(16_383));
            let (from, most) = (substring_from.as_deref(), substring_for.as_deref());
            Some(call::substring(&of, from, most))
        }
        Expr::Trim { expr, .. } => {
            let of = of_operand(expr, names).unwrap_or_else(|| text(16_383));
            Some(like_text(&of))
        }
        Expr::Overlay { .. } => Some(text(255)),
        Expr::Position { expr, r#in } => {
            Some(nullable(int(11), any_nullable(&[expr, r#in], names)))
        }
        Expr::Extract { field, .. } => Some(int(extract_width(field))),
        Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => call::result("floor", &[expr], names),
        Expr::TypedString(typed) => Some(nullable(of_typed(typed), false)),
        Expr::Interval(i) => of_operand(&i.value, names),
        Expr::Subquery(query) => {
            let is_table = !matches!(query.body.as_ref(), SetExpr::Select(s) if s.from.is_empty());
            let t = operand(names.columns(query)?.first()?.wire?);
            Some(nullable(t, is_table || is_nullable(&t)))
        }
        Expr::Function(f) => call::result(&name_of(f), &arguments(f), names),
        _ => None,
    }
}

/// The type of an expression with a collation.
fn of_collated(expr: &Expr, collation: &ObjectName, names: &mut Names<'_>) -> Option<WireType> {
    // An expression with one operand: the cache has it as the right one, too.
    if let Some(wire) = names.types.get(expr, expr) {
        return wire;
    }
    let collation = last_name(collation).to_ascii_lowercase();
    let wire = of_operand(expr, names).map(|of| match collation.as_str() {
        "binary" => cast_to_bytes(&of),
        _ => {
            let mut t = as_text(&of);
            t.flags
                .set(ColumnFlags::BINARY_FLAG, collation.ends_with("_bin"));
            t
        }
    });
    names.types.put(expr, expr, wire);
    wire
}

/// The type of an expression as an operand: without the properties that only a column has.
pub(crate) fn of_operand(expr: &Expr, names: &mut Names<'_>) -> Option<WireType> {
    of(expr, names).map(operand)
}

fn any_nullable(all: &[&Expr], names: &mut Names<'_>) -> bool {
    all.iter()
        .any(|e| of(e, names).is_none_or(|t| is_nullable(&t)))
}

fn cast_to_bytes(of: &WireType) -> WireType {
    kind::bytes(of.length)
}

/// The type of a literal such as `DATE'2026-01-01'`.
fn of_typed(typed: &sqlparser::ast::TypedString) -> WireType {
    let t = of_cast(&typed.data_type);
    let text = Expr::Value(typed.value.clone());
    match literal::fraction_of(&text, &t) {
        0 => t,
        _ if t.code == date().code => t,
        digits => kind::moment(t.code, digits),
    }
}

fn of_unary(op: &UnaryOperator, expr: &Expr, names: &mut Names<'_>) -> Option<WireType> {
    if let (UnaryOperator::Minus, Some(t)) = (op, of_negative_literal(expr)) {
        return Some(t);
    }
    match op {
        UnaryOperator::Not | UnaryOperator::BangNot => {
            Some(nullable(truth(), any_nullable(&[expr], names)))
        }
        UnaryOperator::BitwiseNot => Some(of_bits(of_operand(expr, names), None)),
        UnaryOperator::Minus => of_operand(expr, names).map(|t| negative(&t)),
        _ => of(expr, names),
    }
}

/// The type of an operator on bits: bytes, if the operands are bytes.
fn of_bits(a: Option<WireType>, b: Option<WireType>) -> WireType {
    let is_null = |t: &WireType| is_nullable(t);
    let any = a.as_ref().is_none_or(is_null) || b.as_ref().is_some_and(is_null);
    let is_column = |t: &WireType| is_bytes(t) && is_text(t) && t.decimals > 0;
    let result = match (a, b) {
        (Some(a), None) if is_column(&a) => kind::bytes(a.length),
        (Some(a), Some(b)) if is_column(&a) && is_column(&b) => kind::bytes(a.length.max(b.length)),
        _ => bigint(true),
    };
    nullable(result, any)
}

fn of_case(
    conditions: &[CaseWhen],
    else_result: Option<&Expr>,
    names: &mut Names<'_>,
) -> Option<WireType> {
    let results = conditions.iter().map(|when| &when.result);
    let all: Option<Vec<WireType>> = results
        .chain(else_result)
        .map(|e| of_operand(e, names))
        .collect();
    let t = merged(&all?);
    Some(nullable(t, else_result.is_none() || is_nullable(&t)))
}

/// Whether a condition can be NULL.
fn condition_is_nullable(expr: &Expr, names: &mut Names<'_>) -> bool {
    match expr {
        Expr::Between {
            expr, low, high, ..
        } => any_nullable(&[expr, low, high], names),
        Expr::InList { expr, list, .. } => {
            any_nullable(&[expr], names) || any_nullable(&list.iter().collect::<Vec<_>>(), names)
        }
        Expr::Like { expr, pattern, .. } | Expr::RLike { expr, pattern, .. } => {
            any_nullable(&[expr, pattern], names)
        }
        Expr::MemberOf(member) => any_nullable(&[&member.value, &member.array], names),
        Expr::InSubquery { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. } => true,
        _ => false,
    }
}

/// The type of `left op right`.
fn of_binary(
    op: &BinaryOperator,
    left: &Expr,
    right: &Expr,
    names: &mut Names<'_>,
) -> Option<WireType> {
    if let BinaryOperator::Assignment = op {
        return of_operand(right, names);
    }
    if matches!(op, BinaryOperator::Plus | BinaryOperator::Minus)
        && (is_interval(left) || is_interval(right))
    {
        let (date, by) = match is_interval(left) {
            true => (right, left),
            false => (left, right),
        };
        let Expr::Interval(interval) = by else {
            return None;
        };
        let of = of_operand(date, names).unwrap_or_else(|| text(16_383));
        let value = of_operand(&interval.value, names).unwrap_or_else(|| text(16_383));
        let amount = Some((&*interval.value, value));
        return Some(nullable(moved(&of, &unit_of(by), amount), true));
    }
    let (a, b) = (of_operand(left, names), of_operand(right, names));
    let both = || a.zip(b);
    Some(match op {
        BinaryOperator::Plus | BinaryOperator::Minus => {
            both().map(|(a, b)| arithmetic(Operator::Add, &a, &b))?
        }
        BinaryOperator::Modulo => both().map(|(a, b)| arithmetic(Operator::Modulo, &a, &b))?,
        BinaryOperator::Multiply => both().map(|(a, b)| arithmetic(Operator::Multiply, &a, &b))?,
        BinaryOperator::Divide => match (a, b) {
            (Some(a), Some(b)) => nullable(quotient(&a, &b), true),
            (Some(t), None) | (None, Some(t)) if !is_number(&t) || kind::is_real(&t) => {
                WireType::double()
            }
            _ => WireType::decimal(21, 4),
        },
        op if is_div(op) => {
            let unknown = bigint(false);
            let t = integer_quotient(&a.unwrap_or(unknown), &b.unwrap_or(unknown));
            nullable(t, true)
        }
        BinaryOperator::BitwiseAnd | BinaryOperator::BitwiseOr | BinaryOperator::BitwiseXor => {
            of_bits(Some(a?), Some(b?))
        }
        BinaryOperator::PGBitwiseShiftLeft | BinaryOperator::PGBitwiseShiftRight => {
            let t = of_bits(a, None);
            nullable(t, is_nullable(&t) || b.is_none_or(|b| is_nullable(&b)))
        }
        BinaryOperator::Arrow => json(),
        BinaryOperator::LongArrow => {
            let mut t = as_text(&json());
            t.flags |= ColumnFlags::BINARY_FLAG;
            t
        }
        BinaryOperator::Spaceship => nullable(truth(), false),
        _ => {
            let any = [a, b].iter().any(|t| t.is_none_or(|t| is_nullable(&t)));
            nullable(truth(), any)
        }
    })
}

/// Whether an operator computes with bits.
pub fn is_bits(op: &BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(
        op,
        Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::PGBitwiseShiftLeft
            | Op::PGBitwiseShiftRight
    )
}

/// Whether an operand is bytes, and no literal, which would be a number.
pub fn is_byte_string(expr: &Expr, names: &mut Names<'_>) -> bool {
    !is_number_literal(expr) && is_byte_value(expr, names)
}

fn is_byte_value(expr: &Expr, names: &mut Names<'_>) -> bool {
    of(expr, names).is_some_and(|t| is_text(&t) && is_bytes(&t))
}

fn is_number_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_number_literal(inner),
        Expr::Value(v) => matches!(v.value, Value::HexStringLiteral(_)),
        _ => false,
    }
}

/// The character set of an expression's values: `binary` for bytes and NULL. `None`: numbers and dates, which
/// have any collation, or values of unknown type.
pub fn charset(expr: &Expr, names: &mut Names<'_>) -> Option<&'static str> {
    if matches!(expr, Expr::Value(v) if v.value == Value::Null) {
        return Some("binary");
    }
    let wire = of(expr, names)?;
    match is_bytes(&wire) {
        true => Some("binary"),
        false => (is_text(&wire) || is_json(&wire)).then_some("utf8mb4"),
    }
}

/// Whether an operator joins the bits of byte strings, not of numbers of 64 bits.
pub fn joins_bytes(op: &BinaryOperator, left: &Expr, right: &Expr, names: &mut Names<'_>) -> bool {
    use BinaryOperator::{PGBitwiseShiftLeft, PGBitwiseShiftRight};
    match op {
        PGBitwiseShiftLeft | PGBitwiseShiftRight => is_byte_string(left, names),
        _ => {
            is_byte_value(left, names)
                && is_byte_value(right, names)
                && !(is_number_literal(left) && is_number_literal(right))
        }
    }
}

/// Whether an operator is DIV, as parsed or as rewritten.
pub fn is_div(op: &BinaryOperator) -> bool {
    match op {
        BinaryOperator::MyIntegerDivide => true,
        BinaryOperator::Custom(op) => op == DIV,
        _ => false,
    }
}

/// The type of a variable.
fn of_variable(name: &str, names: &Names<'_>) -> Option<WireType> {
    match name.strip_prefix("@@") {
        Some(system) => names.schema.variable(&system.to_ascii_lowercase()),
        None => names
            .schema
            .user_variable(&name.trim_start_matches('@').to_lowercase()),
    }
}

/// The common type of expressions.
pub fn common<'e>(all: impl Iterator<Item = &'e Expr>, names: &mut Names<'_>) -> Option<WireType> {
    let all: Option<Vec<WireType>> = all.map(|e| of_operand(e, names)).collect();
    Some(merged(&all?))
}
