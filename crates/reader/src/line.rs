//! The value of a bank's line in a table, and the sum of lines.
//!
//! | cell | the table's value |
//! |---|---|
//! | counts, sums | now, less the later of base (for one thread) and the table's truncation |
//! | min, max | of the present thread; base has those of earlier threads |
//! | times (last seen) | now |
//!
//! Extremes cannot be subtracted. After a truncation, an extreme beyond its value at the truncation is exact.
//! For any other the histogram's bucket is known, which is within 25 %. Where there is no histogram
//! (instances), the extreme of before remains as a bound.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use tare_layout::Kind;
use tare_layout::line::{
    CELLS, CONTENDED, COUNT, EXTRA, Line, MAX, MIN, NO_MIN, SUM, error, memory,
};

use crate::histogram::Histogram;

/// A copy of a line's cells; their meaning is [`tare_layout::line`]'s.
pub type Cells = [u64; CELLS];

/// A time line that counted nothing.
pub const EMPTY_TIME_LINE: Cells = {
    let mut cells = [0; CELLS];
    cells[MIN] = NO_MIN;
    cells
};

/// The initial cells of line `i` of a row of this kind.
pub const fn initial_cells(kind: Kind, i: usize) -> Cells {
    if kind.is_time_line(i) {
        EMPTY_TIME_LINE
    } else {
        [0; CELLS]
    }
}

/// A copy of a line.
#[inline]
pub fn cells(line: &Line) -> Cells {
    std::array::from_fn(|i| line.get(i))
}

/// A copy of a line that many threads write, which stores its minimum inverted, in the form of other lines.
pub fn shared_cells(line: &Line) -> Cells {
    let mut cells = cells(line);
    cells[MIN] = !cells[MIN];
    cells
}

/// The baselines of a bank's lines.
#[derive(Clone, Copy)]
pub(crate) struct Baselines<'a> {
    /// The bank's lines when its present thread began.
    pub base: &'a [Line],
    /// The number of valid lines of `base`.
    pub base_used: &'a AtomicU32,
    /// The baseline of the table's truncation, if it ever was truncated.
    pub truncated: Option<&'a [Line]>,
    /// Whether the table counts only the present thread.
    pub of_thread: bool,
}

impl Baselines<'_> {
    fn base(&self, at: usize) -> Option<Cells> {
        // Read after the line itself: a thread that begins moves the line's extremes into base
        // first, so that no reader misses them in both.
        let covered = self.base_used.load(Ordering::Acquire) as usize;
        (at < covered)
            .then(|| self.base.get(at).map(cells))
            .flatten()
    }

    fn truncated(&self, at: usize) -> Option<Cells> {
        self.truncated?.get(at).map(cells)
    }

    /// Adds time line `at` to a sum if it has no baseline, as is usual; returns false, and adds nothing, if
    /// it has one. Cell by cell, because a copy that is written in words and read in larger pieces costs more
    /// than all the rest (14 of 20 ns, measured on Zen 4).
    #[inline]
    pub fn add_plain(&self, kind: Kind, at: usize, line: &Line, sum: &mut Cells) -> bool {
        let [count, contended, ticks] = [COUNT, CONTENDED, SUM].map(|i| line.get(i));
        let [min, max, extra] = [MIN, MAX, EXTRA].map(|i| line.get(i));
        // See `base` for the order.
        fence(Ordering::Acquire);
        let covered = self.base_used.load(Ordering::Acquire) as usize;
        if at < covered || self.truncated.is_some() {
            return false;
        }
        sum[COUNT] = sum[COUNT].wrapping_add(count);
        sum[CONTENDED] = sum[CONTENDED].wrapping_add(contended);
        sum[SUM] = sum[SUM].wrapping_add(ticks);
        if max != 0 || min != 0 {
            sum[MIN] = sum[MIN].min(min);
            sum[MAX] = sum[MAX].max(max);
        }
        sum[EXTRA] = match kind {
            Kind::Statement => sum[EXTRA].max(extra),
            _ => sum[EXTRA].wrapping_add(extra),
        };
        true
    }

    /// The value of time line `at`, whose cells are `now`. `histogram` returns its events since the
    /// truncation, if they are needed.
    #[inline]
    pub fn time_line(
        &self,
        kind: Kind,
        at: usize,
        now: Cells,
        histogram: impl FnOnce() -> Histogram,
    ) -> Cells {
        fence(Ordering::Acquire);
        let base = self.base(at);
        let truncated = self.truncated(at);
        if base.is_none() && truncated.is_none() {
            return now;
        }
        let mut cells = now;
        let mut from = [0; CELLS];
        match base {
            Some(base) if self.of_thread => from = base,
            Some(base) => combine_extremes(&mut cells, &base),
            None => {}
        }
        let began_at = from[COUNT];
        if let Some(then) = truncated {
            for (from, then) in from.iter_mut().zip(then) {
                *from = (*from).max(then);
            }
        }
        for i in [COUNT, CONTENDED, SUM] {
            cells[i] = now[i].saturating_sub(from[i]);
        }
        if kind != Kind::Statement {
            cells[EXTRA] = now[EXTRA].saturating_sub(from[EXTRA]);
        }
        // A truncation before the thread began is in base already.
        if let Some(then) = truncated.filter(|then| then[COUNT] > began_at) {
            extremes_since(kind, &mut cells, &then, histogram);
        }
        cells
    }

    /// The value of time line `at`, whose cells were `then` (with all threads' extremes) when sums by thread
    /// were frozen, and are `live` now.
    pub fn frozen_time_line(
        &self,
        kind: Kind,
        at: usize,
        then: Cells,
        live: Cells,
        histogram: impl Fn() -> Histogram,
    ) -> Cells {
        fence(Ordering::Acquire);
        let base = self.base(at).filter(|_| self.of_thread);
        let mut counted = then;
        let mut from = base.unwrap_or_default();
        let began_at = from[COUNT];
        let truncated = self.truncated(at);
        for (from, then) in from.iter_mut().zip(truncated.unwrap_or_default()) {
            *from = (*from).max(then);
        }
        for i in [COUNT, CONTENDED, SUM] {
            counted[i] = then[i].saturating_sub(from[i]);
        }
        if kind != Kind::Statement {
            counted[EXTRA] = then[EXTRA].saturating_sub(from[EXTRA]);
        }
        if counted[COUNT] == 0 {
            (counted[MIN], counted[MAX]) = (NO_MIN, 0);
            return counted;
        }
        if base.is_some() {
            // The extremes of one of several threads are only in the line, with those since.
            (counted[MIN], counted[MAX]) = (live[MIN], live[MAX]);
            if live[COUNT] != then[COUNT] {
                let mut any = EMPTY_TIME_LINE;
                (any[MIN], any[MAX]) = (0, u64::MAX);
                extremes_since(kind, &mut counted, &any, &histogram);
            }
        }
        if let Some(then) = truncated.filter(|then| then[COUNT] > began_at) {
            extremes_since(kind, &mut counted, &then, histogram);
        }
        counted
    }

    /// The value of a line that counts no times: a statement's counters.
    pub fn counter_line(&self, at: usize, now: Cells) -> Cells {
        fence(Ordering::Acquire);
        let base = self.base(at).filter(|_| self.of_thread);
        let truncated = self.truncated(at);
        let mut cells = now;
        for (i, cell) in cells.iter_mut().enumerate().skip(1) {
            let of = |baseline: Option<Cells>| baseline.map_or(0, |baseline| baseline[i]);
            *cell = cell.saturating_sub(of(base).max(of(truncated)));
        }
        cells
    }

    /// The value of an error's line. When the error was first raised since a truncation is not known: the
    /// earlier time remains.
    pub fn error_line(&self, at: usize, now: Cells) -> Cells {
        let mut cells = self.counter_line(at, now);
        for i in [error::FIRST_SEEN, error::LAST_SEEN] {
            let counted = cells[error::RAISED] != 0 || cells[error::HANDLED] != 0;
            cells[i] = if counted { now[i] } else { 0 };
        }
        cells
    }

    /// The values of the two lines of a memory class, whose cells are `now`.
    ///
    /// Memory in use stays in use when its table is truncated: as many allocations and frees are subtracted
    /// as there were frees, as in MySQL. One bank's values may be negative, because another thread may free
    /// memory; they wrap, and the sum over banks is correct.
    pub fn memory_lines(&self, at: usize, now: [Cells; 2]) -> [Cells; 2] {
        fence(Ordering::Acquire);
        let two = |first: Option<Cells>, second: Option<Cells>| Some([first?, second?]);
        let base = two(self.base(at), self.base(at + 1)).filter(|_| self.of_thread);
        let truncated = two(self.truncated(at), self.truncated(at + 1));
        let mut rows = now;
        let start = base.unwrap_or([[0; CELLS]; 2]);
        for (mark, (alloc, free)) in BALANCES.into_iter().enumerate() {
            // A thread's own figures begin at its base.
            let own = |i: usize| now[0][i].wrapping_sub(start[0][i]);
            let forgotten = truncated.map_or(0, |then| {
                then[0][free]
                    .max(start[0][free])
                    .wrapping_sub(start[0][free])
            });
            rows[0][alloc] = own(alloc).wrapping_sub(forgotten);
            rows[0][free] = own(free).wrapping_sub(forgotten);
            // A mark that has not changed is older than the truncation. Then only the bytes in use at the
            // truncation and now are known.
            let used = own(alloc).wrapping_sub(own(free)) as i64;
            let used_before = start[0][alloc].wrapping_sub(start[0][free]);
            let since = truncated.filter(|then| then[0][alloc] >= start[0][alloc]);
            let used_then = since.map_or(0, |then| {
                let used = then[0][alloc].wrapping_sub(then[0][free]);
                used.wrapping_sub(used_before) as i64
            });
            let marks = [
                (0, HIGH[mark], used.max(used_then)),
                (1, LOW[mark], used.min(used_then)),
            ];
            for (line, cell, fallback) in marks {
                let mut before = [base, truncated].into_iter().flatten();
                rows[line][cell] = match before.any(|then| then[line][cell] == now[line][cell]) {
                    true => fallback as u64,
                    false => now[line][cell].wrapping_sub(used_before),
                };
            }
        }
        for cell in memory::SAMPLED..=memory::BYTES_VARIANCE {
            // Memory in use stays in use when its table is truncated, and so does the variance of its
            // estimate.
            rows[1][cell] = now[1][cell].wrapping_sub(start[1][cell]);
        }
        rows
    }
}

/// The cells of allocations and frees: counts, then bytes.
const BALANCES: [(usize, usize); 2] = [
    (memory::ALLOC_COUNT, memory::FREE_COUNT),
    (memory::ALLOC_BYTES, memory::FREE_BYTES),
];
/// Their high marks, in the first line.
const HIGH: [usize; 2] = [memory::HIGH_COUNT, memory::HIGH_BYTES];
/// Their low marks, in the second.
const LOW: [usize; 2] = [memory::LOW_COUNT, memory::LOW_BYTES];

/// Corrects the extremes of a line that was truncated: `cells` has them of all time.
#[cold]
fn extremes_since(
    kind: Kind,
    cells: &mut Cells,
    then: &Cells,
    histogram: impl FnOnce() -> Histogram,
) {
    let timed = if kind.is_lock() { EXTRA } else { COUNT };
    if cells[timed] == 0 {
        (cells[MIN], cells[MAX]) = (NO_MIN, 0);
        return;
    }
    // `then` has counted something, so its extremes are known where anything was timed.
    let (min_is_old, max_is_old) = (cells[MIN] >= then[MIN], cells[MAX] <= then[MAX]);
    if !min_is_old && !max_is_old {
        return;
    }
    let histogram = histogram();
    // A thread's newest time may not be in its histogram yet, so the average also bounds the extremes.
    let average = cells[SUM] / cells[timed];
    if min_is_old {
        let bound = histogram.lowest().unwrap_or(0);
        cells[MIN] = cells[MIN].max(bound).min(average);
    }
    if max_is_old {
        let bound = histogram.highest().unwrap_or(u64::MAX);
        let above = average.saturating_add(u64::from(!cells[SUM].is_multiple_of(cells[timed])));
        cells[MAX] = cells[MAX].min(cells[SUM]).min(bound.max(above));
    }
}

/// Adds line `i` of a row to a sum.
#[inline]
pub fn add(kind: Kind, i: usize, sum: &mut Cells, line: &Cells) {
    if kind.is_time_line(i) {
        for cell in [COUNT, CONTENDED, SUM] {
            sum[cell] = sum[cell].wrapping_add(line[cell]);
        }
        sum[EXTRA] = match kind {
            // The time of the last one.
            Kind::Statement => sum[EXTRA].max(line[EXTRA]),
            _ => sum[EXTRA].wrapping_add(line[EXTRA]),
        };
        combine_extremes(sum, line);
        return;
    }
    if kind == Kind::Error {
        for cell in [error::RAISED, error::HANDLED] {
            sum[cell] = sum[cell].wrapping_add(line[cell]);
        }
        let (first, other) = (sum[error::FIRST_SEEN], line[error::FIRST_SEEN]);
        sum[error::FIRST_SEEN] = match (first, other) {
            (0, one) | (one, 0) => one,
            (one, other) => one.min(other),
        };
        sum[error::LAST_SEEN] = sum[error::LAST_SEEN].max(line[error::LAST_SEEN]);
        return;
    }
    for (sum, cell) in sum.iter_mut().zip(line).skip(1) {
        *sum = sum.wrapping_add(*cell);
    }
}

/// Lowers a minimum and raises a maximum by those of another line. A line of zeros has none.
#[inline]
pub fn combine_extremes(sum: &mut Cells, line: &Cells) {
    if line[MAX] != 0 || line[MIN] != 0 {
        sum[MIN] = sum[MIN].min(line[MIN]);
        sum[MAX] = sum[MAX].max(line[MAX]);
    }
}

/// Subtracts an earlier reading from a sum.
pub(crate) fn subtract(kind: Kind, i: usize, line: &mut Cells, before: &Cells) {
    if kind.is_time_line(i) {
        for cell in [COUNT, CONTENDED, SUM] {
            line[cell] = line[cell].saturating_sub(before[cell]);
        }
        if kind != Kind::Statement {
            line[EXTRA] = line[EXTRA].saturating_sub(before[EXTRA]);
        }
        if line[MIN] >= before[MIN] {
            line[MIN] = NO_MIN;
        }
        if line[MAX] <= before[MAX] {
            line[MAX] = 0;
        }
    } else if kind == Kind::Error {
        for cell in [error::RAISED, error::HANDLED] {
            line[cell] = line[cell].saturating_sub(before[cell]);
        }
    } else if kind == Kind::Memory {
        if i == 0 {
            for cell in memory::ALLOC_COUNT..=memory::FREE_BYTES {
                line[cell] = line[cell].wrapping_sub(before[cell]);
            }
        }
    } else {
        for (cell, before) in line.iter_mut().zip(before).skip(1) {
            *cell = cell.saturating_sub(*before);
        }
    }
}
