//! What sessions did over time: samples of all that run or wait, and by how much counters grew, in
//! Parquet files that other engines read. `docs/history.md` describes the files.
//!
//! ```text
//! segment ---- segment.rs \
//!                          recorder.rs -> writer.rs -> batch.rs -> run.rs -> DIR/TABLE/.../*.parquet
//! server (SQL) - server.rs /   growth.rs                         keep.rs removes the oldest
//!                                            past.rs and scan.rs read them back
//! ```
#![forbid(unsafe_code)]

mod ask;
mod batch;
mod error;
mod growth;
mod hour;
mod keep;
mod moment;
mod past;
mod recorder;
mod run;
mod sample;
mod scan;
mod schema;
mod segment;
mod server;
mod writer;

/// What is asked of a server while it is recorded, for whoever leaves that out.
pub fn questions() -> impl Iterator<Item = &'static str> {
    growth::questions().chain([server::QUESTION])
}

pub use ask::{Answer, Ask, Unanswered};
pub use batch::Value;
pub use error::Error;
pub use growth::{Grown, SUMS, Text};
pub use keep::Keep;
pub use moment::moment;
pub use past::{Past, Seen};
pub use recorder::{Ended, Options, Recorder, Sampling, Told};
pub use sample::{Moment, Sample, Source};
pub use scan::Scan;
pub use schema::{Column, TABLES, Table, Type, VERSION};
pub use segment::SegmentSource;
pub use server::ServerSource;
pub use writer::Writer;
