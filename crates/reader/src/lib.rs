//! Reading segments from outside the process that writes them.
//!
//! ```no_run
//! use tare_reader::{Segment, Target};
//! let segment = Segment::attach(Target::Pid(4711))?;
//! println!("{} takes {} bytes", segment.path().display(), segment.resident_bytes());
//! # Ok::<(), tare_reader::AttachError>(())
//! ```
//!
//! The bytes are treated as hostile. They may make a figure wrong, but no access leaves the mapping, no loop
//! is longer than the limits allow, and nothing panics.
#![deny(unsafe_code)]

pub mod active;
pub mod activity_log;
pub mod actors;
pub mod attach;
pub mod classes;
pub mod digests;
pub mod discover;
pub mod error;
pub mod estimate;
pub mod event_loop;
pub mod events;
pub mod exact;
pub mod fine;
mod freeze;
pub mod histogram;
pub mod instances;
pub mod line;
mod mapping;
pub mod metrics;
pub mod names;
pub mod objects;
pub mod priority;
pub mod process;
mod process_tree;
mod process_usage;
pub mod row_locks;
mod rules;
pub mod sampling;
mod schedule;
pub mod scheduler;
pub mod sessions;
mod settings;
pub mod sources;
mod system_call;
mod task;
#[cfg(test)]
mod test_directory;
pub mod threads;
pub mod time;
pub mod totals;
mod truncate;
pub mod validate;

pub use active::{ActiveThread, active_threads};
pub use actors::{Actor, ActorError, actors};
pub use attach::{Segment, Target};
pub use classes::{Class, Classes};
pub use digests::Digest;
pub use discover::find_running;
pub use error::{AttachError, Invalid, WriteError};
pub use events::Events;
pub use exact::{ExactError, ExactWindow};
pub use fine::{FineHistogram, SparseHistogram};
pub use histogram::Histogram;
pub use metrics::{Metric, metrics};
pub use names::Names;
pub use process_tree::{Process, ProcessError, ProcessTree, ThreadActivity};
pub use process_usage::{Io, Usage};
pub use rules::{Rule, Switch};
pub use schedule::Schedule;
pub use sources::Sources;
pub use threads::{Thread, threads};
pub use time::Clock;
pub use totals::{Banks, Scope, Selection, Totals};
pub use truncate::{ConnectionTable, Instances};
