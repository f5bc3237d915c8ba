//! The MySQL door, sampled: what is exact, what is estimated and how well, and what is always kept.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::prelude::Queryable;
use serde_json::{Map, Value};

use servers::{Engine, Server, Version};
use support::wait_for;

/// A row's number; times and counts come as numbers or, if they are large, as texts.
fn number(row: &Map<String, Value>, column: &str) -> f64 {
    let value = &row[column];
    let text = value.as_str().and_then(|text| text.parse().ok());
    value.as_f64().or(text).expect(column)
}

/// Six standard errors: what is that far off is no accident.
fn is_near(exact: f64, row: &Map<String, Value>) -> bool {
    (number(row, "count_star") - exact).abs() <= 6.0 * number(row, "count_error")
}

fn is_sampled(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Sampled("1/4"), &[]);
    let mut connection = server.connect();
    for statement in [
        "CREATE DATABASE sampled",
        "CREATE TABLE sampled.rows_of (a INT PRIMARY KEY)",
        "INSERT INTO sampled.rows_of VALUES (1)",
    ] {
        connection.query_drop(statement).expect(statement);
    }
    const SELECTS: usize = 2_000;
    for _ in 0..SELECTS {
        let select = "SELECT a FROM sampled.rows_of WHERE a = 1";
        connection.query_drop(select).expect(select);
    }
    for _ in 0..3 {
        let slow = "SELECT SLEEP(0.05)";
        connection.query_drop(slow).expect(slow);
    }
    let status = server.tare(
        "SELECT VARIABLE_VALUE AS rule FROM performance_schema.global_status \
         WHERE VARIABLE_NAME = 'Tare_sampling'",
    );
    assert_eq!(
        status[0]["rule"].as_str(),
        Some("statement 1/4, wait 1/4, stage 1/4, transaction 1/4")
    );
    // A server answers before it has told that a statement ended.
    wait_for("the last statement", || {
        let rows = server.tare(
            "SELECT COUNT_STAR AS n FROM performance_schema.events_statements_summary_global_by_event_name \
             WHERE EVENT_NAME = 'statement/sql/select'",
        );
        (number(rows.first()?, "n") >= (SELECTS + 3) as f64).then_some(())
    });
    let digests = server.tare(
        "SELECT digest_text, count_star, count_error, events_observed FROM tare.sampling_by_digest \
         WHERE digest_text LIKE '%rows_of%WHERE%' OR digest_text LIKE '%SLEEP%' ORDER BY events_observed",
    );
    assert_eq!(digests.len(), 2, "{digests:?}");
    let (slow, select) = (&digests[0], &digests[1]);
    // A slow statement stands for itself, whether it was observed or not.
    assert_eq!(number(slow, "count_star"), 3.0, "{slow:?}");
    assert_eq!(number(slow, "count_error"), 0.0, "{slow:?}");
    let observed = number(select, "events_observed");
    assert!(observed < SELECTS as f64 / 2.0, "{select:?}");
    assert!(is_near(SELECTS as f64, select), "{select:?}");
    // Its rows are estimated with it.
    let waits = server.tare(
        "SELECT count_star, count_error, events_observed, events_represented FROM tare.sampling_by_instrument \
         WHERE event_name = 'wait/io/table/sql/handler'",
    );
    let waits = waits.first().expect("waits for tables");
    assert!(number(waits, "events_observed") > 100.0, "{waits:?}");
    assert!(
        number(waits, "events_represented") > 2.0 * number(waits, "events_observed"),
        "{waits:?}"
    );
    // Every again is exact at once.
    server.tare("UPDATE tare.setup_sampling SET sampling = 'every'");
    let table_io = || {
        let rows = server.tare(
            "SELECT COUNT_FETCH AS n FROM performance_schema.table_io_waits_summary_by_table \
             WHERE OBJECT_NAME = 'rows_of'",
        );
        number(rows.first().expect("the table"), "n")
    };
    // Its cluster may be a sampled one: that of a statement that begins from here on is not.
    connection.query_drop("SELECT 1").expect("a statement");
    let before = table_io();
    for _ in 0..100 {
        let select = "SELECT a FROM sampled.rows_of WHERE a = 1";
        connection.query_drop(select).expect(select);
    }
    wait_for("all rows that were fetched", || {
        (table_io() - before >= 100.0).then_some(())
    });
    assert_eq!(table_io() - before, 100.0);
    server.stop();
}

#[test]
fn mariadb() {
    is_sampled(Version::Mariadb);
}

#[test]
fn mysql_5_7() {
    is_sampled(Version::Mysql57);
}

#[test]
fn mysql_9_7() {
    is_sampled(Version::Mysql97);
}
