//! Times of a connection without an account. They enter histograms when it gets one, so that its
//! earlier counts are moved to a bank of the account without histograms.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use tare_layout::bank::line_of;
use tare_layout::line::{LINE_BYTES, Line, TAG, Tag};

use super::local::Local;

/// The most times that wait. If there are more, all enter their histograms at once.
const MAX_DEFERRED: usize = 16;

/// Times that are counted, but not in histograms.
#[derive(Default)]
pub(crate) struct Pending {
    count: Cell<usize>,
    times: [Time; MAX_DEFERRED],
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
    /// Defers a time, while [`Self::defers_times`] is set.
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

    /// Counts the deferred times into their histograms. From here on none is deferred.
    pub fn settle(&self) {
        self.defers_times.set(false);
        for time in &self.pending.times[..self.pending.count.replace(0)] {
            // SAFETY: a line of a class in the present bank's arena: `follow_rows` is called when the
            // bank changes.
            let line = unsafe { &*time.line.get() };
            let (ticks, weight) = (time.ticks.get(), time.weight.get());
            self.count_in_histogram(time.class.get(), line, ticks, weight);
        }
    }

    /// Points the deferred times to the present bank, to which the rows of bank `from` were moved.
    pub fn follow_rows(&self, from: usize) {
        let view = &self.engine.view;
        let (index, arena) = (view.class_index(from), view.arena(from));
        let mut count = 0;
        for time in &self.pending.times[..self.pending.count.get()] {
            let (line, class) = (time.line.get(), time.class.get());
            let row = line_of(index[usize::from(class)].load(Ordering::Relaxed));
            let within = line.addr().wrapping_sub(arena[row..].as_ptr().addr()) / LINE_BYTES;
            // If its row was not moved, that was counted as lost.
            let first = self
                .existing_row(class)
                .filter(|first| Tag::unpack(first.get(TAG)).is_some_and(|tag| within < tag.lines));
            let Some(first) = first else {
                continue;
            };
            // SAFETY: within the consecutive lines of this row.
            let line = unsafe { std::ptr::from_ref(first).add(within) };
            self.pending.times[count].set(line, class, time.ticks.get(), time.weight.get());
            count += 1;
        }
        self.pending.count.set(count);
    }
}
