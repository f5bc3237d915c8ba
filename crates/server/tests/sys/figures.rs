//! The views' figures are those of the tables. A statement reads one snapshot, in which they agree exactly.

use crate::support::{Running, exec, one, rows};
use crate::views::load;

/// A query of a view, and one of its tables. They are not empty.
const SAME: [(&str, &str); 32] = [
    // Statements.
    (
        "SELECT SUM(exec_count), SUM(total_latency), SUM(lock_latency), SUM(rows_sent), SUM(rows_examined), SUM(err_count) FROM sys.x$statement_analysis",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT), SUM(SUM_LOCK_TIME), SUM(SUM_ROWS_SENT), SUM(SUM_ROWS_EXAMINED), SUM(SUM_ERRORS) FROM performance_schema.events_statements_summary_by_digest",
    ),
    (
        "SELECT total_latency, avg_latency, max_latency FROM sys.statement_analysis WHERE query LIKE 'INSERT INTO `t`%'",
        "SELECT sys.format_time(SUM_TIMER_WAIT), sys.format_time(AVG_TIMER_WAIT), sys.format_time(MAX_TIMER_WAIT) FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE 'INSERT INTO `t`%'",
    ),
    (
        "SELECT SUM(errors), COUNT(*) FROM sys.statements_with_errors_or_warnings",
        "SELECT SUM(SUM_ERRORS), COUNT(*) FROM performance_schema.events_statements_summary_by_digest WHERE SUM_ERRORS + SUM_WARNINGS > 0",
    ),
    (
        "SELECT SUM(sorts_using_scans), COUNT(*) FROM sys.statements_with_sorting",
        "SELECT SUM(SUM_SORT_SCAN), COUNT(*) FROM performance_schema.events_statements_summary_by_digest WHERE SUM_SORT_ROWS + SUM_SORT_SCAN + SUM_SORT_RANGE > 0",
    ),
    (
        "SELECT SUM(cnt) FROM sys.x$ps_digest_avg_latency_distribution",
        "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest",
    ),
    (
        "SELECT COUNT(*) >= 1 FROM sys.statements_with_runtimes_in_95th_percentile",
        "SELECT 1",
    ),
    // By host and user.
    (
        "SELECT statements, statement_latency, table_scans FROM sys.x$host_summary WHERE host = 'localhost'",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT), SUM(SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED) FROM performance_schema.events_statements_summary_by_host_by_event_name WHERE HOST = 'localhost'",
    ),
    (
        "SELECT file_ios, file_io_latency FROM sys.x$host_summary WHERE host = 'localhost'",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) FROM performance_schema.events_waits_summary_by_host_by_event_name WHERE HOST = 'localhost' AND EVENT_NAME LIKE 'wait/io/file/%'",
    ),
    (
        "SELECT current_connections, total_connections, unique_users FROM sys.x$host_summary WHERE host = 'localhost'",
        "SELECT SUM(CURRENT_CONNECTIONS), SUM(TOTAL_CONNECTIONS), COUNT(DISTINCT USER) FROM performance_schema.accounts WHERE HOST = 'localhost'",
    ),
    (
        "SELECT current_memory, total_memory_allocated FROM sys.x$host_summary WHERE host = 'localhost'",
        "SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED), SUM(SUM_NUMBER_OF_BYTES_ALLOC) FROM performance_schema.memory_summary_by_host_by_event_name WHERE HOST = 'localhost'",
    ),
    (
        // Rounded, because averages may differ in how the last digit is rounded.
        "SELECT statements, statement_latency, ROUND(statement_avg_latency) FROM sys.x$user_summary WHERE user = 'root'",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT), ROUND(SUM(SUM_TIMER_WAIT) / SUM(COUNT_STAR)) FROM performance_schema.events_statements_summary_by_user_by_event_name WHERE USER = 'root'",
    ),
    (
        "SELECT file_ios, current_memory FROM sys.x$user_summary WHERE user = 'root'",
        "SELECT (SELECT SUM(COUNT_STAR) FROM performance_schema.events_waits_summary_by_user_by_event_name WHERE USER = 'root' AND EVENT_NAME LIKE 'wait/io/file/%'), (SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED) FROM performance_schema.memory_summary_by_user_by_event_name WHERE USER = 'root')",
    ),
    (
        "SELECT SUM(ios), SUM(io_latency) FROM sys.x$user_summary_by_file_io",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) FROM performance_schema.events_waits_summary_by_user_by_event_name WHERE EVENT_NAME LIKE 'wait/io/file/%'",
    ),
    (
        "SELECT SUM(total), SUM(latency) FROM sys.x$user_summary_by_file_io_type",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) FROM performance_schema.events_waits_summary_by_user_by_event_name WHERE EVENT_NAME LIKE 'wait/io/file/%'",
    ),
    (
        "SELECT SUM(total), SUM(total_latency) FROM sys.x$user_summary_by_stages",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) FROM performance_schema.events_stages_summary_by_user_by_event_name WHERE SUM_TIMER_WAIT > 0",
    ),
    (
        "SELECT SUM(total), SUM(rows_affected) FROM sys.x$user_summary_by_statement_latency",
        "SELECT SUM(COUNT_STAR), SUM(SUM_ROWS_AFFECTED) FROM performance_schema.events_statements_summary_by_user_by_event_name",
    ),
    (
        "SELECT total, rows_affected FROM sys.x$user_summary_by_statement_type WHERE user = 'root' AND statement = 'insert'",
        "SELECT COUNT_STAR, SUM_ROWS_AFFECTED FROM performance_schema.events_statements_summary_by_user_by_event_name WHERE USER = 'root' AND EVENT_NAME = 'statement/sql/insert'",
    ),
    (
        "SELECT SUM(total), SUM(total_latency) FROM sys.x$waits_by_user_by_latency",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) FROM performance_schema.events_waits_summary_by_user_by_event_name WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0",
    ),
    (
        "SELECT SUM(total), SUM(total_latency) FROM sys.x$waits_by_host_by_latency",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) FROM performance_schema.events_waits_summary_by_host_by_event_name WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0",
    ),
    // Files.
    (
        "SELECT SUM(total), SUM(total_read), SUM(total_written) FROM sys.x$io_global_by_file_by_bytes",
        "SELECT SUM(SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE), SUM(SUM_NUMBER_OF_BYTES_READ), SUM(SUM_NUMBER_OF_BYTES_WRITE) FROM performance_schema.file_summary_by_instance",
    ),
    (
        "SELECT SUM(total_latency), SUM(read_latency + write_latency + misc_latency) FROM sys.x$io_global_by_file_by_latency",
        "SELECT SUM(SUM_TIMER_WAIT), SUM(SUM_TIMER_READ + SUM_TIMER_WRITE + SUM_TIMER_MISC) FROM performance_schema.file_summary_by_instance",
    ),
    (
        "SELECT SUM(total_requested), SUM(total_latency) FROM sys.x$io_global_by_wait_by_bytes",
        "SELECT SUM(SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE), SUM(SUM_TIMER_WAIT) FROM performance_schema.file_summary_by_event_name",
    ),
    (
        "SELECT total, total_latency FROM sys.io_global_by_wait_by_latency WHERE event_name = 'tare/sqlite_wal'",
        "SELECT COUNT_STAR, sys.format_time(SUM_TIMER_WAIT) FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME = 'wait/io/file/tare/sqlite_wal'",
    ),
    (
        "SELECT SUM(count_write) FROM sys.x$ps_schema_table_statistics_io WHERE table_schema = 'test'",
        "SELECT SUM(COUNT_WRITE) FROM performance_schema.file_summary_by_instance WHERE FILE_NAME LIKE '%/test.db%'",
    ),
    // Memory.
    (
        "SELECT total_allocated FROM sys.x$memory_global_total",
        "SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED) FROM performance_schema.memory_summary_global_by_event_name",
    ),
    (
        "SELECT SUM(current_alloc), SUM(high_alloc) FROM sys.x$memory_global_by_current_bytes",
        "SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED), SUM(HIGH_NUMBER_OF_BYTES_USED) FROM performance_schema.memory_summary_global_by_event_name WHERE CURRENT_NUMBER_OF_BYTES_USED > 0",
    ),
    (
        "SELECT SUM(total_allocated) FROM sys.x$memory_by_thread_by_current_bytes",
        "SELECT SUM(SUM_NUMBER_OF_BYTES_ALLOC) FROM performance_schema.memory_summary_by_thread_by_event_name",
    ),
    (
        "SELECT SUM(current_allocated) FROM sys.x$memory_by_user_by_current_bytes",
        "SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED) FROM performance_schema.memory_summary_by_user_by_event_name",
    ),
    // Waits.
    (
        "SELECT COUNT(*), SUM(total), SUM(total_latency), MAX(max_latency) FROM sys.x$waits_global_by_latency",
        "SELECT COUNT(*), SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT), MAX(MAX_TIMER_WAIT) FROM performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0",
    ),
    (
        "SELECT SUM(total), SUM(total_latency), COUNT(*) FROM sys.x$wait_classes_global_by_latency",
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT), COUNT(DISTINCT SUBSTRING_INDEX(EVENT_NAME, '/', 3)) FROM performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0",
    ),
    // Threads.
    (
        "SELECT COUNT(*), COUNT(conn_id) FROM sys.x$processlist",
        "SELECT COUNT(*), COUNT(PROCESSLIST_ID) FROM performance_schema.threads",
    ),
    (
        "SELECT COUNT(*) FROM sys.session",
        "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL AND PROCESSLIST_COMMAND <> 'Daemon'",
    ),
];

/// The same for a view that is empty unless something is lost.
const LOST: (&str, &str) = (
    "SELECT COUNT(*) FROM sys.ps_check_lost_instrumentation",
    "SELECT COUNT(*) FROM performance_schema.global_status WHERE VARIABLE_NAME LIKE 'performance\\_schema%\\_lost' AND VARIABLE_VALUE + 0 > 0",
);

#[test]
fn views_agree_with_their_tables() {
    let _turn = crate::turn();
    let running = Running::start();
    load(&running);
    let mut client = running.root();
    for (view, tables) in SAME.into_iter().chain([LOST]) {
        // Both in one statement, so that they read one snapshot.
        let both = rows(
            &mut client,
            &format!(
                "SELECT 'view' AS which, v.* FROM ({view}) AS v UNION ALL SELECT 'tables', t.* FROM ({tables}) AS t"
            ),
        );
        assert_eq!(both.len(), 2, "{view}: {both:?}");
        assert_eq!(both[0][1..], both[1][1..], "{view}");
        let zero = both[0][1..]
            .iter()
            .all(|v| matches!(v.as_str(), "0" | "NULL" | "0 ps"));
        assert_eq!(zero, view == LOST.0, "{view}: {both:?}");
    }
}

#[test]
fn views_report_what_was_done() {
    let _turn = crate::turn();
    let running = Running::start();
    load(&running);
    let mut client = running.client();
    let table = "SELECT rows_inserted, rows_deleted, rows_updated >= 9, rows_fetched > 0, fetch_latency LIKE '%s' \
                 FROM sys.schema_table_statistics WHERE table_schema = 'test' AND table_name = 't'";
    let before = one(
        &mut client,
        "SELECT COUNT_INSERT FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = 'test' AND OBJECT_NAME = 't'",
    );
    assert_eq!(
        one(&mut client, table).split('|').next(),
        Some(before.as_str())
    );
    assert!(before.parse::<u64>().expect("a count") >= 50, "{before}");
    let own = "SELECT command, db, current_statement LIKE 'SELECT command%', statement_latency IS NOT NULL, user \
               FROM sys.session WHERE conn_id = CONNECTION_ID() AND thd_id = sys.ps_thread_id(NULL)";
    assert_eq!(one(&mut client, own), "Query|test|1|1|root@localhost");
    exec(&mut client, "SET @sys.statement_truncate_len = 20");
    assert_eq!(
        one(
            &mut client,
            "SELECT MAX(CHAR_LENGTH(current_statement)) FROM sys.session"
        ),
        "21"
    );
    let redundant = "SELECT redundant_index_name, dominant_index_name, sql_drop_index FROM sys.schema_redundant_indexes WHERE table_name = 't' ORDER BY 1, 2";
    assert_eq!(
        rows(&mut client, redundant),
        [
            ["a", "ab", "ALTER TABLE `test`.`t` DROP INDEX `a`"],
            ["again", "a", "ALTER TABLE `test`.`t` DROP INDEX `again`"],
            ["again", "ab", "ALTER TABLE `test`.`t` DROP INDEX `again`"],
        ]
    );
    exec(
        &mut client,
        "CREATE TABLE test.k (i INT PRIMARY KEY, j INT, KEY ij (i, j))",
    );
    let redundant = "SELECT redundant_index_name, dominant_index_name FROM sys.schema_redundant_indexes WHERE table_name = 'k'";
    assert_eq!(one(&mut client, redundant), "ij|PRIMARY");
    let auto = "SELECT column_name, data_type, is_signed, max_value FROM sys.schema_auto_increment_columns WHERE table_name = 't'";
    assert_eq!(one(&mut client, auto), "id|int|1|2147483647");
    let objects = "SELECT SUM(count) FROM sys.schema_object_overview WHERE db = 'sys' AND object_type = 'VIEW'";
    assert_eq!(one(&mut client, objects), "100");
    assert_ne!(
        one(
            &mut client,
            "SELECT COUNT(*) FROM sys.latest_file_io WHERE file LIKE '@@datadir/test.db%'"
        ),
        "0"
    );
}
