//! SQL over a source of rows: SQLite evaluates, its virtual tables are those of the system schemas.
//!
//! [`catalog`] gives a SQLite connection those tables; [`result`] is for rows that no statement gave.

pub mod catalog;
pub mod result;
