//! Accounts, users, hosts and schemas: names that threads and events refer to by number.

use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64};

/// A user at a host. Number 0 belongs to background threads, which have neither user nor host.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Account {
    /// 0 = free, 1 = it is being given to another one, 2 = ready.
    pub state: AtomicU32,
    /// Number of the user, 0 = none.
    pub user: AtomicU32,
    /// Number of the host, 0 = none.
    pub host: AtomicU32,
    _reserved: AtomicU32,
    /// Present connections.
    pub current: AtomicU64,
    /// All connections so far.
    pub total: AtomicU64,
    /// Free banks: head of a list, bits 0-31 bank + 1, bits 32-63 a tag against ABA.
    pub free_banks: AtomicU64,
    /// The part of `total` from before the last TRUNCATE; written by readers.
    pub forgotten: AtomicU64,
}

/// A user, a host, or a schema. Number 0 is never used: 0 means "none".
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct NamedEntry {
    /// 0 = free, 1 = it is being given to another one, 2 = ready.
    pub state: AtomicU32,
    _reserved: AtomicU32,
    /// Present connections.
    pub current: AtomicU64,
    /// All connections so far.
    pub total: AtomicU64,
    /// The part of `total` from before the last TRUNCATE; written by readers.
    pub forgotten: AtomicU64,
    /// The name.
    pub name: Name<32>,
}

/// Number of accounts, users and hosts each beyond the requested limit. Threads refer to them, but
/// their tables do not list them, they are counted as lost, and events of such an account count as
/// background.
pub const UNLISTED: usize = 128;

/// The state of an entry that can be read.
pub const READY: u32 = 2;
/// The state of a truncated entry that is being given to another one.
pub const CHANGING: u32 = 1;
/// The state of an entry that a thread is filling.
pub const FILLING: u32 = 1;
