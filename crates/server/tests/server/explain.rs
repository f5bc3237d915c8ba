//! EXPLAIN of statements on tables of performance_schema: the keys that MySQL's optimizer chooses. And
//! cases of MySQL's own test suites that failed here.

use super::support::{Running, errno, exec, one, rows};

/// type, possible_keys, key, key_len, ref, filtered and Extra.
fn explained(conn: &mut mysql::Conn, of: &str) -> String {
    let explain = format!("EXPLAIN FORMAT=TRADITIONAL SELECT COUNT(*) FROM {of}");
    let row = rows(conn, &explain).remove(0);
    [4, 5, 6, 7, 8, 10, 11].map(|at| row[at].as_str()).join(" ")
}

#[test]
fn explain_names_keys_of_system_tables_as_mysql_does() {
    let running = Running::start();
    let mut conn = running.root();
    exec(&mut conn, "USE performance_schema");
    for (of, expected) in [
        (
            "accounts WHERE USER = 'root'",
            "ref ACCOUNT ACCOUNT 129 const 100.00 NULL",
        ),
        (
            "accounts WHERE USER > 'root'",
            "ALL ACCOUNT NULL NULL NULL 33.33 Using where",
        ),
        (
            "accounts WHERE USER = 'root' AND HOST = 'localhost'",
            "const ACCOUNT ACCOUNT 385 const,const 100.00 NULL",
        ),
        (
            "accounts a WHERE a.USER = 'root' AND a.HOST < 'b'",
            "ref ACCOUNT ACCOUNT 129 const 33.33 Using where",
        ),
        (
            "accounts WHERE USER = 'nobody' AND HOST = 'nowhere'",
            "NULL NULL NULL NULL NULL NULL no matching row in const table",
        ),
        // A text compared with a bigint or an enum is looked up, and the condition tested again.
        (
            "events_waits_history WHERE THREAD_ID = 'none'",
            "ref PRIMARY PRIMARY 8 const 100.00 Using where",
        ),
        (
            "setup_objects WHERE OBJECT_TYPE = 'TABLE'",
            "ref OBJECT OBJECT 1 const 100.00 Using where",
        ),
        (
            "threads WHERE PROCESSLIST_USER = 'root' AND PROCESSLIST_HOST = 'localhost'",
            "ref PROCESSLIST_ACCOUNT,PROCESSLIST_HOST PROCESSLIST_ACCOUNT 389 const,const 100.00 NULL",
        ),
        (
            "threads WHERE NAME LIKE 'thread/sql/%'",
            "ALL NAME NULL NULL NULL 11.11 Using where",
        ),
        ("threads", "ALL NULL NULL NULL NULL 100.00 NULL"),
    ] {
        assert_eq!(explained(&mut conn, of), expected, "{of}");
    }
    // A statement that cannot run cannot be explained.
    assert_eq!(
        errno(&mut conn, "EXPLAIN SELECT nothing FROM threads"),
        1054
    );
}

#[test]
fn a_lookup_in_a_system_table_counts_as_a_read_by_key() {
    let running = Running::start();
    let mut conn = running.root();
    let counted = "SELECT VARIABLE_VALUE FROM performance_schema.session_status \
                   WHERE VARIABLE_NAME LIKE 'Handler_read_key'";
    let read = |conn: &mut mysql::Conn, sql: &str| {
        let before: u64 = one(conn, counted).parse().expect("a number");
        exec(conn, sql);
        one(conn, counted).parse::<u64>().expect("a number") - before
    };
    let by_key = "SELECT * FROM performance_schema.threads WHERE THREAD_ID = 1";
    let scan = "SELECT * FROM performance_schema.threads WHERE TYPE = 'FOREGROUND'";
    assert_eq!((read(&mut conn, by_key), read(&mut conn, scan)), (1, 0));
}

#[test]
fn system_tables_are_described_with_defaults_keys_and_collations() {
    let running = Running::start();
    let mut conn = running.root();
    let actors = rows(&mut conn, "DESCRIBE performance_schema.setup_actors");
    let host = ["HOST", "char(255)", "NO", "PRI", "%", ""];
    assert_eq!(actors[0], host);
    assert_eq!(actors[3][4], "YES");
    let summary = rows(&mut conn, "DESCRIBE sys.host_summary");
    assert!(
        summary
            .iter()
            .any(|row| row[0] == "unique_users" && row[4] == "0")
    );
    let created = rows(&mut conn, "SHOW CREATE TABLE performance_schema.accounts");
    let text = &created[0][1];
    assert!(
        text.contains("CHARACTER SET ascii COLLATE ascii_general_ci DEFAULT NULL"),
        "{text}"
    );
    assert!(
        text.contains("CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL"),
        "{text}"
    );
    let key = rows(
        &mut conn,
        "DESCRIBE performance_schema.events_errors_summary_global_by_error",
    );
    assert_eq!(key[0][3], "UNI");
}

#[test]
fn results_of_mysqls_suites_hold() {
    let running = Running::start();
    let mut conn = running.root();
    // MySQL's own client sends this when it connects, and reads no rows.
    assert_eq!(errno(&mut conn, "select $$"), 1054);
    assert_eq!(errno(&mut conn, "select $a"), 1054);
    for allowed in [
        "LOCK TABLES performance_schema.setup_consumers WRITE",
        "UNLOCK TABLES",
        "TRUNCATE performance_schema.global_status",
        "TRUNCATE performance_schema.binary_log_transaction_compression_stats",
        "SET @saved = @@performance_schema_show_processlist",
        "SET GLOBAL performance_schema_show_processlist = ON",
        "SET SESSION sql_mode = sys.list_drop(@@sql_mode, 'NO_ZERO_DATE')",
    ] {
        exec(&mut conn, allowed);
    }
    assert!(!one(&mut conn, "SELECT @@sql_mode").contains("NO_ZERO_DATE"));
    let denied = "LOCK TABLES performance_schema.accounts READ";
    assert_eq!(errno(&mut conn, denied), 1142);
    let twice = "INSERT INTO performance_schema.setup_actors VALUES ('%', '%', '%', 'YES', 'YES')";
    assert_eq!(errno(&mut conn, twice), 1022);
    assert_eq!(
        one(&mut conn, "SELECT sys.ps_is_thread_instrumented(NULL)"),
        "NULL"
    );
    exec(&mut conn, "FLUSH PRIVILEGES");
    assert_eq!(rows(&mut conn, "SHOW WARNINGS")[0][1], "1681");
    exec(&mut conn, "CREATE DATABASE d");
    exec(&mut conn, "CREATE TABLE d.t (a DOUBLE(7,6), b DOUBLE)");
    let warned = rows(&mut conn, "SHOW WARNINGS");
    assert_eq!(warned.len(), 1);
    assert_eq!(warned[0][..2], ["Warning", "1681"]);
}
