//! The types of functions' results.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::{Expr, Value};
use tare_mysql::wire::column::{CHARSET_BINARY, NOT_FIXED, WireType};

use super::arithmetic::{Operator, arithmetic, average, integral, magnitude, rounded, sum};
use super::kind::{
    bigint, bytes, date, fixed, int, is_bytes, is_json, is_null, is_nullable, is_temporal, json,
    moment, nullable, sized, text, uint,
};
use super::literal::{
    as_text, at_most, format_width, fraction_of, fraction_of_seconds, like_text, literal_number,
    literal_text, moved, moved_text, of_format, unit_of, units, year,
};
use super::merged::{are_bytes, merged};
use crate::function::ReturnType::{self, *};
use crate::scope::Names;

/// No text is longer in bytes.
const MAX_BLOB_BYTES: u32 = 16_777_216;
/// The characters of a parameter or a variable whose type is not known.
const UNKNOWN_CHARACTERS: u32 = 16_383;

/// The longest text of a double.
const DOUBLE_CHARACTERS: u32 = 22;

/// The arguments of a call, and their types.
struct Arguments<'e> {
    all: &'e [&'e Expr],
    types: Vec<Option<WireType>>,
}

impl Arguments<'_> {
    /// An argument's type; a text's if it is not known.
    fn of(&self, i: usize) -> WireType {
        let t = self.types.get(i).copied().flatten();
        t.unwrap_or_else(|| text(UNKNOWN_CHARACTERS))
    }

    fn expr(&self, i: usize) -> Option<&Expr> {
        self.all.get(i).copied()
    }

    /// A literal number that limits a length.
    fn count(&self, i: usize) -> Option<u32> {
        let expr = self.expr(i)?;
        let n = match expr {
            Expr::Value(v) => match &v.value {
                Value::Number(n, _) => n.parse::<f64>().ok()?.round() as i64,
                Value::Null => 0,
                _ => literal_text(expr)?.trim().parse().unwrap_or(0),
            },
            _ => literal_number(expr)?,
        };
        u32::try_from(n.max(0)).ok()
    }

    /// The fractional digits of an argument as a time.
    fn fraction(&self, i: usize) -> u8 {
        self.expr(i).map_or(0, |e| fraction_of(e, &self.of(i)))
    }

    /// The fractional digits of an argument as a number of seconds.
    fn fraction_of_seconds(&self, i: usize) -> u8 {
        self.expr(i)
            .map_or(0, |e| fraction_of_seconds(e, &self.of(i)))
    }

    fn iter(&self) -> impl Iterator<Item = WireType> + '_ {
        (0..self.all.len()).map(|i| self.of(i))
    }

    fn any_nullable(&self) -> bool {
        self.iter().any(|t| is_nullable(&t))
    }

    /// The common type of the arguments from one on; `None` if one is not known.
    fn merged(&self, from: usize) -> Option<WireType> {
        let all: Option<Vec<WireType>> = self.types.get(from..)?.iter().copied().collect();
        Some(merged(&all?))
    }
}

/// The type of a call's result.
pub(super) fn result(name: &str, all: &[&Expr], names: &mut Names<'_>) -> Option<WireType> {
    if name == "ps_thread_id" {
        return Some(bigint(true));
    }
    let function = names.schema.function(name)?;
    let types = all.iter().map(|e| super::of_operand(e, names)).collect();
    let arguments = Arguments { all, types };
    let result = of_kind(name, function.out, &arguments)?;
    Some(nullable(
        result,
        can_be_null(name, function.out, &arguments),
    ))
}

fn of_kind(name: &str, out: ReturnType, all: &Arguments<'_>) -> Option<WireType> {
    Some(match out {
        Int | Unsigned if name == "year" => year(),
        Int | Unsigned => {
            let unsigned = out == Unsigned;
            match width(name) {
                Some(width) if unsigned => uint(width),
                Some(width) => int(width),
                None if name.starts_with("bit_")
                    && unsigned
                    && super::kind::is_text(&all.of(0))
                    && is_bytes(&all.of(0)) =>
                {
                    WireType {
                        decimals: 0,
                        flags: ColumnFlags::UNSIGNED_FLAG | ColumnFlags::BINARY_FLAG,
                        ..bytes(all.of(0).length.saturating_add(1))
                    }
                }
                None => bigint(unsigned),
            }
        }
        Epoch if is_json(&all.of(0)) => super::kind::decimal(17, 6, false),
        Epoch => match all.fraction(0) {
            0 => bigint(false),
            fraction => super::kind::decimal(11 + u32::from(fraction), fraction.into(), false),
        },
        Fixed(decimals) => WireType {
            length: 2 + u32::from(decimals),
            ..fixed(decimals)
        },
        Double => fixed(NOT_FIXED),
        Text | TextOf | Bytes => of_text(name, out == Bytes, all),
        Date => date(),
        FromEpoch if all.all.len() > 1 => formatted(all.expr(1), &all.of(1)),
        DateTime | FromEpoch => {
            let fraction = match name {
                "timestamp" => all.fraction(0).max(all.fraction(1)),
                "from_unixtime" => all.fraction_of_seconds(0),
                "convert_tz" => all.fraction(0),
                _ => all.count(0).map_or(0, |n| n as u8),
            };
            moment(ColumnType::MYSQL_TYPE_DATETIME, fraction)
        }
        Formatted => of_format(all.all.get(1)),
        Time => of_time(name, all),
        Json => json(),
        Same(i) if matches!(name, "addtime" | "subtime") => match all.of(i) {
            t if is_temporal(&t) => {
                let fraction = all.fraction(0).max(all.fraction(1));
                match t.code {
                    ColumnType::MYSQL_TYPE_TIME => moment(t.code, fraction),
                    _ => moment(ColumnType::MYSQL_TYPE_DATETIME, fraction),
                }
            }
            _ => moved_text(),
        },
        Same(i) => {
            let t = all.types.get(i).copied().flatten()?;
            match name {
                "any_value" | "lag" | "lead" if all.all.len() < 3 => merged(&[t]),
                "lead" | "lag" => merged(&[t, all.of(2)]),
                _ => t,
            }
        }
        Magnitude => magnitude(&all.of(0)),
        Merged(from) => all.merged(from)?,
        Moved => {
            let of = all.of(0);
            match (all.expr(1), name) {
                (Some(Expr::Interval(i)), _) => {
                    let value = all.of(1);
                    let unit = unit_of(all.all[1]);
                    moved(&of, &unit, Some((&*i.value, value)))
                }
                _ => moved(&of, "DAY", None),
            }
        }
        Sum => sum(&all.of(0)),
        Average => average(&all.of(0)),
        Rounded => {
            let to = match all.expr(1) {
                None => Some(0),
                Some(e) => literal_number(e),
            };
            rounded(&all.of(0), to, name == "truncate")
        }
        Integral => integral(&all.of(0)),
        Remainder => arithmetic(Operator::Modulo, &all.of(0), &all.of(1)),
    })
}

fn of_time(name: &str, all: &Arguments<'_>) -> WireType {
    let fraction = match name {
        "timediff" => all.fraction(0).max(all.fraction(1)),
        "maketime" => all.fraction_of_seconds(2),
        "sec_to_time" => all.fraction_of_seconds(0),
        "time" => all.fraction(0),
        _ => {
            let fraction = all.count(0).map_or(0, |n| n as u8);
            let t = moment(ColumnType::MYSQL_TYPE_TIME, fraction);
            // The time of a day has no sign, and two digits for its hour.
            return WireType {
                length: t.length - 2,
                ..t
            };
        }
    };
    moment(ColumnType::MYSQL_TYPE_TIME, fraction)
}

/// The characters of integers that are shorter than a BIGINT.
fn width(name: &str) -> Option<u32> {
    Some(match name {
        "benchmark" | "get_lock" | "is_free_lock" | "release_lock" | "is_ipv4"
        | "is_ipv4_compat" | "is_ipv4_mapped" | "is_ipv6" | "is_uuid" | "isnull"
        | "regexp_like" => 1,
        "dayofweek" | "interval" | "quarter" | "strcmp" | "weekday" => 2,
        "day" | "dayofmonth" | "minute" | "month" | "second" | "week" | "weekofyear" => 3,
        "ascii" | "dayofyear" | "hour" => 4,
        "yearweek" => 7,
        "to_days" => 8,
        "datediff" => 9,
        "coercibility" | "crc32" | "time_to_sec" => 10,
        "bit_length"
        | "char_length"
        | "character_length"
        | "field"
        | "find_in_set"
        | "instr"
        | "length"
        | "locate"
        | "octet_length"
        | "uncompressed_length" => 11,
        _ => return None,
    })
}

/// The type of a GROUP_CONCAT, as long as group_concat_max_len allows by default.
fn concatenated(parts: &[WireType]) -> WireType {
    let t = joined(parts, 0);
    WireType {
        code: ColumnType::MYSQL_TYPE_LONG_BLOB,
        length: match t.charset {
            CHARSET_BINARY => 1024,
            _ => 16_384,
        },
        ..t
    }
}

/// The type of a function's text or bytes.
fn of_text(name: &str, binary: bool, all: &Arguments<'_>) -> WireType {
    let first = all.of(0);
    let exactly = |mut t: WireType| {
        t.flags |= ColumnFlags::BINARY_FLAG;
        t
    };
    match name {
        "concat" => joined(&all.iter().collect::<Vec<_>>(), 0),
        "concat_ws" => {
            let mut parts: Vec<WireType> = all.iter().skip(1).collect();
            let between = parts.len().saturating_sub(1);
            parts.extend(std::iter::repeat_n(first, between));
            joined(&parts, 0)
        }
        "group_concat" => concatenated(&all.iter().collect::<Vec<_>>()),
        "upper" | "ucase" | "lower" | "lcase" | "ltrim" | "rtrim" | "trim" | "reverse"
        | "substring_index" | "regexp_substr" => like_text(&first),
        "regexp_replace" => sized(like_text(&first), MAX_BLOB_BYTES),
        "soundex" => {
            let t = like_text(&first);
            let one = if t.charset == CHARSET_BINARY { 1 } else { 4 };
            sized(t, t.length.max(4 * one))
        }
        "left" | "right" => match all.count(1) {
            Some(n) => at_most(&first, n),
            None => like_text(&first),
        },
        "substring" | "substr" | "mid" => substring(&first, all.expr(1), all.expr(2)),
        "lpad" | "rpad" => match all.count(1) {
            Some(n) => filled(&first, n),
            None => filled(&first, MAX_BLOB_BYTES),
        },
        "repeat" => match all.count(1) {
            Some(n) => {
                let t = like_text(&first);
                sized(t, t.length.saturating_mul(n).min(MAX_BLOB_BYTES))
            }
            None => filled(&first, MAX_BLOB_BYTES),
        },
        "space" => text(all.count(0).unwrap_or(MAX_BLOB_BYTES)),
        "replace" => replaced(&first, &all.of(1), &all.of(2)),
        "insert" => joined(&[first, all.of(3)], 0),
        "elt" => nullable(
            like_text(&merged(&all.iter().skip(1).collect::<Vec<_>>())),
            true,
        ),
        "make_set" => {
            let rest: Vec<WireType> = all.iter().skip(1).collect();
            let between = rest.len().saturating_sub(1) as u32;
            joined(&rest, between)
        }
        "export_set" => {
            let one = units(&all.of(1)).max(units(&all.of(2)));
            let between = all.types.get(3).map_or(1, |_| units(&all.of(3)));
            text(
                one.saturating_mul(64)
                    .saturating_add(between.saturating_mul(63)),
            )
        }
        "quote" => {
            let t = as_text(&first);
            let twice = units(&first).saturating_mul(2).saturating_add(2);
            let t = sized(t, twice.saturating_mul(4).min(MAX_BLOB_BYTES));
            match like_text(&first).flags.contains(ColumnFlags::BINARY_FLAG) && !is_bytes(&first) {
                true => exactly(t),
                false => t,
            }
        }
        "format" => text(
            units(&first)
                .saturating_add(units(&first) / 3)
                .saturating_add(32),
        ),
        "date_format" | "time_format" => formatted(all.expr(1), &all.of(1)),
        "char" => bytes(4 * all.all.len() as u32),
        "json_quote" => exactly(text(units(&first).saturating_mul(6).saturating_add(2))),
        "json_unquote" => exactly(as_text(&first)),
        "json_type" => exactly(text(17)),
        "json_pretty" => exactly(sized(text(1), 4 * MAX_BLOB_BYTES)),
        "timestampadd" => match all.expr(0) {
            Some(unit) => {
                let unit = unit.to_string().to_uppercase();
                let unit = unit.trim_matches('\'');
                moved(&all.of(2), unit.trim_start_matches("SQL_TSI_"), None)
            }
            None => moved_text(),
        },
        "sha2" => text(match all.count(1) {
            Some(224) => 56,
            Some(384) => 96,
            Some(512) => 128,
            _ => 64,
        }),
        _ => of_encoded(name, &first).unwrap_or_else(|| of_fixed_text(name, binary)),
    }
}

/// The type of a function that encodes or decodes its argument; `None`: it is another function.
fn of_encoded(name: &str, first: &WireType) -> Option<WireType> {
    Some(match name {
        "hex" if super::kind::is_number(first) => text(16),
        "hex" => text(first.length.saturating_mul(2)),
        "unhex" => bytes(first.length.div_ceil(2)),
        "to_base64" => {
            let (groups, rest) = (first.length / 3, first.length % 3);
            let all = (groups + u32::from(rest > 0)).saturating_mul(4);
            let lines = all.saturating_sub(1) / 76;
            sized(
                text(1),
                all.saturating_add(lines)
                    .saturating_mul(4)
                    .min(MAX_BLOB_BYTES),
            )
        }
        "from_base64" => bytes(
            u32::try_from(u64::from(first.length) * 3 / 4)
                .unwrap_or(u32::MAX)
                .min(MAX_BLOB_BYTES),
        ),
        "weight_string" => match super::kind::is_text(first) && !is_bytes(first) {
            true => bytes(first.length.saturating_mul(16)),
            false if is_temporal(first) => bytes(8),
            false => bytes(first.length.max(8)),
        },
        _ => return None,
    })
}

/// The type of a function whose longest result its arguments do not determine.
fn of_fixed_text(name: &str, binary: bool) -> WireType {
    match name {
        "inet6_aton" | "uuid_to_bin" => bytes(16),
        "random_bytes" => bytes(1024),
        "load_file" | "uncompress" => bytes(MAX_BLOB_BYTES),
        "statement_digest_text" => sized(text(1), 4 * MAX_BLOB_BYTES),
        "current_role" => sized(text(1), 3 * MAX_BLOB_BYTES),
        _ if binary => bytes(255),
        "version" => WireType::name(7),
        "charset" | "collation" | "database" | "schema" => WireType::name(64),
        "user" | "current_user" | "session_user" | "system_user" => WireType::name(288),
        _ => text(match name {
            "dayname" | "monthname" => 9,
            "format_bytes" | "format_pico_time" => 11,
            "get_format" => 17,
            "icu_version" => 4,
            "inet_ntoa" => 31,
            "md5" => 32,
            "uuid" | "bin_to_uuid" => 36,
            "inet6_ntoa" => 39,
            "sha" | "sha1" => 40,
            "statement_digest" => 64,
            "bin" | "oct" | "conv" => 65,
            _ => 255,
        }),
    }
}

/// Texts one after another, and so many more units.
fn joined(all: &[WireType], more: u32) -> WireType {
    let binary = are_bytes(&all.iter().collect::<Vec<_>>()) || all.iter().all(is_null);
    let exact = all.iter().any(|t| {
        like_text(t).flags.contains(ColumnFlags::BINARY_FLAG) && !is_bytes(t) && !is_null(t)
    });
    let length = all.iter().fold(0u32, |sum, t| {
        let t = if binary && t.code == ColumnType::MYSQL_TYPE_DOUBLE {
            DOUBLE_CHARACTERS
        } else if binary && t.charset == CHARSET_BINARY {
            t.length
        } else {
            super::kind::text_bytes(t)
        };
        sum.saturating_add(t)
    });
    let start = match binary {
        true => bytes(1),
        false => WireType {
            charset: super::kind::charset_of(all),
            ..text(1)
        },
    };
    let more = more.saturating_mul(if binary { 1 } else { 4 });
    let mut t = sized(start, length.saturating_add(more).min(MAX_BLOB_BYTES));
    if exact {
        t.flags |= ColumnFlags::BINARY_FLAG;
    }
    t
}

/// A text of so many characters, or bytes, with the collation of another.
fn filled(of: &WireType, most: u32) -> WireType {
    let t = like_text(of);
    let one = if t.charset == CHARSET_BINARY { 1 } else { 4 };
    sized(t, most.saturating_mul(one))
}

/// REPLACE: every part may become longer.
fn replaced(of: &WireType, from: &WireType, to: &WireType) -> WireType {
    let t = like_text(of);
    let is_binary = t.charset == CHARSET_BINARY;
    let (one, new) = match is_binary {
        true => (1, to.length),
        false => (4, units(to)),
    };
    let old = units(from).max(1);
    let parts = t.length / one / old;
    let more = parts.saturating_mul(new.saturating_sub(old.saturating_add(1)));
    let length = t.length.saturating_add(more.saturating_mul(one));
    sized(t, length.min(MAX_BLOB_BYTES))
}

/// A part of a text.
pub(super) fn substring(of: &WireType, from: Option<&Expr>, most: Option<&Expr>) -> WireType {
    let t = like_text(of);
    let one = if t.charset == CHARSET_BINARY { 1 } else { 4 };
    let mut length = t.length;
    match from.and_then(literal_number) {
        Some(n @ 1..) if length < u32::MAX || one == 1 => {
            let before = u32::try_from(n - 1).unwrap_or(u32::MAX);
            length = length.saturating_sub(before.saturating_mul(one));
        }
        Some(n) if n < 0 => {
            let last = u32::try_from(-n).unwrap_or(u32::MAX);
            length = length.min(last.saturating_mul(one));
        }
        _ => {}
    }
    if let Some(n) = most.and_then(literal_number) {
        let most = u32::try_from(n.max(0)).unwrap_or(u32::MAX);
        length = length.min(most.saturating_mul(one));
    }
    sized(t, length)
}

/// A date in a format.
fn formatted(format: Option<&Expr>, of: &WireType) -> WireType {
    match format.and_then(literal_text) {
        Some(format) => text(format_width(format)),
        None => text(units(of).saturating_mul(10)),
    }
}

/// Whether a call's result can be NULL, as MySQL sees it.
fn can_be_null(name: &str, out: ReturnType, all: &Arguments<'_>) -> bool {
    match name {
        "bit_and" | "bit_or" | "bit_xor" | "coercibility" | "connection_id" | "count"
        | "cume_dist" | "curdate" | "current_date" | "current_time" | "current_timestamp"
        | "curtime" | "dense_rank" | "field" | "found_rows" | "icu_version" | "interval"
        | "isnull" | "last_insert_id" | "localtime" | "localtimestamp" | "now" | "ntile"
        | "percent_rank" | "pi" | "rank" | "release_all_locks" | "row_count" | "row_number"
        | "sleep" | "sysdate" | "utc_date" | "utc_time" | "utc_timestamp" | "uuid_short"
        | "version" => false,
        "coalesce" | "ifnull" => all.iter().all(|t| is_nullable(&t)),
        "if" => is_nullable(&all.of(1)) || is_nullable(&all.of(2)),
        "any_value" | "greatest" | "least" | "make_set" => all.any_nullable(),
        "lead" | "lag" => all.all.len() < 3 || is_nullable(&all.of(0)) || is_nullable(&all.of(2)),
        "grouping"
        | "get_lock"
        | "release_lock"
        | "is_free_lock"
        | "is_used_lock"
        | "is_uuid"
        | "inet_aton"
        | "ps_current_thread_id"
        | "benchmark" => true,
        "degrees" | "radians" | "rand" => all.any_nullable(),
        _ if name.starts_with("json_") => true,
        _ => match out {
            Epoch | Integral | Rounded | Magnitude => all.any_nullable(),
            Int | Unsigned => is_part_of_date(name) || all.any_nullable(),
            _ => true,
        },
    }
}

/// Functions of a date that may be none.
fn is_part_of_date(name: &str) -> bool {
    matches!(
        name,
        "year"
            | "quarter"
            | "month"
            | "day"
            | "dayofmonth"
            | "dayofweek"
            | "dayofyear"
            | "week"
            | "weekday"
            | "weekofyear"
            | "yearweek"
            | "hour"
            | "minute"
            | "second"
            | "microsecond"
            | "to_days"
            | "to_seconds"
            | "time_to_sec"
            | "timestampdiff"
            | "datediff"
            | "extract"
    )
}
