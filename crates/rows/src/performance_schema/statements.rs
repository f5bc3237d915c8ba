//! events_statements_*: what clients asked for, and the counters of each statement.

use std::sync::Arc;

use super::event::*;
use super::lists::{events, summaries};
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::snapshot::{By, Which};

/// What a statement counts, in the order of its columns from ROWS_AFFECTED on: a column's name, which has SUM_
/// before it in summaries, its field, and what it says of one statement, and of many if that is something else.
macro_rules! counters {
    ($($name:literal $field:ident $one:literal $(, $many:literal)?;)*) => {
        /// What a statement counts. The same numbers of one statement and of a sum over many.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names are MySQL's column names")]
        pub struct Counters {
            $(pub $field: u64,)*
        }

        const COUNTERS: &[Column<Statement>] =
            &[$(col($name, U64, $one, |r| r.counters.$field.into())),*];

        /// SUM_LOCK_TIME to SUM_NO_GOOD_INDEX_USED.
        pub const fn sums<R: HasSums>() -> [Column<R>; 19] {
            [
                col("SUM_LOCK_TIME", U64, "Time spent waiting for table locks.", |r| {
                    r.sums().lock_time.into()
                }),
                col("SUM_ERRORS", U64, "Statements that ended in an error.", |r| {
                    r.sums().errors.into()
                }),
                col("SUM_WARNINGS", U64, "Warnings left.", |r| {
                    r.sums().warnings.into()
                }),
                $(col(concat!("SUM_", $name), U64, counters!(@ $one $(, $many)?), |r| {
                    r.sums().counters.$field.into()
                })),*
            ]
        }
    };
    (@ $one:literal) => {
        $one
    };
    (@ $one:literal, $many:literal) => {
        $many
    };
}

counters! {
    "ROWS_AFFECTED" rows_affected "Rows changed.";
    "ROWS_SENT" rows_sent "Rows sent to the client.", "Rows sent.";
    "ROWS_EXAMINED" rows_examined "Rows read to find them.", "Rows read.";
    "CREATED_TMP_DISK_TABLES" created_tmp_disk_tables "Temporary tables on disk.";
    "CREATED_TMP_TABLES" created_tmp_tables "Temporary tables.";
    "SELECT_FULL_JOIN" select_full_join "Joins that scanned the inner table.";
    "SELECT_FULL_RANGE_JOIN" select_full_range_join "Joins by a range on a reference table.";
    "SELECT_RANGE" select_range "Joins by a range on the first table.";
    "SELECT_RANGE_CHECK" select_range_check "Joins that chose keys row by row.";
    "SELECT_SCAN" select_scan "Joins that scanned the first table.";
    "SORT_MERGE_PASSES" sort_merge_passes "Merge passes of sorts.";
    "SORT_RANGE" sort_range "Sorts over a range.";
    "SORT_ROWS" sort_rows "Rows sorted.";
    "SORT_SCAN" sort_scan "Sorts over a scan.";
    "NO_INDEX_USED" no_index_used
        "1 if a table was scanned for want of an index.", "Statements that scanned for want of an index.";
    "NO_GOOD_INDEX_USED" no_good_index_used
        "1 if no good index was found.", "Statements that found no good index.";
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
