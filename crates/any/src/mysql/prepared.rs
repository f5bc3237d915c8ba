//! The prepared statements of a connection, by the numbers that the server gives them.

use std::collections::HashMap;

use engine::digest::Digest;
use engine::prepared::Prepared;
use foldhash::fast::FixedState;

use crate::session::MAX_STORED_BYTES;

/// The most prepared statements that are stored. Executions of further ones have no text.
const MAX_STATEMENTS: usize = 4096;
/// The number by which MariaDB's clients name the statement that was prepared last.
const LAST: u32 = u32::MAX;

/// A prepared statement.
pub struct PreparedStatement {
    /// Empty: it is not stored.
    text: Box<str>,
    /// Whether its text may contain a password.
    pub is_secret: bool,
    /// The digest of its executions.
    pub execution: Option<Digest>,
    /// Its row in prepared_statements_instances.
    pub row: Option<Prepared>,
}

impl PreparedStatement {
    /// `text`: without passwords; empty = it is not known.
    pub fn new(text: &str, is_secret: bool, row: Option<Prepared>) -> Self {
        Self {
            text: text.into(),
            is_secret,
            execution: (!text.is_empty()).then(|| Digest::with_verb("EXECUTE", text)),
            row,
        }
    }

    /// Its text, if it is stored.
    pub fn text(&self) -> Option<&str> {
        (!self.text.is_empty()).then_some(&*self.text)
    }
}

/// Those of a connection.
#[derive(Default)]
pub struct PreparedStatements {
    by_id: HashMap<u32, PreparedStatement, FixedState>,
    last: Option<u32>,
    /// Bytes of their texts.
    stored: usize,
}

impl PreparedStatements {
    /// The statement that a client names by this number.
    pub fn get(&self, id: u32) -> Option<&PreparedStatement> {
        self.by_id.get(&self.resolve(id))
    }

    /// Whether there is space for another one.
    pub fn has_space(&self, text: &str) -> bool {
        self.by_id.len() < MAX_STATEMENTS && self.stored + text.len() <= MAX_STORED_BYTES
    }

    /// The server has given a statement this number. `None`: it is not stored.
    pub fn insert(&mut self, id: u32, statement: Option<PreparedStatement>) {
        self.remove(id);
        self.last = Some(id);
        if let Some(statement) = statement.filter(|statement| self.has_space(&statement.text)) {
            self.stored += statement.text.len();
            self.by_id.insert(id, statement);
        }
    }

    pub fn remove(&mut self, id: u32) {
        if let Some(statement) = self.by_id.remove(&self.resolve(id)) {
            self.stored -= statement.text.len();
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether there are none.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.stored == 0
    }

    fn resolve(&self, id: u32) -> u32 {
        match (id, self.last) {
            (LAST, Some(last)) => last,
            _ => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_take_bounded_memory() {
        let mut all = PreparedStatements::default();
        let text = "x".repeat(100_000);
        for id in 0..20 {
            all.insert(id, Some(PreparedStatement::new(&text, false, None)));
        }
        assert!(all.stored <= MAX_STORED_BYTES && all.stored > MAX_STORED_BYTES / 2);
        assert!(all.get(0).is_some() && all.get(19).is_none());
        all.insert(0, Some(PreparedStatement::new("DO 1", false, None)));
        assert_eq!(
            all.get(LAST).and_then(PreparedStatement::text),
            Some("DO 1")
        );
        for id in 0..20 {
            all.remove(id);
        }
        assert_eq!(all.stored, 0);
        for id in 0..5_000 {
            all.insert(id, Some(PreparedStatement::new("DO 1", false, None)));
        }
        assert_eq!(all.by_id.len(), MAX_STATEMENTS);
    }
}
