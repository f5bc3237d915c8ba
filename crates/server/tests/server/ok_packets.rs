//! What an OK packet says beside its kind: affected rows, the id, and the words about rows. The expected answers
//! are MySQL 9.7.4's.

use super::support::{Raw, Running, exec, one, rows};

/// A length-encoded integer of less than 64 KiB.
fn number(packet: &mut &[u8]) -> u64 {
    let (first, rest) = packet.split_first().expect("a number");
    let (value, rest) = match first {
        252 => (
            u64::from(u16::from_le_bytes([rest[0], rest[1]])),
            &rest[2..],
        ),
        n => (u64::from(*n), rest),
    };
    *packet = rest;
    value
}

/// Affected rows, id and words of a statement's OK packet.
fn ok(raw: &mut Raw, sql: &str) -> String {
    raw.query(sql);
    let packet = raw.read().expect("an answer");
    let mut rest = packet
        .strip_prefix(&[0])
        .unwrap_or_else(|| panic!("{sql}: {packet:?}"));
    let (affected, id) = (number(&mut rest), number(&mut rest));
    rest = &rest[4..];
    let words = match rest.is_empty() {
        true => "",
        false => {
            assert_eq!(number(&mut rest), rest.len() as u64, "{sql}");
            std::str::from_utf8(rest).expect("ASCII")
        }
    };
    format!("{affected} {id} {words}").trim_end().to_owned()
}

const SETUP: [&str; 5] = [
    "CREATE DATABASE IF NOT EXISTS test",
    "USE test",
    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT, s VARCHAR(10), UNIQUE KEY (n))",
    "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
    "SET @a = 7",
];

/// A statement, and its answer.
const ANSWERS: [(&str, &str); 65] = [
    ("INSERT INTO t (n,s) VALUES (1,'a')", "1 1"),
    (
        "INSERT INTO t (n,s) VALUES (2,'b'),(3,'c')",
        "2 2 Records: 2  Duplicates: 0  Warnings: 0",
    ),
    (
        "INSERT INTO t (n,s) VALUES (4,'d'),(5,'e'),(6,'f')",
        "3 4 Records: 3  Duplicates: 0  Warnings: 0",
    ),
    ("INSERT INTO t (id,n) VALUES (100,100)", "1 100"),
    // An id that is given is not LAST_INSERT_ID().
    ("DO @id := LAST_INSERT_ID()", "0 0"),
    (
        "UPDATE t SET s = @id WHERE n = 1",
        "1 0 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "UPDATE t SET s = 4 WHERE n = 1",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    ("INSERT INTO t (id,n) VALUES (NULL,101)", "1 101"),
    ("INSERT INTO t (id,n) VALUES (0,102)", "1 102"),
    (
        "INSERT INTO t (id,n) VALUES (220,220),(221,221)",
        "2 221 Records: 2  Duplicates: 0  Warnings: 0",
    ),
    ("INSERT INTO u VALUES (1,1)", "1 0"),
    (
        "INSERT INTO u VALUES (2,2),(3,3)",
        "2 0 Records: 2  Duplicates: 0  Warnings: 0",
    ),
    (
        "INSERT INTO t (n,s) VALUES (400,'x') ON DUPLICATE KEY UPDATE s='z'",
        "1 222",
    ),
    (
        "UPDATE t JOIN u ON u.n < 3 SET t.s = 'j' WHERE t.n = 2",
        "1 0 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "INSERT INTO t (n,s) VALUES (400,'y') ON DUPLICATE KEY UPDATE s='y'",
        "2 222",
    ),
    (
        "INSERT INTO t (n,s) VALUES (1,'x') ON DUPLICATE KEY UPDATE id=LAST_INSERT_ID(id), s='q'",
        "2 1",
    ),
    (
        "INSERT INTO t SELECT NULL, n+5000, s FROM t WHERE n < 0",
        "0 0 Records: 0  Duplicates: 0  Warnings: 0",
    ),
    (
        "INSERT INTO u SELECT n+50, n FROM t WHERE n < 3",
        "2 0 Records: 2  Duplicates: 0  Warnings: 0",
    ),
    (
        "REPLACE INTO u SELECT 1, 7",
        "2 0 Records: 1  Duplicates: 1  Warnings: 0",
    ),
    ("REPLACE INTO u VALUES (1, 7)", "1 0"),
    (
        "REPLACE INTO u VALUES (1, 7),(2,8)",
        "3 0 Records: 2  Duplicates: 1  Warnings: 0",
    ),
    ("REPLACE INTO u SET id=1, n=9", "2 0"),
    ("INSERT INTO u SET id=70, n=9", "1 0"),
    (
        "UPDATE u SET n = 5 WHERE id = 1",
        "1 0 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "UPDATE u SET n = 5 WHERE id = 1",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "UPDATE u SET n = 5 WHERE id = 99999",
        "0 0 Rows matched: 0  Changed: 0  Warnings: 0",
    ),
    (
        "UPDATE u SET n = 5",
        "5 0 Rows matched: 6  Changed: 5  Warnings: 0",
    ),
    (
        "UPDATE u SET n = 5 WHERE n = 5 AND id IN (SELECT n FROM t)",
        "0 0 Rows matched: 3  Changed: 0  Warnings: 0",
    ),
    (
        "UPDATE u SET n = n + 1 ORDER BY id LIMIT 2",
        "2 0 Rows matched: 2  Changed: 2  Warnings: 0",
    ),
    (
        "UPDATE t SET s = LAST_INSERT_ID(77) WHERE n = 2",
        "1 77 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "UPDATE u JOIN t ON u.id = t.n SET u.n = 11 WHERE t.n < 3",
        "2 0 Rows matched: 2  Changed: 2  Warnings: 0",
    ),
    (
        "UPDATE u JOIN t ON u.id = t.n SET u.n = 11 WHERE t.n < 4",
        "1 0 Rows matched: 3  Changed: 1  Warnings: 0",
    ),
    ("DELETE FROM u WHERE id > 50", "3 0"),
    (
        "ALTER TABLE u ADD c INT",
        "0 0 Records: 0  Duplicates: 0  Warnings: 0",
    ),
    (
        "ALTER TABLE u MODIFY c BIGINT",
        "3 0 Records: 3  Duplicates: 0  Warnings: 0",
    ),
    (
        "ALTER TABLE u ADD INDEX (c)",
        "0 0 Records: 0  Duplicates: 0  Warnings: 0",
    ),
    ("ALTER TABLE u RENAME TO v", "0 0"),
    (
        "CREATE INDEX i ON v (n)",
        "0 0 Records: 0  Duplicates: 0  Warnings: 0",
    ),
    (
        "DROP INDEX i ON v",
        "0 0 Records: 0  Duplicates: 0  Warnings: 0",
    ),
    (
        "CREATE TABLE w AS SELECT * FROM v",
        "3 0 Records: 3  Duplicates: 0  Warnings: 0",
    ),
    ("CREATE TABLE IF NOT EXISTS w AS SELECT * FROM v", "0 0"),
    ("CREATE TABLE w3 LIKE w", "0 0"),
    ("RENAME TABLE w TO w4", "0 0"),
    ("TRUNCATE TABLE w4", "0 0"),
    ("DROP TABLE w4", "0 0"),
    (
        "PREPARE p FROM 'UPDATE v SET n = ? WHERE id = 1'",
        "0 0 Statement prepared",
    ),
    (
        "EXECUTE p USING @a",
        "1 0 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "EXECUTE p USING @a",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    ("DEALLOCATE PREPARE p", "0 0"),
    ("INSERT INTO v (id) VALUES (LAST_INSERT_ID(31))", "1 31"),
    (
        "UPDATE performance_schema.setup_consumers SET ENABLED='YES' WHERE NAME='global_instrumentation'",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "INSERT INTO performance_schema.setup_objects VALUES ('TABLE','zz','%','YES','YES')",
        "1 0",
    ),
    (
        "UPDATE performance_schema.setup_objects SET TIMED='YES' WHERE OBJECT_SCHEMA='zz'",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "DELETE FROM performance_schema.setup_objects WHERE OBJECT_SCHEMA='zz'",
        "1 0",
    ),
    (
        "UPDATE performance_schema.threads SET INSTRUMENTED='YES' WHERE THREAD_ID=PS_CURRENT_THREAD_ID()",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "UPDATE performance_schema.threads SET INSTRUMENTED='NO' WHERE THREAD_ID=PS_CURRENT_THREAD_ID()",
        "1 0 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "UPDATE performance_schema.threads SET INSTRUMENTED='YES' WHERE THREAD_ID=PS_CURRENT_THREAD_ID()",
        "1 0 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "UPDATE sys.sys_config SET value='OFF' WHERE variable='diagnostics.include_raw'",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "INSERT INTO performance_schema.setup_actors VALUES ('okhost','b','%','YES','YES')",
        "1 0",
    ),
    (
        "UPDATE performance_schema.setup_actors SET ENABLED='YES' WHERE HOST='okhost'",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "UPDATE performance_schema.setup_actors SET ENABLED='NO' WHERE HOST='okhost'",
        "1 0 Rows matched: 1  Changed: 1  Warnings: 0",
    ),
    (
        "UPDATE performance_schema.setup_actors SET ENABLED='NO', HISTORY='YES' WHERE HOST='okhost'",
        "0 0 Rows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "INSERT INTO performance_schema.setup_actors VALUES ('okhost','c','%','YES','YES'),('okhost','d','%','YES','YES')",
        "2 0 Records: 2  Duplicates: 0  Warnings: 0",
    ),
    (
        "UPDATE performance_schema.setup_actors SET ENABLED='NO' WHERE HOST='okhost'",
        "2 0 Rows matched: 3  Changed: 2  Warnings: 0",
    ),
    (
        "DELETE FROM performance_schema.setup_actors WHERE HOST='okhost'",
        "3 0",
    ),
];

#[test]
fn ok_packets_have_mysqls_ids_and_words() {
    let running = Running::start();
    let mut raw = Raw::root(&running);
    for sql in SETUP {
        ok(&mut raw, sql);
    }
    for (sql, answer) in ANSWERS {
        assert_eq!(ok(&mut raw, sql), answer, "{sql}");
    }
}

/// The status flags of a statement's OK packet.
fn status(raw: &mut Raw, sql: &str) -> u16 {
    raw.query(sql);
    let packet = raw.read().expect("an answer");
    let mut rest = packet
        .strip_prefix(&[0])
        .unwrap_or_else(|| panic!("{sql}: {packet:?}"));
    let _ = (number(&mut rest), number(&mut rest));
    u16::from_le_bytes([rest[0], rest[1]])
}

/// A transaction is visible to clients from the first table on that it uses. 1: in a transaction, 2: autocommit,
/// 0x2000: the transaction is read-only.
#[test]
fn a_savepoint_begins_no_transaction_that_clients_see() {
    let running = Running::start();
    let mut raw = Raw::root(&running);
    ok(&mut raw, "USE test");
    ok(&mut raw, "CREATE TABLE x (a INT PRIMARY KEY)");
    for (sql, flags) in [
        ("BEGIN", 3),
        ("COMMIT", 2),
        ("SAVEPOINT a", 2),
        ("SET autocommit = 0", 0),
        ("SAVEPOINT a", 0),
        ("DO 1", 0),
        ("ROLLBACK TO a", 0),
        ("RELEASE SAVEPOINT a", 0),
        ("SAVEPOINT a", 0),
        ("INSERT INTO x VALUES (1)", 1),
        ("ROLLBACK TO a", 1),
        ("ROLLBACK", 0),
        ("INSERT INTO x VALUES (1)", 1),
        ("COMMIT", 0),
        ("SET autocommit = 1", 2),
        ("START TRANSACTION READ ONLY", 0x2003),
        ("SAVEPOINT s", 0x2003),
        ("COMMIT", 2),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT", 3),
        ("COMMIT", 2),
    ] {
        assert_eq!(status(&mut raw, sql), flags, "{sql}");
    }
}

/// Statements that give some rows a number and let AUTO_INCREMENT give others one, and LAST_INSERT_ID() after them.
#[test]
fn the_first_generated_number_is_the_statements() {
    let running = Running::start();
    let mut raw = Raw::root(&running);
    let mut conn = running.client();
    ok(&mut raw, "USE test");
    ok(
        &mut raw,
        "CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, n INT)",
    );
    ok(&mut raw, "CREATE TABLE last (id INT)");
    for (values, first, last) in [
        ("(NULL, 1), (10, 2), (NULL, 3)", 1, 1),
        ("(20, 4), (NULL, 5)", 21, 21),
        ("(NULL, 6), (30, 7)", 23, 23),
        ("(40, 8), (41, 9)", 41, 23),
        ("(50, 10), (45, 11)", 45, 23),
        ("(DEFAULT, 12), (0, 13)", 51, 51),
        ("(0, 14), (60, 15), (DEFAULT, 16)", 53, 53),
        ("(-5, 17), (NULL, 18)", 62, 62),
    ] {
        let sql = format!("INSERT INTO a (id, n) VALUES {values}");
        let rows = values.matches('(').count();
        let expected = format!("{rows} {first} Records: {rows}  Duplicates: 0  Warnings: 0");
        assert_eq!(ok(&mut raw, &sql), expected, "{sql}");
        ok(&mut raw, "DELETE FROM last");
        ok(&mut raw, "INSERT INTO last SELECT LAST_INSERT_ID()");
        assert_eq!(
            one(&mut conn, "SELECT id FROM last"),
            last.to_string(),
            "{sql}"
        );
    }
}

/// Rows that INSERT IGNORE leaves out are warnings with their values and keys.
#[test]
fn ignored_rows_are_warnings() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, n INT, UNIQUE KEY (n))",
        "INSERT INTO a (n) VALUES (1), (2)",
        "CREATE TABLE k (a INT, b INT, c VARCHAR(9), PRIMARY KEY (a, b), UNIQUE KEY uc (c))",
        "INSERT INTO k VALUES (1, 2, 'x')",
    ] {
        exec(&mut conn, sql);
    }
    for (sql, affected, warnings) in [
        (
            "INSERT IGNORE INTO a (n) VALUES (1), (14), (2), (15)",
            2,
            &["'1' for key 'a.n'", "'2' for key 'a.n'"][..],
        ),
        (
            "INSERT IGNORE INTO a (id, n) VALUES (1, 77), (NULL, 16)",
            1,
            &["'1' for key 'a.PRIMARY'"],
        ),
        (
            "INSERT IGNORE INTO k VALUES (1, 2, 'y'), (3, 4, 'x'), (5, 6, 'z')",
            1,
            &["'1-2' for key 'k.PRIMARY'", "'x' for key 'k.uc'"],
        ),
        (
            "INSERT IGNORE INTO k VALUES (1, 2, 'x')",
            0,
            &["'1-2' for key 'k.PRIMARY'"],
        ),
        (
            "INSERT IGNORE INTO k SELECT 1, 2, 'q' UNION ALL SELECT 7, 8, 'r'",
            1,
            &["'1-2' for key 'k.PRIMARY'"],
        ),
    ] {
        exec(&mut conn, sql);
        assert_eq!(conn.affected_rows(), affected, "{sql}");
        let expected: Vec<String> = warnings
            .iter()
            .map(|entry| format!("Warning|1062|Duplicate entry {entry}"))
            .collect();
        let reported: Vec<String> = rows(&mut conn, "SHOW WARNINGS")
            .iter()
            .map(|row| row.join("|"))
            .collect();
        assert_eq!(reported, expected, "{sql}");
    }
}

/// Statements without autocommit, and whether they begin a transaction.
const BEGINNINGS: [(&str, bool); 24] = [
    ("SELECT 1", false),
    ("SELECT USER()", false),
    ("SELECT * FROM t", true),
    ("SELECT * FROM information_schema.TABLES LIMIT 1", true),
    (
        "SELECT * FROM information_schema.schemata WHERE 1 = 0",
        true,
    ),
    (
        "SELECT * FROM information_schema.INNODB_FIELDS LIMIT 1",
        true,
    ),
    (
        "SELECT * FROM information_schema.INNODB_TABLES LIMIT 1",
        false,
    ),
    ("SELECT * FROM information_schema.KEYWORDS LIMIT 1", false),
    ("SELECT * FROM information_schema.ENGINES", false),
    ("SELECT * FROM information_schema.USER_PRIVILEGES", false),
    ("SELECT * FROM mysql.db", true),
    ("SELECT * FROM mysql.slow_log", false),
    ("SELECT * FROM performance_schema.threads LIMIT 1", false),
    ("SELECT * FROM sys.version", false),
    ("EXPLAIN SELECT * FROM information_schema.TABLES", true),
    ("SHOW DATABASES", true),
    ("SHOW TABLES", true),
    ("SHOW COLUMNS FROM t", true),
    ("SHOW INDEX FROM t", true),
    ("SHOW CREATE TABLE t", false),
    ("SHOW COLLATION", true),
    ("SHOW TRIGGERS", true),
    ("SHOW VARIABLES LIKE 'x'", false),
    ("SHOW GRANTS", false),
];

/// Reads the packets of a result.
fn drain(raw: &mut Raw, sql: &str) {
    let is_end = |packet: &[u8]| packet[0] == 0xfe && packet.len() < 9;
    let mut ends = 0;
    while ends < 2 {
        let packet = raw.read().expect("a result");
        assert_ne!(packet[0], 0xff, "{sql}: {packet:?}");
        ends += u8::from(is_end(&packet));
    }
}

#[test]
fn reads_of_the_dictionary_begin_a_transaction_without_autocommit() {
    const IN_TRANSACTION: u8 = 1;
    let running = Running::start();
    let mut raw = Raw::root(&running);
    for sql in SETUP.into_iter().chain(["SET autocommit = 0"]) {
        ok(&mut raw, sql);
    }
    for (sql, begins) in BEGINNINGS {
        raw.query(sql);
        drain(&mut raw, sql);
        raw.query("DO 0");
        let packet = raw.read().expect("OK");
        assert_eq!(packet[3] & IN_TRANSACTION != 0, begins, "{sql}");
        ok(&mut raw, "ROLLBACK");
    }
}
