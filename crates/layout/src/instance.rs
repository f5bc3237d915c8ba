//! Instances: the mutexes, rwlocks and conditions that exist, the open sockets, the files seen.

use crate::line::Line;
use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64};

/// Bits of an instance id that are its index; the rest, but the top two bits, is a generation, so that
/// a number used again is told from the one before.
pub const INDEX_BITS: u32 = 20;
/// The bit of an instance id that says it is a file.
pub const FILE: u32 = 1 << 31;
/// The bit of an instance id that says it is a socket.
pub const SOCKET: u32 = 1 << 30;
/// The generation of an instance id, once it is shifted there.
pub const GENERATION_MASK: u32 = (1 << (30 - INDEX_BITS)) - 1;

/// The index of an instance id.
pub const fn index_of(id: u32) -> usize {
    (id & ((1 << INDEX_BITS) - 1)) as usize
}

/// A mutex, rwlock or condition.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Instance {
    /// Its full id while it lives, 0 = free. Stored last.
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
    /// Counts of threads that had no row of their own left for it; written with atomic adds.
    pub shared: Line,
    /// The same when the table was last truncated; written by readers.
    pub truncated: Line,
}

/// A socket that is open.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Socket {
    /// Its full id while it lives, 0 = free. Stored last.
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
    /// Port of the other end, or of a listening socket.
    pub port: AtomicU32,
    /// Thread id of who serves it, 0 = nobody.
    pub owner_thread: AtomicU64,
    /// 1 = its thread waits for the other end to send.
    pub is_idle: AtomicU32,
    /// 0 = nothing was ever counted in `shared`, and nothing is in `truncated`.
    pub shared_used: AtomicU32,
    _reserved: [AtomicU32; 2],
    /// The address of the other end, as text.
    pub ip: Name<8>,
    /// Counts of threads that had no row of their own left: read, write, miscellaneous.
    pub shared: [Line; 3],
    /// The same when the table was last truncated; written by readers.
    pub truncated: [Line; 3],
}

/// A file, by name. It stays when it is closed, as in MySQL, and goes when it is deleted.
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
    _line: [AtomicU64; 6],
    /// Counts of threads that had no row of their own left: read, write, miscellaneous.
    pub shared: [Line; 3],
    /// The same when the table was last truncated; written by readers.
    pub truncated: [Line; 3],
    /// Its path.
    pub name: Name<63>,
}
