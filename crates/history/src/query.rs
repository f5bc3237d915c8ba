//! Whoever answers SQL: a segment that is evaluated here, or a server.

/// Rows, each value as text; `None` is NULL.
pub type Answer = Vec<Vec<Option<String>>>;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryError {
    /// Nobody is there any more.
    Lost(String),
    /// The server says no to this statement: it has no such table, or the account no right.
    Refused(String),
}

/// Answers SELECT statements on performance_schema.
pub trait Query {
    /// The rows of a statement.
    ///
    /// # Errors
    /// [`QueryError`].
    fn query(&mut self, sql: &str) -> Result<Answer, QueryError>;
}
