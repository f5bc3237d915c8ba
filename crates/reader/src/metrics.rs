//! The current values of metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tare_layout::View;
use tare_layout::metric::{State, extremes};

pub use tare_layout::metric::Type;
use tare_layout::metric_switch;
pub use tare_layout::metric_switch::Action;

use crate::attach::Segment;
use crate::error::WriteError;

/// Figures of a metric, of all time or since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// COUNT.
    pub count: i64,
    /// MAX_COUNT; `None` = nothing was counted.
    pub max: Option<i64>,
    /// MIN_COUNT; counters have none.
    pub min: Option<i64>,
    /// AVG_COUNT: a counter's count per second.
    pub average: Option<f64>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its subsystem.
    pub subsystem: String,
    /// One sentence about it.
    pub documentation: String,
    /// Its type.
    pub kind: Type,
    /// Whether it is gathered.
    pub enabled: bool,
    /// Since it was first gathered.
    pub ever: Figures,
    /// Since it was reset.
    pub since_reset: Figures,
    /// Seconds since 1970 when it was switched on.
    pub enabled_s: Option<u64>,
    /// Seconds since 1970 when it was switched off.
    pub disabled_s: Option<u64>,
    /// Seconds that it has been gathered since it was switched on.
    pub elapsed_s: Option<u64>,
    /// Seconds since 1970 when it was reset.
    pub reset_s: Option<u64>,
}

/// All metrics, in the order in which they were registered.
pub fn metrics(view: View<'_>) -> Vec<Metric> {
    let now_s = now_s();
    (1..metric_switch::used(view))
        .filter_map(|number| read_metric(view, number, now_s))
        .collect()
}

fn read_metric(view: View<'_>, number: usize, now_s: u64) -> Option<Metric> {
    let entry = view.metric(number);
    let kind = Type::from_u32(entry.kind.load(Ordering::Acquire))?;
    let text = |get: &dyn Fn(&mut [u8]) -> usize| {
        let mut bytes = [0; 192];
        let length = get(&mut bytes);
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let state = view.metric_state(number);
    let enabled = view.metric_flags()[number].load(Ordering::Relaxed) != 0;
    let time = |cell: &AtomicU64| Some(cell.load(Ordering::Relaxed)).filter(|t| *t != 0);
    let (enabled_s, disabled_s) = (time(&state.enabled_s), time(&state.disabled_s));
    let reset_s = time(&state.reset_s);
    let until = if enabled { Some(now_s) } else { disabled_s };
    let seconds = |from: Option<u64>| Some(until?.saturating_sub(from?));
    let elapsed_s = seconds(enabled_s);
    // A set's member has a value if it was set, else a count.
    let was_set = state.extremes.load(Ordering::Relaxed) & extremes::EVER != 0;
    let (ever, since_reset) = if kind == Type::Value || (kind == Type::SetMember && was_set) {
        value_figures(state)
    } else {
        let total = metric_switch::total(view, number);
        let since = |base: &AtomicU64| total.wrapping_sub(base.load(Ordering::Relaxed)) as i64;
        (
            counter_figures(since(&state.base), elapsed_s),
            counter_figures(since(&state.base_reset), seconds(reset_s.or(enabled_s))),
        )
    };
    Some(Metric {
        name: text(&|out| entry.name.get(out).len()),
        subsystem: text(&|out| entry.subsystem.get(out).len()),
        documentation: text(&|out| entry.documentation.get(out).len()),
        kind,
        enabled,
        ever,
        since_reset,
        enabled_s,
        disabled_s,
        elapsed_s,
        reset_s,
    })
}

/// The figures of a counter. It only grows, so its largest count is the last.
fn counter_figures(count: i64, seconds: Option<u64>) -> Figures {
    Figures {
        count,
        max: (count != 0).then_some(count),
        min: None,
        average: seconds.filter(|s| *s > 0).map(|s| count as f64 / s as f64),
    }
}

fn value_figures(state: &State) -> (Figures, Figures) {
    let bits = state.extremes.load(Ordering::Relaxed);
    let count = state.value.load(Ordering::Relaxed) as i64;
    let figures = |bit: u32, high: &AtomicU64, low: &AtomicU64| {
        let extreme =
            |cell: &AtomicU64| (bits & bit != 0).then(|| cell.load(Ordering::Relaxed) as i64);
        Figures {
            count,
            max: extreme(high),
            min: extreme(low),
            average: None,
        }
    };
    (
        figures(extremes::EVER, &state.high, &state.low),
        figures(extremes::RESET, &state.high_reset, &state.low_reset),
    )
}

fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

impl Segment {
    /// Switches or resets the selected metrics: `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
    /// Returns how many are selected, and for how many of them that was possible: an enabled metric cannot be
    /// reset in all its figures.
    ///
    /// # Errors
    /// [`WriteError`]: the writer has ended or is another user's.
    pub fn act_on_metrics(
        &self,
        selection: &str,
        action: Action,
    ) -> Result<(usize, usize), WriteError> {
        let view = self.writable()?;
        Ok(metric_switch::act_on(view, selection, action, now_s()))
    }
}
