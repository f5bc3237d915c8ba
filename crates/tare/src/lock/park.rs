//! Sleeping until a word changes, where the kernel has no futexes: in parking_lot's queues.
//!
//! **Safety** of each call: the key is the address of a word that the caller borrows, and no function
//! that is passed panics or parks.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, ParkResult};

/// Sleeps while the word is `expected`, at most until `deadline`; false when that has passed. May
/// wake for no reason.
pub fn wait(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    let is_expected = || word.load(Ordering::Relaxed) == expected;
    // SAFETY: see the module.
    let result = unsafe {
        parking_lot_core::park(
            word.as_ptr().addr(),
            is_expected,
            || {},
            |_, _| {},
            DEFAULT_PARK_TOKEN,
            deadline,
        )
    };
    result != ParkResult::TimedOut
}

/// Wakes one thread that sleeps on the word; all, if `threads` is not 1.
pub fn wake(word: &AtomicU32, threads: u32) {
    let key = word.as_ptr().addr();
    // SAFETY: see the module.
    unsafe {
        match threads {
            1 => _ = parking_lot_core::unpark_one(key, |_| DEFAULT_UNPARK_TOKEN),
            _ => _ = parking_lot_core::unpark_all(key, DEFAULT_UNPARK_TOKEN),
        }
    }
}
