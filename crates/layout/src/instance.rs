//! Instances: existing mutexes, rwlocks and conditions, open sockets, and files.

use crate::line::Line;
use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64};

/// Number of bits of an instance id that are its index. The rest, except the top two bits, is a
/// generation, which distinguishes an index that is used again from its previous use.
pub const INDEX_BITS: u32 = 20;
/// The bit of an instance id that marks a file.
pub const FILE: u32 = 1 << 31;
/// The bit of an instance id that marks a socket.
pub const SOCKET: u32 = 1 << 30;
/// The mask of an instance id's generation, after the shift.
pub const GENERATION_MASK: u32 = (1 << (30 - INDEX_BITS)) - 1;

/// The index of an instance id.
pub const fn index_of(id: u32) -> usize {
    (id & ((1 << INDEX_BITS) - 1)) as usize
}

/// A mutex, rwlock or condition.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Instance {
    /// Its full id while it exists, 0 = free. Stored last.
    pub id: AtomicU32,
    /// Instrument class.
    pub class: AtomicU32,
    /// Address in the host, `OBJECT_INSTANCE_BEGIN`.
    pub address: AtomicU64,
    /// Next free instance + 1 while this one is free.
    pub next_free: AtomicU32,
    /// Generation of the next id given.
    pub generation: AtomicU32,
    /// 0 = nothing was ever counted in `shared`, and nothing is in `truncated`.
    pub shared_used: AtomicU32,
    _reserved0: AtomicU32,
    _reserved: [AtomicU64; 4],
    /// Counts of threads whose bank has no row for it; written with atomic adds.
    pub shared: Line,
    /// The same when the table was last truncated; written by readers.
    pub truncated: Line,
}

/// A socket that is open.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Socket {
    /// Its full id while it exists, 0 = free. Stored last.
    pub id: AtomicU32,
    /// Instrument class.
    pub class: AtomicU32,
    /// Address in the host, `OBJECT_INSTANCE_BEGIN`.
    pub address: AtomicU64,
    /// Next free socket + 1 while this one is free.
    pub next_free: AtomicU32,
    /// Generation of the next id given.
    pub generation: AtomicU32,
    /// File descriptor.
    pub descriptor: AtomicU32,
    /// Port of the peer, or of a listening socket.
    pub port: AtomicU32,
    /// Thread id of its owner, 0 = none.
    pub owner_thread: AtomicU64,
    /// 1 = its thread waits for the peer to send.
    pub is_idle: AtomicU32,
    /// 0 = nothing was ever counted in `shared`, and nothing is in `truncated`.
    pub shared_used: AtomicU32,
    /// The [`process`](crate::process) that opened it, if many may write the segment.
    pub process: AtomicU64,
    /// The peer's address, as text.
    pub ip: Name<8>,
    /// Counts of threads whose bank has no row for it: read, write, miscellaneous.
    pub shared: [Line; 3],
    /// The same when the table was last truncated; written by readers.
    pub truncated: [Line; 3],
}

/// A file, by name. As in MySQL, its entry remains when it is closed, and is freed when it is deleted.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct File {
    /// Its full id, 0 = free. Stored last.
    pub id: AtomicU32,
    /// Instrument class.
    pub class: AtomicU32,
    /// Times it is open now.
    pub open: AtomicU32,
    /// Generation of the next id given.
    pub generation: AtomicU32,
    /// A hash of class and complete path, for the writer.
    pub hash: AtomicU64,
    _line: [AtomicU64; 5],
    /// Counts of threads whose bank has no row for it: read, write, miscellaneous.
    pub shared: [Line; 3],
    /// The same when the table was last truncated; written by readers.
    pub truncated: [Line; 3],
    /// Its path.
    pub name: Name<63>,
}
