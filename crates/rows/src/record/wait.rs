//! A row of events_waits_*.

use std::sync::Arc;

use super::event::{Event, HasEvent};

/// A wait.
#[derive(Debug, Clone, Default)]
pub struct Wait {
    /// The common columns.
    pub event: Event,
    /// SPINS.
    pub spins: Option<u32>,
    /// OBJECT_SCHEMA.
    pub object_schema: Option<Arc<str>>,
    /// OBJECT_NAME: a file's path, a socket's address, a table.
    pub object_name: Option<Arc<str>>,
    /// INDEX_NAME.
    pub index_name: Option<Arc<str>>,
    /// OBJECT_TYPE.
    pub object_type: Option<&'static str>,
    /// OBJECT_INSTANCE_BEGIN.
    pub object_instance_begin: u64,
    /// OPERATION.
    pub operation: &'static str,
    /// NUMBER_OF_BYTES.
    pub number_of_bytes: Option<i64>,
    /// FLAGS.
    pub flags: Option<u32>,
}

impl HasEvent for Wait {
    fn event(&self) -> &Event {
        &self.event
    }
}
