//! Evaluation: a statement's plan and a source of rows, made into a result by SQLite.
//!
//! - [`system`]: a connection that has the system schemas, over a [`Source`](tare_rows::source::Source)
//! - [`catalog`]: the virtual tables in it
//! - [`schema`]: what the dialect is told of tables; [`programs`] hands schema sys in
//! - [`rows`], [`columns`]: the rows of a statement that runs, and their types
//! - [`show`], [`explain`]: results that are made here, [`filter`]: LIKE and WHERE over them
//! - [`segment`]: statements on a segment, without a server
//!
//! Nothing here knows a socket, a client or a server's session: what SHOW has to know of it comes
//! through the trait [`show::Session`].

pub mod catalog;
pub mod columns;
pub mod explain;
mod filter;
pub mod programs;
pub mod result;
pub mod rows;
pub mod schema;
pub mod segment;
pub mod set;
pub mod show;
pub mod system;
