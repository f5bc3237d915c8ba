//! The tables of the system schemas: each described once, its rows made from a snapshot of a
//! segment, or from what a server says of itself.
//!
//! [`describe`] says what a table is, [`source`] what a server tells, [`registry`] which tables
//! there are. Whoever evaluates SQL scans a [`describe::Table`] with a [`view::View`] and a
//! [`filter::Filter`]; SQLite, the dialect and the server are not known here.
//!
//! Unsigned 64-bit values travel as the bit pattern of an `i64`. A value above `i64::MAX` would
//! sort as negative: no count reaches it, and a time in picoseconds does after 106 days of one
//! wait.

pub mod cell;
mod column;
pub mod cost;
pub mod defaults;
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
