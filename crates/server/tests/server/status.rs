//! SHOW STATUS, and the tables about sessions.

use mysql::prelude::Queryable;

use super::support::{MONITOR, PASSWORD, Running, TIMEOUT, code, errno, exec, one, rows, until};

fn number(conn: &mut mysql::Conn, scope: &str, name: &str) -> u64 {
    let sql = format!("SHOW {scope} STATUS LIKE '{name}'");
    let rows = rows(conn, &sql);
    assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
    rows[0][1].parse().unwrap_or_else(|_| panic!("{rows:?}"))
}

#[test]
fn every_name_is_listed_once() {
    let running = Running::start();
    let mut conn = running.client();
    for (sql, least) in [
        ("SHOW GLOBAL STATUS", 190),
        ("SHOW SESSION STATUS", 190),
        ("SHOW GLOBAL VARIABLES", 604),
        ("SHOW SESSION VARIABLES", 628),
    ] {
        let mut names: Vec<String> = rows(&mut conn, sql)
            .into_iter()
            .map(|r| r[0].to_lowercase())
            .collect();
        assert!(names.len() >= least, "{sql}: {}", names.len());
        assert!(names.is_sorted(), "{sql}");
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{sql} has a name twice");
    }
    // As in MySQL, performance_schema counts commands in its statement tables only.
    let commands =
        "SELECT COUNT(*) FROM performance_schema.global_status WHERE VARIABLE_NAME LIKE 'Com\\_%'";
    assert_eq!(one(&mut conn, commands), "1");
}

#[test]
fn cache_sizes_are_in_pages() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a INT)");
    // A session updates these every 32 statements.
    for n in 0..40 {
        exec(&mut conn, &format!("INSERT INTO t VALUES ({n})"));
    }
    // In one statement: it may be the one after which the session updates them.
    let values = "SELECT LOWER(VARIABLE_NAME), VARIABLE_VALUE FROM performance_schema.global_status \
                  WHERE VARIABLE_NAME LIKE 'Innodb%'";
    let values: std::collections::HashMap<String, String> =
        conn.query(values).expect("rows").into_iter().collect();
    let of = |name: &str| -> u64 { values[&format!("innodb_{name}")].parse().expect("a number") };
    let (total, free) = (of("buffer_pool_pages_total"), of("buffer_pool_pages_free"));
    let (data, bytes) = (of("buffer_pool_pages_data"), of("buffer_pool_bytes_data"));
    assert!(
        total >= 4096 && total.is_multiple_of(4096),
        "{total}: 16 MiB for each database of a session"
    );
    assert!(
        data > 0 && bytes >= data * of("page_size"),
        "{data} {bytes}"
    );
    assert!(free < total && free > 0, "{free}");
    // There was no checkpoint yet.
    assert!(of("buffer_pool_pages_dirty") > 0);
}

/// Threads_cached is always 0, because there is no cache.
#[test]
fn threads_are_never_cached() {
    let running = Running::start();
    let mut conn = running.client();
    drop(running.client());
    assert_eq!(number(&mut conn, "GLOBAL", "Threads_cached"), 0);
    assert_eq!(one(&mut conn, "SELECT @@GLOBAL.thread_cache_size"), "0");
    assert_eq!(errno(&mut conn, "SET GLOBAL thread_cache_size = 8"), 1231);
}

/// PREPARE, EXECUTE and DEALLOCATE count as statements and as commands of the protocol, as in MySQL 9.7.4.
#[test]
fn statements_that_prepare_count_as_commands_too() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE again (a INT)");
    for sql in [
        "PREPARE s FROM 'SELECT 1'",
        "EXECUTE s",
        "PREPARE s FROM 'SELECT * FROM again'",
        "ALTER TABLE again ADD COLUMN b INT",
        "EXECUTE s",
        "DEALLOCATE PREPARE s",
    ] {
        exec(&mut conn, sql);
    }
    for (sql, code) in [
        ("PREPARE s FROM 'SELEC 1'", 1064),
        ("EXECUTE s", 1243),
        ("DEALLOCATE PREPARE s", 1243),
    ] {
        assert_eq!(errno(&mut conn, sql), code, "{sql}");
    }
    for (counter, count) in [
        ("Com_prepare_sql", 3),
        // Preparing a statement again counts, too.
        ("Com_stmt_prepare", 4),
        ("Com_stmt_reprepare", 1),
        ("Com_execute_sql", 3),
        ("Com_stmt_execute", 2),
        ("Com_dealloc_sql", 2),
        // The first one was closed by the second PREPARE.
        ("Com_stmt_close", 2),
    ] {
        assert_eq!(number(&mut conn, "SESSION", counter), count, "{counter}");
    }
}

/// A counter, statements to run before, and the statement that raises it.
type Raise = (&'static str, &'static [&'static str], &'static str);

/// Runs until it is stopped.
const ENDLESS: &str =
    "WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n) SELECT count(*) FROM n";

/// A statement for each counter of sessions that is not a command. `t` has a primary key, an index on `k`
/// and ten rows; `u` has no index.
const RAISES: &[Raise] = &[
    ("Bytes_received", &[], "DO 1"),
    ("Bytes_sent", &[], "DO 1"),
    (
        "Com_stmt_reprepare",
        &[],
        "EXECUTE of a table that was altered",
    ),
    ("Created_tmp_tables", &[], "SELECT DISTINCT n FROM u"),
    ("Handler_commit", &[], "SELECT * FROM t"),
    ("Handler_delete", &[], "DELETE FROM u WHERE n = 3"),
    ("Handler_external_lock", &[], "SELECT * FROM t"),
    ("Handler_read_first", &[], "SELECT k FROM t"),
    ("Handler_read_key", &[], "SELECT * FROM t WHERE id = 3"),
    ("Handler_read_last", &[], "SELECT k FROM t ORDER BY k DESC"),
    ("Handler_read_next", &[], "SELECT * FROM t WHERE k > 5"),
    (
        "Handler_read_prev",
        &[],
        "SELECT * FROM t WHERE k > 5 ORDER BY k DESC",
    ),
    ("Handler_read_rnd_next", &[], "SELECT * FROM u"),
    ("Handler_rollback", &["BEGIN"], "ROLLBACK"),
    ("Handler_savepoint", &["BEGIN"], "SAVEPOINT a"),
    (
        "Handler_savepoint_rollback",
        &["BEGIN", "SAVEPOINT a"],
        "ROLLBACK TO a",
    ),
    ("Handler_update", &[], "UPDATE u SET n = n + 1 WHERE n = 2"),
    ("Handler_write", &[], "INSERT INTO u VALUES (3), (2)"),
    ("Innodb_row_lock_time", &[], "a wait of another session"),
    (
        "Max_execution_time_exceeded",
        &["SET max_execution_time = 20"],
        ENDLESS,
    ),
    (
        "Max_execution_time_set",
        &["SET max_execution_time = 20000"],
        "SELECT 1",
    ),
    (
        "Opened_tables",
        &["CREATE TABLE opened (a INT)"],
        "SELECT * FROM opened",
    ),
    ("Queries", &[], "DO 1"),
    ("Questions", &[], "DO 1"),
    (
        "Select_full_join",
        &["SET max_execution_time = 0"],
        "SELECT COUNT(*) FROM u, t WHERE t.c + 0 > u.n",
    ),
    (
        "Select_full_range_join",
        &[],
        "SELECT COUNT(*) FROM u, t WHERE t.k > u.n",
    ),
    (
        "Select_range",
        &[],
        "SELECT * FROM t WHERE k BETWEEN 3 AND 5",
    ),
    ("Select_scan", &[], "SELECT * FROM u"),
    ("Slow_queries", &["SET long_query_time = 0"], "SELECT 1"),
    (
        "Sort_range",
        &["SET long_query_time = 10"],
        "SELECT * FROM t WHERE k > 3 ORDER BY c",
    ),
    ("Sort_rows", &[], "SELECT * FROM u ORDER BY n"),
    ("Sort_scan", &[], "SELECT * FROM u ORDER BY n"),
    ("Table_locks_immediate", &[], "INSERT INTO u VALUES (4)"),
    ("Table_locks_waited", &[], "a wait of another session"),
    (
        "Table_open_cache_hits",
        &["SELECT * FROM t"],
        "SELECT * FROM t",
    ),
    (
        "Table_open_cache_misses",
        &[],
        "SELECT *, 'never before' FROM t",
    ),
];

/// Variables of the server that no statement of a session raises. Other tests check them.
const OF_THE_SERVER: &[&str] = &[
    "Aborted_clients",
    "Aborted_connects",
    "Compression",
    "Connection_errors_accept",
    "Connection_errors_internal",
    "Connection_errors_max_connections",
    "Connections",
    "Created_tmp_files",
    "Flush_commands",
    "Max_used_connections",
    "Max_used_connections_time",
    "Open_files",
    "Open_table_definitions",
    "Open_tables",
    "Opened_files",
    "Prepared_stmt_count",
    "Ssl_accepts",
    "Ssl_cipher",
    "Ssl_cipher_list",
    "Ssl_finished_accepts",
    "Ssl_version",
    "Threads_cached",
    "Threads_connected",
    "Threads_created",
    "Threads_running",
    "Uptime",
    "Uptime_since_flush_status",
];

fn fill(conn: &mut mysql::Conn) {
    exec(
        conn,
        "CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL, c INT NOT NULL, KEY (k))",
    );
    exec(conn, "CREATE TABLE u (n INT)");
    for i in 0..10 {
        exec(conn, &format!("INSERT INTO t VALUES ({i}, {i}, -{i})"));
        exec(conn, &format!("INSERT INTO u VALUES ({i})"));
    }
}

#[test]
fn each_counter_is_raised_by_its_statement() {
    let running = Running::start();
    let (mut conn, mut other) = (running.client(), running.client());
    fill(&mut conn);
    for (name, setup, statement) in RAISES {
        for sql in *setup {
            exec(&mut conn, sql);
        }
        let before = number(&mut conn, "SESSION", name);
        match *statement {
            "a wait of another session" => {
                exec(&mut other, "BEGIN");
                exec(&mut other, "UPDATE u SET n = n WHERE n = 1");
                let release = std::thread::spawn(move || {
                    std::thread::sleep(std::time::Duration::from_millis(100));
                    exec(&mut other, "COMMIT");
                    other
                });
                exec(&mut conn, "UPDATE u SET n = n WHERE n = 1");
                other = release.join().expect("the other session commits");
            }
            "EXECUTE of a table that was altered" => {
                let prepared = conn.prep("SELECT * FROM u").expect("prepared");
                exec(&mut other, "CREATE INDEX later ON t (c)");
                conn.exec_drop(&prepared, ()).expect("executed");
                exec(&mut other, "DROP INDEX later ON t");
            }
            ENDLESS => {
                assert_eq!(errno(&mut conn, statement), 3024);
            }
            statement => exec(&mut conn, statement),
        }
        let raised = number(&mut conn, "SESSION", name);
        assert!(raised > before, "{name}: {statement}");
        if *name == "Handler_savepoint" || *name == "Handler_savepoint_rollback" {
            exec(&mut conn, "ROLLBACK");
        }
    }
}

#[test]
fn every_counter_has_a_statement_that_raises_it() {
    // 9.7 also has names of what cannot happen here: status/v9_7.rs has the reasons.
    let running = Running::with(|config| config.series = tare_server::Series::V8_0);
    let mut conn = running.client();
    for scope in ["GLOBAL", "SESSION"] {
        for row in rows(&mut conn, &format!("SHOW {scope} STATUS")) {
            let name = row[0].as_str();
            let is_listed = RAISES.iter().any(|(raised, ..)| *raised == name)
                || OF_THE_SERVER.contains(&name)
                // Losses of the segment, and counters of SQLite's files and caches (metrics.rs).
                || name.starts_with("Performance_schema_")
                || name.starts_with("Tare_")
                || name.starts_with("Innodb_")
                || is_command(name);
            assert!(is_listed, "{name} is shown; which statement raises it?");
        }
    }
    // Without a recording, counters about tables are left out.
    let running = Running::with(|config| config.performance_schema = false);
    let names: Vec<String> = rows(&mut running.client(), "SHOW STATUS")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    assert!(names.iter().any(|n| n == "Handler_write"));
}

/// Whether it is the counter of a statement or of a command of the protocol.
fn is_command(name: &str) -> bool {
    let requests = [
        "admin_commands",
        "stmt_close",
        "stmt_execute",
        "stmt_prepare",
        "stmt_reset",
        "stmt_send_long_data",
    ];
    let Some(command) = name.strip_prefix("Com_") else {
        return false;
    };
    let mut statements = tare_dialect::plan::Command::ALL.iter();
    requests.contains(&command) || statements.any(|command_of| command_of.name() == command)
}

#[test]
fn reads_are_counted_as_the_table_was_read() {
    let running = Running::start();
    let mut conn = running.client();
    fill(&mut conn);
    let names = [
        "Handler_read_first",
        "Handler_read_key",
        "Handler_read_next",
        "Handler_read_prev",
        "Handler_read_rnd_next",
        "Select_range",
        "Select_scan",
    ];
    for (sql, expected) in [
        ("SELECT c FROM t WHERE id = 3", [0, 1, 0, 0, 0, 0, 0]),
        ("SELECT c FROM t WHERE id = 30", [0, 1, 0, 0, 0, 0, 0]),
        ("SELECT c FROM t WHERE k >= 5", [0, 1, 4, 0, 0, 1, 0]),
        (
            "SELECT c FROM t WHERE k >= 5 ORDER BY k DESC",
            [0, 1, 0, 4, 0, 1, 0],
        ),
        ("SELECT k FROM t", [1, 0, 9, 0, 0, 0, 1]),
        ("SELECT c FROM t", [0, 0, 0, 0, 10, 0, 1]),
    ] {
        exec(&mut conn, "FLUSH STATUS");
        exec(&mut conn, sql);
        let counts = names.map(|name| number(&mut conn, "SESSION", name));
        assert_eq!(counts, expected, "{sql}: {names:?}");
    }
}

#[test]
fn a_session_counts_for_itself_and_the_server_for_all() {
    for running in [Running::start(), Running::pool()] {
        let (mut one, mut other) = (running.client(), running.client());
        exec(&mut one, "CREATE TABLE t (id INT PRIMARY KEY, n INT)");
        for i in 0..5 {
            exec(&mut one, &format!("INSERT INTO t VALUES ({i}, {i})"));
        }
        exec(&mut one, "UPDATE t SET n = n + 1 WHERE id < 3");
        exec(&mut one, "DELETE FROM t WHERE id = 4");
        exec(&mut one, "SELECT * FROM t ORDER BY n");
        exec(&mut one, "BEGIN");
        exec(&mut one, "SAVEPOINT a");
        exec(&mut one, "ROLLBACK TO a");
        exec(&mut one, "ROLLBACK");
        assert_eq!(errno(&mut one, "SELEC 1"), 1064);
        let _: Option<u8> = one
            .exec_first("SELECT id FROM t WHERE id = ?", (1,))
            .expect("runs");
        for (name, expected) in [
            ("Com_insert", 5),
            ("Com_update", 1),
            ("Com_delete", 1),
            ("Com_create_table", 1),
            ("Com_begin", 1),
            ("Com_rollback", 1),
            ("Com_savepoint", 1),
            ("Com_rollback_to_savepoint", 1),
            ("Com_stmt_prepare", 1),
            ("Com_stmt_execute", 1),
            ("Handler_write", 5),
            ("Handler_update", 3),
            ("Handler_delete", 1),
            ("Handler_rollback", 1),
            ("Handler_savepoint", 1),
            ("Handler_savepoint_rollback", 1),
            ("Sort_scan", 1),
            ("Sort_rows", 4),
            ("Select_scan", 1),
        ] {
            let count = number(&mut one, "SESSION", name);
            assert_eq!(count, expected, "{name}");
            assert_eq!(number(&mut other, "SESSION", name), 0, "{name} of another");
            assert_eq!(
                number(&mut other, "GLOBAL", name),
                expected,
                "{name} of the server"
            );
        }
        let before = number(&mut one, "SESSION", "Questions");
        assert_eq!(number(&mut one, "SESSION", "Questions"), before + 1);
        assert!(number(&mut one, "SESSION", "Bytes_sent") > 500);
        assert!(number(&mut one, "SESSION", "Bytes_received") > 300);
        // The counts of an ended session remain.
        drop(one);
        assert_eq!(number(&mut other, "GLOBAL", "Com_insert"), 5);
        let by_user = "SELECT VARIABLE_VALUE FROM performance_schema.status_by_user \
                       WHERE USER = 'root' AND VARIABLE_NAME = 'Handler_write'";
        assert_eq!(super::support::one(&mut other, by_user), "5");
    }
}

#[test]
fn flush_status_resets_sessions_but_not_the_server() {
    let running = Running::start();
    let mut conn = running.client();
    let mut other = running.client();
    exec(&mut conn, "DO 1");
    exec(&mut other, "DO 1");
    exec(&mut conn, "FLUSH STATUS");
    assert_eq!(number(&mut other, "SESSION", "Com_do"), 0);
    assert_eq!(number(&mut conn, "GLOBAL", "Com_do"), 2);
    assert_eq!(number(&mut conn, "SESSION", "Com_flush"), 0);
    assert_eq!(number(&mut conn, "GLOBAL", "Com_flush"), 1);
    exec(
        &mut conn,
        "TRUNCATE TABLE performance_schema.status_by_user",
    );
    let questions = "SELECT VARIABLE_VALUE < 3 FROM performance_schema.status_by_user \
                     WHERE USER = 'root' AND VARIABLE_NAME = 'Questions'";
    assert_eq!(one(&mut conn, questions), "1");
}

#[test]
fn failed_connections_are_counted_by_host() {
    let running = Running::start();
    let mut conn = running.client();
    drop(running.tcp("root", Some(PASSWORD)).expect("connects"));
    assert_eq!(code(running.tcp("root", Some("wrong"))), 1045);
    assert_eq!(code(running.tcp("nobody", Some("wrong"))), 1045);
    let broken = std::net::TcpStream::connect(("127.0.0.1", running.port())).expect("connects");
    drop(broken);
    let errors = "SELECT IP, HOST, COUNT_AUTHENTICATION_ERRORS, COUNT_HANDSHAKE_ERRORS, SUM_CONNECT_ERRORS, \
                  FIRST_ERROR_SEEN IS NOT NULL FROM performance_schema.host_cache";
    let deadline = std::time::Instant::now() + TIMEOUT;
    loop {
        let counts = one(&mut conn, errors);
        if counts == "127.0.0.1|localhost|2|1|1|1" {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{counts}");
    }
    assert_eq!(number(&mut conn, "GLOBAL", "Aborted_connects"), 3);
    exec(&mut conn, "TRUNCATE TABLE performance_schema.host_cache");
    assert!(rows(&mut conn, errors).is_empty());
}

#[test]
fn variables_and_attributes_are_visible_to_other_sessions() {
    let running = Running::start();
    let (mut a, mut b) = (running.client(), running.client());
    exec(
        &mut a,
        "SET @x = 5, @y = 'text', @z = NULL, SESSION wait_timeout = 1234",
    );
    exec(&mut a, "SET GLOBAL long_query_time = 3");
    let id = a.connection_id();
    let thread = format!(
        "(SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {id} LIMIT 1)"
    );
    let user = format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.user_variables_by_thread \
         WHERE THREAD_ID = {thread} ORDER BY 1"
    );
    assert_eq!(
        rows(&mut b, &user),
        [["x", "5"], ["y", "text"], ["z", "NULL"]]
    );
    let system = format!(
        "SELECT VARIABLE_VALUE FROM performance_schema.variables_by_thread \
         WHERE THREAD_ID = {thread} AND VARIABLE_NAME = 'wait_timeout'"
    );
    assert_eq!(one(&mut b, &system), "1234");
    let info = "SELECT VARIABLE_SOURCE, MIN_VALUE, SET_USER, SET_HOST, SET_TIME IS NOT NULL \
                FROM performance_schema.variables_info WHERE VARIABLE_NAME = 'long_query_time'";
    assert_eq!(one(&mut b, info), "DYNAMIC|0|root|localhost|1");
    let attributes = format!(
        "SELECT COUNT(*) > 2 FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = {id}"
    );
    assert_eq!(one(&mut b, &attributes), "1");
    let uuid = "SELECT SERVER_UUID = @@server_uuid, LENGTH(SERVER_UUID) FROM performance_schema.log_status";
    assert_eq!(one(&mut b, uuid), "1|36");
    exec(&mut b, "SET GLOBAL long_query_time = DEFAULT");
    // monitor may not flush.
    let mut monitor = running.tcp("monitor", Some(MONITOR)).expect("connects");
    assert_eq!(errno(&mut monitor, "FLUSH STATUS"), 1227);
}

#[test]
fn prepared_statements_end_with_their_client() {
    let running = Running::start();
    let mut watcher = running.root();
    let none = number(&mut watcher, "GLOBAL", "Prepared_stmt_count");
    let mut gone = running.root();
    gone.prep("SELECT 1").expect("prepared");
    gone.prep("SELECT 2").expect("prepared");
    let both = number(&mut watcher, "GLOBAL", "Prepared_stmt_count");
    assert_eq!(both, none + 2);
    // A killed client does not close them first.
    exec(&mut watcher, &format!("KILL {}", gone.connection_id()));
    let ended = (0..3000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        number(&mut watcher, "GLOBAL", "Prepared_stmt_count") == none
    });
    assert!(ended, "they are still counted");
}

/// The expected rows are MySQL 9.7.4's.
#[test]
fn failed_logins_and_binary_variables_are_recorded() {
    let running = Running::start();
    let mut root = running.client();
    for _ in 0..2 {
        assert_eq!(
            super::support::code(running.tcp("nobody_here", Some("wrong"))),
            1045
        );
    }
    let account = "SELECT CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM performance_schema.accounts \
                   WHERE USER = 'nobody_here' AND HOST = 'localhost'";
    until("the logins have ended", || one(&mut root, account) == "0|2");
    exec(&mut root, "SET @b = x'00ff80', @u = 'é', @n = NULL, @i = 5");
    // Without THREAD_ID: the servers of a process share performance_schema, and number their connections alike.
    let values = "SELECT GROUP_CONCAT(VARIABLE_NAME, ' ', IFNULL(HEX(VARIABLE_VALUE), '-') ORDER BY VARIABLE_NAME) \
                  FROM performance_schema.user_variables_by_thread";
    assert_eq!(one(&mut root, values), "b 00FF80,i 35,n -,u C3A9");
    let equal = "SELECT COUNT(*) FROM performance_schema.user_variables_by_thread WHERE VARIABLE_VALUE = 'é'";
    assert_eq!(one(&mut root, equal), "1");
}
