//! The options of schema sys: sys_config.

use tare_mysql::error::SqlError;

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// A number that stays the row's.
    pub id: i64,
    /// `variable`.
    pub variable: String,
    /// `value`.
    pub value: Option<String>,
    /// `set_time`.
    pub set_time: Option<String>,
    /// `set_by`; NULL for a default.
    pub set_by: Option<String>,
}

/// A store of the options.
pub trait Options {
    /// All of them, by their names.
    fn rows(&self) -> Vec<Setting>;

    /// INSERT.
    fn insert(&self, variable: &str, value: Option<String>, who: &str) -> Result<(), SqlError>;

    /// UPDATE of a variable's value.
    fn update(&self, id: i64, value: Option<String>, who: &str) -> Result<(), SqlError>;

    /// DELETE.
    fn delete(&self, id: i64) -> Result<(), SqlError>;
}
