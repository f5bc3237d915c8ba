//! Metrics: their numbers, and how a thread counts into its row.

use std::sync::atomic::Ordering;

use tare_layout::metric::State;
use tare_layout::metric_switch::{self, Action};
use tare_layout::primitive::bump;
use tare_layout::shared::Lost;

use super::clock;
use super::local::Local;
use super::state::Engine;
use crate::metric::{METRICS, Metric};
use crate::number::NO_NUMBER;

impl Engine {
    /// Registers all declared metrics.
    pub(super) fn place_metrics(&self) {
        self.view
            .shared()
            .metrics_used
            .0
            .store(1, Ordering::Relaxed);
        for metric in METRICS {
            self.register_metric(metric);
        }
    }

    /// Registers a metric. Returns its number, or number 0, which is never gathered, at the limit.
    #[cold]
    pub fn register_metric(&self, metric: &Metric) -> u16 {
        let _one_at_a_time = self.lock(&self.registering);
        if let Some(number) = metric.number.get(self.generation()) {
            return number;
        }
        let number = self.place_metric(metric);
        metric.number.set(self.generation(), number);
        number
    }

    fn place_metric(&self, metric: &Metric) -> u16 {
        let used = &self.view.shared().metrics_used.0;
        let count = used.load(Ordering::Relaxed) as usize;
        // Two statics of the same name are one metric.
        for i in 1..count {
            if self.view.metric(i).name.is(metric.name()) {
                return i as u16;
            }
        }
        if count == self.view.geometry().limits.metrics {
            self.lose(Lost::Metrics, 1);
            return NO_NUMBER;
        }
        let entry = self.view.metric(count);
        entry.name.set(metric.name());
        entry.subsystem.set(metric.subsystem());
        entry.documentation.set(metric.documentation());
        if metric.enabled_by_default() {
            let now_s = clock::unix_ns() / 1_000_000_000;
            metric_switch::act(self.view, count, Action::Enable, now_s);
        }
        // Last: from here on readers list it.
        entry.kind.store(metric.kind() as u32, Ordering::Release);
        used.store(count as u32 + 1, Ordering::Release);
        count as u16
    }
}

impl Local {
    #[inline(always)]
    fn metric_number(&self, metric: &Metric) -> usize {
        let number = match metric.number.get((self.key >> 32) as u32) {
            Some(number) => number,
            None => self.register_metric(metric),
        };
        usize::from(number)
    }

    #[cold]
    #[inline(never)]
    fn register_metric(&self, metric: &Metric) -> u16 {
        self.begin_creation()
            .map_or(NO_NUMBER, |_creation| self.engine.register_metric(metric))
    }

    #[inline(always)]
    fn gathers_number(&self, number: usize) -> bool {
        // SAFETY: the engine of this local gave the number, which is below the limit of metrics and so
        // below the number of flags; the engine keeps them mapped.
        unsafe { &*self.metric_flags.add(number) }.load(Ordering::Relaxed) != 0
    }

    /// Whether a metric is gathered.
    #[inline(always)]
    pub fn gathers(&self, metric: &Metric) -> bool {
        self.gathers_number(self.metric_number(metric))
    }

    /// Adds to a counter, if it is gathered.
    #[inline(always)]
    pub fn add_metric(&self, metric: &Metric, n: u64) {
        let number = self.metric_number(metric);
        if self.gathers_number(number) {
            // SAFETY: as above; a slot's row has as many cells. Only the thread that has the slot,
            // which is this one, writes it.
            bump(unsafe { &*self.metric_row.add(number) }, n);
        }
    }

    /// Sets a value, if it is gathered.
    #[inline]
    pub fn set_metric(&self, metric: &Metric, value: i64) {
        let number = self.metric_number(metric);
        if self.gathers_number(number) {
            let state: &State = self.engine.view.metric_state(number);
            state.set(value);
        }
    }
}
