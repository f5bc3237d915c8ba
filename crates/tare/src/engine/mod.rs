//! The recording engine: one segment, and the threads attached to it.
//!
//! | state | what a point does |
//! |---|---|
//! | not compiled in (feature off) | nothing, there is no code |
//! | disabled (never started, or stopped) | one load, one branch |
//! | off, all of its kind, and settings are [watched](settings::watch_settings) | one load, one branch |
//! | off (running, instrument off) | the above, the thread's slot, one byte of flags |
//! | on | as its flags say |
//! | level `active` | one store into the thread's line ([`active`]); statements are counted in one row |

pub(crate) mod account;
pub(crate) mod active;
mod awake;
pub(crate) mod bank;
pub mod bus_errors;
mod cells;
mod classes;
pub mod clock;
pub(crate) mod counted;
mod descriptor;
mod digest_cache;
pub(crate) mod digest_table;
pub(crate) mod digests;
mod draws;
mod edges;
pub(crate) mod error_names;
mod file_index;
mod fill;
pub(crate) mod fine;
mod fine_rows;
pub(crate) mod freelist;
mod governor;
pub(crate) mod history;
pub(crate) mod hot;
mod instance_rows;
pub(crate) mod instances;
mod lifecycle;
pub(crate) mod local;
mod locals;
mod mapping;
#[cfg(target_os = "linux")]
pub mod memory_lock;
mod merge;
mod metrics;
mod object_rows;
pub(crate) mod objects;
mod observed;
mod open_stage;
mod own_thread;
mod pace;
mod pending;
pub mod periods;
mod processes;
mod random;
mod reclaim;
pub mod row_locks;
pub(crate) mod running;
pub mod settings;
mod slot;
mod source_index;
mod sources;
pub(crate) mod state;
mod system;
pub(crate) mod task;
mod times;
mod tree;
mod variance;
mod windows;
mod zeroed;

pub use lifecycle::{
    descriptor, failed_starts, follow_forks, is_running, own_descriptor, start, stop,
};
