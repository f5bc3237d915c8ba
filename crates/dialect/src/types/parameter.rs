//! The types that parameters have where they are prepared.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::Expr;
use tare_mysql::wire::column::{CHARSET_BINARY, NOT_FIXED, WireType};

use super::kind::{
    Arithmetic, arithmetic_kind, bigint, bytes, date, decimal, fixed, is_bytes, json, moment, text,
};
use super::literal::{unit_of, year};

use ColumnType::*;

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// A text: what nothing else determines.
    Text,
    /// A text that compares byte by byte.
    ExactText,
    /// A text for columns of information_schema, whose character set has three bytes for a character, and
    /// whether it compares byte by byte.
    SystemText(bool),
    /// A long text.
    LongText,
    /// Bytes.
    Bytes,
    /// Many bytes.
    LongBytes,
    /// An integer.
    Integer,
    /// A number of rows, or an integer without a sign.
    Count,
    /// A double.
    Real,
    /// A DECIMAL.
    Decimal,
    /// A year.
    Year,
    /// Bits.
    Bits,
    /// A date.
    Date,
    /// A time.
    Time,
    /// A date and a time.
    Moment,
    /// JSON.
    Json,
}

impl Parameter {
    /// What is compared with values of a type, or assigned to a column of it.
    pub fn compared(t: &WireType) -> Self {
        let is_exact = t.flags.contains(ColumnFlags::BINARY_FLAG);
        match t.code {
            MYSQL_TYPE_NULL => Self::Bytes,
            MYSQL_TYPE_YEAR => Self::Year,
            MYSQL_TYPE_BIT => Self::Bits,
            MYSQL_TYPE_NEWDECIMAL => Self::Decimal,
            MYSQL_TYPE_DOUBLE | MYSQL_TYPE_FLOAT => Self::Real,
            MYSQL_TYPE_DATE => Self::Date,
            MYSQL_TYPE_TIME => Self::Time,
            MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => Self::Moment,
            MYSQL_TYPE_JSON => Self::Json,
            _ if super::kind::is_integer(t) && t.is_unsigned() => Self::Count,
            _ if super::kind::is_integer(t) => Self::Integer,
            _ if t.charset == CHARSET_BINARY && t.is_long_text() => Self::LongBytes,
            _ if t.charset == CHARSET_BINARY => Self::Bytes,
            _ if t.is_long_text() => Self::LongText,
            _ if is_exact => Self::ExactText,
            _ => Self::Text,
        }
    }

    /// What is added to values of a type.
    pub fn computed(t: &WireType) -> Self {
        match arithmetic_kind(t) {
            Arithmetic::Int if t.is_unsigned() => Self::Count,
            Arithmetic::Int => Self::Integer,
            Arithmetic::Decimal => Self::Decimal,
            Arithmetic::Real => Self::Real,
        }
    }

    /// A pattern for values of a type.
    pub fn matched(t: &WireType) -> Self {
        match t.code {
            MYSQL_TYPE_JSON => Self::ExactText,
            _ if is_bytes(t) => Self::Bytes,
            _ => Self::Text,
        }
    }

    /// What an INTERVAL is added to.
    pub fn date_before(interval: &Expr) -> Self {
        match unit_of(interval).as_str() {
            "DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR" | "YEAR_MONTH" => Self::Date,
            _ => Self::Moment,
        }
    }
}

/// The type of a parameter.
pub fn of_parameter(kind: Parameter) -> WireType {
    let exactly = |mut t: WireType| {
        t.flags |= ColumnFlags::BINARY_FLAG;
        t
    };
    let long = |t: WireType| WireType {
        code: MYSQL_TYPE_LONG_BLOB,
        length: u32::MAX,
        ..t
    };
    match kind {
        Parameter::Text => text(16_383),
        Parameter::ExactText => exactly(text(16_383)),
        Parameter::SystemText(is_exact) => {
            let short = WireType {
                length: 4 * 21_845,
                ..text(1)
            };
            if is_exact { exactly(short) } else { short }
        }
        Parameter::LongText => long(text(1)),
        Parameter::Bytes => bytes(65_535),
        Parameter::LongBytes => long(bytes(1)),
        Parameter::Integer => bigint(false),
        Parameter::Count => bigint(true),
        Parameter::Real => fixed(NOT_FIXED),
        Parameter::Decimal => decimal(65, 30, false),
        Parameter::Year => year(),
        Parameter::Bits => WireType {
            flags: ColumnFlags::UNSIGNED_FLAG,
            ..WireType::number(MYSQL_TYPE_BIT, 64)
        },
        Parameter::Date => date(),
        Parameter::Time => moment(MYSQL_TYPE_TIME, 6),
        Parameter::Moment => moment(MYSQL_TYPE_DATETIME, 6),
        Parameter::Json => json(),
    }
}
