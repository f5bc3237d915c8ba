//! The pages of `tare top`.

use super::drills::{
    AVERAGE, BLOCKED_BY, BLOCKS, CONNECTION, ERROR, FOR, LOCK_HOLDERS, MEMORY_BY_THREAD, SHARE,
    STAGE_BY_THREAD, TABLE_BY_INDEX, THREAD_EVENTS, TIME, TRANSACTION, TRANSACTION_STATE,
    WAIT_BY_THREAD,
};
use super::process_pages::PROCESS_PAGES;
use super::sheet::{Column, Drill, Measure, Sheet, Since, col, hidden, sheet};
use super::status_pages;

/// The pages, in the order of [`KEYS`].
pub static PAGES: &[Sheet] = &[
    STATEMENTS,
    WAITS,
    STAGES,
    FILES,
    TABLES,
    LOCKS,
    THREADS,
    MEMORY,
    PREPARED,
    status_pages::STATUS,
    status_pages::REPLICATION,
    status_pages::TRANSACTIONS,
    status_pages::CONNECTIONS,
];

/// The keys of pages.
pub const KEYS: [char; 13] = [
    '1', '2', '3', '4', '5', '6', '7', '8', '9', 'S', 'R', 'T', 'C',
];

/// The pages among which a page is: those of a server, or of processes.
pub fn pages_with(sheet: &'static Sheet) -> &'static [Sheet] {
    let is_process_page = PROCESS_PAGES.iter().any(|page| std::ptr::eq(page, sheet));
    if is_process_page {
        &PROCESS_PAGES
    } else {
        PAGES
    }
}

/// The query of errors of waits and stages.
const BY_INSTRUMENT: &str = "SELECT event_name, count_error FROM tare.sampling_by_instrument";

const STATEMENTS: Sheet = Sheet {
    recent: Some("LAST_SEEN >= NOW() - INTERVAL {} SECOND"),
    hint: "no statement was counted: the consumer statements_digest and the instruments statement/% must be on",
    drill: Drill::Executions,
    instruments: "statement/%",
    consumer: "statements_digest",
    ..sheet(
        "statements",
        "FROM performance_schema.events_statements_summary_by_digest WHERE COUNT_STAR > 0",
        &[
            TIME,
            SHARE,
            col("CALLS", "COUNT_STAR", Measure::Count, 8),
            AVERAGE,
            col("SENT", "SUM_ROWS_SENT", Measure::Count, 8),
            col("EXAMINED", "SUM_ROWS_EXAMINED", Measure::Count, 8),
            col("ERRORS", "SUM_ERRORS", Measure::Count, 6),
            col("DB", "SCHEMA_NAME", Measure::Key, 12),
            hidden("DIGEST", Measure::Key),
            col("STATEMENT", "LEFT(DIGEST_TEXT, 400)", Measure::Text, 0),
        ],
    )
};

const WAITS: Sheet = Sheet {
    hint: "no wait was counted: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/%'",
    drill: Drill::To(&WAIT_BY_THREAD),
    estimated: "wait",
    errors: BY_INSTRUMENT,
    instruments: "wait/%",
    ..sheet(
        "waits",
        "FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0 AND EVENT_NAME <> 'idle'",
        &[
            TIME,
            SHARE,
            col("WAITS", "COUNT_STAR", Measure::Count, 9),
            ERROR,
            AVERAGE,
            col("EVER MAX", "MAX_TIMER_WAIT", Measure::GaugeTime, 10),
            col("EVENT", "EVENT_NAME", Measure::Key, 0),
        ],
    )
};

const STAGES: Sheet = Sheet {
    hint: "no stage was counted: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'stage/%'",
    drill: Drill::To(&STAGE_BY_THREAD),
    estimated: "stage",
    errors: BY_INSTRUMENT,
    instruments: "stage/%",
    ..sheet(
        "stages",
        "FROM performance_schema.events_stages_summary_global_by_event_name WHERE COUNT_STAR > 0",
        &[
            TIME,
            SHARE,
            col("STAGES", "COUNT_STAR", Measure::Count, 9),
            ERROR,
            AVERAGE,
            col("EVER MAX", "MAX_TIMER_WAIT", Measure::GaugeTime, 10),
            col("STAGE", "EVENT_NAME", Measure::Key, 0),
        ],
    )
};

const FILES: Sheet = Sheet {
    instruments: "wait/io/file/%",
    estimated: "wait",
    hint: "no file io was counted: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/io/file/%'",
    ..sheet(
        "files",
        "FROM performance_schema.file_summary_by_instance WHERE COUNT_STAR > 0",
        &[
            TIME,
            SHARE,
            col("CALLS", "COUNT_STAR", Measure::Count, 8),
            AVERAGE,
            col("READS", "COUNT_READ", Measure::Count, 7),
            col("READ", "SUM_NUMBER_OF_BYTES_READ", Measure::Bytes, 10),
            col("WRITES", "COUNT_WRITE", Measure::Count, 7),
            col("WRITTEN", "SUM_NUMBER_OF_BYTES_WRITE", Measure::Bytes, 10),
            col("FILE", "FILE_NAME", Measure::Key, 0),
            hidden("EVENT_NAME", Measure::Key),
        ],
    )
};

const TABLES: Sheet = Sheet {
    hint: "no table io was counted: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/io/table/%'",
    drill: Drill::To(&TABLE_BY_INDEX),
    estimated: "wait",
    instruments: "wait/io/table/%",
    ..sheet(
        "tables",
        "FROM performance_schema.table_io_waits_summary_by_table WHERE COUNT_STAR > 0",
        &[
            TIME,
            SHARE,
            col("ROWS", "COUNT_STAR", Measure::Count, 9),
            AVERAGE,
            col("FETCHED", "COUNT_FETCH", Measure::Count, 9),
            col("INSERTED", "COUNT_INSERT", Measure::Count, 8),
            col("UPDATED", "COUNT_UPDATE", Measure::Count, 8),
            col("DELETED", "COUNT_DELETE", Measure::Count, 8),
            col("DB", "OBJECT_SCHEMA", Measure::Key, 14),
            col("TABLE", "OBJECT_NAME", Measure::Key, 0),
        ],
    )
};

const LOCKS: Sheet = Sheet {
    has_idle_rows: true,
    since: Since {
        mysql: (5, 7),
        mariadb: (10, 5),
    },
    hint: "no lock on a table is held or was counted: the instruments wait/lock/% must be on",
    drill: Drill::To(&LOCK_HOLDERS),
    estimated: "wait",
    instruments: "wait/lock/%",
    first: "WAITING",
    ..sheet(
        "locks",
        "FROM (SELECT OBJECT_SCHEMA AS S, OBJECT_NAME AS N, COUNT_STAR AS C, SUM_TIMER_WAIT AS T, COUNT_READ AS R, COUNT_WRITE AS W, 0 AS HELD, 0 AS PENDING \
         FROM performance_schema.table_lock_waits_summary_by_table WHERE COUNT_STAR > 0 UNION ALL \
         SELECT OBJECT_SCHEMA, OBJECT_NAME, 0, 0, 0, 0, CASE WHEN LOCK_STATUS = 'GRANTED' THEN 1 ELSE 0 END, CASE WHEN LOCK_STATUS = 'PENDING' THEN 1 ELSE 0 END \
         FROM performance_schema.metadata_locks WHERE OBJECT_TYPE = 'TABLE' AND OBJECT_SCHEMA <> 'performance_schema') AS L GROUP BY S, N",
        &[
            col("TIME", "SUM(T)", Measure::Time, 10),
            SHARE,
            col("LOCKS", "SUM(C)", Measure::Count, 8),
            AVERAGE,
            col("READ", "SUM(R)", Measure::Count, 8),
            col("WRITE", "SUM(W)", Measure::Count, 8),
            col("HELD", "SUM(HELD)", Measure::Gauge, 5),
            col("WAITING", "SUM(PENDING)", Measure::Gauge, 7),
            col("DB", "S", Measure::Key, 14),
            col("TABLE", "N", Measure::Key, 0),
        ],
    )
};

/// The threads, and the statements that each of them has run.
macro_rules! from_threads {
    ($more:literal) => {
        concat!(
            "FROM performance_schema.threads AS t LEFT JOIN (SELECT THREAD_ID, SUM(COUNT_STAR) AS C, SUM(SUM_TIMER_WAIT) AS W \
             FROM performance_schema.events_statements_summary_by_thread_by_event_name WHERE COUNT_STAR > 0 GROUP BY THREAD_ID) AS s \
             ON s.THREAD_ID = t.THREAD_ID",
            $more
        )
    };
}

/// The columns of threads, with the expression for what each does.
const fn thread_columns(state_and_statement: &'static str) -> [Column; 15] {
    [
        col("TIME", "COALESCE(s.W, 0)", Measure::Time, 10),
        SHARE,
        col("CALLS", "COALESCE(s.C, 0)", Measure::Count, 8),
        col("THREAD", "t.THREAD_ID", Measure::KeyNumber, 7),
        CONNECTION,
        BLOCKED_BY,
        BLOCKS,
        TRANSACTION,
        col("USER", "t.PROCESSLIST_USER", Measure::Text, 10),
        col("HOST", "t.PROCESSLIST_HOST", Measure::Text, 12),
        col("DB", "t.PROCESSLIST_DB", Measure::Text, 10),
        col("COMMAND", "t.PROCESSLIST_COMMAND", Measure::Text, 8),
        FOR,
        TRANSACTION_STATE,
        col("STATE, STATEMENT", state_and_statement, Measure::Text, 0),
    ]
}

const THREADS: Sheet = Sheet {
    has_idle_rows: true,
    first: "BLOCKED BY",
    // Column TRX says that a transaction is open.
    optional: &["TRX STATE", "DB", "HOST"],
    completes_chosen: true,
    drill: Drill::To(&THREAD_EVENTS),
    with_states: Some(&THREADS_WITH_STATES),
    ..sheet(
        "threads",
        from_threads!(""),
        &thread_columns(
            "COALESCE(NULLIF(CONCAT(COALESCE(t.PROCESSLIST_STATE, ''), ' ', LEFT(COALESCE(t.PROCESSLIST_INFO, ''), 200)), ' '), t.NAME)",
        ),
    )
};

/// The columns of threads, and the thread that holds the event loop for which a thread waits.
const fn with_blocker(columns: [Column; 15]) -> [Column; 16] {
    let mut all = [hidden("a.blocker", Measure::Gauge); 16];
    let mut at = 0;
    while at < columns.len() {
        all[at] = columns[at];
        at += 1;
    }
    all
}

/// The columns of [`THREADS`] of a running program with Tare's engine: the state of a thread that runs a statement, the
/// wait in which it sleeps, or else its stage; and then its blocker.
static THREADS_WITH_STATES: Sheet = Sheet {
    ..sheet(
        "threads",
        from_threads!(" LEFT JOIN tare.active_sessions AS a ON a.thread_id = t.THREAD_ID"),
        &with_blocker(thread_columns(
            "CASE WHEN a.thread_id IS NULL THEN COALESCE(NULLIF(t.PROCESSLIST_STATE, ''), t.NAME) ELSE CONCAT_WS(' ', CONCAT(a.state, ':'), \
             CASE a.state WHEN 'waiting' THEN CONCAT_WS(' ', a.wait, NULLIF(CONCAT_WS('.', a.object_schema, a.object_name), '')) \
             ELSE CONCAT_WS(' ', SUBSTRING_INDEX(a.stage, '/', -1), a.system_call) END, LEFT(a.sql_text, 200)) END",
        )),
    )
};

/// The columns of [`THREADS`], from the sessions that `tare record` sampled, and those that blocked others or were
/// blocked without a sample: a holder that sleeps has none.
pub static THREADS_OF_SAMPLES: Sheet = Sheet {
    // A holder that slept took no time.
    has_idle_rows: true,
    ..sheet(
        "threads",
        "FROM (SELECT s.thread_id, a.seconds, a.calls, s.connection_id, s.user, s.client, s.schema, s.command, s.statement_ns, \
         COALESCE(s.wait, s.stage, '') AS state, COALESCE(s.text, d.text, '') AS text, s.thread \
         FROM (SELECT thread_id, SUM(seconds) AS seconds, COUNT(DISTINCT statement_id) AS calls, MAX(sampled_at) AS newest FROM tare.samples \
         GROUP BY thread_id) AS a JOIN tare.samples AS s ON s.thread_id = a.thread_id AND s.sampled_at = a.newest \
         LEFT JOIN (SELECT digest, MAX(text) AS text FROM tare.digests GROUP BY digest) AS d ON d.digest = s.digest \
         UNION ALL SELECT b.blocker, 0, 0, MAX(b.blocker_connection_id), MAX(b.blocker_user), MAX(b.blocker_client), NULL, \
         CASE MAX(b.blocker_state) WHEN 'sleeping' THEN 'Sleep' ELSE 'Query' END, MAX(b.blocker_state_ns), \
         CASE MAX(b.blocker_state) WHEN 'sleeping' THEN 'after' ELSE '' END, MAX(b.blocker_text), NULL \
         FROM (SELECT blocker, MAX(sampled_at) AS newest FROM tare.blocks GROUP BY blocker) AS n \
         JOIN tare.blocks AS b ON b.blocker = n.blocker AND b.sampled_at = n.newest \
         WHERE b.blocker NOT IN (SELECT thread_id FROM tare.samples) AND b.blocker NOT IN (SELECT thread_id FROM tare.blocks) GROUP BY b.blocker \
         UNION ALL SELECT b.thread_id, MAX(n.seconds), 0, MAX(b.connection_id), MAX(b.user), MAX(b.client), NULL, 'Query', MAX(b.wait_ns), \
         CONCAT('waits for a ', MAX(b.kind), ' lock:'), MAX(b.text), NULL \
         FROM (SELECT thread_id, SUM(seconds) AS seconds, MAX(sampled_at) AS newest FROM tare.blocks GROUP BY thread_id) AS n \
         JOIN tare.blocks AS b ON b.thread_id = n.thread_id AND b.sampled_at = n.newest \
         WHERE b.thread_id NOT IN (SELECT thread_id FROM tare.samples) GROUP BY b.thread_id) AS t",
        &[
            col(
                "TIME",
                "CAST(t.seconds * 1000000000 AS UNSIGNED) * 1000",
                Measure::Time,
                10,
            ),
            SHARE,
            col("CALLS", "t.calls", Measure::Count, 8),
            col("THREAD", "t.thread_id", Measure::KeyNumber, 7),
            col("CONN", "t.connection_id", Measure::Gauge, 6),
            BLOCKED_BY,
            BLOCKS,
            TRANSACTION,
            col("USER", "t.user", Measure::Text, 10),
            col("HOST", "t.client", Measure::Text, 12),
            col("DB", "t.schema", Measure::Text, 10),
            col("COMMAND", "t.command", Measure::Text, 8),
            col(
                "FOR",
                "t.statement_ns DIV 1000000000",
                Measure::GaugeSeconds,
                7,
            ),
            TRANSACTION_STATE,
            col(
                "STATE, STATEMENT",
                "COALESCE(NULLIF(CONCAT(t.state, ' ', LEFT(COALESCE(t.text, ''), 200)), ' '), t.thread)",
                Measure::Text,
                0,
            ),
        ],
    )
};

const MEMORY: Sheet = Sheet {
    has_idle_rows: true,
    since: Since {
        mysql: (5, 7),
        mariadb: (10, 5),
    },
    hint: "no memory was counted: instruments memory/% are switched on at start, with --performance-schema-instrument='memory/%=ON'",
    drill: Drill::To(&MEMORY_BY_THREAD),
    estimated: "memory",
    ..sheet(
        "memory",
        "FROM performance_schema.memory_summary_global_by_event_name WHERE COUNT_ALLOC > 0",
        &[
            col(
                "NOW",
                "CURRENT_NUMBER_OF_BYTES_USED",
                Measure::GaugeBytes,
                10,
            ),
            col("HIGH", "HIGH_NUMBER_OF_BYTES_USED", Measure::GaugeBytes, 10),
            col("BLOCKS", "CURRENT_COUNT_USED", Measure::Gauge, 9),
            col("ALLOCS", "COUNT_ALLOC", Measure::Count, 9),
            col("FREES", "COUNT_FREE", Measure::Count, 9),
            col("ALLOCATED", "SUM_NUMBER_OF_BYTES_ALLOC", Measure::Bytes, 10),
            col("MEMORY", "EVENT_NAME", Measure::Key, 0),
        ],
    )
};

// Each connection prepares its own statements; those with the same text are one row.
const PREPARED: Sheet = Sheet {
    since: Since {
        mysql: (5, 7),
        mariadb: (10, 5),
    },
    hint: "no prepared statement that is still open was executed",
    instruments: "statement/%",
    // MariaDB needs it.
    consumer: "events_statements_current",
    merges: true,
    ..sheet(
        "prepared",
        "FROM performance_schema.prepared_statements_instances WHERE COUNT_EXECUTE > 0",
        &[
            col("TIME", "SUM_TIMER_EXECUTE", Measure::Time, 10),
            SHARE,
            col("CALLS", "COUNT_EXECUTE", Measure::Count, 8),
            AVERAGE,
            col("SENT", "SUM_ROWS_SENT", Measure::Count, 8),
            col("EXAMINED", "SUM_ROWS_EXAMINED", Measure::Count, 8),
            col("ERRORS", "SUM_ERRORS", Measure::Count, 6),
            hidden("OBJECT_INSTANCE_BEGIN", Measure::KeyNumber),
            hidden("OWNER_THREAD_ID", Measure::KeyNumber),
            hidden("STATEMENT_ID", Measure::KeyNumber),
            col("STATEMENT", "LEFT(SQL_TEXT, 400)", Measure::Text, 0),
        ],
    )
};

#[cfg(test)]
mod tests {
    use super::super::drills::EXECUTIONS;
    use super::*;

    #[test]
    fn every_page_can_be_sorted_and_has_one_column_that_takes_what_is_left() {
        for sheet in (PAGES.iter().chain(&PROCESS_PAGES)).chain([
            &EXECUTIONS,
            &TABLE_BY_INDEX,
            &THREAD_EVENTS,
        ]) {
            // Figures of all units have no order but that of their names.
            assert_eq!(
                sheet.columns[sheet.by_time()].kind.is_key(),
                sheet.name == "status",
                "{}",
                sheet.name
            );
            assert!(
                !sheet.columns[sheet.by_count()].kind.is_key(),
                "{}",
                sheet.name
            );
            assert_ne!(sheet.by_time(), sheet.by_count(), "{}", sheet.name);
            let wide = sheet
                .visible_columns(true, true)
                .filter(|(_, column)| column.width == 0)
                .count();
            assert_eq!(wide, 1, "{}", sheet.name);
        }
    }

    #[test]
    fn the_columns_that_are_named_are_there() {
        for sheet in PAGES.iter().chain([&LOCK_HOLDERS]) {
            assert_eq!(
                sheet.waiting().is_some(),
                !sheet.first.is_empty(),
                "{}",
                sheet.name
            );
        }
        assert!(PAGES[5].waiting().is_some() && LOCK_HOLDERS.waiting().is_some());
        assert!(PAGES[6].waiting().is_some());
    }

    #[test]
    fn keys_become_comparisons() {
        let query = TABLE_BY_INDEX.query(&[None, Some("t'; DROP".into())], None);
        assert!(
            query.contains("OBJECT_SCHEMA IS NULL AND OBJECT_NAME = CONVERT(x'74273B"),
            "{query}"
        );
        let query = THREAD_EVENTS.query(&[Some("17".into())], None);
        assert_eq!(query.matches("THREAD_ID = 17 AND").count(), 3, "{query}");
        let query = STATEMENTS.query(&[], Some(5));
        assert!(
            query.ends_with("COUNT_STAR > 0 AND LAST_SEEN >= NOW() - INTERVAL 5 SECOND"),
            "{query}"
        );
    }
}
