//! Times, and the histograms that they enter later.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use tare_layout::bank::line_of;
use tare_layout::histogram::{BLOCK_BUCKETS, BLOCK_LINES, BUCKETS, LIMIT, bucket_low};
use tare_layout::line::{HISTOGRAM, LINE_BYTES, Line, TAG, Tag};
use tare_layout::primitive::{add_wraps, increment};

use super::local::Local;
use super::{bank, clock};

/// Times that are counted, but for their histograms.
#[repr(C)]
pub(crate) struct Pending {
    /// How many there are; with [`AWAITS`].
    count: Cell<usize>,
    /// How many there may be, likewise.
    limit: Cell<usize>,
    times: [Time; PENDING],
}

/// Times that wait for their histograms while a statement runs, or a connection for its account; otherwise it is one.
const PENDING: usize = 16;

/// In count and limit, as long as the thread [waits for its account](Local::await_account) and all of its times wait for
/// their histograms.
const AWAITS: usize = 1 << 32;
const _: () = assert!(AWAITS.is_multiple_of(PENDING));

struct Time {
    line: Cell<*const Line>,
    class: Cell<u16>,
    /// Or what it stands for, too: see [`weighed`].
    ticks: Cell<u64>,
}

impl Time {
    #[inline(always)]
    fn get(&self) -> (*const Line, u16, u64) {
        (self.line.get(), self.class.get(), self.ticks.get())
    }

    #[inline(always)]
    fn set(&self, line: *const Line, class: u16, ticks: u64) {
        self.line.set(line);
        self.class.set(class);
        self.ticks.set(ticks);
    }
}

impl Default for Pending {
    fn default() -> Self {
        let none = || Time {
            line: Cell::new(std::ptr::null()),
            class: Cell::new(0),
            ticks: Cell::new(0),
        };
        Self {
            count: Cell::new(0),
            limit: Cell::new(1),
            times: std::array::from_fn(|_| none()),
        }
    }
}

impl Pending {
    /// What comes is of a statement, whose end settles it.
    #[inline(always)]
    pub fn in_statement(&self) {
        self.limit.set(PENDING | self.count.get() & AWAITS);
    }

    /// What comes is of a connection that waits for its account: it has no histograms before that.
    pub fn before_account(&self) {
        self.count.set(self.count.get() | AWAITS);
        self.limit.set(PENDING | AWAITS);
    }

    /// The account has come: whether times have entered histograms before.
    pub fn account_comes(&self) -> bool {
        let all_wait = self.count.get() & AWAITS != 0;
        self.count.set(self.count.get() & !AWAITS);
        self.limit.set(self.limit.get() & !AWAITS);
        !all_wait
    }

    #[inline(always)]
    fn has_room(&self) -> bool {
        self.count.get() < self.limit.get()
    }

    #[inline(always)]
    fn push(&self, class: u16, line: &Line, ticks: u64) {
        let count = self.count.get();
        self.times[count % PENDING].set(line, class, ticks);
        self.count.set(count + 1);
    }
}

impl Local {
    /// Counts a time into a line, and into its histogram later: when a statement ends or as many wait as may, when
    /// a session idles, or the thread leaves its bank.
    ///
    /// Which bucket a time falls into hangs on a chain of some twenty cycles behind the clock read,
    /// and the next clock read (on Zen 4) waits until it is done; the bucket of a time before is
    /// found beside it. And in a server that has pushed this code and the buckets out of the nearest caches since
    /// the last event, it costs less to fetch them for many times at once.
    #[inline(always)]
    pub fn time(&self, class: u16, line: &Line, ticks: u64) {
        self.time_weighed(class, line, ticks, 1);
    }

    /// The same of one that stands for `weight`.
    #[inline(always)]
    pub fn time_weighed(&self, class: u16, line: &Line, ticks: u64, weight: u16) {
        line.time_weighed(ticks, u32::from(weight));
        self.wait_for_histogram(class, line, weighed(ticks, weight));
    }

    /// The same where the clock has not run backwards and neither a row nor room for the histogram is to be made, which
    /// is nearly always, in few instructions: the line, which is line `i` of the class's row. `None`: nothing was done.
    #[inline(always)]
    pub fn time_at_hand(&self, class: u16, i: usize, ticks: u64) -> Option<&Line> {
        if ticks >= LIMIT || !self.pending.has_room() {
            return None;
        }
        let line = self.known_line(class, i)?;
        line.time(ticks);
        self.pending.push(class, line, ticks);
        Some(line)
    }

    /// Counts `n` events that took `ticks` together, each of which stands for `weight`; the histogram has their mean once.
    #[inline]
    pub fn time_many(&self, class: u16, line: &Line, n: u64, ticks: u64, weight: u16) {
        if n == 1 {
            return self.time_weighed(class, line, ticks, weight);
        }
        line.time_many(n, ticks, u32::from(weight));
        self.wait_for_histogram(class, line, weighed(ticks / n.max(1), weight));
    }

    #[inline(always)]
    fn wait_for_histogram(&self, class: u16, line: &Line, ticks: u64) {
        if !self.pending.has_room() {
            self.count_histograms();
        }
        self.pending.push(class, line, ticks);
    }

    /// Counts the times that wait for it into their histograms, and lets no more than one wait from here on.
    #[inline]
    pub fn settle(&self) {
        self.count_histograms();
        self.pending.limit.set(1);
    }

    /// In a leaf where there is one, as outside of statements.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn count_histograms(&self) {
        match self.pending.count.get() {
            0 => {}
            1 => {
                self.pending.count.set(0);
                self.count_waiting(&self.pending.times[0]);
            }
            _ => self.count_many_histograms(),
        }
    }

    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn count_many_histograms(&self) {
        let count = self.pending.count.replace(0);
        let limit = &self.pending.limit;
        limit.set(limit.get() & !AWAITS);
        for time in self.pending.times.iter().take(count & !AWAITS) {
            self.count_waiting(time);
        }
    }

    /// The times that wait are of rows that were moved to the present bank from this one.
    pub fn follow_rows(&self, from: usize) {
        let view = &self.engine.view;
        let (index, arena) = (view.class_index(from), view.arena(from));
        let count = self.pending.count.get();
        let mut kept = 0;
        for i in 0..count {
            let (line, class, ticks) = self.pending.times[i].get();
            let row = line_of(index[usize::from(class)].load(Ordering::Relaxed));
            let within = line.addr().wrapping_sub(arena[row..].as_ptr().addr()) / LINE_BYTES;
            // One that found no room was counted as lost.
            let first = self
                .known_row(class)
                .filter(|first| Tag::unpack(first.get(TAG)).is_some_and(|tag| within < tag.lines));
            let Some(first) = first else {
                continue;
            };
            // SAFETY: of the lines of this row, which lie one behind the other.
            let line = unsafe { std::ptr::from_ref(first).add(within) };
            self.pending.times[kept].set(line, class, ticks);
            kept += 1;
        }
        self.pending.count.set(kept);
    }

    #[inline(always)]
    fn count_waiting(&self, time: &Time) {
        // SAFETY: a line of a class in the present bank's arena: leaving the bank settles first.
        let line = unsafe { &*time.line.get() };
        self.histogram(time.class.get(), line, time.ticks.get());
    }

    #[inline(always)]
    fn histogram(&self, class: u16, line: &Line, ticks: u64) {
        // The first block holds what is shorter than some 100 µs: with a branch, and not a shift, to
        // find it, its address is known before the time is. The reading of a clock waits until
        // what came before is done (on Zen 4), so that this chain's length is what a time costs.
        let first = line.get(HISTOGRAM) as u16;
        if ticks < FIRST_BLOCK && first != 0 {
            self.count_bucket(class, usize::from(first), clock::bucket_of(ticks), 0, 1);
        } else {
            self.histogram_slow(class, line, ticks);
        }
    }

    #[inline(always)]
    fn count_bucket(&self, class: u16, at: usize, number: usize, block: usize, weight: u32) {
        // SAFETY: block numbers in a line were put there by `block_of`, within the arena.
        let lines = unsafe { std::slice::from_raw_parts(self.arena.get().add(at), BLOCK_LINES) };
        let bucket = bank::bucket(lines, number - block * BLOCK_BUCKETS);
        let wraps = match weight {
            1 => increment(bucket),
            _ => add_wraps(bucket, weight),
        };
        if wraps {
            self.engine.spill(class, number);
        }
    }

    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn histogram_slow(&self, class: u16, line: &Line, ticks: u64) {
        let (ticks, weight) = weight_of(ticks);
        let number = clock::bucket_of(ticks).min(BUCKETS - 1);
        let block = number / BLOCK_BUCKETS;
        let mut at = usize::from((line.get(HISTOGRAM) >> (16 * block)) as u16);
        if at == 0 {
            let Some(_making) = self.making() else {
                return;
            };
            if self
                .engine
                .block_of(self.bank_number.get(), line, block)
                .is_none()
            {
                return;
            }
            at = usize::from((line.get(HISTOGRAM) >> (16 * block)) as u16);
        }
        self.count_bucket(class, at, number, block, weight);
    }
}

/// Set in ticks beside which there is what they stand for.
const WEIGHED: u64 = 1 << 63;
/// Bits of ticks below that; more are as many as these can hold (half a day), which is in the last bucket.
const TICK_BITS: u32 = 47;

/// Ticks and what they stand for in one word. It is no less than [`WEIGHED`] and takes the slow way, so that a time that
/// stands for itself pays nothing for others.
#[inline(always)]
const fn weighed(ticks: u64, weight: u16) -> u64 {
    const MOST: u64 = (1 << TICK_BITS) - 1;
    match weight {
        1 => ticks,
        _ if ticks > MOST => WEIGHED | (weight as u64) << TICK_BITS | MOST,
        _ => WEIGHED | (weight as u64) << TICK_BITS | ticks,
    }
}

/// Ticks, and what they stand for.
const fn weight_of(ticks: u64) -> (u64, u32) {
    match ticks & WEIGHED {
        0 => (ticks, 1),
        _ => (
            ticks & ((1 << TICK_BITS) - 1),
            (ticks >> TICK_BITS) as u32 & 0xffff,
        ),
    }
}

/// What falls into a histogram's first block.
const FIRST_BLOCK: u64 = bucket_low(BLOCK_BUCKETS);
