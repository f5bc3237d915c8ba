//! Raw locks, below the engine: adaptive, and without a class or a clock of their own.
//!
//! A lock is taken by one compare-and-swap if it is free. If not, the thread spins for as long as that
//! can pay (see [`spin`]) and then sleeps. The lock's [`Point`](point::Point) decides what is recorded:
//! [`sync`](crate::sync)'s locks report to the engine; plain locks do not report.

#[cfg(all(target_os = "linux", not(feature = "os-locks")))]
pub(crate) mod futex;
#[cfg(any(not(target_os = "linux"), feature = "os-locks"))]
#[path = "park.rs"]
pub(crate) mod futex;
pub(crate) mod mutex;
pub(crate) mod point;
pub(crate) mod rwlock;
mod spin;

use point::Absent;

/// A mutex without an instrument in any build, for example the engine's own.
pub type PlainMutex<T> = lock_api::Mutex<mutex::RawMutex<Absent>, T>;
/// A rwlock without an instrument in any build.
pub type PlainRwLock<T> = lock_api::RwLock<rwlock::RawRwLock<Absent>, T>;
