//! Table io and table locks.

use super::wait::{self, Wait};
use crate::{Class, Operation};

/// Begins a wait for a table: `Fetch`, `Insert`, `Update`, `DeleteRow` of a class of kind TableIo,
/// `TableReadLock` or `TableWriteLock` of one of kind TableLock.
#[inline]
pub fn wait(class: &Class, operation: Operation) -> Wait {
    wait::start(class, operation)
}
