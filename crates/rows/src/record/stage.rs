//! A row of events_stages_*.

use super::event::{Event, HasEvent};

/// A stage.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Stage {
    /// The common columns.
    pub event: Event,
    pub work_completed: Option<u64>,
    pub work_estimated: Option<u64>,
}

impl HasEvent for Stage {
    fn event(&self) -> &Event {
        &self.event
    }
}
