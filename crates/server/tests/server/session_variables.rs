//! What clients set when they connect. The expected answers are MySQL 9.7.4's.

use mysql::prelude::Queryable;

use super::support::{Running, code, exec, one, rows};

/// Statements of connectors, frameworks and tools. Each is accepted.
const AT_CONNECT: [&str; 28] = [
    // Connector/J and MariaDB's connector.
    "SET character_set_results = NULL, autocommit = 1, sql_mode = 'STRICT_TRANS_TABLES', net_write_timeout = 600",
    "SET profiling = 1",
    "SET autocommit=1, session_track_schema=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')",
    "SET session_track_system_variables = CONCAT(@@session_track_system_variables, ',auto_increment_increment')",
    "SET session_track_transaction_info = 'CHARACTERISTICS', session_track_gtids = OWN_GTID",
    // Rails, Django, SQLAlchemy.
    "SET @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'), \
     @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483",
    "SET SQL_AUTO_IS_NULL = 0",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    // mysqldump and mysqlpump.
    "SET SQL_QUOTE_SHOW_CREATE=1, @@SESSION.SQL_LOG_BIN = 0",
    "SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400",
    "SET SESSION information_schema_stats_expiry=0",
    "SET SESSION gtid_next = 'AUTOMATIC'",
    "SET SQL_NOTES=0, UNIQUE_CHECKS=0, FOREIGN_KEY_CHECKS=0",
    // mysql --safe-updates.
    "SET SQL_SAFE_UPDATES=1, SQL_SELECT_LIMIT=1000, MAX_JOIN_SIZE=1000000",
    // phpMyAdmin, DBeaver, Workbench, HeidiSQL.
    "SET lc_messages = 'en_US'",
    "SET collation_connection = 'utf8mb4_unicode_ci'",
    "SET SQL_SAFE_UPDATES=0",
    "SET SQL_BIG_SELECTS=1",
    "SET SESSION TRANSACTION READ WRITE",
    "SET SESSION optimizer_trace='enabled=on'",
    "SET optimizer_switch = 'mrr_cost_based=off,derived_merge=off'",
    // Percona's tools, gh-ost, and those who tune a session.
    "SET SESSION innodb_lock_wait_timeout=1, SESSION lock_wait_timeout=60, SESSION wait_timeout=10000",
    "SET sql_log_off = 1",
    "SET SESSION sort_buffer_size = 4194304, join_buffer_size = 4194304, read_rnd_buffer_size = 1048576",
    "SET tmp_table_size = 64 * 1024 * 1024, max_heap_table_size = 64 * 1024 * 1024",
    "SET SESSION group_concat_max_len = 18446744073709551615",
    "SET SESSION long_query_time = 0.5",
    "SET SESSION max_execution_time = 60000, cte_max_recursion_depth = 10000",
];

#[test]
fn what_clients_set_at_connect_is_accepted() {
    let running = Running::start();
    for sql in AT_CONNECT {
        let mut conn = running.client();
        exec(&mut conn, sql);
    }
}

/// The text of a variable after a SET, and the numbers of its warnings.
fn set(conn: &mut mysql::Conn, variable: &str, value: &str) -> (u16, String, Vec<String>) {
    let result = code(conn.query_drop(format!("SET SESSION {variable} = {value}")));
    let warnings = match result {
        0 => rows(conn, "SHOW WARNINGS")
            .into_iter()
            .map(|row| row[1].clone())
            .collect(),
        _ => Vec::new(),
    };
    let text = rows(conn, &format!("SHOW VARIABLES LIKE '{variable}'"))[0][1].clone();
    (result, text, warnings)
}

#[test]
fn set_values_are_stored_as_mysql_stores_them() {
    let running = Running::start();
    let mut conn = running.client();
    for (variable, value, stored, warnings) in [
        ("profiling", "1", "ON", &["1287"][..]),
        ("gtid_next", "'automatic'", "AUTOMATIC", &[]),
        ("sql_log_off", "TRUE", "ON", &[]),
        ("tmp_table_size", "100000000", "100000000", &[]),
        ("tmp_table_size", "1", "1024", &["1292"]),
        ("sort_buffer_size", "1", "32768", &["1292"]),
        ("join_buffer_size", "262145", "262144", &["1292"]),
        (
            "max_heap_table_size",
            "18446744073709551615",
            "18446744073709550592",
            &["1292"],
        ),
        ("max_heap_table_size", "@@wait_timeout", "28672", &["1292"]),
        ("read_buffer_size", "8193", "8192", &["1292"]),
        ("query_prealloc_size", "8193", "8192", &["1287", "1292"]),
        ("transaction_alloc_block_size", "8193", "8192", &["1292"]),
        (
            "optimizer_trace",
            "'enabled=on'",
            "enabled=on,one_line=off",
            &[],
        ),
        (
            "optimizer_trace",
            "'one_line=on'",
            "enabled=on,one_line=on",
            &[],
        ),
        (
            "optimizer_trace",
            "DEFAULT",
            "enabled=off,one_line=off",
            &[],
        ),
        ("session_track_system_variables", "'*'", "*", &[]),
        (
            "session_track_system_variables",
            "'a,time_zone'",
            "a,time_zone",
            &["1231"],
        ),
        ("session_track_transaction_info", "1", "STATE", &[]),
        ("session_track_gtids", "'own_gtid'", "OWN_GTID", &[]),
        ("binlog_format", "'mixed'", "MIXED", &["1287"]),
        ("updatable_views_with_limit", "0", "NO", &[]),
        ("long_query_time", "2", "2.000000", &[]),
        ("sql_mode", "2097152", "STRICT_TRANS_TABLES", &["3135"]),
        ("sql_mode", "0", "", &[]),
        ("collation_connection", "'UTF8MB4_BIN'", "utf8mb4_bin", &[]),
    ] {
        let answer = set(&mut conn, variable, value);
        let expected: Vec<String> = warnings.iter().map(|&code| code.to_owned()).collect();
        assert_eq!(
            answer,
            (0, stored.to_owned(), expected),
            "{variable} = {value}"
        );
    }
    let switch = "mrr=on,mrr_cost_based=off,block_nested_loop=on";
    exec(&mut conn, "SET optimizer_switch = 'mrr_cost_based=OFF'");
    assert!(one(&mut conn, "SELECT @@optimizer_switch").contains(switch));
    exec(&mut conn, "SET optimizer_switch = 'default'");
    assert!(!one(&mut conn, "SELECT @@optimizer_switch").contains(switch));
    for (variable, value, error) in [
        ("gtid_next", "'x'", 1774),
        ("gtid_next", "1", 1232),
        ("sql_log_off", "2", 1231),
        ("sort_buffer_size", "'1'", 1232),
        ("sort_buffer_size", "1.5", 1232),
        ("sort_buffer_size", "NULL", 1232),
        ("wait_timeout", "99999999999999999999", 1232),
        ("optimizer_switch", "'mr=off'", 1231),
        ("optimizer_switch", "'mrr=off,mrr=on'", 1231),
        ("session_track_gtids", "'ON'", 1231),
        ("session_track_gtids", "3", 1231),
        ("sql_mode", "256", 3899),
        ("collation_connection", "'x'", 1273),
        ("last_insert_id", "DEFAULT", 1230),
    ] {
        assert_eq!(
            set(&mut conn, variable, value).0,
            error,
            "{variable} = {value}"
        );
    }
    // A reset, and another session, have the defaults.
    conn.reset().expect("resets");
    for mut conn in [conn, running.client()] {
        let values = "SELECT @@profiling, @@sql_log_off, @@optimizer_trace, @@session_track_gtids";
        assert_eq!(one(&mut conn, values), "0|0|enabled=off,one_line=off|OFF");
    }
    // Nothing here would be tuned for the server as a whole.
    let mut root = running.root();
    let error = root.query_drop("SET GLOBAL sort_buffer_size = 4194304");
    assert_eq!(code(error), 1231);
}

#[test]
fn an_interactive_client_has_interactive_timeout() {
    let running = Running::start();
    exec(&mut running.root(), "SET GLOBAL interactive_timeout = 1234");
    let mut conn = running.client();
    assert_eq!(one(&mut conn, "SELECT @@wait_timeout"), "28800");
    let mut raw = super::support::Raw::connect(&running);
    // PROTOCOL_41, SECURE_CONNECTION, INTERACTIVE.
    let mut packet = (0x200u32 | 0x8000 | 0x400).to_le_bytes().to_vec();
    packet.extend([0, 0, 0, 1, 45]);
    packet.extend([0; 23]);
    packet.extend(b"root\0\0");
    raw.send(1, &packet);
    assert_eq!(raw.read().expect("an answer")[0], 0);
    raw.query("SELECT @@wait_timeout");
    let row = (0..4).map(|_| raw.read().expect("a packet")).last();
    assert_eq!(row.expect("the row"), b"\x041234");
}
