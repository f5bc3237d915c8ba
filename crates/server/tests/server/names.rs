//! Names that mean several things, or that have odd characters: the answers are MySQL 9.7.4's.

use super::support::{Running, all_of, errno, exec};

const TABLES: &[&str] = &[
    "CREATE TABLE a (x INT, k INT, y INT)",
    "CREATE TABLE b (z INT, k INT, y INT)",
    "CREATE TABLE c (k INT, w INT)",
    "INSERT INTO a VALUES (1, 10, 5), (2, 20, 6)",
    "INSERT INTO b VALUES (3, 10, 5), (4, 30, 7)",
    "INSERT INTO c VALUES (10, 9)",
];

/// Runs all queries, and fails with all whose rows differ.
fn check(queries: &[(&str, &[&str])]) {
    let running = Running::start();
    let mut conn = running.client();
    for sql in TABLES {
        exec(&mut conn, sql);
    }
    let mut wrong = Vec::new();
    for (sql, expected) in queries {
        let got = match errno(&mut conn, sql) {
            0 => all_of(&mut conn, sql),
            code => vec![format!("!{code}")],
        };
        if got != *expected {
            wrong.push(format!("{sql}: {got:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_star_has_the_shared_columns_first() {
    check(&[
        ("SELECT * FROM a JOIN b USING (k)", &["10|1|5|3|5"]),
        (
            "SELECT * FROM a LEFT JOIN b USING (k) ORDER BY x",
            &["10|1|5|3|5", "20|2|6|NULL|NULL"],
        ),
        (
            "SELECT * FROM a RIGHT JOIN b USING (k) ORDER BY z",
            &["10|3|5|1|5", "30|4|7|NULL|NULL"],
        ),
        ("SELECT * FROM a NATURAL JOIN b", &["10|5|1|3"]),
        (
            "SELECT * FROM a NATURAL RIGHT JOIN b ORDER BY z",
            &["10|5|3|1", "30|7|4|NULL"],
        ),
        ("SELECT * FROM a JOIN b USING (y, k)", &["10|5|1|3"]),
        (
            "SELECT * FROM a JOIN b USING (k) JOIN c USING (k)",
            &["10|1|5|3|5|9"],
        ),
        (
            "SELECT a.*, b.* FROM a JOIN b USING (k)",
            &["1|10|5|3|10|5"],
        ),
        ("SELECT *, 1 FROM a JOIN b USING (k)", &["10|1|5|3|5|1"]),
        ("SELECT k FROM a JOIN b USING (k)", &["10"]),
        ("SELECT * FROM a JOIN b USING (k), c", &["10|1|5|3|5|10|9"]),
        ("SELECT COUNT(*) FROM a JOIN b USING (k)", &["1"]),
        (
            "SELECT * FROM a AS p JOIN a AS q USING (x) ORDER BY 1",
            &["1|10|5|10|5", "2|20|6|20|6"],
        ),
    ]);
}

#[test]
fn an_alias_is_grouped_by_before_an_ambiguous_column() {
    check(&[
        (
            "SELECT a.k AS k, COUNT(*) FROM a JOIN b ON a.y = b.y GROUP BY k",
            &["10|1"],
        ),
        (
            "SELECT a.y AS k, COUNT(*) FROM a JOIN b ON a.y = b.y GROUP BY k",
            &["5|1"],
        ),
        (
            "SELECT a.k AS k, COUNT(*) AS n FROM a JOIN b ON a.y = b.y GROUP BY k HAVING k > 1 ORDER BY k",
            &["10|1"],
        ),
        (
            "SELECT COUNT(*) FROM a JOIN b ON a.y = b.y GROUP BY k",
            &["!1052"],
        ),
        (
            "SELECT a.x + 1 AS k, COUNT(*) FROM a JOIN b ON a.y = b.y GROUP BY k",
            &["2|1"],
        ),
        (
            "SELECT a.k, COUNT(*) FROM a JOIN b ON a.y = b.y GROUP BY k",
            &["10|1"],
        ),
    ]);
}

#[test]
fn rollup_knows_qualified_names() {
    let three: &[&str] = &["10|1", "20|1", "NULL|2"];
    check(&[
        ("SELECT k, COUNT(*) FROM a GROUP BY a.k WITH ROLLUP", three),
        ("SELECT a.k, COUNT(*) FROM a GROUP BY k WITH ROLLUP", three),
        (
            "SELECT a.k, COUNT(*) FROM a GROUP BY a.k WITH ROLLUP",
            three,
        ),
        (
            "SELECT test.a.k, COUNT(*) FROM a GROUP BY a.k WITH ROLLUP",
            three,
        ),
        (
            "SELECT a.k + 1, SUM(x) FROM a GROUP BY k WITH ROLLUP",
            &["11|1", "21|2", "NULL|3"],
        ),
        (
            "SELECT a.k, a.y, SUM(x) FROM a GROUP BY k, a.y WITH ROLLUP",
            &["10|5|1", "10|NULL|1", "20|6|2", "20|NULL|2", "NULL|NULL|3"],
        ),
        (
            "SELECT k AS kk, GROUPING(a.k), COUNT(*) FROM a GROUP BY a.k WITH ROLLUP",
            &["10|0|1", "20|0|1", "NULL|1|2"],
        ),
        (
            "SELECT a.k, COUNT(*) FROM a GROUP BY a.k WITH ROLLUP HAVING a.k IS NULL",
            &["NULL|2"],
        ),
        (
            "SELECT a.k, COUNT(*) FROM a GROUP BY a.k WITH ROLLUP ORDER BY a.k DESC",
            &["20|1", "10|1", "NULL|2"],
        ),
        (
            "SELECT a.k, COUNT(*) FROM a JOIN b USING (k) GROUP BY a.k WITH ROLLUP",
            &["10|1", "NULL|1"],
        ),
    ]);
}

#[test]
fn names_may_have_points() {
    let running = Running::start();
    let mut conn = running.client();
    let mut wrong = Vec::new();
    for (sql, expected) in [
        ("CREATE TABLE `t.x` (`a.b` INT PRIMARY KEY, c INT)", ""),
        ("INSERT INTO `t.x` VALUES (1, 2)", ""),
        ("SELECT * FROM `t.x`", "1|2"),
        ("SELECT `t.x`.`a.b`, `t.x`.c FROM `t.x`", "1|2"),
        ("SELECT `t.x`.* FROM test.`t.x`", "1|2"),
        ("UPDATE `t.x` SET c = 3 WHERE `a.b` = 1", ""),
        ("ALTER TABLE `t.x` ADD COLUMN d INT", ""),
        ("ALTER TABLE `t.x` ADD INDEX `i.x` (c)", ""),
        ("SELECT * FROM `t.x`", "1|3|NULL"),
        (
            "ALTER TABLE `t.x` MODIFY COLUMN c BIGINT, DROP COLUMN d",
            "",
        ),
        ("ALTER TABLE `t.x` DROP INDEX `i.x`", ""),
        ("DELETE FROM `t.x` WHERE c = 3", ""),
        ("RENAME TABLE `t.x` TO `t.y`", ""),
        ("SHOW TABLES", "t.y"),
        ("SELECT test.`t.y`.c FROM `t.y`", ""),
        ("CREATE TABLE `l.m` LIKE `t.y`", ""),
        (
            "CREATE TABLE `f.k` (i INT, CONSTRAINT `c.d` FOREIGN KEY (i) REFERENCES `t.y` (`a.b`))",
            "",
        ),
        ("INSERT INTO `l.m` SELECT * FROM `t.y`", ""),
        ("ALTER TABLE `f.k` ADD COLUMN `n.o` INT", ""),
        (
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'test' AND TABLE_NAME = 'f.k'",
            "f.k",
        ),
        ("ANALYZE TABLE `l.m`", ""),
        ("DROP TABLE `f.k`, `l.m`", ""),
        ("CREATE TABLE `test.a` (i INT)", ""),
        ("INSERT INTO `test.a` VALUES (7)", ""),
        ("SELECT * FROM `test.a`", "7"),
        ("SELECT `test.a`.i FROM `test.a`", "7"),
        ("DROP TABLE `test.a`", ""),
        ("TRUNCATE `t.y`", ""),
        ("CREATE VIEW `v.w` AS SELECT * FROM `t.y`", ""),
        ("SELECT COUNT(*) FROM `v.w`", "0"),
        ("DROP VIEW `v.w`", ""),
        ("DROP TABLE `t.y`", ""),
    ] {
        let got = match sql.split(' ').next() {
            Some("SELECT" | "SHOW") => all_of(&mut conn, sql).join(","),
            _ => match errno(&mut conn, sql) {
                0 => String::new(),
                code => format!("!{code}"),
            },
        };
        if got != expected {
            wrong.push(format!("{sql}: {got:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_view_without_its_table_hinders_no_other_table() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in TABLES {
        exec(&mut conn, sql);
    }
    exec(&mut conn, "CREATE VIEW v AS SELECT * FROM c");
    exec(
        &mut conn,
        "CREATE VIEW w AS SELECT a.x FROM a JOIN c USING (k)",
    );
    exec(&mut conn, "DROP TABLE c");
    for sql in [
        "ALTER TABLE a ADD COLUMN q INT",
        "ALTER TABLE a RENAME COLUMN q TO r",
        "ALTER TABLE a DROP COLUMN r",
        "ALTER TABLE a RENAME TO aa",
        "ALTER TABLE aa MODIFY COLUMN x BIGINT",
        "ALTER TABLE aa RENAME TO a",
        "CREATE INDEX i ON a (x)",
        "RENAME TABLE a TO aa, aa TO a",
    ] {
        assert_eq!(errno(&mut conn, sql), 0, "{sql}");
    }
    assert_ne!(errno(&mut conn, "SELECT * FROM v"), 0);
    exec(&mut conn, "DROP VIEW v");
}
