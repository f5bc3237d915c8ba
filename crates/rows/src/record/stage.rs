//! A row of events_stages_*.

use super::event::{Event, HasEvent};

/// A stage.
#[derive(Debug, Clone, Default)]
pub struct Stage {
    /// The common columns.
    pub event: Event,
    /// WORK_COMPLETED.
    pub work_completed: Option<u64>,
    /// WORK_ESTIMATED.
    pub work_estimated: Option<u64>,
}

impl HasEvent for Stage {
    fn event(&self) -> &Event {
        &self.event
    }
}
