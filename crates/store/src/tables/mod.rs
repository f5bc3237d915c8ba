//! A table in SQLite: the statements that create it, and its definition read back.
//!
//! The definition is stored as MySQL's CREATE TABLE text in the table `__tare_tables` of each
//! database; SQLite's own schema cannot store display widths, comments and the like.

mod load;
mod sqlite;
mod types;

pub(crate) use self::load::timestamps;
pub use self::load::{ReadDefinition, Tables, load};
pub use self::sqlite::{IndexToSqlite, ToSqlite};

/// The table that stores definitions.
pub const DEFINITIONS_TABLE: &str = "__tare_tables";
