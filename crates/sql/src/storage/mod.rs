//! Databases: one SQLite file each, and the sessions' connections to them.

pub mod connection;
pub mod databases;
pub mod functions;
pub mod gate;
pub mod statement;
pub mod sync;
pub mod tables;
pub mod time;

pub use connection::{Connection, Control};
pub use databases::Databases;
