//! Events in current, history and history_long: the words of their records.
//!
//! Times are ticks of the segment's time line (see `header`). An event that is still running has
//! end 0.

use crate::object::TableLock;
use crate::seqlock::Record;

/// Words every event has.
pub mod word {
    /// Event id, unique within its thread; 0 = no event.
    pub const ID: usize = 0;
    /// Bits 0-47 thread id: events in history_long belong to many threads. Bits 48-63 the number of the
    /// place in the host's source where it began, 0 = unknown (see [`crate::source`]).
    pub const THREAD: usize = 1;
    /// Id of the event this one is nested in; 0 = none.
    pub const NESTING_ID: usize = 2;
    /// Ticks at the start; 0 = not timed.
    pub const START: usize = 3;
    /// Ticks at the end; 0 = still running. For an ended event without a start: the number of
    /// truncations then.
    pub const END: usize = 4;
    /// [`super::Packed`].
    pub const PACKED: usize = 5;
}

/// Further words of a wait.
pub mod wait {
    /// The object that it waited for, see [`crate::object::target`]; 0 = none.
    pub const OBJECT: usize = 6;
    /// Bytes moved, rows of a table; [`NO_BYTES`] if the operation has none.
    pub const BYTES: usize = 7;
    /// The value of [`BYTES`] if the operation has none.
    pub const NO_BYTES: u64 = u64::MAX;
}

/// Further words of a stage.
pub mod stage {
    /// Work completed.
    pub const COMPLETED: usize = 6;
    /// Work estimated; both 0 = the stage reports no progress.
    pub const ESTIMATED: usize = 7;
}

/// Further words of a transaction.
pub mod transaction {
    /// The engine's transaction id, 0 = none.
    pub const TRX_ID: usize = 6;
    /// Savepoints set.
    pub const SAVEPOINTS: usize = 7;
    /// Rollbacks to savepoints.
    pub const ROLLBACKS: usize = 8;
    /// Savepoints released.
    pub const RELEASES: usize = 9;
    /// Bits 0-7 state, 8-15 isolation level, 16 read only, 17 autocommit.
    pub const STATE: usize = 10;

    /// `ACTIVE`
    pub const ACTIVE: u64 = 1;
    /// `COMMITTED`
    pub const COMMITTED: u64 = 2;
    /// `ROLLED BACK`
    pub const ROLLED_BACK: u64 = 3;
    /// Bit: READ ONLY.
    pub const READ_ONLY: u64 = 1 << 16;
    /// Bit: autocommit.
    pub const AUTOCOMMIT: u64 = 1 << 17;
    /// Isolation levels, by number.
    pub const ISOLATION: [&str; 4] = [
        "READ UNCOMMITTED",
        "READ COMMITTED",
        "REPEATABLE READ",
        "SERIALIZABLE",
    ];
}

/// Further words of a statement.
pub mod statement {
    use crate::primitive::{Ordering, fence};

    /// Bits 0-31 digest id (0 = none), 32-63 the digest table's generation.
    pub const DIGEST: usize = 6;
    /// Position of the text in the thread's text ring, in bytes ever written.
    pub const TEXT_AT: usize = 7;
    /// Bits 0-30 bytes of stored text, bit 31: the text was longer; bits 32-63 the id of the stored
    /// program that it runs in, 0 = none.
    pub const TEXT_AND_PROGRAM: usize = 8;
    /// Position of the message in the text ring; bits 48-63 its bytes.
    pub const MESSAGE: usize = 9;
    /// Bits 0-31 error number, 32-63 schema id (0 = none).
    pub const ERROR: usize = 10;
    /// Five bytes of SQLSTATE, little endian; 0 = none was set, which means 00000 once it has ended.
    pub const SQLSTATE: usize = 11;
    /// In [`SQLSTATE`]: it ended without one, as statements that return rows do in MySQL.
    pub const NO_SQLSTATE: u64 = 1 << 40;
    /// The first of [`crate::class::COUNTERS`] counters.
    pub const COUNTERS: usize = 12;
    /// Stored bytes of a message: MESSAGE_TEXT is varchar(128).
    pub const MESSAGE_BYTES: usize = 128;
    /// In [`TEXT_AND_PROGRAM`]: the text was cut.
    pub const TRUNCATED: u64 = 1 << 31;

    /// Bytes of stored text, of [`TEXT_AND_PROGRAM`].
    pub const fn text_bytes(word: u64) -> usize {
        (word & (TRUNCATED - 1)) as usize
    }

    /// A consistent copy of a record. Position and length of the text are [set](set_text) after publishing,
    /// maybe twice, and the length is 0 in between.
    pub fn read(record: &crate::event::Statement) -> Option<[u64; 32]> {
        for _ in 0..MAX_READ_TRIES {
            let words = record.read()?;
            let is_same = |word: usize| record.word(word) == words[word];
            if is_same(TEXT_AT) && is_same(TEXT_AND_PROGRAM) {
                return Some(words);
            }
        }
        None
    }

    const MAX_READ_TRIES: usize = 4;

    /// Sets position and length of the text, and the program; the caller is the record's only writer.
    #[inline(always)]
    pub fn set_text(record: &crate::event::Statement, at: u64, length: u64, program: u32) {
        let program = (program as u64) << 32;
        record.set(TEXT_AND_PROGRAM, program);
        // Pairs with the fence in `Record::read`, as does the next one.
        fence(Ordering::Release);
        record.set(TEXT_AT, at);
        fence(Ordering::Release);
        record.set(TEXT_AND_PROGRAM, program | length);
    }

    /// Id of the stored program, of [`TEXT_AND_PROGRAM`].
    pub const fn program(word: u64) -> u32 {
        (word >> 32) as u32
    }
}

/// A wait or an idle event.
pub type Wait = Record<8>;
/// A stage.
pub type Stage = Record<8>;
/// A transaction.
pub type Transaction = Record<16>;
/// A statement.
pub type Statement = Record<32>;

const _: () = assert!(statement::COUNTERS + crate::class::COUNTERS <= 32);

/// What kind of event another one is nested in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Nesting {
    /// In none.
    None = 0,
    /// `TRANSACTION`
    Transaction = 1,
    /// `STATEMENT`
    Statement = 2,
    /// `STAGE`
    Stage = 3,
    /// `WAIT`
    Wait = 4,
}

impl Nesting {
    /// MySQL's text, `None` where there is none.
    pub const fn text(self) -> Option<&'static str> {
        match self {
            Nesting::None => None,
            Nesting::Transaction => Some("TRANSACTION"),
            Nesting::Statement => Some("STATEMENT"),
            Nesting::Stage => Some("STAGE"),
            Nesting::Wait => Some("WAIT"),
        }
    }

    /// The nesting with this number.
    pub const fn from_u8(number: u8) -> Self {
        match number {
            1 => Nesting::Transaction,
            2 => Nesting::Statement,
            3 => Nesting::Stage,
            4 => Nesting::Wait,
            _ => Nesting::None,
        }
    }
}

/// Class, operation, nesting type, level and end of an event in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Instrument class.
    pub class: u16,
    /// [`Operation`] of a wait.
    pub operation: u8,
    /// [`Nesting`]
    pub nesting: u8,
    /// `NESTING_EVENT_LEVEL` of a statement.
    pub level: u8,
    /// 0 while the event runs; then `END_EVENT_ID - EVENT_ID + 1`, at most [`MAX_SPAN`].
    pub span: u32,
}

/// The most that [`Packed::span`] can say: 24 bits.
pub const MAX_SPAN: u32 = (1 << 24) - 1;

impl Packed {
    /// As a word.
    #[inline(always)]
    pub const fn pack(self) -> u64 {
        self.class as u64
            | (self.operation as u64) << 16
            | (self.nesting as u64) << 24
            | (self.level as u64) << 32
            | (self.span as u64) << 40
    }

    /// From a word; every word is one.
    #[inline]
    pub const fn unpack(word: u64) -> Self {
        Self {
            class: word as u16,
            operation: (word >> 16) as u8,
            nesting: (word >> 24) as u8,
            level: (word >> 32) as u8,
            span: (word >> 40) as u32,
        }
    }
}

macro_rules! operations {
    ($($name:ident = $number:literal $text:literal $line:literal,)*) => {
        /// What a wait does, with MySQL's names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Operation { $($name = $number,)* }

        impl Operation {
            /// MySQL's text in column OPERATION.
            pub const fn text(self) -> &'static str {
                match self { $(Operation::$name => $text,)* }
            }

            /// Which line of the row counts it (read, write, miscellaneous; fetch, insert, ...).
            #[inline(always)]
            pub const fn line(self) -> usize {
                // The table has bytes, because each wait reads one and a table of words takes several cache lines.
                LINES[self as usize] as usize
            }

            /// The operation with this number.
            pub const fn from_u8(number: u8) -> Option<Self> {
                match number { $($number => Some(Operation::$name),)* _ => None }
            }
        }

        static LINES: [u8; 256] = {
            let mut lines = [0; 256];
            $(lines[$number] = $line;)*
            lines
        };
    };
}

operations! {
    Lock = 1 "lock" 0,
    TryLock = 2 "try_lock" 0,
    ReadLock = 3 "read_lock" 0,
    WriteLock = 4 "write_lock" 0,
    TryReadLock = 5 "try_read_lock" 0,
    TryWriteLock = 6 "try_write_lock" 0,
    SharedLock = 7 "shared_lock" 0,
    SharedExclusiveLock = 8 "shared_exclusive_lock" 0,
    ExclusiveLock = 9 "exclusive_lock" 0,
    Wait = 10 "wait" 0,
    TimedWait = 11 "timed_wait" 0,
    Create = 16 "create" 2,
    Open = 17 "open" 2,
    Close = 18 "close" 2,
    Read = 19 "read" 0,
    Write = 20 "write" 1,
    Seek = 21 "seek" 2,
    Tell = 22 "tell" 2,
    Flush = 23 "flush" 2,
    Stat = 24 "stat" 2,
    FStat = 25 "fstat" 2,
    ChangeSize = 26 "chsize" 2,
    Delete = 27 "delete" 2,
    Rename = 28 "rename" 2,
    Sync = 29 "sync" 2,
    FileLock = 30 "lock" 2,
    Recv = 32 "recv" 0,
    Send = 33 "send" 1,
    Connect = 34 "connect" 2,
    Bind = 35 "bind" 2,
    Listen = 36 "listen" 2,
    Accept = 37 "connect" 2,
    Select = 38 "select" 2,
    Shutdown = 39 "shutdown" 2,
    SetOption = 40 "opt" 2,
    Fetch = 48 "fetch" 0,
    Insert = 49 "insert" 1,
    Update = 50 "update" 2,
    DeleteRow = 51 "delete" 3,
    TableReadLock = 52 "read normal" 0,
    TableWriteLock = 53 "write normal" 1,
    MetadataLock = 54 "metadata lock" 0,
    Idle = 55 "idle" 0,
    ReadWithSharedLocks = 56 "read with shared locks" 0,
    ReadHighPriority = 57 "read high priority" 0,
    ReadNoInsert = 58 "read no inserts" 0,
    WriteAllowWrite = 59 "write allow write" 1,
    WriteConcurrentInsert = 60 "write concurrent insert" 1,
    WriteLowPriority = 61 "write low priority" 1,
    ReadExternal = 62 "read external" 0,
    WriteExternal = 63 "write external" 1,
}

impl TableLock {
    /// The operation that waits for it.
    #[inline(always)]
    pub const fn operation(self) -> Operation {
        match self {
            TableLock::Read => Operation::TableReadLock,
            TableLock::ReadWithSharedLocks => Operation::ReadWithSharedLocks,
            TableLock::ReadHighPriority => Operation::ReadHighPriority,
            TableLock::ReadNoInsert => Operation::ReadNoInsert,
            TableLock::WriteAllowWrite => Operation::WriteAllowWrite,
            TableLock::WriteConcurrentInsert => Operation::WriteConcurrentInsert,
            TableLock::WriteLowPriority => Operation::WriteLowPriority,
            TableLock::Write => Operation::TableWriteLock,
            TableLock::ReadExternal => Operation::ReadExternal,
            TableLock::WriteExternal => Operation::WriteExternal,
        }
    }
}
