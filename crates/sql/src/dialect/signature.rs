//! The functions that there are: how many arguments each takes and what it returns. What is not
//! listed here is error 1305, though SQLite may know it.

use mysql_common::constants::ColumnType;
use sqlparser::ast::Expr;

use super::scope::Names;
use super::types;
use crate::server::error::{Result, SqlError};
use crate::wire::column::WireType;

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
    /// DECIMAL with that many digits behind the point.
    Decimal(u8),
}

use Out::*;

const ANY: u8 = u8::MAX;

/// Name, fewest and most arguments, result. Sorted by name.
static FUNCTIONS: &[(&str, u8, u8, Out)] = &[
    ("abs", 1, 1, Same(0)),
    ("acos", 1, 1, Double),
    ("adddate", 2, 2, Moved),
    ("addtime", 2, 2, Same(0)),
    ("aes_decrypt", 2, 6, Bytes),
    ("aes_encrypt", 2, 6, Bytes),
    ("any_value", 1, 1, Same(0)),
    ("ascii", 1, 1, Int),
    ("asin", 1, 1, Double),
    ("atan", 1, 2, Double),
    ("atan2", 1, 2, Double),
    ("avg", 1, 1, Average),
    ("benchmark", 2, 2, Int),
    ("bin", 1, 1, Text),
    ("bin_to_uuid", 1, 2, Text),
    ("bit_and", 1, 1, Unsigned),
    ("bit_count", 1, 1, Int),
    ("bit_length", 1, 1, Int),
    ("bit_or", 1, 1, Unsigned),
    ("bit_xor", 1, 1, Unsigned),
    ("ceil", 1, 1, Whole),
    ("ceiling", 1, 1, Whole),
    ("char", 1, ANY, Bytes),
    ("char_length", 1, 1, Int),
    ("char_text", 1, ANY, Text),
    ("character_length", 1, 1, Int),
    ("charset", 1, 1, Text),
    ("coalesce", 1, ANY, Merged(0)),
    ("coercibility", 1, 1, Int),
    ("collation", 1, 1, Text),
    ("concat", 1, ANY, Text),
    ("concat_ws", 2, ANY, Text),
    ("connection_id", 0, 0, Unsigned),
    ("conv", 3, 3, Text),
    ("convert_tz", 3, 3, DateTime),
    ("cos", 1, 1, Double),
    ("cot", 1, 1, Double),
    ("count", 1, ANY, Int),
    ("crc32", 1, 1, Unsigned),
    ("cume_dist", 0, 0, Double),
    ("curdate", 0, 0, Date),
    ("current_date", 0, 0, Date),
    ("current_role", 0, 0, Text),
    ("current_time", 0, 1, Time),
    ("current_timestamp", 0, 1, DateTime),
    ("current_user", 0, 0, Text),
    ("curtime", 0, 1, Time),
    ("database", 0, 0, Text),
    ("date", 1, 1, Date),
    ("date_add", 2, 2, Moved),
    ("date_format", 2, 2, Text),
    ("date_sub", 2, 2, Moved),
    ("datediff", 2, 2, Int),
    ("day", 1, 1, Int),
    ("dayname", 1, 1, Text),
    ("dayofmonth", 1, 1, Int),
    ("dayofweek", 1, 1, Int),
    ("dayofyear", 1, 1, Int),
    ("default", 1, 1, Same(0)),
    ("degrees", 1, 1, Double),
    ("dense_rank", 0, 0, Unsigned),
    ("elt", 2, ANY, Text),
    ("exp", 1, 1, Double),
    ("export_set", 3, 5, Text),
    ("extract", 2, 2, Int),
    ("field", 2, ANY, Int),
    ("find_in_set", 2, 2, Int),
    ("first_value", 1, 1, Same(0)),
    ("floor", 1, 1, Whole),
    ("format", 2, 3, Text),
    ("format_bytes", 1, 1, Text),
    ("format_pico_time", 1, 1, Text),
    ("found_rows", 0, 0, Int),
    ("from_base64", 1, 1, Bytes),
    ("from_days", 1, 1, Date),
    ("from_unixtime", 1, 2, DateTime),
    ("get_format", 2, 2, Text),
    ("get_lock", 2, 2, Int),
    ("greatest", 2, ANY, Merged(0)),
    ("group_concat", 1, ANY, Text),
    ("grouping", 1, ANY, Int),
    ("hex", 1, 1, Text),
    ("hour", 1, 1, Int),
    ("icu_version", 0, 0, Text),
    ("if", 3, 3, Merged(1)),
    ("ifnull", 2, 2, Merged(0)),
    ("inet6_aton", 1, 1, Bytes),
    ("inet6_ntoa", 1, 1, Text),
    ("inet_aton", 1, 1, Unsigned),
    ("inet_ntoa", 1, 1, Text),
    ("insert", 4, 4, Text),
    ("instr", 2, 2, Int),
    ("interval_of", 2, ANY, Int),
    ("is_free_lock", 1, 1, Int),
    ("is_ipv4", 1, 1, Int),
    ("is_ipv4_compat", 1, 1, Int),
    ("is_ipv4_mapped", 1, 1, Int),
    ("is_ipv6", 1, 1, Int),
    ("is_used_lock", 1, 1, Unsigned),
    ("is_uuid", 1, 1, Int),
    ("isnull", 1, 1, Int),
    ("json_array", 0, ANY, Json),
    ("json_array_append", 3, ANY, Json),
    ("json_arrayagg", 1, 1, Json),
    ("json_contains", 2, 3, Int),
    ("json_contains_path", 3, ANY, Int),
    ("json_depth", 1, 1, Int),
    ("json_extract", 2, ANY, Json),
    ("json_insert", 3, ANY, Json),
    ("json_keys", 1, 2, Json),
    ("json_length", 1, 2, Int),
    ("json_merge", 2, ANY, Json),
    ("json_merge_patch", 2, ANY, Json),
    ("json_merge_preserve", 2, ANY, Json),
    ("json_object", 0, ANY, Json),
    ("json_objectagg", 2, 2, Json),
    ("json_pretty", 1, 1, Text),
    ("json_quote", 1, 1, Text),
    ("json_remove", 2, ANY, Json),
    ("json_replace", 3, ANY, Json),
    ("json_set", 3, ANY, Json),
    ("json_storage_size", 1, 1, Int),
    ("json_type", 1, 1, Text),
    ("json_unquote", 1, 1, Text),
    ("json_valid", 1, 1, Int),
    ("lag", 1, 3, Same(0)),
    ("last_day", 1, 1, Date),
    ("last_insert_id", 0, 1, Unsigned),
    ("last_value", 1, 1, Same(0)),
    ("lcase", 1, 1, Text),
    ("lead", 1, 3, Same(0)),
    ("least", 2, ANY, Merged(0)),
    ("left", 2, 2, Text),
    ("length", 1, 1, Int),
    ("ln", 1, 1, Double),
    ("load_file", 1, 1, Bytes),
    ("localtime", 0, 1, DateTime),
    ("localtimestamp", 0, 1, DateTime),
    ("locate", 2, 3, Int),
    ("log", 1, 2, Double),
    ("log10", 1, 1, Double),
    ("log2", 1, 1, Double),
    ("lower", 1, 1, Text),
    ("lpad", 3, 3, Text),
    ("ltrim", 1, 1, Text),
    ("make_set", 2, ANY, Text),
    ("makedate", 2, 2, Date),
    ("maketime", 3, 3, Time),
    ("master_pos_wait", 2, 4, Int),
    ("max", 1, 1, Same(0)),
    ("md5", 1, 1, Text),
    ("microsecond", 1, 1, Int),
    ("mid", 3, 3, Text),
    ("min", 1, 1, Same(0)),
    ("minute", 1, 1, Int),
    ("mod", 2, 2, Remainder),
    ("month", 1, 1, Int),
    ("monthname", 1, 1, Text),
    ("name_const", 2, 2, Same(1)),
    ("now", 0, 1, DateTime),
    ("nth_value", 2, 2, Same(0)),
    ("ntile", 1, 1, Unsigned),
    ("nullif", 2, 2, Same(0)),
    ("oct", 1, 1, Text),
    ("octet_length", 1, 1, Int),
    ("ord", 1, 1, Int),
    ("password", 1, 1, Text),
    ("percent_rank", 0, 0, Double),
    ("period_add", 2, 2, Int),
    ("period_diff", 2, 2, Int),
    ("pi", 0, 0, Double),
    ("pow", 2, 2, Double),
    ("power", 2, 2, Double),
    ("ps_current_thread_id", 0, 0, Unsigned),
    ("ps_thread_id", 1, 1, Unsigned),
    ("quarter", 1, 1, Int),
    ("quote", 1, 1, Text),
    ("radians", 1, 1, Double),
    ("rand", 0, 1, Double),
    ("random_bytes", 1, 1, Bytes),
    ("rank", 0, 0, Unsigned),
    ("regexp_instr", 2, 6, Int),
    ("regexp_like", 2, 3, Int),
    ("regexp_replace", 3, 6, Text),
    ("regexp_substr", 2, 5, Text),
    ("release_all_locks", 0, 0, Unsigned),
    ("release_lock", 1, 1, Int),
    ("repeat", 2, 2, Text),
    ("replace", 3, 3, Text),
    ("reverse", 1, 1, Text),
    ("right", 2, 2, Text),
    ("round", 1, 2, Rounded),
    ("row_count", 0, 0, Int),
    ("row_number", 0, 0, Unsigned),
    ("rpad", 3, 3, Text),
    ("rtrim", 1, 1, Text),
    ("schema", 0, 0, Text),
    ("sec_to_time", 1, 1, Time),
    ("second", 1, 1, Int),
    ("session_user", 0, 0, Text),
    ("sha", 1, 1, Text),
    ("sha1", 1, 1, Text),
    ("sha2", 2, 2, Text),
    ("sign", 1, 1, Int),
    ("sin", 1, 1, Double),
    ("sleep", 1, 1, Int),
    ("soundex", 1, 1, Text),
    ("space", 1, 1, Text),
    ("sqrt", 1, 1, Double),
    ("std", 1, 1, Double),
    ("stddev", 1, 1, Double),
    ("stddev_pop", 1, 1, Double),
    ("stddev_samp", 1, 1, Double),
    ("str_to_date", 2, 2, DateTime),
    ("strcmp", 2, 2, Int),
    ("subdate", 2, 2, Moved),
    ("substr", 2, 3, Text),
    ("substring", 2, 3, Text),
    ("substring_index", 3, 3, Text),
    ("subtime", 2, 2, Same(0)),
    ("sum", 1, 1, Sum),
    ("sysdate", 0, 1, DateTime),
    ("system_user", 0, 0, Text),
    ("tan", 1, 1, Double),
    ("time", 1, 1, Time),
    ("time_format", 2, 2, Text),
    ("time_to_sec", 1, 1, Int),
    ("timediff", 2, 2, Time),
    ("timestamp", 1, 2, DateTime),
    ("timestampadd", 3, 3, Text),
    ("timestampdiff", 3, 3, Int),
    ("to_base64", 1, 1, Text),
    ("to_days", 1, 1, Int),
    ("to_seconds", 1, 1, Int),
    ("trim", 1, 2, Text),
    ("truncate", 2, 2, Rounded),
    ("ucase", 1, 1, Text),
    ("unhex", 1, 1, Bytes),
    ("unix_timestamp", 0, 1, Int),
    ("upper", 1, 1, Text),
    ("user", 0, 0, Text),
    ("utc_date", 0, 0, Date),
    ("utc_time", 0, 1, Time),
    ("utc_timestamp", 0, 1, DateTime),
    ("uuid", 0, 0, Text),
    ("uuid_short", 0, 0, Unsigned),
    ("uuid_to_bin", 1, 2, Bytes),
    ("values", 1, 1, Same(0)),
    ("var_pop", 1, 1, Double),
    ("var_samp", 1, 1, Double),
    ("variance", 1, 1, Double),
    ("version", 0, 0, Text),
    ("week", 1, 2, Int),
    ("weekday", 1, 1, Int),
    ("weekofyear", 1, 1, Int),
    ("weight_string", 1, 1, Bytes),
    ("year", 1, 1, Unsigned),
    ("yearweek", 1, 2, Int),
];

/// Functions of a group of rows.
pub fn is_aggregate(name: &str) -> bool {
    matches!(
        name,
        "avg"
            | "bit_and"
            | "bit_or"
            | "bit_xor"
            | "count"
            | "group_concat"
            | "json_arrayagg"
            | "json_objectagg"
            | "max"
            | "min"
            | "std"
            | "stddev"
            | "stddev_pop"
            | "stddev_samp"
            | "sum"
            | "var_pop"
            | "var_samp"
            | "variance"
    )
}

fn find(name: &str) -> Option<&'static (&'static str, u8, u8, Out)> {
    FUNCTIONS
        .binary_search_by(|f| f.0.cmp(name))
        .ok()
        .map(|i| &FUNCTIONS[i])
}

/// Whether a function may be called with so many arguments.
pub fn check(name: &str, written: &str, arguments: usize, database: Option<&str>) -> Result<()> {
    match find(name) {
        None => Err(SqlError::new(
            1305,
            match database {
                Some(database) => format!("FUNCTION {database}.{written} does not exist"),
                None => format!("FUNCTION {written} does not exist"),
            },
        )),
        Some((_, fewest, most, _))
            if arguments < usize::from(*fewest)
                || (*most != ANY && arguments > usize::from(*most)) =>
        {
            Err(SqlError::new(
                1582,
                format!("Incorrect parameter count in the call to native function '{written}'"),
            ))
        }
        Some(_) => Ok(()),
    }
}

/// The type of a call's result.
pub fn result(name: &str, arguments: &[&Expr], names: &mut Names<'_>) -> Option<WireType> {
    let out = find(name)?.3;
    let mut of = |i: usize| arguments.get(i).and_then(|e| types::of(e, names));
    Some(match out {
        Int if name != "unix_timestamp" || arguments.is_empty() => WireType::bigint(),
        Int => match types::fraction_of(arguments[0], of(0)) {
            0 => WireType::bigint(),
            digits => WireType::decimal(18, digits),
        },
        Unsigned => WireType::bigint_unsigned(),
        Double if name == "pi" => WireType {
            decimals: 6,
            ..WireType::double()
        },
        Double => WireType::double(),
        // The characters of NULL alone are bytes.
        Text if [
            "group_concat",
            "lcase",
            "left",
            "lower",
            "quote",
            "right",
            "ucase",
            "upper",
        ]
        .contains(&name)
            && of(0).is_some_and(|t| t.code == ColumnType::MYSQL_TYPE_NULL) =>
        {
            WireType::number(ColumnType::MYSQL_TYPE_VAR_STRING, 255)
        }
        Text => WireType::text(255),
        Bytes => WireType::number(ColumnType::MYSQL_TYPE_VAR_STRING, 255),
        Date => WireType::number(ColumnType::MYSQL_TYPE_DATE, 10),
        DateTime => match (name, arguments.len()) {
            ("from_unixtime", 2) => WireType::text(255),
            ("str_to_date", _) => types::of_format(arguments.get(1)),
            _ => WireType::number(ColumnType::MYSQL_TYPE_DATETIME, 19),
        },
        Time => WireType::number(ColumnType::MYSQL_TYPE_TIME, 10),
        Json => types::json(),
        Same(i) => match types::loose(of(i)?) {
            t if name == "abs" && t.code == ColumnType::MYSQL_TYPE_NULL => WireType::double(),
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
        Decimal(digits) => WireType::decimal(20, digits),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_sorted() {
        for pair in FUNCTIONS.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} {}", pair[0].0, pair[1].0);
        }
    }

    #[test]
    fn calls_are_checked() {
        assert!(check("left", "LEFT", 2, None).is_ok());
        let code = |name, n| check(name, name, n, Some("d")).expect_err("wrong").code;
        assert_eq!(code("left", 1), 1582);
        assert_eq!(code("sqlite_version", 0), 1305);
    }
}
