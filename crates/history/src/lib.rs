//! What sessions did over time: samples of all that run or wait, and by how much counters grew, in
//! Parquet files that other engines read. `docs/history.md` describes the files.
//!
//! ```text
//! segment ---- segment.rs \
//!                          recorder.rs -> batch.rs -> run.rs -> DIR/TABLE/.../*.parquet
//! server (SQL) - server.rs /   growth.rs                         keep.rs removes the oldest
//!                                                             past.rs reads them back
//! ```
#![forbid(unsafe_code)]

mod ask;
mod batch;
mod error;
mod growth;
mod hour;
mod keep;
mod past;
mod recorder;
mod run;
mod sample;
mod schema;
mod segment;
mod server;

pub use ask::{Answer, Ask, Unanswered};
pub use error::Error;
pub use keep::Keep;
pub use past::{Past, Seen};
pub use recorder::{Ended, Options, Recorder, Sampling, Told};
pub use sample::{Moment, Sample, Source};
pub use schema::{Column, TABLES, Table, Type, VERSION};
pub use segment::SegmentSource;
pub use server::ServerSource;
