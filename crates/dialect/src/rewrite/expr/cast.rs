//! CAST and CONVERT.

use sqlparser::ast::{CharacterLength, DataType, ExactNumberInfo, Expr, ObjectName};
use tare_mysql::charset::is_supported;

use crate::error::{Error, Result};
use crate::name::last_name;
use crate::node::{self, call};

/// CAST(value AS type).
pub(super) fn cast(value: Expr, data_type: &DataType) -> Expr {
    use DataType::*;
    let digits = |n: Option<u64>| node::digits(n.unwrap_or(0).to_string());
    match data_type {
        Signed | SignedInteger | Int(_) | Integer(_) | BigInt(_) | Unsigned | UnsignedInteger => {
            call("tare_int", vec![value])
        }
        Decimal(info) | Numeric(info) | Dec(info) => {
            let scale = match info {
                ExactNumberInfo::PrecisionAndScale(_, scale) => *scale,
                _ => 0,
            };
            let number = call("tare_number", vec![value]);
            call("tare_round", vec![number, node::number(scale)])
        }
        Float(_) => call("tare_float", vec![value]),
        Double(_) | DoublePrecision | Real => call("tare_real", vec![value]),
        Date => call("date", vec![value]),
        Datetime(n) | Timestamp(n, _) => call("tare_datetime", vec![value, digits(*n)]),
        Time(n, _) => call("tare_time", vec![value, digits(*n)]),
        Binary(Some(length)) => call(
            "tare_bytes",
            vec![node::cast(value, Blob(None)), digits(Some(*length))],
        ),
        Binary(_) | Varbinary(_) => node::cast(value, Blob(None)),
        Char(Some(CharacterLength::IntegerLength { length, .. })) => call(
            "tare_substr",
            vec![
                node::cast(value, Text),
                node::number(1),
                digits(Some(*length)),
            ],
        ),
        JSON => call("tare_json", vec![value]),
        _ => node::cast(value, Text),
    }
}

/// CONVERT(value USING charset).
pub(super) fn converted_charset(value: Expr, charset: &ObjectName) -> Result<Expr> {
    let charset = last_name(charset).to_ascii_lowercase();
    if !is_supported(&charset) {
        return Err(Error::UnknownCharset(charset));
    }
    let charset = match charset.as_str() {
        "binary" => return Ok(node::cast(value, DataType::Blob(None))),
        "utf8mb3" => "utf8",
        other => other,
    };
    Ok(call("tare_convert", vec![value, node::text(charset)]))
}
