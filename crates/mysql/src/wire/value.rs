//! One value of a row, as text and as binary.

use std::borrow::Cow;
use std::io::Write as _;

use mysql_common::constants::{ColumnFlags, ColumnType};

use super::bytes::{put_lenenc_int_text, put_lenenc_str};
use super::column::{NOT_FIXED, WireType};
use crate::decimal::Decimal;

/// A value as SQLite has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// An integer; in an unsigned column the bits of a `u64`. A larger one is text.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// Appends a value to a row of the text protocol.
#[inline]
pub fn put_text(out: &mut Vec<u8>, value: Value<'_>, wire: &WireType) {
    match value {
        Value::Null => out.push(0xfb),
        Value::Int(n)
            if wire.code == ColumnType::MYSQL_TYPE_YEAR
                && wire.flags.contains(ColumnFlags::ZEROFILL_FLAG) =>
        {
            put_lenenc_str(out, format!("{n:04}").as_bytes());
        }
        Value::Int(n) if wire.code == ColumnType::MYSQL_TYPE_BIT => {
            let bytes = (wire.length as usize).div_ceil(8).clamp(1, 8);
            put_lenenc_str(out, &n.to_be_bytes()[8 - bytes..]);
        }
        Value::Int(n)
            if wire.decimals >= NOT_FIXED
                || wire.decimals == 0
                || !matches!(
                    wire.code,
                    ColumnType::MYSQL_TYPE_NEWDECIMAL
                        | ColumnType::MYSQL_TYPE_DOUBLE
                        | ColumnType::MYSQL_TYPE_FLOAT
                ) =>
        {
            if n >= 0 || wire.is_unsigned() {
                put_lenenc_int_text(out, n as u64, false);
            } else {
                put_lenenc_int_text(out, n.unsigned_abs(), true);
            }
        }
        Value::Text(text) if wire.code == ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            put_decimal(out, text, wire);
        }
        Value::Text(text) | Value::Blob(text) => put_lenenc_str(out, text),
        Value::Int(n) => put_lenenc_str(
            out,
            format!("{n}.{:0>1$}", "", usize::from(wire.decimals)).as_bytes(),
        ),
        Value::Real(x) => put_real(out, x, wire),
    }
}

/// A DECIMAL with the scale of its column.
fn put_decimal(out: &mut Vec<u8>, text: &[u8], wire: &WireType) {
    let point = text.iter().position(|c| *c == b'.');
    let digits = point.map_or(0, |at| text.len() - at - 1);
    if digits == usize::from(wire.decimals) || wire.decimals >= NOT_FIXED {
        return put_lenenc_str(out, text);
    }
    match std::str::from_utf8(text).ok().and_then(Decimal::parse) {
        Some(d) => {
            let digits = i64::from(wire.decimals).min(d.max_scale());
            put_lenenc_str(out, d.rounded(digits).text().as_bytes());
        }
        None => put_lenenc_str(out, text),
    }
}

fn put_real(out: &mut Vec<u8>, x: f64, wire: &WireType) {
    let mut text = [0u8; 64];
    let mut rest = &mut text[..];
    let written = match wire.code {
        ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            write!(rest, "{x:.*}", usize::from(wire.decimals.min(30)))
        }
        ColumnType::MYSQL_TYPE_DOUBLE | ColumnType::MYSQL_TYPE_FLOAT
            if wire.decimals < NOT_FIXED =>
        {
            return put_lenenc_str(out, fixed(x, wire.decimals.into()).as_bytes());
        }
        ColumnType::MYSQL_TYPE_FLOAT => write!(rest, "{}", display_single(x)),
        _ => write!(rest, "{}", display_real(x)),
    };
    let left = rest.len();
    match written {
        Ok(()) => put_lenenc_str(out, &text[..text.len() - left]),
        // 1e300 with two decimals does not fit in 64 bytes.
        Err(_) => put_lenenc_str(out, format!("{x:e}").as_bytes()),
    }
}

/// A double with a number of digits behind the point, filled with zeros.
fn fixed(x: f64, decimals: usize) -> String {
    let shortest = shortest(x);
    let digits = shortest.split_once('.').map_or(0, |(_, d)| d.len());
    match digits <= decimals && x.is_finite() {
        true if decimals == 0 => shortest,
        true => {
            let point = if digits == 0 { "." } else { "" };
            format!("{shortest}{point}{}", "0".repeat(decimals - digits))
        }
        false => format!("{x:.decimals$}"),
    }
}

/// A double as MySQL prints it: shortest text that reads back the same, an exponent from 1e15 on if
/// there is no fraction.
pub fn display_real(x: f64) -> String {
    let size = x.abs();
    if size != 0.0 && (size < 1e-15 || size >= 1e15 && x.fract() == 0.0) || !x.is_finite() {
        shortest_with_exponent(x)
    } else {
        shortest(x)
    }
}

/// A DOUBLE, or a FLOAT, with a number of digits behind the point, or with its own.
pub fn format_real(x: f64, single: bool, decimals: u8) -> String {
    match single {
        _ if decimals < NOT_FIXED => fixed(x, decimals.into()),
        true => display_single(x),
        false => display_real(x),
    }
}

/// A FLOAT as MySQL prints it: six digits.
fn display_single(x: f64) -> String {
    let rounded = format!("{:.5e}", x as f32);
    display_real(rounded.parse().unwrap_or(x))
}

/// The shortest text that reads back the same; of two that are as near, the even one.
fn shortest(x: f64) -> String {
    let text = format!("{x}");
    let digits = text.split_once('.').map_or(0, |(_, d)| d.len());
    if digits == 0 {
        // With all of its digits a large one would be longer.
        return text;
    }
    let rounded = format!("{x:.digits$}");
    match rounded.parse() == Ok(x) {
        true => rounded,
        false => text,
    }
}

/// The same, with an exponent: one digit before the point.
fn shortest_with_exponent(x: f64) -> String {
    let text = format!("{x:e}");
    let mantissa = text.split('e').next().unwrap_or_default();
    let digits = mantissa.split_once('.').map_or(0, |(_, d)| d.len());
    let rounded = format!("{x:.digits$e}");
    match rounded.parse() == Ok(x) {
        true => rounded,
        false => text,
    }
}

/// Appends a row of the binary protocol; `value` returns the value of a column.
#[inline]
pub fn put_binary_row<'v>(
    out: &mut Vec<u8>,
    types: &[WireType],
    value: impl Fn(usize) -> Value<'v>,
) {
    out.push(0);
    let nulls = out.len();
    // The bits of the first two columns are reserved.
    out.resize(nulls + (types.len() + 9) / 8, 0);
    for (i, wire) in types.iter().enumerate() {
        match value(i) {
            Value::Null => out[nulls + (i + 2) / 8] |= 1 << ((i + 2) % 8),
            value => put_binary(out, value, wire),
        }
    }
}

/// Appends a value that is not NULL to a row of the binary protocol.
pub fn put_binary(out: &mut Vec<u8>, value: Value<'_>, wire: &WireType) {
    use ColumnType::*;
    match wire.code {
        MYSQL_TYPE_LONGLONG => out.extend_from_slice(&to_int(value).to_le_bytes()),
        MYSQL_TYPE_LONG | MYSQL_TYPE_INT24 => {
            out.extend_from_slice(&(to_int(value) as i32).to_le_bytes());
        }
        MYSQL_TYPE_SHORT | MYSQL_TYPE_YEAR => {
            out.extend_from_slice(&(to_int(value) as i16).to_le_bytes());
        }
        MYSQL_TYPE_TINY => out.push(to_int(value) as u8),
        MYSQL_TYPE_DOUBLE => out.extend_from_slice(&to_real(value).to_le_bytes()),
        MYSQL_TYPE_FLOAT => out.extend_from_slice(&(to_real(value) as f32).to_le_bytes()),
        MYSQL_TYPE_DATE | MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => {
            put_datetime(out, &to_text(value), wire.code == MYSQL_TYPE_DATE);
        }
        MYSQL_TYPE_TIME => put_time(out, &to_text(value)),
        _ => put_text(out, value, wire),
    }
}

fn to_int(value: Value<'_>) -> i64 {
    match value {
        Value::Null => 0,
        Value::Int(n) => n,
        Value::Real(x) => x.round() as i64,
        Value::Text(t) | Value::Blob(t) => {
            let text = String::from_utf8_lossy(t);
            let text = text.trim();
            let unsigned = || text.parse::<u64>().map(|n| n as i64);
            text.parse()
                .or_else(|_| unsigned())
                .unwrap_or_else(|_| text.parse::<f64>().unwrap_or(0.0).round() as i64)
        }
    }
}

fn to_real(value: Value<'_>) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Int(n) => n as f64,
        Value::Real(x) => x,
        Value::Text(t) | Value::Blob(t) => String::from_utf8_lossy(t).trim().parse().unwrap_or(0.0),
    }
}

fn to_text(value: Value<'_>) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::Int(n) => Cow::Owned(n.to_string()),
        Value::Real(x) => Cow::Owned(x.to_string()),
        Value::Text(t) | Value::Blob(t) => String::from_utf8_lossy(t),
    }
}

/// The numbers of a text like `2026-11-21 08:09:10.5`, the fraction in microseconds.
fn numbers(text: &str) -> ([u32; 6], u32) {
    let (main, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = [0u32; 6];
    let digits = main
        .split(|c: char| !c.is_ascii_digit())
        .filter(|p| !p.is_empty());
    for (part, digits) in parts.iter_mut().zip(digits) {
        *part = digits.parse().unwrap_or(0);
    }
    let micros: String = fraction
        .chars()
        .take_while(char::is_ascii_digit)
        .chain("000000".chars())
        .take(6)
        .collect();
    (parts, micros.parse().unwrap_or(0))
}

fn put_datetime(out: &mut Vec<u8>, text: &str, date_only: bool) {
    let ([year, month, day, hour, minute, second], micros) = numbers(text);
    let date = [
        (year as u16).to_le_bytes()[0],
        (year as u16).to_le_bytes()[1],
        month as u8,
        day as u8,
    ];
    let time = [hour as u8, minute as u8, second as u8];
    if date == [0; 4] && time == [0; 3] && micros == 0 {
        out.push(0);
    } else if date_only || (time == [0; 3] && micros == 0) {
        out.push(4);
        out.extend_from_slice(&date);
    } else {
        out.push(if micros == 0 { 7 } else { 11 });
        out.extend_from_slice(&date);
        out.extend_from_slice(&time);
        if micros != 0 {
            out.extend_from_slice(&micros.to_le_bytes());
        }
    }
}

fn put_time(out: &mut Vec<u8>, text: &str) {
    let negative = text.starts_with('-');
    let ([hours, minute, second, ..], micros) = numbers(text);
    if hours == 0 && minute == 0 && second == 0 && micros == 0 {
        out.push(0);
        return;
    }
    out.push(if micros == 0 { 8 } else { 12 });
    out.push(u8::from(negative));
    out.extend_from_slice(&(hours / 24).to_le_bytes());
    out.extend_from_slice(&[(hours % 24) as u8, minute as u8, second as u8]);
    if micros != 0 {
        out.extend_from_slice(&micros.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value<'_>, wire: WireType) -> String {
        let mut out = Vec::new();
        put_text(&mut out, value, &wire);
        String::from_utf8(out[1..].to_vec()).expect("text")
    }

    #[test]
    fn numbers_print_as_mysql_prints_them() {
        assert_eq!(text(Value::Int(-1), WireType::bigint()), "-1");
        assert_eq!(
            text(Value::Int(-1), WireType::bigint_unsigned()),
            "18446744073709551615"
        );
        assert_eq!(text(Value::Int(3), WireType::decimal(10, 2)), "3.00");
        assert_eq!(text(Value::Real(2.5), WireType::decimal(10, 4)), "2.5000");
        assert_eq!(text(Value::Real(0.1), WireType::double()), "0.1");
        assert_eq!(text(Value::Real(1e20), WireType::double()), "1e20");
        assert_eq!(text(Value::Real(1e300), WireType::decimal(60, 2)), "1e300");
        // If the value is halfway between two texts of 17 digits, the even one is right.
        for (x, expected) in [
            (1_270_131_582_837_982.0 + 0.25, "1270131582837982.2"),
            (-1_270_131_582_837_982.0 - 0.75, "-1270131582837982.8"),
            (1_270_131_582_837_982.0, "1.270131582837982e15"),
            (562_949_953_421_312.0 + 0.125, "562949953421312.1"),
            (4_503_599_627_370_495.5, "4503599627370495.5"),
            (999_999_999_999_999.0, "999999999999999"),
            (1e15, "1e15"),
            (1e-15, "0.000000000000001"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
            (18_446_744_073_709_551_615.0, "1.8446744073709552e19"),
        ] {
            assert_eq!(text(Value::Real(x), WireType::double()), expected);
        }
        assert_eq!(
            fixed(1_234_567_899_876_543.0 + 0.25, 3),
            "1234567899876543.200"
        );
        assert_eq!(
            fixed(9_223_372_036_854_775_808.0, 1),
            "9223372036854776000.0"
        );
    }

    #[test]
    fn nulls_of_a_binary_row_are_bits() {
        let types = [WireType::bigint(); 7];
        let mut out = Vec::new();
        put_binary_row(&mut out, &types, |i| match i {
            0 | 6 => Value::Null,
            i => Value::Int(i as i64),
        });
        assert_eq!(out[..3], [0, 0b100, 0b1]);
        assert_eq!(out.len(), 3 + 5 * 8);
    }

    #[test]
    fn binary_times_have_the_fields_of_their_text() {
        let wire = WireType::number(ColumnType::MYSQL_TYPE_DATETIME, 19);
        let mut out = Vec::new();
        put_binary(&mut out, Value::Text(b"2026-11-21 08:09:10.5"), &wire);
        assert_eq!(out, [11, 0xea, 0x07, 11, 21, 8, 9, 10, 0x20, 0xa1, 0x07, 0]);
        out.clear();
        put_binary(&mut out, Value::Text(b"2026-11-21 00:00:00"), &wire);
        assert_eq!(out, [4, 0xea, 0x07, 11, 21]);
        out.clear();
        let wire = WireType::number(ColumnType::MYSQL_TYPE_TIME, 10);
        put_binary(&mut out, Value::Text(b"-25:01:02"), &wire);
        assert_eq!(out, [8, 1, 1, 0, 0, 0, 1, 1, 2]);
    }
}
