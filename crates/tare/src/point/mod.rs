//! The points: what a host calls when something begins or ends.
//!
//! Each kind of event has a module of its own, and each begins with the same three questions:
//! does Tare record, has the thread a slot, and what do the flags of the class say.

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
pub mod socket;
pub mod stage;
pub mod statement;
mod statement_event;
pub mod table;
mod text;
pub mod thread;
pub mod transaction;
pub mod wait;
