//! The locks of the server, by name.

pub use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};

/// The lock around who may write to a database.
pub fn gate_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

/// Signalled when a writer leaves.
pub fn gate_condvar() -> Condvar {
    Condvar::new()
}
