//! The hot paths that benchmarks run: their time by `engine`, their instructions by `instructions`.
#![allow(dead_code, reason = "each benchmark runs some of them")]

use std::cell::RefCell;
use std::hint::black_box;

use tare::sync::{Mutex, PlainMutex};
use tare::table::{Classes, Handle, Table};
use tare::{
    Config, LockDuration, LockTiming, LockType, Namespace, Operation, Rule, Sampling, Setting,
    TableLock, metadata,
};

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/bench/LOCK_bench";
    static EVENT: MetadataLock = "wait/lock/metadata/bench/event";
    static STAGE_A: Stage = "stage/bench/a";
    static STAGE_B: Stage = "stage/bench/b";
    static QUERY: Statement = "statement/bench/query";
    static ROWS: TableIo = "wait/io/table/bench/handler";
    static TABLE_LOCKS: TableLock = "wait/lock/table/bench/handler";
    static MDL: MetadataLock = "wait/lock/metadata/bench/mdl";
}

/// Lock acquisitions of a statement in the 2011 study of MySQL's overhead: 59 waits, 13 stages.
const WAITS: usize = 59;
const STAGES: usize = 13;
pub const TEXT: &str = "SELECT c FROM sbtest1 WHERE id = 4242";

const CLASSES: Classes = Classes {
    io: &ROWS,
    lock: &TABLE_LOCKS,
};

/// The state of Tare while a path runs.
#[derive(Clone, Copy, PartialEq)]
pub enum State {
    /// Not started.
    Disabled,
    /// Every instrument off.
    Off,
    /// The same, and settings are watched.
    #[cfg_attr(not(feature = "instrument"), expect(dead_code, reason = "as disabled"))]
    Watched,
    /// Everything counted, nothing timed.
    Counted,
    /// Every instrument enabled and timed, MySQL 8.0's default consumers: statements current and in
    /// history, digests.
    Timed,
    /// The same, with locks timed at every acquisition, as MySQL does.
    Every,
    /// As `Timed`, with windows that cover a sixteenth of time: outside of them.
    #[cfg_attr(not(feature = "instrument"), expect(dead_code, reason = "as disabled"))]
    Sampled,
    /// The same: in a window.
    #[cfg_attr(not(feature = "instrument"), expect(dead_code, reason = "as disabled"))]
    Observed,
    /// The level `active`, followed.
    #[cfg_attr(not(feature = "instrument"), expect(dead_code, reason = "as disabled"))]
    Active,
    /// Every instrument enabled and timed, and every consumer on, those of history_long included.
    Recorded,
}

impl State {
    /// Tare's configuration; `None` = it is not started.
    pub fn config(self) -> Option<Config> {
        let all = |setting| Config::default().instruments([("%", setting)]);
        Some(match self {
            State::Disabled => return None,
            State::Off | State::Watched => Config::nothing(),
            State::Counted => all(Setting::Counted),
            State::Timed => all(Setting::On),
            State::Every => all(Setting::On).lock_timing(LockTiming::Every),
            State::Sampled | State::Observed => {
                all(Setting::On).sampling(Sampling::of(Rule::OneIn(16)).seed(1))
            }
            State::Active => all(Setting::On).sampling(Sampling::of(Rule::Active).seed(1)),
            State::Recorded => Config::everything(),
        })
    }
}

/// A path, with its number of runs.
pub type Body = fn(&Objects, usize);

/// The objects that paths use: one of each for every thread.
pub struct Objects {
    plain: PlainMutex<u64>,
    instrumented: Mutex<u64>,
    table: RefCell<(Handle, metadata::MetadataLock)>,
}

impl Objects {
    /// Free locks, and an unlocked table.
    pub fn new() -> Self {
        Self {
            plain: PlainMutex::new(0),
            instrumented: Mutex::new(&LOCK, 0),
            table: RefCell::new((
                Table::new(CLASSES, "test", "t", &["PRIMARY"]).open(),
                metadata::MetadataLock::new(&MDL, Namespace::Table, "test", "t"),
            )),
        }
    }
}

/// The loop itself.
pub fn floor(_: &Objects, n: usize) {
    for i in 0..n {
        black_box(i);
    }
}

/// An empty loop that passes a text on.
#[cfg(not(feature = "instrument"))]
pub fn floor_text(_: &Objects, n: usize) {
    for _ in 0..n {
        black_box(TEXT);
    }
}

/// A wait that ends at once.
pub fn event(_: &Objects, n: usize) {
    for i in 0..n {
        drop(tare::wait::start(&EVENT, Operation::MetadataLock));
        black_box(i);
    }
}

/// A free lock without a point.
pub fn lock_plain(objects: &Objects, n: usize) {
    for _ in 0..n {
        *black_box(&objects.plain).lock() += 1;
    }
}

/// A free lock with a point.
pub fn lock(objects: &Objects, n: usize) {
    for _ in 0..n {
        *black_box(&objects.instrumented).lock() += 1;
    }
}

/// A change of stages.
pub fn stage(_: &Objects, n: usize) {
    for i in 0..n {
        tare::stage::set(if i % 2 == 0 { &STAGE_A } else { &STAGE_B });
    }
}

/// A statement's work on a table: lock, fetch a row, unlock.
pub fn table(objects: &Objects, n: usize) {
    let (handle, lock) = &mut *objects.table.borrow_mut();
    for _ in 0..n {
        lock.granted(LockType::SharedRead, LockDuration::Transaction);
        handle.locked(TableLock::ReadExternal);
        handle.io(Operation::Fetch, Some(0)).rows(black_box(1));
        handle.unlocked();
        lock.released();
    }
}

/// An empty statement: it begins, gets its text, and ends with digest and histograms.
pub fn statement(_: &Objects, n: usize) {
    for _ in 0..n {
        let statement = tare::statement::start(&QUERY);
        statement.text(black_box(TEXT));
        statement.rows_examined(1);
        statement.rows_sent(1);
    }
}

/// The locks of a statement, nothing instrumented.
pub fn statement_plain(objects: &Objects, n: usize) {
    for _ in 0..n {
        for _ in 0..WAITS {
            *black_box(&objects.plain).lock() += 1;
        }
    }
}

/// A statement with its locks and stages.
pub fn statement_full(objects: &Objects, n: usize) {
    for _ in 0..n {
        let statement = tare::statement::start(&QUERY);
        statement.text(black_box(TEXT));
        for i in 0..STAGES {
            tare::stage::set(if i % 2 == 0 { &STAGE_A } else { &STAGE_B });
            for _ in 0..WAITS / STAGES {
                *black_box(&objects.instrumented).lock() += 1;
            }
        }
        for _ in 0..WAITS % STAGES {
            *black_box(&objects.instrumented).lock() += 1;
        }
        statement.rows_examined(1);
        statement.rows_sent(1);
    }
}
