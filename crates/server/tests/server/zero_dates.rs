//! Dates whose month and day are zero, and texts that are no dates. The expected values are those of MySQL 9.7.4.

use crate::support::*;

#[test]
fn dates_with_zeros_are_read_as_the_mode_allows() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "SET sql_mode = ''",
        "CREATE TABLE z (a DATE, b DATETIME(3), v VARCHAR(30), y YEAR)",
        "INSERT INTO z VALUES ('2026-00-10', '2026-00-10 10:00:00.5', '2026-00-10', 2026)",
    ] {
        exec(&mut conn, sql);
    }
    // The expression, its value without modes of dates, and in the default mode; `=` is the same.
    let cases = [
        ("DATE('2026-00-10')", "2026-00-10", "NULL"),
        ("CAST('2026-00-10' AS DATE)", "2026-00-10", "NULL"),
        (
            "CAST('2026-00-10' AS DATETIME)",
            "2026-00-10 00:00:00",
            "NULL",
        ),
        ("TIMESTAMP('2026-00-10')", "2026-00-10 00:00:00", "NULL"),
        ("TIMESTAMP('2026-00-10', '01:00:00')", "NULL", "="),
        ("DATE('0000-00-00')", "0000-00-00", "NULL"),
        ("DATE('2026-02-30')", "NULL", "="),
        ("DATE(a)", "2026-00-10", "NULL"),
        ("TIMESTAMP(b)", "2026-00-10 10:00:00.500", "NULL"),
        ("CAST(v AS DATETIME(2))", "2026-00-10 00:00:00.00", "NULL"),
        ("EXTRACT(DAY FROM a)", "10", "="),
        ("EXTRACT(DAY_HOUR FROM b)", "1010", "="),
        ("TIMEDIFF(b, '2026-01-01 00:00:00')", "-517:59:59.500", "="),
        ("WEEK(a)", "NULL", "="),
        ("DATE_FORMAT('2026-00-10', '%Y-%m')", "2026-00", "="),
        ("MONTH('2026-00-10')", "0", "="),
        ("YEAR('0000-00-00')", "0", "NULL"),
        ("EXTRACT(YEAR FROM '0000-00-00')", "0", "NULL"),
        ("DATE(y)", "2026-01-01", "="),
        ("b + INTERVAL 1 DAY", "NULL", "="),
        ("TIME(b)", "10:00:00.500", "="),
        (
            "TIMESTAMP'2026-01-01 10:00:00' + INTERVAL '1' SECOND",
            "2026-01-01 10:00:01.000000",
            "=",
        ),
        (
            "TIMESTAMP'2026-01-01 10:00:00' + INTERVAL 1.5 SECOND",
            "2026-01-01 10:00:01.5",
            "=",
        ),
    ];
    for (mode, default) in [("''", false), ("DEFAULT", true)] {
        exec(&mut conn, &format!("SET sql_mode = {mode}"));
        for (expression, lax, strict) in cases {
            let expected = if default && strict != "=" {
                strict
            } else {
                lax
            };
            let value = all_of(&mut conn, &format!("SELECT {expression} FROM z"));
            assert_eq!(value, [expected], "{expression} in {mode}");
        }
    }
}

#[test]
fn a_date_is_not_compared_with_a_text_that_is_none() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE d (a DATE, b DATETIME, c TIMESTAMP, t TIME)",
    );
    exec(
        &mut conn,
        "INSERT INTO d VALUES ('2026-11-21', '2026-11-21', '2026-11-21', '10:00:00')",
    );
    let message = |conn: &mut mysql::Conn, sql: &str| match run(conn, sql) {
        Err(mysql::Error::MySqlError(e)) => format!("{} {}", e.code, e.message),
        other => format!("{other:?}"),
    };
    for (sql, error) in [
        (
            "SELECT a = 'abc' FROM d",
            "1525 Incorrect DATE value: 'abc'",
        ),
        (
            "SELECT 'abc' <=> b FROM d",
            "1525 Incorrect DATETIME value: 'abc'",
        ),
        ("SELECT c > '' FROM d", "1525 Incorrect TIMESTAMP value: ''"),
        (
            "SELECT a IN ('2026-02-30') FROM d",
            "1525 Incorrect DATE value: '2026-02-30'",
        ),
        (
            "SELECT a < '2026-00-00' FROM d",
            "1525 Incorrect DATE value: '2026-00-00'",
        ),
        (
            "SELECT CURDATE() = x'616263'",
            "1525 Incorrect DATE value: 'abc'",
        ),
        (
            "UPDATE d SET t = NULL WHERE a = 'abc'",
            "1292 Incorrect date value: 'abc' for column 'a' at row 1",
        ),
    ] {
        assert_eq!(message(&mut conn, sql), error, "{sql}");
    }
    for (expression, value) in [
        ("a = '2026-11-21x'", "1"),
        ("a = '261121'", "1"),
        ("a IN ('2026-11-21', 'abc')", "1"),
        ("t = 'abc'", "0"),
        ("a LIKE 'abc'", "0"),
    ] {
        let sql = format!("SELECT {expression} FROM d");
        assert_eq!(all_of(&mut conn, &sql), [value], "{expression}");
    }
    exec(&mut conn, "SET sql_mode = ''");
    assert_eq!(all_of(&mut conn, "SELECT a < '2026-00-00' FROM d"), ["0"]);
}
