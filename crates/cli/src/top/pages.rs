//! The pages of `tare top`, and what one drills down to.

use super::sheet::{Column, Drill, Measure, Sheet, Since, col, hidden, sheet};

const SHARE: Column = col("%", "", Measure::Share, 5);
const AVERAGE: Column = col("AVG", "", Measure::Average, 10);
const TIME: Column = col("TIME", "SUM_TIMER_WAIT", Measure::Time, 10);

// Of a summary `e` by thread, and of a thread `t`.
const THREAD: Column = col("THREAD", "e.THREAD_ID", Measure::KeyNumber, 7);
const CONNECTION: Column = col("CONN", "t.PROCESSLIST_ID", Measure::Gauge, 6);
const USER: Column = col("USER", "t.PROCESSLIST_USER", Measure::Text, 12);
const FOR: Column = col("FOR", "t.PROCESSLIST_TIME", Measure::GaugeSeconds, 7);
const NAME: Column = col("NAME", "t.NAME", Measure::Text, 0);

/// The pages, in the order of their keys, `1` to `8`.
pub static PAGES: [Sheet; 8] = [
    STATEMENTS, WAITS, STAGES, FILES, TABLES, LOCKS, THREADS, MEMORY,
];

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
    instruments: "wait/%",
    ..sheet(
        "waits",
        "FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0 AND EVENT_NAME <> 'idle'",
        &[
            TIME,
            SHARE,
            col("WAITS", "COUNT_STAR", Measure::Count, 9),
            AVERAGE,
            col("EVER MAX", "MAX_TIMER_WAIT", Measure::GaugeTime, 10),
            col("EVENT", "EVENT_NAME", Measure::Key, 0),
        ],
    )
};

const STAGES: Sheet = Sheet {
    hint: "no stage was counted: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'stage/%'",
    drill: Drill::To(&STAGE_BY_THREAD),
    instruments: "stage/%",
    ..sheet(
        "stages",
        "FROM performance_schema.events_stages_summary_global_by_event_name WHERE COUNT_STAR > 0",
        &[
            TIME,
            SHARE,
            col("STAGES", "COUNT_STAR", Measure::Count, 9),
            AVERAGE,
            col("EVER MAX", "MAX_TIMER_WAIT", Measure::GaugeTime, 10),
            col("STAGE", "EVENT_NAME", Measure::Key, 0),
        ],
    )
};

const FILES: Sheet = Sheet {
    instruments: "wait/io/file/%",
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
    shows_all: true,
    since: Since {
        mysql: (5, 7),
        mariadb: (10, 5),
    },
    hint: "no lock on a table is held or was counted: the instruments wait/lock/% must be on",
    drill: Drill::To(&LOCK_HOLDERS),
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

const THREADS: Sheet = Sheet {
    shows_all: true,
    drill: Drill::To(&THREAD_EVENTS),
    ..sheet(
        "threads",
        "FROM performance_schema.threads AS t LEFT JOIN (SELECT THREAD_ID, SUM(COUNT_STAR) AS C, SUM(SUM_TIMER_WAIT) AS W \
         FROM performance_schema.events_statements_summary_by_thread_by_event_name WHERE COUNT_STAR > 0 GROUP BY THREAD_ID) AS s \
         ON s.THREAD_ID = t.THREAD_ID",
        &[
            col("TIME", "COALESCE(s.W, 0)", Measure::Time, 10),
            SHARE,
            col("CALLS", "COALESCE(s.C, 0)", Measure::Count, 8),
            col("THREAD", "t.THREAD_ID", Measure::KeyNumber, 7),
            CONNECTION,
            col("USER", "t.PROCESSLIST_USER", Measure::Text, 10),
            col("HOST", "t.PROCESSLIST_HOST", Measure::Text, 12),
            col("DB", "t.PROCESSLIST_DB", Measure::Text, 10),
            col("COMMAND", "t.PROCESSLIST_COMMAND", Measure::Text, 8),
            FOR,
            col(
                "STATE, STATEMENT",
                "COALESCE(NULLIF(CONCAT(COALESCE(t.PROCESSLIST_STATE, ''), ' ', LEFT(COALESCE(t.PROCESSLIST_INFO, ''), 200)), ' '), t.NAME)",
                Measure::Text,
                0,
            ),
        ],
    )
};

const MEMORY: Sheet = Sheet {
    shows_all: true,
    since: Since {
        mysql: (5, 7),
        mariadb: (10, 5),
    },
    hint: "no memory was counted: instruments memory/% are switched on at start, with --performance-schema-instrument='memory/%=ON'",
    drill: Drill::To(&MEMORY_BY_THREAD),
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

const BY_THREAD: &[Column] = &[
    col("TIME", "e.SUM_TIMER_WAIT", Measure::Time, 10),
    SHARE,
    col("COUNT", "e.COUNT_STAR", Measure::Count, 9),
    AVERAGE,
    THREAD,
    CONNECTION,
    USER,
    NAME,
];

static WAIT_BY_THREAD: Sheet = Sheet {
    of: "wait",
    ..sheet(
        "threads",
        "FROM performance_schema.events_waits_summary_by_thread_by_event_name AS e LEFT JOIN performance_schema.threads AS t \
         ON t.THREAD_ID = e.THREAD_ID WHERE e.EVENT_NAME {0} AND e.COUNT_STAR > 0",
        BY_THREAD,
    )
};

static STAGE_BY_THREAD: Sheet = Sheet {
    of: "stage",
    ..sheet(
        "threads",
        "FROM performance_schema.events_stages_summary_by_thread_by_event_name AS e LEFT JOIN performance_schema.threads AS t \
         ON t.THREAD_ID = e.THREAD_ID WHERE e.EVENT_NAME {0} AND e.COUNT_STAR > 0",
        BY_THREAD,
    )
};

static TABLE_BY_INDEX: Sheet = Sheet {
    of: "table",
    ..sheet(
        "indexes",
        "FROM performance_schema.table_io_waits_summary_by_index_usage WHERE OBJECT_SCHEMA {0} AND OBJECT_NAME {1} AND COUNT_STAR > 0",
        &[
            TIME,
            SHARE,
            col("ROWS", "COUNT_STAR", Measure::Count, 9),
            AVERAGE,
            col("FETCHED", "COUNT_FETCH", Measure::Count, 9),
            col("INSERTED", "COUNT_INSERT", Measure::Count, 8),
            col("UPDATED", "COUNT_UPDATE", Measure::Count, 8),
            col("DELETED", "COUNT_DELETE", Measure::Count, 8),
            col("INDEX (NULL: NONE)", "INDEX_NAME", Measure::Key, 0),
        ],
    )
};

static LOCK_HOLDERS: Sheet = Sheet {
    of: "table",
    shows_all: true,
    hint: "no metadata lock on it now",
    first: "STATUS",
    ..sheet(
        "metadata locks",
        "FROM performance_schema.metadata_locks AS l LEFT JOIN performance_schema.threads AS t ON t.THREAD_ID = l.OWNER_THREAD_ID \
         WHERE l.OBJECT_TYPE = 'TABLE' AND l.OBJECT_SCHEMA {0} AND l.OBJECT_NAME {1}",
        &[
            hidden("l.OBJECT_INSTANCE_BEGIN", Measure::KeyNumber),
            col("STATUS", "l.LOCK_STATUS", Measure::Text, 8),
            col("LOCK", "l.LOCK_TYPE", Measure::Text, 20),
            col("DURATION", "l.LOCK_DURATION", Measure::Text, 11),
            col("THREAD", "l.OWNER_THREAD_ID", Measure::KeyNumber, 7),
            CONNECTION,
            USER,
            FOR,
            col(
                "STATEMENT",
                "LEFT(t.PROCESSLIST_INFO, 200)",
                Measure::Text,
                0,
            ),
        ],
    )
};

static THREAD_EVENTS: Sheet = Sheet {
    of: "thread",
    ..sheet(
        "events",
        "FROM (SELECT 'statement' AS K, EVENT_NAME AS N, COUNT_STAR AS C, SUM_TIMER_WAIT AS T FROM performance_schema.events_statements_summary_by_thread_by_event_name \
         WHERE THREAD_ID {0} AND COUNT_STAR > 0 UNION ALL \
         SELECT 'stage', EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_stages_summary_by_thread_by_event_name \
         WHERE THREAD_ID {0} AND COUNT_STAR > 0 UNION ALL \
         SELECT 'wait', EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_by_thread_by_event_name \
         WHERE THREAD_ID {0} AND COUNT_STAR > 0) AS e",
        &[
            col("TIME", "T", Measure::Time, 10),
            col("COUNT", "C", Measure::Count, 9),
            AVERAGE,
            col("TYPE", "K", Measure::Key, 9),
            col("EVENT", "N", Measure::Key, 0),
        ],
    )
};

static MEMORY_BY_THREAD: Sheet = Sheet {
    of: "memory",
    shows_all: true,
    ..sheet(
        "threads",
        "FROM performance_schema.memory_summary_by_thread_by_event_name AS e LEFT JOIN performance_schema.threads AS t \
         ON t.THREAD_ID = e.THREAD_ID WHERE e.EVENT_NAME {0} AND e.COUNT_ALLOC > 0",
        &[
            col(
                "NOW",
                "e.CURRENT_NUMBER_OF_BYTES_USED",
                Measure::GaugeBytes,
                10,
            ),
            col(
                "HIGH",
                "e.HIGH_NUMBER_OF_BYTES_USED",
                Measure::GaugeBytes,
                10,
            ),
            col("ALLOCS", "e.COUNT_ALLOC", Measure::Count, 9),
            col("FREES", "e.COUNT_FREE", Measure::Count, 9),
            THREAD,
            CONNECTION,
            USER,
            NAME,
        ],
    )
};

/// Stages and waits of the last executions of a statement; read by `executions`.
pub static EXECUTIONS: Sheet = Sheet {
    of: "statement",
    shows_all: true,
    ..sheet(
        "stages and waits",
        "",
        &[
            col("TIME", "SUM_TIMER_WAIT", Measure::GaugeTime, 10),
            SHARE,
            col("COUNT", "COUNT_STAR", Measure::Gauge, 9),
            AVERAGE,
            col("TYPE", "TYPE", Measure::Key, 9),
            col("EVENT", "EVENT_NAME", Measure::Key, 0),
        ],
    )
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_can_be_sorted_and_has_one_column_that_takes_what_is_left() {
        for sheet in PAGES
            .iter()
            .chain([&EXECUTIONS, &TABLE_BY_INDEX, &THREAD_EVENTS])
        {
            assert!(
                !sheet.columns[sheet.by_time()].kind.is_key(),
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
                .shown()
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
    }

    #[test]
    fn keys_become_comparisons() {
        let question = TABLE_BY_INDEX.question(&[None, Some("t'; DROP".into())], None);
        assert!(
            question.contains("OBJECT_SCHEMA IS NULL AND OBJECT_NAME = CONVERT(x'74273B"),
            "{question}"
        );
        let question = THREAD_EVENTS.question(&[Some("17".into())], None);
        assert_eq!(
            question.matches("THREAD_ID = 17 AND").count(),
            3,
            "{question}"
        );
        let question = STATEMENTS.question(&[], Some(5));
        assert!(
            question.ends_with("COUNT_STAR > 0 AND LAST_SEEN >= NOW() - INTERVAL 5 SECOND"),
            "{question}"
        );
    }
}
