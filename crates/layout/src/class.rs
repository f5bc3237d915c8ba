//! Instrument classes: the names of `setup_instruments`, and the cells of a row of each kind.

use crate::line::LINE_BYTES;
use crate::name::Name;
use crate::primitive::AtomicU32;

/// What an instrument observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `wait/synch/mutex/...`
    Mutex = 1,
    /// `wait/synch/rwlock/...`
    RwLock = 2,
    /// `wait/synch/sxlock/...`
    SxLock = 3,
    /// `wait/synch/cond/...`
    Cond = 4,
    /// `wait/io/file/...`
    File = 5,
    /// `wait/io/socket/...`
    Socket = 6,
    /// `wait/io/table/...`
    TableIo = 7,
    /// `wait/lock/table/...`
    TableLock = 8,
    /// `wait/lock/metadata/...`
    MetadataLock = 9,
    /// `idle`
    Idle = 10,
    /// `stage/...`
    Stage = 11,
    /// `statement/...`
    Statement = 12,
    /// `transaction`
    Transaction = 13,
    /// `memory/...`
    Memory = 14,
    /// An error code, `error/CODE`; `setup_instruments` shows the single instrument `error`.
    Error = 15,
    /// `thread/...`
    Thread = 16,
}

/// Every kind, in the order of their numbers.
pub const KINDS: [Kind; 16] = [
    Kind::Mutex,
    Kind::RwLock,
    Kind::SxLock,
    Kind::Cond,
    Kind::File,
    Kind::Socket,
    Kind::TableIo,
    Kind::TableLock,
    Kind::MetadataLock,
    Kind::Idle,
    Kind::Stage,
    Kind::Statement,
    Kind::Transaction,
    Kind::Memory,
    Kind::Error,
    Kind::Thread,
];

/// The event types of MySQL, each with its own consumers, timer and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EventType {
    /// `idle`: its own row in `setup_timers`, otherwise a wait.
    Idle = 0,
    /// Waits.
    Wait = 1,
    /// Stages.
    Stage = 2,
    /// Statements.
    Statement = 3,
    /// Transactions.
    Transaction = 4,
}

/// How many event types there are.
pub const EVENT_TYPES: usize = 5;

impl Kind {
    /// The kind with this number.
    pub fn from_u8(number: u8) -> Option<Self> {
        KINDS.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// What every name of this kind starts with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Kind::Mutex => "wait/synch/mutex/",
            Kind::RwLock => "wait/synch/rwlock/",
            Kind::SxLock => "wait/synch/sxlock/",
            Kind::Cond => "wait/synch/cond/",
            Kind::File => "wait/io/file/",
            Kind::Socket => "wait/io/socket/",
            Kind::TableIo => "wait/io/table/",
            Kind::TableLock => "wait/lock/table/",
            Kind::MetadataLock => "wait/lock/metadata/",
            Kind::Idle => "idle",
            Kind::Stage => "stage/",
            Kind::Statement => "statement/",
            Kind::Transaction => "transaction",
            Kind::Memory => "memory/",
            Kind::Error => "error/",
            Kind::Thread => "thread/",
        }
    }

    /// Whether a name of this kind may begin like this one.
    pub const fn owns(self, name: &str) -> bool {
        starts_with(name, self.prefix())
            || matches!(self, Kind::RwLock) && starts_with(name, READERS_FIRST)
    }

    /// The event type whose consumers and timer apply to it; `None` if it is no timed event.
    pub const fn event_type(self) -> Option<EventType> {
        match self {
            Kind::Idle => Some(EventType::Idle),
            Kind::Stage => Some(EventType::Stage),
            Kind::Statement => Some(EventType::Statement),
            Kind::Transaction => Some(EventType::Transaction),
            Kind::Memory | Kind::Error | Kind::Thread => None,
            _ => Some(EventType::Wait),
        }
    }

    /// Lines of a row: one for each operation that is counted separately (file and socket: read, write,
    /// miscellaneous; table io: fetch, insert, update, delete; table lock: read, write; transaction:
    /// read write, read only), a statement's time line and three of counters, memory's balance and
    /// low-water line.
    pub const fn row_lines(self) -> usize {
        match self {
            Kind::File | Kind::Socket => 3,
            Kind::TableIo | Kind::Statement => 4,
            Kind::TableLock | Kind::Transaction | Kind::Memory => 2,
            _ => 1,
        }
    }

    /// Whether line `i` of the row holds count, sum, min and max of times.
    pub const fn is_time_line(self, i: usize) -> bool {
        i < self.time_lines()
    }

    /// Number of time lines, which are the first ones of the row.
    pub const fn time_lines(self) -> usize {
        match self {
            Kind::Statement => 1,
            Kind::Memory | Kind::Error | Kind::Thread => 0,
            kind => kind.row_lines(),
        }
    }

    /// Whether an acquisition at the first try is counted without reading a clock.
    pub const fn is_lock(self) -> bool {
        matches!(self, Kind::Mutex | Kind::RwLock | Kind::SxLock)
    }

    /// Whether MySQL 8.0 enables instruments of this kind at start. (Single names differ there, which
    /// the program that registers them sets.)
    pub const fn enabled_by_default(self) -> bool {
        !matches!(
            self,
            Kind::Mutex | Kind::RwLock | Kind::SxLock | Kind::Cond | Kind::Socket | Kind::Stage
        )
    }
}

/// Prefix of the names of rwlocks that prefer readers, if a server distinguishes them: MySQL from
/// 8.0.28 on.
pub const READERS_FIRST: &str = "wait/synch/prlock/";

/// Whether a text begins with another, in constants.
const fn starts_with(text: &str, prefix: &str) -> bool {
    let (text, prefix) = (text.as_bytes(), prefix.as_bytes());
    if text.len() < prefix.len() {
        return false;
    }
    let mut i = 0;
    while i < prefix.len() {
        if text[i] != prefix[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Property bits of a class, as `setup_instruments.PROPERTIES` shows them.
pub mod property {
    /// Only one instance exists.
    pub const SINGLETON: u32 = 1;
    /// A stage that reports its progress.
    pub const PROGRESS: u32 = 2;
    /// Memory or statement class of users' sessions.
    pub const USER: u32 = 4;
    /// Counted globally only.
    pub const GLOBAL_STATISTICS: u32 = 8;
    /// An abstract statement that is refined later.
    pub const MUTABLE: u32 = 16;
}

/// Words of an instrument's name: 128 bytes, MySQL's limit.
pub const NAME_WORDS: usize = 16;

/// One instrument class. [`ClassEntry::kind`] publishes it: nonzero means that the rest is complete.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct ClassEntry {
    /// [`Kind`], 0 while the entry is free.
    pub kind: AtomicU32,
    /// Bits of [`property`].
    pub properties: AtomicU32,
    /// `setup_instruments.VOLATILITY`.
    pub volatility: AtomicU32,
    _reserved: AtomicU32,
    /// MySQL-style name.
    pub name: Name<NAME_WORDS>,
    /// One sentence that describes it.
    pub documentation: Name<11>,
}

#[cfg(not(loom))]
const _: () =
    assert!(size_of::<ClassEntry>() == 256 && size_of::<ClassEntry>().is_multiple_of(LINE_BYTES));

/// Counters of a statement, in the order of MySQL's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Counter {
    /// Time waiting for table locks, in ticks.
    LockTime = 0,
    /// Errors.
    Errors,
    /// Warnings.
    Warnings,
    /// Rows affected.
    RowsAffected,
    /// Rows sent.
    RowsSent,
    /// Rows examined.
    RowsExamined,
    /// Temporary tables on disk.
    CreatedTmpDiskTables,
    /// Temporary tables.
    CreatedTmpTables,
    /// Joins without index.
    SelectFullJoin,
    /// Joins by range on a reference table.
    SelectFullRangeJoin,
    /// Ranges on the first table.
    SelectRange,
    /// Joins that check for key usage after each row.
    SelectRangeCheck,
    /// Full scans of the first table.
    SelectScan,
    /// Merge passes of sorts.
    SortMergePasses,
    /// Sorts by range.
    SortRange,
    /// Rows sorted.
    SortRows,
    /// Sorts by scan.
    SortScan,
    /// No index was used.
    NoIndexUsed,
    /// No good index was used.
    NoGoodIndexUsed,
    /// CPU time of its thread, in nanoseconds; 0 unless [`crate::control::CPU`] is on.
    CpuTime,
}

/// How many statement counters there are.
pub const COUNTERS: usize = Counter::CpuTime as usize + 1;

/// The line and cell of counter `i` in a statement's row: seven counters in each of the lines 1 to 3.
#[inline(always)]
pub const fn counter_cell(i: usize) -> (usize, usize) {
    (1 + i / 7, 1 + i % 7)
}

const _: () = assert!(counter_cell(COUNTERS - 1).0 < 4);
