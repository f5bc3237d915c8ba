//! The activity of sessions over time: samples of the threads that run or wait, and the growth of
//! counters, in Parquet files that other engines read. `docs/history.md` describes the files.
//!
//! ```text
//! segment ------ segment.rs \
//! process ------ process.rs  recorder.rs -> writer.rs -> batch.rs -> run.rs -> DIR/TABLE/.../*.parquet
//! server (SQL) - server.rs  /   growth.rs                         retention.rs removes the oldest
//!                                             past.rs and scan.rs read them back
//! ```
#![forbid(unsafe_code)]

mod batch;
mod blocks;
mod consumers;
mod error;
mod exact;
mod growth;
mod hour;
mod past;
mod plan;
mod plan_series;
mod plan_tree;
mod process;
mod query;
mod recorder;
mod retention;
mod row_locks;
mod run;
mod sample;
mod scan;
mod schema;
mod segment;
mod server;
mod status;
mod time;
mod traceparents;
mod writer;

/// The queries of a recorder, for tools that exclude them.
pub fn questions() -> impl Iterator<Item = &'static str> {
    growth::questions()
        .chain(server::QUESTIONS)
        .chain([traceparents::QUESTION])
}

pub use batch::Value;
pub use blocks::{
    Block, Deadlock, DeadlockTransaction, Holder, HolderState, LockKind, LockReading, Party,
};
pub use consumers::{consumers_off_sql, consumers_on_sql};
pub use error::Error;
pub use exact::{Condition, Due, ExactRule, ExactWindows, ManualWindow, Metric};
pub use growth::{GrowthRow, SUMS, Text, Total};
pub use past::{Origin, Past, Record};
pub use plan::{Plan, PlanReader, PlanReading, PlanReason};
pub use plan_series::{PlanSeries, RecordedPlan};
pub use plan_tree::PlanTree;
pub use process::ProcessSource;
pub use query::{Answer, Query, QueryError};
pub use recorder::{EndReason, Event, Options, Recorder, Sampling};
pub use retention::Retention;
pub use row_locks::{NoRowLocks, ROW_LOCK_WAIT, RowLockWait, RowLocks};
pub use sample::{Follower, Moment, Sample, Source, sampled_text};
pub use scan::Scan;
pub use schema::{Column, TABLES, Table, Type, VERSION};
pub use segment::SegmentSource;
pub use server::ServerSource;
pub use status::{
    ConnectionGroup, OpenTransaction, ReplicationStatus, STATUS_TABLES, ServerStatus, StatusFigure,
    own_columns,
};
pub use tare_mysql::traceparent::TraceContext;
pub use tare_reader::scheduler::State;
pub use time::parse_time;
pub use writer::Writer;
