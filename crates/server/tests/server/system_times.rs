//! Every TIMESTAMP of the system schemas is a time of the session's zone, as in MySQL: as text, in the binary
//! protocol, in functions and in WHERE.

use std::collections::BTreeMap;

use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use tare_mysql::date::DateTime;

use super::support::{Running, exec, one, rows};

/// Columns that have values in every server. Others may have some.
const FILLED: [&str; 11] = [
    "information_schema.PARTITIONS.CREATE_TIME",
    "information_schema.ROUTINES.CREATED",
    "information_schema.ROUTINES.LAST_ALTERED",
    "information_schema.TABLES.CREATE_TIME",
    "performance_schema.error_log.LOGGED",
    "performance_schema.events_errors_summary_global_by_error.FIRST_SEEN",
    "performance_schema.events_statements_summary_by_digest.QUERY_SAMPLE_SEEN",
    "performance_schema.variables_info.SET_TIME",
    "sys.statement_analysis.last_seen",
    "sys.sys_config.set_time",
    "tare.segments.started",
];

/// The TIMESTAMP columns of the system schemas, by table.
fn columns(conn: &mut Conn) -> BTreeMap<String, Vec<String>> {
    let query = "SELECT CONCAT(TABLE_SCHEMA, '.`', TABLE_NAME, '`'), COLUMN_NAME FROM information_schema.COLUMNS \
                 WHERE DATA_TYPE = 'timestamp' AND TABLE_SCHEMA IN \
                 ('performance_schema', 'information_schema', 'mysql', 'sys', 'tare')";
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(conn, query) {
        all.entry(row[0].clone()).or_default().push(row[1].clone());
    }
    all
}

/// A condition on each column, joined.
fn join(columns: &[String], word: &str, condition: impl Fn(&str) -> String) -> String {
    let all: Vec<String> = columns
        .iter()
        .map(|c| condition(&format!("`{c}`")))
        .collect();
    all.join(word)
}

/// The range of values in microseconds since 1970 in the session's zone, by `table.column`.
type Ranges = BTreeMap<String, (i64, i64)>;

/// Reads the ranges of a table's columns, in both protocols.
fn add_ranges(conn: &mut Conn, ranges: &mut Ranges, table: &str, columns: &[String]) {
    let sql = format!(
        "SELECT {} FROM {table} WHERE {}",
        join(columns, ", ", str::to_owned),
        join(columns, " OR ", |c| format!("{c} >= '1970-01-02'"))
    );
    let text: Vec<mysql::Row> = conn.query(&sql).expect(&sql);
    let binary: Vec<mysql::Row> = conn.exec(&sql, ()).expect(&sql);
    for row in text.into_iter().chain(binary) {
        for (column, value) in columns.iter().zip(row.unwrap()) {
            let text = match value {
                Value::NULL => continue,
                Value::Bytes(text) => String::from_utf8(text).expect("a time"),
                date => date.as_sql(true).trim_matches('\'').to_owned(),
            };
            if text.starts_with("0000") {
                continue;
            }
            let moment = DateTime::parse(&text).expect(&text).total();
            let name = format!("{table}.{column}").replace('`', "");
            let range = ranges.entry(name).or_insert((moment, moment));
            *range = (range.0.min(moment), range.1.max(moment));
        }
    }
}

#[test]
fn every_timestamp_of_a_system_table_is_in_the_sessions_zone() {
    let running = Running::start();
    let mut conn = running.root();
    exec(&mut conn, "SET GLOBAL long_query_time = 9");
    exec(&mut conn, "CREATE DATABASE d");
    exec(&mut conn, "CREATE TABLE d.t (a INT)");
    assert!(conn.query_drop("SELECT missing FROM d.t").is_err());
    let tables = columns(&mut conn);
    let in_zone = |conn: &mut Conn, zone: &str| {
        exec(conn, &format!("SET time_zone = '{zone}'"));
        let mut ranges = Ranges::new();
        for (table, columns) in &tables {
            add_ranges(conn, &mut ranges, table, columns);
        }
        ranges
    };
    let before = in_zone(&mut conn, "+00:00");
    for name in FILLED {
        assert!(before.contains_key(name), "{name}: {before:?}");
    }
    let zones = [("+05:30", 330), ("-08:00", -480)];
    let local = zones.map(|(zone, _)| in_zone(&mut conn, zone));
    let after = in_zone(&mut conn, "+00:00");
    // Rows come and go, but all moments are between the server's start and its last statement.
    let first = before.values().map(|range| range.0).min().expect("moments");
    let last = after.values().map(|range| range.1).max().expect("moments");
    for ((zone, minutes), local) in zones.iter().zip(&local) {
        let offset = minutes * 60_000_000;
        for (of, (lowest, highest)) in local {
            assert!(
                lowest - offset >= first,
                "{of:?} in {zone}: {lowest} is before {first}"
            );
            assert!(
                highest - offset <= last,
                "{of:?} in {zone}: {highest} is after {last}"
            );
        }
    }
    for (zone, minutes) in zones {
        exec(&mut conn, &format!("SET time_zone = '{zone}'"));
        let local = |at: i64| DateTime::from_total(at + minutes * 60_000_000, true).text_with(6);
        let (first, earlier) = (local(first), local(first - 1));
        for (table, columns) in &tables {
            let outside = join(columns, " OR ", |c| {
                format!(
                    "{c} >= '1970-01-02' AND ({c} < '{first}' OR {c} > NOW() + INTERVAL 1 HOUR \
                     OR UNIX_TIMESTAMP({c}) > UNIX_TIMESTAMP() + 3600 OR {c} BETWEEN '1970-01-02' AND ?)"
                )
            });
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE {outside}");
            let parameters = vec![earlier.clone(); columns.len()];
            let count: Option<u64> = conn.exec_first(&sql, parameters).expect(&sql);
            assert_eq!(count, Some(0), "{sql} in {zone}");
        }
    }
    exec(&mut conn, "SET time_zone = '+05:30'");
    let status = &rows(&mut conn, "SHOW TABLE STATUS FROM d")[0][11];
    let created = "SELECT CREATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'";
    assert_eq!(*status, one(&mut conn, created));
}
