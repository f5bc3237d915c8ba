//! A line: one cache line of eight 64-bit cells, the unit of every counter in the segment.

use crate::class::Kind;
use crate::primitive::{AtomicU64, Ordering, bump, bump_in};

/// Cells in a line.
pub const CELLS: usize = 8;

/// Bytes in a line: the cache line of every x86-64 and most arm64 processors.
pub const LINE_BYTES: usize = 64;

/// The tag, in the first cell of an item's first line.
pub const TAG: usize = 0;
/// Events counted.
pub const COUNT: usize = 1;
/// Lock acquisitions that had to wait.
pub const CONTENDED: usize = 2;
/// Sum of the timed waits, in ticks.
pub const SUM: usize = 3;
/// Shortest timed wait in ticks; [`NO_MIN`] before the first.
pub const MIN: usize = 4;
/// Longest timed wait in ticks.
pub const MAX: usize = 5;
/// Bytes moved (file, socket; in a file's third line the sizes that it was given, which no table
/// shows); timed events (locks); ticks at the last end (statements, digests).
pub const EXTRA: usize = 6;
/// The item's histogram blocks: four line numbers of 16 bits, 0 = none.
pub const HISTOGRAM: usize = 7;

/// The value of [`MIN`] before anything was timed.
pub const NO_MIN: u64 = u64::MAX;

/// The most lines of an item (a block of a fine histogram; of the rows, a statement's or a table's has
/// four).
pub const MAX_ITEM_LINES: usize = 8;

/// One cache line of counters with a single writer.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Line {
    /// The cells. Their meaning depends on the item, see the constants of this module.
    pub cells: [AtomicU64; CELLS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Line>() == LINE_BYTES);

impl Line {
    /// Cell `i`, read.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        self.cells[i].load(Ordering::Relaxed)
    }

    /// Cell `i`, written by its only writer.
    #[inline]
    pub fn set(&self, i: usize, value: u64) {
        self.cells[i].store(value, Ordering::Relaxed);
    }

    /// Adds to cell `i`; the caller is its only writer.
    #[inline(always)]
    pub fn add(&self, i: usize, n: u64) {
        bump(&self.cells[i], n);
    }

    /// Counts an event; the caller is the only writer.
    #[inline(always)]
    pub fn count(&self) {
        bump_in::<COUNT, CELLS>(&self.cells, 1);
    }

    /// Counts an event of this weight; the caller is the only writer.
    #[inline(always)]
    pub fn count_weighed(&self, weight: u32) {
        bump_in::<COUNT, CELLS>(&self.cells, u64::from(weight));
    }

    /// Counts an event and its ticks; the caller is the only writer.
    #[inline(always)]
    pub fn time(&self, ticks: u64) {
        self.time_weighed(ticks, 1);
    }

    /// The same for an event of this weight.
    #[inline(always)]
    pub fn time_weighed(&self, ticks: u64, weight: u32) {
        self.count_weighed(weight);
        let sum = ticks.wrapping_mul(u64::from(weight));
        bump_in::<SUM, CELLS>(&self.cells, sum);
        if ticks < self.get(MIN) {
            self.set(MIN, ticks);
        }
        if ticks > self.get(MAX) {
            self.set(MAX, ticks);
        }
    }

    /// Counts an event without duration, of this weight; the caller is the only writer.
    #[inline(always)]
    pub fn at_once(&self, timed: bool, weight: u32) {
        self.count_weighed(weight);
        if timed && self.get(MIN) != 0 {
            self.set(MIN, 0);
        }
    }

    /// Counts `n` events of this weight that took these ticks together: each counts with the mean. The
    /// caller is the only writer.
    #[inline]
    pub fn time_many(&self, n: u64, ticks: u64, weight: u32) {
        self.add(COUNT, n.wrapping_mul(u64::from(weight)));
        self.add(SUM, ticks.wrapping_mul(u64::from(weight)));
        let each = if n > 1 { ticks / n } else { ticks };
        if each < self.get(MIN) {
            self.set(MIN, each);
        }
        if each > self.get(MAX) {
            self.set(MAX, each);
        }
    }

    /// The same into a line that many threads write.
    pub fn time_many_shared(&self, n: u64, ticks: u64, weight: u32) {
        let each = if n > 1 { ticks / n } else { ticks };
        let weighed = |n: u64| n.wrapping_mul(u64::from(weight));
        self.cells[COUNT].fetch_add(weighed(n), Ordering::Relaxed);
        self.cells[SUM].fetch_add(weighed(ticks), Ordering::Relaxed);
        self.cells[MIN].fetch_max(!each, Ordering::Relaxed);
        self.cells[MAX].fetch_max(each, Ordering::Relaxed);
    }

    /// Counts into a line that many threads write: the slow path, for threads without a line of their
    /// own.
    pub fn time_shared(&self, ticks: u64, extra: u64, weight: u32) {
        let weighed = |n: u64| n.wrapping_mul(u64::from(weight));
        self.cells[COUNT].fetch_add(u64::from(weight), Ordering::Relaxed);
        self.cells[SUM].fetch_add(weighed(ticks), Ordering::Relaxed);
        // The shared minimum is stored inverted, so that zeroed memory means "none".
        self.cells[MIN].fetch_max(!ticks, Ordering::Relaxed);
        self.cells[MAX].fetch_max(ticks, Ordering::Relaxed);
        self.cells[EXTRA].fetch_add(weighed(extra), Ordering::Relaxed);
    }

    /// Resets the line: no counts, no minimum.
    pub fn reset(&self) {
        for i in 0..CELLS {
            self.set(i, if i == MIN { NO_MIN } else { 0 });
        }
    }
}

/// The kind of an item in a bank's arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Item {
    /// The row of an instrument class; the id is the class.
    Class = 1,
    /// The row of a mutex, file, ... instance; the id is the instance.
    Instance = 2,
    /// The row of a statement digest; the id is the digest.
    Digest = 3,
    /// A block of histogram buckets; no id.
    Histogram = 4,
    /// A row of a table or a program; the id is the object's.
    Object = 5,
    /// A block of a statement histogram's buckets; no id.
    Fine = 6,
}

/// The tag of an item: kind in bits 0-7, lines in bits 8-15, part in bits 16-23, id in bits 32-63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its kind.
    pub item: Item,
    /// Number of lines.
    pub lines: usize,
    /// The part of an object, see [`crate::object::part`]. For a class's row: how many of its lines are
    /// [time lines](Kind::time_lines), so that it can be read without its class. Otherwise 0.
    pub part: u8,
    /// The id of its class, instance, digest or object.
    pub id: u32,
}

impl Tag {
    /// The tag of a row that is the only one of its id.
    pub const fn new(item: Item, lines: usize, id: u32) -> Self {
        Self {
            item,
            lines,
            part: 0,
            id,
        }
    }

    /// The tag of a class's row.
    pub const fn of_class(kind: Kind, class: u32) -> Self {
        Self {
            part: kind.time_lines() as u8,
            ..Self::new(Item::Class, kind.row_lines(), class)
        }
    }

    /// The cell's value.
    pub const fn pack(self) -> u64 {
        self.item as u64
            | (self.lines as u64) << 8
            | (self.part as u64) << 16
            | (self.id as u64) << 32
    }

    /// Reads a cell; `None` if it is no tag.
    pub const fn unpack(cell: u64) -> Option<Self> {
        let item = match cell as u8 {
            1 => Item::Class,
            2 => Item::Instance,
            3 => Item::Digest,
            4 => Item::Histogram,
            5 => Item::Object,
            6 => Item::Fine,
            _ => return None,
        };
        let lines = (cell >> 8) as u8 as usize;
        if lines == 0 || lines > MAX_ITEM_LINES {
            return None;
        }
        Some(Self {
            item,
            lines,
            part: (cell >> 16) as u8,
            id: (cell >> 32) as u32,
        })
    }
}

/// The cells of a memory class's two lines. Counts and bytes are the bank's own: memory that another
/// thread frees makes one bank's balance negative, and the sum over banks is right.
pub mod memory {
    /// Allocations.
    pub const ALLOC_COUNT: usize = 1;
    /// Frees.
    pub const FREE_COUNT: usize = 2;
    /// Bytes allocated.
    pub const ALLOC_BYTES: usize = 3;
    /// Bytes freed.
    pub const FREE_BYTES: usize = 4;
    /// Highest balance of counts (i64).
    pub const HIGH_COUNT: usize = 5;
    /// Highest balance of bytes (i64).
    pub const HIGH_BYTES: usize = 6;
    /// Second line: lowest balance of counts (i64).
    pub const LOW_COUNT: usize = 1;
    /// Second line: lowest balance of bytes (i64).
    pub const LOW_BYTES: usize = 2;
    /// Second line: allocations that stand for several.
    pub const SAMPLED: usize = 3;
    /// Second line: the weights of these.
    pub const WEIGHTED: usize = 4;
    /// Second line: the variance of the count that they cause.
    pub const COUNT_VARIANCE: usize = 5;
    /// Second line: the variance of the bytes, in squares of [`VARIANCE_UNIT`].
    pub const BYTES_VARIANCE: usize = 6;
    /// Bytes of the unit of [`BYTES_VARIANCE`], so that its sum fits into 64 bits.
    pub const VARIANCE_UNIT: u64 = 8;
}

/// The cells of an error's line.
pub mod error {
    /// Times raised.
    pub const RAISED: usize = 1;
    /// Times handled (caught by a handler, not sent to the client).
    pub const HANDLED: usize = 2;
    /// Ticks when first seen by this bank, 0 = never.
    pub const FIRST_SEEN: usize = 3;
    /// Ticks when last seen by this bank.
    pub const LAST_SEEN: usize = 6;
}
