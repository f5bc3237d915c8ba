//! DDL and the foreign keys of other tables (issue 16).

use mysql::prelude::Queryable;

use super::support::{Running, all_of, errno, exec, one};

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

/// The errors that ORMs read. The expected answers are MySQL 9.7.4's.
#[test]
fn errors_name_the_key_and_its_table() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE par (id INT PRIMARY KEY)",
        "CREATE TABLE ch (id INT PRIMARY KEY, p INT, CONSTRAINT fk FOREIGN KEY (p) REFERENCES par (id) \
         ON DELETE RESTRICT ON UPDATE CASCADE)",
        "CREATE TABLE ch2 (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES par (id))",
        "CREATE TABLE ch3 (id INT PRIMARY KEY, p INT, q INT, FOREIGN KEY (p) REFERENCES par (id) ON DELETE SET NULL, \
         CONSTRAINT fq FOREIGN KEY (q) REFERENCES par (id) ON DELETE CASCADE ON UPDATE SET NULL)",
        "INSERT INTO par VALUES (1), (2)",
        "INSERT INTO ch VALUES (1, 1)",
        "INSERT INTO ch2 VALUES (1, 2)",
        "INSERT INTO ch3 VALUES (1, 1, 1)",
    ] {
        exec(&mut conn, sql);
    }
    let fk = "(`test`.`ch`, CONSTRAINT `fk` FOREIGN KEY (`p`) REFERENCES `par` (`id`) ON DELETE RESTRICT ON UPDATE CASCADE)";
    let second =
        "(`test`.`ch2`, CONSTRAINT `ch2_ibfk_1` FOREIGN KEY (`p`) REFERENCES `par` (`id`))";
    let fq = "(`test`.`ch3`, CONSTRAINT `fq` FOREIGN KEY (`q`) REFERENCES `par` (`id`) ON DELETE CASCADE ON UPDATE SET NULL)";
    let third = "(`test`.`ch3`, CONSTRAINT `ch3_ibfk_1` FOREIGN KEY (`p`) REFERENCES `par` (`id`) ON DELETE SET NULL)";
    for (sql, code, key) in [
        ("INSERT INTO ch VALUES (2, 7)", 1452, fk),
        ("INSERT INTO ch SELECT 8, 88", 1452, fk),
        (
            "INSERT INTO ch VALUES (1, 2) ON DUPLICATE KEY UPDATE p = 88",
            1452,
            fk,
        ),
        ("REPLACE INTO ch VALUES (1, 77)", 1452, fk),
        ("UPDATE ch SET p = 5", 1452, fk),
        ("INSERT INTO ch3 VALUES (2, 1, 7)", 1452, fq),
        ("INSERT INTO ch3 VALUES (2, 7, 7)", 1452, third),
        (
            "INSERT INTO ch3 VALUES (3, NULL, NULL), (2, 1, 7), (4, 8, 1)",
            1452,
            fq,
        ),
        ("DELETE FROM par WHERE id = 1", 1451, fk),
        ("DELETE FROM par WHERE id = 2", 1451, second),
        ("UPDATE par SET id = 9 WHERE id = 2", 1451, second),
    ] {
        let what = match code {
            1451 => "Cannot delete or update a parent row",
            _ => "Cannot add or update a child row",
        };
        match conn.query_drop(sql) {
            Err(mysql::Error::MySqlError(e)) => assert_eq!(
                (e.code, e.message),
                (
                    code,
                    format!("{what}: a foreign key constraint fails {key}")
                ),
                "{sql}"
            ),
            other => panic!("{sql}: {other:?}"),
        }
    }
    let prepared = conn
        .prep("INSERT INTO ch3 VALUES (?, ?, ?)")
        .expect("prepared");
    let error = conn.exec_drop(&prepared, (5, 1, 7)).expect_err("no parent");
    assert!(error.to_string().contains(fq), "{error}");
    // Nothing has changed, in a transaction either.
    exec(&mut conn, "BEGIN");
    exec(&mut conn, "INSERT INTO ch VALUES (5, 1)");
    assert_eq!(errno(&mut conn, "INSERT INTO ch3 VALUES (2, 1, 7)"), 1452);
    assert_eq!(errno(&mut conn, "DELETE FROM par WHERE id = 1"), 1451);
    exec(&mut conn, "COMMIT");
    let counts =
        "SELECT (SELECT COUNT(*) FROM par), (SELECT COUNT(*) FROM ch), (SELECT COUNT(*) FROM ch3)";
    assert_eq!(one(&mut conn, counts), "2|2|1");
    // Keys are still checked at once.
    assert_eq!(errno(&mut conn, "INSERT INTO ch VALUES (6, 66)"), 1452);
}

/// IGNORE leaves out the rows that violate a key, with a warning for each. The expected answers are MySQL 9.7.4's.
#[test]
fn ignored_violations_are_warnings() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE par (id INT PRIMARY KEY)",
        "CREATE TABLE ch (id INT PRIMARY KEY AUTO_INCREMENT, p INT, q INT, \
         CONSTRAINT fp FOREIGN KEY (p) REFERENCES par (id), CONSTRAINT fq FOREIGN KEY (q) REFERENCES par (id))",
        "INSERT INTO par VALUES (1), (2)",
    ] {
        exec(&mut conn, sql);
    }
    let missing = |key: &str| {
        format!(
            "Warning|1452|Cannot add or update a child row: a foreign key constraint fails (`test`.`ch`, \
             CONSTRAINT `f{key}` FOREIGN KEY (`{key}`) REFERENCES `par` (`id`))"
        )
    };
    for (sql, affected, expected) in [
        (
            "INSERT IGNORE INTO ch VALUES (1, 1, 1), (2, 7, 1), (3, 2, 9), (4, 8, 8)",
            1,
            vec![missing("p"), missing("q"), missing("p")],
        ),
        (
            "INSERT IGNORE INTO ch (id, p) SELECT 5, 77 UNION ALL SELECT 6, 2",
            1,
            vec![missing("p")],
        ),
        (
            "INSERT IGNORE INTO ch (id, p) VALUES (1, 1), (50, 66), (7, 1)",
            1,
            vec![
                "Warning|1062|Duplicate entry '1' for key 'ch.PRIMARY'".into(),
                missing("p"),
            ],
        ),
    ] {
        exec(&mut conn, sql);
        assert_eq!(conn.affected_rows(), affected, "{sql}");
        assert_eq!(all_of(&mut conn, "SHOW WARNINGS"), expected, "{sql}");
    }
    let prepared = conn
        .prep("INSERT IGNORE INTO ch (p) VALUES (?), (?), (?)")
        .expect("prepared");
    conn.exec_drop(&prepared, (1, 9, 2)).expect("ignored");
    assert_eq!((conn.affected_rows(), conn.warnings()), (2, 1));
    let last = one(&mut conn, "SELECT LAST_INSERT_ID()");
    assert_eq!(
        one(
            &mut conn,
            &format!("SELECT p, id = {last} FROM ch WHERE id >= {last} LIMIT 1")
        ),
        "1|1"
    );
    // Nothing is left of the second run, and keys are checked at once.
    exec(&mut conn, "BEGIN");
    exec(&mut conn, "INSERT IGNORE INTO ch (p) VALUES (3), (1)");
    assert_eq!(errno(&mut conn, "INSERT INTO ch (p) VALUES (3)"), 1452);
    exec(&mut conn, "ROLLBACK");
    let orphans = "SELECT COUNT(*) FROM ch WHERE p NOT IN (SELECT id FROM par) OR q NOT IN (SELECT id FROM par)";
    assert_eq!(one(&mut conn, orphans), "0");
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM ch"), "5");
}

/// Foreign keys follow columns and tables that get other names. The expected answers are MySQL 9.7.4's.
#[test]
fn foreign_keys_follow_new_names() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE par (id INT PRIMARY KEY, n INT UNIQUE)",
        "CREATE TABLE ch (id INT PRIMARY KEY, p INT, s INT, CONSTRAINT f1 FOREIGN KEY (p) REFERENCES par (id), \
         CONSTRAINT f2 FOREIGN KEY (s) REFERENCES ch (id))",
        "INSERT INTO par VALUES (1, 1)",
        "INSERT INTO ch VALUES (1, 1, 1)",
        "ALTER TABLE par RENAME COLUMN id TO pid",
        "ALTER TABLE ch RENAME COLUMN p TO pp",
        "ALTER TABLE ch CHANGE id cid INT",
        "RENAME TABLE ch TO ch2",
        "ALTER TABLE ch2 RENAME ch3, ADD z INT",
    ] {
        exec(&mut conn, sql);
    }
    let table = one(&mut conn, "SHOW CREATE TABLE ch3");
    for key in [
        "CONSTRAINT `f1` FOREIGN KEY (`pp`) REFERENCES `par` (`pid`)",
        "CONSTRAINT `f2` FOREIGN KEY (`s`) REFERENCES `ch3` (`cid`)",
    ] {
        assert!(table.contains(key), "{table}");
    }
    for (row, code) in [
        ("2, 1, 2, 0", 0),
        ("3, 1, 9, 0", 1452),
        ("3, 9, NULL, 0", 1452),
    ] {
        assert_eq!(
            errno(&mut conn, &format!("INSERT INTO ch3 VALUES ({row})")),
            code,
            "{row}"
        );
    }
}
