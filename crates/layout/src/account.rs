//! Accounts, users, hosts and schemas: names that threads and events refer to by number.

use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64};

/// A user at a host. Number 0 stands for background threads: neither user nor host.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Account {
    /// 0 = free, 1 = it becomes another one's, 2 = ready.
    pub state: AtomicU32,
    /// Number of the user, 0 = none.
    pub user: AtomicU32,
    /// Number of the host, 0 = none.
    pub host: AtomicU32,
    _reserved: AtomicU32,
    /// Connections now.
    pub current: AtomicU64,
    /// Connections ever.
    pub total: AtomicU64,
    /// Free banks: head of a list, bits 0-31 bank + 1, bits 32-63 a tag against ABA.
    pub free_banks: AtomicU64,
    /// Of `total`, those that TRUNCATE forgot; written by readers.
    pub forgotten: AtomicU64,
}

/// A user, a host, or a schema. Number 0 is never used: 0 means "none".
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Named {
    /// 0 = free, 1 = it becomes another one's, 2 = ready.
    pub state: AtomicU32,
    _reserved: AtomicU32,
    /// Connections now.
    pub current: AtomicU64,
    /// Connections ever.
    pub total: AtomicU64,
    /// Of `total`, those that TRUNCATE forgot; written by readers.
    pub forgotten: AtomicU64,
    /// The name.
    pub name: Name<32>,
}

/// Accounts, users and hosts beyond the limit that was asked for, of each: threads show whose they are. Their tables do
/// not list them, they are counted as lost, and what an account does there counts as background.
pub const UNLISTED: usize = 128;

/// The state of an entry that can be read.
pub const READY: u32 = 2;
/// That of one which TRUNCATE forgot, and which becomes another one's.
pub const CHANGING: u32 = 1;
/// The state of an entry that a thread is filling.
pub const MAKING: u32 = 1;
