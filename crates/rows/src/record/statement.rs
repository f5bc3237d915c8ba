//! A row of events_statements_*, and of their sums.

use std::sync::Arc;

use super::event::{Event, HasEvent, HasStat, Stat, Summary};

/// Passes a macro the counters of a statement, in the order of the columns from ROWS_AFFECTED on: the column's
/// name (with SUM_ in summaries), its field, and its sentence for one statement, and for many if it differs.
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
                "1 if a table was scanned because no index could be used.",
                "Statements that scanned a table because no index could be used.";
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
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Statement {
    /// The common columns.
    pub event: Event,
    pub lock_time: u64,
    pub sql_text: Option<Arc<str>>,
    pub digest: Option<Arc<str>>,
    pub digest_text: Option<Arc<str>>,
    pub current_schema: Option<Arc<str>>,
    /// OBJECT_TYPE, of a statement in a stored program.
    pub object_type: Option<&'static str>,
    pub object_schema: Option<Arc<str>>,
    pub object_name: Option<Arc<str>>,
    /// MYSQL_ERRNO.
    pub errno: Option<i64>,
    /// RETURNED_SQLSTATE.
    pub sqlstate: Option<Arc<str>>,
    pub message_text: Option<Arc<str>>,
    pub errors: u64,
    pub warnings: u64,
    /// ROWS_AFFECTED to NO_GOOD_INDEX_USED.
    pub counters: Counters,
    pub cpu_time: u64,
    pub nesting_event_level: Option<i64>,
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
