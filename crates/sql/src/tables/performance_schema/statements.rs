//! events_statements_*: what clients asked for, and the counters of each statement.

use std::sync::Arc;

use super::event::*;
use super::lists::{events, summaries};
use crate::catalog::{Cell, Column, Key, Spec, Table, U64, col, null};
use crate::tables::snapshot::{By, Which};

/// What a statement counts, in the order of its columns from ROWS_AFFECTED on. The same numbers
/// of one statement and of a sum over many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Counters {
    pub rows_affected: u64,
    pub rows_sent: u64,
    pub rows_examined: u64,
    pub created_tmp_disk_tables: u64,
    pub created_tmp_tables: u64,
    pub select_full_join: u64,
    pub select_full_range_join: u64,
    pub select_range: u64,
    pub select_range_check: u64,
    pub select_scan: u64,
    pub sort_merge_passes: u64,
    pub sort_range: u64,
    pub sort_rows: u64,
    pub sort_scan: u64,
    pub no_index_used: u64,
    pub no_good_index_used: u64,
}

/// A statement.
#[derive(Debug, Clone, Default)]
pub struct Statement {
    /// The common columns.
    pub event: Event,
    /// LOCK_TIME.
    pub lock_time: u64,
    /// SQL_TEXT.
    pub sql_text: Option<Arc<str>>,
    /// DIGEST.
    pub digest: Option<Arc<str>>,
    /// DIGEST_TEXT.
    pub digest_text: Option<Arc<str>>,
    /// CURRENT_SCHEMA.
    pub current_schema: Option<Arc<str>>,
    /// MYSQL_ERRNO.
    pub errno: Option<i64>,
    /// RETURNED_SQLSTATE.
    pub sqlstate: Option<Arc<str>>,
    /// MESSAGE_TEXT.
    pub message_text: Option<Arc<str>>,
    /// ERRORS.
    pub errors: u64,
    /// WARNINGS.
    pub warnings: u64,
    /// ROWS_AFFECTED to NO_GOOD_INDEX_USED.
    pub counters: Counters,
    /// NESTING_EVENT_LEVEL.
    pub nesting_event_level: Option<i64>,
    /// STATEMENT_ID.
    pub statement_id: Option<u64>,
}

impl HasEvent for Statement {
    fn event(&self) -> &Event {
        &self.event
    }
}

const TEXT: &[Column<Statement>] = &[
    col(
        "LOCK_TIME",
        U64,
        "Time spent waiting for table locks.",
        |r| r.lock_time.into(),
    ),
    null(
        "SQL_TEXT",
        "longtext",
        "The statement, cut to the length that a slot keeps.",
        |r| Cell::opt(r.sql_text.as_deref()),
    ),
    null(
        "DIGEST",
        "varchar(64)",
        "The SHA-256 of the normalized statement.",
        |r: &Statement| Cell::opt(r.digest.as_deref()),
    ),
    null(
        "DIGEST_TEXT",
        "longtext",
        "The normalized statement.",
        |r| Cell::opt(r.digest_text.as_deref()),
    ),
    null(
        "CURRENT_SCHEMA",
        "varchar(64)",
        "The default database when it ran.",
        |r| Cell::opt(r.current_schema.as_deref()),
    ),
    null(
        "OBJECT_TYPE",
        "varchar(64)",
        "The stored program that ran it; none here.",
        |_| Cell::Null,
    ),
    null(
        "OBJECT_SCHEMA",
        "varchar(64)",
        "The stored program's schema; none here.",
        |_| Cell::Null,
    ),
    null(
        "OBJECT_NAME",
        "varchar(64)",
        "The stored program's name; none here.",
        |_| Cell::Null,
    ),
    null(
        "OBJECT_INSTANCE_BEGIN",
        U64,
        "The statement object's address; not recorded.",
        |_| Cell::Null,
    ),
    null(
        "MYSQL_ERRNO",
        "int(11)",
        "The error's number; 0 if it succeeded.",
        |r| Cell::opt(r.errno),
    ),
    null(
        "RETURNED_SQLSTATE",
        "varchar(5)",
        "The error's SQLSTATE.",
        |r| Cell::opt(r.sqlstate.as_deref()),
    ),
    null("MESSAGE_TEXT", "varchar(128)", "The error's text.", |r| {
        Cell::opt(r.message_text.as_deref())
    }),
    col("ERRORS", U64, "1 if it ended in an error.", |r| {
        r.errors.into()
    }),
    col("WARNINGS", U64, "Warnings that it left.", |r| {
        r.warnings.into()
    }),
];

const COUNTERS: &[Column<Statement>] = &[
    col("ROWS_AFFECTED", U64, "Rows changed.", |r| {
        r.counters.rows_affected.into()
    }),
    col("ROWS_SENT", U64, "Rows sent to the client.", |r| {
        r.counters.rows_sent.into()
    }),
    col("ROWS_EXAMINED", U64, "Rows read to find them.", |r| {
        r.counters.rows_examined.into()
    }),
    col(
        "CREATED_TMP_DISK_TABLES",
        U64,
        "Temporary tables on disk.",
        |r| r.counters.created_tmp_disk_tables.into(),
    ),
    col("CREATED_TMP_TABLES", U64, "Temporary tables.", |r| {
        r.counters.created_tmp_tables.into()
    }),
    col(
        "SELECT_FULL_JOIN",
        U64,
        "Joins that scanned the inner table.",
        |r| r.counters.select_full_join.into(),
    ),
    col(
        "SELECT_FULL_RANGE_JOIN",
        U64,
        "Joins by a range on a reference table.",
        |r| r.counters.select_full_range_join.into(),
    ),
    col(
        "SELECT_RANGE",
        U64,
        "Joins by a range on the first table.",
        |r| r.counters.select_range.into(),
    ),
    col(
        "SELECT_RANGE_CHECK",
        U64,
        "Joins that chose keys row by row.",
        |r| r.counters.select_range_check.into(),
    ),
    col(
        "SELECT_SCAN",
        U64,
        "Joins that scanned the first table.",
        |r| r.counters.select_scan.into(),
    ),
    col("SORT_MERGE_PASSES", U64, "Merge passes of sorts.", |r| {
        r.counters.sort_merge_passes.into()
    }),
    col("SORT_RANGE", U64, "Sorts over a range.", |r| {
        r.counters.sort_range.into()
    }),
    col("SORT_ROWS", U64, "Rows sorted.", |r| {
        r.counters.sort_rows.into()
    }),
    col("SORT_SCAN", U64, "Sorts over a scan.", |r| {
        r.counters.sort_scan.into()
    }),
    col(
        "NO_INDEX_USED",
        U64,
        "1 if a table was scanned for want of an index.",
        |r| r.counters.no_index_used.into(),
    ),
    col(
        "NO_GOOD_INDEX_USED",
        U64,
        "1 if no good index was found.",
        |r| r.counters.no_good_index_used.into(),
    ),
];

const TAIL: &[Column<Statement>] = &[
    null(
        "NESTING_EVENT_LEVEL",
        "int(11)",
        "How deep it is nested in statements.",
        |r| Cell::opt(r.nesting_event_level),
    ),
    null(
        "STATEMENT_ID",
        U64,
        "The statement's number in the server.",
        |r| Cell::opt(r.statement_id),
    ),
];

const EVENT: &[&[Column<Statement>]] = &[&identity(), &times(), TEXT, COUNTERS, &nesting(), TAIL];

/// What summaries of statements sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Count and times.
    pub stat: Stat,
    /// SUM_LOCK_TIME.
    pub lock_time: u64,
    /// SUM_ERRORS.
    pub errors: u64,
    /// SUM_WARNINGS.
    pub warnings: u64,
    /// The rest.
    pub counters: Counters,
}

impl HasStat for Sums {
    fn stat(&self) -> &Stat {
        &self.stat
    }
}

/// A row that sums statements.
pub trait HasSums: HasStat {
    /// The sums.
    fn sums(&self) -> &Sums;
}

impl HasSums for Summary<Sums> {
    fn sums(&self) -> &Sums {
        &self.sums
    }
}

/// SUM_LOCK_TIME to SUM_NO_GOOD_INDEX_USED.
pub const fn sums<R: HasSums>() -> [Column<R>; 19] {
    [
        col(
            "SUM_LOCK_TIME",
            U64,
            "Time spent waiting for table locks.",
            |r| r.sums().lock_time.into(),
        ),
        col(
            "SUM_ERRORS",
            U64,
            "Statements that ended in an error.",
            |r| r.sums().errors.into(),
        ),
        col("SUM_WARNINGS", U64, "Warnings left.", |r| {
            r.sums().warnings.into()
        }),
        col("SUM_ROWS_AFFECTED", U64, "Rows changed.", |r| {
            r.sums().counters.rows_affected.into()
        }),
        col("SUM_ROWS_SENT", U64, "Rows sent.", |r| {
            r.sums().counters.rows_sent.into()
        }),
        col("SUM_ROWS_EXAMINED", U64, "Rows read.", |r| {
            r.sums().counters.rows_examined.into()
        }),
        col(
            "SUM_CREATED_TMP_DISK_TABLES",
            U64,
            "Temporary tables on disk.",
            |r| r.sums().counters.created_tmp_disk_tables.into(),
        ),
        col("SUM_CREATED_TMP_TABLES", U64, "Temporary tables.", |r| {
            r.sums().counters.created_tmp_tables.into()
        }),
        col(
            "SUM_SELECT_FULL_JOIN",
            U64,
            "Joins that scanned the inner table.",
            |r| r.sums().counters.select_full_join.into(),
        ),
        col(
            "SUM_SELECT_FULL_RANGE_JOIN",
            U64,
            "Joins by a range on a reference table.",
            |r| r.sums().counters.select_full_range_join.into(),
        ),
        col(
            "SUM_SELECT_RANGE",
            U64,
            "Joins by a range on the first table.",
            |r| r.sums().counters.select_range.into(),
        ),
        col(
            "SUM_SELECT_RANGE_CHECK",
            U64,
            "Joins that chose keys row by row.",
            |r| r.sums().counters.select_range_check.into(),
        ),
        col(
            "SUM_SELECT_SCAN",
            U64,
            "Joins that scanned the first table.",
            |r| r.sums().counters.select_scan.into(),
        ),
        col(
            "SUM_SORT_MERGE_PASSES",
            U64,
            "Merge passes of sorts.",
            |r| r.sums().counters.sort_merge_passes.into(),
        ),
        col("SUM_SORT_RANGE", U64, "Sorts over a range.", |r| {
            r.sums().counters.sort_range.into()
        }),
        col("SUM_SORT_ROWS", U64, "Rows sorted.", |r| {
            r.sums().counters.sort_rows.into()
        }),
        col("SUM_SORT_SCAN", U64, "Sorts over a scan.", |r| {
            r.sums().counters.sort_scan.into()
        }),
        col(
            "SUM_NO_INDEX_USED",
            U64,
            "Statements that scanned for want of an index.",
            |r| r.sums().counters.no_index_used.into(),
        ),
        col(
            "SUM_NO_GOOD_INDEX_USED",
            U64,
            "Statements that found no good index.",
            |r| r.sums().counters.no_good_index_used.into(),
        ),
    ]
}

events!(
    Statement,
    "statements",
    "statement",
    EVENT,
    statements,
    truncate_statements
);

summaries!(
    Summary<Sums>,
    "events_statements",
    "event_name",
    "Statements",
    [&by_name(), &timing(), &sums()],
    "EVENT_NAME",
    200,
    statement_summary,
    truncate_statement_summary
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &CURRENT,
    &HISTORY,
    &HISTORY_LONG,
    &GLOBAL,
    &THREAD,
    &ACCOUNT,
    &USER,
    &HOST,
];
