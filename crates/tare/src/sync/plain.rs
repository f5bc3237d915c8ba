//! Locks that tell nothing about themselves, in any build: for locks that are nobody's business, the
//! engine's own among them.

use super::mutex::RawMutex;
use super::no_point::Absent;
use super::rwlock::RawRwLock;

/// A mutex without a point.
pub type PlainMutex<T> = lock_api::Mutex<RawMutex<Absent>, T>;
/// A rwlock without a point.
pub type PlainRwLock<T> = lock_api::RwLock<RawRwLock<Absent>, T>;
