//! Objects: tables and programs by schema and name, and what sessions have of them: open tables,
//! metadata locks, prepared statements. Also the rules of `setup_objects`, which select what is
//! counted.

use crate::line::Line;
use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// Words of a name: 64 characters of three bytes, MySQL's limit.
pub const NAME_WORDS: usize = 24;
/// A schema's, table's, index's or program's name.
pub type ObjectName = Name<NAME_WORDS>;

/// Bits of an object's id that are its index; the rest is a generation, never 0.
pub const INDEX_BITS: u32 = 20;

/// The index of an object's id.
#[inline(always)]
pub const fn index_of(id: u32) -> usize {
    (id & ((1 << INDEX_BITS) - 1)) as usize
}

macro_rules! types {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($variant:ident = $number:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs)]
        $vis enum $name { $($variant = $number,)* }

        impl $name {
            /// All, by number.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// MySQL's text.
            pub const fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one with this number.
            pub const fn from_u8(number: u8) -> Option<Self> {
                match number { $($number => Some($name::$variant),)* _ => None }
            }
        }
    };
}

types! {
    /// The type of an object: column OBJECT_TYPE. The first five are those of setup_objects.
    pub enum ObjectType {
        Event = 1 "EVENT",
        Function = 2 "FUNCTION",
        Procedure = 3 "PROCEDURE",
        Table = 4 "TABLE",
        Trigger = 5 "TRIGGER",
        TemporaryTable = 6 "TEMPORARY TABLE",
    }
}

impl ObjectType {
    /// The type in setup_objects whose rules apply to it.
    pub const fn ruled_as(self) -> Self {
        match self {
            ObjectType::TemporaryTable => ObjectType::Table,
            other => other,
        }
    }

    /// Whether it is a table rather than a program.
    pub const fn is_table(self) -> bool {
        matches!(self, ObjectType::Table | ObjectType::TemporaryTable)
    }
}

types! {
    /// A kind of table lock: the ten groups of table_lock_waits_summary_by_table, in the order of their
    /// lines.
    pub enum TableLock {
        Read = 0 "READ",
        ReadWithSharedLocks = 1 "READ WITH SHARED LOCKS",
        ReadHighPriority = 2 "READ HIGH PRIORITY",
        ReadNoInsert = 3 "READ NO INSERT",
        WriteAllowWrite = 4 "WRITE ALLOW WRITE",
        WriteConcurrentInsert = 5 "WRITE CONCURRENT INSERT",
        WriteLowPriority = 6 "WRITE LOW PRIORITY",
        Write = 7 "WRITE",
        ReadExternal = 8 "READ EXTERNAL",
        WriteExternal = 9 "WRITE EXTERNAL",
    }
}

/// Number of kinds of table locks.
pub const TABLE_LOCKS: usize = TableLock::ALL.len();

impl TableLock {
    /// Whether others may read while it is held: the class's row has a line for such locks and one for others.
    pub const fn is_read(self) -> bool {
        matches!(
            self,
            TableLock::Read
                | TableLock::ReadWithSharedLocks
                | TableLock::ReadHighPriority
                | TableLock::ReadNoInsert
                | TableLock::ReadExternal
        )
    }

    /// Whether it is the storage engine's rather than the server's.
    pub const fn is_external(self) -> bool {
        matches!(self, TableLock::ReadExternal | TableLock::WriteExternal)
    }
}

types! {
    /// The type of the object of a metadata lock.
    pub enum Namespace {
        Global = 1 "GLOBAL",
        BackupLock = 2 "BACKUP LOCK",
        Tablespace = 3 "TABLESPACE",
        Schema = 4 "SCHEMA",
        Table = 5 "TABLE",
        Function = 6 "FUNCTION",
        Procedure = 7 "PROCEDURE",
        Trigger = 8 "TRIGGER",
        Event = 9 "EVENT",
        Commit = 10 "COMMIT",
        UserLevelLock = 11 "USER LEVEL LOCK",
        LockingService = 12 "LOCKING SERVICE",
        Srid = 13 "SRID",
        AclCache = 14 "ACL CACHE",
        ColumnStatistics = 15 "COLUMN STATISTICS",
        ResourceGroups = 16 "RESOURCE_GROUPS",
        ForeignKey = 17 "FOREIGN KEY",
        CheckConstraint = 18 "CHECK CONSTRAINT",
        Library = 19 "LIBRARY",
        BackupTables = 20 "BACKUP TABLES",
    }
}

types! {
    /// `metadata_locks.LOCK_TYPE`
    pub enum LockType {
        IntentionExclusive = 1 "INTENTION_EXCLUSIVE",
        Shared = 2 "SHARED",
        SharedHighPrio = 3 "SHARED_HIGH_PRIO",
        SharedRead = 4 "SHARED_READ",
        SharedWrite = 5 "SHARED_WRITE",
        SharedWriteLowPrio = 6 "SHARED_WRITE_LOW_PRIO",
        SharedUpgradable = 7 "SHARED_UPGRADABLE",
        SharedReadOnly = 8 "SHARED_READ_ONLY",
        SharedNoWrite = 9 "SHARED_NO_WRITE",
        SharedNoReadWrite = 10 "SHARED_NO_READ_WRITE",
        Exclusive = 11 "EXCLUSIVE",
    }
}

types! {
    /// `metadata_locks.LOCK_DURATION`
    pub enum LockDuration {
        Statement = 1 "STATEMENT",
        Transaction = 2 "TRANSACTION",
        Explicit = 3 "EXPLICIT",
    }
}

types! {
    /// `metadata_locks.LOCK_STATUS`
    pub enum LockStatus {
        Pending = 1 "PENDING",
        Granted = 2 "GRANTED",
        PreAcquireNotify = 3 "PRE_ACQUIRE_NOTIFY",
        PostReleaseNotify = 4 "POST_RELEASE_NOTIFY",
        Victim = 5 "VICTIM",
        Timeout = 6 "TIMEOUT",
        Killed = 7 "KILLED",
    }
}

/// The part of an object that a row counts: the middle byte of an entry in a bank's object index, and
/// of an item's tag.
pub mod part {
    use crate::object::TableLock;

    /// A table's io without an index, or a program's only row.
    pub const MAIN: u8 = 0;
    /// The most indexes of a table: MySQL's limit.
    pub const MAX_INDEXES: usize = 64;
    /// The first of the table's locks.
    const LOCKS: u8 = 128;

    /// A table's io through an index, by its number from 0.
    #[inline(always)]
    pub const fn index(number: usize) -> u8 {
        number as u8 + 1
    }

    /// A kind of table lock.
    #[inline(always)]
    pub const fn lock(lock: TableLock) -> u8 {
        LOCKS + lock as u8
    }

    /// The number of the index, from 0.
    pub const fn index_of(part: u8) -> Option<usize> {
        match part {
            1..=64 => Some(part as usize - 1),
            _ => None,
        }
    }

    /// The kind of table lock.
    pub const fn lock_of(part: u8) -> Option<TableLock> {
        match part.checked_sub(LOCKS) {
            Some(lock) => TableLock::from_u8(lock),
            None => None,
        }
    }
}

/// Lines of a table's io row: fetch, insert, update, delete.
pub const IO_LINES: usize = 4;
/// Lines of a program's row: calls, the statements in it, their counters.
pub const PROGRAM_LINES: usize = 5;
/// Lines that threads share of an object: its io without index and its locks, or a program's.
pub const OBJECT_LINES: usize = IO_LINES + TABLE_LOCKS;
/// Lines of a prepared statement: a statement's four, and one for its preparation.
pub const PREPARED_LINES: usize = 5;

/// A table or a program.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Object {
    /// Its full id while it exists, 0 = free. Stored last.
    pub id: AtomicU32,
    /// [`ObjectType`]
    pub kind: AtomicU32,
    /// Next free object + 1 while this one is free.
    pub next_free: AtomicU32,
    /// Generation of the newest id.
    pub generation: AtomicU32,
    /// Its first [`Index`] + 1, 0 = it has none.
    pub first_index: AtomicU32,
    _reserved: [AtomicU32; 3],
    /// The schema.
    pub schema: ObjectName,
    /// The name.
    pub name: ObjectName,
    /// Counts of threads whose bank has no row for it; written with atomic adds.
    pub shared: [Line; OBJECT_LINES],
    /// The same when its table was last truncated; written by readers.
    pub truncated: [Line; OBJECT_LINES],
}

/// An index of a table.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Index {
    /// Id of the table, 0 = free.
    pub object: AtomicU32,
    /// Its number in the table, from 0.
    pub number: AtomicU32,
    /// The table's next index + 1, or the next free one.
    pub next: AtomicU32,
    _reserved: AtomicU32,
    /// Its name.
    pub name: ObjectName,
    /// As an object's.
    pub shared: [Line; IO_LINES],
    /// As an object's.
    pub truncated: [Line; IO_LINES],
}

/// A table that a session has open.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct TableHandle {
    /// Id of the table, 0 = free.
    pub object: AtomicU32,
    /// Next free handle + 1 while this one is free.
    pub next_free: AtomicU32,
    /// The server's lock: [`TableLock`] + 1, 0 = none.
    pub internal_lock: AtomicU32,
    /// The storage engine's lock.
    pub external_lock: AtomicU32,
    /// Address in the host.
    pub address: AtomicU64,
    /// Thread id of its owner, 0 = none.
    pub owner_thread: AtomicU64,
    /// The event in which it was opened.
    pub owner_event: AtomicU64,
    _reserved: [AtomicU64; 3],
}

impl TableHandle {
    /// Removes its owner and locks.
    #[inline]
    pub fn disown(&self) {
        self.owner_thread.store(0, Ordering::Relaxed);
        self.owner_event.store(0, Ordering::Relaxed);
        self.internal_lock.store(0, Ordering::Relaxed);
        self.external_lock.store(0, Ordering::Relaxed);
    }
}

/// A metadata lock that is held or waited for.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct MetadataLock {
    /// [`MetadataLock::pack`]ed words, 0 = not held. Stored last.
    pub state: AtomicU32,
    /// Next free lock + 1 while this one is free.
    pub next_free: AtomicU32,
    /// Odd while the names are written.
    pub sequence: AtomicU32,
    /// Number of the place in the host's source that requested it, 0 = unknown.
    pub source: AtomicU32,
    /// Address in the host.
    pub address: AtomicU64,
    /// Thread id of the thread that holds it or waits.
    pub owner_thread: AtomicU64,
    /// The event that requested it.
    pub owner_event: AtomicU64,
    _line: [AtomicU64; 3],
    /// The schema, empty = none.
    pub schema: ObjectName,
    /// The object, empty = none.
    pub name: ObjectName,
    /// The column, empty = none.
    pub column: ObjectName,
}

impl MetadataLock {
    /// Packs the properties of a lock into one word.
    #[inline(always)]
    pub const fn pack(
        on: Namespace,
        kind: LockType,
        duration: LockDuration,
        status: LockStatus,
    ) -> u32 {
        on as u32 | (kind as u32) << 8 | (duration as u32) << 16 | (status as u32) << 24
    }

    /// Unpacks such a word; `None` if it is invalid.
    pub const fn unpack(state: u32) -> Option<(Namespace, LockType, LockDuration, LockStatus)> {
        let (on, kind) = (
            Namespace::from_u8(state as u8),
            LockType::from_u8((state >> 8) as u8),
        );
        let (duration, status) = (
            LockDuration::from_u8((state >> 16) as u8),
            LockStatus::from_u8((state >> 24) as u8),
        );
        match (on, kind, duration, status) {
            (Some(on), Some(kind), Some(duration), Some(status)) => {
                Some((on, kind, duration, status))
            }
            _ => None,
        }
    }
}

/// The fixed part of a prepared statement; its text follows, of the geometry's `sql_text_bytes`. It
/// belongs to one session, and only that session's thread counts its executions.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Prepared {
    /// Its full id, 0 = free. Stored last.
    pub id: AtomicU32,
    /// Next free one + 1 while this one is free.
    pub next_free: AtomicU32,
    /// Generation of the newest id.
    pub generation: AtomicU32,
    /// Bytes of text.
    pub text_length: AtomicU32,
    /// Its number in the client's protocol.
    pub statement_id: AtomicU64,
    /// Thread id of its session.
    pub owner_thread: AtomicU64,
    /// The event in which it was prepared.
    pub owner_event: AtomicU64,
    /// Address in the host.
    pub address: AtomicU64,
    /// Id of the program that prepared it, 0 = none.
    pub program: AtomicU32,
    _reserved: AtomicU32,
    /// Its name, if it has one.
    pub name: ObjectName,
    /// Its executions: a statement's lines. Its preparation: times (COUNT, SUM), and repetitions
    /// (EXTRA).
    pub rows: [Line; PREPARED_LINES],
    /// The same when the table was last truncated; written by readers.
    pub truncated: [Line; PREPARED_LINES],
}

/// The object of an event, as a word of its record: bits 0-31 an id; bits 32-39 its type; bits 40-47
/// the part of an object.
pub mod target {
    /// An instance, a file or a socket.
    pub const INSTANCE: u64 = 0;
    /// An object.
    pub const OBJECT: u64 = 1;
    /// A metadata lock's index + 1.
    pub const METADATA_LOCK: u64 = 2;
    /// A file descriptor of the thread's process + 1. Readers find the file in /proc.
    pub const DESCRIPTOR: u64 = 3;

    /// The word of a part of an object.
    #[inline(always)]
    pub const fn object(id: u32, part: u8) -> u64 {
        id as u64 | OBJECT << 32 | (part as u64) << 40
    }

    /// The word of a metadata lock.
    #[inline(always)]
    pub const fn metadata_lock(index: usize) -> u64 {
        (index as u64 + 1) | METADATA_LOCK << 32
    }

    /// The word of a file descriptor, which is not negative.
    #[inline(always)]
    pub const fn descriptor(number: i32) -> u64 {
        (number as u32 as u64 + 1) | DESCRIPTOR << 32
    }

    /// The file descriptor of a word.
    pub const fn descriptor_of(word: u64) -> Option<u32> {
        match of(word) {
            DESCRIPTOR => (word as u32).checked_sub(1),
            _ => None,
        }
    }

    /// The type in a word.
    #[inline(always)]
    pub const fn of(word: u64) -> u64 {
        (word >> 32) & 0xff
    }

    /// The part in a word.
    #[inline(always)]
    pub const fn part(word: u64) -> u8 {
        (word >> 40) as u8
    }
}

/// The state of a [`Rule`] in use.
pub const READY: u32 = 2;
/// The state of a [`Rule`] that is being written.
pub const FILLING: u32 = 1;

/// Bits of [`Rule::flags`].
pub mod rule {
    /// `setup_objects.ENABLED`
    pub const ENABLED: u32 = 1;
    /// `setup_objects.TIMED`
    pub const TIMED: u32 = 2;
}

/// A row of setup_objects.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Rule {
    /// 0 = free, [`FILLING`] or [`READY`].
    pub state: AtomicU32,
    /// [`ObjectType`]
    pub kind: AtomicU32,
    /// Bits of [`rule`].
    pub flags: AtomicU32,
    _reserved: AtomicU32,
    /// The schema, or `%`.
    pub schema: ObjectName,
    /// The name, or `%`.
    pub name: ObjectName,
}

/// MySQL's rows of setup_objects at start: these schemas for each of the five types, and whether they
/// are on.
pub const DEFAULT_RULES: [(&str, bool); 4] = [
    ("mysql", false),
    ("performance_schema", false),
    ("information_schema", false),
    ("%", true),
];

#[cfg(not(loom))]
const _: () = {
    assert!(size_of::<TableHandle>() == 64);
    assert!(core::mem::offset_of!(MetadataLock, schema) == 64);
    assert!(size_of::<Object>().is_multiple_of(64) && size_of::<Prepared>().is_multiple_of(64));
};
