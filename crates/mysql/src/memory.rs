//! How much memory a statement may take, counted on the thread that runs it, while it grows.
//!
//! Two allocators count: SQLite's, which is refused what is beyond the limit, and the program's
//! ([`Counted`]), which cannot be. So whoever takes long, or makes something large, asks
//! [`has_room`]. Memory is given back where the statement ends, or by whoever frees it.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

use crate::error::SqlError;

/// What one statement may take unless it is told otherwise, in bytes.
pub const DEFAULT: u64 = 256 << 20;

/// More than any statement takes.
const UNLIMITED: i64 = i64::MAX / 2;

thread_local! {
    /// What the statement that runs may still take.
    static LEFT: Cell<i64> = const { Cell::new(UNLIMITED) };
    /// What it may take in all; 0 while none runs or there is no limit.
    static LIMIT: Cell<u64> = const { Cell::new(0) };
    /// Whether it was refused some.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// While this lives, the thread's statement may take so much. Statements that run within it share
/// its limit.
#[derive(Debug)]
pub struct Statement {
    outermost: bool,
}

/// A statement begins that may take `limit` bytes; 0 is no limit.
pub fn statement(limit: u64) -> Statement {
    let outermost = LIMIT.get() == 0 && limit > 0;
    if outermost {
        LIMIT.set(limit);
        LEFT.set(i64::try_from(limit).unwrap_or(UNLIMITED).min(UNLIMITED));
        REFUSED.set(false);
    }
    Statement { outermost }
}

impl Drop for Statement {
    fn drop(&mut self) {
        if self.outermost {
            LIMIT.set(0);
            LEFT.set(UNLIMITED);
        }
    }
}

/// Counts bytes that are about to be allocated. False: they must not be.
#[inline]
pub fn take(bytes: usize) -> bool {
    let left = LEFT.get() - i64::try_from(bytes).unwrap_or(UNLIMITED);
    if left < 0 {
        REFUSED.set(true);
        return false;
    }
    LEFT.set(left);
    true
}

/// Counts bytes that were freed.
#[inline]
pub fn give(bytes: usize) {
    let left = LEFT.get();
    LEFT.set(left.saturating_add(bytes as i64).min(UNLIMITED));
}

/// Counts bytes that are there, whatever the limit: an allocator's, which cannot refuse.
#[inline]
pub(crate) fn count(bytes: usize) {
    LEFT.set(LEFT.get() - bytes as i64);
}

/// Whether the statement may take so many bytes more. False: it must end, and has been refused them.
#[inline]
pub fn has_room(bytes: usize) -> bool {
    let room = LEFT.get() >= i64::try_from(bytes).unwrap_or(UNLIMITED);
    if !room {
        REFUSED.set(true);
    }
    room
}

/// A program's allocator that counts what the statement of its thread takes.
#[derive(Debug)]
pub struct Counted<A>(pub A);

// SAFETY: all is done by the allocator within, with the caller's own arguments; counting neither
// allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counted<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes);
        give(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.realloc(memory, layout, bytes) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

/// 1041: there is no memory, or the statement may not have more.
pub fn exhausted() -> SqlError {
    let limit = LIMIT.get();
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
    fn a_statement_is_refused_what_is_beyond_its_limit() {
        assert!(take(1 << 40), "no statement runs");
        give(1 << 40);
        let outer = statement(1000);
        assert!(take(600) && !take(500));
        assert!(exhausted().message.contains("1000 bytes"));
        {
            let _inner = statement(1 << 30);
            assert!(!take(500), "it is a part of the outer one");
        }
        give(600);
        assert!(take(900));
        drop(outer);
        assert!(take(1 << 40));
        assert_eq!(exhausted().message, "Out of memory");
        let _again = statement(0);
        assert!(take(1 << 40), "no limit");
    }
}
