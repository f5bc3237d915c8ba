//! The memory that sessions hold, from one command to the next, and its limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Refusal;

/// What a session may always hold, whatever all of them hold: an administrator can log in. It is the smallest
/// connection_memory_limit of MySQL.
const ALWAYS_ADMITTED_BYTES: u64 = 2 << 20;

/// Sessions count in steps of so many bytes at least, so that few statements write the shared counter.
const STEP_BYTES: u64 = 256 << 10;

/// The memory of all sessions of a server.
#[derive(Debug)]
pub struct TotalMemory {
    reserved: AtomicU64,
    limit: AtomicU64,
}

impl TotalMemory {
    /// No session yet. `limit` is MySQL's global_connection_memory_limit.
    pub fn new(limit: u64) -> Self {
        Self {
            reserved: AtomicU64::new(0),
            limit: AtomicU64::new(limit),
        }
    }

    /// The bytes that sessions have reserved: somewhat more than they hold.
    pub fn bytes(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed)
    }

    /// Sets the limit.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }
}

/// The memory of one session.
#[derive(Debug)]
pub struct SessionMemory {
    total: Arc<TotalMemory>,
    limit: u64,
    held: u64,
    /// Its part of [`TotalMemory::bytes`].
    reserved: u64,
}

impl SessionMemory {
    /// A session that holds nothing yet.
    pub fn new(total: Arc<TotalMemory>) -> Self {
        Self {
            total,
            limit: u64::MAX,
            held: 0,
            reserved: 0,
        }
    }

    /// Sets MySQL's connection_memory_limit.
    #[inline]
    pub fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// The bytes that the session held after its last command.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// The bytes that it may hold before it has to reserve more.
    pub(super) fn reserved(&self) -> u64 {
        self.reserved.min(self.limit)
    }

    /// Reserves what a session needs that is about to hold so many bytes.
    pub(super) fn reserve(&mut self, held: u64) -> Result<(), Refusal> {
        let limit = self.limit;
        if held > limit {
            return Err(Refusal::Session { limit, held });
        }
        let more = held.saturating_add(STEP_BYTES.max(held / 8)).min(limit);
        let more = more.saturating_sub(self.reserved);
        let total = self.total.reserved.fetch_add(more, Ordering::Relaxed) + more;
        let limit = self.total.limit.load(Ordering::Relaxed);
        if total > limit && held > ALWAYS_ADMITTED_BYTES {
            self.total.reserved.fetch_sub(more, Ordering::Relaxed);
            return Err(Refusal::Total { limit, held: total });
        }
        self.reserved += more;
        Ok(())
    }

    /// Ends a command after which the session holds so many bytes.
    #[inline]
    pub(super) fn settle(&mut self, held: u64) {
        self.held = held;
        let is_settled = held <= self.reserved && self.reserved <= held + held / 4 + 2 * STEP_BYTES;
        if !is_settled {
            self.settle_slow(held);
        }
    }

    #[cold]
    fn settle_slow(&mut self, held: u64) {
        let reserved = held + STEP_BYTES;
        let total = &self.total.reserved;
        match reserved.checked_sub(self.reserved) {
            // An allocator has counted what it could not refuse.
            Some(more) => total.fetch_add(more, Ordering::Relaxed),
            None => total.fetch_sub(self.reserved - reserved, Ordering::Relaxed),
        };
        self.reserved = reserved;
    }
}

impl Drop for SessionMemory {
    fn drop(&mut self) {
        self.total
            .reserved
            .fetch_sub(self.reserved, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_holds_no_more_than_its_limit() {
        let total = Arc::new(TotalMemory::new(u64::MAX));
        let mut session = SessionMemory::new(total.clone());
        session.set_limit(10 << 20);
        assert_eq!(session.reserve(10 << 20), Ok(()));
        let (limit, held) = (10 << 20, (10 << 20) + 1);
        assert_eq!(session.reserve(held), Err(Refusal::Session { limit, held }));
        session.settle(1000);
        assert!(session.held() == 1000 && session.reserved() < 1 << 20);
        assert_eq!(total.bytes(), session.reserved());
        drop(session);
        assert_eq!(total.bytes(), 0);
    }

    #[test]
    fn all_sessions_share_a_limit_and_small_ones_stay() {
        let total = Arc::new(TotalMemory::new(16 << 20));
        let new = || SessionMemory::new(total.clone());
        let (mut large, mut other, mut small) = (new(), new(), new());
        assert_eq!(large.reserve(12 << 20), Ok(()));
        assert!(matches!(other.reserve(8 << 20), Err(Refusal::Total { .. })));
        assert_eq!(small.reserve(ALWAYS_ADMITTED_BYTES), Ok(()));
        drop(large);
        assert_eq!(other.reserve(8 << 20), Ok(()));
        // What could not be refused counts, too.
        small.settle(7 << 20);
        assert!(total.bytes() > 15 << 20);
        drop((other, small));
        assert_eq!(total.bytes(), 0);
    }
}
