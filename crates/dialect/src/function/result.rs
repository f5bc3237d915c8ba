//! What a call returns.

use mysql_common::constants::ColumnType;
use sqlparser::ast::Expr;
use tare_mysql::wire::column::WireType;

use crate::scope::Names;
use crate::types;

/// What a function returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Out {
    /// BIGINT.
    Int,
    /// BIGINT UNSIGNED.
    Unsigned,
    /// DOUBLE.
    Double,
    /// VARCHAR.
    Text,
    /// VARBINARY.
    Bytes,
    /// DATE.
    Date,
    /// DATETIME.
    DateTime,
    /// TIME.
    Time,
    /// JSON.
    Json,
    /// The type of an argument.
    Same(usize),
    /// What all arguments from this one on can become.
    Merged(usize),
    /// A date stays a date, unless hours or less are added; a text stays a text.
    Moved,
    /// The type of SUM, AVG.
    Sum,
    /// AVG: four more digits.
    Average,
    /// ROUND, TRUNCATE: as many digits as the second argument says.
    Rounded,
    /// FLOOR, CEIL.
    Whole,
    /// MOD.
    Remainder,
    /// DOUBLE with that many digits behind the point.
    Fixed(u8),
    /// VARCHAR; the characters of NULL alone are bytes.
    TextOf,
    /// ABS: the type of its argument, and a DOUBLE of NULL.
    Magnitude,
    /// UNIX_TIMESTAMP: with as many digits as its argument has.
    Epoch,
    /// FROM_UNIXTIME: a text, where a format is given.
    FromEpoch,
    /// STR_TO_DATE: what the format says.
    Formatted,
}

use Out::*;

/// The type of a call's result.
pub fn result(name: &str, arguments: &[&Expr], names: &mut Names<'_>) -> Option<WireType> {
    let function = names.schema.function(name)?;
    let mut of = |i: usize| arguments.get(i).and_then(|e| types::of(e, names));
    Some(match function.out {
        Int => WireType::bigint(),
        Epoch => match arguments
            .first()
            .map_or(0, |e| types::fraction_of(e, of(0)))
        {
            0 => WireType::bigint(),
            digits => WireType::decimal(18, digits),
        },
        Unsigned => WireType::bigint_unsigned(),
        Fixed(decimals) => WireType {
            decimals,
            ..WireType::double()
        },
        Double => WireType::double(),
        TextOf if of(0).is_some_and(|t| t.code == ColumnType::MYSQL_TYPE_NULL) => {
            WireType::number(ColumnType::MYSQL_TYPE_VAR_STRING, 255)
        }
        Text | TextOf => WireType::text(255),
        Bytes => WireType::number(ColumnType::MYSQL_TYPE_VAR_STRING, 255),
        Date => WireType::number(ColumnType::MYSQL_TYPE_DATE, 10),
        FromEpoch if arguments.len() > 1 => WireType::text(255),
        DateTime | FromEpoch => WireType::number(ColumnType::MYSQL_TYPE_DATETIME, 19),
        Formatted => types::of_format(arguments.get(1)),
        Time => WireType::number(ColumnType::MYSQL_TYPE_TIME, 10),
        Json => types::json(),
        Same(i) => types::loose(of(i)?),
        Magnitude => match types::loose(of(0)?) {
            t if t.code == ColumnType::MYSQL_TYPE_NULL => WireType::double(),
            t => t,
        },
        Merged(from) => {
            let mut all = of(from);
            for i in from + 1..arguments.len() {
                all = types::merged(all, of(i));
            }
            types::loose(all?)
        }
        Moved => match (of(0), arguments.get(1)) {
            (Some(t), Some(e))
                if t.code == ColumnType::MYSQL_TYPE_DATE && types::is_interval(e) =>
            {
                types::moved(t, e)
            }
            (Some(t), _) if types::is_temporal(&t) => types::loose(t),
            _ => WireType::text(29),
        },
        Sum => types::sum(of(0)),
        Average => types::average(of(0)),
        Rounded => types::rounded(of(0), arguments.get(1).copied()),
        Whole => match of(0) {
            Some(t) if t.code == ColumnType::MYSQL_TYPE_DOUBLE || types::is_text(&t) => {
                WireType::double()
            }
            Some(t) if t.is_unsigned() => WireType::bigint_unsigned(),
            _ => WireType::bigint(),
        },
        Remainder => types::arithmetic(of(0), of(1), u8::max),
    })
}
