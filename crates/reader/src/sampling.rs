//! Sampling: how events are sampled, changed as any setting, and what is known of the estimates' errors.

use std::sync::atomic::Ordering;

use tare_layout::View;
use tare_layout::sampling::{GROUPS, Rule, Sample};

use crate::attach::Segment;
use crate::error::WriteError;
use crate::settings::gone_error;
use crate::totals::Selection;

impl Segment {
    /// How the events of a group (of [`tare_layout::sampling`]) are sampled. Events that run keep their
    /// weight.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn set_sampling(&self, group: usize, rule: Rule) -> Result<(), WriteError> {
        if group >= GROUPS {
            return Err(gone_error("event type", group as u64));
        }
        self.change(|view| view.control().set_rule(group, rule))
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

/// Whether anything was ever sampled: as long as nothing was, there are no samples, and reading them would
/// make their pages.
pub fn was_sampled(view: View<'_>) -> bool {
    view.control().sampling_version.load(Ordering::Relaxed) != 0
}

fn of_all_time(view: View<'_>, class: usize) -> Sample {
    Sample::read(&view.sample(class).cells)
}

/// What was observed of a class since its summaries by event name were truncated.
pub fn of_class(view: View<'_>, class: usize) -> Sample {
    if !was_sampled(view) || class >= view.geometry().limits.classes {
        return Sample::default();
    }
    let before = Sample::read(&view.samples_truncated(class).cells);
    of_all_time(view, class).since(before)
}
