//! SELECT: headings, types and rows are MySQL's.

use mysql::consts::ColumnType::*;
use mysql::prelude::Queryable;

use super::support::{Running, errno, exec, one, rows};

fn filled(running: &Running) -> mysql::Conn {
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20), n INT, b BIGINT UNSIGNED, d DATETIME, x DOUBLE, m DECIMAL(10,2))",
        "INSERT INTO t VALUES (1,'Ann',5,10,'2024-01-02 03:04:05',1.5,2.50),(2,'bob',NULL,20,'2024-02-03 04:05:06',2.25,3.75),(3,'ANN',7,30,'2024-03-04 05:06:07',0.1,9.99)",
        "CREATE TABLE u (id INT PRIMARY KEY, t_id INT, v VARCHAR(10), KEY (t_id))",
        "INSERT INTO u VALUES (1,1,'a'),(2,1,'b'),(3,2,'c'),(4,9,'d')",
    ] {
        exec(&mut conn, sql);
    }
    conn
}

/// The rows of a statement, with columns joined by `|` and rows by a space.
fn all(conn: &mut mysql::Conn, sql: &str) -> String {
    let rows: Vec<String> = rows(conn, sql).into_iter().map(|r| r.join("|")).collect();
    rows.join(" ")
}

#[test]
fn rows_are_mysqls() {
    let running = Running::start();
    let mut conn = filled(&running);
    for (sql, expected) in [
        // Types and digits of numbers.
        (
            "SELECT 1/3, 1/3*3, 10/4, 1.5*2, 1.50+1, 2.5 % 2, 0.1+0.2",
            "0.3333|1.0000|2.5000|3.0|2.50|0.5|0.3",
        ),
        (
            "SELECT 5+'5', '5'=5, '5abc'=5, 'a'='A', 1 XOR NULL, !1, ~0",
            "10|1|1|1|NULL|0|18446744073709551615",
        ),
        (
            "SELECT ROUND(2.567,1), ROUND(-2.5), ROUND(1234,-2), TRUNCATE(2.567,1), CAST(-1 AS UNSIGNED)",
            "2.6|-3|1200|2.5|18446744073709551615",
        ),
        (
            "SELECT SUM(n), AVG(n), AVG(m), SUM(m), SUM(b), MAX(b) - MIN(b) FROM t",
            "12|6.0000|5.413333|16.24|60|20",
        ),
        (
            "SELECT b/3, m*2, m+1, m/2 FROM t WHERE id = 1",
            "3.3333|5.00|3.50|1.250000",
        ),
        (
            "SELECT 1 = '1', '1.0' = 1, 'abc' + 1, 0x41 + 0, 0b101 + 0",
            "1|1|1|65|5",
        ),
        // Texts compare without case.
        (
            "SELECT id FROM t WHERE UPPER(name) = 'ann' ORDER BY id",
            "1 3",
        ),
        ("SELECT COUNT(*) FROM t WHERE name = BINARY 'ANN'", "1"),
        (
            "SELECT COUNT(*) FROM t GROUP BY CONCAT(name, '') ORDER BY 1",
            "1 2",
        ),
        ("SELECT COUNT(*) FROM t WHERE name IN ('ann', 'BOB')", "3"),
        ("SELECT COUNT(*) FROM t WHERE name > 5", "0"),
        ("SELECT COUNT(*) FROM t WHERE id = '1abc'", "1"),
        ("SELECT COUNT(*) FROM t HAVING COUNT(*) = '3'", "3"),
        (
            "SELECT variable_value + 0 > 9 FROM performance_schema.global_variables WHERE variable_name = 'max_connections' AND variable_value > 9",
            "1",
        ),
        // Functions.
        (
            "SELECT SUBSTRING_INDEX('a.b.c','.',2), SUBSTRING_INDEX('a.b.c','.',-1), CONV('ff',16,10), UNHEX('4142'), INSERT('abcdef',2,2,'XX')",
            "a.b|c|255|AB|aXXdef",
        ),
        (
            "SELECT STR_TO_DATE('02,1,2024','%d,%m,%Y'), EXTRACT(YEAR_MONTH FROM '2024-05-06'), MAKEDATE(2024,60), ADDTIME('10:00:00','00:30:00'), FROM_DAYS(739000)",
            "2024-01-02|202405|2024-02-29|10:30:00|2023-04-25",
        ),
        (
            "SELECT DATE_ADD('2024-01-01', INTERVAL '1:30' MINUTE_SECOND), INTERVAL 1 DAY + '2024-01-01', '2024-01-01' - INTERVAL (1 + 1) HOUR",
            "2024-01-01 00:01:30|2024-01-02|2023-12-31 22:00:00",
        ),
        (
            "SELECT INTERVAL(5,1,3,7), CHAR(65 USING utf8mb4), TIMESTAMP('2024-01-01','10:00:00'), TO_BASE64('abc'), SOUNDEX('hello')",
            "2|A|2024-01-01 10:00:00|YWJj|H400",
        ),
        (
            "SELECT BIT_AND(n), BIT_OR(n), BIT_XOR(n), STD(n), VAR_SAMP(n) FROM t",
            "5|7|2|1|2",
        ),
        (
            "SELECT JSON_OBJECT('bb', 1, 'a', '[1]'), JSON_EXTRACT('{\"a\": {\"b\": [1, 2]}}', '$.a.b[1]'), JSON_UNQUOTE('\"x\"'), JSON_UNQUOTE(JSON_EXTRACT('{\"a\": \"x\"}', '$.a'))",
            "{\"a\": \"[1]\", \"bb\": 1}|2|x|x",
        ),
        (
            "SELECT JSON_SET('{\"a\": 1}', '$.b', 2), JSON_REMOVE('[1, 2]', '$[0]'), JSON_CONTAINS('[1, 2]', '1'), JSON_ARRAYAGG(id) FROM u",
            "{\"a\": 1, \"b\": 2}|[2]|1|[1, 2, 3, 4]",
        ),
        (
            "SELECT REGEXP_REPLACE('abc','b','X'), REGEXP_SUBSTR('abc','b.'), REGEXP_INSTR('abc','c'), 'abc' NOT REGEXP 'x'",
            "aXc|bc|3|1",
        ),
        (
            "SELECT GET_LOCK('a',1), IS_FREE_LOCK('a'), RELEASE_LOCK('a'), RELEASE_LOCK('a')",
            "1|0|1|NULL",
        ),
        (
            "SELECT CURRENT_USER, UTC_DATE() = UTC_DATE, CHARSET('a'), COLLATION(X'41')",
            "root@localhost|1|utf8mb4|binary",
        ),
        (
            "SELECT UPPER('é'), 'Robert' SOUNDS LIKE 'rupert', 2 MEMBER OF('[1, 2]')",
            "É|1|1",
        ),
        // Groups.
        (
            "SELECT COUNT(DISTINCT name, n), GROUP_CONCAT(DISTINCT name ORDER BY name DESC SEPARATOR ';') FROM t",
            "2|bob;Ann",
        ),
        (
            "SELECT v, GROUPING(v), COUNT(*) FROM u WHERE id < 3 GROUP BY v WITH ROLLUP",
            "a|0|1 b|0|1 NULL|1|2",
        ),
        (
            "SELECT t_id, v, SUM(id) s FROM u WHERE id < 4 GROUP BY t_id, v WITH ROLLUP HAVING s > 2",
            "1|NULL|3 2|c|3 2|NULL|3 NULL|NULL|6",
        ),
        ("SELECT SUM(n) n FROM t GROUP BY name HAVING n > 1", "12"),
        ("SELECT id, n * 2 AS twice FROM t HAVING twice > 10", "3|14"),
        (
            "SELECT name, COUNT(*) c FROM t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1",
            "Ann|2",
        ),
        // Joins and subqueries.
        (
            "SELECT t.id, u.v FROM t RIGHT JOIN u ON u.t_id = t.id ORDER BY u.id",
            "1|a 1|b 2|c NULL|d",
        ),
        (
            "SELECT id, name, v FROM t NATURAL JOIN u ORDER BY id LIMIT 1",
            "1|Ann|a",
        ),
        (
            "SELECT STRAIGHT_JOIN t.id FROM t, u WHERE u.t_id = t.id ORDER BY u.id",
            "1 1 2",
        ),
        (
            "SELECT id FROM t WHERE id > ALL (SELECT id FROM u WHERE id < 3)",
            "3",
        ),
        (
            "SELECT id FROM t WHERE id = ANY (SELECT t_id FROM u) ORDER BY id",
            "1 2",
        ),
        (
            "SELECT id FROM t WHERE id > ALL (SELECT id FROM u WHERE id > 99) ORDER BY id",
            "1 2 3",
        ),
        (
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT SUM(n) FROM c",
            "15",
        ),
        (
            "SELECT * FROM (SELECT id / 3 q, SUM(b) s FROM t GROUP BY id) z WHERE z.s = '10'",
            "0.3333|10",
        ),
        // Unions and parentheses.
        (
            "(SELECT id FROM t ORDER BY id DESC LIMIT 1) UNION ALL (SELECT id FROM u ORDER BY id LIMIT 1)",
            "3 1",
        ),
        (
            "SELECT id AS a FROM t UNION SELECT 10 ORDER BY RAND() * 0 - a LIMIT 3",
            "10 3 2",
        ),
        (
            "(SELECT 1 AS a) UNION (SELECT 2) ORDER BY a DESC LIMIT 1",
            "2",
        ),
        ("SELECT 1 UNION (SELECT 2 UNION ALL SELECT 2)", "1 2"),
        ("(SELECT 1)", "1"),
        ("VALUES ROW(1, 2), ROW(3, 4)", "1|2 3|4"),
        ("TABLE u LIMIT 1", "1|1|a"),
        // Hints, locks, assignments and dates.
        (
            "SELECT /*+ MAX_EXECUTION_TIME(1000) */ test.t.id FROM test.t USE INDEX (PRIMARY) WHERE `test`.`t`.`id` = 1 LOCK IN SHARE MODE",
            "1",
        ),
        ("SELECT @a := 5, @a + 1", "5|6"),
        (
            "SELECT id FROM t WHERE d = '2024-01-02' OR d >= '2024-03-04'",
            "3",
        ),
    ] {
        assert_eq!(all(&mut conn, sql), expected, "{sql}");
    }
    exec(&mut conn, "SET @r = 0");
    assert_eq!(all(&mut conn, "SELECT @r := @r + 1 FROM t"), "1 2 3");
    exec(&mut conn, "SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1");
    assert_eq!(one(&mut conn, "SELECT FOUND_ROWS()"), "3");
}

#[test]
fn variables_take_rows() {
    let running = Running::start();
    let mut conn = filled(&running);
    exec(&mut conn, "SELECT id, name INTO @i, @n FROM t WHERE id = 1");
    assert_eq!(one(&mut conn, "SELECT @i, @n"), "1|Ann");
    exec(&mut conn, "SELECT id FROM t WHERE id = 99 INTO @i");
    assert_eq!(one(&mut conn, "SHOW COUNT(*) WARNINGS"), "1");
    assert_eq!(
        one(&mut conn, "SHOW WARNINGS"),
        "Warning|1329|No data - zero rows fetched, selected, or processed"
    );
    assert_eq!(one(&mut conn, "SELECT @i"), "1", "it keeps its value");
    exec(&mut conn, "SET @m = (SELECT MAX(id) FROM t), @k := 'x'");
    assert_eq!(one(&mut conn, "SELECT @m, @k, @nothing"), "3|x|NULL");
    exec(&mut conn, "DO 1, SLEEP(0)");
    exec(
        &mut conn,
        "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')",
    );
    assert_eq!(one(&mut conn, "SELECT \"id\" FROM \"t\" WHERE id = 2"), "2");
    exec(&mut conn, "SET sql_mode = 'PIPES_AS_CONCAT'");
    assert_eq!(one(&mut conn, "SELECT 'a' || 'b'"), "ab");
    exec(&mut conn, "SET sql_mode = DEFAULT");
    assert_eq!(one(&mut conn, "SELECT 'a' || 'b'"), "0");
    exec(
        &mut conn,
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    );
    assert_eq!(
        one(&mut conn, "SELECT @@transaction_isolation"),
        "SERIALIZABLE"
    );
}

#[test]
fn headings_are_the_text() {
    let running = Running::start();
    let mut conn = filled(&running);
    for (sql, expected) in [
        (
            "SELECT   count( * ) ,  id+ 1  FROM t",
            vec!["count( * )", "id+ 1"],
        ),
        (
            "SELECT ID, t.Name, `n`, (b) FROM t",
            vec!["ID", "Name", "n", "b"],
        ),
        ("SELECT * FROM u", vec!["id", "t_id", "v"]),
        (
            "SELECT 'abc', (1), +4, - 5, NULL, TRUE, 0x41, 1e3",
            vec!["abc", "1", "4", "- 5", "NULL", "TRUE", "0x41", "1e3"],
        ),
        (
            "SELECT 1 AS 'a b', 2 \"c d\", 3 AS `e f`, 4 g",
            vec!["a b", "c d", "e f", "g"],
        ),
        (
            "SELECT _utf8mb4'abc', INTERVAL(5, 1), CHAR(65 USING utf8mb4)",
            vec!["abc", "INTERVAL(5, 1)", "CHAR(65 USING utf8mb4)"],
        ),
        (
            "SELECT table_name FROM information_schema.tables LIMIT 1",
            vec!["TABLE_NAME"],
        ),
        (
            "SELECT thread_id FROM performance_schema.threads LIMIT 1",
            vec!["thread_id"],
        ),
        ("(SELECT id+1 FROM t) UNION SELECT 2", vec!["id+1"]),
        ("SHOW TABLES LIKE 'u%'", vec!["Tables_in_test (u%)"]),
    ] {
        let result = conn
            .query_iter(sql)
            .unwrap_or_else(|e| panic!("{sql}: {e}"));
        let names: Vec<String> = result
            .columns()
            .as_ref()
            .iter()
            .map(|c| c.name_str().into_owned())
            .collect();
        assert_eq!(names, expected, "{sql}");
    }
}

#[test]
fn types_are_determined_before_the_first_row() {
    let running = Running::start();
    let mut conn = filled(&running);
    for (sql, expected) in [
        (
            "SELECT SUM(n), AVG(x), COUNT(*), MAX(d), MIN(name) FROM t WHERE 0",
            vec![
                MYSQL_TYPE_NEWDECIMAL,
                MYSQL_TYPE_DOUBLE,
                MYSQL_TYPE_LONGLONG,
                MYSQL_TYPE_DATETIME,
                MYSQL_TYPE_VAR_STRING,
            ],
        ),
        (
            "SELECT b + 1, m * 2, x / 2, n / 2, id DIV 2 FROM t WHERE 0",
            vec![
                MYSQL_TYPE_LONGLONG,
                MYSQL_TYPE_NEWDECIMAL,
                MYSQL_TYPE_DOUBLE,
                MYSQL_TYPE_NEWDECIMAL,
                MYSQL_TYPE_LONGLONG,
            ],
        ),
        (
            "SELECT IFNULL(n, 0), IF(1, m, 0), CASE WHEN 1 THEN 'a' ELSE 1 END, NOW(), CURDATE() FROM t WHERE 0",
            vec![
                MYSQL_TYPE_LONGLONG,
                MYSQL_TYPE_NEWDECIMAL,
                MYSQL_TYPE_VAR_STRING,
                MYSQL_TYPE_DATETIME,
                MYSQL_TYPE_DATE,
            ],
        ),
        (
            "SELECT * FROM (SELECT SUM(b) s, MAX(d) m FROM t) q WHERE 0",
            vec![MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_DATETIME],
        ),
        (
            "SELECT SUM(SUM_TIMER_WAIT), MAX(COUNT_STAR), AVG(MIN_TIMER_WAIT) FROM performance_schema.events_waits_summary_global_by_event_name",
            vec![
                MYSQL_TYPE_NEWDECIMAL,
                MYSQL_TYPE_LONGLONG,
                MYSQL_TYPE_NEWDECIMAL,
            ],
        ),
        (
            "SELECT 1 = 1, 'a', 1.5, 1e1, CAST('1' AS DATE), @@autocommit",
            vec![
                MYSQL_TYPE_LONGLONG,
                MYSQL_TYPE_VAR_STRING,
                MYSQL_TYPE_NEWDECIMAL,
                MYSQL_TYPE_DOUBLE,
                MYSQL_TYPE_DATE,
                MYSQL_TYPE_LONGLONG,
            ],
        ),
    ] {
        let statement = conn.prep(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let types: Vec<_> = statement
            .columns()
            .iter()
            .map(|c| c.column_type())
            .collect();
        assert_eq!(types, expected, "{sql}");
    }
    let unsigned = conn.prep("SELECT MAX(b), ~0 FROM t").expect("prepared");
    for column in unsigned.columns().iter() {
        assert!(
            column
                .flags()
                .contains(mysql::consts::ColumnFlags::UNSIGNED_FLAG)
        );
    }
}

#[test]
fn text_statements_are_prepared() {
    let running = Running::start();
    let mut conn = filled(&running);
    exec(
        &mut conn,
        "PREPARE s FROM 'SELECT name FROM t WHERE name REGEXP ? ORDER BY id LIMIT ?'",
    );
    exec(&mut conn, "SET @p = '^a', @l = 1");
    assert_eq!(one(&mut conn, "EXECUTE s USING @p, @l"), "Ann");
    exec(&mut conn, "DROP PREPARE s");
    let name: Option<String> = conn
        .exec_first(
            "SELECT name FROM t WHERE name NOT REGEXP ? AND id = ?",
            ("^b", 3),
        )
        .expect("runs");
    assert_eq!(name.as_deref(), Some("ANN"));
    let n: Option<i64> = conn
        .exec_first("SELECT COUNT(*) FROM t WHERE id + 1 = ?", ("3",))
        .expect("runs");
    assert_eq!(n, Some(1), "a number compares with a text as numbers");
}

#[test]
fn scalar_subqueries_return_one_row() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE one (id INT PRIMARY KEY, name VARCHAR(9))",
    );
    exec(&mut conn, "INSERT INTO one VALUES (1, 'ada'), (2, 'bob')");
    for (sql, expected) in [
        ("SELECT (SELECT name FROM one WHERE id = 2)", "bob"),
        ("SELECT 'ADA' = (SELECT name FROM one WHERE id = 1)", "1"),
        ("SELECT '1' = (SELECT id FROM one WHERE name = 'Ada')", "1"),
        ("SELECT (SELECT id FROM one WHERE id > 2) IS NULL", "1"),
        ("SELECT (SELECT id FROM one ORDER BY id DESC LIMIT 1)", "2"),
        (
            "SELECT SUM(2 > ALL (SELECT id FROM one AS i WHERE i.id < o.id)) FROM one AS o",
            "2",
        ),
        (
            "SELECT GROUP_CONCAT((SELECT i.name FROM one AS i WHERE i.id = o.id) ORDER BY o.id) FROM one AS o",
            "ada,bob",
        ),
    ] {
        assert_eq!(one(&mut conn, sql), expected, "{sql}");
    }
    for sql in [
        "SELECT (SELECT id FROM one)",
        "SELECT id FROM one AS o WHERE id = (SELECT i.id FROM one AS i WHERE i.id >= o.id)",
    ] {
        assert_eq!(errno(&mut conn, sql), 1242, "{sql}");
    }
}

/// CASE and IN compare each pair like `=`, and a text is true if its number is: MySQL 9.7.4's answers.
#[test]
fn pairs_and_conditions_are_mysqls() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE t (i INT, b BIGINT UNSIGNED, d DECIMAL(10,2), x DOUBLE, v VARCHAR(20), dt DATETIME, da DATE, e ENUM('a','b'))",
        "INSERT INTO t VALUES (1, 18446744073709551615, 1.50, 1.5, '1', '2020-01-02 00:00:00', '2020-01-02', 'a'), \
         (2, 5, 2.00, 2, 'abc', '2021-01-02 03:04:05', '2021-01-02', 'b'), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    ] {
        exec(&mut conn, sql);
    }
    for (sql, expected) in [
        (
            "SELECT CASE v WHEN 1 THEN 'x' WHEN 'abc' THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE i WHEN '1' THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE d WHEN 1.5 THEN 'x' WHEN '2' THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE d WHEN 1.5 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE b WHEN 18446744073709551615 THEN 'x' WHEN 5 THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE dt WHEN '2020-01-02' THEN 'x' WHEN '2021-01-02 03:04:05' THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE da WHEN '2020-01-02' THEN 'x' WHEN 20210102 THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE e WHEN 'a' THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE CONCAT(v, '') WHEN 1 THEN 'x' WHEN 'ABC' THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE x WHEN '1.5' THEN 'x' WHEN '2' THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        (
            "SELECT CASE i + 0 WHEN '1' THEN 'x' WHEN '2' THEN 'y' ELSE 'z' END FROM t",
            "x y z",
        ),
        ("SELECT CASE COUNT(*) WHEN '3' THEN 'x' END FROM t", "x"),
        (
            "SELECT CASE v WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END FROM t",
            "x z z",
        ),
        ("SELECT CASE d WHEN i THEN 'x' ELSE 'z' END FROM t", "z x z"),
        ("SELECT CASE i WHEN d THEN 'x' ELSE 'z' END FROM t", "z x z"),
        (
            "SELECT v IN (1, 'abc'), '1' IN (1, 'a'), i IN ('1', 3), v IN ('1', v) FROM t",
            "1|1|1|1 1|1|0|1 NULL|1|1|NULL",
        ),
        (
            "SELECT dt IN ('2020-01-02', '2021-01-02 03:04:05'), d IN ('2', 1.5), v NOT IN ('q', v), v IN ('q', NULL, v) FROM t",
            "1|1|0|1 1|1|0|1 NULL|NULL|NULL|NULL",
        ),
        (
            "SELECT NOT v, v AND 1, v OR 0, v IS TRUE, IF(v, 1, 0), CASE WHEN v THEN 1 ELSE 0 END, !v, v || 0, d AND 1, NOT d FROM t",
            "0|1|1|1|1|1|0|1|1|0 1|0|0|0|0|0|1|0|1|0 NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL",
        ),
        ("SELECT i FROM t WHERE v", "1"),
        ("SELECT i FROM t WHERE NOT v", "2"),
        ("SELECT i FROM t HAVING i", "1 2 3"),
        ("SELECT COUNT(*) FROM t a JOIN t b ON a.v", "3"),
    ] {
        assert_eq!(all(&mut conn, sql), expected, "{sql}");
    }
    // Pairwise comparison would call RAND() several times.
    let refused = "SELECT CASE CONCAT(RAND()) WHEN 1 THEN 1 WHEN 'a' THEN 2 END";
    assert_eq!(errno(&mut conn, refused), 1235);
}

/// Reserved words are no aliases, derived tables name their columns, and what is no row is refused. The expected
/// answers are MySQL 9.7.4's, but for LATERAL.
#[test]
fn names_and_rows_are_mysqls() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))",
    );
    exec(&mut conn, "INSERT INTO t VALUES (1, 'a'), (2, '2')");
    for (sql, error) in [
        ("SELECT v REGEXP BINARY 'a' FROM t", 3995),
        ("SELECT id AS v, COUNT(*) FROM t GROUP BY v", 1055),
        ("SELECT CAST('[1]' AS JSON)->'$[0]'", 1064),
        ("SELECT 1 DESC", 1064),
        ("SELECT 1 AS key", 1064),
        ("SELECT id rank, v FROM t", 1064),
        (
            "WITH RECURSIVE r (n) AS (SELECT n + 1 FROM r WHERE n < 4) SELECT * FROM r",
            3573,
        ),
        ("SELECT (SELECT 1 UNION SELECT 2)", 1242),
        ("SELECT 1 = (SELECT id FROM t UNION ALL SELECT 5)", 1242),
        ("SELECT * FROM t, LATERAL (SELECT t.id AS x) AS l", 1235),
    ] {
        assert_eq!(errno(&mut conn, sql), error, "{sql}");
    }
    for (sql, answer) in [
        ("SELECT NULLIF(1, '1') IS NULL", "1"),
        ("SELECT CONCAT(NULLIF(2, '1'), NULLIF('2x', 3))", "22x"),
        (
            "SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'information_schema'",
            "utf8mb3_general_ci",
        ),
        ("SELECT 1 value", "1"),
        ("SELECT (SELECT 1 UNION SELECT 1)", "1"),
        (
            "SELECT SUM(x) FROM (SELECT id, v FROM t) AS d (x, y) WHERE y = 'A'",
            "1",
        ),
        ("SELECT 1 IN (SELECT 1 UNION SELECT 2)", "1"),
    ] {
        assert_eq!(one(&mut conn, sql), answer, "{sql}");
    }
    // A text that is read as a number and is none is a warning for each.
    for (sql, texts) in [
        ("SELECT 'a' + 1, '1x' * 2, ' 3 ' + 1", &["a", "1x"][..]),
        ("SELECT 'abc' = 0, '5a' > 3", &["abc", "5a"]),
        ("SELECT id FROM t WHERE v = 2", &["a"]),
    ] {
        exec(&mut conn, sql);
        let expected: Vec<String> = texts
            .iter()
            .map(|text| format!("Truncated incorrect DOUBLE value: '{text}'"))
            .collect();
        let warnings = rows(&mut conn, "SHOW WARNINGS");
        let messages: Vec<&str> = warnings.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(messages, expected, "{sql}");
    }
}
