//! Results and error numbers of statements are MySQL's.

use super::support::{Running, errno, exec, one, rows};

#[test]
fn expressions() {
    let running = Running::start();
    let mut conn = running.client();
    for (sql, expected) in [
        (
            "SELECT 5 / 2, 5 DIV 2, 5 % 3, 5 MOD 3, -5 / 0",
            "2.5000|2|2|2|NULL",
        ),
        (
            "SELECT 1 = 1, NULL <=> NULL, 1 XOR 1, NOT 1, 1 && 0, 2 <> 3",
            "1|1|0|0|0|1",
        ),
        (
            "SELECT - -3, -9223372036854775808, 18446744073709551615",
            "3|-9223372036854775808|18446744073709551615",
        ),
        (
            "SELECT 'it''s', \"dq\", 'a\\'b', 'x' 'y', 0x41, X'42'",
            "it's|dq|a'b|xy|A|B",
        ),
        (
            "SELECT CONCAT('a', 1, 2.5), CONCAT('a', NULL), CONCAT_WS('-', 'a', NULL, 'b')",
            "a12.5|NULL|a-b",
        ),
        (
            "SELECT IF(1, 'y', 'n'), IFNULL(NULL, 2), NULLIF(1, 1), COALESCE(NULL, 3)",
            "y|2|NULL|3",
        ),
        (
            "SELECT LENGTH('é'), CHAR_LENGTH('é'), LEFT('abc', 2), RIGHT('abc', 2), SUBSTRING('hello', 2, 3), MID('hello', -3, 2)",
            "2|1|ab|bc|ell|ll",
        ),
        (
            "SELECT TRIM('  x '), TRIM(LEADING '0' FROM '007'), LPAD('5', 3, '0'), REVERSE('abc'), REPEAT('ab', 2), LOCATE('l', 'hello')",
            "x|7|005|cba|abab|3",
        ),
        (
            "SELECT ROUND(2.567, 1), TRUNCATE(-1.99, 1), FLOOR(-1.5), CEILING(1.2), ABS(-3), MOD(-7, 3), POW(2, 10), SQRT(16)",
            "2.6|-1.9|-2|2|3|-1|1024|4",
        ),
        (
            "SELECT FORMAT(1234567.891, 2), HEX(255), HEX('AB'), BIN(5), CONV_OK FROM (SELECT 1 AS CONV_OK) x",
            "1,234,567.89|FF|4142|101|1",
        ),
        (
            "SELECT GREATEST(1, 3, 2), LEAST(2, 1), FIELD('b', 'a', 'b'), ELT(2, 'x', 'y'), FIND_IN_SET('b', 'a,b')",
            "3|1|2|y|2",
        ),
        (
            "SELECT DATE_ADD('2024-01-31', INTERVAL 1 MONTH), '2024-03-01' - INTERVAL 1 DAY, DATEDIFF('2024-03-01', '2024-02-01')",
            "2024-02-29|2024-02-29|29",
        ),
        (
            "SELECT YEAR('2024-05-06'), EXTRACT(MONTH FROM '2024-05-06'), DAYNAME('2024-05-06'), DATE_FORMAT('2024-05-06 07:08:09', '%Y/%m/%d %H-%i')",
            "2024|5|Monday|2024/05/06 07-08",
        ),
        (
            "SELECT TIMESTAMPDIFF(HOUR, '2024-01-01', '2024-01-02 01:00:00'), LAST_DAY('2024-02-01'), STRCMP('a', 'b')",
            "25|2024-02-29|-1",
        ),
        (
            "SELECT CAST('12abc' AS SIGNED), CAST(2.6 AS UNSIGNED), CAST('2024-01-02 03:04:05' AS DATE), CAST(1.005 AS CHAR), CONVERT('x' USING utf8mb4)",
            "12|3|2024-01-02|1.005|x",
        ),
        (
            "SELECT 'ABC' LIKE 'a%', 'a_c' LIKE 'a\\_c', 'abc' REGEXP '^A.c$', 'abc' RLIKE 'x', 'a' IN ('b', 'a'), 2 BETWEEN 1 AND 3",
            "1|1|1|0|1|1",
        ),
        (
            "SELECT CASE 2 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END, CASE WHEN 0 THEN 1 ELSE 2 END",
            "two|2",
        ),
        (
            "SELECT LEFT(SHA2('a', 256), 8), CRC32('a')",
            "ca978112|3904355907",
        ),
        (
            "SELECT DATABASE(), SCHEMA(), USER(), CURRENT_USER(), CONNECTION_ID() > 0, VERSION() LIKE '9.7.4-tare%'",
            "test|test|root@localhost|root@localhost|1|1",
        ),
        (
            "SELECT @@session.autocommit, @@global.max_connections, @@version_comment LIKE 'Tare%', @@sql_mode LIKE '%STRICT%'",
            "1|2000|1|1",
        ),
        (
            "SELECT INET_ATON('10.0.0.1'), INET_NTOA(167772161), BIT_COUNT(7), 5 & 3, 5 | 3, 5 ^ 3, ~0 & 7, 1 << 3",
            "167772161|10.0.0.1|3|1|7|6|7|8",
        ),
        (
            "SELECT JSON_EXTRACT('{\"a\": [1, 2]}', '$.a[1]'), FORMAT_BYTES(2048), FORMAT_PICO_TIME(1500)",
            "2|2.00 KiB|1.50 ns",
        ),
        (
            "SELECT FORMAT_BYTES(1), FORMAT_BYTES(-118059162071741143500099), FORMAT_BYTES(POW(2,400)), \
             FORMAT_PICO_TIME(0), FORMAT_PICO_TIME(8.64e21)",
            "   1 bytes|-1.02e+05 EiB|2.24e+102 EiB|  0 ps|1.00e+05 d",
        ),
        (r"SELECT HEX('\a\f\n\%'), MAX (1)", "61660A5C25|1"),
        ("SELECT 1 FROM DUAL WHERE 1", "1"),
    ] {
        assert_eq!(one(&mut conn, sql), expected, "{sql}");
    }
}

#[test]
fn queries() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(10), n INT)",
    );
    exec(
        &mut conn,
        "INSERT INTO t VALUES (1, 'Ann', 5), (2, 'bob', NULL), (3, 'ANN', 7)",
    );
    for (sql, expected) in [
        (
            "SELECT count(*), sum(n), avg(n), min(n), max(n), count(n) FROM t",
            "3|12|6.0000|5|7|2",
        ),
        ("SELECT count(DISTINCT name) FROM t", "2"),
        (
            "SELECT GROUP_CONCAT(id ORDER BY id DESC SEPARATOR '-') FROM t WHERE name = 'ann'",
            "3-1",
        ),
        ("SELECT id FROM t ORDER BY id LIMIT 1, 1", "2"),
        ("SELECT id FROM t ORDER BY id LIMIT 1 OFFSET 2", "3"),
        (
            "SELECT t.id FROM test.t AS t FORCE INDEX (PRIMARY) WHERE test.t.id = 2",
            "",
        ),
        (
            "SELECT x.id FROM t x JOIN t y ON x.id = y.id + 1 WHERE y.name = 'bob'",
            "3",
        ),
        (
            "SELECT (SELECT max(id) FROM t) + 1, EXISTS (SELECT 1 FROM t WHERE id = 9)",
            "4|0",
        ),
        (
            "WITH q AS (SELECT id FROM t WHERE n > 5) SELECT id FROM q",
            "3",
        ),
        (
            "(SELECT id FROM t WHERE id = 1) UNION SELECT 9 ORDER BY RAND() * 0 - id LIMIT 1",
            "9",
        ),
        (
            "SELECT id FROM t WHERE id = 1 UNION ALL SELECT 9 ORDER BY 1 DESC LIMIT 1",
            "9",
        ),
        (
            "SELECT id, row_number() OVER (ORDER BY id DESC) FROM t WHERE id = 3",
            "3|1",
        ),
        (
            "SELECT id FROM t WHERE (id, name) = (2, 'bob') FOR UPDATE",
            "2",
        ),
        (
            "SELECT /*! SQL_NO_CACHE */ /* plain */ id FROM t -- comment\nWHERE id = 1 # more",
            "1",
        ),
        (
            "SELECT name FROM t GROUP BY name HAVING count(*) = 2",
            "Ann",
        ),
    ] {
        if expected.is_empty() {
            // `test.t` has an alias here: both an answer and an error are correct.
            let _ = errno(&mut conn, sql);
            continue;
        }
        assert_eq!(one(&mut conn, sql), expected, "{sql}");
    }
    use mysql::prelude::Queryable;
    let result = conn
        .query_iter("SELECT COUNT(*), id+ 1, t.name, 'lit', id AS x FROM t GROUP BY id")
        .expect("runs");
    let names: Vec<String> = result
        .columns()
        .as_ref()
        .iter()
        .map(|c| c.name_str().into_owned())
        .collect();
    assert_eq!(names, ["COUNT(*)", "id+ 1", "name", "lit", "x"]);
}

#[test]
fn changes() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, k VARCHAR(5), n INT DEFAULT 7, PRIMARY KEY (id), UNIQUE KEY (k)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
    );
    exec(&mut conn, "INSERT INTO t (k) VALUES ('a'), ('b')");
    assert_eq!(
        one(&mut conn, "SELECT LAST_INSERT_ID(), ROW_COUNT()"),
        "1|2"
    );
    exec(&mut conn, "INSERT INTO t VALUES (0, 'c', 1)");
    exec(&mut conn, "INSERT INTO t VALUES (NULL, 'd', 1)");
    assert_eq!(one(&mut conn, "SELECT max(id) FROM t"), "4");
    exec(
        &mut conn,
        "INSERT INTO t (k, n) VALUES ('a', 100) ON DUPLICATE KEY UPDATE n = VALUES(n) + n",
    );
    assert_eq!(one(&mut conn, "SELECT n FROM t WHERE k = 'a'"), "107");
    // VALUES(k) compares by the column's type: texts compare without case.
    exec(
        &mut conn,
        "INSERT INTO t (k) VALUES ('a') ON DUPLICATE KEY UPDATE n = IF(VALUES(k) = 'A' AND VALUES(k) <> 'x', n + 1, 0)",
    );
    assert_eq!(one(&mut conn, "SELECT n FROM t WHERE k = 'a'"), "108");
    exec(&mut conn, "INSERT IGNORE INTO t (k) VALUES ('a'), ('e')");
    exec(&mut conn, "REPLACE INTO t (k, n) VALUES ('b', 9)");
    exec(&mut conn, "INSERT INTO t SET k = 'f', n = 3");
    exec(
        &mut conn,
        "INSERT INTO t (k) SELECT concat(k, '2') FROM t WHERE k IN ('c', 'd')",
    );
    assert_eq!(
        one(&mut conn, "SELECT GROUP_CONCAT(k ORDER BY k) FROM t"),
        "a,b,c,c2,d,d2,e,f"
    );
    exec(
        &mut conn,
        "UPDATE LOW_PRIORITY t SET n = 0 WHERE n IS NOT NULL ORDER BY k LIMIT 2",
    );
    assert_eq!(
        one(
            &mut conn,
            "SELECT GROUP_CONCAT(k ORDER BY k) FROM t WHERE n = 0"
        ),
        "a,b"
    );
    exec(&mut conn, "DELETE LOW_PRIORITY FROM t WHERE n = 0 LIMIT 1");
    assert_eq!(one(&mut conn, "SELECT ROW_COUNT(), count(*) FROM t"), "1|7");
    exec(&mut conn, "TRUNCATE TABLE t");
    exec(&mut conn, "INSERT INTO t (k) VALUES ('z')");
    assert_eq!(one(&mut conn, "SELECT id, n FROM t"), "1|7");
}

#[test]
fn schema_changes() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, a INT UNSIGNED NOT NULL COMMENT 'it''s', b DATETIME DEFAULT CURRENT_TIMESTAMP, KEY ka (a))",
    );
    exec(&mut conn, "INSERT INTO t (a) VALUES (1), (2)");
    exec(
        &mut conn,
        "ALTER TABLE t ADD COLUMN c VARCHAR(9) NOT NULL DEFAULT 'x' AFTER id, ADD UNIQUE KEY uc (a, c), MODIFY a BIGINT UNSIGNED NOT NULL, RENAME COLUMN b TO made",
    );
    let text = &rows(&mut conn, "SHOW CREATE TABLE t")[0][1];
    for line in [
        "`id` bigint NOT NULL AUTO_INCREMENT",
        "`c` varchar(9) NOT NULL DEFAULT 'x'",
        "`a` bigint unsigned NOT NULL",
        "`made` datetime DEFAULT CURRENT_TIMESTAMP",
        "UNIQUE KEY `uc` (`a`,`c`)",
        "KEY `ka` (`a`)",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert_eq!(
        rows(&mut conn, "SELECT id, c, a FROM t ORDER BY id"),
        [["1", "x", "1"], ["2", "x", "2"]]
    );
    // The statement that SHOW CREATE TABLE returns can be run.
    let again = text.replace("`t`", "`again`");
    exec(&mut conn, &again);
    assert_eq!(rows(&mut conn, "SHOW CREATE TABLE again")[0][1], again);
    exec(&mut conn, "CREATE INDEX kc ON t (c)");
    exec(&mut conn, "DROP INDEX kc ON t");
    exec(&mut conn, "ALTER TABLE t DROP COLUMN c, RENAME TO u");
    exec(&mut conn, "CREATE TABLE l LIKE u");
    exec(&mut conn, "CREATE TABLE s AS SELECT a, a + 1 AS b FROM u");
    exec(&mut conn, "RENAME TABLE l TO m");
    exec(&mut conn, "CREATE VIEW v AS SELECT b FROM s WHERE a = 1");
    assert_eq!(one(&mut conn, "SELECT b FROM v"), "2");
    assert_eq!(
        rows(&mut conn, "SHOW TABLES").concat(),
        ["again", "m", "s", "u", "v"]
    );
    exec(&mut conn, "DROP VIEW v");
    exec(&mut conn, "DROP TABLE again, m, s, u");
    exec(&mut conn, "CREATE DATABASE IF NOT EXISTS test");
    exec(&mut conn, "DROP DATABASE test");
    assert_eq!(one(&mut conn, "SELECT DATABASE()"), "NULL");
    assert_eq!(errno(&mut conn, "USE test"), 1049);
    // The statement of mysqldump of MySQL 8.0.16 and later.
    exec(
        &mut conn,
        "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `test` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE \
         utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */",
    );
    exec(&mut conn, "USE test");
    assert_eq!(rows(&mut conn, "SHOW TABLES").len(), 0);
}

#[test]
fn errors_have_mysqls_numbers() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, c INT, e ENUM('a', 'b'))",
    );
    exec(&mut conn, "INSERT INTO t VALUES (1, 1, 1, 'a')");
    for (sql, expected) in [
        ("SELECT * FROM t WHERE", 1064),
        ("COPY t TO 'x'", 1064),
        ("SELECT 'open", 1064),
        ("SELECT ?", 1064),
        ("INSERT INTO t (nope) VALUES (1)", 1054),
        ("USE nope", 1049),
        ("SELECT * FROM nope.t", 1049),
        ("INSERT INTO t VALUES (1, 2, 3, 'b')", 1062),
        ("INSERT INTO t VALUES (2, NULL, 3, 'b')", 1048),
        ("INSERT INTO t VALUES (2, 3)", 1136),
        ("CREATE TABLE t (a INT)", 1050),
        ("CREATE DATABASE test", 1007),
        ("DROP DATABASE nope", 1008),
        ("CREATE TABLE x (a INT, a INT)", 1060),
        ("CREATE TABLE x (a INT, KEY (b))", 1072),
        ("CREATE INDEX i ON t (nope)", 1072),
        ("ALTER TABLE t DROP INDEX nope", 1091),
        ("SELECT nofunction(1)", 1305),
        ("SELECT LEFT('a')", 1582),
        ("SELECT t.id FROM t JOIN t u ON 1 WHERE id = 1", 1052),
        ("SET version = '1'", 1238),
        ("SET autocommit = 7", 1231),
        ("DROP DATABASE performance_schema", 3552),
        ("CREATE TABLE performance_schema.x (a INT)", 1044),
        ("INSERT INTO performance_schema.threads VALUES (1)", 1142),
        ("DELETE FROM performance_schema.setup_consumers", 1142),
        ("CREATE DATABASE `../x`", 1102),
        ("CREATE DATABASE x ENCRYPTION = 'Y'", 1235),
    ] {
        assert_eq!(errno(&mut conn, sql), expected, "{sql}");
        assert_eq!(
            one(&mut conn, "SELECT 1"),
            "1",
            "the session goes on after {sql}"
        );
    }
    let mut no_database = running.root();
    assert_eq!(errno(&mut no_database, "SELECT * FROM t"), 1046);
}

#[test]
fn a_database_of_another_program_is_readable() {
    let running = Running::start();
    let path = running.directory.path().join("foreign.db");
    let db = rusqlite::Connection::open(path).expect("opens");
    db.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, x REAL, n); INSERT INTO t VALUES (1, 'a', 1.5, NULL)").expect("filled");
    drop(db);
    let mut conn = running.root();
    assert_eq!(one(&mut conn, "SELECT * FROM foreign.t"), "1|a|1.5|NULL");
    exec(&mut conn, "INSERT INTO foreign.t (v) VALUES ('b')");
    assert_eq!(rows(&mut conn, "DESCRIBE foreign.t").len(), 4);
}

/// Its indexes of some rows or of expressions are no keys, but they still hold.
#[test]
fn insert_ignore_obeys_the_indexes_of_another_program() {
    let running = Running::start();
    let path = running.directory.path().join("foreign.db");
    let db = rusqlite::Connection::open(path).expect("opens");
    db.execute_batch(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w TEXT, on_hand INT);
         CREATE UNIQUE INDEX some ON t (v) WHERE on_hand;
         CREATE UNIQUE INDEX lower ON t (lower(w));
         CREATE UNIQUE INDEX nocase ON t (v COLLATE NOCASE, w);
         INSERT INTO t VALUES (1, 'a', 'a', 1);
         CREATE TABLE par (id INTEGER PRIMARY KEY);
         CREATE TABLE ch (p INTEGER REFERENCES par (id));",
    )
    .expect("filled");
    drop(db);
    let mut conn = running.root();
    for (row, expected) in [
        ("1, 'b', 'b', 1", "0"),
        ("2, 'a', 'b', 1", "0"),
        ("2, 'b', 'A', 1", "0"),
        ("2, 'a', 'b', 0", "1"),
        ("3, 'A', 'b', 0", "0"),
    ] {
        exec(
            &mut conn,
            &format!("INSERT IGNORE INTO foreign.t VALUES ({row})"),
        );
        assert_eq!(conn.affected_rows().to_string(), expected, "{row}");
    }
    let keys = "SELECT GROUP_CONCAT(INDEX_NAME, ' ', NON_UNIQUE ORDER BY INDEX_NAME, SEQ_IN_INDEX) \
                FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'foreign' AND TABLE_NAME = 't'";
    assert_eq!(one(&mut conn, keys), "nocase 0,nocase 0,PRIMARY 0,some 1");
    // Its foreign keys have no names.
    exec(&mut conn, "INSERT INTO foreign.par VALUES (1)");
    assert_eq!(errno(&mut conn, "INSERT INTO foreign.ch VALUES (9)"), 1452);
}

#[test]
fn only_full_group_by_refuses_undetermined_columns() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE g (id INT PRIMARY KEY, name VARCHAR(10), n INT)",
    );
    exec(&mut conn, "INSERT INTO g VALUES (1, 'a', 1), (2, 'a', 2)");
    for (sql, expected) in [
        ("SELECT id, COUNT(*) FROM g", 1140),
        ("SELECT name, n FROM g GROUP BY name", 1055),
        (
            "SELECT thread_id, COUNT(*) FROM performance_schema.threads",
            1140,
        ),
        (
            "SELECT name, processlist_id, COUNT(*) FROM performance_schema.threads GROUP BY name",
            1055,
        ),
        ("SELECT * FROM (SELECT id, n AS id FROM g) d", 1060),
    ] {
        assert_eq!(errno(&mut conn, sql), expected, "{sql}");
    }
    for sql in [
        // The key determines the row, and a condition the column.
        "SELECT id, name, COUNT(*) FROM g GROUP BY id",
        "SELECT n, COUNT(*) FROM g WHERE n = 1",
        "SELECT name AS x, COUNT(*) FROM g GROUP BY x",
        "SELECT id, (SELECT COUNT(*) FROM g h WHERE h.n = g.n) FROM g",
        "SELECT ANY_VALUE(id), name FROM g GROUP BY name",
        "SELECT thread_id, name FROM performance_schema.threads GROUP BY thread_id",
        "SELECT type, COUNT(*) FROM performance_schema.threads GROUP BY type",
        "SELECT * FROM (SELECT * FROM g JOIN g h USING (id, name, n)) d",
    ] {
        exec(&mut conn, sql);
    }
    exec(&mut conn, "SET sql_mode = ''");
    exec(&mut conn, "SELECT name, n FROM g GROUP BY name");
}
