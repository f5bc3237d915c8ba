//! Evaluation: SQLite runs a statement's plan over a source of rows.
//!
//! - [`system`]: a connection that has the system schemas, over a [`Source`](tare_rows::source::Source)
//! - [`catalog`]: the virtual tables in it
//! - [`schema`]: the tables that the dialect looks up; [`programs`]: schema sys, from the crate above
//! - [`rows`], [`columns`]: the rows of a statement that runs, and their types
//! - [`rights`]: which statements an account may run
//! - [`runner`]: a session that runs statements
//! - [`show`], [`explain`]: results that are built here, [`filter`]: LIKE and WHERE over them
//! - [`segment`]: statements on a segment, without a server
//!
//! This crate depends on no socket, client or server session: SHOW and procedures run statements in a
//! session through the trait [`runner::StatementRunner`].

pub mod catalog;
pub mod columns;
pub mod explain;
mod filter;
pub mod programs;
pub mod result;
pub mod rights;
pub mod rows;
pub mod runner;
pub mod schema;
pub mod segment;
pub mod set;
pub mod show;
pub mod system;
