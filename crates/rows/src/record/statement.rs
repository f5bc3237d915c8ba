//! A row of events_statements_*, and of their sums.

use std::sync::Arc;

use super::event::{Event, HasEvent, HasStat, Stat, Summary};

/// Gives a macro the list of what a statement counts, in the order of its columns from ROWS_AFFECTED
/// on: a column's name, which has SUM_ before it in summaries, its field, and what it says of one
/// statement, and of many if that is something else.
macro_rules! statement_counters {
    ($with:ident) => {
        $with! {
            "ROWS_AFFECTED" rows_affected "Rows changed.";
            "ROWS_SENT" rows_sent "Rows sent to the client.", "Rows sent.";
            "ROWS_EXAMINED" rows_examined "Rows examined.", "Rows examined.";
            "CREATED_TMP_DISK_TABLES" created_tmp_disk_tables "Internal temporary tables created on disk.";
            "CREATED_TMP_TABLES" created_tmp_tables "Internal temporary tables created.";
            "SELECT_FULL_JOIN" select_full_join "Joins that scanned a joined table because no index could be used.";
            "SELECT_FULL_RANGE_JOIN" select_full_range_join "Joins that used a range search on a reference table.";
            "SELECT_RANGE" select_range "Joins that used a range of the first table.";
            "SELECT_RANGE_CHECK" select_range_check "Joins without keys that checked for key usage after each row.";
            "SELECT_SCAN" select_scan "Joins that scanned the whole first table.";
            "SORT_MERGE_PASSES" sort_merge_passes "Merge passes of the sort algorithm.";
            "SORT_RANGE" sort_range "Sorts of rows read by a range.";
            "SORT_ROWS" sort_rows "Rows sorted.";
            "SORT_SCAN" sort_scan "Sorts of rows read by a table scan.";
            "NO_INDEX_USED" no_index_used
                "1 if a table was scanned because no index could be used.", "Statements that scanned a table because no index could be used.";
            "NO_GOOD_INDEX_USED" no_good_index_used
                "1 if no good index was found for a table.", "Statements for which no good index was found.";
        }
    };
}

pub(crate) use statement_counters;

macro_rules! fields {
    ($($name:literal $field:ident $one:literal $(, $many:literal)?;)*) => {
        /// What a statement counts. The same numbers of one statement and of a sum over many.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names are MySQL's column names")]
        pub struct Counters {
            $(pub $field: u64,)*
        }
    };
}

statement_counters!(fields);

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
    /// OBJECT_TYPE, of a statement in a stored program.
    pub object_type: Option<&'static str>,
    /// OBJECT_SCHEMA.
    pub object_schema: Option<Arc<str>>,
    /// OBJECT_NAME.
    pub object_name: Option<Arc<str>>,
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
    /// CPU_TIME.
    pub cpu_time: u64,
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
    /// SUM_ROWS_AFFECTED to SUM_NO_GOOD_INDEX_USED.
    pub counters: Counters,
    /// SUM_CPU_TIME.
    pub cpu_time: u64,
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
