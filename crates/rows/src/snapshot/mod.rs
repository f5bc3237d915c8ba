//! The segment as one statement sees it.
//!
//! A table is read when it is first scanned, and stays as it is for the statement: a second scan (a join
//! with itself, a subquery) has the same rows.

pub(crate) mod active;
mod actors;
mod connections;
mod costs;
mod digests;
mod errors;
mod events;
mod handles;
mod host;
mod objects;
mod row_locks;
mod rules;
mod sampling;
mod setup;
mod status;
mod summaries;
mod tables;
mod truncate;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tare_mysql::error::SqlError;
use tare_reader::activity_log::Moment;
use tare_reader::{Classes, Histogram, Names, Segment, Sources, Thread as Slot};

use crate::record::Rows;
use crate::record::active::ActiveSession;
use crate::record::digest::Digest;
use crate::record::stage::Stage;
use crate::record::statement::Statement;
use crate::record::thread::Thread;
use crate::record::transaction::Transaction;
use crate::record::wait::Wait;
use host::Host;

/// A table of single events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// events_*_current.
    Current,
    /// events_*_history.
    History,
    /// events_*_history_long.
    HistoryLong,
}

/// What a summary groups by, besides the event name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Nothing: all threads.
    Global = 0,
    /// The thread.
    Thread,
    /// The account.
    Account,
    /// The user.
    User,
    /// The host.
    Host,
}

/// How many ways there are to group.
const OWNERS: usize = By::Host as usize + 1;

type RowsResult<R> = Result<Rows<R>, SqlError>;
type WriteResult = Result<(), SqlError>;
type Once<T> = OnceLock<Arc<Vec<T>>>;
/// Latency histograms by class.
type Histograms = Vec<Option<Histogram>>;

/// What a statement reads of the segment. Without a segment every table is empty, as
/// performance_schema's are in a server that runs without it.
pub struct Snapshot {
    host: Option<Host>,
    classes: OnceLock<Classes>,
    names: OnceLock<Names>,
    sources: Arc<Sources>,
    slots: Once<Slot>,
    threads: Once<Thread>,
    waits: [Once<Wait>; 3],
    stages: [Once<Stage>; 3],
    statements: [Once<Statement>; 3],
    transactions: [Once<Transaction>; 3],
    sums: [[Once<summaries::Lazy>; summaries::FAMILIES]; OWNERS],
    histograms: OnceLock<Histograms>,
    objects: OnceLock<objects::Objects>,
    tables: OnceLock<tables::Tables>,
    digests: Once<Digest>,
    digests_read: Once<tare_reader::Digest>,
    statement_histogram: OnceLock<Box<tare_reader::FineHistogram>>,
    row_locks: OnceLock<Arc<tare_reader::row_locks::RowLocks>>,
    active_sessions: Once<ActiveSession>,
    moments: Once<Arc<Moment>>,
}

impl Snapshot {
    /// A snapshot of this moment, of the segment if there is one.
    pub fn new(segment: Option<Arc<Segment>>) -> Self {
        Snapshot {
            host: segment.map(Host::new),
            classes: OnceLock::new(),
            names: OnceLock::new(),
            sources: Arc::default(),
            slots: OnceLock::new(),
            threads: OnceLock::new(),
            waits: Default::default(),
            stages: Default::default(),
            statements: Default::default(),
            transactions: Default::default(),
            sums: Default::default(),
            histograms: OnceLock::new(),
            objects: OnceLock::new(),
            tables: OnceLock::new(),
            digests: OnceLock::new(),
            digests_read: OnceLock::new(),
            statement_histogram: OnceLock::new(),
            row_locks: OnceLock::new(),
            active_sessions: OnceLock::new(),
            moments: OnceLock::new(),
        }
    }

    /// When recording began; without a segment, 1970.
    pub fn started(&self) -> SystemTime {
        let us = self
            .host
            .as_ref()
            .map_or(0, |host| host.clock.start_unix_ns / 1000);
        UNIX_EPOCH + Duration::from_micros(us)
    }
}

fn none<R: 'static>() -> RowsResult<R> {
    Ok(Box::new(std::iter::empty()))
}

/// The rows of stored items that `admits` accepts.
fn rows<T: 'static, R: 'static>(
    stored: &Arc<Vec<T>>,
    row: impl Fn(&T) -> R + 'static,
    admits: impl Fn(&T) -> bool + 'static,
) -> RowsResult<R> {
    let stored = stored.clone();
    let mut next = 0;
    Ok(Box::new(std::iter::from_fn(move || {
        loop {
            let item = stored.get(next)?;
            next += 1;
            if admits(item) {
                return Some(row(item));
            }
        }
    })))
}
