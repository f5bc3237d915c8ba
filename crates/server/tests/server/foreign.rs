//! DDL and the foreign keys of other tables (issue 16).

use super::support::{Running, errno, exec, one};

/// A parent with two rows, and a child with ON DELETE CASCADE.
fn family(conn: &mut mysql::Conn) {
    exec(
        conn,
        "CREATE TABLE parent (id INT PRIMARY KEY, x INT, KEY k (x))",
    );
    exec(
        conn,
        "CREATE TABLE child (id INT PRIMARY KEY, p INT, \
         FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)",
    );
    exec(conn, "INSERT INTO parent VALUES (1, 10), (2, 20)");
    exec(conn, "INSERT INTO child VALUES (1, 1), (2, 2)");
}

const ROWS: &str = "SELECT (SELECT COUNT(*) FROM parent) + 10 * (SELECT COUNT(*) FROM child)";

#[test]
fn a_parent_is_neither_dropped_nor_truncated() {
    let running = Running::start();
    let mut conn = running.client();
    family(&mut conn);
    assert_eq!(errno(&mut conn, "DROP TABLE parent"), 3730);
    assert_eq!(errno(&mut conn, "TRUNCATE TABLE parent"), 1701);
    assert_eq!(errno(&mut conn, "ALTER TABLE parent DROP COLUMN id"), 1829);
    assert_eq!(errno(&mut conn, "ALTER TABLE child DROP COLUMN p"), 1828);
    assert_eq!(one(&mut conn, ROWS), "22");
    exec(&mut conn, "DROP TABLE parent, child");
}

#[test]
fn ddl_changes_no_rows_of_child_tables() {
    let running = Running::start();
    let mut conn = running.client();
    family(&mut conn);
    exec(&mut conn, "ALTER TABLE parent ADD COLUMN y INT");
    exec(
        &mut conn,
        "ALTER TABLE parent MODIFY x BIGINT, DROP INDEX k",
    );
    assert_eq!(one(&mut conn, ROWS), "22");
    exec(&mut conn, "RENAME TABLE parent TO other");
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM child"), "2");
    assert_eq!(errno(&mut conn, "DROP TABLE other"), 3730);
    // The key still works under the new name.
    assert_eq!(errno(&mut conn, "INSERT INTO child VALUES (3, 3)"), 1452);
    exec(&mut conn, "DELETE FROM other WHERE id = 1");
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM child"), "1");
    exec(&mut conn, "SET foreign_key_checks = 0");
    exec(&mut conn, "DROP TABLE other");
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM child"), "1");
}

#[test]
fn a_new_foreign_key_checks_existing_rows() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE a (id INT PRIMARY KEY)");
    exec(&mut conn, "CREATE TABLE b (id INT PRIMARY KEY, a INT)");
    exec(&mut conn, "INSERT INTO b VALUES (1, 7)");
    let add = "ALTER TABLE b ADD FOREIGN KEY (a) REFERENCES a (id)";
    assert_eq!(errno(&mut conn, add), 1452);
    exec(&mut conn, "INSERT INTO a VALUES (7)");
    exec(&mut conn, add);
}

#[test]
fn a_list_of_tables_is_dropped_atomically() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE a (id INT PRIMARY KEY)");
    assert_eq!(errno(&mut conn, "DROP TABLE a, missing"), 1051);
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM a"), "0");
}
