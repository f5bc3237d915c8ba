//! events_statements_*: statements and their counters.

use super::digests::{SHORT, SHORT_DIGEST, short};
use super::event::*;
use super::lists::{events, summaries};
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::event::*;
use crate::record::statement::{HasSums, Statement, Sums, statement_counters};
use crate::snapshot::{By, Which};
use tare_mysql::series::Series;

const CPU_TIME: &str =
    "CPU time of the thread meanwhile; 0 while the consumer events_statements_cpu is off.";
const MEMORY: &str =
    "Always 0: memory is not counted by statement; see memory_summary_by_thread_by_event_name.";

/// The columns of a statement's counters.
#[rustfmt::skip] // One column, one line.
macro_rules! columns {
    ($($name:literal $field:ident $one:literal $(, $many:literal)?;)*) => {
        const COUNTERS: &[Column<Statement>] =
            &[$(col($name, U64, $one, |r| r.counters.$field.into())),*];

        /// SUM_LOCK_TIME to SUM_NO_GOOD_INDEX_USED, and the further columns of 9.7.
        pub const fn sums<R: HasSums>() -> [Column<R>; 23] {
            [
                col("SUM_LOCK_TIME", U64, "Time spent waiting for table locks.", |r| r.sums().lock_time.into()),
                col("SUM_ERRORS", U64, "Statements that failed.", |r| r.sums().errors.into()),
                col("SUM_WARNINGS", U64, "Warnings raised.", |r| r.sums().warnings.into()),
                $(col(concat!("SUM_", $name), U64, columns!(@ $one $(, $many)?), |r| r.sums().counters.$field.into())),*,
                col("SUM_CPU_TIME", U64, CPU_TIME, |r: &R| r.sums().cpu_time.into()).since(Series::V9_7),
                col("MAX_CONTROLLED_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
                col("MAX_TOTAL_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
                col("COUNT_SECONDARY", U64, "Always 0: there is no secondary engine.", |_| 0_u64.into()).since(Series::V9_7),
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

statement_counters!(columns);

#[rustfmt::skip] // One column, one line.
const TEXT: &[Column<Statement>] = &[
    col("LOCK_TIME", U64, "Time spent waiting for table locks.", |r| r.lock_time.into()),
    null("SQL_TEXT", "longtext", "The statement's text, truncated if it is too long.", |r| Cell::opt(r.sql_text.as_deref())),
    null("DIGEST", "varchar(64)", "The SHA-256 of the normalized statement.", |r: &Statement| Cell::opt(r.digest.as_deref())).mysql_only(),
    null("DIGEST", SHORT, SHORT_DIGEST, |r: &Statement| Cell::opt(r.digest.as_deref().map(short))).mariadb_only(),
    null("DIGEST_TEXT", "longtext", "The normalized statement.", |r| Cell::opt(r.digest_text.as_deref())),
    null("CURRENT_SCHEMA", "varchar(64)", "The default database when the statement ran.", |r| Cell::opt(r.current_schema.as_deref())),
    null("OBJECT_TYPE", "varchar(64)", "The type of the stored program that ran it.", |r| Cell::opt(r.object_type)),
    null("OBJECT_SCHEMA", "varchar(64)", "The stored program's schema.", |r| Cell::opt(r.object_schema.as_deref())),
    null("OBJECT_NAME", "varchar(64)", "The stored program's name.", |r| Cell::opt(r.object_name.as_deref())),
    null("OBJECT_INSTANCE_BEGIN", U64, "The statement object's address. Always NULL: not recorded.", |_| Cell::Null),
    null("MYSQL_ERRNO", "int(11)", "The error number; 0 if the statement succeeded.", |r| Cell::opt(r.errno)),
    null("RETURNED_SQLSTATE", "varchar(5)", "The SQLSTATE.", |r| Cell::opt(r.sqlstate.as_deref())),
    null("MESSAGE_TEXT", "varchar(128)", "The error message.", |r| Cell::opt(r.message_text.as_deref())),
    col("ERRORS", U64, "1 if the statement failed, else 0.", |r| r.errors.into()),
    col("WARNINGS", U64, "Warnings raised.", |r| r.warnings.into()),
];

#[rustfmt::skip] // One column, one line.
const TAIL: &[Column<Statement>] = &[
    null("NESTING_EVENT_LEVEL", "int(11)", "How deeply the statement is nested in other statements.", |r| Cell::opt(r.nesting_event_level)),
    null("STATEMENT_ID", U64, "The statement's number, unique in the server.", |r: &Statement| Cell::opt(r.statement_id)).mysql_only(),
    col("CPU_TIME", U64, CPU_TIME, |r: &Statement| r.cpu_time.into()).since(Series::V9_7),
    col("MAX_CONTROLLED_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
    col("MAX_TOTAL_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
    execution_engine(),
];

/// EXECUTION_ENGINE: of what runs, or has run, in the server's one engine.
#[rustfmt::skip] // One column, one line.
pub const fn execution_engine<R>() -> Column<R> {
    null("EXECUTION_ENGINE", "enum('PRIMARY','SECONDARY')", "Always PRIMARY, the only engine.", |_| "PRIMARY".into()).since(Series::V9_7)
}

const EVENT: &[&[Column<Statement>]] = &[&identity(), &times(), TEXT, COUNTERS, &nesting(), TAIL];

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
    WIDE,
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
