//! Locks, and the waits for an instrumented object.

use std::sync::Arc;

use super::event::{HasStat, Stat};

/// A mutex or a rwlock.
#[derive(Debug, Clone)]
pub struct LockInstance {
    /// Its instrument.
    pub name: Arc<str>,
    /// Its address.
    pub object_instance_begin: u64,
    /// The thread that holds it exclusively.
    pub owner: Option<u64>,
    /// How many hold it shared.
    pub readers: u32,
}

/// The waits of one instrumented object.
#[derive(Debug, Clone)]
pub struct InstanceWaits {
    /// Its instrument.
    pub name: Arc<str>,
    /// Its address or number.
    pub object_instance_begin: u64,
    /// Its waits.
    pub stat: Stat,
}

impl HasStat for InstanceWaits {
    fn stat(&self) -> &Stat {
        &self.stat
    }
}
