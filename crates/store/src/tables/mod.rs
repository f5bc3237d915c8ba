//! What a table is in SQLite: the statements that make it, and back.
//!
//! The definition is kept as MySQL's CREATE TABLE text in the table `__tare_tables` of each
//! database; SQLite's own schema has no room for display widths, comments and the like.

mod load;
mod sqlite;
mod types;

pub(crate) use self::load::timestamps;
pub use self::load::{ReadDefinition, Tables, load};
pub use self::sqlite::{IndexToSqlite, ToSqlite};

/// Where definitions are kept.
pub const META: &str = "__tare_tables";
