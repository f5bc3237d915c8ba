//! How much memory a statement may take, counted on the thread that runs it, while it grows.
//!
//! Two allocators count: SQLite's, which fails beyond the limit, and the program's
//! ([`CountingAllocator`]), which cannot fail. So code that runs long, or builds something large, calls
//! [`admit`]. Memory is given back when it is freed, or when the statement ends.
//!
//! 1. (The rule for `unsafe` here.) The inner allocator gets the caller's own arguments, so that the caller's
//!    promise to `GlobalAlloc` holds for it. Counting neither allocates nor unwinds.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

use crate::error::SqlError;

/// The default limit of a statement.
pub const DEFAULT_BYTES: u64 = 256 << 20;

/// More than any statement takes.
const UNLIMITED: i64 = i64::MAX / 2;

thread_local! {
    /// Bytes that the statement may still take.
    static REMAINING_BYTES: Cell<i64> = const { Cell::new(UNLIMITED) };
    /// Its limit; 0 while none runs or there is no limit.
    static LIMIT_BYTES: Cell<u64> = const { Cell::new(0) };
    /// Whether an allocation was refused.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Limits the thread's statement until it is dropped. Statements within it share its limit.
#[derive(Debug)]
pub struct StatementLimit {
    outermost: bool,
}

/// Begins a statement that may take `limit` bytes; 0 is no limit.
pub fn limit_statement(limit: u64) -> StatementLimit {
    let outermost = LIMIT_BYTES.get() == 0 && limit > 0;
    if outermost {
        LIMIT_BYTES.set(limit);
        REMAINING_BYTES.set(i64::try_from(limit).unwrap_or(UNLIMITED).min(UNLIMITED));
        REFUSED.set(false);
    }
    StatementLimit { outermost }
}

impl Drop for StatementLimit {
    fn drop(&mut self) {
        if self.outermost {
            LIMIT_BYTES.set(0);
            REMAINING_BYTES.set(UNLIMITED);
        }
    }
}

/// Counts bytes that are about to be allocated. False: they are beyond the limit.
#[inline]
pub fn take(bytes: usize) -> bool {
    let left = REMAINING_BYTES.get() - i64::try_from(bytes).unwrap_or(UNLIMITED);
    if left < 0 {
        REFUSED.set(true);
        return false;
    }
    REMAINING_BYTES.set(left);
    true
}

/// Counts bytes that were freed.
#[inline]
pub fn give(bytes: usize) {
    let left = REMAINING_BYTES.get();
    REMAINING_BYTES.set(left.saturating_add(bytes as i64).min(UNLIMITED));
}

/// Counts bytes without checking the limit, for an allocator that cannot fail.
#[inline]
pub(crate) fn count(bytes: usize) {
    REMAINING_BYTES.set(REMAINING_BYTES.get() - bytes as i64);
}

/// Whether the statement may allocate so many bytes more. If not, it must end, with the error [`exhausted`].
#[inline]
pub fn admit(bytes: usize) -> bool {
    let is_admitted = REMAINING_BYTES.get() >= i64::try_from(bytes).unwrap_or(UNLIMITED);
    if !is_admitted {
        REFUSED.set(true);
    }
    is_admitted
}

/// A program's allocator, which counts what its thread's statement takes.
#[derive(Debug)]
pub struct CountingAllocator<A>(pub A);

// SAFETY: rule 1.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes);
        give(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.realloc(memory, layout, bytes) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.dealloc(memory, layout) }
    }
}

/// 1041: there is no memory, or the statement may not have more.
pub fn exhausted() -> SqlError {
    let limit = LIMIT_BYTES.get();
    match REFUSED.get() && limit > 0 {
        true => SqlError::new(
            1041,
            format!(
                "Out of memory; the statement needs more than max_statement_memory ({limit} bytes)"
            ),
        ),
        false => SqlError::new(1041, "Out of memory"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_takes_no_more_than_its_limit() {
        assert!(take(1 << 40), "no statement runs");
        give(1 << 40);
        let outer = limit_statement(1000);
        assert!(take(600) && !take(500));
        assert!(exhausted().message.contains("1000 bytes"));
        {
            let _inner = limit_statement(1 << 30);
            assert!(!take(500), "it is a part of the outer one");
        }
        give(600);
        assert!(take(900));
        drop(outer);
        assert!(take(1 << 40));
        assert_eq!(exhausted().message, "Out of memory");
        let _again = limit_statement(0);
        assert!(take(1 << 40), "no limit");
    }
}
