//! Changes of rows: what they count, and what they refuse.

use mysql::prelude::Queryable;

use super::support::{Running, all_of, errno, exec, one};

fn affected(conn: &mut mysql::Conn, sql: &str) -> u64 {
    conn.query_drop(sql)
        .unwrap_or_else(|e| panic!("{sql}: {e}"));
    conn.affected_rows()
}

#[test]
fn counts_are_mysqls() {
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
}

#[test]
fn a_client_may_count_found_rows() {
    let running = Running::start();
    exec(
        &mut running.client(),
        "CREATE TABLE w (id INT PRIMARY KEY, n INT)",
    );
    exec(&mut running.client(), "INSERT INTO w VALUES (1, 5)");
    let opts = mysql::OptsBuilder::new()
        .socket(running.socket().to_str())
        .user(Some("root"))
        .db_name(Some("test"))
        .prefer_socket(false)
        .additional_capabilities(mysql::consts::CapabilityFlags::CLIENT_FOUND_ROWS);
    let mut conn = mysql::Conn::new(opts).expect("connects");
    assert_eq!(affected(&mut conn, "UPDATE w SET n = 5"), 1);
    assert_eq!(affected(&mut running.client(), "UPDATE w SET n = 5"), 0);
}

#[test]
fn doubles_are_cast_exactly_or_with_a_word() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (d DOUBLE, s SMALLINT UNSIGNED, n DECIMAL(5,0) UNSIGNED, i INT, b BIGINT)",
    );
    exec(&mut conn, "INSERT INTO t VALUES (9.3e18, 5, 2, 7, 0)");
    // A column is cut with a warning, and in a change an error; what is computed is refused.
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
    // Every digit of a large double, and not those of its shortest text.
    for (sql, answer) in [
        (
            "SELECT CAST(1152921504606846976e0 AS UNSIGNED)",
            "1152921504606846976",
        ),
        ("SELECT CAST(-1024e0 AS UNSIGNED)", "18446744073709550592"),
        ("SELECT CAST(2.5e0 AS SIGNED)", "2"),
        // What has no sign gets none by a division.
        ("SELECT s / i - s FROM t", "-4.2857"),
        // Digits behind the point, as MySQL counts them.
        (
            "SELECT AVG(ROUND(d * 0 + 2, 0)), SUM(ROUND(d * 0, 1)) FROM t",
            "2.0000|0.0",
        ),
        ("SELECT ROUND(d * 0 + 1, 2) * 0.5 FROM t", "0.50"),
        // Two texts are as near: the even one.
        ("SELECT 0.200000762939453125e0", "0.20000076293945312"),
    ] {
        assert_eq!(one(&mut conn, sql), answer, "{sql}");
    }
    assert_eq!(errno(&mut conn, "SELECT s / n - s FROM t"), 1690);
    // A column that was assigned is read as it is stored: half a double is rounded to even.
    exec(
        &mut conn,
        "UPDATE t SET d = 0.5, b = d, i = CAST(d AS UNSIGNED)",
    );
    assert_eq!(one(&mut conn, "SELECT d, b, i FROM t"), "0.5|0|0");
}
