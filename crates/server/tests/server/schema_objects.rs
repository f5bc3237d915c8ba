//! The tables of schema mysql, PARTITIONS, and SHOW CREATE: what MySQL 9.7.4 answers, except that the engine is
//! SQLite and a view's query is as it was written.

use mysql::prelude::Queryable;

use super::support::{Running, all_of, errno, exec, one};

#[test]
fn the_tables_of_schema_mysql_can_be_read() {
    let running = Running::start();
    let mut conn = running.client();
    let tables = all_of(&mut conn, "SHOW TABLES FROM mysql");
    assert_eq!(tables.len(), 38, "{tables:?}");
    for table in &tables {
        let rows = all_of(&mut conn, &format!("SELECT * FROM mysql.`{table}`"));
        let has_rows = ["user", "db"].contains(&table.as_str());
        assert_eq!(rows.is_empty(), !has_rows, "{table}");
    }
    let keys = "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) FROM information_schema.STATISTICS \
                WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'db' AND INDEX_NAME = 'PRIMARY'";
    assert_eq!(one(&mut conn, keys), "Host,User,Db");
    // Names of MySQL's tables compare byte by byte, hosts without case.
    let collations = "SELECT COLUMN_NAME, COLLATION_NAME, COLUMN_DEFAULT FROM information_schema.COLUMNS \
                      WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'password_history' ORDER BY ORDINAL_POSITION";
    assert_eq!(
        all_of(&mut conn, collations),
        [
            "Host|ascii_general_ci|",
            "User|utf8mb3_bin|",
            "Password_timestamp|NULL|CURRENT_TIMESTAMP(6)",
            "Password|utf8mb3_bin|NULL",
        ]
    );
    assert_eq!(errno(&mut conn, "SELECT * FROM mysql.proc"), 1146);
}

#[test]
fn each_table_and_view_has_a_row_in_partitions() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a INT PRIMARY KEY)");
    exec(&mut conn, "INSERT INTO t VALUES (1), (2)");
    exec(&mut conn, "CREATE VIEW v AS SELECT a FROM t");
    let own = "SELECT TABLE_NAME, PARTITION_NAME, PARTITION_ORDINAL_POSITION, TABLE_ROWS, CHECKSUM, \
               PARTITION_COMMENT, NODEGROUP, TABLESPACE_NAME, DATA_LENGTH > 0 \
               FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = 'test' ORDER BY 1";
    assert_eq!(
        all_of(&mut conn, own),
        ["t|NULL|NULL|2|NULL|||NULL|1", "v|NULL|NULL|0|NULL|||NULL|0"]
    );
    let all = "SELECT (SELECT COUNT(*) FROM information_schema.TABLES) - \
               (SELECT COUNT(*) FROM information_schema.PARTITIONS)";
    assert_eq!(one(&mut conn, all), "0");
}

#[test]
fn show_create_has_mysqls_form() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE A (id INT PRIMARY KEY AUTO_INCREMENT, `Name` VARCHAR(20) NOT NULL DEFAULT 'x', n INT DEFAULT 5, \
         KEY(NAME), v BIT(3) DEFAULT b'101', ts TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP) \
         COMMENT 'hey'",
        "CREATE TABLE h (a CHAR(36) COLLATE utf8mb4_bin, b INT, dt DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) \
         ON UPDATE CURRENT_TIMESTAMP(3), CHECK (`b` > 0))",
        "CREATE VIEW w AS SELECT id FROM A",
    ] {
        exec(&mut conn, sql);
    }
    let mut text = |sql: &str| -> String {
        let row: mysql::Row = conn.query_first(sql).expect(sql).expect("a row");
        row.get::<String, _>(1).expect("text")
    };
    let table = text("SHOW CREATE TABLE A");
    assert_eq!(
        table.replace("SQLite", "InnoDB"),
        "CREATE TABLE `A` (\n  `id` int NOT NULL AUTO_INCREMENT,\n  `Name` varchar(20) NOT NULL DEFAULT 'x',\n  \
         `n` int DEFAULT '5',\n  `v` bit(3) DEFAULT b'101',\n  \
         `ts` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,\n  PRIMARY KEY (`id`),\n  \
         KEY `Name` (`Name`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='hey'"
    );
    let other = text("SHOW CREATE TABLE h");
    assert_eq!(
        other.replace("SQLite", "InnoDB"),
        "CREATE TABLE `h` (\n  `a` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,\n  \
         `b` int DEFAULT NULL,\n  `dt` datetime(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),\n  \
         CONSTRAINT `h_chk_1` CHECK ((`b` > 0))\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 \
         COLLATE=utf8mb4_0900_ai_ci"
    );
    let view = text("SHOW CREATE VIEW w");
    let head =
        "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `w` AS ";
    assert_eq!(
        view.to_lowercase(),
        format!("{head}SELECT id FROM A").to_lowercase()
    );
    // What SHOW CREATE prints creates the same again.
    exec(&mut conn, "DROP VIEW w");
    exec(&mut conn, "DROP TABLE A");
    exec(&mut conn, "DROP TABLE h");
    for sql in [&table, &other, &view] {
        exec(&mut conn, sql);
    }
    let again: Vec<String> = [
        "SHOW CREATE TABLE A",
        "SHOW CREATE TABLE h",
        "SHOW CREATE VIEW w",
    ]
    .iter()
    .map(|sql| {
        let row: mysql::Row = conn.query_first(sql).expect(sql).expect("a row");
        row.get::<String, _>(1).expect("text")
    })
    .collect();
    assert_eq!(again, [table, other, view]);
    exec(&mut conn, "INSERT INTO A (n) VALUES (1)");
    assert_eq!(one(&mut conn, "SELECT v + 0 FROM A"), "5");
    let index = "SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_NAME = 'A' AND INDEX_NAME = 'Name'";
    assert_eq!(one(&mut conn, index), "Name");
    let column = "SELECT CONCAT(COLUMN_DEFAULT, ' ', EXTRA) FROM information_schema.COLUMNS WHERE COLUMN_NAME = 'dt'";
    assert_eq!(
        one(&mut conn, column),
        "CURRENT_TIMESTAMP(3) DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)"
    );
}

#[test]
fn the_account_of_syss_views_is_mysqls() {
    let running = Running::start();
    let mut conn = running.client();
    let account = "'mysql.sys'@'localhost'";
    assert_eq!(
        all_of(&mut conn, &format!("SHOW GRANTS FOR {account}")),
        [
            "GRANT USAGE ON *.* TO `mysql.sys`@`localhost`",
            "GRANT AUDIT_ABORT_EXEMPT,FIREWALL_EXEMPT,SYSTEM_USER ON *.* TO `mysql.sys`@`localhost`",
            "GRANT TRIGGER ON `sys`.* TO `mysql.sys`@`localhost`",
            "GRANT SELECT ON `sys`.`sys_config` TO `mysql.sys`@`localhost`",
        ]
    );
    // MySQL prints the hash of the password, too, which is none.
    assert_eq!(
        one(&mut conn, &format!("SHOW CREATE USER {account}")),
        "CREATE USER `mysql.sys`@`localhost` IDENTIFIED WITH 'caching_sha2_password' REQUIRE NONE \
         PASSWORD EXPIRE DEFAULT ACCOUNT LOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT \
         PASSWORD REQUIRE CURRENT DEFAULT"
    );
    assert_eq!(
        errno(&mut conn, "SHOW GRANTS FOR 'mysql.sys'@'elsewhere'"),
        1141
    );
    let views = "SELECT DISTINCT DEFINER, SECURITY_TYPE FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'sys'";
    assert_eq!(one(&mut conn, views), "mysql.sys@localhost|INVOKER");
}
