//! The queries whose results are compared, and how far the engines may differ.

use crate::servers::Version;

/// A query that runs on both engines.
pub struct Check {
    pub name: &'static str,
    /// `{thread}` stands for the script's connection.
    pub sql: &'static str,
    /// The number of leading columns that identify a row. The others are counts.
    pub keys: usize,
    /// The largest permitted difference in percent.
    pub percent: f64,
    /// Servers that have the table.
    pub servers: &'static [Version],
}

const ALL: &[Version] = &[
    Version::Mysql56,
    Version::Mysql57,
    Version::Mysql80,
    Version::Mysql97,
    Version::Mariadb,
    Version::Mariadb114,
    Version::Mariadb118,
];
const NEW: &[Version] = &[
    Version::Mysql57,
    Version::Mysql80,
    Version::Mysql97,
    Version::Mariadb,
    Version::Mariadb114,
    Version::Mariadb118,
];
const MYSQL: &[Version] = &[Version::Mysql57, Version::Mysql80, Version::Mysql97];

pub const CHECKS: &[Check] = &[
    Check {
        name: "statements",
        sql: "SELECT EVENT_NAME, COUNT_STAR, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT,
              SUM_ROWS_EXAMINED, SUM_CREATED_TMP_DISK_TABLES, SUM_CREATED_TMP_TABLES, SUM_SELECT_FULL_JOIN,
              SUM_SELECT_FULL_RANGE_JOIN, SUM_SELECT_RANGE, SUM_SELECT_RANGE_CHECK, SUM_SELECT_SCAN,
              SUM_SORT_MERGE_PASSES, SUM_SORT_RANGE, SUM_SORT_ROWS, SUM_SORT_SCAN, SUM_NO_INDEX_USED,
              SUM_NO_GOOD_INDEX_USED
              FROM performance_schema.events_statements_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "stages",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_stages_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "transactions",
        sql: "SELECT EVENT_NAME, COUNT_STAR, COUNT_READ_WRITE, COUNT_READ_ONLY
              FROM performance_schema.events_transactions_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        servers: NEW,
    },
    Check {
        name: "table io",
        sql: "SELECT OBJECT_NAME, COALESCE(INDEX_NAME, '-'), COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE
              FROM performance_schema.table_io_waits_summary_by_index_usage
              WHERE OBJECT_SCHEMA = 'door' AND COUNT_STAR > 0",
        keys: 2,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "table locks",
        sql: "SELECT OBJECT_NAME, COUNT_READ, COUNT_WRITE, COUNT_READ_NORMAL, COUNT_READ_WITH_SHARED_LOCKS,
              COUNT_READ_HIGH_PRIORITY, COUNT_READ_NO_INSERT, COUNT_READ_EXTERNAL, COUNT_WRITE_ALLOW_WRITE,
              COUNT_WRITE_CONCURRENT_INSERT, COUNT_WRITE_LOW_PRIORITY, COUNT_WRITE_NORMAL, COUNT_WRITE_EXTERNAL
              FROM performance_schema.table_lock_waits_summary_by_table
              WHERE OBJECT_SCHEMA = 'door' AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "files",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/io/file/%'",
        keys: 1,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "file opens",
        sql: "SELECT SUBSTRING_INDEX(FILE_NAME, '/data/', -1), EVENT_NAME, COUNT_READ, COUNT_MISC
              FROM performance_schema.file_summary_by_instance
              WHERE FILE_NAME LIKE '%/data/door/%' AND FILE_NAME NOT LIKE '%#sql%' AND COUNT_STAR > 0",
        keys: 2,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "waits of other kinds",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0
              AND EVENT_NAME NOT LIKE 'wait/io/file/%' AND EVENT_NAME NOT LIKE 'wait/synch/%'",
        keys: 1,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "locks",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/synch/%'",
        keys: 1,
        percent: 2.0,
        servers: ALL,
    },
    Check {
        name: "locks in all",
        sql: "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', 3), SUM(COUNT_STAR)
              FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND EVENT_NAME LIKE 'wait/synch/%'
              GROUP BY SUBSTRING_INDEX(EVENT_NAME, '/', 3) HAVING SUM(COUNT_STAR) > 0",
        keys: 1,
        percent: 2.0,
        servers: ALL,
    },
    Check {
        name: "digests",
        // 5.7 and MariaDB end each text with a space, 8.0 and Tare do not.
        sql: "SELECT RTRIM(DIGEST_TEXT), COUNT_STAR, SUM_ERRORS, SUM_ROWS_SENT, SUM_ROWS_EXAMINED
              FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = 'door'",
        keys: 1,
        percent: 0.0,
        servers: NEW,
    },
    Check {
        name: "digests without quotes",
        // 5.6 quotes a name in the text where the statement does, Tare and later servers quote all.
        sql: "SELECT REPLACE(RTRIM(DIGEST_TEXT), '`', ''), SUM(COUNT_STAR), SUM(SUM_ERRORS), SUM(SUM_ROWS_SENT), SUM(SUM_ROWS_EXAMINED)
              FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = 'door'
              GROUP BY REPLACE(RTRIM(DIGEST_TEXT), '`', '')",
        keys: 1,
        percent: 0.0,
        servers: &[Version::Mysql56],
    },
    Check {
        name: "programs",
        sql: "SELECT OBJECT_TYPE, OBJECT_NAME, COUNT_STAR, COUNT_STATEMENTS, SUM_ERRORS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT
              FROM performance_schema.events_statements_summary_by_program WHERE OBJECT_SCHEMA = 'door'",
        keys: 2,
        percent: 0.0,
        servers: NEW,
    },
    Check {
        name: "memory",
        sql: "SELECT EVENT_NAME, COUNT_ALLOC, COUNT_FREE
              FROM performance_schema.memory_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_ALLOC > 0",
        keys: 1,
        percent: 2.0,
        servers: NEW,
    },
    Check {
        name: "prepared statements",
        sql: "SELECT STATEMENT_NAME, SQL_TEXT, COUNT_REPREPARE, COUNT_EXECUTE, SUM_ROWS_SENT
              FROM performance_schema.prepared_statements_instances WHERE OWNER_THREAD_ID = {thread}",
        keys: 2,
        percent: 0.0,
        servers: NEW,
    },
    Check {
        name: "metadata locks",
        sql: "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS, COUNT(*)
              FROM performance_schema.metadata_locks WHERE OWNER_THREAD_ID = {thread}
              GROUP BY OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS",
        keys: 6,
        percent: 0.0,
        servers: NEW,
    },
    Check {
        name: "threads",
        sql: "SELECT NAME, TYPE, PROCESSLIST_USER, PROCESSLIST_HOST, PROCESSLIST_DB, PROCESSLIST_COMMAND, COUNT(*)
              FROM performance_schema.threads WHERE PROCESSLIST_ID = {connection}
              GROUP BY NAME, TYPE, PROCESSLIST_USER, PROCESSLIST_HOST, PROCESSLIST_DB, PROCESSLIST_COMMAND",
        keys: 6,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "attributes",
        sql: "SELECT ATTR_NAME, ATTR_VALUE, COUNT(*) FROM performance_schema.session_connect_attrs
              WHERE PROCESSLIST_ID = {connection} GROUP BY ATTR_NAME, ATTR_VALUE",
        keys: 2,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "history",
        sql: "SELECT EVENT_NAME, SQL_TEXT, CURRENT_SCHEMA, ERRORS, MYSQL_ERRNO, RETURNED_SQLSTATE, ROWS_SENT,
              NESTING_EVENT_TYPE, COUNT(*) FROM performance_schema.events_statements_history
              WHERE THREAD_ID = {thread} GROUP BY EVENT_NAME, SQL_TEXT, CURRENT_SCHEMA, ERRORS, MYSQL_ERRNO,
              RETURNED_SQLSTATE, ROWS_SENT, NESTING_EVENT_TYPE",
        keys: 8,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "errors",
        sql: "SELECT ERROR_NAME, SUM_ERROR_RAISED, SUM_ERROR_HANDLED
              FROM performance_schema.events_errors_summary_by_thread_by_error
              WHERE THREAD_ID = {thread} AND SUM_ERROR_RAISED + SUM_ERROR_HANDLED > 0",
        keys: 1,
        percent: 0.0,
        servers: &[Version::Mysql80, Version::Mysql97],
    },
    Check {
        name: "instruments",
        sql: "SELECT NAME, COUNT(*) FROM performance_schema.setup_instruments
              WHERE NAME NOT LIKE 'memory/performance_schema/%' GROUP BY NAME",
        keys: 1,
        percent: 0.0,
        servers: ALL,
    },
    Check {
        name: "background threads",
        sql: "SELECT NAME, TYPE, COUNT(*) FROM performance_schema.threads WHERE TYPE = 'BACKGROUND' GROUP BY NAME, TYPE",
        keys: 2,
        percent: 0.0,
        servers: MYSQL,
    },
];

impl Check {
    /// The names of the count columns, from the query's text.
    pub fn columns(&self) -> Vec<String> {
        let list = self
            .sql
            .split_once(" FROM ")
            .or_else(|| self.sql.split_once("\n"))
            .expect("FROM")
            .0;
        let list = list
            .split("FROM")
            .next()
            .expect("a list")
            .trim_start_matches("SELECT");
        let mut depth = 0;
        let mut columns = vec![String::new()];
        for letter in list.chars() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => columns.push(String::new()),
                _ => {}
            }
            if !(letter == ',' && depth == 0) {
                columns.last_mut().expect("one").push(letter);
            }
        }
        columns
            .iter()
            .skip(self.keys)
            .map(|column| column.trim().to_owned())
            .collect()
    }
}

#[test]
fn columns_are_those_after_the_keys() {
    let names: Vec<String> = CHECKS[0].columns();
    assert_eq!((names[0].as_str(), names.len()), ("COUNT_STAR", 19));
}
