//! Counting into metrics, and switching them.

use tare_layout::metric_switch::{self, Action};

use crate::engine::{clock, hot};
use crate::metric::Metric;
use crate::payload::IS_COMPILED_IN;

impl Metric {
    /// Registers the metric in the segment that records now, if one does; otherwise it is registered
    /// when it is first used. For metrics that [`metrics!`](crate::metrics!) did not declare.
    pub fn register(&self) {
        hot::with(|engine| {
            engine.register_metric(self);
        });
    }

    /// Adds to a counter.
    #[inline(always)]
    pub fn add(&self, n: u64) {
        if let Some(local) = hot::local() {
            local.add_metric(self, n);
        }
    }

    /// Sets a value.
    #[inline]
    pub fn set(&self, value: i64) {
        if let Some(local) = hot::local() {
            local.set_metric(self, value);
        }
    }

    /// Whether it is gathered now: for hosts that measure something for it only.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        hot::local().is_some_and(|local| local.gathers(self))
    }
}

/// Returns how many metrics are selected, and for how many of them the action was possible.
fn act(selector: &str, action: Action) -> (usize, usize) {
    if !IS_COMPILED_IN {
        return (0, 0);
    }
    let now_s = clock::unix_ns() / 1_000_000_000;
    hot::with_running(|engine| metric_switch::act_on(engine.view, selector, action, now_s))
        .unwrap_or_default()
}

/// Gathers metrics from now on. Returns how many are selected, 0 if Tare does not run.
///
/// `selector` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn enable(selector: &str) -> usize {
    act(selector, Action::Enable).0
}

/// Stops gathering metrics. Returns how many are selected.
///
/// `selector` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn disable(selector: &str) -> usize {
    act(selector, Action::Disable).0
}

/// Restarts the `_RESET` figures of metrics. Returns how many are selected.
///
/// `selector` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn reset(selector: &str) -> usize {
    act(selector, Action::Reset).0
}

/// Restarts all figures of those metrics that are disabled. Returns how many are.
///
/// `selector` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn reset_all(selector: &str) -> usize {
    act(selector, Action::ResetAll).1
}
