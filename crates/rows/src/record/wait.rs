//! A row of events_waits_*.

use std::sync::Arc;

use super::event::{Event, HasEvent};

/// A wait.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Wait {
    /// The common columns.
    pub event: Event,
    pub spins: Option<u32>,
    pub object_schema: Option<Arc<str>>,
    /// OBJECT_NAME: a file's path, a socket's address, a table.
    pub object_name: Option<Arc<str>>,
    pub index_name: Option<Arc<str>>,
    pub object_type: Option<&'static str>,
    pub object_instance_begin: u64,
    pub operation: &'static str,
    pub number_of_bytes: Option<i64>,
    pub flags: Option<u32>,
}

impl HasEvent for Wait {
    fn event(&self) -> &Event {
        &self.event
    }
}
