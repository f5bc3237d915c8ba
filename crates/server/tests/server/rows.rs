//! Changes of rows: their counts and their errors.

use mysql::prelude::Queryable;

use super::support::{Running, all_of, errno, exec, one, rows, socket_options};

fn affected(conn: &mut mysql::Conn, sql: &str) -> u64 {
    conn.query_drop(sql)
        .unwrap_or_else(|e| panic!("{sql}: {e}"));
    conn.affected_rows()
}

#[test]
fn counts_of_changed_rows_are_mysqls() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE w (id INT NOT NULL, k VARCHAR(3) NOT NULL, d INT DEFAULT 7, PRIMARY KEY (id))",
    );
    exec(&mut conn, "CREATE TABLE u (id INT PRIMARY KEY, t INT)");
    exec(&mut conn, "INSERT INTO u VALUES (1, 1), (3, 2), (4, 9)");
    for (sql, expected) in [
        (
            "INSERT INTO w (id, k, d) VALUES (1, 'a', DEFAULT), (3, 'c', 5)",
            2,
        ),
        ("INSERT INTO w SET id = 4, k = 'd', d = DEFAULT(d)", 1),
        (
            "INSERT INTO w (id, k) VALUES (4, 'e') ON DUPLICATE KEY UPDATE k = VALUES(k), d = d + 1",
            2,
        ),
        (
            "INSERT INTO w (id, k) VALUES (4, 'e') ON DUPLICATE KEY UPDATE k = VALUES(k)",
            0,
        ),
        (
            "INSERT INTO w (id, k) VALUES (5, 'f'), (4, 'g') ON DUPLICATE KEY UPDATE k = VALUES(k)",
            3,
        ),
        ("UPDATE w SET k = 'g' WHERE id = 4", 0),
        ("UPDATE w SET k = 'G' WHERE id = 4", 1),
        ("UPDATE w SET d = d + 1 WHERE id IN (3, 4)", 2),
        ("UPDATE w SET d = DEFAULT ORDER BY id DESC LIMIT 2", 1),
        ("UPDATE w JOIN u ON u.id = w.id SET w.d = u.t, w.k = 'j'", 3),
        ("UPDATE w, u SET w.d = 99 WHERE w.id = u.id AND u.id = 3", 1),
        (
            "UPDATE w a LEFT JOIN u b ON a.id = b.id SET a.k = 'n' WHERE b.id IS NULL",
            1,
        ),
        ("DELETE w FROM w JOIN u ON u.id = w.id WHERE u.t = 2", 1),
        ("DELETE FROM a USING w AS a, u WHERE a.id = u.id", 2),
        ("DELETE FROM w ORDER BY id LIMIT 1", 1),
        ("CREATE TABLE made AS SELECT id FROM u", 3),
    ] {
        assert_eq!(affected(&mut conn, sql), expected, "{sql}");
    }
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM w"), "0");
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE w (id INT NOT NULL PRIMARY KEY, k VARCHAR(3) NOT NULL, u TINYINT UNSIGNED, i SMALLINT, e ENUM('a','b'))",
    );
    for (sql, code) in [
        ("INSERT INTO w (id) VALUES (1)", 1364),
        ("INSERT INTO w (k) VALUES ('x')", 1364),
        ("INSERT INTO w (id, k) VALUES (NULL, 'x')", 1048),
        ("INSERT INTO w (id, k) VALUES (1, NULL)", 1048),
        ("INSERT INTO w (id, k) VALUES (1, DEFAULT)", 1364),
        ("INSERT INTO w (id, id) VALUES (1, 1)", 1110),
        ("INSERT INTO w (id, k) VALUES (1, 'abcd')", 1406),
        ("INSERT INTO w (id, k, u) VALUES (1, 'a', 256)", 1264),
        ("INSERT INTO w (id, k, u) VALUES (1, 'a', -1)", 1264),
        ("INSERT INTO w (id, k, i) VALUES (1, 'a', 32768)", 1264),
        ("INSERT INTO w (id, k) VALUES (3000000000, 'a')", 1264),
        ("INSERT INTO w (id, k, e) VALUES (1, 'a', 'c')", 1265),
        (
            "INSERT INTO w (id, k, u, i, e) VALUES (1, 'abc', 255, -32768, 'b')",
            0,
        ),
        ("UPDATE w SET u = 300", 1264),
        ("UPDATE w SET k = 'long'", 1406),
    ] {
        assert_eq!(errno(&mut conn, sql), code, "{sql}");
    }
    assert_eq!(all_of(&mut conn, "SELECT * FROM w"), ["1|abc|255|-32768|b"]);
    exec(&mut conn, "SET sql_mode = ''");
    exec(&mut conn, "UPDATE w SET k = 'long'");
    assert_eq!(all_of(&mut conn, "SELECT k FROM w"), ["lon"]);
}

#[test]
fn values_that_are_too_long_are_cut_without_strict_mode() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE v (c VARCHAR(5), b BINARY(2), r VARBINARY(3), t TINYTEXT, l TINYBLOB, \
         k INT CHECK (k > 0), e ENUM('a'))",
    );
    // The column, the value, strict mode's error, and what is stored without strict mode.
    for (column, value, code, stored) in [
        ("c", "'abcdefgh'", 1406, "'abcde'"),
        ("c", "123456", 1406, "'12345'"),
        ("c", "CONCAT('abcde', 'f')", 1406, "'abcde'"),
        ("c", "'abcde   '", 0, "'abcde'"),
        ("b", "'abc'", 1406, "'ab'"),
        ("b", "'ab  '", 1406, "'ab'"),
        ("r", "123456", 1406, "'123'"),
        ("t", "REPEAT('é', 200)", 1406, "REPEAT('é', 127)"),
        ("l", "REPEAT('a', 256)", 1406, "REPEAT('a', 255)"),
        ("e", "'b'", 1265, "''"),
    ] {
        let insert = format!("INSERT INTO v ({column}) VALUES ({value})");
        let ignore = insert.replace("INSERT", "INSERT IGNORE");
        let is_equal =
            format!("SELECT {column} = {stored}, LENGTH({column}) = LENGTH({stored}) FROM v");
        exec(&mut conn, "SET sql_mode = 'STRICT_ALL_TABLES'");
        assert_eq!(errno(&mut conn, &insert), code, "{insert}");
        exec(&mut conn, "DELETE FROM v");
        exec(&mut conn, &ignore);
        assert_eq!(all_of(&mut conn, &is_equal), ["1|1"], "{ignore}");
        exec(&mut conn, "DELETE FROM v");
        exec(&mut conn, "SET sql_mode = ''");
        exec(&mut conn, &insert);
        assert_eq!(all_of(&mut conn, &is_equal), ["1|1"], "{insert}");
        exec(&mut conn, "DELETE FROM v");
    }
    // Each byte of a TEXT may be a character.
    exec(&mut conn, "INSERT INTO v (t) VALUES (REPEAT('a', 60))");
    exec(
        &mut conn,
        "ALTER TABLE v ADD w VARCHAR(50), ADD x VARCHAR(63)",
    );
    exec(
        &mut conn,
        "UPDATE v SET t = REPEAT('a', 100), w = t, x = t, l = t, r = l, b = r",
    );
    let lengths = "SELECT LENGTH(t), LENGTH(w), LENGTH(x), LENGTH(l), LENGTH(r), LENGTH(b) FROM v";
    assert_eq!(all_of(&mut conn, lengths), ["100|50|63|100|3|2"]);
    exec(
        &mut conn,
        "INSERT INTO v (l) SELECT r FROM v WHERE LENGTH(r) = 3",
    );
    let bytes = "SELECT l FROM v WHERE l = x'616161'";
    assert_eq!(all_of(&mut conn, bytes), ["aaa"]);
    exec(&mut conn, "DELETE FROM v");
    // A constraint of the table holds in every mode.
    assert_eq!(errno(&mut conn, "INSERT INTO v (k) VALUES (-1)"), 3819);
    exec(&mut conn, "INSERT INTO v (c) VALUES ('abcdef')");
    assert_eq!(
        all_of(&mut conn, "SHOW WARNINGS"),
        ["Warning|1265|Data truncated for column 'c' at row 1"]
    );
}

#[test]
fn a_client_may_count_found_rows() {
    let running = Running::start();
    exec(
        &mut running.client(),
        "CREATE TABLE w (id INT PRIMARY KEY, n INT)",
    );
    exec(&mut running.client(), "INSERT INTO w VALUES (1, 5)");
    let opts = socket_options(&running.socket())
        .db_name(Some("test"))
        .additional_capabilities(mysql::consts::CapabilityFlags::CLIENT_FOUND_ROWS);
    let mut conn = mysql::Conn::new(opts).expect("connects");
    assert_eq!(affected(&mut conn, "UPDATE w SET n = 5"), 1);
    assert_eq!(affected(&mut running.client(), "UPDATE w SET n = 5"), 0);
    // A row that ON DUPLICATE KEY UPDATE changes counts twice, and its id is the statement's.
    exec(
        &mut conn,
        "CREATE TABLE d (id INT PRIMARY KEY AUTO_INCREMENT, k INT UNIQUE, v INT)",
    );
    exec(&mut conn, "INSERT INTO d (k, v) VALUES (1, 1), (2, 2)");
    for (rows, affected, id) in [
        ("(2, 20)", 2, 2),
        ("(2, 20)", 1, 0),
        ("(1, 11), (2, 21)", 4, 2),
        ("(1, 11), (2, 21)", 2, 0),
    ] {
        let sql =
            format!("INSERT INTO d (k, v) VALUES {rows} AS n ON DUPLICATE KEY UPDATE v = n.v");
        exec(&mut conn, &sql);
        let answer = (conn.affected_rows(), conn.last_insert_id());
        assert_eq!(answer, (affected, id), "{rows}");
    }
}

#[test]
fn inexact_casts_of_doubles_warn_or_fail() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (d DOUBLE, s SMALLINT UNSIGNED, n DECIMAL(5,0) UNSIGNED, i INT, b BIGINT)",
    );
    exec(&mut conn, "INSERT INTO t VALUES (9.3e18, 5, 2, 7, 0)");
    // A column's value is cut with a warning, or an error in a change; a computed value is refused.
    let column = "SELECT CAST(d AS UNSIGNED) FROM t";
    assert_eq!(one(&mut conn, column), "9223372036854775807");
    assert_eq!(
        one(&mut conn, "SHOW WARNINGS"),
        "Warning|1292|Truncated incorrect INTEGER value: '9.3e18'"
    );
    assert_eq!(errno(&mut conn, "UPDATE t SET b = CAST(d AS SIGNED)"), 1292);
    for computed in ["d + 0", "-d", "GREATEST(d, 1)", "ROUND(d, 1)"] {
        let sql = format!("SELECT CAST({computed} AS SIGNED) FROM t");
        assert_eq!(errno(&mut conn, &sql), 1690, "{sql}");
    }
    // All digits of a large double, not only those of its shortest text.
    for (sql, answer) in [
        (
            "SELECT CAST(1152921504606846976e0 AS UNSIGNED)",
            "1152921504606846976",
        ),
        ("SELECT CAST(-1024e0 AS UNSIGNED)", "18446744073709550592"),
        ("SELECT CAST(2.5e0 AS SIGNED)", "2"),
        // The quotient of an unsigned number is not unsigned.
        ("SELECT s / i - s FROM t", "-4.2857"),
        // The scale of results is MySQL's.
        (
            "SELECT AVG(ROUND(d * 0 + 2, 0)), SUM(ROUND(d * 0, 1)) FROM t",
            "2|0",
        ),
        ("SELECT ROUND(d * 0 + 1, 2) * 0.5 FROM t", "0.5"),
        // Two texts are equally near: the even one.
        ("SELECT 0.200000762939453125e0", "0.20000076293945312"),
    ] {
        assert_eq!(one(&mut conn, sql), answer, "{sql}");
    }
    assert_eq!(errno(&mut conn, "SELECT s / n - s FROM t"), 1690);
    // An assigned column is read as it was stored. A double of a half is rounded to even.
    exec(
        &mut conn,
        "UPDATE t SET d = 0.5, b = d, i = CAST(d AS UNSIGNED)",
    );
    assert_eq!(one(&mut conn, "SELECT d, b, i FROM t"), "0.5|0|0");
}

#[test]
fn decimals_are_cut_to_64_bits() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (u BIGINT UNSIGNED, i TINYINT)");
    exec(&mut conn, "INSERT INTO t VALUES (18446744073709551615, 1)");
    // An unsigned integer keeps its bits; the DECIMAL that integers of both signs convert to is cut.
    for (of, number) in [
        ("u", "-1"),
        ("IF(1, u, i)", "-1"),
        ("COALESCE(u, i)", "9223372036854775807"),
        ("IFNULL(u, i)", "9223372036854775807"),
        ("GREATEST(0.1, u)", "9223372036854775807"),
        ("CAST(u AS DECIMAL(20,0))", "9223372036854775807"),
        ("SUM(u)", "9223372036854775807"),
        ("-GREATEST(0.1, u)", "-9223372036854775808"),
    ] {
        let sql = format!("SELECT CAST({of} AS SIGNED) FROM t");
        assert_eq!(one(&mut conn, &sql), number, "{sql}");
    }
}

#[test]
fn between_compares_doubles_if_one_operand_is_a_double() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (n BIGINT)");
    exec(
        &mut conn,
        "INSERT INTO t VALUES (9223372036854775807), (5), (-3)",
    );
    for (condition, rows) in [
        ("n BETWEEN -1e20 AND 9223372036854775807", "3"),
        ("n BETWEEN 9223372036854775806 AND 1e20 + 0", "1"),
        ("n NOT BETWEEN -1e20 AND 9223372036854775806", "0"),
        ("n BETWEEN 9223372036854775806 AND 9223372036854775806", "0"),
    ] {
        let sql = format!("SELECT COUNT(*) FROM t WHERE {condition}");
        assert_eq!(one(&mut conn, &sql), rows, "{sql}");
    }
}

#[test]
fn replace_counts_deleted_rows() {
    let running = Running::start();
    let mut conn = running.client();
    for table in [
        "CREATE TABLE o (id INT PRIMARY KEY, v VARCHAR(10), w DOUBLE, d DECIMAL(5,2), n INT)",
        "CREATE TABLE a (id INT PRIMARY KEY, u INT UNIQUE, v VARCHAR(10))",
        "CREATE TABLE c (id INT AUTO_INCREMENT PRIMARY KEY, k VARCHAR(5), n INT, UNIQUE (k))",
        "CREATE TABLE nu (id INT, v INT)",
        "CREATE TABLE parent (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)",
        "INSERT INTO parent VALUES (1, 1)",
        "INSERT INTO child VALUES (1, 1), (2, 1)",
    ] {
        exec(&mut conn, table);
    }
    for (sql, expected) in [
        ("REPLACE o (id, v, w, d) VALUES (1, 'a', 2, 3.10)", 1),
        // An unchanged row: MySQL updates it if the table has one key only.
        ("REPLACE o (id, v, w, d) VALUES (1, 'a', 2, 3.1)", 1),
        ("REPLACE o (id, v, w, d) VALUES (1, 'A', 2, 3.1)", 2),
        ("REPLACE o (id, v) VALUES (1, 'b'), (2, 'c'), (1, 'd')", 5),
        ("REPLACE o (id, v) VALUES (1, 'd'), (1, 'd'), (1, 'e')", 4),
        ("REPLACE INTO o SELECT * FROM o", 2),
        ("REPLACE INTO o (id, v) SELECT id, 'x' FROM o", 4),
        ("REPLACE a VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')", 3),
        ("REPLACE a VALUES (1, 1, 'a')", 2),
        ("REPLACE a VALUES (1, 2, 'z')", 3),
        ("REPLACE a VALUES (9, 3, 'z')", 2),
        ("REPLACE nu VALUES (1, 1), (1, 1)", 2),
        ("REPLACE c (k, n) VALUES ('a', 1), ('b', 2), ('a', 3)", 4),
        ("REPLACE c SET k = 'b', n = 9", 2),
        (
            "INSERT INTO c (k, n) VALUES ('a', 3) ON DUPLICATE KEY UPDATE n = n",
            0,
        ),
        (
            "INSERT INTO c (k, n) VALUES ('a', 3), ('b', 1), ('q', 1) ON DUPLICATE KEY UPDATE n = n + 1",
            5,
        ),
        // Cascaded deletes are not counted. The row is deleted, although it is inserted unchanged.
        ("REPLACE parent VALUES (1, 1)", 2),
        ("INSERT INTO nu VALUES (5, 5)", 1),
    ] {
        assert_eq!(affected(&mut conn, sql), expected, "{sql}");
    }
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM child"), "0");
    let prepared = "REPLACE INTO o (id, v) VALUES (?, ?)";
    for (v, expected) in [("p", 2), ("p", 1), ("q", 2)] {
        conn.exec_drop(prepared, (1, v)).expect("replaced");
        assert_eq!(conn.affected_rows(), expected, "{v}");
    }
}

#[test]
fn alter_table_counts_the_rows_that_mysql_copies() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(10), w VARCHAR(70), e ENUM('a','b'))",
    );
    exec(
        &mut conn,
        "INSERT INTO t VALUES (1, 'a', 'b', 'a'), (2, 'c', 'd', 'b'), (3, NULL, NULL, NULL)",
    );
    for (change, expected) in [
        ("ADD COLUMN x INT DEFAULT 7", 0),
        ("ADD INDEX by_x (x)", 0),
        ("MODIFY v VARCHAR(60)", 0),
        ("MODIFY v VARCHAR(64)", 3),
        ("MODIFY w VARCHAR(200)", 0),
        ("MODIFY w VARCHAR(20)", 3),
        ("MODIFY e ENUM('a','b','c')", 0),
        ("MODIFY e ENUM('b','a','c')", 3),
        ("MODIFY x BIGINT", 3),
        ("CHANGE x y BIGINT", 0),
        ("DROP COLUMN y", 0),
        ("RENAME TO u", 0),
        ("RENAME TO t", 0),
    ] {
        let sql = format!(
            "ALTER TABLE {} {change}",
            if change.ends_with(" t") { "u" } else { "t" }
        );
        assert_eq!(affected(&mut conn, &sql), expected, "{sql}");
    }
    assert_eq!(all_of(&mut conn, "SELECT e FROM t"), ["a", "b", "NULL"]);
}

/// SQLite evaluates assignments before it sorts.
#[test]
fn ordered_updates_cannot_assign_variables() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (n INT PRIMARY KEY, v INT)");
    exec(&mut conn, "INSERT INTO t VALUES (1, 0), (2, 0)");
    let sql = "UPDATE t SET v = (@n := @n + 1) ORDER BY n DESC";
    assert_eq!(errno(&mut conn, sql), 1235);
    exec(&mut conn, "UPDATE t SET v = 5 ORDER BY n DESC LIMIT 1");
    assert_eq!(all_of(&mut conn, "SELECT v FROM t"), ["0", "5"]);
}

#[test]
fn operators_are_tokenized_as_in_mysql() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "SET @a = 5, @`b c` = 6");
    for (sql, expected) in [
        ("SELECT 1<@a", "1"),
        ("SELECT 1<@`b c`, 7<@'B C', @\"a\"", "1|0|5"),
        ("SELECT @'a'+1, @`a`<@'b c'", "6|1"),
        ("SELECT 0<@@max_connections", "1"),
        ("SELECT 1^@a", "4"),
        ("SELECT !~0, ~~5", "0|5"),
        ("SELECT 1 returning", "1"),
        ("SELECT returning FROM (SELECT 2 AS returning) t", "2"),
    ] {
        assert_eq!(one(&mut conn, sql), expected, "{sql}");
    }
}

/// Found by the seed 702491 of crates/server/tests/stored (issue 16).
#[test]
fn updates_evaluate_only_matching_rows() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE y (id INT PRIMARY KEY, a YEAR, b BIGINT, KEY (a), KEY (b))",
    );
    exec(
        &mut conn,
        "INSERT INTO y VALUES (1, 1901, -9223372036854775808), (2, 2021, -7)",
    );
    let update = "UPDATE y SET b = ABS(b) WHERE (b < 9223372036854775806 AND a >= '2020')";
    assert_eq!(errno(&mut conn, update), 0);
    assert_eq!(one(&mut conn, "SELECT b FROM y WHERE id = 2"), "7");
    // In a matching row it is an error.
    let update = "UPDATE y SET b = ABS(b) WHERE a < 2000";
    assert_eq!(errno(&mut conn, update), 1690);
}

#[test]
fn a_message_quotes_the_beginning_of_a_value() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE m (n INT)");
    // MySQL 8.0.15 quotes 128 bytes, too, and may cut a character.
    exec(&mut conn, "SELECT CAST(REPEAT('x', 300) AS SIGNED)");
    let quoted = "x".repeat(128);
    assert_eq!(
        rows(&mut conn, "SHOW WARNINGS")[0][2],
        format!("Truncated incorrect INTEGER value: '{quoted}'")
    );
    exec(&mut conn, "SET sql_mode = ''");
    exec(
        &mut conn,
        "INSERT INTO m VALUES (CONCAT('x', REPEAT('é', 300)))",
    );
    let quoted = format!("x{}", "é".repeat(63));
    assert_eq!(
        rows(&mut conn, "SHOW WARNINGS")[0][2],
        format!("Incorrect integer value: '{quoted}' for column 'n' at row 1")
    );
}

#[test]
fn texts_are_doubles_in_arithmetic() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (s VARCHAR(40))");
    exec(
        &mut conn,
        "INSERT INTO t VALUES ('1.5x'), ('9223372036854775807'), ('1e3'), ('')",
    );
    // MySQL 8.0.15's answers.
    assert_eq!(
        all_of(
            &mut conn,
            "SELECT s + 1, -s, s * 2, ABS(s) FROM t ORDER BY s + 0"
        ),
        [
            "1|-0|0|0",
            "2.5|-1.5|3|1.5",
            "1001|-1000|2000|1000",
            "9.223372036854776e18|-9.223372036854776e18|1.8446744073709552e19|9.223372036854776e18",
        ]
    );
    assert_eq!(
        one(&mut conn, "SELECT SUM(s), AVG(s) FROM t WHERE s < '2'"),
        "1001.5|333.8333333333333"
    );
}

/// The values and warnings are MySQL 9.7.4's.
#[rustfmt::skip] // One row, one line.
#[test]
fn dates_outside_of_the_calendar_are_stored_as_the_mode_allows() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE dates (id INT PRIMARY KEY AUTO_INCREMENT, a DATE, b DATETIME(3), c TIMESTAMP NULL)",
    );
    let zero = ["0000-00-00", "0000-00-00 00:00:00.000", "0000-00-00 00:00:00"];
    // The mode, the values of the row, the codes of warnings, and what is stored.
    for (mode, values, warned, stored) in [
        ("", "'2026-00-10', '2026-00-10 01:02:03.5', NULL", "", ["2026-00-10", "2026-00-10 01:02:03.500", "NULL"]),
        ("", "20260010, 20260010010203, 0", "", ["2026-00-10", "2026-00-10 01:02:03.000", zero[2]]),
        ("", "'2026-02-30', '2026-02-30 01:02:03', '2026-00-10'", "1264 1264 1264", zero),
        ("", "'00-00-00', '0000-01-01', '0000-00-00'", "", [zero[0], "0000-01-01 00:00:00.000", zero[2]]),
        ("", "'2026-02-28x', '2026-13-01', '2039-01-01'", "1265 1265 1264", ["2026-02-28", zero[1], zero[2]]),
        ("STRICT_ALL_TABLES", "'2026-00-10', NULL, NULL", "", ["2026-00-10", "NULL", "NULL"]),
        ("STRICT_ALL_TABLES,NO_ZERO_IN_DATE", "'0000-00-00', NULL, NULL", "", [zero[0], "NULL", "NULL"]),
        ("NO_ZERO_IN_DATE", "'2026-00-10', NULL, NULL", "1264", [zero[0], "NULL", "NULL"]),
        ("NO_ZERO_DATE", "'0000-00-00', '2026-00-10', NULL", "1264", [zero[0], "2026-00-10 00:00:00.000", "NULL"]),
        ("ALLOW_INVALID_DATES", "'2026-02-30', '2026-02-31 10:00:00', '2026-02-30'", "1264", ["2026-02-30", "2026-02-31 10:00:00.000", zero[2]]),
    ] {
        exec(&mut conn, &format!("SET sql_mode = '{mode}'"));
        exec(
            &mut conn,
            &format!("INSERT INTO dates (a, b, c) VALUES ({values})"),
        );
        let warnings = rows(&mut conn, "SHOW WARNINGS");
        let codes: Vec<&str> = warnings.iter().map(|row| &*row[1]).collect();
        assert_eq!(codes.join(" "), warned, "{mode} {values}");
        let query = "SELECT a, b, c FROM dates WHERE id = LAST_INSERT_ID()";
        assert_eq!(rows(&mut conn, query), [stored], "{mode} {values}");
    }
    for (mode, values) in [
        ("STRICT_ALL_TABLES", "'2026-02-30', NULL, NULL"),
        ("STRICT_ALL_TABLES", "'2026-02-28x', NULL, NULL"),
        ("STRICT_ALL_TABLES", "NULL, NULL, '2026-00-10'"),
        ("STRICT_ALL_TABLES,NO_ZERO_IN_DATE", "'2026-00-10', NULL, NULL"),
        ("STRICT_ALL_TABLES,NO_ZERO_DATE", "NULL, '0000-00-00', NULL"),
    ] {
        exec(&mut conn, &format!("SET sql_mode = '{mode}'"));
        let sql = format!("INSERT INTO dates (a, b, c) VALUES ({values})");
        assert_eq!(errno(&mut conn, &sql), 1292, "{mode} {values}");
    }
}

#[test]
fn members_are_numbers_where_a_number_is_read() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE m (e ENUM('x','12','abc'), s SET('a','b','12'))",
        "INSERT INTO m VALUES ('12', 'a,12')",
    ] {
        exec(&mut conn, sql);
    }
    for (expression, value) in [
        ("e + 1", "3"),
        ("-e", "-2"),
        ("e / 3", "0.6666666666666666"),
        ("e & 15", "2"),
        ("s | 8", "13"),
        ("ROUND(s, -1)", "0"),
        ("ABS(e)", "2"),
        ("NOT e", "0"),
        ("CONCAT(e)", "12"),
        ("e = '12'", "1"),
        ("e = 2", "1"),
    ] {
        let sql = format!("SELECT {expression} FROM m");
        assert_eq!(all_of(&mut conn, &sql), [value], "{expression}");
    }
}
