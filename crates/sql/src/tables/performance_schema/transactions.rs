//! events_transactions_*.

use super::event::*;
use crate::catalog::{Cell, Column, Spec, Table, U64, YES_NO, col, null};
use crate::tables::snapshot::{By, Which};

/// A transaction.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    /// The common columns.
    pub event: Event,
    /// STATE.
    pub state: Option<&'static str>,
    /// TRX_ID.
    pub trx_id: Option<u64>,
    /// GTID.
    pub gtid: Option<String>,
    /// ACCESS_MODE.
    pub access_mode: Option<&'static str>,
    /// ISOLATION_LEVEL.
    pub isolation_level: Option<&'static str>,
    /// AUTOCOMMIT.
    pub autocommit: bool,
    /// NUMBER_OF_SAVEPOINTS.
    pub savepoints: Option<u64>,
    /// NUMBER_OF_ROLLBACK_TO_SAVEPOINT.
    pub rollbacks_to_savepoint: Option<u64>,
    /// NUMBER_OF_RELEASE_SAVEPOINT.
    pub releases: Option<u64>,
}

impl HasEvent for Transaction {
    fn event(&self) -> &Event {
        &self.event
    }
}

const STATE: &[Column<Transaction>] = &[
    null(
        "STATE",
        "enum('ACTIVE','COMMITTED','ROLLED BACK')",
        "How it stands or ended.",
        |r| Cell::opt(r.state),
    ),
    null("TRX_ID", U64, "The storage engine's number of it.", |r| {
        Cell::opt(r.trx_id)
    }),
    null(
        "GTID",
        "varchar(64)",
        "Its global identifier, or AUTOMATIC.",
        |r| Cell::opt(r.gtid.as_deref()),
    ),
    null(
        "XID_FORMAT_ID",
        "int(11)",
        "XA format; NULL without XA.",
        |_| Cell::Null,
    ),
    null(
        "XID_GTRID",
        "varchar(130)",
        "XA global part; NULL without XA.",
        |_| Cell::Null,
    ),
    null(
        "XID_BQUAL",
        "varchar(130)",
        "XA branch; NULL without XA.",
        |_| Cell::Null,
    ),
    null(
        "XA_STATE",
        "varchar(64)",
        "XA state; NULL without XA.",
        |_| Cell::Null,
    ),
];

const KIND: &[Column<Transaction>] = &[
    null(
        "ACCESS_MODE",
        "enum('READ ONLY','READ WRITE')",
        "Whether it may write.",
        |r| Cell::opt(r.access_mode),
    ),
    null(
        "ISOLATION_LEVEL",
        "varchar(64)",
        "Its isolation level.",
        |r| Cell::opt(r.isolation_level),
    ),
    col(
        "AUTOCOMMIT",
        YES_NO,
        "Whether a single statement opened it.",
        |r| Cell::yes_no(r.autocommit),
    ),
    null(
        "NUMBER_OF_SAVEPOINTS",
        U64,
        "SAVEPOINT statements in it.",
        |r| Cell::opt(r.savepoints),
    ),
    null(
        "NUMBER_OF_ROLLBACK_TO_SAVEPOINT",
        U64,
        "ROLLBACK TO SAVEPOINT statements in it.",
        |r| Cell::opt(r.rollbacks_to_savepoint),
    ),
    null(
        "NUMBER_OF_RELEASE_SAVEPOINT",
        U64,
        "RELEASE SAVEPOINT statements in it.",
        |r| Cell::opt(r.releases),
    ),
    null(
        "OBJECT_INSTANCE_BEGIN",
        U64,
        "Not used, as in MySQL.",
        |_| Cell::Null,
    ),
];

const EVENT: &[&[Column<Transaction>]] = &[&identity(), STATE, &times(), KIND, &nesting()];

/// What summaries of transactions sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// All.
    pub all: Stat,
    /// Those that may write.
    pub read_write: Stat,
    /// Those that may not.
    pub read_only: Stat,
}

impl HasStat for Sums {
    fn stat(&self) -> &Stat {
        &self.all
    }
}

type Row = Summary<Sums>;

const MODES: &[Column<Row>] = &[
    col("COUNT_READ_WRITE", U64, "READ WRITE transactions.", |r| {
        r.sums.read_write.count.into()
    }),
    col("SUM_TIMER_READ_WRITE", U64, "Their time in all.", |r| {
        r.sums.read_write.sum.into()
    }),
    col("MIN_TIMER_READ_WRITE", U64, "The shortest.", |r| {
        r.sums.read_write.min.into()
    }),
    col("AVG_TIMER_READ_WRITE", U64, "The average.", |r| {
        r.sums.read_write.avg().into()
    }),
    col("MAX_TIMER_READ_WRITE", U64, "The longest.", |r| {
        r.sums.read_write.max.into()
    }),
    col("COUNT_READ_ONLY", U64, "READ ONLY transactions.", |r| {
        r.sums.read_only.count.into()
    }),
    col("SUM_TIMER_READ_ONLY", U64, "Their time in all.", |r| {
        r.sums.read_only.sum.into()
    }),
    col("MIN_TIMER_READ_ONLY", U64, "The shortest.", |r| {
        r.sums.read_only.min.into()
    }),
    col("AVG_TIMER_READ_ONLY", U64, "The average.", |r| {
        r.sums.read_only.avg().into()
    }),
    col("MAX_TIMER_READ_ONLY", U64, "The longest.", |r| {
        r.sums.read_only.max.into()
    }),
];

static CURRENT: Spec<Transaction> = Spec::new(
    "performance_schema",
    "events_transactions_current",
    "The transaction that each thread is in, or its last one.",
    EVENT,
    |view, filter| view.snapshot.transactions(Which::Current, filter),
)
.keys(EVENT_KEYS)
.filters(&["THREAD_ID"])
.expect(500)
.truncate(|view| view.snapshot.truncate_transactions(Which::Current));

static HISTORY: Spec<Transaction> = Spec::new(
    "performance_schema",
    "events_transactions_history",
    "The last transactions of each thread.",
    EVENT,
    |view, filter| view.snapshot.transactions(Which::History, filter),
)
.keys(EVENT_KEYS)
.filters(&["THREAD_ID"])
.expect(5000)
.truncate(|view| view.snapshot.truncate_transactions(Which::History));

static HISTORY_LONG: Spec<Transaction> = Spec::new(
    "performance_schema",
    "events_transactions_history_long",
    "The last transactions of all threads.",
    EVENT,
    |view, filter| view.snapshot.transactions(Which::HistoryLong, filter),
)
.filters(&["THREAD_ID"])
.expect(10_000)
.truncate(|view| view.snapshot.truncate_transactions(Which::HistoryLong));

static GLOBAL: Spec<Row> = Spec::new(
    "performance_schema",
    "events_transactions_summary_global_by_event_name",
    "Transactions of all threads, by instrument.",
    &[&by_name(), &timing(), MODES],
    |view, filter| view.snapshot.transaction_summary(By::Global, filter),
)
.keys(GLOBAL_KEYS)
.filters(&["EVENT_NAME"])
.expect(1)
.truncate(|view| view.snapshot.truncate_transaction_summary(By::Global));

static THREAD: Spec<Row> = Spec::new(
    "performance_schema",
    "events_transactions_summary_by_thread_by_event_name",
    "Transactions of each thread, by instrument.",
    &[&by_thread(), &by_name(), &timing(), MODES],
    |view, filter| view.snapshot.transaction_summary(By::Thread, filter),
)
.keys(THREAD_KEYS)
.filters(&["THREAD_ID", "EVENT_NAME"])
.expect(500)
.truncate(|view| view.snapshot.truncate_transaction_summary(By::Thread));

static ACCOUNT: Spec<Row> = Spec::new(
    "performance_schema",
    "events_transactions_summary_by_account_by_event_name",
    "Transactions of each account, by instrument.",
    &[&by_account(), &by_name(), &timing(), MODES],
    |view, filter| view.snapshot.transaction_summary(By::Account, filter),
)
.keys(ACCOUNT_KEYS)
.filters(&["EVENT_NAME"])
.expect(50)
.truncate(|view| view.snapshot.truncate_transaction_summary(By::Account));

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &CURRENT,
    &HISTORY,
    &HISTORY_LONG,
    &GLOBAL,
    &THREAD,
    &ACCOUNT,
];
