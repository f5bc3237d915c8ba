//! Locks for targets without futexes or 32-bit atomics: the operating system's, through std.

pub mod condvar;
pub mod mutex;
pub mod rwlock;

/// Locks one of std's mutexes; a panic elsewhere in the host is no reason to stop.
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
