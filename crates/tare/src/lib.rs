//! A Performance Schema for your program: the program calls this crate at its locks, statements, files and
//! other events. `tare sql`, `tare top` and the other tools on the same machine read what it records from
//! shared memory, in tables named as in MySQL.
//!
//! ```
//! tare::classes! {
//!     static LOCK_CACHE: Mutex = "wait/synch/mutex/app/LOCK_cache", enabled;
//!     static LOADING: Stage = "stage/app/Loading", enabled;
//!     static QUERY: Statement = "statement/app/query";
//! }
//!
//! # if cfg!(feature = "instrument") {
//! tare::start(tare::Config::default())?;
//! # }
//! let cache = tare::sync::Mutex::new(&LOCK_CACHE, Vec::new());
//! {
//!     let statement = tare::statement::start(&QUERY);
//!     statement.text("LOAD 42");
//!     tare::stage::set(&LOADING);
//!     cache.lock().push(42);
//!     statement.rows_affected(1);
//! }
//! tare::stop();
//! # Ok::<(), tare::StartError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | declare instruments | [`classes!`], [`Class::find_or_create`] |
//! | start and stop | [`start`], [`stop`], [`Config`] |
//! | record what clients request, and its parts | [`statement`], [`stage`], [`transaction`], [`prepared`], [`program`] |
//! | record locks | [`sync`], [`metadata`] |
//! | record other waits | [`wait`], [`file`](mod@file), [`socket`], [`table`], [`idle`] |
//! | say which client a thread serves | [`thread`] |
//! | record async Rust | [`task`]; with the feature `tokio`, `sync::asynchronous` |
//! | count | [`memory`], [`error`], [`metrics!`] |
//!
//! In async Rust a task has a session of its own, and a statement lives across `.await` ([`task`]):
//!
//! ```
//! tare::classes! {
//!     static CONNECTION: Thread = "thread/app/connection";
//!     static GET: Statement = "statement/app/get";
//! }
//!
//! async fn get(key: u64) -> u64 {
//!     let statement = tare::task::statement::start(&GET);
//!     statement.digest_by_shape("GET ?", &format!("GET {key}"));
//!     tokio::task::yield_now().await;
//!     key
//! }
//!
//! let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
//! let session = tare::thread::ThreadSession::new(&CONNECTION);
//! let task = runtime.spawn(tare::task::scope(session, get(42)));
//! assert_eq!(runtime.block_on(task)?, 42);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate `tare-tracing` records the spans of a program that uses tracing, and `tare-tower` the requests
//! of servers on axum, hyper and tonic; each needs one line.
//!
//! # Cost
//!
//! Without the feature `instrument`, every item exists and does nothing. Before [`start`] and after
//! [`stop`], an event costs one load and one branch. While Tare runs, each instrument is off, counted or
//! timed. With [`watch_settings`], an event costs one load and one branch, too, while all instruments of its
//! kind are off.
//!
//! # Failures
//!
//! Nothing here panics into the host. If Tare cannot start, the host goes on without it ([`StartError`]).
//! What cannot be recorded is counted as lost; `SHOW STATUS LIKE '%lost'` lists it.
//!
//! # Threads
//!
//! Any thread may call any function. A wait, a stage and a statement belong to the thread that began them,
//! or to the session that this thread worked for; those of [`task`] belong to a task. A child of fork does
//! not record, unless [`Config::many_processes`] is set.

#![cfg_attr(
    not(feature = "door"),
    allow(dead_code, unused_imports, reason = "some of it is for doors alone")
)]

#[doc(hidden)]
#[macro_use]
pub mod class;
mod config;
mod metric;
pub mod metrics;
mod modes;
mod number;
mod options;
mod payload;
#[cfg(feature = "tokio")]
pub mod runtime;
mod segment_file;
mod source;

pub mod digest;
mod engine;
mod lock;
mod point;
pub mod sync;

pub use class::{CLASSES, Class};
pub use config::{Config, Limits, LockTiming, Rule, Sampling, Setting, StartError, Timer};
pub use engine::settings::watch_settings;
#[cfg(all(feature = "door", target_os = "linux"))]
#[doc(hidden)]
pub use engine::{
    bus_errors::{host_mask, host_sigaction, host_signal},
    memory_lock::lock_all,
};
pub use engine::{descriptor, failed_starts, follow_forks, is_running, start, stop};
#[cfg(feature = "door")]
#[doc(hidden)]
pub use engine::{own_descriptor, periods, row_locks, settings};
pub use options::{OPTIONS, OptionError};
#[cfg(feature = "door")]
#[doc(hidden)]
pub use point::{active, host_lock, pthread};
pub use point::{
    error, file, idle, memory, metadata, prepared, program, socket, stage, statement, table, task,
    thread, transaction,
};
pub use segment_file::check_segment_path;
pub use source::Source;
pub use tare_layout::Kind;
pub use tare_layout::class::Counter;
pub use tare_layout::event::Operation;
pub use tare_layout::object::{
    LockDuration, LockStatus, LockType, Namespace, ObjectType, TableLock,
};
pub use tare_layout::slot::Command;

pub mod wait {
    //! Waits: anything that a thread or a task stops for.
    pub use crate::point::task::wait::{WaitFuture, future};
    pub use crate::point::wait::*;
}
