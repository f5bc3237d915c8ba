//! events_errors_summary_*: errors raised and handled, by code.

use std::sync::Arc;

use super::event::{WIDE, by_host, by_thread, by_user};
use super::lists::summaries;
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::event::{HasOwner, Owner};
use crate::snapshot::By;

/// An error of one owner.
#[derive(Debug, Clone, Default)]
pub struct Error {
    /// The owner: a thread, an account, a user, a host, or all.
    pub owner: Owner,
    /// ERROR_NUMBER; `None` is all errors without a row of their own.
    pub number: Option<i64>,
    /// ERROR_NAME.
    pub name: Option<Arc<str>>,
    /// SQL_STATE.
    pub state: Option<Arc<str>>,
    /// SUM_ERROR_RAISED: without those handled.
    pub raised: u64,
    /// SUM_ERROR_HANDLED.
    pub handled: u64,
    /// FIRST_SEEN, microseconds since 1970; `None` = never.
    pub first_seen_us: Option<u64>,
    /// LAST_SEEN, likewise.
    pub last_seen_us: Option<u64>,
}

impl HasOwner for Error {
    fn owner(&self) -> &Owner {
        &self.owner
    }
}

fn seconds(us: Option<u64>) -> Cell<'static> {
    us.map_or(Cell::Null, |us| {
        let text = crate::time::timestamp(us);
        // timestamp without a fraction.
        text.split('.').next().unwrap_or_default().to_owned().into()
    })
}

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Error>] = &[
    null("ERROR_NUMBER", "int(11)", "The error number; NULL for the sum of errors that have no row of their own.", |r| Cell::opt(r.number)),
    null("ERROR_NAME", "varchar(64)", "The error's symbolic name.", |r| Cell::opt(r.name.as_deref())),
    null("SQL_STATE", "varchar(5)", "The error's SQLSTATE.", |r| Cell::opt(r.state.as_deref())),
    col("SUM_ERROR_RAISED", U64, "How often it was raised and not handled by a condition handler.", |r| r.raised.into()),
    col("SUM_ERROR_HANDLED", U64, "How often a condition handler handled it.", |r| r.handled.into()),
    null("FIRST_SEEN", "timestamp", "When it was first raised; NULL if never.", |r| seconds(r.first_seen_us)),
    null("LAST_SEEN", "timestamp", "When it was last raised; NULL if never.", |r| seconds(r.last_seen_us)),
];

summaries!(
    Error,
    "events_errors",
    "error",
    "Errors",
    [COLUMNS],
    "ERROR_NUMBER",
    200,
    WIDE,
    errors,
    truncate_errors,
    mysql_only
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&GLOBAL, &THREAD, &ACCOUNT, &USER, &HOST];
