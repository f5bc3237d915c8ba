//! Comparisons of a date or a time with a value of another kind: with a text as dates or as texts, with a number as
//! numbers, and of a time with a date as dates.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::{Expr, Value};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use super::exact::Class;
use super::moment::{alike, literal_of};
use super::operands::operands;
use super::rewriter::{Conversion, Rewriter};
use crate::types;

fn is_time(t: &WireType) -> bool {
    t.code == ColumnType::MYSQL_TYPE_TIME
}

/// Whether an operand is a literal of bytes.
fn is_hexadecimal(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_hexadecimal(inner),
        Expr::Value(v) => matches!(v.value, Value::HexStringLiteral(_)),
        _ => false,
    }
}

impl Rewriter<'_> {
    /// Prepares the two operands of an operator. False: it is another comparison, or a type is not known.
    pub(super) fn compare_mixed_moments(
        &mut self,
        expr: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) -> bool {
        let Expr::BinaryOp { .. } = expr else {
            return false;
        };
        let Some(mut operands) = operands(expr) else {
            return false;
        };
        let wires: Vec<WireType> = operands
            .iter()
            .filter_map(|e| types::of(e, &mut self.names))
            .collect();
        let [a, b] = wires[..] else { return false };
        if types::is_temporal(&a) && types::is_temporal(&b) {
            for (i, t) in [a, b].iter().enumerate() {
                let conversion = match is_time(t) {
                    true => Conversion::Today(6),
                    false => Conversion::Fraction(6),
                };
                later.push((i, conversion));
            }
            return is_time(&a) != is_time(&b);
        }
        let (i, moment, other) = match types::is_temporal(&a) {
            true => (0, a, b),
            false => (1, b, a),
        };
        let j = 1 - i;
        match Class::of(Some(other)) {
            Class::Text if types::is_json(&other) => return false,
            Class::Text if is_time(&moment) && is_hexadecimal(operands[j]) => {
                let digits = moment.decimals.into();
                let time =
                    literal_of(operands[j]).and_then(|text| alike(&text, moment.code, digits));
                let Some(time) = time else { return false };
                *operands[j] = Expr::value(Value::SingleQuotedString(time));
            }
            Class::Text if is_time(&moment) => {
                let conversions: &[Conversion] = match other.charset == CHARSET_BINARY {
                    true => &[Conversion::Bytes],
                    false if other.flags.contains(ColumnFlags::BINARY_FLAG) => {
                        &[Conversion::Text, Conversion::CompareBytes]
                    }
                    false => &[Conversion::Text, Conversion::IgnoreCase],
                };
                later.extend(conversions.iter().map(|c| (i, *c)));
            }
            Class::Text => {
                let is_date = moment.code == ColumnType::MYSQL_TYPE_DATE;
                later.push((i, Conversion::Fraction(6)));
                later.push((j, Conversion::TextMoment(is_date)));
            }
            Class::Real => later.push((i, Conversion::Digits)),
            Class::Decimal | Class::Big => {
                later.push((i, Conversion::ExactDigits));
                later.push((j, Conversion::Exact));
            }
            Class::Int => later.push((i, Conversion::Digits)),
            _ => return false,
        }
        true
    }
}
