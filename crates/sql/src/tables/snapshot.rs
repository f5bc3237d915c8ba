//! The segment as one statement sees it.

use crate::catalog::{Change, Filter, MySqlError, Rows, Source, Variable};

use super::performance_schema::connections::Connections;
use super::performance_schema::digests::Digest;
use super::performance_schema::event::{Stat, Summary};
use super::performance_schema::files::FileIo;
use super::performance_schema::instances::Lock;
use super::performance_schema::memory::Memory;
use super::performance_schema::setup::{Consumer, EventTimer, Instrument, Timer};
use super::performance_schema::stages::Stage;
use super::performance_schema::statements::{self, Statement};
use super::performance_schema::threads::Thread;
use super::performance_schema::transactions::{self, Transaction};
use super::performance_schema::waits::{InstanceWaits, Wait};
use super::tare::{Contention, HistogramBucket, SegmentInfo};

/// Which table of single events.
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
    Global,
    /// The thread.
    Thread,
    /// The account.
    Account,
}

/// What a statement reads of the segment. Without a segment every table is empty, as
/// performance_schema's are in a server that runs without it.
pub struct Snapshot {}

type Made<R> = Result<Rows<R>, MySqlError>;
type Done = Result<(), MySqlError>;

fn none<R: 'static>() -> Made<R> {
    Ok(Box::new(std::iter::empty()))
}

macro_rules! rows {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $row:ty;)*) => {
        #[allow(missing_docs)]
        impl Snapshot { $(pub fn $name(&self, $($arg: $ty),*) -> Made<$row> { $(let _ = $arg;)* none() })* }
    };
}
macro_rules! acts {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {
        #[allow(missing_docs)]
        impl Snapshot { $(pub fn $name(&self, $($arg: $ty),*) -> Done { $(let _ = $arg;)* Ok(()) })* }
    };
}

rows! {
    waits(which: Which, filter: &Filter) -> Wait;
    stages(which: Which, filter: &Filter) -> Stage;
    statements(which: Which, filter: &Filter) -> Statement;
    transactions(which: Which, filter: &Filter) -> Transaction;
    wait_summary(by: By, filter: &Filter) -> Summary<Stat>;
    stage_summary(by: By, filter: &Filter) -> Summary<Stat>;
    statement_summary(by: By, filter: &Filter) -> Summary<statements::Sums>;
    transaction_summary(by: By, filter: &Filter) -> Summary<transactions::Sums>;
    instance_waits(filter: &Filter) -> InstanceWaits;
    digests() -> Digest;
    mutexes(filter: &Filter) -> Lock;
    rwlocks(filter: &Filter) -> Lock;
    file_summary(filter: &Filter) -> FileIo;
    file_instances(filter: &Filter) -> FileIo;
    memory(filter: &Filter) -> Memory;
    threads(filter: &Filter) -> Thread;
    accounts() -> Connections;
    users() -> Connections;
    hosts() -> Connections;
    instruments(filter: &Filter) -> Instrument;
    consumers() -> Consumer;
    event_timers() -> EventTimer;
    timers() -> Timer;
    contention(filter: &Filter) -> Contention;
    histograms(filter: &Filter) -> HistogramBucket;
    segments() -> SegmentInfo;
}

acts! {
    truncate_waits(which: Which);
    truncate_stages(which: Which);
    truncate_statements(which: Which);
    truncate_transactions(which: Which);
    truncate_wait_summary(by: By);
    truncate_stage_summary(by: By);
    truncate_statement_summary(by: By);
    truncate_transaction_summary(by: By);
    truncate_instances();
    truncate_digests();
    truncate_file_summary();
    truncate_file_instances();
    truncate_memory();
    truncate_accounts();
    set_thread(id: u64, changes: &[Change]);
    set_instrument(id: u32, changes: &[Change]);
    set_consumer(bit: u32, changes: &[Change]);
    set_event_timer(id: u32, changes: &[Change]);
}

impl Snapshot {
    /// Nothing is read before a table asks.
    pub fn new(_source: &dyn Source) -> Self {
        Snapshot {}
    }

    /// performance_schema's system variables.
    pub fn variables(&self) -> Vec<Variable> {
        Vec::new()
    }

    /// performance_schema's status counters.
    pub fn status(&self) -> Vec<Variable> {
        Vec::new()
    }
}

impl Snapshot {
    /// When recording began.
    pub fn started(&self) -> std::time::SystemTime {
        std::time::SystemTime::now()
    }
}
