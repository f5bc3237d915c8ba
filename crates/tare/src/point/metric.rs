//! Counting into metrics, and switching them.

use tare_layout::metric_switch::{self, Action};

use crate::engine::{clock, hot};
use crate::metric::Metric;

impl Metric {
    /// Registers the metric in the segment that records now, if one does; else it happens when it is
    /// first used. For metrics that [`metrics!`](crate::metrics) did not declare.
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

    /// Whether it is gathered now: asked before something is measured for it alone.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        hot::local().is_some_and(|local| local.gathers(self))
    }
}

/// How many metrics are meant, and how many of them were disabled.
fn act(asked: &str, action: Action) -> (usize, usize) {
    let now_s = clock::unix_ns() / 1_000_000_000;
    hot::with_running(|engine| metric_switch::act_on(engine.view, asked, action, now_s))
        .unwrap_or_default()
}

/// Gathers metrics from now on; how many are meant, 0 if Tare does not run.
///
/// `asked` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn enable(asked: &str) -> usize {
    act(asked, Action::Enable).0
}

/// Gathers metrics no more; how many are meant.
///
/// `asked` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn disable(asked: &str) -> usize {
    act(asked, Action::Disable).0
}

/// Begins the `_RESET` figures of metrics anew; how many are meant.
///
/// `asked` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn reset(asked: &str) -> usize {
    act(asked, Action::Reset).0
}

/// Begins all figures of metrics anew that are disabled; how many were.
///
/// `asked` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
pub fn reset_all(asked: &str) -> usize {
    act(asked, Action::ResetAll).1
}
