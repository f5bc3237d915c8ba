//! A TIMESTAMP is stored in UTC, and read in @@time_zone (issue 16).

use std::path::Path;

use mysql::prelude::Queryable;

use super::support::{Running, all_of, errno, exec, one};

/// A table with two moments, one of them written in two zones.
fn filled(running: &Running) -> mysql::Conn {
    let mut conn = running.client();
    exec(&mut conn, "SET time_zone = '+00:00'");
    exec(
        &mut conn,
        "CREATE TABLE z (id INT PRIMARY KEY, ts TIMESTAMP NULL, t3 TIMESTAMP(3) NULL, dt DATETIME, KEY (ts))",
    );
    exec(
        &mut conn,
        "INSERT INTO z VALUES (1, '2026-01-01 00:00:00', '2026-01-01 00:00:00.125', '2026-01-01 00:00:00'), \
         (2, '2026-07-01 12:00:00', NULL, '2026-07-01 12:00:00')",
    );
    exec(&mut conn, "SET time_zone = '+02:00'");
    exec(
        &mut conn,
        "INSERT INTO z VALUES (3, '2026-07-01 12:00:00', '2026-07-01 12:00:00.5', '2026-07-01 12:00:00')",
    );
    conn
}

#[test]
fn a_timestamp_is_a_time_of_the_sessions_zone() {
    let running = Running::start();
    let mut conn = filled(&running);
    // MySQL 8.0.15's answers.
    for (sql, expected) in [
        (
            "SELECT * FROM z ORDER BY id",
            vec![
                "1|2026-01-01 02:00:00|2026-01-01 02:00:00.125|2026-01-01 00:00:00",
                "2|2026-07-01 14:00:00|NULL|2026-07-01 12:00:00",
                "3|2026-07-01 12:00:00|2026-07-01 12:00:00.500|2026-07-01 12:00:00",
            ],
        ),
        (
            "SELECT id, ts + INTERVAL 1 DAY, DATE(ts), UNIX_TIMESTAMP(ts), ts + 0 FROM z WHERE id = 1",
            vec!["1|2026-01-02 02:00:00|2026-01-01|1767225600|20260101020000"],
        ),
        (
            "SELECT id FROM z WHERE ts = '2026-07-01 12:00:00'",
            vec!["3"],
        ),
        (
            "SELECT id FROM z WHERE ts IN ('2026-01-01 02:00:00', 20260701120000) ORDER BY ts DESC",
            vec!["3", "1"],
        ),
        ("SELECT id FROM z WHERE ts > dt ORDER BY id", vec!["1", "2"]),
        (
            "SELECT MIN(ts), MAX(ts) FROM z",
            vec!["2026-01-01 02:00:00|2026-07-01 14:00:00"],
        ),
        (
            "SELECT ts, COUNT(*) FROM z GROUP BY ts ORDER BY ts LIMIT 1",
            vec!["2026-01-01 02:00:00|1"],
        ),
        (
            "SELECT q.ts, q.x FROM (SELECT ts, z.ts AS x FROM z) q WHERE q.ts > '2026-07-01 12:00:00'",
            vec!["2026-07-01 14:00:00|2026-07-01 14:00:00"],
        ),
        (
            "SELECT id FROM (SELECT * FROM z) q WHERE q.ts > '2026-07-01 12:00:00'",
            vec!["2"],
        ),
        (
            "WITH q AS (SELECT ts FROM z) SELECT MAX(ts) FROM q",
            vec!["2026-07-01 14:00:00"],
        ),
        (
            "SELECT ts FROM z UNION SELECT '2026-01-01 02:00:00' ORDER BY 1 LIMIT 1",
            vec!["2026-01-01 02:00:00"],
        ),
        (
            "SELECT a.id, b.ts FROM z a JOIN z b ON a.ts = b.ts WHERE a.id = 3",
            vec!["3|2026-07-01 12:00:00"],
        ),
        (
            "SELECT (SELECT ts FROM z WHERE id = 1)",
            vec!["2026-01-01 02:00:00"],
        ),
    ] {
        assert_eq!(all_of(&mut conn, sql), expected, "{sql}");
    }
    // A prepared statement reads the row in other zones.
    let prepared = conn
        .prep("SELECT ts FROM z WHERE id = ?")
        .expect("prepared");
    let mut read = |zone: &str| -> String {
        exec(&mut conn, &format!("SET time_zone = '{zone}'"));
        let value: Option<mysql::Value> = conn.exec_first(&prepared, (1,)).expect("runs");
        value.expect("a row").as_sql(true)
    };
    assert_eq!(read("-03:00"), "'2025-12-31 21:00:00'");
    assert_eq!(read("+00:00"), "'2026-01-01'", "midnight");
    assert_eq!(read("+05:30"), "'2026-01-01 05:30:00'");
    exec(&mut conn, "SET time_zone = '+02:00'");
    let shared = "SELECT * FROM z JOIN (SELECT 1 AS id) q USING (id)";
    let row = one(&mut conn, shared);
    assert!(
        row.starts_with("1|") && row.contains("2026-01-01 02:00:00"),
        "{row}"
    );
}

#[test]
fn timestamps_are_stored_in_utc() {
    let running = Running::start();
    let mut conn = filled(&running);
    exec(
        &mut conn,
        "UPDATE z SET ts = ts + INTERVAL 1 HOUR WHERE ts = '2026-07-01 12:00:00'",
    );
    exec(
        &mut conn,
        "UPDATE z SET ts = '2026-07-03 00:00:00', dt = ts WHERE id = 2",
    );
    exec(&mut conn, "DELETE FROM z WHERE ts < '2026-01-01 02:00:01'");
    exec(&mut conn, "CREATE TABLE made AS SELECT ts, dt FROM z");
    exec(&mut conn, "INSERT INTO made SELECT dt, ts FROM z");
    exec(
        &mut conn,
        "CREATE VIEW v AS SELECT ts, HOUR(ts) AS h FROM z",
    );
    exec(&mut conn, "SET time_zone = '+00:00'");
    assert_eq!(
        all_of(&mut conn, "SELECT id, ts, dt FROM z ORDER BY id"),
        [
            "2|2026-07-02 22:00:00|2026-07-03 00:00:00",
            "3|2026-07-01 11:00:00|2026-07-01 12:00:00"
        ]
    );
    let copied = "SELECT ts, dt FROM made ORDER BY ts, dt";
    assert_eq!(
        all_of(&mut conn, copied),
        [
            "2026-07-01 10:00:00|2026-07-01 13:00:00",
            "2026-07-01 11:00:00|2026-07-01 12:00:00",
            "2026-07-02 22:00:00|2026-07-03 00:00:00",
            "2026-07-02 22:00:00|2026-07-03 00:00:00",
        ]
    );
    assert_eq!(
        all_of(&mut conn, "SELECT * FROM v ORDER BY ts")[0],
        "2026-07-01 11:00:00|11"
    );
    // A rebuilt table has the same moments, and a DATETIME gets the time of the session's zone.
    exec(&mut conn, "SET time_zone = '-03:00'");
    assert_eq!(
        all_of(&mut conn, "SELECT * FROM v ORDER BY ts")[0],
        "2026-07-01 08:00:00|8"
    );
    exec(&mut conn, "ALTER TABLE made MODIFY ts TIMESTAMP(2) NULL");
    assert_eq!(
        all_of(&mut conn, copied)[0],
        "2026-07-01 07:00:00.00|2026-07-01 13:00:00"
    );
    exec(&mut conn, "ALTER TABLE made MODIFY ts DATETIME");
    exec(&mut conn, "SET time_zone = '+00:00'");
    assert_eq!(
        all_of(&mut conn, copied)[0],
        "2026-07-01 07:00:00|2026-07-01 13:00:00"
    );
    // The bounds of TIMESTAMP are in UTC.
    exec(&mut conn, "SET time_zone = '+05:30'");
    assert_eq!(
        errno(
            &mut conn,
            "INSERT INTO z (id, ts) VALUES (9, '1970-01-01 05:30:00')"
        ),
        1292
    );
    exec(
        &mut conn,
        "INSERT INTO z (id, ts) VALUES (9, '1970-01-01 05:30:01')",
    );
    exec(
        &mut conn,
        "INSERT INTO z (id, ts) VALUES (10, '2038-01-19 08:44:07')",
    );
    assert_eq!(
        errno(
            &mut conn,
            "INSERT INTO z (id, ts) VALUES (11, '2038-01-19 08:44:08')"
        ),
        1292
    );
}

#[test]
fn current_timestamps_are_defaults_of_columns() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE n (id INT PRIMARY KEY, made TIMESTAMP DEFAULT CURRENT_TIMESTAMP, \
         m3 DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3), \
         up TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, l TIMESTAMP DEFAULT '2026-01-01 05:30:00', v INT)",
    );
    exec(&mut conn, "SET time_zone = '+05:30'");
    exec(&mut conn, "INSERT INTO n (id, v) VALUES (1, 1), (2, 2)");
    exec(&mut conn, "INSERT INTO n (id, v) SELECT 3, 3");
    exec(&mut conn, "INSERT INTO n SET id = 4, v = 4, up = DEFAULT");
    let created = "SELECT COUNT(*) FROM n WHERE made BETWEEN NOW() - INTERVAL 1 DAY AND NOW() + INTERVAL 1 SECOND \
                AND m3 BETWEEN NOW() - INTERVAL 1 DAY AND NOW() + INTERVAL 1 SECOND AND up IS NULL";
    assert_eq!(one(&mut conn, created), "4");
    assert_eq!(
        one(&mut conn, "SELECT l FROM n WHERE id = 1"),
        "2026-01-01 05:30:00"
    );
    assert_eq!(
        one(&mut conn, "SELECT LENGTH(m3) FROM n WHERE id = 1"),
        "23"
    );
    // ON UPDATE does not change an unchanged row.
    exec(&mut conn, "UPDATE n SET v = 1 WHERE id IN (1, 2)");
    exec(
        &mut conn,
        "INSERT INTO n (id, v) VALUES (3, 9), (4, 4) ON DUPLICATE KEY UPDATE v = VALUES(v)",
    );
    let up = "SELECT id FROM n WHERE up BETWEEN NOW() - INTERVAL 1 DAY AND NOW() + INTERVAL 1 SECOND ORDER BY id";
    assert_eq!(all_of(&mut conn, up), ["2", "3"]);
    exec(
        &mut conn,
        "UPDATE n JOIN (SELECT 4 AS id) q ON q.id = n.id SET n.v = 5",
    );
    assert_eq!(all_of(&mut conn, up), ["2", "3", "4"]);
    exec(&mut conn, "UPDATE n SET v = 8, up = NULL WHERE id = 2");
    assert_eq!(all_of(&mut conn, up), ["3", "4"]);
    // Functions use the session's zone.
    assert_eq!(
        one(
            &mut conn,
            "SELECT FROM_UNIXTIME(0), UNIX_TIMESTAMP('1970-01-01 05:30:00'), \
             CONVERT_TZ('2026-01-01 00:00:00', '+00:00', '+02:00')"
        ),
        "1970-01-01 05:30:00|0|2026-01-01 02:00:00"
    );
    let apart = "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), NOW() + INTERVAL 30 SECOND)";
    assert_eq!(one(&mut conn, apart), "330");
}

#[test]
fn unknown_zones_are_refused() {
    let running = Running::start();
    let mut conn = running.root();
    for zone in ["nowhere", "+15:00", "", "../../etc/passwd"] {
        let sql = format!("SET time_zone = '{zone}'");
        assert_eq!(errno(&mut conn, &sql), 1298, "{sql}");
    }
    // Names are those of the system's database of zones.
    if Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
        exec(&mut conn, "SET time_zone = 'Europe/Berlin'");
        assert_eq!(
            one(&mut conn, "SELECT FROM_UNIXTIME(1782907200)"),
            "2026-07-01 14:00:00"
        );
    }
    // SET GLOBAL affects later sessions only.
    exec(&mut conn, "SET time_zone = DEFAULT");
    exec(&mut conn, "SET GLOBAL time_zone = '+03:00'");
    assert_eq!(
        one(&mut conn, "SELECT @@time_zone, @@global.time_zone"),
        "SYSTEM|+03:00"
    );
    let mut later = running.root();
    assert_eq!(
        one(&mut later, "SELECT @@time_zone, FROM_UNIXTIME(0)"),
        "+03:00|1970-01-01 03:00:00"
    );
    exec(&mut later, "SET time_zone = '-01:00'");
    exec(&mut later, "SET time_zone = DEFAULT");
    assert_eq!(one(&mut later, "SELECT @@time_zone"), "+03:00");
}

#[test]
fn a_user_variable_gets_a_time_of_the_sessions_zone() {
    let running = Running::start();
    let mut conn = filled(&running);
    exec(&mut conn, "SET @v = (SELECT ts FROM z WHERE id = 1)");
    assert_eq!(one(&mut conn, "SELECT @v"), "2026-01-01 02:00:00");
}

/// The values are MySQL 9.7.4's.
#[test]
fn a_time_that_a_clock_skips_is_refused_or_the_next_one() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE skipped (id INT PRIMARY KEY, ts TIMESTAMP(1) NULL)",
    );
    exec(&mut conn, "SET time_zone = 'Europe/Berlin'");
    assert_eq!(
        one(
            &mut conn,
            "SELECT CONCAT_WS(' ', UNIX_TIMESTAMP('2026-03-29 02:30:00'), UNIX_TIMESTAMP('2026-03-29 02:59:59.5'), \
             UNIX_TIMESTAMP('2026-10-25 02:30:00'), \
             CONVERT_TZ('2026-03-29 02:30:00', 'Europe/Berlin', 'Europe/Berlin'))"
        ),
        "1774746000 1774746000.5 1792888200 2026-03-29 03:00:00"
    );
    for sql in [
        "INSERT INTO skipped VALUES (1, '2026-03-29 02:30:00')",
        "INSERT INTO skipped VALUES (1, 20260329023000)",
        "INSERT INTO skipped SELECT 1, CAST('2026-03-29 02:30:00' AS DATETIME)",
    ] {
        assert_eq!(errno(&mut conn, sql), 1292, "{sql}");
    }
    let warned = "Warning|1299|Invalid TIMESTAMP value in column 'ts' at row 1";
    exec(
        &mut conn,
        "INSERT IGNORE INTO skipped VALUES (2, '2026-03-29 02:30:00.7')",
    );
    assert_eq!(all_of(&mut conn, "SHOW WARNINGS"), [warned]);
    exec(&mut conn, "SET sql_mode = ''");
    exec(&mut conn, "INSERT INTO skipped VALUES (3, 20260329023000)");
    assert_eq!(all_of(&mut conn, "SHOW WARNINGS"), [warned]);
    exec(
        &mut conn,
        "INSERT INTO skipped VALUES (4, '2026-03-29 01:59:59'), (5, '2026-10-25 02:30:00')",
    );
    exec(&mut conn, "SET time_zone = '+00:00'");
    assert_eq!(
        all_of(&mut conn, "SELECT * FROM skipped ORDER BY id"),
        [
            "2|2026-03-29 01:00:00.7",
            "3|2026-03-29 01:00:00.0",
            "4|2026-03-29 00:59:59.0",
            "5|2026-10-25 00:30:00.0"
        ]
    );
}
