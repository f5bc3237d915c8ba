//! Which defaults a column can have, and how they are stored. The expected answers are MySQL 9.7.4's.

use mysql::Conn;
use mysql::prelude::Queryable;

use super::support::{Running, errno, exec, one};

/// Invalid in strict mode and without it.
const INVALID: [&str; 27] = [
    "DATE DEFAULT '2026-02-30'",
    "DATE DEFAULT 'x'",
    "DATE DEFAULT ''",
    "TIME DEFAULT 'x'",
    "TIME DEFAULT '900:00:00'",
    "DATETIME DEFAULT 5",
    "DATETIME DEFAULT '2026-01-01 25:00:00'",
    "TIMESTAMP DEFAULT '1969-01-01 00:00:00'",
    "TIMESTAMP DEFAULT '2039-01-01 00:00:00'",
    "INT DEFAULT 'x'",
    "INT DEFAULT ''",
    "INT DEFAULT '12x'",
    "INT UNSIGNED DEFAULT -1",
    "TINYINT DEFAULT 300",
    "DECIMAL(4,1) DEFAULT 99999",
    "DOUBLE DEFAULT 'x'",
    "FLOAT DEFAULT 1e39",
    "YEAR DEFAULT 1800",
    "BIT(1) DEFAULT b'11'",
    "BIT(1) DEFAULT 2",
    "VARCHAR(3) DEFAULT 'abcdef'",
    "VARCHAR(3) DEFAULT 12345",
    "BINARY(2) DEFAULT 'abc'",
    "ENUM('a','b') DEFAULT 'c'",
    "SET('a','b') DEFAULT 'c'",
    "INT NOT NULL DEFAULT NULL",
    "DATE DEFAULT CURRENT_TIMESTAMP",
];

/// Dates with parts that are zero: the modes decide.
const ZERO: [(&str, &str); 6] = [
    ("DATETIME DEFAULT '0000-00-00 00:00:00'", "NO_ZERO_DATE"),
    ("TIMESTAMP DEFAULT '0000-00-00 00:00:00'", "NO_ZERO_DATE"),
    ("TIMESTAMP NOT NULL DEFAULT 0", "NO_ZERO_DATE"),
    ("DATE DEFAULT '0000-00-00'", "NO_ZERO_DATE"),
    ("DATE DEFAULT 0", "NO_ZERO_DATE"),
    ("DATE DEFAULT '2026-00-10'", "NO_ZERO_IN_DATE"),
];

fn create(conn: &mut Conn, column: &str) -> u16 {
    exec(conn, "DROP TABLE IF EXISTS d");
    match conn.query_drop(format!("CREATE TABLE d (a {column})")) {
        Ok(()) => 0,
        Err(mysql::Error::MySqlError(e)) => {
            if e.code == 1067 {
                assert_eq!(e.message, "Invalid default value for 'a'", "{column}");
            }
            e.code
        }
        Err(other) => panic!("{column}: {other}"),
    }
}

#[test]
fn a_default_that_a_column_cannot_have_is_refused() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE base (id INT PRIMARY KEY, b DATE)");
    let modes = ["DEFAULT", "''", "'STRICT_TRANS_TABLES'"];
    for mode in modes {
        exec(&mut conn, &format!("SET sql_mode = {mode}"));
        for column in INVALID {
            assert_eq!(create(&mut conn, column), 1067, "{mode}: {column}");
        }
        for (column, refused_by) in ZERO {
            let expected = if mode == "DEFAULT" { 1067 } else { 0 };
            assert_eq!(create(&mut conn, column), expected, "{mode}: {column}");
            exec(
                &mut conn,
                &format!("SET sql_mode = 'STRICT_TRANS_TABLES,{refused_by}'"),
            );
            assert_eq!(create(&mut conn, column), 1067, "{refused_by}: {column}");
            exec(&mut conn, &format!("SET sql_mode = '{refused_by}'"));
            assert_eq!(create(&mut conn, column), 0, "{refused_by}: {column}");
            exec(&mut conn, &format!("SET sql_mode = {mode}"));
        }
        for kind in ["TEXT", "BLOB", "JSON"] {
            let column = format!("{kind} DEFAULT 'x'");
            assert_eq!(create(&mut conn, &column), 1101, "{mode}: {column}");
        }
    }
    exec(&mut conn, "SET sql_mode = DEFAULT");
    for sql in [
        "ALTER TABLE base ADD a DATETIME DEFAULT '0000-00-00 00:00:00'",
        "ALTER TABLE base ADD a INT DEFAULT 'x'",
        "ALTER TABLE base ALTER b SET DEFAULT '0000-00-00'",
        "ALTER TABLE base MODIFY b DATE DEFAULT '0000-00-00'",
        "ALTER TABLE base CHANGE b c DATE DEFAULT '0000-00-00'",
        "CREATE TABLE filled (a INT DEFAULT 'x') AS SELECT 1 AS b",
        "CREATE TABLE filled (a DATE DEFAULT '0000-00-00') AS SELECT 1 AS b",
        "CREATE TABLE counted (a INT PRIMARY KEY AUTO_INCREMENT DEFAULT 5)",
    ] {
        assert_eq!(errno(&mut conn, sql), 1067, "{sql}");
    }
    exec(&mut conn, "SET sql_mode = ''");
    exec(&mut conn, "CREATE TABLE t (a TEXT DEFAULT '')");
    assert!(one(&mut conn, "SHOW WARNINGS").starts_with("Warning|1101|"));
    // A column that has one keeps it.
    exec(&mut conn, "CREATE TABLE z (a DATE DEFAULT '0000-00-00')");
    exec(&mut conn, "SET sql_mode = DEFAULT");
    exec(&mut conn, "ALTER TABLE z ADD b INT");
}

#[test]
fn a_default_is_stored_as_its_column_has_it() {
    let running = Running::start();
    let mut conn = running.client();
    for (column, expected) in [
        ("INT DEFAULT 1.5", "2"),
        ("INT DEFAULT '12'", "12"),
        ("DECIMAL(4,1) DEFAULT 1.55", "1.6"),
        ("DOUBLE(6,2) DEFAULT 1.556", "1.56"),
        ("FLOAT(5,1) DEFAULT '2'", "2.0"),
        ("DOUBLE DEFAULT 1.5", "1.5"),
        ("DATETIME DEFAULT '2026-01-01'", "2026-01-01 00:00:00"),
        (
            "DATETIME DEFAULT '2026-01-01 10:00:00.7'",
            "2026-01-01 10:00:01",
        ),
        ("TIME DEFAULT 0", "00:00:00"),
        ("CHAR(2) DEFAULT 'a   '", "a"),
        ("YEAR DEFAULT '0'", "2000"),
        ("BIT(3) DEFAULT 5", "b'101'"),
        ("VARCHAR(9) DEFAULT 'it''s'", "it's"),
        ("TEXT DEFAULT NULL", "NULL"),
    ] {
        assert_eq!(create(&mut conn, column), 0, "{column}");
        let default =
            "SELECT COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE TABLE_NAME = 'd'";
        assert_eq!(one(&mut conn, default), expected, "{column}");
    }
}

#[test]
fn an_unknown_engine_is_a_warning_without_no_engine_substitution() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "SET sql_mode = ''");
    exec(&mut conn, "CREATE TABLE f (a INT) ENGINE = nonsense");
    let warnings: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS").expect("warnings");
    let codes: Vec<u16> = warnings.iter().map(|(_, code, _)| *code).collect();
    assert_eq!(codes, [1286, 1266]);
    exec(&mut conn, "ALTER TABLE f ENGINE = nonsense");
    assert!(one(&mut conn, "SHOW WARNINGS").starts_with("Warning|1286|"));
}

#[test]
fn programs_that_are_not_there_are_dropped_with_a_note() {
    let running = Running::start();
    let mut conn = running.client();
    for (sql, expected) in [
        (
            "PROCEDURE IF EXISTS p",
            "Note|1305|PROCEDURE test.p does not exist",
        ),
        (
            "FUNCTION IF EXISTS other.f",
            "Note|1305|FUNCTION other.f does not exist",
        ),
        ("TRIGGER IF EXISTS g", "Note|1360|Trigger does not exist"),
        ("EVENT IF EXISTS e", "Note|1305|Event e does not exist"),
        (
            "PROCEDURE IF EXISTS sys.nope",
            "Note|1305|PROCEDURE sys.nope does not exist",
        ),
    ] {
        exec(&mut conn, &format!("DROP {sql}"));
        assert_eq!(one(&mut conn, "SHOW WARNINGS"), expected, "{sql}");
    }
    assert_eq!(errno(&mut conn, "DROP PROCEDURE IF EXISTS"), 1064);
}

/// The format is @@explain_format, TREE by default, and parameters are allowed.
#[test]
fn explain_has_the_sessions_format() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (id INT PRIMARY KEY, a INT)");
    let mut columns = |sql: &str| {
        let statement = conn.prep(sql).expect("prepared");
        let rows = conn.exec_iter(&statement, (1,)).expect("rows");
        rows.columns().as_ref().len()
    };
    assert_eq!(columns("EXPLAIN SELECT * FROM t WHERE id = ?"), 1);
    assert_eq!(
        columns("EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE id = ?"),
        12
    );
    let of_system = "performance_schema.threads WHERE THREAD_ID = ?";
    assert_eq!(
        columns(&format!(
            "EXPLAIN FORMAT=TRADITIONAL SELECT * FROM {of_system}"
        )),
        12
    );
    exec(
        &mut conn,
        "PREPARE s FROM 'EXPLAIN UPDATE t SET a = ? WHERE id = 1'",
    );
    exec(&mut conn, "SET @a = 1");
    exec(&mut conn, "EXECUTE s USING @a");
    exec(&mut conn, "SET explain_format = 'TRADITIONAL'");
    let first = conn
        .query_first::<mysql::Row, _>("EXPLAIN SELECT 1")
        .expect("a row");
    assert_eq!(first.expect("a row").len(), 12);
}
