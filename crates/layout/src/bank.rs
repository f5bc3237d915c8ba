//! A bank: the counters of one thread at a time, all of one account.
//!
//! A bank is bound to an account for good. A thread that leaves returns its bank to the account's list,
//! and the next thread of that account continues counting in it: totals are not moved, so that a total
//! never goes backwards and nothing is counted twice. The present thread's own figures are total minus
//! *base*, a copy of each row from when the thread first counted there.

use crate::line::LINE_BYTES;
use crate::primitive::{AtomicU32, AtomicU64};

/// Entries of the instance index.
pub const INSTANCE_ENTRIES: usize = 64;
/// Entries of the digest index.
pub const DIGEST_ENTRIES: usize = 32;
/// Entries of the object index.
pub const OBJECT_ENTRIES: usize = 64;

/// In an entry of the class index: the bank's present thread has not counted in the row. The row's base
/// is not that thread's, and is updated when it first counts there.
pub const DORMANT: u16 = 1 << 15;

/// The line that an entry of the class index names, 0 = none.
#[inline(always)]
pub const fn line_of(entry: u16) -> usize {
    (entry & !DORMANT) as usize
}

/// The line of an entry that is not [`DORMANT`]; 0 = none, or dormant.
#[inline(always)]
pub const fn awake_line_of(entry: u16) -> usize {
    if entry & DORMANT == 0 {
        entry as usize
    } else {
        0
    }
}

/// The fixed part of a bank. The class index (16 bits a class: [`line_of`]) and then the
/// arena of lines follow.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Bank {
    /// Account + 1 that owns it, 0 = the bank was never used.
    pub account: AtomicU32,
    /// Next bank + 1 on the account's list of free banks.
    pub next_free: AtomicU32,
    /// Lines of the arena in use, from the arena's start, without histogram blocks, see `blocks`; line
    /// 0 is never an item.
    pub used: AtomicU32,
    /// Incremented before and after a thread takes the bank or returns it, so it is odd during the change.
    pub sequence: AtomicU32,
    /// Slot + 1 of the present thread, 0 = none.
    pub slot: AtomicU32,
    /// Lines of the arena that base covers.
    pub base_used: AtomicU32,
    /// Lines of histogram blocks, which fill the arena from its end: so rows are adjacent, for sums and
    /// for base.
    pub blocks: AtomicU32,
    /// Blocks of the histogram of all its statements: four line numbers of 16 bits, 0 = none.
    pub statements: AtomicU64,
    /// Texts of statements that were cut.
    pub cut_texts: AtomicU64,
    /// Digests that were cut.
    pub cut_digests: AtomicU64,
    /// Texts of statements that were read for a digest, because it was not cached.
    pub read_texts: AtomicU64,
    /// Instance id (bits 32-63) and line (bits 0-31) of instance rows; index = id modulo entries.
    pub instances: [AtomicU64; INSTANCE_ENTRIES],
    /// Digest id (bits 32-63), its incarnation (bits 16-31) and line (bits 0-15). The first cell of the
    /// row's second line has the generation of the table.
    pub digests: [AtomicU64; DIGEST_ENTRIES],
    /// Object id (bits 32-63), its part (bits 16-23) and line (bits 0-15).
    pub objects: [AtomicU64; OBJECT_ENTRIES],
}

#[cfg(not(loom))]
const _: () = {
    assert!(core::mem::offset_of!(Bank, instances) == LINE_BYTES);
    assert!(
        size_of::<Bank>() == LINE_BYTES + 8 * (INSTANCE_ENTRIES + DIGEST_ENTRIES + OBJECT_ENTRIES)
    );
};

impl Default for Bank {
    fn default() -> Self {
        Self {
            account: AtomicU32::new(0),
            next_free: AtomicU32::new(0),
            used: AtomicU32::new(0),
            sequence: AtomicU32::new(0),
            slot: AtomicU32::new(0),
            base_used: AtomicU32::new(0),
            blocks: AtomicU32::new(0),
            statements: AtomicU64::new(0),
            cut_texts: AtomicU64::new(0),
            cut_digests: AtomicU64::new(0),
            read_texts: AtomicU64::new(0),
            instances: core::array::from_fn(|_| AtomicU64::new(0)),
            digests: core::array::from_fn(|_| AtomicU64::new(0)),
            objects: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

/// Baselines: copies of totals, in the same lines as in each bank's arena. Readers subtract them.
pub mod baseline {
    /// Totals when the present thread took the bank (*base* for short), for rows in which it has
    /// counted; written by that thread.
    pub const OWNER: usize = 0;
    /// Totals when the global tables were last truncated; written by readers.
    pub const TRUNCATED_GLOBAL: usize = 1;
    /// The same for tables by account.
    pub const TRUNCATED_ACCOUNT: usize = 2;
    /// The same for tables by thread.
    pub const TRUNCATED_THREAD: usize = 3;
    /// The same for tables by user.
    pub const TRUNCATED_USER: usize = 4;
    /// The same for tables by host.
    pub const TRUNCATED_HOST: usize = 5;
    /// Totals when `thread_instrumentation` was switched off: the figures of tables by account, user,
    /// host and thread until it is on again. Zero for rows that were created since.
    pub const FROZEN: usize = 6;
    /// How many baselines there are.
    pub const COUNT: usize = 7;
    /// The baselines that cover all threads of a bank.
    pub const MERGED: [usize; 5] = [
        TRUNCATED_GLOBAL,
        TRUNCATED_ACCOUNT,
        TRUNCATED_USER,
        TRUNCATED_HOST,
        FROZEN,
    ];
}
