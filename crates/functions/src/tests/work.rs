//! Every function looks whether its statement was killed, as often as its work is long.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::super::call::STEP;
use super::super::{Called, called, register};
use super::{EvaluationContext, Nobody, calls};

/// As much longer than a step as the longest text is in a server.
const BYTES: usize = 8 << 10;

fn open() -> (Connection, Arc<Nobody>) {
    let db = Connection::open_in_memory().expect("a database");
    let nobody = Arc::new(Nobody::default());
    let session: Arc<dyn EvaluationContext> = nobody.clone();
    register(&db, &session).expect("functions");
    (db, nobody)
}

/// Runs a call, whatever comes of it; says how often it looked, and whether it was an error.
fn looks(db: &Connection, nobody: &Nobody, call: &str, text: &Value, stop_at: u64) -> (u64, bool) {
    nobody.looks.store(0, Ordering::Relaxed);
    nobody.stop_at.store(stop_at, Ordering::Relaxed);
    let sql = format!("SELECT typeof({call})");
    let found = db.query_row(&sql, [text], |row| row.get::<_, String>(0));
    if let Err(error) = &found {
        assert!(!error.to_string().contains("panic"), "{call}: {error}");
    }
    (nobody.looks.load(Ordering::Relaxed), found.is_err())
}

/// The most looks of a function, and at what.
fn most(db: &Connection, nobody: &Nobody, function: &Called) -> (u64, String, Value) {
    let mut most = (0, String::new(), Value::Null);
    let texts = calls::texts(BYTES);
    for call in calls::of(function) {
        for (_, text) in &texts {
            let (found, _) = looks(db, nobody, &call, text, 0);
            if found > most.0 {
                most = (found, call.clone(), text.clone());
            }
        }
    }
    most
}

/// Functions that read a text at most a few times, as fast as memory is: or take arguments that are
/// short by their kind, or look by way of the thread's watch, which nobody counts here. Whoever adds another
/// function that does not look has to name it here.
#[rustfmt::skip]
const READ: &[&str] = &[
    "acos", "addtime", "ascii", "asin", "atan", "atan2", "bin", "bin_to_uuid", "bit_count", "ceil",
    "connection_id", "conv", "convert_tz", "cos", "cot", "current_date_", "current_role",
    "current_time_", "current_user", "database", "date", "date_format", "datediff", "dayname",
    "dayofmonth", "dayofweek", "dayofyear", "degrees", "elt", "exp", "field", "floor", "format",
    "format_bytes", "format_pico_time", "found_rows", "from_days", "from_unixtime", "get_format",
    "get_lock", "hour", "inet6_aton", "inet6_ntoa", "inet_aton",
    "inet_ntoa", "is_free_lock", "is_ipv4", "is_ipv4_compat", "is_ipv4_mapped", "is_ipv6",
    "is_used_lock", "is_uuid", "isnull", "last_day", "last_insert_id", "ln", "log", "log10", "log2",
    "makedate", "maketime", "microsecond", "minute", "mod", "month", "monthname", "now", "oct",
    "ord", "period_add", "period_diff", "pi", "pow", "ps_current_thread_id", "quarter", "radians",
    "rand", "random_bytes", "regexp_instr", "regexp_substr", "release_all_locks", "release_lock",
    "row_count", "sec_to_time", "second", "sin", "sleep", "sqrt", "str_to_date", "subtime",
    "sysdate", "tan", "tare_abs", "tare_add", "tare_add_int", "tare_bits", "tare_char",
    "tare_connection", "tare_date_add", "tare_datetime", "tare_decimal", "tare_deeper", "tare_div", "tare_div_int",
    "tare_exact", "tare_extract", "tare_greatest", "tare_int", "tare_intdiv", "tare_interval",
    "tare_interval_of", "tare_json_object", "tare_least", "tare_like_from", "tare_like_to",
    "tare_local", "tare_member", "tare_mod", "tare_moment", "tare_mul", "tare_mul_int", "tare_neg",
    "tare_neg_int", "tare_neg_real", "tare_nullif", "tare_nullif_text", "tare_number", "tare_over",
    "tare_real", "tare_regexp", "tare_rest", "tare_rest_int", "tare_round", "tare_set_variable",
    "tare_shown", "tare_sign", "tare_sub", "tare_sub_int", "tare_sub_unsigned", "tare_system_utc",
    "tare_then", "tare_time", "tare_to_binary", "tare_to_char", "tare_to_date", "tare_to_datetime",
    "tare_to_decimal", "tare_to_double", "tare_to_enum", "tare_to_int", "tare_to_time",
    "tare_to_year", "tare_uint", "tare_updated", "tare_user_variable", "tare_uuid_short",
    "tare_variable", "tare_whole", "tare_xor", "time", "time_format", "time_to_sec", "timediff",
    "timestamp", "timestampadd", "timestampdiff", "to_days", "to_seconds", "truncate",
    "unix_timestamp", "user", "utc_date", "utc_time", "utc_timestamp", "uuid", "uuid_to_bin",
    "version", "week", "weekday", "weekofyear", "year", "yearweek",
];

#[test]
fn every_function_looks_while_it_works() {
    let (db, nobody) = open();
    let (mut none, mut look) = (Vec::new(), Vec::new());
    for function in called().filter(|f| !f.is_aggregate) {
        let (found, call, text) = most(&db, &nobody, &function);
        // A look for each step, but for the beginning and the end.
        if found < (BYTES / STEP / 2) as u64 {
            none.push(function.name);
            continue;
        }
        if READ.contains(&function.name) {
            look.push(function.name);
        }
        for stop_at in [1, found / 2] {
            let (found, is_error) = looks(&db, &nobody, &call, &text, stop_at);
            assert!(is_error, "{call} goes on");
            assert!(
                found <= stop_at + 2,
                "{call} looks {found} times, to end at {stop_at}"
            );
        }
    }
    none.retain(|name| !READ.contains(name));
    assert!(
        none.is_empty(),
        "they do not look, and are not listed: {none:?}"
    );
    assert_eq!(look, Vec::<&str>::new(), "they look, and are listed");
    let named = |name: &&&str| called().any(|f| f.name == **name);
    let gone: Vec<_> = READ.iter().filter(|name| !named(name)).collect();
    assert!(gone.is_empty(), "{gone:?} are listed, and are no functions");
}
