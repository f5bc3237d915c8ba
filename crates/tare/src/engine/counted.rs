//! Counters of a running statement.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tare_layout::class::{COUNTERS, counter_cell};

/// Line and cell of each counter, so that finding them needs no division.
const CELLS_OF: [(usize, usize); COUNTERS] = {
    let mut all = [(0, 0); COUNTERS];
    let mut i = 0;
    while i < COUNTERS {
        all[i] = counter_cell(i);
        i += 1;
    }
    all
};

/// Counters of a statement, with a bit for each that was set, so that beginning and summing touch no
/// others.
#[derive(Default)]
#[repr(C)]
pub struct StatementCounters {
    /// By [`tare_layout::class::Counter`]; one that was not set holds the value of an earlier
    /// statement.
    counters: [Cell<u64>; COUNTERS],
    touched: Cell<u32>,
}

impl StatementCounters {
    /// Begins a statement.
    #[inline(always)]
    pub fn clear(&self) {
        self.touched.set(0);
    }

    /// Whether the statement has set a counter.
    #[inline(always)]
    pub fn touched(&self, i: usize) -> bool {
        self.touched.get() & 1 << i != 0
    }

    /// Replaces a counter. Returns its new value.
    #[inline(always)]
    pub fn change(&self, i: usize, new: impl FnOnce(u64) -> u64) -> u64 {
        let touched = self.touched.get();
        let old = if touched & 1 << i != 0 {
            self.counters[i].get()
        } else {
            0
        };
        let new = new(old);
        self.counters[i].set(new);
        self.touched.set(touched | 1 << i);
        new
    }

    /// Calls `add` with line, cell and value of each counter that was set.
    #[inline(always)]
    pub fn each(&self, mut add: impl FnMut(usize, usize, u64)) {
        self.each_number(|i, n| {
            let (line, cell) = CELLS_OF[i];
            add(line, cell, n);
        });
    }

    /// The same with its number and value.
    #[inline(always)]
    pub fn each_number(&self, mut add: impl FnMut(usize, u64)) {
        let mut left = self.touched.get();
        while left != 0 {
            let i = left.trailing_zeros() as usize % COUNTERS;
            left &= left - 1;
            add(i, self.counters[i].get());
        }
    }
}

/// Counters of a statement that threads may share.
#[derive(Default)]
#[repr(C)]
pub struct SharedCounters {
    counters: [AtomicU64; COUNTERS],
    touched: AtomicU32,
}

impl SharedCounters {
    /// A counter, which is to be set now.
    #[inline(always)]
    pub fn touch(&self, i: usize) -> &AtomicU64 {
        if self.touched.load(Ordering::Relaxed) & 1 << i == 0 {
            self.touched.fetch_or(1 << i, Ordering::Relaxed);
        }
        &self.counters[i]
    }

    /// The counters, which no other thread refers to.
    #[inline(always)]
    pub fn exclusive(&mut self) -> &StatementCounters {
        // SAFETY: both have the same fields in the same order; an atomic integer is laid out as its integer,
        // as is a cell; and this is the only reference.
        unsafe { &*std::ptr::from_mut(self).cast::<StatementCounters>() }
    }
}

const _: () = assert!(size_of::<SharedCounters>() == size_of::<StatementCounters>());
