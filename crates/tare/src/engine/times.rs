//! Times: counting them into lines and their histograms.

use tare_layout::histogram::{
    BLOCK_BUCKETS, BLOCK_LINES, BUCKETS, FIRST_BLOCK, bucket_in_first_block, bucket_of,
};
use tare_layout::line::{HISTOGRAM, Line};
use tare_layout::primitive::add_wraps;

use super::bank;
use super::local::Local;

impl Local {
    /// Counts a time into a line and its histogram.
    #[inline(always)]
    pub fn time(&self, class: u16, line: &Line, ticks: u64) {
        self.time_weighed(class, line, ticks, 1);
    }

    /// The same for a time of this weight.
    #[inline(always)]
    pub fn time_weighed(&self, class: u16, line: &Line, ticks: u64, weight: u16) {
        line.time_weighed(ticks, u32::from(weight));
        self.enter_histogram(class, line, ticks, weight);
    }

    /// The same in few instructions and without a call, if the time is a usual one and the row and its
    /// histogram exist, as nearly always. Returns line `i` of the class's row. `None`: nothing was
    /// done.
    #[inline(always)]
    pub fn try_time_fast(&self, class: u16, i: usize, ticks: u64, weight: u16) -> Option<&Line> {
        let line = self.existing_line(class, i)?;
        let first = self.first_block(line, ticks)?;
        line.time_weighed(ticks, u32::from(weight));
        self.count_in_first_block(class, first, ticks, weight);
        Some(line)
    }

    /// Counts `n` events that took `ticks` together, each with this weight. Their mean enters the
    /// histogram once.
    #[inline]
    pub fn time_many(&self, class: u16, line: &Line, n: u64, ticks: u64, weight: u16) {
        if n == 1 {
            return self.time_weighed(class, line, ticks, weight);
        }
        line.time_many(n, ticks, u32::from(weight));
        self.enter_histogram(class, line, ticks / n.max(1), weight);
    }

    #[inline(always)]
    fn enter_histogram(&self, class: u16, line: &Line, ticks: u64, weight: u16) {
        match self.first_block(line, ticks) {
            Some(first) => self.count_in_first_block(class, first, ticks, weight),
            None => self.enter_histogram_slow(class, line, ticks, weight),
        }
    }

    #[inline(always)]
    fn count_in_first_block(&self, class: u16, first: usize, ticks: u64, weight: u16) {
        let number = bucket_in_first_block(ticks);
        if add_wraps(self.bucket(first, number), u32::from(weight)) {
            self.spill(class, number);
        }
    }

    /// The first block of a line's histogram, if it exists, includes this time, and times are not
    /// deferred.
    #[inline(always)]
    fn first_block(&self, line: &Line, ticks: u64) -> Option<usize> {
        let first = line.get(HISTOGRAM) as u16;
        (first != 0 && ticks < FIRST_BLOCK && !self.defers_times.get()).then_some(first.into())
    }

    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn enter_histogram_slow(&self, class: u16, line: &Line, ticks: u64, weight: u16) {
        match self.defers_times.get() {
            true => self.defer(class, line, ticks, weight),
            false => self.count_in_histogram(class, line, ticks, weight),
        }
    }

    /// Counts a time into the histogram of a line that is in the present bank.
    pub(super) fn count_in_histogram(&self, class: u16, line: &Line, ticks: u64, weight: u16) {
        let number = bucket_of(ticks).min(BUCKETS - 1);
        let block = number / BLOCK_BUCKETS;
        let named = || usize::from((line.get(HISTOGRAM) >> (16 * block)) as u16);
        if named() == 0 {
            let created = self
                .begin_creation()
                .and_then(|_creation| self.engine.block_of(self.bank_number.get(), line, block));
            if created.is_none() {
                return;
            }
        }
        let bucket = self.bucket(named(), number - block * BLOCK_BUCKETS);
        if add_wraps(bucket, u32::from(weight)) {
            self.spill(class, number);
        }
    }

    /// A bucket of a block.
    #[inline(always)]
    fn bucket(&self, block: usize, number: usize) -> &std::sync::atomic::AtomicU32 {
        // SAFETY: `block_of` stored the block numbers in lines, within the arena.
        let lines = unsafe { std::slice::from_raw_parts(self.arena.get().add(block), BLOCK_LINES) };
        bank::bucket(lines, number)
    }

    #[cold]
    #[inline(never)]
    fn spill(&self, class: u16, number: usize) {
        self.engine.spill(class, number);
    }
}
