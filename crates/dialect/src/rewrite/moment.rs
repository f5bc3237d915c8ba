//! Comparisons with dates and times. They are texts that sort as the moments do, as long as all are
//! written alike: literals are, and what has another number of digits is made so.

use mysql_common::constants::ColumnType;
use sqlparser::ast::{Expr, Value};
use tare_mysql::date::read::{date_and_time, time_of};
use tare_mysql::date::time_text_with;
use tare_mysql::wire::column::WireType;

use super::exact::Class;
use super::exact::compare::operands;
use super::rewriter::{Conversion, Rewriter};
use crate::types;

/// What a literal says, and whether it is a number.
fn literal(expr: &Expr) -> Option<(&str, bool)> {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => Some((s, false)),
            Value::Number(n, _) => Some((n, true)),
            _ => None,
        },
        _ => None,
    }
}

/// Digits of a date that is not in the calendar, as a date is written.
fn written(digits: &str) -> Option<String> {
    let is_date = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit());
    is_date.then(|| format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..]))
}

/// A literal as moments of this type are written, with so many digits at least.
fn alike(text: &str, code: ColumnType, digits: i64) -> Option<String> {
    if code == ColumnType::MYSQL_TYPE_TIME {
        let micros = time_of(text)?;
        let digits = if micros % 1_000_000 == 0 { digits } else { 6 };
        return Some(time_text_with(micros, digits));
    }
    let found = date_and_time(text)?;
    if code == ColumnType::MYSQL_TYPE_DATE && found.micros == 0 {
        return Some(found.date_text());
    }
    let unit = 10i64.pow(6 - digits.clamp(0, 6) as u32);
    let digits = if found.micros % unit == 0 { digits } else { 6 };
    Some(found.text_with(digits))
}

impl Rewriter<'_> {
    /// Makes the operands of a comparison with dates or times comparable; whether it is one, and all
    /// of them are known.
    pub(super) fn compare_moments(
        &mut self,
        expr: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) -> bool {
        let Some(mut operands) = operands(expr) else {
            return false;
        };
        let wires: Vec<Option<WireType>> = operands
            .iter()
            .map(|e| types::of(e, &mut self.names))
            .collect();
        let moments: Vec<&WireType> = wires
            .iter()
            .flatten()
            .filter(|t| types::is_temporal(t))
            .collect();
        let Some(first) = moments.first() else {
            return false;
        };
        let is_time = |t: &WireType| t.code == ColumnType::MYSQL_TYPE_TIME;
        if moments.iter().any(|t| is_time(t) != is_time(first)) {
            return false;
        }
        let classes: Vec<Class> = wires.iter().map(|w| Class::of(*w)).collect();
        let known = operands.iter().zip(&classes).all(|(e, c)| {
            literal(e).is_some() || matches!(c, Class::Moment | Class::Null | Class::Int)
        });
        if !known {
            return false;
        }
        let numbers = operands
            .iter()
            .zip(&classes)
            .any(|(e, c)| *c == Class::Int && literal(e).is_none());
        if numbers {
            // A number that is computed is compared with the digits.
            for (i, class) in classes.iter().enumerate() {
                if *class == Class::Moment {
                    later.push((i, Conversion::Digits));
                }
            }
            return true;
        }
        let mixed = !is_time(first)
            && moments
                .iter()
                .any(|t| (t.code, t.decimals) != (first.code, first.decimals));
        let (code, digits) = match mixed {
            true => (ColumnType::MYSQL_TYPE_DATETIME, 6),
            false => (first.code, first.decimals.into()),
        };
        for (i, operand) in operands.iter_mut().enumerate() {
            if let Some((text, is_number)) = literal(operand) {
                let made = alike(text, code, digits);
                let made = made.or_else(|| is_number.then(|| written(text)).flatten());
                if let Some(made) = made {
                    **operand = Expr::value(Value::SingleQuotedString(made));
                }
            } else if mixed && classes[i] == Class::Moment {
                later.push((i, Conversion::Moment));
            }
        }
        true
    }
}
