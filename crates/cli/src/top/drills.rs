//! The drill-downs of `tare top`, and common columns.

use super::sheet::{Column, Measure, Sheet, col, hidden, sheet};

pub(super) const ERROR: Column = col("+-%", "", Measure::Error, 5);
pub(super) const SHARE: Column = col("%", "", Measure::Share, 5);
pub(super) const AVERAGE: Column = col("AVG", "", Measure::Average, 10);
pub(super) const TIME: Column = col("TIME", "SUM_TIMER_WAIT", Measure::Time, 10);

// Columns of a summary `e` by thread, and of a thread `t`.
const THREAD: Column = col("THREAD", "e.THREAD_ID", Measure::KeyNumber, 7);
pub(super) const CONNECTION: Column = col("CONN", "t.PROCESSLIST_ID", Measure::Gauge, 6);
/// The blocker's connection, which KILL takes, or `t` and its thread id if it has none.
pub(super) const BLOCKED_BY: Column = col("BLOCKED BY", "", Measure::BlockedBy, 10);
pub(super) const BLOCKS: Column = col("BLOCKS", "", Measure::Blocks, 6);
pub(super) const TRANSACTION: Column = col("TRX", "", Measure::TransactionAge, 7);
pub(super) const TRANSACTION_STATE: Column = col("TRX STATE", "", Measure::TransactionState, 9);
const USER: Column = col("USER", "t.PROCESSLIST_USER", Measure::Text, 12);
pub(super) const FOR: Column = col("FOR", "t.PROCESSLIST_TIME", Measure::GaugeSeconds, 7);
const NAME: Column = col("NAME", "t.NAME", Measure::Text, 0);

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

pub static WAIT_BY_THREAD: Sheet = Sheet {
    of: "wait",
    ..sheet(
        "threads",
        "FROM performance_schema.events_waits_summary_by_thread_by_event_name AS e LEFT JOIN performance_schema.threads AS t \
         ON t.THREAD_ID = e.THREAD_ID WHERE e.EVENT_NAME {0} AND e.COUNT_STAR > 0",
        BY_THREAD,
    )
};

pub static STAGE_BY_THREAD: Sheet = Sheet {
    of: "stage",
    ..sheet(
        "threads",
        "FROM performance_schema.events_stages_summary_by_thread_by_event_name AS e LEFT JOIN performance_schema.threads AS t \
         ON t.THREAD_ID = e.THREAD_ID WHERE e.EVENT_NAME {0} AND e.COUNT_STAR > 0",
        BY_THREAD,
    )
};

pub static TABLE_BY_INDEX: Sheet = Sheet {
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

pub static LOCK_HOLDERS: Sheet = Sheet {
    of: "table",
    has_idle_rows: true,
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

pub static THREAD_EVENTS: Sheet = Sheet {
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

pub static MEMORY_BY_THREAD: Sheet = Sheet {
    of: "memory",
    has_idle_rows: true,
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

/// What a history's samples of a statement did in the interval, with the columns of [`EXECUTIONS`].
pub static EXECUTIONS_OF_SAMPLES: Sheet = Sheet {
    of: "statement",
    has_idle_rows: true,
    ..sheet(
        "stages and waits",
        "FROM (SELECT SUM(s.seconds) AS seconds, COUNT(*) AS samples, s.type, s.event FROM (SELECT seconds, \
         CASE WHEN state IN ('on cpu', 'waiting for cpu') THEN 'state' WHEN wait IS NOT NULL THEN 'wait' \
         WHEN stage IS NOT NULL THEN 'stage' ELSE 'state' END AS type, \
         CASE WHEN state IN ('on cpu', 'waiting for cpu') THEN state \
         ELSE COALESCE(wait, stage, state, 'unknown') END AS event \
         FROM tare.samples WHERE `schema` {0} AND digest {1}) AS s GROUP BY s.type, s.event) AS t",
        &[
            col(
                "TIME",
                "CAST(t.seconds * 1000000000 AS UNSIGNED) * 1000",
                Measure::GaugeTime,
                10,
            ),
            SHARE,
            col("COUNT", "t.samples", Measure::Gauge, 9),
            AVERAGE,
            col("TYPE", "t.type", Measure::Key, 9),
            col("EVENT", "t.event", Measure::Key, 0),
        ],
    )
};

/// Stages and waits of the last executions of a statement; read by `executions`.
pub static EXECUTIONS: Sheet = Sheet {
    of: "statement",
    has_idle_rows: true,
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
