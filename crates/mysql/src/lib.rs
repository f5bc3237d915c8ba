//! What MySQL's clients and servers share: errors with their numbers and
//! SQLSTATEs, types, character sets, system variables, what a table is, and the packets of the wire protocol.
//!
//! No engine, no SQLite, no parser: everything else is built on this.

pub mod account;
pub mod charset;
pub mod collation;
pub mod date;
pub mod decimal;
pub mod error;
pub mod interrupt;
pub mod keyword;
pub mod memory;
pub mod metadata_lock;
pub mod number;
pub mod real;
pub mod schema;
pub mod secret;
pub mod series;
pub mod session;
pub mod table;
pub mod table_lock;
mod tokens;
pub mod traceparent;
pub mod types;
pub mod variable;
pub mod wire;

pub use error::{Result, SqlError};
