//! Counters of a statement, and its error.

use tare_layout::class::Counter;
use tare_layout::event::statement as at;

use super::Statement;
use crate::engine::hot::still;
use crate::point::{error, text};

/// Methods that set one counter each, by `set`: those of statements, also of tasks.
macro_rules! counter_setters {
    () => {
        /// Sets the number of rows that the client got.
        #[inline]
        pub fn rows_sent(&self, rows: u64) {
            self.set(Counter::RowsSent, rows);
        }

        /// Sets the number of rows that were read.
        #[inline]
        pub fn rows_examined(&self, rows: u64) {
            self.set(Counter::RowsExamined, rows);
        }

        /// Sets the number of rows that were inserted, changed or deleted.
        #[inline]
        pub fn rows_affected(&self, rows: u64) {
            self.set(Counter::RowsAffected, rows);
        }

        /// Sets the number of warnings.
        #[inline]
        pub fn warnings(&self, warnings: u64) {
            self.set(Counter::Warnings, warnings);
        }
    };
}
pub(crate) use counter_setters;

impl Statement {
    /// Sets a counter. [`Counter::LockTime`] is in ticks: [`lock_time_us`](Self::lock_time_us) takes
    /// microseconds.
    #[inline]
    pub fn set(&self, counter: Counter, value: u64) {
        self.change([(counter, value)], |_, n| n);
    }

    /// Sets those of several counters that are not zero: what a host knows when a statement ends.
    #[inline]
    pub fn set_all(&self, counters: impl IntoIterator<Item = (Counter, u64)>) {
        self.change(counters.into_iter().filter(|(_, n)| *n != 0), |_, n| n);
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&self, counter: Counter, n: u64) {
        self.change([(counter, n)], u64::wrapping_add);
    }

    #[inline(always)]
    fn change(
        &self,
        counters: impl IntoIterator<Item = (Counter, u64)>,
        new: impl Fn(u64, u64) -> u64,
    ) {
        let Some(running) = self.running.get() else {
            return;
        };
        let Some(local) = still(running.local, running.key) else {
            return;
        };
        // SAFETY: it is in that local.
        let (counted, record) = (unsafe { &*running.counted }, running.record(local));
        for (counter, n) in counters {
            let i = counter as usize;
            let value = counted.change(i, |old| new(old, n));
            if let Some(record) = record {
                record.set(at::COUNTERS + i, value);
            }
        }
    }

    counter_setters!();

    /// Removes its SQLSTATE: MySQL's statements that return rows have none. Others that succeed have 00000.
    #[inline]
    pub fn end_without_sqlstate(&self) {
        if let Some(running) = self.running.get()
            && let Some(local) = still(running.local, running.key)
            && let Some(record) = running.record(local)
        {
            record.set(at::SQLSTATE, at::NO_SQLSTATE);
        }
    }

    /// Records that it failed, with MySQL's error number, SQLSTATE (five characters) and the message, and
    /// counts the error.
    #[cold]
    pub fn error(&self, errno: u32, sqlstate: &str, message: &str) {
        error::raised(errno);
        self.failed(errno, sqlstate, message);
    }

    /// Records that it failed, as [`error`](Self::error) does. For hosts that [count](crate::error::raised)
    /// each error when it is raised.
    #[cold]
    pub fn failed(&self, errno: u32, sqlstate: &str, message: &str) {
        self.set(Counter::Errors, 1);
        let Some(running) = self.running.get() else {
            return;
        };
        let Some(local) = running.local() else {
            return running.failed_active();
        };
        if let Some(record) = running.record(local) {
            text::store_error(local, record, errno, sqlstate, message);
        }
    }
}
