//! Deeply nested statements get an answer or an error, and the server survives.

use mysql::Conn;
use mysql::prelude::Queryable;

use super::constructs::{CONSTRUCTS, REFUSED, nested};
use super::support::{Running, errno, exec, one};

/// A statement's error number; 0 is success. A lost connection means that the server has crashed.
fn outcome(conn: &mut Conn, what: &str, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Ok(()) => 0,
        Err(mysql::Error::MySqlError(error)) => error.code,
        Err(other) => panic!("{what}: {other}"),
    }
}

/// Runs every construct. With TARE_TEST_LONG (`make test-long`), all have a million levels.
fn attack(running: &Running, million: fn(usize) -> bool) {
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (n BIGINT)");
    exec(&mut conn, "INSERT INTO t VALUES (1)");
    let long = std::env::var_os("TARE_TEST_LONG").is_some();
    for (i, (construct, answered)) in CONSTRUCTS.iter().enumerate() {
        let mut tried = vec![10, 50, 1000];
        if long {
            tried.push(10_000);
        }
        if long || million(i) {
            tried.push(1_000_000);
        }
        for levels in tried {
            let what = format!("{construct} of {levels}");
            let code = outcome(&mut conn, &what, &nested(construct, levels));
            assert!(levels > *answered || code == 0, "{what}: error {code}");
            // A million tokens exceed the memory limit of a statement.
            let may_be = REFUSED.contains(&code) || levels == 1_000_000 && code == 1041;
            assert!(may_be, "{what}: error {code}");
            assert!(levels < 1_000_000 || code != 0, "{what}");
        }
    }
    assert_eq!(one(&mut conn, "SELECT 'alive'"), "alive");
    // An account with few rights can send the same.
    let mut monitor = running
        .tcp("monitor", Some(super::support::MONITOR))
        .expect("connects");
    for (construct, _) in &CONSTRUCTS[..4] {
        outcome(&mut monitor, construct, &nested(construct, 3000));
    }
    assert_eq!(one(&mut monitor, "SELECT 'alive'"), "alive");
}

#[test]
fn each_construct_is_answered_or_refused_on_a_thread_of_its_own() {
    attack(&Running::start(), |i| i % 4 == 0);
}

#[test]
fn each_construct_is_answered_or_refused_in_the_pool() {
    attack(&Running::pool(), |i| i % 4 == 2);
}

#[test]
fn long_chains_of_operators_have_values() {
    let running = Running::start();
    let mut conn = running.client();
    let sum = format!("SELECT 0{}", "+3".repeat(10_000));
    assert_eq!(one(&mut conn, &sum), "30000");
    let union = format!(
        "SELECT COUNT(*) FROM (SELECT 1 AS a{}) u",
        " UNION ALL SELECT 1".repeat(1999)
    );
    assert_eq!(one(&mut conn, &union), "2000");
    exec(&mut conn, &format!("EXPLAIN {sum}"));
    let counted = format!(
        "SELECT SQL_CALC_FOUND_ROWS 0{} LIMIT 1",
        "+3".repeat(10_000)
    );
    assert_eq!(one(&mut conn, &counted), "30000");
    let and = format!("SELECT 1{} AND NULL", " AND 1".repeat(10_000));
    assert_eq!(one(&mut conn, &and), "NULL");
    // The same as a prepared statement, and again.
    let statement = conn.prep(&sum).expect("prepares");
    for _ in 0..2 {
        let value: Option<i64> = conn.exec_first(&statement, ()).expect("runs");
        assert_eq!(value, Some(30_000));
    }
}

#[test]
fn too_deep_statements_get_error_1436() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        format!("SELECT 1{}", "+1".repeat(100_000)),
        format!("SELECT {}1{}", "(".repeat(1000), ")".repeat(1000)),
        format!("SELECT {}1", "NOT ".repeat(5000)),
        format!("SET @a = 1{}", "+1".repeat(5000)),
        format!("SELECT nope{}", "+1".repeat(30_000)),
    ] {
        let error = conn.query_drop(&sql).expect_err("is too deep");
        let mysql::Error::MySqlError(error) = error else {
            panic!("{error}");
        };
        assert_eq!(error.code, 1436, "{error}");
        assert!(error.message.starts_with("Thread stack overrun"), "{error}");
    }
    assert_eq!(
        outcome(
            &mut conn,
            "blame",
            &format!("SELECT nope{}", "+1".repeat(9000))
        ),
        1054
    );
}

#[test]
fn nested_views_and_queries_are_answered() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE v0 (n INT)");
    exec(&mut conn, "INSERT INTO v0 VALUES (0)");
    for i in 1..=100 {
        let below = i - 1;
        exec(
            &mut conn,
            &format!("CREATE VIEW v{i} AS SELECT n + 1 AS n FROM v{below}"),
        );
    }
    assert_eq!(one(&mut conn, "SELECT n FROM v100"), "100");
    let with = |n: usize| {
        let mut sql = String::from("WITH c0 AS (SELECT 0 AS n)");
        for i in 1..=n {
            sql.push_str(&format!(", c{i} AS (SELECT n + 1 AS n FROM c{})", i - 1));
        }
        format!("{sql} SELECT n FROM c{n}")
    };
    assert_eq!(one(&mut conn, &with(300)), "300");
    assert_eq!(outcome(&mut conn, "WITH", &with(50_000)), 1436);
    // Nested JSON, which the statement computes.
    for levels in [10, 100, 1000, 1_000_000] {
        let json = format!("CONCAT(REPEAT('[', {levels}), REPEAT(']', {levels}))");
        for call in [
            "JSON_VALID",
            "JSON_DEPTH",
            "JSON_TYPE",
            "JSON_PRETTY",
            "JSON_LENGTH",
            "JSON_KEYS",
        ] {
            outcome(&mut conn, call, &format!("SELECT {call}({json})"));
        }
        for call in ["JSON_EXTRACT", "JSON_CONTAINS", "JSON_SET"] {
            outcome(
                &mut conn,
                call,
                &format!("SELECT {call}({json}, '$', '[]')"),
            );
        }
        outcome(
            &mut conn,
            "merge",
            &format!("SELECT JSON_MERGE_PRESERVE({json}, {json})"),
        );
        let path = format!("CONCAT('$', REPEAT('[0]', {levels}))");
        outcome(
            &mut conn,
            "path",
            &format!("SELECT JSON_EXTRACT('[]', {path})"),
        );
        // A scalar is treated as an array of itself, so that these legs do not descend.
        for leg in ["[0]", "[last]", "**"] {
            let path = format!("CONCAT('$', REPEAT('{leg}', {levels}), '[0]')");
            let code = outcome(
                &mut conn,
                "path of a number",
                &format!("SELECT JSON_EXTRACT('1', {path})"),
            );
            assert_eq!(
                code,
                if levels < 1000 { 0 } else { 3157 },
                "{leg} of {levels}"
            );
        }
    }
    assert_eq!(one(&mut conn, "SELECT 'alive'"), "alive");
}

#[test]
fn a_star_is_refused_as_an_argument() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a INT)");
    for call in [
        "JSON_KEYS(*)",
        "JSON_LENGTH(*)",
        "JSON_OBJECT(*)",
        "SUM(*)",
        "ABS(*)",
        "CONCAT(*, 1)",
        "COUNT(DISTINCT *)",
        "COUNT(t.*)",
        "GROUP_CONCAT(*)",
        "IF(*, 1, 2)",
        "COALESCE(*)",
        "JSON_EXTRACT(*, '$')",
        "DATE_ADD(*, INTERVAL 1 DAY)",
        "ROUND(*, 1)",
        "sys.format_bytes(*)",
        "SUM(*) OVER ()",
        "NOW(*)",
        "CHAR(*)",
        "JSON_ARRAYAGG(*)",
        "FIELD(1, *)",
    ] {
        let sql = format!("SELECT {call} FROM t");
        assert_eq!(errno(&mut conn, &sql), 1064, "{sql}");
    }
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM t"), "0");
    assert_eq!(
        one(
            &mut conn,
            "SHOW GLOBAL STATUS LIKE 'Connection_errors_internal'"
        )
        .split('|')
        .next_back(),
        Some("0")
    );
}
