//! What functions read their arguments as. The rewriter converts an argument of another type.

/// What a function reads an argument as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// Any value: the function distinguishes types.
    Any,
    /// A text.
    Text,
    /// An integer.
    Integer,
    /// 64 bits.
    Bits,
    /// A number, exact or not.
    Number,
    /// A date.
    Moment,
    /// A date whose month and day may be zero.
    DateParts,
    /// A time.
    Clock,
    /// A number that CAST reads by itself from a text.
    Cast,
    /// A value that becomes a part of a JSON document.
    DocumentPart,
}

use Parameter::{Any, Bits, Clock, DateParts, Integer, Moment, Number, Text};

/// The parameters of functions. The last one is of all arguments that follow, too.
const PARAMETERS: &[(&[Parameter], &[&str])] = &[
    (
        &[Number],
        &[
            "abs",
            "acos",
            "asin",
            "atan",
            "atan2",
            "avg",
            "ceil",
            "ceiling",
            "cos",
            "cot",
            "degrees",
            "exp",
            "floor",
            "format_bytes",
            "format_pico_time",
            "interval",
            "ln",
            "log",
            "log10",
            "log2",
            "mod",
            "pow",
            "power",
            "radians",
            "sec_to_time",
            "sign",
            "sin",
            "sqrt",
            "std",
            "stddev",
            "stddev_pop",
            "stddev_samp",
            "sum",
            "tan",
            "var_pop",
            "var_samp",
            "variance",
        ],
    ),
    (
        &[Integer],
        &[
            "char",
            "from_days",
            "inet_ntoa",
            "makedate",
            "period_add",
            "period_diff",
            "rand",
            "random_bytes",
            "space",
        ],
    ),
    (&[Bits], &["bit_and", "bit_count", "bit_or", "bit_xor"]),
    (
        &[Text],
        &[
            "ascii",
            "bin",
            "bit_length",
            "char_length",
            "character_length",
            "concat",
            "concat_ws",
            "crc32",
            "find_in_set",
            "from_base64",
            "group_concat",
            "inet6_aton",
            "inet6_ntoa",
            "inet_aton",
            "instr",
            "is_ipv4",
            "is_ipv4_compat",
            "is_ipv4_mapped",
            "is_ipv6",
            "is_uuid",
            "lcase",
            "length",
            "lower",
            "ltrim",
            "md5",
            "oct",
            "octet_length",
            "ord",
            "quote",
            "replace",
            "reverse",
            "rtrim",
            "sha",
            "sha1",
            "soundex",
            "str_to_date",
            "strcmp",
            "to_base64",
            "trim",
            "ucase",
            "unhex",
            "upper",
        ],
    ),
    (
        &[Moment],
        &[
            "date",
            "datediff",
            "dayname",
            "dayofweek",
            "dayofyear",
            "last_day",
            "monthname",
            "to_days",
            "to_seconds",
            "unix_timestamp",
            "weekday",
            "weekofyear",
        ],
    ),
    (
        &[DateParts],
        &["day", "dayofmonth", "month", "quarter", "year"],
    ),
    (
        &[Clock],
        &[
            "hour",
            "microsecond",
            "minute",
            "second",
            "time",
            "time_to_sec",
            "timediff",
        ],
    ),
    (&[Clock, Text], &["time_format"]),
    (&[Moment, Clock], &["timestamp"]),
    (&[Any, Clock], &["addtime", "subtime"]),
    (&[Moment, Bits], &["adddate", "subdate"]),
    (
        &[Text, Integer],
        &[
            "bin_to_uuid",
            "conv",
            "left",
            "mid",
            "repeat",
            "right",
            "sha2",
            "substr",
            "substring",
            "uuid_to_bin",
        ],
    ),
    (&[Moment, Integer], &["week", "yearweek"]),
    (&[Moment, Text], &["convert_tz"]),
    (&[DateParts, Text], &["date_format"]),
    (&[Number, Integer], &["round", "truncate"]),
    (&[Integer, Integer, Number], &["maketime"]),
    (&[Number, Integer, Text], &["format"]),
    (&[Number, Text], &["from_unixtime"]),
    (&[Integer, Text], &["elt"]),
    (&[Bits, Text], &["make_set"]),
    (&[Bits, Text, Text, Text, Integer], &["export_set"]),
    (&[Text, Integer, Integer, Text], &["insert"]),
    (&[Text, Text, Integer], &["locate", "substring_index"]),
    (&[Text, Integer, Text], &["lpad", "rpad"]),
    (
        &[Text, Text, Integer, Integer, Integer, Text],
        &["regexp_instr"],
    ),
    (&[Text, Text, Integer, Integer, Text], &["regexp_substr"]),
    (
        &[Text, Text, Text, Integer, Integer, Text],
        &["regexp_replace"],
    ),
    (&[Any, Number, Moment], &["timestampadd"]),
    (&[Any, Moment], &["timestampdiff"]),
];

/// What a function reads its nth argument as.
pub fn parameter(function: &str, n: usize) -> Parameter {
    if is_document_part(function, n) {
        return Parameter::DocumentPart;
    }
    let of = PARAMETERS
        .iter()
        .find(|(_, names)| names.contains(&function));
    of.map_or(Any, |(all, _)| all[n.min(all.len() - 1)])
}

/// Whether a function makes its nth argument a part of a JSON document.
fn is_document_part(function: &str, n: usize) -> bool {
    match function {
        "json_array" | "json_arrayagg" => true,
        "json_object" => n % 2 == 1,
        "json_objectagg" => n == 1,
        "json_array_append" | "json_insert" | "json_replace" | "json_set" => {
            n > 0 && n.is_multiple_of(2)
        }
        _ => false,
    }
}
