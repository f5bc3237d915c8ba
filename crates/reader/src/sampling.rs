//! Sampling: its settings, and the samples from which the estimates' errors are computed.

use std::sync::atomic::Ordering;

use tare_layout::View;
use tare_layout::sampling::{GROUPS, Rule, Sample};

use crate::attach::Segment;
use crate::error::WriteError;
use crate::settings::gone_error;
use crate::totals::Selection;

impl Segment {
    /// Sets how the events of a group (of [`tare_layout::sampling`]) are sampled. Events that run keep their
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

    /// Truncates the samples of classes whose summaries by event name were truncated.
    pub(crate) fn truncate_samples(&self, selection: &Selection) -> Result<(), WriteError> {
        let view = self.writable()?;
        if !was_sampled(view) {
            return Ok(());
        }
        for class in (0..view.geometry().limits.classes).filter(|class| selection.has(*class)) {
            let now = total_sample(view, class);
            if now != Sample::default() {
                now.store(view.samples_truncated(class));
            }
        }
        Ok(())
    }
}

/// Whether events were ever sampled. If not, there are no samples, and reading them would allocate their pages.
pub fn was_sampled(view: View<'_>) -> bool {
    view.control().sampling_version.load(Ordering::Relaxed) != 0
}

fn total_sample(view: View<'_>, class: usize) -> Sample {
    Sample::read(&view.sample(class).cells)
}

/// The samples of a class since its summaries by event name were truncated.
pub fn class_sample(view: View<'_>, class: usize) -> Sample {
    if !was_sampled(view) || class >= view.geometry().limits.classes {
        return Sample::default();
    }
    let before = Sample::read(&view.samples_truncated(class).cells);
    total_sample(view, class).since(before)
}
