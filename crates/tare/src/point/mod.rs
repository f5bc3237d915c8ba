//! The points: functions that a host calls when something begins or ends.
//!
//! Each kind of event has a module of its own. Each point begins with the same three checks: whether
//! Tare records, whether the thread has a slot, and what the flags of the class are.

pub mod active;
mod attributes;
mod class;
pub mod error;
pub mod file;
pub mod host_lock;
pub mod idle;
pub(crate) mod lock_wait;
pub mod memory;
pub mod metadata;
pub mod metric;
pub mod prepared;
pub mod program;
pub mod pthread;
pub mod socket;
pub mod stage;
pub mod statement;
mod statement_event;
pub mod table;
pub mod task;
mod text;
pub mod thread;
pub mod transaction;
pub mod wait;
