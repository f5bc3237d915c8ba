//! Comparisons with dates and times. They are texts that sort like the times if all have one format:
//! literals and values with another number of digits are converted to it.

use std::borrow::Cow;

use mysql_common::constants::ColumnType;
use sqlparser::ast::{DataType, Expr, TypedString, Value};
use tare_mysql::date::argument::{DateMode, MAX_TIME_MICROS, Parts};
use tare_mysql::date::read::{date_and_time, date_parts, time_of};
use tare_mysql::date::{rounded, time_text_with};
use tare_mysql::error::SqlError;
use tare_mysql::wire::column::WireType;

use super::exact::Class;
use super::operands::{is_comparison, operands as operands_of};
use super::rewriter::{Conversion, Rewriter};
use crate::error::{Error, Result, near};
use crate::function::{arguments, name_of};
use crate::{node, types};

/// A literal's text, and whether it is a number.
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

/// The digits of a date that is not in the calendar, formatted as a date.
fn written(digits: &str) -> Option<String> {
    let is_date = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit());
    is_date.then(|| format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..]))
}

/// A literal in the format of a temporal type, with at least so many digits.
pub(super) fn alike(text: &str, code: ColumnType, digits: i64) -> Option<String> {
    if code == ColumnType::MYSQL_TYPE_TIME {
        let micros = time_of(text)?;
        let digits = if micros % 1_000_000 == 0 { digits } else { 6 };
        return Some(time_text_with(micros, digits));
    }
    // What is behind the date is ignored.
    let moment = date_and_time(text).or_else(|| Parts::of_text(text)?.moment())?;
    if code == ColumnType::MYSQL_TYPE_DATE && moment.micros == 0 {
        return Some(moment.date_text());
    }
    let unit = 10i64.pow(6 - digits.clamp(0, 6) as u32);
    let digits = if moment.micros % unit == 0 { digits } else { 6 };
    Some(moment.text_with(digits))
}

/// The text of a literal such as `DATE'2026-01-01'`; 1525 if it is none of its type.
pub(super) fn typed_literal(typed: &TypedString, dates: DateMode) -> Result<Expr> {
    let expr = Expr::Value(typed.value.clone());
    let Some((text, false)) = literal(&expr) else {
        return Err(near(&expr));
    };
    let digits = types::fraction_of_text(text).into();
    let date = || date_parts(text).filter(|parts| dates.allows(parts));
    let (kind, canonical) = match typed.data_type {
        DataType::Date => {
            let date = date().filter(|parts| !parts.has_time);
            ("DATE", date.map(|parts| parts.date_text()))
        }
        DataType::Time(..) => {
            let is_date = date_parts(text).is_some_and(|parts| parts.has_time);
            let time = time_of(text).map(|micros| rounded(micros, digits));
            let time = time.filter(|micros| !is_date && micros.abs() <= MAX_TIME_MICROS);
            ("TIME", time.map(|micros| time_text_with(micros, digits)))
        }
        _ if has_offset(text) => {
            return Err(Error::unsupported("TIMESTAMP with a time zone offset"));
        }
        _ => {
            let moment = date().filter(|parts| parts.has_time);
            ("DATETIME", moment.and_then(|parts| parts.text_with(digits)))
        }
    };
    let incorrect = || SqlError::new(1525, format!("Incorrect {kind} value: '{text}'")).into();
    canonical
        .map(|text| node::text(&text))
        .ok_or_else(incorrect)
}

/// Whether a date and time ends with an offset from UTC: `+02:00`.
fn has_offset(text: &str) -> bool {
    let offset = text.rfind(['+', '-']).map(|at| text.split_at(at));
    offset.is_some_and(|(time, offset)| {
        offset.len() == 6
            && offset.as_bytes()[3] == b':'
            && date_parts(time).is_some_and(|parts| parts.has_time)
    })
}

/// The text or the bytes of a literal that is compared.
pub(super) fn literal_of(expr: &Expr) -> Option<Cow<'_, str>> {
    match expr {
        Expr::Nested(inner) => literal_of(inner),
        Expr::Prefixed { prefix, value } if prefix.value.eq_ignore_ascii_case("_binary") => {
            literal_of(value)
        }
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => Some(s.into()),
            Value::HexStringLiteral(hex) => {
                let bytes = node::bytes_of(hex);
                Some(String::from_utf8_lossy(&bytes).into_owned().into())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The two operands of a comparison that reads a literal as a date: of an operator, of IN with one value, and of
/// functions that compare.
fn date_operands(expr: &Expr) -> Option<[&Expr; 2]> {
    match expr {
        Expr::BinaryOp { left, op, right } if is_comparison(op) => Some([left, right]),
        Expr::InList { expr, list, .. } => match list.as_slice() {
            [one] => Some([expr, one]),
            _ => None,
        },
        Expr::Function(f) if matches!(name_of(f).as_str(), "nullif" | "strcmp") => {
            arguments(f).try_into().ok()
        }
        _ => None,
    }
}

impl Rewriter<'_> {
    /// 1525 for a literal that is compared with a date and is none that the mode allows.
    pub(super) fn check_date_literal(&mut self, expr: &Expr) -> Result<()> {
        if !self.mode.series.refuses_text_as_date() {
            return Ok(());
        }
        let Some([left, right]) = date_operands(expr) else {
            return Ok(());
        };
        for (moment, other) in [(left, right), (right, left)] {
            let Some(text) = literal_of(other) else {
                continue;
            };
            let Some(wire) = types::of(moment, &mut self.names) else {
                continue;
            };
            if !types::is_temporal(&wire) || wire.code == ColumnType::MYSQL_TYPE_TIME {
                continue;
            }
            let read = date_parts(&text).or_else(|| Parts::of_text(&text));
            if read.is_some_and(|parts| self.mode.dates.allows(&parts)) {
                continue;
            }
            if self.mode.strict && self.sql.writes.is_some() {
                let column = self.names.column_of(moment).filter(|c| c.stored);
                return Err(match column.map(|c| c.name.clone()) {
                    Some(column) => incorrect(&wire, &text, &column),
                    None => {
                        let kind = kind_of_date(&wire);
                        let message = format!("Truncated incorrect {kind} value: '{text}'");
                        SqlError::new(1292, message).into()
                    }
                });
            }
            let kind = match wire.code {
                ColumnType::MYSQL_TYPE_DATE => "DATE",
                ColumnType::MYSQL_TYPE_TIMESTAMP => "TIMESTAMP",
                _ => "DATETIME",
            };
            let message = format!("Incorrect {kind} value: '{text}'");
            return Err(SqlError::new(1525, message).into());
        }
        Ok(())
    }

    /// Prepares the operands of a comparison with dates or times. False: it is none, or an operand's type is
    /// not known.
    pub(super) fn compare_moments(
        &mut self,
        expr: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) -> Result<bool> {
        let between = matches!(expr, Expr::Between { .. });
        let Some(operands) = operands_of(expr) else {
            return Ok(false);
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
            return Ok(false);
        };
        let is_time = |t: &WireType| t.code == ColumnType::MYSQL_TYPE_TIME;
        if moments.iter().any(|t| is_time(t) != is_time(first)) {
            return Ok(self.compare_mixed_moments(expr, later));
        }
        let classes: Vec<Class> = wires.iter().map(|w| Class::of(*w)).collect();
        let are_moments = operands.iter().zip(&classes).all(|(e, c)| {
            literal(e).is_some() || matches!(c, Class::Moment | Class::Null | Class::Int)
        });
        if !are_moments {
            return Ok(self.compare_mixed_moments(expr, later));
        }
        let refuses = self.mode.strict && self.sql.writes.is_some();
        if let Some(number) = number_of_no_moment(&operands, first) {
            let column = operands.iter().find_map(|e| self.names.column_of(e));
            if let (true, Some(column)) = (refuses, column) {
                return Err(incorrect(first, &number, &column.name));
            }
            if self.compare_mixed_moments(expr, later) {
                return Ok(true);
            }
        }
        let mut operands = operands_of(expr).unwrap_or_default();
        let numbers = operands
            .iter()
            .zip(&classes)
            .any(|(e, c)| *c == Class::Int && literal(e).is_none());
        if numbers {
            // A computed number is compared with the digits.
            for (i, class) in classes.iter().enumerate() {
                if *class == Class::Moment {
                    later.push((i, Conversion::Digits));
                }
            }
            return Ok(true);
        }
        // The bounds of BETWEEN become values of the column's type: zeros, where they are none, and an
        // error in a statement that changes rows. Other comparisons have no such conversion.
        let column = operands
            .iter()
            .find_map(|e| self.names.column_of(e).filter(|c| c.stored))
            .filter(|_| between && !is_time(first) || refuses && is_time(first))
            .map(|c| c.name.clone());
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
                let converted = alike(text, code, digits);
                if let (Some(column), None, false) = (&column, &converted, is_number)
                    && !is_eased(text)
                    && !(is_time(first) && text.trim().is_empty())
                {
                    if refuses {
                        return Err(incorrect(first, text, column));
                    }
                    **operand = node::text("0000-00-00");
                    continue;
                }
                let converted = converted.or_else(|| is_number.then(|| written(text)).flatten());
                if let Some(converted) = converted {
                    **operand = Expr::value(Value::SingleQuotedString(converted));
                }
            } else if mixed && classes[i] == Class::Moment {
                later.push((i, Conversion::Fraction(6)));
            }
        }
        Ok(true)
    }
}

/// A literal number that is no date, or no time, of a type.
fn number_of_no_moment(operands: &[&mut Expr], t: &WireType) -> Option<String> {
    let is_time = t.code == ColumnType::MYSQL_TYPE_TIME;
    operands.iter().find_map(|e| {
        let (text, _) = literal(e).filter(|(_, is_number)| *is_number)?;
        let is_date = !is_time && written(text).is_some();
        let is_double = is_time && text.contains(['e', 'E']);
        let is_none = is_double || !is_date && alike(text, t.code, 0).is_none();
        is_none.then(|| text.to_owned())
    })
}

/// Whether a date is valid except for its month's length: comparisons accept the 30th of February.
fn is_eased(text: &str) -> bool {
    let mut at = Vec::new();
    let mut last = None;
    for (i, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
        if last.is_none_or(|l: usize| l + 1 != i) {
            at.push(i);
        }
        last = Some(i);
    }
    let Some(&day) = at.get(2) else { return false };
    let end = text[day..]
        .find(|c: char| !c.is_ascii_digit())
        .map_or(text.len(), |n| day + n);
    let fits = text[day..end].parse::<u32>().is_ok_and(|n| n <= 31);
    fits && date_and_time(&format!("{}01{}", &text[..day], &text[end..])).is_some()
}

/// What messages call a date's type.
fn kind_of_date(t: &WireType) -> &'static str {
    match t.code {
        ColumnType::MYSQL_TYPE_DATE => "date",
        ColumnType::MYSQL_TYPE_TIME => "time",
        _ => "datetime",
    }
}

/// 1292.
fn incorrect(t: &WireType, text: &str, column: &str) -> Error {
    let kind = kind_of_date(t);
    let message = format!("Incorrect {kind} value: '{text}' for column '{column}' at row 1");
    SqlError::new(1292, message).into()
}
