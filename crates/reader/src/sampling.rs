//! Sampling: how events are sampled, changed as any setting, and what is known of the estimates' errors.

use std::sync::atomic::Ordering;

use tare_layout::View;
use tare_layout::sampling::{GROUPS, Rule, Sample};

use crate::attach::Segment;
use crate::error::WriteError;
use crate::settings::gone;
use crate::time::Clock;
use crate::totals::Selection;

impl Segment {
    /// How the events of a group (of [`tare_layout::sampling`]) are sampled. Clusters that run keep their weight.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn set_sampling(&self, group: usize, rule: Rule) -> Result<(), WriteError> {
        if group >= GROUPS {
            return Err(gone("event type", group as u64));
        }
        self.change(|view| view.control().set_rule(group, rule))
    }

    /// From how many milliseconds on a statement is always kept in the table of digests; 0 = none is for that.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn set_slow_ms(&self, ms: u64) -> Result<(), WriteError> {
        self.change(|view| {
            let per_second = view.header().ticks_per_second.load(Ordering::Relaxed);
            let ticks = u128::from(per_second) * u128::from(ms) / 1000;
            let ticks = u64::try_from(ticks).unwrap_or(u64::MAX);
            view.control().slow_ticks.store(ticks, Ordering::SeqCst);
        })
    }

    /// Forgets what was observed of classes: their summaries by event name were truncated.
    pub(crate) fn forget_samples(&self, selection: &Selection) -> Result<(), WriteError> {
        let view = self.writable()?;
        if !was_sampled(view) {
            return Ok(());
        }
        for class in (0..view.geometry().limits.classes).filter(|class| selection.has(*class)) {
            let now = of_all_time(view, class);
            if now != Sample::default() {
                now.store(view.samples_truncated(class));
            }
        }
        Ok(())
    }
}

/// Whether anything was ever sampled: as long as nothing was, there are no samples, and reading them would make their
/// pages.
pub fn was_sampled(view: View<'_>) -> bool {
    view.control().sampling_version.load(Ordering::Relaxed) != 0
}

fn of_all_time(view: View<'_>, class: usize) -> Sample {
    let stripes = view.samples(class).iter();
    stripes.fold(Sample::default(), |sum, line| {
        sum.plus(Sample::read(&line.cells))
    })
}

/// What was observed of a class since its summaries by event name were truncated.
pub fn of_class(view: View<'_>, class: usize) -> Sample {
    if !was_sampled(view) || class >= view.geometry().limits.classes {
        return Sample::default();
    }
    let before = Sample::read(&view.samples_truncated(class).cells);
    of_all_time(view, class).since(before)
}

/// What was observed of a digest.
pub fn of_digest(view: View<'_>, id: usize) -> Sample {
    match view.geometry().limits.digests {
        digests if was_sampled(view) && id < digests => Sample::read(&view.digest(id).sampled),
        _ => Sample::default(),
    }
}

/// The threshold of [`Segment::set_slow_ms`], in milliseconds.
pub fn slow_ms(view: View<'_>, clock: &Clock) -> f64 {
    clock.ps(view.control().slow_ticks.load(Ordering::Relaxed)) as f64 / 1e9
}
