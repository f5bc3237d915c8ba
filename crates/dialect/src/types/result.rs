//! The types of functions' results.

use mysql_common::constants::ColumnType;
use sqlparser::ast::Expr;
use tare_mysql::wire::column::WireType;

use super::kind::{arithmetic, average, bigint, is_temporal, is_text, json, loose, merged, sum};
use super::literal::{fraction_of, is_interval, moved, of_format, rounded};
use crate::scope::Names;

use crate::function::ReturnType::*;

/// The type of a call's result.
pub fn result(name: &str, arguments: &[&Expr], names: &mut Names<'_>) -> Option<WireType> {
    let function = names.schema.function(name)?;
    let mut of = |i: usize| arguments.get(i).and_then(|e| super::of(e, names));
    Some(match function.out {
        Int => WireType::bigint(),
        Epoch => match arguments.first().map_or(0, |e| fraction_of(e, of(0))) {
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
        Formatted => of_format(arguments.get(1)),
        Time => WireType::number(ColumnType::MYSQL_TYPE_TIME, 10),
        Json => json(),
        Same(i) => loose(of(i)?),
        Magnitude => match loose(of(0)?) {
            t if t.code == ColumnType::MYSQL_TYPE_NULL => WireType::double(),
            t => t,
        },
        Merged(from) => {
            let mut all = of(from);
            for i in from + 1..arguments.len() {
                all = merged(all, of(i));
            }
            loose(all?)
        }
        Moved => match (of(0), arguments.get(1)) {
            (Some(t), Some(e)) if t.code == ColumnType::MYSQL_TYPE_DATE && is_interval(e) => {
                moved(t, e)
            }
            (Some(t), _) if is_temporal(&t) => loose(t),
            _ => WireType::text(29),
        },
        Sum => sum(of(0)),
        Average => average(of(0)),
        Rounded => rounded(of(0), arguments.get(1).copied()),
        Integral => match of(0) {
            Some(t) if t.code == ColumnType::MYSQL_TYPE_DOUBLE || is_text(&t) => WireType::double(),
            Some(t) if t.is_unsigned() => WireType::bigint_unsigned(),
            _ => WireType::bigint(),
        },
        Remainder => {
            let dividend = of(0);
            match arithmetic(dividend, of(1), u8::max) {
                t if t.code == ColumnType::MYSQL_TYPE_LONGLONG => {
                    bigint(dividend.is_some_and(|t| t.is_unsigned()))
                }
                t => t,
            }
        }
    })
}
