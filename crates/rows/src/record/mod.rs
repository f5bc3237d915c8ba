//! The rows of events, threads and digests: what a snapshot gives, and what performance_schema's
//! tables describe. Plain data: neither side is known here.

pub mod digest;
pub mod event;
pub mod stage;
pub mod statement;
pub mod thread;
pub mod transaction;
pub mod wait;
