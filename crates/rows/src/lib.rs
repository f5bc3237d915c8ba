//! The tables of the system schemas: each is described once. Its rows come from a snapshot of a segment, or
//! from a server.
//!
//! [`describe`] has what a table is, [`source`] the data of a server, [`registry`] the list of tables. An
//! evaluator of SQL scans a [`describe::Table`] with a [`view::View`] and a [`filter::Filter`]. This crate
//! uses neither SQLite nor the dialect nor the server.
//!
//! Unsigned 64-bit values travel as the bit pattern of an `i64`. A value above `i64::MAX` would
//! sort as negative: no count reaches it, and a time in picoseconds does after 106 days of one
//! wait.

pub mod active;
pub mod cell;
mod column;
pub mod cost;
pub mod defaults;
pub mod definition;
pub mod describe;
pub mod docs;
mod empty;
pub mod extension;
pub mod filter;
pub mod information_schema;
pub mod merged;
pub mod mysql;
pub mod options;
pub mod performance_schema;
pub mod record;
pub mod registry;
pub mod sampling;
pub mod series;
pub mod server;
pub mod show;
pub mod snapshot;
pub mod source;
pub mod sys_config;
pub mod tare;
pub mod telemetry;
pub mod time;
pub mod view;
