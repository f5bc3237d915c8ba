//! ALTER TABLE as tools send it, and the names of constraints. The expected answers are MySQL 9.7.4's.

use mysql::Conn;
use mysql::prelude::Queryable;

use super::support::{Running, errno, exec, one, rows};

/// The words of a statement's OK packet, or its error; and its warnings.
fn answer(conn: &mut Conn, sql: &str) -> String {
    let result = conn.query_iter(sql).map(|result| {
        let info = result.info_str().into_owned();
        format!("{} {info}", result.affected_rows())
    });
    let mut answer = match result {
        Ok(words) => words.trim_end().to_owned(),
        Err(mysql::Error::MySqlError(e)) => return format!("{} {}", e.code, e.message),
        Err(other) => panic!("{sql}: {other}"),
    };
    let warnings: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS").expect("warnings");
    for (level, code, message) in warnings {
        answer.push_str(&format!("; {level} {code} {message}"));
    }
    answer
}

fn check(conn: &mut Conn, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        assert_eq!(answer(conn, sql), *expected, "{sql}");
    }
}

/// An ALTER that copies no rows.
const DONE: &str = "0 Records: 0  Duplicates: 0  Warnings: 0";
const COPIED: &str = "2 Records: 2  Duplicates: 0  Warnings: 0";

/// The lines of SHOW CREATE TABLE after the columns.
fn constraints(conn: &mut Conn, table: &str) -> Vec<String> {
    let text = one(conn, &format!("SHOW CREATE TABLE {table}"));
    let lines = text.lines().filter(|line| line.contains("CONSTRAINT"));
    lines
        .map(|line| line.trim().trim_end_matches(',').to_owned())
        .collect()
}

#[test]
fn options_of_a_table_are_changed() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, b VARCHAR(10))",
    );
    exec(&mut conn, "INSERT INTO t VALUES (1, 'x'), (2, 'X')");
    check(
        &mut conn,
        &[
            ("ALTER TABLE t COMMENT 'hello'", DONE),
            ("ALTER TABLE t COMMENT = 'it''s', ENGINE = InnoDB", DONE),
            ("ALTER TABLE t COMMENT 'b' ENGINE InnoDB", DONE),
            ("ALTER TABLE t ENGINE 'InnoDB'", DONE),
            ("ALTER TABLE t ROW_FORMAT = DYNAMIC", DONE),
            ("ALTER TABLE t MAX_ROWS = 5, COMMENT \"x\"", DONE),
            ("ALTER TABLE t FORCE", DONE),
            ("ALTER TABLE t", "0"),
            (
                "ALTER TABLE t ENGINE = nonsense",
                "1286 Unknown storage engine 'nonsense'",
            ),
            (
                "ALTER TABLE t COLLATE nope",
                "1273 Unknown collation: 'nope'",
            ),
            (
                "ALTER TABLE t CHARACTER SET nope",
                "1115 Unknown character set: 'nope'",
            ),
            (
                "ALTER TABLE t CHARACTER SET latin1 COLLATE utf8mb4_bin",
                "1253 COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'",
            ),
            ("ALTER TABLE t CHARSET utf8mb4", DONE),
            ("ALTER TABLE t COLLATE utf8mb4_bin", DONE),
            ("ALTER TABLE t ADD (c VARCHAR(5), KEY k (c))", DONE),
            ("ALTER TABLE t DROP KEY k", DONE),
            ("ALTER TABLE t RENAME u", "0"),
            ("ALTER TABLE u RENAME = t", "0"),
            (
                "ALTER TABLE t DISABLE KEYS",
                "0; Note 1031 Table storage engine for 't' doesn't have this option",
            ),
            (
                "ALTER TABLE t ENABLE KEYS",
                "0; Note 1031 Table storage engine for 't' doesn't have this option",
            ),
        ],
    );
    let comment = "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 't'";
    assert_eq!(one(&mut conn, comment), "x");
    // Columns keep their collation; new ones get the table's.
    exec(&mut conn, "UPDATE t SET c = b");
    let equal =
        "SELECT (SELECT COUNT(*) FROM t WHERE b = 'x'), (SELECT COUNT(*) FROM t WHERE c = 'x')";
    assert_eq!(one(&mut conn, equal), "2|1");
    exec(
        &mut conn,
        "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    );
    assert_eq!(one(&mut conn, equal), "1|1");
    exec(&mut conn, "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4");
    assert_eq!(one(&mut conn, equal), "2|2");
    exec(
        &mut conn,
        "CREATE TABLE cs (a VARCHAR(5), b VARCHAR(5) COLLATE utf8mb4_general_ci) COLLATE utf8mb4_bin",
    );
    exec(&mut conn, "INSERT INTO cs VALUES ('a', 'a'), ('A', 'A')");
    let equal =
        "SELECT (SELECT COUNT(*) FROM cs WHERE a = 'a'), (SELECT COUNT(*) FROM cs WHERE b = 'a')";
    assert_eq!(one(&mut conn, equal), "1|2");
    for sql in [
        "ALTER TABLE t NONSENSE",
        "ALTER TABLE t SET (x = 1)",
        "ALTER TABLE t CLUSTER BY (b)",
        "ALTER TABLE t COMMENT 'x' ADD d INT",
        "ALTER TABLE t COMMENT 'x',",
    ] {
        assert!(answer(&mut conn, sql).starts_with("1064"), "{sql}");
    }
    for sql in [
        "ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 2",
        "ALTER TABLE t COMMENT 'x' PARTITION BY HASH (id)",
        "ALTER TABLE t ADD PARTITION (PARTITION p VALUES IN (1))",
        "ALTER TABLE t REMOVE PARTITIONING",
        "ALTER TABLE t DISCARD TABLESPACE",
        "ALTER TABLE t ORDER BY b",
        "ALTER TABLE t ALTER INDEX k INVISIBLE",
        "ALTER TABLE t ENCRYPTION = 'Y'",
        "ALTER TABLE t ADD FULLTEXT KEY f (b)",
    ] {
        assert!(answer(&mut conn, sql).starts_with("1235"), "{sql}");
    }
}

#[test]
fn indexes_are_renamed() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY k (a), KEY k3 (b))",
    );
    exec(&mut conn, "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)");
    check(
        &mut conn,
        &[
            ("ALTER TABLE t RENAME INDEX k TO kk", DONE),
            ("ALTER TABLE t RENAME KEY kk TO k2", DONE),
            ("ALTER TABLE t RENAME INDEX k2 TO K2", DONE),
            (
                "ALTER TABLE t RENAME INDEX nope TO x",
                "1176 Key 'nope' doesn't exist in table 't'",
            ),
            (
                "ALTER TABLE t RENAME INDEX k2 TO k3",
                "1061 Duplicate key name 'k3'",
            ),
            (
                "ALTER TABLE t RENAME INDEX k2 TO k3, RENAME INDEX k3 TO k2",
                DONE,
            ),
        ],
    );
    for sql in [
        "ALTER TABLE t RENAME INDEX k2 TO PRIMARY",
        "ALTER TABLE t RENAME INDEX PRIMARY TO x",
    ] {
        assert!(answer(&mut conn, sql).starts_with("1064"), "{sql}");
    }
    let columns = "SELECT GROUP_CONCAT(INDEX_NAME, ' ', COLUMN_NAME ORDER BY INDEX_NAME) \
                   FROM information_schema.STATISTICS WHERE TABLE_NAME = 't'";
    assert_eq!(one(&mut conn, columns), "k2 b,k3 a,PRIMARY id");
}

#[test]
fn constraints_have_names_by_which_they_are_dropped() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, CONSTRAINT pos CHECK (a > 0), CHECK (a < 1000))",
    );
    exec(&mut conn, "INSERT INTO t VALUES (1, 5), (2, 6)");
    assert_eq!(
        constraints(&mut conn, "t"),
        [
            "CONSTRAINT `pos` CHECK ((`a` > 0))",
            "CONSTRAINT `t_chk_1` CHECK ((`a` < 1000))"
        ]
    );
    check(
        &mut conn,
        &[
            (
                "INSERT INTO t VALUES (3, 0)",
                "3819 Check constraint 'pos' is violated.",
            ),
            (
                "UPDATE t SET a = 1000",
                "3819 Check constraint 't_chk_1' is violated.",
            ),
            (
                "ALTER TABLE t DROP CHECK nope",
                "3821 Check constraint 'nope' is not found in the table.",
            ),
            (
                "ALTER TABLE t DROP CONSTRAINT nope",
                "3940 Constraint 'nope' does not exist.",
            ),
            ("ALTER TABLE t DROP CHECK t_chk_1", DONE),
            ("ALTER TABLE t DROP CONSTRAINT pos", DONE),
            (
                "ALTER TABLE t ADD CONSTRAINT u UNIQUE (a), ADD CONSTRAINT p2 CHECK (a > 2)",
                COPIED,
            ),
            ("ALTER TABLE t DROP CONSTRAINT u", DONE),
            ("ALTER TABLE t DROP CONSTRAINT `PRIMARY`", COPIED),
            ("ALTER TABLE t ADD CHECK (a < 50)", COPIED),
            (
                "ALTER TABLE t ADD CHECK (a < 60), DROP CHECK t_chk_1",
                COPIED,
            ),
            (
                "ALTER TABLE t ADD CONSTRAINT p2 CHECK (a > 3)",
                "3822 Duplicate check constraint name 'p2'.",
            ),
            (
                "CREATE TABLE t2 (a INT, CONSTRAINT p2 CHECK (a > 2))",
                "3822 Duplicate check constraint name 'p2'.",
            ),
            (
                "CREATE TABLE t2 (a INT, CONSTRAINT p9 CHECK (a > 2), CONSTRAINT P9 CHECK (a > 3))",
                "3822 Duplicate check constraint name 'P9'.",
            ),
            (
                "ALTER TABLE t ADD CHECK (a > 100)",
                "3819 Check constraint 't_chk_2' is violated.",
            ),
            ("ALTER TABLE t ALTER CHECK p2 NOT ENFORCED", DONE),
            ("INSERT INTO t VALUES (3, 1)", "1"),
            (
                "ALTER TABLE t ALTER CONSTRAINT p2 ENFORCED",
                "3819 Check constraint 'p2' is violated.",
            ),
            ("DELETE FROM t WHERE a = 1", "1"),
            ("ALTER TABLE t ALTER CONSTRAINT p2 ENFORCED", COPIED),
            ("CREATE TABLE t3 (a INT CHECK (a > 3) NOT ENFORCED)", "0"),
            ("INSERT INTO t3 VALUES (1)", "1"),
            ("RENAME TABLE t3 TO t4", "0"),
            ("CREATE TABLE t5 LIKE t", "0"),
        ],
    );
    assert_eq!(
        constraints(&mut conn, "t"),
        [
            "CONSTRAINT `p2` CHECK ((`a` > 2))",
            "CONSTRAINT `t_chk_1` CHECK ((`a` < 60))"
        ]
    );
    assert_eq!(
        constraints(&mut conn, "t4"),
        ["CONSTRAINT `t4_chk_1` CHECK ((`a` > 3)) /*!80016 NOT ENFORCED */"]
    );
    assert_eq!(
        constraints(&mut conn, "t5"),
        [
            "CONSTRAINT `t5_chk_1` CHECK ((`a` > 2))",
            "CONSTRAINT `t5_chk_2` CHECK ((`a` < 60))"
        ]
    );
    let enforced = "SELECT GROUP_CONCAT(CONSTRAINT_NAME, ' ', ENFORCED ORDER BY CONSTRAINT_NAME) \
                    FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_NAME IN ('t', 't4')";
    assert_eq!(one(&mut conn, enforced), "p2 YES,t4_chk_1 NO,t_chk_1 YES");
}

/// Names that are generated are taken, too.
#[test]
fn generated_names_of_constraints_are_unique_in_a_database() {
    let running = Running::start();
    let mut conn = running.client();
    let duplicate = "3822 Duplicate check constraint name 't_chk_1'.";
    check(
        &mut conn,
        &[
            (
                "CREATE TABLE x (a INT, CONSTRAINT t_chk_1 CHECK (a > 0))",
                "0",
            ),
            ("CREATE TABLE t (a INT CHECK (a > 0))", duplicate),
            ("CREATE TABLE y (a INT CHECK (a > 0))", "0"),
            ("CREATE TABLE t LIKE y", duplicate),
            ("RENAME TABLE y TO t", duplicate),
            ("ALTER TABLE y RENAME t", duplicate),
            ("DROP TABLE x", "0"),
            ("RENAME TABLE y TO t", "0"),
        ],
    );
    assert_eq!(
        constraints(&mut conn, "t"),
        ["CONSTRAINT `t_chk_1` CHECK ((`a` > 0))"]
    );
}

#[test]
fn auto_increment_goes_on_from_a_number() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT) AUTO_INCREMENT = 50",
    );
    let mut next = |before: &str, expected: &str| {
        exec(&mut conn, before);
        exec(&mut conn, "INSERT INTO a VALUES ()");
        assert_eq!(
            one(&mut conn, "SELECT MAX(id) FROM a"),
            expected,
            "{before}"
        );
    };
    next("DO 0", "50");
    next("ALTER TABLE a AUTO_INCREMENT = 100", "100");
    next("ALTER TABLE a AUTO_INCREMENT 5", "101");
    // A number that was given is not given again.
    next("DELETE FROM a WHERE id = 101", "102");
    exec(&mut conn, "DELETE FROM a WHERE id = 102");
    exec(&mut conn, "ALTER TABLE a ADD c INT");
    exec(&mut conn, "INSERT INTO a () VALUES ()");
    assert_eq!(one(&mut conn, "SELECT MAX(id) FROM a"), "103");
}

#[test]
fn types_and_members_are_written_as_tools_write_them() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE b (u CHAR(36) BINARY, v VARCHAR(10) BINARY NOT NULL, x TEXT BINARY, \
         y VARCHAR(5) CHARACTER SET utf8mb4 BINARY, z SET(\"x\",\"y\"), e ENUM(\"a'b\",\"c\") DEFAULT \"c\", \
         w CHAR BINARY COMMENT \"a comment\")",
    );
    exec(
        &mut conn,
        "INSERT INTO b (u, v, x, y, z, w) VALUES ('a', 'a', 'a', 'a', 'x,y', 'a')",
    );
    let equal = "SELECT COUNT(*) FROM b WHERE u = 'A' OR v = 'A' OR x = 'A' OR y = 'A' OR w = 'A'";
    assert_eq!(one(&mut conn, equal), "0");
    assert_eq!(one(&mut conn, "SELECT z, e FROM b"), "x,y|c");
    let types = "SELECT GROUP_CONCAT(COLUMN_TYPE ORDER BY ORDINAL_POSITION SEPARATOR ' ') FROM information_schema.COLUMNS \
                 WHERE TABLE_NAME = 'b' AND COLUMN_NAME IN ('e', 'z')";
    assert_eq!(one(&mut conn, types), "set('x','y') enum('a''b','c')");
}

/// Defaults that are bits or bytes, in columns of other types, too.
#[test]
fn defaults_may_be_bits() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE bits (a BIT DEFAULT b'1', b BIT(5) DEFAULT b'101', c BIT(1) NOT NULL DEFAULT 1, \
         d BIT(8) DEFAULT 0x1f, e BIT(8) DEFAULT X'1F', f INT DEFAULT b'11', g VARCHAR(5) DEFAULT b'1000001', \
         h BIT(3) DEFAULT 0b11, i BIT DEFAULT TRUE, j INT DEFAULT 0x10, k VARCHAR(5) DEFAULT 0x4142)",
    );
    exec(&mut conn, "INSERT INTO bits () VALUES ()");
    assert_eq!(
        one(
            &mut conn,
            "SELECT a+0, b+0, c+0, d+0, e+0, f, g, h+0, i+0, j, k FROM bits"
        ),
        "1|5|1|31|31|3|A|3|1|16|AB"
    );
    let defaults = "SELECT GROUP_CONCAT(COLUMN_DEFAULT ORDER BY ORDINAL_POSITION SEPARATOR ' ') FROM information_schema.COLUMNS \
                    WHERE TABLE_NAME = 'bits'";
    assert_eq!(
        one(&mut conn, defaults),
        "b'1' b'101' b'1' b'11111' b'11111' 3 A b'11' b'1' 16 AB"
    );
    exec(&mut conn, "ALTER TABLE bits ALTER a SET DEFAULT b'0'");
    exec(&mut conn, "INSERT INTO bits () VALUES ()");
    exec(&mut conn, "INSERT INTO bits (a, b) VALUES (DEFAULT, 9)");
    assert_eq!(one(&mut conn, "SELECT SUM(a) FROM bits"), "1");
}

/// What ORMs send when they synchronize a schema. The expected answers are MySQL 9.7.4's.
#[test]
fn schemas_are_synchronized() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL UNIQUE, c CHAR(4) BINARY, j JSON)",
        "CREATE TABLE p (id INT PRIMARY KEY, uid INT, FOREIGN KEY (uid) REFERENCES u(id))",
        "CREATE TABLE e (id INT NOT NULL, d INT DEFAULT (1+2), s VARCHAR(20) DEFAULT (concat('a','b')), \
         CHECK (id > 1 AND s <> 'x' OR NOT d IN (1, 2)), c INT DEFAULT (-5))",
        "ALTER TABLE u CHANGE name name VARCHAR(20) NOT NULL UNIQUE",
    ] {
        exec(&mut conn, sql);
    }
    assert_eq!(
        one(&mut conn, "SHOW WARNINGS"),
        "Warning|1831|Duplicate index 'name_2' defined on the table 'test.u'. This is deprecated and will be \
         disallowed in a future release."
    );
    // An index replaces the one that a foreign key got for itself.
    exec(&mut conn, "CREATE INDEX ix ON p (uid)");
    assert_eq!(conn.warnings(), 0);
    for (query, answer) in [
        (
            "SELECT GROUP_CONCAT(INDEX_NAME ORDER BY INDEX_NAME) FROM information_schema.STATISTICS WHERE TABLE_NAME = 'u'",
            "name,name_2,PRIMARY",
        ),
        (
            "SELECT GROUP_CONCAT(INDEX_NAME ORDER BY INDEX_NAME) FROM information_schema.STATISTICS WHERE TABLE_NAME = 'p'",
            "ix,PRIMARY",
        ),
        (
            "SELECT GROUP_CONCAT(COLUMN_DEFAULT ORDER BY COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'e' \
             AND COLUMN_NAME IN ('c', 'd')",
            "-(5),(1 + 2)",
        ),
        (
            "SELECT CHARACTER_MAXIMUM_LENGTH IS NULL FROM information_schema.COLUMNS WHERE TABLE_NAME = 'u' \
             AND COLUMN_NAME = 'j'",
            "1",
        ),
        (
            "SELECT COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_NAME = 'u' AND COLUMN_NAME = 'c'",
            "utf8mb4_bin",
        ),
    ] {
        assert_eq!(one(&mut conn, query), answer, "{query}");
    }
    let create = rows(&mut conn, "SHOW CREATE TABLE e").remove(0).remove(1);
    for line in [
        "`d` int DEFAULT ((1 + 2))",
        "`s` varchar(20) DEFAULT (concat('a','b'))",
        "`c` int DEFAULT (-(5))",
        "CHECK ((((`id` > 1) and (`s` <> 'x')) or (`d` not in (1,2))))",
    ] {
        assert!(create.contains(line), "{line}: {create}");
    }
    exec(&mut conn, "INSERT INTO e (id) VALUES (2)");
    assert_eq!(
        one(&mut conn, "SELECT CONCAT_WS(' ', d, s, c) FROM e"),
        "3 ab -5"
    );
    for (sql, error) in [
        ("INSERT INTO e () VALUES ()", 1364),
        ("INSERT INTO e (id, d) VALUES (1, 2)", 3819),
        ("CREATE INDEX fx ON p ((uid + 1))", 1235),
        ("CREATE TABLE z (a INT(4) ZEROFILL UNSIGNED NOT NULL)", 1235),
        ("ALTER TABLE e ADD z INT UNSIGNED ZEROFILL", 1235),
    ] {
        assert_eq!(errno(&mut conn, sql), error, "{sql}");
    }
    exec(&mut conn, "ALTER TABLE e ADD z INT");
    assert_eq!(
        errno(&mut conn, "ALTER TABLE e MODIFY z INT NOT NULL"),
        1138
    );
}

/// Another index replaces the one that a foreign key got for itself, and no index that a statement names.
#[test]
fn an_index_replaces_that_of_a_foreign_key() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE u (id INT PRIMARY KEY)");
    for (key, statement, indexes) in [
        ("", "CREATE INDEX ix ON p (uid)", "ix,PRIMARY"),
        ("", "CREATE INDEX ix ON p (UID, n)", "ix,PRIMARY"),
        ("", "CREATE INDEX ix ON p (n, uid)", "ix,PRIMARY,uid"),
        ("", "CREATE INDEX uid ON p (uid)", "PRIMARY,uid"),
        ("", "CREATE UNIQUE INDEX ix ON p (uid)", "ix,PRIMARY"),
        ("", "ALTER TABLE p ADD UNIQUE ix (uid)", "ix,PRIMARY"),
        (
            "",
            "ALTER TABLE p ADD INDEX ix (uid), ADD z INT",
            "ix,PRIMARY",
        ),
        (
            "",
            "ALTER TABLE p RENAME INDEX uid TO own, ADD INDEX ix (uid)",
            "ix,own,PRIMARY",
        ),
        // A key with the name that a foreign key's would have.
        (
            "KEY uid (uid), ",
            "CREATE INDEX ix ON p (uid)",
            "ix,PRIMARY,uid",
        ),
        (
            "KEY uid (uid), ",
            "ALTER TABLE p ADD INDEX ix (uid)",
            "ix,PRIMARY,uid",
        ),
    ] {
        exec(
            &mut conn,
            &format!(
                "CREATE TABLE p (id INT PRIMARY KEY, uid INT, n INT, {key}FOREIGN KEY (uid) REFERENCES u (id))"
            ),
        );
        // Another session reads the definition that is stored.
        let mut other = running.client();
        exec(&mut other, statement);
        let all = "SELECT GROUP_CONCAT(DISTINCT INDEX_NAME ORDER BY INDEX_NAME) \
                   FROM information_schema.STATISTICS WHERE TABLE_NAME = 'p'";
        for conn in [&mut other, &mut running.client()] {
            assert_eq!(one(conn, all), indexes, "{key}{statement}");
        }
        let create = rows(&mut conn, "SHOW CREATE TABLE p").remove(0).remove(1);
        assert!(!create.contains("COMMENT"), "{create}");
        exec(&mut conn, "DROP TABLE p");
    }
}
