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
