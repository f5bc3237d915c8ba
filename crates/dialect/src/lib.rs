//! Translates MySQL's SQL into SQLite's.
//!
//! sqlparser reads a statement, [`rewrite`] changes its tree, and the tree's text is what SQLite
//! prepares. What SQLite has no statement for (SHOW, SET, KILL ...) is read by [`admin`].

mod absent;
pub mod admin;
pub mod call;
pub mod clauses;
pub mod ddl;
pub mod deprecation;
pub mod depth;
pub mod error;
pub mod function;
pub mod grammar;
pub mod hint;
mod join;
pub mod lookup;
mod mode;
pub mod name;
pub mod names;
pub mod node;
pub mod parameters;
pub mod plan;
mod read;
pub mod rewrite;
pub mod schema;
pub mod scope;
pub mod split;
mod tokenize;
pub mod tokens;
pub mod translate;
pub mod types;
pub mod walk;

pub use self::error::{Error, Result, at, near};
pub use self::mode::Mode;
pub use self::read::{Reading, expect_end, parse_one, parse_statement, read};
pub use self::translate::check_syntax;
