//! A lock that a signal handler may take.

use std::sync::atomic::{AtomicI32, Ordering};

/// A lock that a thread holds with its signals blocked. A child of fork has only the thread that forked: if another
/// one held the lock, nobody would release it in the child, so the child takes it.
#[derive(Debug)]
pub struct SpinLock {
    /// The process of the thread that holds it, 0 = nobody does.
    holder: AtomicI32,
}

impl SpinLock {
    pub const fn new() -> Self {
        Self {
            holder: AtomicI32::new(0),
        }
    }

    /// Calls `body` while no other thread of the process does so. All signals of the thread are blocked.
    pub fn with<T>(&self, body: impl FnOnce() -> T) -> T {
        // SAFETY: getpid has no preconditions.
        let own = unsafe { libc::getpid() };
        let mut expected = 0;
        while let Err(holder) =
            (self.holder).compare_exchange(expected, own, Ordering::Acquire, Ordering::Relaxed)
        {
            expected = if holder == own { 0 } else { holder };
            std::hint::spin_loop();
        }
        let result = body();
        self.holder.store(0, Ordering::Release);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_it_and_no_other_process() {
        let lock = SpinLock::new();
        let count = std::cell::Cell::new(0);
        assert_eq!(lock.with(|| count.replace(1)), 0);
        // As in a child of fork whose parent's thread holds it.
        lock.holder.store(1, Ordering::Relaxed);
        assert_eq!(lock.with(|| count.replace(2)), 1);
        let (shared, counted) = (&lock, AtomicI32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let add = || {
                            counted.store(counted.load(Ordering::Relaxed) + 1, Ordering::Relaxed)
                        };
                        shared.with(add);
                    }
                });
            }
        });
        assert_eq!(counted.into_inner(), 4000);
    }
}
