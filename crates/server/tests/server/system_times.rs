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

/// The TIMESTAMP columns of the system schemas: table and column.
fn columns(conn: &mut Conn) -> Vec<(String, String)> {
    let query = "SELECT CONCAT(TABLE_SCHEMA, '.`', TABLE_NAME, '`'), COLUMN_NAME FROM information_schema.COLUMNS \
                 WHERE DATA_TYPE = 'timestamp' AND TABLE_SCHEMA IN \
                 ('performance_schema', 'information_schema', 'mysql', 'sys', 'tare') ORDER BY 1, 2";
    let pair = |row: Vec<String>| (row[0].clone(), row[1].clone());
    rows(conn, query).into_iter().map(pair).collect()
}

/// The range of a column's values, in microseconds since 1970 in the session's zone, in both protocols.
fn range(conn: &mut Conn, (table, column): &(String, String)) -> Option<(i64, i64)> {
    let sql = format!("SELECT `{column}` FROM {table} WHERE `{column}` >= '1970-01-02'");
    let text: Vec<Value> = conn.query(&sql).expect(&sql);
    let binary: Vec<Value> = conn.exec(&sql, ()).expect(&sql);
    let all = text.into_iter().chain(binary);
    let moments = all.map(|value| match value {
        Value::Bytes(text) => String::from_utf8(text).expect("a time"),
        date => date.as_sql(true).trim_matches('\'').to_owned(),
    });
    let moments = moments.map(|text| DateTime::parse(&text).expect(&text).total());
    let moments: Vec<i64> = moments.collect();
    Some((*moments.iter().min()?, *moments.iter().max()?))
}

#[test]
fn every_timestamp_of_a_system_table_is_in_the_sessions_zone() {
    let running = Running::start();
    let mut conn = running.root();
    exec(&mut conn, "SET GLOBAL long_query_time = 9");
    exec(&mut conn, "CREATE DATABASE d");
    exec(&mut conn, "CREATE TABLE d.t (a INT)");
    assert!(conn.query_drop("SELECT missing FROM d.t").is_err());
    let in_zone = |conn: &mut Conn, zone: &str| {
        exec(conn, &format!("SET time_zone = '{zone}'"));
        let mut all = BTreeMap::new();
        for of in columns(conn) {
            if let Some(range) = range(conn, &of) {
                all.insert(of, range);
            }
        }
        all
    };
    let before = in_zone(&mut conn, "+00:00");
    let names = before
        .keys()
        .map(|(table, column)| format!("{table}.{column}").replace('`', ""));
    let names: Vec<String> = names.collect();
    for name in FILLED {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
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
        for (table, column) in before.keys() {
            let first = DateTime::from_total(first + minutes * 60_000_000, true).text_with(6);
            let sql = format!(
                "SELECT COALESCE(SUM(`{column}` < '{first}'), 0), COALESCE(SUM(`{column}` > NOW() + INTERVAL 1 HOUR), 0), \
                 COALESCE(SUM(UNIX_TIMESTAMP(`{column}`) > UNIX_TIMESTAMP() + 3600), 0) \
                 FROM {table} WHERE `{column}` >= '1970-01-02'"
            );
            assert_eq!(one(&mut conn, &sql), "0|0|0", "{table}.{column} in {zone}");
            let earlier =
                format!("SELECT COUNT(*) FROM {table} WHERE `{column}` BETWEEN '1970-01-02' AND ?");
            let before_first: Option<u64> = conn
                .exec_first(
                    &earlier,
                    (DateTime::parse(&first)
                        .map(|at| DateTime::from_total(at.total() - 1, true).text_with(6)),),
                )
                .expect(&earlier);
            assert_eq!(before_first, Some(0), "{earlier} in {zone}");
        }
    }
    exec(&mut conn, "SET time_zone = '+05:30'");
    let status = &rows(&mut conn, "SHOW TABLE STATUS FROM d")[0][11];
    let created = "SELECT CREATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'";
    assert_eq!(*status, one(&mut conn, created));
}
