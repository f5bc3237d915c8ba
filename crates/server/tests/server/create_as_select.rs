//! Tables and views from a SELECT, and values that it assigns to variables (issue 16).

use super::support::{Running, all_of, errno, exec, one, rows};
use mysql::prelude::Queryable;

/// A table of many types, with a row.
fn filled(running: &Running) -> mysql::Conn {
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE s (id INT PRIMARY KEY AUTO_INCREMENT, n INT NOT NULL, b BIGINT UNSIGNED, d DECIMAL(10,2), \
         v VARCHAR(20), c CHAR(3) NOT NULL, x TEXT, y VARBINARY(5), t DATETIME(3), e ENUM('a','b'), j JSON)",
    );
    exec(
        &mut conn,
        "INSERT INTO s VALUES (1, 7, 18446744073709551615, 30.50, 'vv', 'ccc', 'text', 'vb', \
         '2020-01-01 10:00:00.5', 'b', '{}')",
    );
    conn
}

/// Name, type, whether NULL is allowed, and default of each column.
fn columns(conn: &mut mysql::Conn, table: &str) -> Vec<String> {
    let sql = format!(
        "SELECT column_name, column_type, is_nullable, column_default FROM information_schema.columns \
         WHERE table_schema = 'test' AND table_name = '{table}' ORDER BY ordinal_position"
    );
    rows(conn, &sql)
        .into_iter()
        .map(|row| row.join("|"))
        .collect()
}

#[test]
fn a_table_of_a_select_has_its_columns_types() {
    let running = Running::start();
    let mut conn = filled(&running);
    exec(&mut conn, "CREATE TABLE copy AS SELECT * FROM s");
    assert_eq!(
        columns(&mut conn, "copy"),
        [
            "id|int|NO|0",
            "n|int|NO|NULL",
            "b|bigint unsigned|YES|NULL",
            "d|decimal(10,2)|YES|NULL",
            "v|varchar(20)|YES|NULL",
            "c|char(3)|NO|NULL",
            "x|text|YES|NULL",
            "y|varbinary(5)|YES|NULL",
            "t|datetime(3)|YES|NULL",
            "e|enum('a','b')|YES|NULL",
            "j|json|YES|NULL",
        ]
    );
    assert_eq!(
        all_of(&mut conn, "SELECT * FROM copy"),
        all_of(&mut conn, "SELECT * FROM s")
    );
    exec(
        &mut conn,
        "CREATE TABLE made SELECT d * 2 AS p, SUM(d) AS sd, AVG(n) AS an, COUNT(*) AS k, CONCAT(v, 'x') AS cv, \
         'lit' AS l, 1.50 AS dec_, 1e3 AS r, NULL AS none, NOW(2) AS now_, n = 7 AS eq, \
         n IS UNKNOWN AS un, IFNULL(v, '') AS nn, CAST(n AS CHAR) AS ch, \
         CASE WHEN n > 1 THEN 'abc' ELSE 'z' END AS cs, MAX(e) AS me, LENGTH(v) AS ln, \
         (SELECT MAX(v) FROM s) AS sub FROM s GROUP BY id",
    );
    assert_eq!(
        columns(&mut conn, "made"),
        [
            "p|decimal(11,2)|YES|NULL",
            "sd|decimal(32,2)|YES|NULL",
            "an|decimal(14,4)|YES|NULL",
            "k|bigint|NO|0",
            "cv|varchar(21)|YES|NULL",
            "l|varchar(3)|NO|",
            "dec_|decimal(3,2)|NO|0.00",
            "r|double|NO|0",
            "none|binary(0)|YES|NULL",
            "now_|datetime(2)|NO|NULL",
            "eq|int|NO|0",
            "un|int|NO|0",
            "nn|varchar(20)|NO|",
            "ch|varchar(11)|YES|NULL",
            "cs|varchar(3)|NO|",
            "me|enum('a','b')|YES|NULL",
            "ln|int|YES|NULL",
            "sub|varchar(20)|YES|NULL",
        ]
    );
    assert_eq!(
        one(&mut conn, "SELECT p, sd, an, k, cv, me, sub FROM made"),
        "61.00|30.50|7.0000|1|vvx|b|vv"
    );
    // Columns of an outer join can be NULL, and a UNION has the values of both sides.
    exec(
        &mut conn,
        "CREATE TABLE two AS SELECT s.n, o.n AS m FROM s LEFT JOIN s AS o ON o.id = s.id + 1 \
         UNION ALL SELECT 1, 2",
    );
    assert_eq!(
        one(&mut conn, "SELECT COUNT(*), SUM(m IS NULL) FROM two"),
        "2|1"
    );
    // A system table's columns have types, too.
    exec(
        &mut conn,
        "CREATE TABLE seen AS SELECT thread_id, name FROM performance_schema.threads LIMIT 1",
    );
    assert_eq!(
        columns(&mut conn, "seen")[0],
        "thread_id|bigint unsigned|NO|NULL"
    );
    // A join whose columns cannot be determined is refused.
    let shared = "CREATE TABLE no AS SELECT * FROM s JOIN copy USING (id)";
    assert_eq!(errno(&mut conn, shared), 1235);
    assert_eq!(
        errno(&mut conn, "CREATE TABLE no AS SELECT 1 AS a, 2 AS a"),
        1060
    );
}

#[test]
fn columns_may_be_defined_before_a_select() {
    let running = Running::start();
    let mut conn = filled(&running);
    exec(
        &mut conn,
        "CREATE TABLE t (x INT PRIMARY KEY, y VARCHAR(10) DEFAULT 'q') COMMENT = 'kept' AS SELECT 1 AS x, 2 AS z",
    );
    assert_eq!(
        columns(&mut conn, "t"),
        ["y|varchar(10)|YES|q", "x|int|NO|NULL", "z|int|NO|0"]
    );
    assert_eq!(one(&mut conn, "SELECT * FROM t"), "q|1|2");
    assert!(one(&mut conn, "SHOW CREATE TABLE t").contains("PRIMARY KEY (`x`)"));
    // Flyway's statement for the baseline of a schema.
    exec(
        &mut conn,
        "CREATE TABLE `test`.`history` (`installed_rank` INT NOT NULL, `version` VARCHAR(50), \
         `description` VARCHAR(200) NOT NULL, `installed_on` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, \
         `success` BOOL NOT NULL, CONSTRAINT `pk` PRIMARY KEY (`installed_rank`)) ENGINE=InnoDB AS SELECT \
         1 as \"installed_rank\", '1' as \"version\", '<< Flyway Baseline >>' as \"description\", \
         CURRENT_TIMESTAMP as \"installed_on\", TRUE as \"success\"",
    );
    assert_eq!(
        one(
            &mut conn,
            "SELECT installed_rank, version, description, success FROM history WHERE installed_on IS NOT NULL"
        ),
        "1|1|<< Flyway Baseline >>|1"
    );
    assert_eq!(
        columns(&mut conn, "history")[4],
        "success|tinyint(1)|NO|NULL"
    );
    // Values are checked as in an INSERT.
    let wrong = "CREATE TABLE w (a INT) AS SELECT 'x' AS a";
    assert_eq!(errno(&mut conn, wrong), 1366);
    assert_eq!(
        errno(&mut conn, "SELECT * FROM w"),
        1146,
        "and no table is left"
    );
}

#[test]
fn duplicate_rows_are_refused_ignored_or_replaced() {
    let running = Running::start();
    let mut conn = filled(&running);
    let select = "SELECT n, v FROM s UNION ALL SELECT n, c FROM s";
    let plain = format!("CREATE TABLE a (PRIMARY KEY (n)) {select}");
    assert_eq!(errno(&mut conn, &plain), 1062);
    assert_eq!(errno(&mut conn, "SELECT * FROM a"), 1146);
    exec(
        &mut conn,
        &format!("CREATE TABLE b (PRIMARY KEY (n)) IGNORE AS {select}"),
    );
    assert_eq!(conn.affected_rows(), 1);
    assert_eq!(one(&mut conn, "SELECT * FROM b"), "7|vv");
    exec(
        &mut conn,
        &format!("CREATE TABLE c (PRIMARY KEY (n)) REPLACE {select}"),
    );
    assert_eq!(conn.affected_rows(), 3);
    assert_eq!(one(&mut conn, "SELECT * FROM c"), "7|ccc");
    exec(&mut conn, "CREATE TABLE IF NOT EXISTS c AS SELECT 9 AS q");
    assert_eq!(one(&mut conn, "SELECT * FROM c"), "7|ccc");
}

#[test]
fn a_views_columns_have_its_expressions_types() {
    let running = Running::start();
    let mut conn = filled(&running);
    exec(
        &mut conn,
        "CREATE VIEW v AS SELECT n + 1 AS n1, b, SUM(d) AS sd, CONCAT(v, 'x') AS cv, c, e, t, NOW() AS now_, \
         COUNT(*) AS k FROM s GROUP BY id",
    );
    let expected_columns = [
        "n1|bigint|NO|0",
        "b|bigint unsigned|YES|NULL",
        "sd|decimal(32,2)|YES|NULL",
        "cv|varchar(21)|YES|NULL",
        "c|char(3)|NO|NULL",
        "e|enum('a','b')|YES|NULL",
        "t|datetime(3)|YES|NULL",
        "now_|datetime|NO|NULL",
        "k|bigint|NO|0",
    ];
    assert_eq!(columns(&mut conn, "v"), expected_columns);
    let listed: Vec<String> = rows(&mut conn, "SHOW COLUMNS FROM v")
        .into_iter()
        .map(|row| {
            [&row[0], &row[1], &row[2], &row[4]]
                .map(String::as_str)
                .join("|")
        })
        .collect();
    assert_eq!(listed, expected_columns);
    assert_eq!(one(&mut conn, "SELECT sd, e + 0 FROM v"), "30.50|2");
    let kinds = |conn: &mut mysql::Conn, sql: &str| -> Vec<String> {
        let result = conn.query_iter(sql).expect("runs");
        let columns = result.columns();
        let all = columns.as_ref().iter();
        all.map(|c| format!("{:?}", c.column_type())).collect()
    };
    let expected = [
        "MYSQL_TYPE_LONGLONG",
        "MYSQL_TYPE_LONGLONG",
        "MYSQL_TYPE_NEWDECIMAL",
        "MYSQL_TYPE_VAR_STRING",
    ];
    assert_eq!(kinds(&mut conn, "SELECT n1, b, sd, cv FROM v"), expected);
    // The types are the same from another database, and without rows.
    exec(&mut conn, "DELETE FROM s");
    exec(&mut conn, "CREATE DATABASE other");
    exec(&mut conn, "USE other");
    assert_eq!(
        kinds(&mut conn, "SELECT n1, b, sd, cv FROM test.v"),
        expected
    );
    // A view of a view that is replaced later.
    exec(&mut conn, "USE test");
    exec(&mut conn, "CREATE VIEW w AS SELECT sd * 2 AS twice FROM v");
    exec(
        &mut conn,
        "CREATE OR REPLACE VIEW v AS SELECT SUM(d) AS sd FROM s",
    );
    assert_eq!(columns(&mut conn, "w"), ["twice|decimal(33,2)|YES|NULL"]);
    exec(&mut conn, "DROP TABLE s");
    assert!(
        rows(
            &mut conn,
            "SELECT * FROM information_schema.tables WHERE table_name = 'w'"
        )
        .len()
            == 1
    );
}

#[test]
fn derived_tables_assign_before_rows_are_read() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE s (i INT, v VARCHAR(9))");
    exec(
        &mut conn,
        "INSERT INTO s VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    );
    assert_eq!(one(&mut conn, "SELECT @x FROM (SELECT @x := 5) q"), "5");
    assert_eq!(
        all_of(
            &mut conn,
            "SELECT s.i, @rn := @rn + 1 AS n FROM s, (SELECT @rn := 10, @other := 'x') r"
        ),
        ["1|11", "2|12", "3|13"]
    );
    assert_eq!(one(&mut conn, "SELECT @rn, @other"), "13|x");
    // Columns that the outer query does not use are computed, too.
    assert_eq!(
        one(
            &mut conn,
            "SELECT COUNT(*) FROM (SELECT @m := @m + 1 FROM s, (SELECT @m := 0) z) q"
        ),
        "3"
    );
    assert_eq!(one(&mut conn, "SELECT @m"), "3");
    exec(
        &mut conn,
        "SELECT a FROM (SELECT i AS a, @n := i FROM s ORDER BY i) q",
    );
    assert_eq!(one(&mut conn, "SELECT @n"), "3");
}

#[test]
fn a_select_without_from_updates_duplicates() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a INT PRIMARY KEY, n INT)");
    for (sql, affected, then) in [
        (
            "INSERT INTO t SELECT 1, 2 ON DUPLICATE KEY UPDATE n = n + 1",
            1,
            "1|2",
        ),
        (
            "INSERT INTO t SELECT 1, 2 ON DUPLICATE KEY UPDATE n = n + 1",
            2,
            "1|3",
        ),
        (
            "INSERT INTO t (a, n) SELECT 1, 5 FROM DUAL ON DUPLICATE KEY UPDATE n = VALUES(n)",
            2,
            "1|5",
        ),
        (
            "INSERT INTO t SELECT 1, 2 UNION ALL SELECT 1, 3 ON DUPLICATE KEY UPDATE n = 7",
            2,
            "1|7",
        ),
    ] {
        exec(&mut conn, sql);
        assert_eq!(conn.affected_rows(), affected, "{sql}");
        assert_eq!(one(&mut conn, "SELECT * FROM t"), then, "{sql}");
    }
    assert_eq!(errno(&mut conn, "SELECT 1 ON"), 1064);
    // The SELECT's columns are not supported here: error 1235, not an unknown column.
    let other = "INSERT INTO t SELECT s.a, 9 FROM t AS s ON DUPLICATE KEY UPDATE n = s.n";
    assert_eq!(errno(&mut conn, other), 1235);
}

#[test]
fn tables_report_their_size() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200), KEY (v))",
    );
    exec(&mut conn, "CREATE TABLE e (a INT)");
    exec(
        &mut conn,
        "CREATE TABLE n (a INT PRIMARY KEY AUTO_INCREMENT)",
    );
    exec(&mut conn, "CREATE VIEW v AS SELECT * FROM t");
    exec(
        &mut conn,
        "INSERT INTO t (v) WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) \
         SELECT REPEAT('x', 100) FROM r",
    );
    let query = "SELECT table_name, table_rows, data_length, index_length, auto_increment, \
               create_time BETWEEN NOW() - INTERVAL 1 DAY AND NOW() + INTERVAL 1 SECOND FROM information_schema.tables \
               WHERE table_schema = 'test' ORDER BY table_name";
    let sizes = rows(&mut conn, query);
    assert_eq!(sizes[0].join("|"), "e|0|4096|0|NULL|1");
    assert_eq!(sizes[1].join("|"), "n|0|4096|0|1|1");
    assert_eq!(sizes[3].join("|"), "v|NULL|NULL|NULL|NULL|NULL");
    let [name, rows_, data, index, next, created] = sizes[2].as_slice() else {
        panic!("{sizes:?}");
    };
    // As InnoDB, the SELECT has reserved 1, 2, 4 and so on up to 512 numbers.
    assert_eq!([name, rows_, next, created], ["t", "1000", "1024", "1"]);
    // A thousand rows of a hundred bytes, in full pages.
    for bytes in [data, index] {
        let bytes: u64 = bytes.parse().expect("a number");
        assert!(
            (100_000..200_000).contains(&bytes) && bytes.is_multiple_of(4096),
            "{bytes}"
        );
    }
    let status = rows(&mut conn, "SHOW TABLE STATUS LIKE 't'");
    assert_eq!(
        [&status[0][4], &status[0][6], &status[0][8], &status[0][10]],
        [rows_, data, index, next]
    );
    assert_ne!(status[0][11], "NULL");
    // The next query sees a change.
    exec(&mut conn, "DELETE FROM t WHERE id > 10");
    assert_eq!(rows(&mut conn, query)[2][1], "10");
    // A rebuilt table has a CREATE_TIME.
    exec(&mut conn, "ALTER TABLE e ADD COLUMN b INT");
    assert_eq!(rows(&mut conn, query)[0][5], "1");
}
