//! SHOW and EXPLAIN: headings and rows.

use mysql::prelude::Queryable;

use super::support::{Running, all_of, exec, one};

#[test]
fn forms_have_mysqls_headings() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))",
    );
    exec(&mut conn, "CREATE VIEW w AS SELECT id FROM t");
    for (sql, first, columns) in [
        ("SHOW EXTENDED FULL COLUMNS FROM t", "Field", 9),
        ("SHOW INDEX FROM t", "Table", 15),
        ("SHOW CREATE TABLE t", "Table", 2),
        ("SHOW CREATE VIEW w", "View", 4),
        ("SHOW CREATE DATABASE test", "Database", 2),
        (
            "SHOW CREATE USER CURRENT_USER()",
            "CREATE USER for root@localhost",
            1,
        ),
        (
            "SHOW GRANTS FOR 'root'@'localhost'",
            "Grants for root@localhost",
            1,
        ),
        ("SHOW ENGINE INNODB MUTEX", "Type", 3),
        ("SHOW COLLATION LIKE 'utf8mb4%'", "Collation", 7),
        ("SHOW CHARACTER SET WHERE Maxlen = 4", "Charset", 4),
        ("SHOW OPEN TABLES", "Database", 4),
        ("SHOW EVENTS FROM test LIKE 'x'", "Db", 15),
        ("SHOW PROCEDURE STATUS LIKE 'x'", "Db", 12),
        ("SHOW FUNCTION STATUS WHERE Db = 'x'", "Db", 12),
        ("SHOW BINARY LOG STATUS", "File", 5),
        (
            "SHOW REPLICA STATUS FOR CHANNEL 'x'",
            "Replica_IO_State",
            60,
        ),
        ("SHOW REPLICAS", "Server_Id", 5),
        ("SHOW BINLOG EVENTS IN 'x' LIMIT 1", "Log_name", 6),
        ("SHOW RELAYLOG EVENTS", "Log_name", 6),
        ("SHOW PROFILE ALL FOR QUERY 1", "Status", 2),
        ("SHOW WARNINGS LIMIT 1", "Level", 3),
        ("EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t", "id", 12),
        ("DESC t v", "Field", 6),
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
        assert_eq!(
            (names[0].as_str(), names.len()),
            (first, columns),
            "{sql}: {names:?}"
        );
    }
}

#[test]
fn like_and_where_filter_rows() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(9))",
    );
    exec(&mut conn, "CREATE TABLE b (id INT)");
    for (sql, expected) in [
        ("SHOW TABLES LIKE 'b'", vec!["b"]),
        ("SHOW TABLES WHERE Tables_in_test = 'a'", vec!["a"]),
        (
            "SHOW TABLES WHERE Tables_in_test = 'a' AND ' AS b' <> 'b'",
            vec!["a"],
        ),
        (
            "SHOW SESSION VARIABLES WHERE Variable_name = 'autocommit' AND Value = 'ON'",
            vec!["autocommit|ON"],
        ),
        (
            "SHOW CHARACTER SET LIKE 'utf8mb4'",
            vec!["utf8mb4|UTF-8 Unicode|utf8mb4_0900_ai_ci|4"],
        ),
        (
            "SHOW FIELDS FROM a LIKE 'v'",
            vec!["v|varchar(9)|YES||NULL|"],
        ),
        (
            "SHOW ENGINES WHERE Support = 'DEFAULT' AND Transactions = 'NO'",
            vec![],
        ),
        (
            "SHOW COLLATION WHERE Charset = 'utf8mb4' AND `Default` = 'Yes'",
            vec!["utf8mb4_0900_ai_ci|utf8mb4|255|Yes|Yes|0|NO PAD"],
        ),
    ] {
        assert_eq!(all_of(&mut conn, sql), expected, "{sql}");
    }
}

#[test]
fn plans_have_mysqls_columns() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT, KEY kk (k))",
    );
    for (sql, expected) in [
        (
            "EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE id = 1",
            vec!["1|SIMPLE|t|NULL|const|PRIMARY|PRIMARY|NULL|const|1|100.00|NULL"],
        ),
        (
            "EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE k = 1",
            vec!["1|SIMPLE|t|NULL|ref|kk|kk|NULL|const|NULL|100.00|NULL"],
        ),
        (
            "EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t WHERE k > 1",
            vec!["1|SIMPLE|t|NULL|range|kk|kk|NULL|NULL|NULL|100.00|NULL"],
        ),
        (
            "EXPLAIN FORMAT=TRADITIONAL SELECT v FROM t ORDER BY v",
            vec!["1|SIMPLE|t|NULL|ALL|NULL|NULL|NULL|NULL|NULL|100.00|Using filesort"],
        ),
        (
            "EXPLAIN FORMAT=TRADITIONAL SELECT 1",
            vec!["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|No tables used"],
        ),
    ] {
        assert_eq!(all_of(&mut conn, sql), expected, "{sql}");
    }
    let json = one(
        &mut conn,
        "EXPLAIN FORMAT=JSON SELECT * FROM t WHERE id = 1",
    );
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["query_block"]["table"]["table_name"], "t");
    assert!(one(&mut conn, "EXPLAIN FORMAT=TREE SELECT * FROM t").starts_with("-> SCAN"));
}

#[test]
fn open_transactions_are_listed() {
    let running = Running::start();
    // The table has the transactions of all servers of this process: no other test's has such a number.
    let _others: Vec<_> = (0..40).map(|_| running.client()).collect();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (id INT PRIMARY KEY)");
    exec(&mut conn, "BEGIN");
    exec(&mut conn, "INSERT INTO t VALUES (1)");
    let id = one(&mut conn, "SELECT CONNECTION_ID()");
    let mut other = running.client();
    let sql = format!(
        "SELECT trx_state, trx_is_read_only, trx_started <= NOW() FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {id}"
    );
    assert_eq!(one(&mut other, &sql), "RUNNING|0|1");
    exec(&mut conn, "COMMIT");
    assert_eq!(all_of(&mut other, &sql).len(), 0);
    assert_eq!(
        all_of(
            &mut other,
            "SELECT NAME, N_COLS FROM information_schema.INNODB_TABLES WHERE NAME LIKE 'test/%'"
        ),
        ["test/t|1"]
    );
    assert_eq!(
        all_of(
            &mut other,
            "SELECT PLUGIN_NAME FROM information_schema.PLUGINS WHERE PLUGIN_TYPE = 'STORAGE ENGINE' ORDER BY 1"
        ),
        ["PERFORMANCE_SCHEMA", "SQLite"]
    );
}
