//! The server's own performance_schema, compared with independent counts.

use super::support::{Running, one};
#[cfg(feature = "instrument")]
use super::support::{errno, exec, rows};

/// The thread of the session. Tests read the rows of their own threads, because all servers of a process
/// share performance_schema.
#[cfg(feature = "instrument")]
fn thread(conn: &mut mysql::Conn) -> String {
    one(conn, "SELECT ps_current_thread_id()")
}

#[cfg(feature = "instrument")]
#[test]
fn statements_are_counted_one_by_one() {
    for running in [Running::start(), Running::pool()] {
        let mut conn = running.client();
        let mut observer = running.client();
        exec(&mut conn, "CREATE TABLE t (id INT PRIMARY KEY)");
        let id = thread(&mut conn);
        let count = |observer: &mut mysql::Conn, event: &str| -> u64 {
            one(observer, &format!(
                "SELECT sum(count_star) FROM performance_schema.events_statements_summary_by_thread_by_event_name \
                 WHERE thread_id = {id} AND event_name = '{event}'"
            )).parse().expect("a number")
        };
        let before = count(&mut observer, "statement/sql/insert");
        for n in 0..17 {
            exec(&mut conn, &format!("INSERT INTO t VALUES ({n})"));
        }
        assert_eq!(count(&mut observer, "statement/sql/insert") - before, 17);
        use mysql::prelude::Queryable;
        let select = conn
            .prep("SELECT * FROM t WHERE id >= ?")
            .expect("prepared");
        for n in 0..5 {
            let selected: Vec<u32> = conn.exec(&select, (n,)).expect("rows");
            assert_eq!(selected.len(), 17 - n as usize);
        }
        assert_eq!(count(&mut observer, "statement/com/Execute"), 5);
        let sums = one(
            &mut observer,
            &format!(
                "SELECT sum_rows_sent, sum_rows_affected FROM performance_schema.events_statements_summary_by_thread_by_event_name \
             WHERE thread_id = {id} AND event_name = 'statement/com/Execute'"
            ),
        );
        assert_eq!(sums, format!("{}|0", 17 + 16 + 15 + 14 + 13));
        let _ = super::support::errno(&mut conn, "SELECT * FROM nope");
        let history = rows(
            &mut observer,
            &format!(
                "SELECT sql_text, mysql_errno, returned_sqlstate FROM performance_schema.events_statements_history \
             WHERE thread_id = {id} ORDER BY event_id DESC LIMIT 1"
            ),
        );
        assert_eq!(history, [["SELECT * FROM nope", "1146", "42S02"]]);
    }
}

#[cfg(feature = "instrument")]
#[test]
fn a_session_is_a_thread_with_its_account() {
    for running in [Running::start(), Running::pool()] {
        let mut conn = running.client();
        let id = thread(&mut conn);
        let row = one(
            &mut conn,
            &format!(
                "SELECT name, processlist_user, processlist_host, processlist_db, processlist_command FROM performance_schema.threads WHERE thread_id = {id}"
            ),
        );
        assert_eq!(row, "thread/sql/one_connection|root|localhost|test|Query");
    }
}

#[cfg(feature = "instrument")]
#[test]
fn sqlites_files_and_memory_are_recorded() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(100))",
    );
    exec(&mut conn, "INSERT INTO t VALUES (1, 'x')");
    let path = running.directory.path().join("test.db");
    let wal = format!("{}-wal", path.display());
    let written = one(
        &mut conn,
        &format!(
            "SELECT event_name, sum_number_of_bytes_write > 4096 FROM performance_schema.file_summary_by_instance WHERE file_name = '{wal}'"
        ),
    );
    assert_eq!(written, "wait/io/file/tare/sqlite_wal|1");
    let memory = one(
        &mut conn,
        "SELECT current_number_of_bytes_used > 0 FROM performance_schema.memory_summary_global_by_event_name WHERE event_name = 'memory/sqlite/heap'",
    );
    assert_eq!(memory, "1");
}

/// The setting applies to SQLite's memory when a statement begins, and while it runs.
#[cfg(feature = "instrument")]
#[test]
fn enabling_a_thread_counts_the_memory_of_its_statement() {
    let running = Running::start();
    let mut observer = running.client();
    exec(&mut observer, "CREATE TABLE t (id INT PRIMARY KEY)");
    exec(
        &mut observer,
        "INSERT INTO t VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    );
    let mut conn = running.client();
    let (id, session) = (thread(&mut conn), one(&mut conn, "SELECT CONNECTION_ID()"));
    let instrument = |observer: &mut mysql::Conn, how: &str| {
        let sql = format!(
            "UPDATE performance_schema.threads SET INSTRUMENTED = '{how}' WHERE THREAD_ID = {id}"
        );
        exec(observer, &sql);
    };
    let allocations =
        |observer: &mut mysql::Conn| -> u64 {
            one(observer, &format!(
            "SELECT COUNT_ALLOC FROM performance_schema.memory_summary_by_thread_by_event_name \
             WHERE THREAD_ID = {id} AND EVENT_NAME = 'memory/sqlite/heap'"
        )).parse().expect("a number")
        };
    // Each row sorts for a GROUP BY, which allocates memory.
    let sorts =
        "SELECT count((SELECT count(*) FROM t AS u GROUP BY u.id + a.id LIMIT 1)) FROM t AS a";
    exec(&mut conn, sorts);
    let before = allocations(&mut observer);
    exec(&mut conn, sorts);
    assert!(allocations(&mut observer) >= before + 10);
    instrument(&mut observer, "NO");
    let before = allocations(&mut observer);
    exec(&mut conn, sorts);
    assert_eq!(allocations(&mut observer), before);
    // 10 to the power of 12 rows.
    let endless = ["b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
        .map(|name| format!(", t AS {name}"))
        .concat();
    let endless = format!("{sorts}{endless}");
    let runs = std::thread::spawn(move || {
        use mysql::prelude::Queryable;
        let ended = conn.query_drop(endless);
        (conn, ended)
    });
    while !super::support::runs(&mut observer, &session) {
        std::thread::yield_now();
    }
    instrument(&mut observer, "YES");
    while allocations(&mut observer) == before {
        std::thread::yield_now();
    }
    exec(&mut observer, &format!("KILL QUERY {session}"));
    let (_conn, ended) = runs.join().expect("the client's thread");
    ended.expect_err("it was killed");
}

#[test]
fn a_server_without_performance_schema_serves() {
    let running = Running::with(|c| c.performance_schema = false);
    let mut conn = running.client();
    assert_eq!(one(&mut conn, "SELECT @@performance_schema"), "0");
    assert_eq!(
        one(&mut conn, "SELECT count(*) FROM performance_schema.threads"),
        "0"
    );
}

/// PREPARE, EXECUTE and DEALLOCATE have the text of the prepared statement and a digest of their own, as in
/// MySQL 9.7.4. In MySQL 8.0.15 they have their own text and digest.
#[cfg(feature = "instrument")]
#[test]
fn prepare_execute_and_deallocate_have_their_own_digests() {
    use super::support::errno;
    use mysql::prelude::Queryable;
    use tare_mysql::series::Series;
    const NAMED: [(&str, u16); 7] = [
        ("PREPARE s FROM 'SELECT 1 + ?'", 0),
        ("SET @a = 1", 0),
        ("EXECUTE s USING @a", 0),
        ("EXECUTE s", 1210),
        ("PREPARE s FROM 'SELEC 1'", 1064),
        // The failed PREPARE has removed it.
        ("EXECUTE s", 1243),
        ("PREPARE s FROM 'SELECT * FROM nowhere'", 1146),
    ];
    let recorded = |series| {
        let running = Running::with(|config| config.series = series);
        let mut conn = running.client();
        let mut observer = running.client();
        let id = thread(&mut conn);
        for (sql, code) in NAMED {
            match code {
                0 => exec(&mut conn, sql),
                code => assert_eq!(errno(&mut conn, sql), code, "{sql}"),
            }
        }
        let select = conn.prep("SELECT 'x' AS a").expect("prepared");
        let _: Vec<String> = conn.exec(&select, ()).expect("rows");
        conn.close(select).expect("closed");
        exec(&mut conn, "DO 1");
        let history = format!(
            "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1), SQL_TEXT, DIGEST_TEXT FROM \
             performance_schema.events_statements_history WHERE THREAD_ID = {id} \
             AND EVENT_NAME NOT LIKE '%set_option' ORDER BY EVENT_ID DESC LIMIT 1, 9"
        );
        let mut recorded = rows(&mut observer, &history);
        recorded.reverse();
        recorded
    };
    assert_eq!(
        recorded(Series::V9_7),
        [
            ["execute_sql", "SELECT 1 + ?", "EXECUTE SELECT ? + ?"],
            ["execute_sql", "SELECT 1 + ?", "EXECUTE SELECT ? + ?"],
            ["prepare_sql", "PREPARE s FROM ...", "NULL"],
            ["execute_sql", "EXECUTE s", "NULL"],
            [
                "prepare_sql",
                "SELECT * FROM nowhere",
                "PREPARE SELECT * FROM `nowhere`"
            ],
            ["Prepare", "SELECT 'x' AS a", "PREPARE SELECT ? AS `a`"],
            ["Execute", "SELECT 'x' AS a", "EXECUTE SELECT ? AS `a`"],
            [
                "Close stmt",
                "SELECT 'x' AS a",
                "DEALLOCATE SELECT ? AS `a`"
            ],
        ]
    );
    let v8_0 = recorded(Series::V8_0);
    assert_eq!(v8_0[1], ["execute_sql", "EXECUTE s", "EXECUTE `s`"]);
    assert_eq!(v8_0[6], ["Execute", "SELECT 'x' AS a", "SELECT ? AS `a`"]);
}

/// The expected classes and digests are MySQL 9.7.4's.
#[cfg(feature = "instrument")]
#[test]
fn statements_that_fail_have_the_class_of_their_kind() {
    let running = Running::start();
    let (mut conn, mut root) = (running.client(), running.client());
    exec(&mut conn, "CREATE TABLE t (id INT PRIMARY KEY)");
    let thread = one(&mut conn, "SELECT PS_CURRENT_THREAD_ID()");
    let last = format!(
        "SELECT EVENT_NAME, IFNULL(DIGEST_TEXT, '-'), MYSQL_ERRNO FROM performance_schema.events_statements_history \
         WHERE THREAD_ID = {thread} ORDER BY EVENT_ID DESC LIMIT 1"
    );
    for (sql, event) in [
        ("SELEC 1", "error|-|1064"),
        ("SELECT", "error|-|1064"),
        ("SELECT 1+", "error|-|1064"),
        ("INSERT INTO t", "error|-|1064"),
        ("CREATE USER", "error|-|1064"),
        ("SELECT ?", "error|-|1064"),
        ("", "error|-|1065"),
        (
            "INSERT INTO missing VALUES (1)",
            "insert|INSERT INTO `missing` VALUES (?)|1146",
        ),
        (
            "INSERT INTO missing SELECT 1",
            "insert_select|INSERT INTO `missing` SELECT ?|1146",
        ),
        (
            "REPLACE INTO missing VALUES (1)",
            "replace|REPLACE INTO `missing` VALUES (?)|1146",
        ),
        (
            "INSERT INTO t VALUES (1,2)",
            "insert|INSERT INTO `t` VALUES (...)|1136",
        ),
        (
            "INSERT INTO t (x) VALUES (1)",
            "insert|INSERT INTO `t` ( `x` ) VALUES (?)|1054",
        ),
        (
            "UPDATE missing SET a=1",
            "update|UPDATE `missing` SET `a` = ?|1146",
        ),
        ("DELETE FROM missing", "delete|DELETE FROM `missing`|1146"),
        (
            "SELECT * FROM missing",
            "select|SELECT * FROM `missing`|1146",
        ),
        ("SELECT nofunc(1)", "select|SELECT `nofunc` (?)|1305"),
        ("DO nofunc()", "do|DO `nofunc` ( )|1305"),
        ("CALL missing()", "call_procedure|CALL `missing` ( )|1305"),
        (
            "ALTER TABLE missing ADD x INT",
            "alter_table|ALTER TABLE `missing` ADD `x` INTEGER|1146",
        ),
    ] {
        assert_ne!(errno(&mut conn, sql), 0, "{sql}");
        let event = format!("statement/sql/{event}");
        assert_eq!(one(&mut root, &last), event, "{sql}");
    }
    let counts = "SELECT COUNT_STAR, SUM_ERRORS FROM performance_schema.events_statements_summary_by_thread_by_event_name \
                  WHERE EVENT_NAME = 'statement/sql/error' AND THREAD_ID = ";
    assert_eq!(one(&mut root, &format!("{counts}{thread}")), "7|7");
}
