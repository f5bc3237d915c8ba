//! The user's databases: one SQLite file each, and the sessions' connections to them.
//!
//! SQLite's mutexes, memory and files are instrumented ([`sqlite::configure`]). The caller that opens a
//! [`Connection`] gives it functions and the [`Control`] that stops its statements; the caller that opens
//! [`Databases`] gives the parser of a table's definition.

pub mod access;
pub mod authorizer;
mod busy;
mod client;
pub mod connection;
mod control;
mod cursor;
pub mod databases;
pub mod error;
pub mod figures;
pub mod log;
pub mod memory;
pub mod metrics;
mod mutex;
pub mod next_ids;
mod points;
mod replaced;
mod reserve;
pub mod shape;
pub mod sqlite;
pub mod stack;
mod statement;
pub mod tables;
mod vfs;
mod words;
pub mod write_lock;

pub use client::Client;
pub use connection::Connection;
pub use control::Control;
pub use cursor::Cursor;
pub use databases::Databases;
pub use error::{Error, Result};
pub use replaced::{ReplaceCounter, ReplaceCounts};
pub use reserve::Reserve;
pub use statement::StatementId;
pub use vfs::{opened_files, temporary_files};
pub use words::UnknownColumn;
