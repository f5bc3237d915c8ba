//! Times of a connection that has no account yet. They enter their histograms when it has one, so that what it counted
//! before is moved to a bank of the account without histograms.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use tare_layout::bank::line_of;
use tare_layout::line::{LINE_BYTES, Line, TAG, Tag};

use super::local::Local;

/// How many wait. Where there are more, all enter their histograms at once.
const PENDING: usize = 16;

/// Times that are counted, but for their histograms.
#[derive(Default)]
pub(crate) struct Pending {
    count: Cell<usize>,
    times: [Time; PENDING],
}

struct Time {
    line: Cell<*const Line>,
    class: Cell<u16>,
    weight: Cell<u16>,
    ticks: Cell<u64>,
}

impl Default for Time {
    fn default() -> Self {
        Self {
            line: Cell::new(std::ptr::null()),
            class: Cell::default(),
            weight: Cell::default(),
            ticks: Cell::default(),
        }
    }
}

impl Time {
    fn set(&self, line: *const Line, class: u16, ticks: u64, weight: u16) {
        self.line.set(line);
        self.class.set(class);
        self.ticks.set(ticks);
        self.weight.set(weight);
    }
}

impl Local {
    /// Keeps a time for later, while [`Self::defers_times`] says so.
    #[cold]
    pub(super) fn defer(&self, class: u16, line: &Line, ticks: u64, weight: u16) {
        let count = self.pending.count.get();
        match self.pending.times.get(count) {
            Some(time) => {
                time.set(line, class, ticks, weight);
                self.pending.count.set(count + 1);
            }
            None => {
                self.settle();
                self.count_in_histogram(class, line, ticks, weight);
            }
        }
    }

    /// Counts the times that wait into their histograms; none waits from here on.
    pub fn settle(&self) {
        self.defers_times.set(false);
        for time in &self.pending.times[..self.pending.count.replace(0)] {
            // SAFETY: a line of a class in the present bank's arena: where that changes, `follow_rows` is called.
            let line = unsafe { &*time.line.get() };
            let (ticks, weight) = (time.ticks.get(), time.weight.get());
            self.count_in_histogram(time.class.get(), line, ticks, weight);
        }
    }

    /// The times that wait are of rows that were moved to the present bank from this one.
    pub fn follow_rows(&self, from: usize) {
        let view = &self.engine.view;
        let (index, arena) = (view.class_index(from), view.arena(from));
        let mut kept = 0;
        for time in &self.pending.times[..self.pending.count.get()] {
            let (line, class) = (time.line.get(), time.class.get());
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
            self.pending.times[kept].set(line, class, time.ticks.get(), time.weight.get());
            kept += 1;
        }
        self.pending.count.set(kept);
    }
}
