//! What answers SQL: a server, or a segment that this process evaluates.

/// Rows of texts; `None` is NULL.
pub type Answer = Vec<Vec<Option<String>>>;

/// Why a statement has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryError {
    /// The server has closed the connection, or the segment's writer has ended.
    Lost(String),
    /// The server refuses the statement: the table does not exist, or the account lacks a privilege.
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
