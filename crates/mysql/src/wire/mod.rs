//! MySQL's wire protocol: integers and strings, values, columns, and what a server answers.
//!
//! The structures that are read or written once per connection come from `mysql_common`; what is
//! written for each statement and row goes straight into the connection's one write buffer.

pub mod bytes;
pub mod column;
pub mod definitions;
pub mod login;
pub mod packets;
pub mod params;
pub mod reply;
pub mod types;
pub mod value;

pub use mysql_common::constants::{CapabilityFlags, ColumnFlags, ColumnType, Command, StatusFlags};
