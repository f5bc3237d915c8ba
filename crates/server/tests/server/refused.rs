//! Errors of wrong statements: MySQL's numbers and messages.

use mysql::prelude::Queryable;

use super::support::{Running, errno, exec, one};

#[test]
fn error_messages_are_mysqls() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (id INT PRIMARY KEY, n INT)");
    exec(&mut conn, "CREATE TABLE u (id INT PRIMARY KEY)");
    const SYNTAX: &str = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near ";
    for (sql, code, message) in [
        ("SELEC 1", 1064, format!("{SYNTAX}'SELEC 1' at line 1")),
        ("SELECT 1,, 2", 1064, format!("{SYNTAX}', 2' at line 1")),
        ("SELECT 1\nFROM t\nWHERE", 1064, format!("{SYNTAX}'' at line 3")),
        ("SELECT * FORM t", 1064, format!("{SYNTAX}'FORM t' at line 1")),
        ("SHOW NONSENSE", 1064, format!("{SYNTAX}'NONSENSE' at line 1")),
        ("SELECT id FROM t LIMIT -1", 1064, format!("{SYNTAX}'-1' at line 1")),
        ("SELECT nope FROM t", 1054, "Unknown column 'nope' in 'field list'".into()),
        ("SELECT t.nope FROM t", 1054, "Unknown column 't.nope' in 'field list'".into()),
        ("SELECT id FROM t WHERE nope = 1", 1054, "Unknown column 'nope' in 'where clause'".into()),
        ("SELECT id FROM t ORDER BY nope", 1054, "Unknown column 'nope' in 'order clause'".into()),
        ("SELECT id FROM t GROUP BY nope", 1054, "Unknown column 'nope' in 'group statement'".into()),
        ("SELECT id FROM t HAVING nope > 1", 1054, "Unknown column 'nope' in 'having clause'".into()),
        ("SELECT t.id FROM t JOIN u ON t.nope = u.id", 1054, "Unknown column 't.nope' in 'on clause'".into()),
        ("SELECT id FROM t ORDER BY 5", 1054, "Unknown column '5' in 'order clause'".into()),
        ("UPDATE t SET nope = 1", 1054, "Unknown column 'nope' in 'field list'".into()),
        ("INSERT INTO t (nope) VALUES (1)", 1054, "Unknown column 'nope' in 'field list'".into()),
        ("SELECT id FROM t JOIN u", 1052, "Column 'id' in field list is ambiguous".into()),
        ("SELECT t.id FROM t JOIN u ON t.id = u.id WHERE id = 1", 1052, "Column 'id' in where clause is ambiguous".into()),
        ("SELECT * FROM t, t", 1066, "Not unique table/alias: 't'".into()),
        ("SELECT * FROM (SELECT 1)", 1248, "Every derived table must have its own alias".into()),
        ("SELECT u.* FROM t", 1051, "Unknown table 'u'".into()),
        ("SELECT *", 1096, "No tables used".into()),
        ("SELECT nofunc(1)", 1305, "FUNCTION test.nofunc does not exist".into()),
        ("SELECT sqlite_version()", 1305, "FUNCTION test.sqlite_version does not exist".into()),
        ("SELECT other.f(1)", 1305, "FUNCTION other.f does not exist".into()),
        ("SELECT SUBSTRING_INDEX('a')", 1582, "Incorrect parameter count in the call to native function 'SUBSTRING_INDEX'".into()),
        ("SELECT (SELECT 1, 2)", 1241, "Operand should contain 1 column(s)".into()),
        ("SELECT @@nope", 1193, "Unknown system variable 'nope'".into()),
        ("SET GLOBAL nope = 1", 1193, "Unknown system variable 'nope'".into()),
        ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", 1231, "Variable 'sql_mode' can't be set to the value of 'NO_BACKSLASH_ESCAPES'".into()),
        ("SET sql_mode = 'ANSI,HIGH_NOT_PRECEDENCE'", 1231, "Variable 'sql_mode' can't be set to the value of 'HIGH_NOT_PRECEDENCE'".into()),
        ("SET sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_CREATE_USER'", 1231, "Variable 'sql_mode' can't be set to the value of 'NO_AUTO_CREATE_USER'".into()),
        ("SELECT DATE'abc'", 1525, "Incorrect DATE value: 'abc'".into()),
        ("SELECT DATE'2026-02-30'", 1525, "Incorrect DATE value: '2026-02-30'".into()),
        ("SELECT DATE'2026-00-10'", 1525, "Incorrect DATE value: '2026-00-10'".into()),
        ("SELECT DATE'2026-02-28 10:00:00'", 1525, "Incorrect DATE value: '2026-02-28 10:00:00'".into()),
        ("SET @v = DATE'2026-00-10'", 1525, "Incorrect DATE value: '2026-00-10'".into()),
        ("SELECT TIMESTAMP'2026-02-08 10:00:00+02:00'", 1235, "This version of Tare doesn't yet support 'TIMESTAMP with a time zone offset'".into()),
        ("SELECT TIME''", 1525, "Incorrect TIME value: ''".into()),
        ("SELECT TIME'839:00:00'", 1525, "Incorrect TIME value: '839:00:00'".into()),
        ("SELECT TIME'2026-02-08 10:00:00'", 1525, "Incorrect TIME value: '2026-02-08 10:00:00'".into()),
        ("SELECT 1 WHERE TIMESTAMP'2026-02-08' = 1", 1525, "Incorrect DATETIME value: '2026-02-08'".into()),
        ("SELECT TIMESTAMP'0000-00-00 00:00:00'", 1525, "Incorrect DATETIME value: '0000-00-00 00:00:00'".into()),
        ("SELECT TIMESTAMP'2026-02-08 10:00:00x'", 1525, "Incorrect DATETIME value: '2026-02-08 10:00:00x'".into()),
        ("SET sql_mode = 4294967295", 3899, "sql_mode=0x1003ff00 is not supported.".into()),
        ("SET sql_mode = 256 + 1", 3899, "sql_mode=0x00000100 is not supported.".into()),
        ("SET sql_mode = 18446744073709551615", 1231, "Variable 'sql_mode' can't be set to the value of '18446744073709551615'".into()),
        ("SET sql_mode = -1", 1231, "Variable 'sql_mode' can't be set to the value of '-1'".into()),
        ("SET sql_mode = '1'", 1231, "Variable 'sql_mode' can't be set to the value of '1'".into()),
        ("SET sql_mode = 'NO_TABLE_OPTIONS'", 1231, "Variable 'sql_mode' can't be set to the value of 'NO_TABLE_OPTIONS'".into()),
        ("SET default_storage_engine = nonsense", 1286, "Unknown storage engine 'nonsense'".into()),
        ("SET default_tmp_storage_engine = 'nonsense'", 1286, "Unknown storage engine 'nonsense'".into()),
        ("CREATE TABLE no_such (a INT) ENGINE = nonsense", 1286, "Unknown storage engine 'nonsense'".into()),
        ("ALTER TABLE no_such ENGINE = nonsense", 1286, "Unknown storage engine 'nonsense'".into()),
        ("ALTER TABLE no_such ENGINE = InnoDB", 1146, "Table 'test.no_such' doesn't exist".into()),
        ("ALTER TABLE no_such COLLATE nope", 1273, "Unknown collation: 'nope'".into()),
        ("ALTER TABLE no_such CONVERT TO CHARACTER SET nope", 1115, "Unknown character set: 'nope'".into()),
        ("SELECT PASSWORD('a'), 2", 1064, format!("{SYNTAX}'('a'), 2' at line 1")),
        ("SELECT 1 FROM t WHERE Host (id) = 1", 1064, format!("{SYNTAX}'(id) = 1' at line 1")),
        ("SELECT OLD_PASSWORD('a')", 1305, "FUNCTION test.OLD_PASSWORD does not exist".into()),
        ("RESET MASTER", 1064, format!("{SYNTAX}'MASTER' at line 1")),
        ("RESET\nSLAVE ALL", 1064, format!("{SYNTAX}'SLAVE ALL' at line 2")),
        ("CHANGE MASTER TO MASTER_HOST = 'x'", 1064, format!("{SYNTAX}'MASTER TO MASTER_HOST = 'x'' at line 1")),
        ("PURGE MASTER LOGS TO 'x'", 1064, format!("{SYNTAX}'MASTER LOGS TO 'x'' at line 1")),
        ("START SLAVE", 1064, format!("{SYNTAX}'SLAVE' at line 1")),
        ("CREATE TABLE no_such ENGINE = 'nope' AS SELECT 1 AS a", 1286, "Unknown storage engine 'nope'".into()),
        ("DROP PROCEDURE p", 1305, "PROCEDURE test.p does not exist".into()),
        ("DROP FUNCTION other.f", 1305, "FUNCTION other.f does not exist".into()),
        ("DROP TRIGGER g", 1360, "Trigger does not exist".into()),
        ("DROP EVENT e", 1539, "Unknown event 'e'".into()),
        ("DROP PROCEDURE IF EXISTS sys.ps_setup_save", 1044, "Access denied for user 'root'@'localhost' to database 'sys'".into()),
        ("SET sql_mode = 'NONSENSE'", 1231, "Variable 'sql_mode' can't be set to the value of 'NONSENSE'".into()),
        ("SET time_zone = 'nowhere'", 1298, "Unknown or incorrect time zone: 'nowhere'".into()),
        ("SET NAMES nope", 1115, "Unknown character set: 'nope'".into()),
        ("SET NAMES utf8mb4 COLLATE nope", 1273, "Unknown collation: 'nope'".into()),
        ("SET NAMES utf8mb4 COLLATE latin1_swedish_ci", 1253, "COLLATION 'latin1_swedish_ci' is not valid for CHARACTER SET 'utf8mb4'".into()),
        ("SELECT id INTO @a FROM (SELECT 1 AS id UNION SELECT 2) q", 1172, "Result consisted of more than one row".into()),
        ("SELECT id INTO @a, @b FROM (SELECT 1 AS id) q", 1222, "The used SELECT statements have a different number of columns".into()),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", 1290, "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement".into()),
        ("EXECUTE nope", 1243, "Unknown prepared statement handler (nope) given to EXECUTE".into()),
        ("SHOW ENGINE nope STATUS", 1286, "Unknown storage engine 'nope'".into()),
        ("SHOW BINARY LOGS", 1381, "You are not using binary logging".into()),
        ("SHOW CREATE VIEW t", 1347, "'test.t' is not VIEW".into()),
        ("SHOW GRANTS FOR nobody", 1141, "There is no such grant defined for user 'nobody' on host '%'".into()),
        ("CREATE TABLE performance_schema.x (a INT)", 1044, "Access denied for user 'root'@'localhost' to database 'performance_schema'".into()),
        ("ALTER TABLE performance_schema.threads ADD COLUMN a INT", 1044, "Access denied for user 'root'@'localhost' to database 'performance_schema'".into()),
        ("DROP TABLE performance_schema.threads", 1142, "DROP command denied to user 'root'@'localhost' for table 'threads'".into()),
        ("DELETE FROM performance_schema.threads", 1142, "DELETE command denied to user 'root'@'localhost' for table 'threads'".into()),
        ("CREATE TABLE no_such (a INT) ENGINE = performance_schema", 1683, "Invalid performance_schema usage.".into()),
        ("CREATE TABLE no_such LIKE performance_schema.threads", 1683, "Invalid performance_schema usage.".into()),
        ("LOCK TABLE performance_schema.no_such READ", 1146, "Table 'performance_schema.no_such' doesn't exist".into()),
        ("UPDATE performance_schema.setup_consumers SET NAME = 'x'", 1683, "Invalid performance_schema usage.".into()),
    ] {
        match conn.query_drop(sql) {
            Err(mysql::Error::MySqlError(e)) => {
                assert_eq!((e.code, e.message.as_str()), (code, message.as_str()), "{sql}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
    assert_eq!(one(&mut conn, "SELECT 1"), "1");
}

/// Statements cut, joined and changed at random: each gets an answer, and no session panics.
#[test]
fn no_statement_breaks_the_dialect() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, n INT, v VARCHAR(10))",
    );
    exec(&mut conn, "INSERT INTO t VALUES (1, 2, 'a'), (2, 3, 'b')");
    let corpus = [
        "SELECT id, COUNT(*) c FROM t WHERE v LIKE 'a%' ESCAPE '|' GROUP BY id WITH ROLLUP HAVING c > 1 ORDER BY 1 LIMIT 1, 2",
        "SELECT DATE_ADD(NOW(), INTERVAL '1:2' MINUTE_SECOND), EXTRACT(YEAR_MONTH FROM NOW()), INTERVAL(1, 2, 3)",
        "(SELECT 1 UNION ALL SELECT 2 ORDER BY 1 LIMIT 1) UNION (SELECT id FROM t)",
        "WITH RECURSIVE q(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM q WHERE n < 3) SELECT * FROM q JOIN t ON t.id = q.n",
        "SELECT GROUP_CONCAT(DISTINCT v ORDER BY v DESC SEPARATOR ';'), CAST(n AS DECIMAL(10,2)), CONVERT(v, CHAR(2)) FROM t",
        "UPDATE t, t AS u SET t.n = u.n + 1, t.v = DEFAULT WHERE t.id = u.id ORDER BY 1 LIMIT 1",
        "INSERT INTO t (id, n) VALUES (1, DEFAULT(n)) ON DUPLICATE KEY UPDATE n = VALUES(n), v = DEFAULT",
        "DELETE t FROM t JOIN t AS u USING (id) WHERE u.v <=> NULL",
        "SELECT !BINARY 'a' SOUNDS LIKE -(1), x'41', b'01', @a := 1, @@session.sql_mode, _utf8mb4'x' COLLATE utf8mb4_bin",
        "SHOW FULL COLUMNS FROM t FROM test WHERE Field = 'id'",
        "SET @@session.sql_mode = 'ANSI', @a = (SELECT MAX(id) FROM t), NAMES utf8mb4 COLLATE utf8mb4_bin",
        "EXPLAIN FORMAT=JSON SELECT JSON_SET('{}', '$.a[0]**.b', 1) -> '$.a'",
    ];
    // A recursion without its end would be endless.
    exec(&mut conn, "SET max_execution_time = 50");
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n.max(1) as u64) as usize
    };
    let words: Vec<&str> = corpus.iter().flat_map(|s| s.split(' ')).collect();
    let rounds = if std::env::var_os("TARE_TEST_LONG").is_some() {
        50_000
    } else {
        400
    };
    for _ in 0..rounds {
        let mut parts: Vec<&str> = corpus[random(corpus.len())].split(' ').collect();
        for _ in 0..=random(4) {
            let at = random(parts.len());
            match random(4) {
                0 => {
                    parts.remove(at);
                }
                1 => parts.insert(at, words[random(words.len())]),
                2 => parts[at] = words[random(words.len())],
                _ => parts.truncate(at.max(1)),
            }
            if parts.is_empty() {
                parts.push("SELECT");
            }
        }
        let sql = parts.join(" ");
        if let Err(other @ (mysql::Error::IoError(_) | mysql::Error::DriverError(_))) =
            conn.query_drop(&sql)
        {
            panic!("the session ended: {other}\n{sql}");
        }
    }
    let mut other = running.client();
    assert_eq!(
        one(
            &mut other,
            "SHOW GLOBAL STATUS LIKE 'Connection_errors_internal'"
        ),
        "Connection_errors_internal|0"
    );
}

/// Expected: MySQL 9.7.4. ORMs read the values and the key.
#[test]
fn duplicates_name_the_values_and_the_key() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE d (k INT, n VARCHAR(9), w INT, PRIMARY KEY (k, n), UNIQUE KEY u_w (w))",
    );
    exec(&mut conn, "INSERT INTO d VALUES (1, 'a', 2)");
    for (sql, expected) in [
        (
            "INSERT INTO d VALUES (1, 'a', 3)",
            "Duplicate entry '1-a' for key 'd.PRIMARY'",
        ),
        (
            "INSERT INTO d VALUES (5, 'x', 6), (1, 'b', 1 + 1)",
            "Duplicate entry '2' for key 'd.u_w'",
        ),
    ] {
        let error = conn.query_drop(sql).expect_err("a duplicate");
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
    let prepared = conn
        .prep("INSERT INTO d VALUES (?, ?, ?)")
        .expect("prepared");
    let error = conn
        .exec_drop(&prepared, (7, "y", 2))
        .expect_err("a duplicate");
    assert!(error.to_string().contains("'2' for key 'd.u_w'"), "{error}");
    // The statement has changed nothing, in a transaction either.
    exec(&mut conn, "BEGIN");
    exec(&mut conn, "INSERT INTO d VALUES (8, 'z', 9)");
    assert_eq!(errno(&mut conn, "INSERT INTO d VALUES (8, 'z', 10)"), 1062);
    exec(&mut conn, "COMMIT");
    assert_eq!(one(&mut conn, "SELECT COUNT(*), MAX(w) FROM d"), "2|9");
    // It runs once: the lock is taken once.
    let locking = "INSERT INTO d VALUES (1, 'a', GET_LOCK('once', 0))";
    assert_eq!(errno(&mut conn, locking), 1062);
    assert_eq!(one(&mut conn, "SELECT RELEASE_ALL_LOCKS()"), "1");
}

/// Statements that MySQL 9.7.4 parses (`SELECT STATEMENT_DIGEST_TEXT('...')` has no error there) and Tare
/// does not have.
const MISSING: &[&str] = &[
    "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x'",
    "RESIGNAL",
    "GET DIAGNOSTICS @n = NUMBER",
    "GET CURRENT DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT",
    "GET STACKED DIAGNOSTICS @n = NUMBER",
    "CREATE PROCEDURE p() SELECT 1",
    "CREATE DEFINER = 'root'@'localhost' PROCEDURE p() SELECT 1",
    "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
    "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'",
    "CREATE AGGREGATE FUNCTION f RETURNS STRING SONAME 'x.so'",
    "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
    "CREATE DEFINER = CURRENT_USER TRIGGER IF NOT EXISTS g AFTER DELETE ON t FOR EACH ROW SET @a = 1",
    "CREATE EVENT e ON SCHEDULE EVERY 1 HOUR DO SELECT 1",
    "ALTER EVENT e DISABLE",
    "ALTER PROCEDURE p COMMENT 'x'",
    "ALTER FUNCTION f COMMENT 'x'",
    "HANDLER t OPEN",
    "HANDLER t READ FIRST",
    "HANDLER t CLOSE",
    "LOAD DATA INFILE '/tmp/x' INTO TABLE t",
    "LOAD DATA LOCAL INFILE '/tmp/x' INTO TABLE t FIELDS TERMINATED BY ','",
    "LOAD XML INFILE '/tmp/x' INTO TABLE t",
    "LOAD INDEX INTO CACHE t",
    "CACHE INDEX t IN k",
    "UPDATE IGNORE t SET a = 1",
    "UPDATE LOW_PRIORITY IGNORE t SET a = 1",
    "DELETE IGNORE FROM t",
    "XA START 'x'",
    "XA BEGIN 'x'",
    "XA END 'x'",
    "XA PREPARE 'x'",
    "XA COMMIT 'x' ONE PHASE",
    "XA ROLLBACK 'x'",
    "XA RECOVER",
    "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x'",
    "CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d)",
    "START REPLICA",
    "STOP REPLICA",
    "RESET REPLICA",
    "RESET BINARY LOGS AND GTIDS",
    "RESET PERSIST",
    "START GROUP_REPLICATION",
    "STOP GROUP_REPLICATION",
    "PURGE BINARY LOGS TO 'x'",
    "BINLOG 'x'",
    "CLONE LOCAL DATA DIRECTORY '/tmp/x'",
    "INSTALL PLUGIN p SONAME 'p.so'",
    "UNINSTALL PLUGIN p",
    "INSTALL COMPONENT 'file://c'",
    "UNINSTALL COMPONENT 'file://c'",
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')",
    "ALTER SERVER s OPTIONS (HOST 'x')",
    "DROP SERVER s",
    "CREATE TABLESPACE ts ADD DATAFILE 'ts.ibd'",
    "ALTER TABLESPACE ts RENAME TO tt",
    "DROP TABLESPACE ts",
    "CREATE UNDO TABLESPACE u ADD DATAFILE 'u.ibu'",
    "ALTER UNDO TABLESPACE u SET INACTIVE",
    "DROP UNDO TABLESPACE u",
    "CREATE LOGFILE GROUP g ADD UNDOFILE 'x' ENGINE = NDB",
    "ALTER LOGFILE GROUP g ADD UNDOFILE 'x' ENGINE = NDB",
    "DROP LOGFILE GROUP g ENGINE = NDB",
    "CREATE RESOURCE GROUP g TYPE = USER",
    "ALTER RESOURCE GROUP g VCPU = 0",
    "SET RESOURCE GROUP g",
    "DROP RESOURCE GROUP g",
    "CREATE SPATIAL REFERENCE SYSTEM 9999 NAME 'x' DEFINITION 'y'",
    "DROP SPATIAL REFERENCE SYSTEM 9999",
    "CREATE ROLE r",
    "DROP ROLE r",
    "SET ROLE NONE",
    "SET DEFAULT ROLE NONE TO root@localhost",
    "ALTER INSTANCE ROTATE INNODB MASTER KEY",
    "ALTER DATABASE test READ ONLY = 0",
    "ALTER SCHEMA test READ ONLY = 0",
    "ALTER VIEW v AS SELECT 1",
    "LOCK INSTANCE FOR BACKUP",
    "UNLOCK INSTANCE",
    "IMPORT TABLE FROM '/tmp/x.sdi'",
    "CHECKSUM TABLE t",
    "REPAIR TABLE t",
    "RESTART",
    "CREATE LIBRARY l LANGUAGE JAVASCRIPT AS $$ 1 $$",
    "ALTER LIBRARY l COMMENT 'x'",
    "DROP LIBRARY l",
    "CREATE JSON RELATIONAL DUALITY VIEW v AS SELECT JSON_DUALITY_OBJECT('a': a) FROM t",
];

#[test]
fn a_missing_statement_is_named() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in MISSING {
        let Err(mysql::Error::MySqlError(error)) = conn.query_drop(sql) else {
            panic!("{sql} is no error");
        };
        assert_eq!(error.code, 1235, "{sql}: {}", error.message);
        // The message has the first words of the statement.
        let name = error.message.split('\'').nth(2).unwrap_or_default();
        let first = |text: &str| text.split([' ', '(']).next().unwrap_or_default().to_owned();
        assert_eq!(first(name), first(sql), "{sql}: {}", error.message);
    }
    // Others are still syntax errors.
    for sql in [
        "SIGNALS",
        "CREATE NONSENSE",
        "XA NONSENSE",
        "GET NONSENSE",
        "UPDATE OR IGNORE t SET a = 1",
        "UPDATE OR REPLACE t SET a = 1",
        "UPDATE IGNORED OR t SET a = 1",
    ] {
        assert_eq!(super::support::errno(&mut conn, sql), 1064, "{sql}");
    }
    for sql in [
        "SELECT ST_AsText(1)",
        "SELECT AES_ENCRYPT('a', 'b')",
        "SELECT GTID_SUBSET('', '')",
    ] {
        assert_eq!(super::support::errno(&mut conn, sql), 1235, "{sql}");
    }
}
