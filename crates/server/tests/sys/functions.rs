//! Functions of schema sys, and sys_config, whose options they follow.

use mysql::prelude::Queryable;

use crate::support::{Running, errno, exec, exec_for_all, one, rows};

#[test]
fn functions_answer() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.root();
    for (call, answer) in [
        ("sys.format_bytes(1536)", "1.50 KiB"),
        ("sys.format_bytes('2097152')", "2.00 MiB"),
        ("sys.format_bytes(NULL)", "NULL"),
        ("sys.format_time(3501)", "3.50 ns"),
        (
            "sys.format_statement(REPEAT('a', 100))",
            &format!("{0} ... {0}", "a".repeat(30)),
        ),
        ("sys.format_path(CONCAT(@@datadir, 'x'))", "@@datadir/x"),
        ("sys.list_add('A,B', 'C')", "A,B,C"),
        ("sys.list_drop('A,B,C', 'B')", "A,C"),
        ("sys.quote_identifier('a`b')", "`a``b`"),
        ("sys.sys_get_config('statement_truncate_len', 7)", "64"),
        ("sys.sys_get_config('nothing', 7)", "7"),
        (
            "CONCAT(sys.version_major(), sys.version_minor(), sys.version_patch())",
            "974",
        ),
        ("sys.extract_schema_from_file_name('/x/test.db')", "test"),
        (
            "sys.extract_table_from_file_name('/x/shop/orders.ibd')",
            "orders",
        ),
        (
            "sys.ps_is_consumer_enabled('events_statements_history')",
            "YES",
        ),
        (
            "sys.ps_is_instrument_default_enabled('wait/io/file/x/y')",
            "YES",
        ),
        ("sys.ps_is_instrument_default_timed('memory/x/y')", "NO"),
        ("sys.ps_is_thread_instrumented(CONNECTION_ID())", "YES"),
        ("sys.ps_is_thread_instrumented(0)", "UNKNOWN"),
        (
            "sys.ps_thread_account(sys.ps_thread_id(NULL))",
            "root@localhost",
        ),
        (
            "sys.ps_thread_id(CONNECTION_ID()) = sys.ps_thread_id(NULL)",
            "1",
        ),
        (
            "CONCAT_WS('|', PS_THREAD_ID(CONNECTION_ID()) = PS_CURRENT_THREAD_ID(), \
             IFNULL(PS_THREAD_ID(NULL), 'none'), IFNULL(PS_THREAD_ID(-7), 'none'), \
             sys.ps_thread_id(NULL) = PS_CURRENT_THREAD_ID())",
            "1|none|none|1",
        ),
    ] {
        assert_eq!(
            one(&mut client, &format!("SELECT {call}")),
            answer,
            "{call}"
        );
    }
    // A consumer has no effect if one above it is off.
    let consumer = |name: &str, on: &str| {
        format!(
            "UPDATE performance_schema.setup_consumers SET ENABLED = '{on}' WHERE NAME = '{name}'"
        )
    };
    let history = "SELECT sys.ps_is_consumer_enabled('events_stages_history_long')";
    exec_for_all(&mut client, &consumer("events_stages_history_long", "YES"));
    exec_for_all(&mut client, &consumer("events_stages_current", "NO"));
    assert_eq!(one(&mut client, history), "NO");
    exec_for_all(&mut client, &consumer("events_stages_current", "YES"));
    assert_eq!(one(&mut client, history), "YES");
    // An argument with the name of a column of the table that the function reads.
    let sql = "SELECT COUNT(*) FROM performance_schema.threads WHERE sys.ps_thread_id(PROCESSLIST_ID) = THREAD_ID AND PROCESSLIST_ID = CONNECTION_ID()";
    assert_eq!(one(&mut client, sql), "1");
    exec(&mut client, "USE sys");
    assert_eq!(one(&mut client, "SELECT format_bytes(1024)"), "1.00 KiB");
    exec(&mut client, "SET @sys.statement_truncate_len = 20");
    assert_eq!(one(&mut client, "SELECT @sys.statement_truncate_len"), "20");
    assert_eq!(
        one(
            &mut client,
            "SELECT CHAR_LENGTH(format_statement(REPEAT('a', 100)))"
        ),
        "21"
    );
    assert_eq!(errno(&mut client, "SELECT sys.list_add('a', NULL)"), 1138);
    assert_eq!(
        errno(&mut client, "SELECT sys.ps_is_consumer_enabled('nothing')"),
        3047
    );
    for (call, code) in [
        ("sys.list_add(REPEAT('a', 65536), 'b')", 1406),
        ("sys.sys_get_config(REPEAT('a', 129), 'b')", 1406),
        ("sys.ps_thread_account(-1)", 1264),
    ] {
        assert_eq!(
            errno(&mut client, &format!("SELECT {call}")),
            code,
            "{call}"
        );
    }
    exec(
        &mut client,
        &consumer("events_statements_history_long", "YES"),
    );
    exec(&mut client, "SELECT CHAR_LENGTH('for the stack')");
    let stack = one(
        &mut client,
        "SELECT sys.ps_thread_stack(sys.ps_thread_id(NULL), TRUE)",
    );
    assert!(
        stack.contains("\"rankdir\": \"LR\"") && stack.contains("SELECT CHAR_LENGTH"),
        "{stack}"
    );
    exec(&mut client, "START TRANSACTION");
    exec(&mut client, "COMMIT");
    let info = one(
        &mut client,
        "SELECT sys.ps_thread_trx_info(sys.ps_thread_id(NULL))",
    );
    assert!(info.starts_with('['), "{info}");
    exec(&mut client, "SET @sys.ps_thread_trx_info.max_length = 1");
    let info = one(
        &mut client,
        "SELECT JSON_KEYS(sys.ps_thread_trx_info(sys.ps_thread_id(NULL)))",
    );
    assert_eq!(info, "[\"error\"]");
    assert_eq!(
        one(&mut client, "SELECT sys.ps_thread_trx_info(1234567)"),
        "NULL"
    );
    let heading = client
        .query_iter("SELECT @sys.statement_truncate_len")
        .expect("a variable");
    assert_eq!(
        heading.columns().as_ref()[0].name_str(),
        "@sys.statement_truncate_len"
    );
}

#[test]
fn sys_config_is_a_table() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.root();
    let of =
        |name: &str| format!("SELECT value, set_by FROM sys.sys_config WHERE variable = '{name}'");
    assert_eq!(one(&mut client, &of("statement_truncate_len")), "64|NULL");
    exec(
        &mut client,
        "UPDATE sys.sys_config SET value = 10 WHERE variable = 'statement_truncate_len'",
    );
    assert_eq!(
        one(&mut client, &of("statement_truncate_len")),
        "10|root@localhost"
    );
    assert_eq!(
        one(&mut client, "SELECT sys.format_statement('abcdefghijklmn')"),
        "abc ... lmn"
    );
    exec(
        &mut client,
        "INSERT INTO sys.sys_config (variable, value) VALUES ('mine', 'x')",
    );
    assert_eq!(
        errno(
            &mut client,
            "INSERT INTO sys.sys_config (variable) VALUES ('mine')"
        ),
        1062
    );
    exec(
        &mut client,
        "DELETE FROM sys.sys_config WHERE variable = 'mine'",
    );
    assert!(rows(&mut client, &of("mine")).is_empty());
    assert_eq!(
        errno(&mut client, "UPDATE sys.sys_config SET set_by = 'x'"),
        1683
    );
    let mut monitor = running
        .tcp("monitor", Some(crate::support::MONITOR))
        .expect("connects");
    assert_eq!(
        one(&mut monitor, "SELECT COUNT(*) FROM sys.sys_config"),
        "6"
    );
    assert_eq!(errno(&mut monitor, "DELETE FROM sys.sys_config"), 1142);
}
