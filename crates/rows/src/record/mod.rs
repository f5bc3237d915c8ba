//! The rows of events, threads, objects and digests: what a snapshot gives, and what performance_schema's
//! tables describe. Plain data without dependencies.

pub mod active;
pub mod digest;
pub mod event;
pub mod file;
pub mod instance;
pub mod memory;
pub mod object;
pub mod prepared;
pub mod segment;
pub mod socket;
pub mod stage;
pub mod statement;
pub mod thread;
pub mod transaction;
pub mod wait;

/// The rows of one scan, built one at a time.
pub type Rows<R> = Box<dyn Iterator<Item = R>>;
