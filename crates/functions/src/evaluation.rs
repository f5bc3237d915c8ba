//! What functions read and change of the session that calls them.

use std::fmt::Debug;
use std::time::Duration;

use rusqlite::types::Value;
use tare_dialect::Mode;
use tare_mysql::error::SqlError;
use tare_mysql::session::SessionFacts;

use crate::call::quoted;

/// What a statement counts while it changes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// A row that ON DUPLICATE KEY UPDATE changes.
    Updated,
    /// A row that fulfils the condition of an UPDATE, or of which ON DUPLICATE KEY UPDATE finds the duplicate.
    Matched,
    /// One of those that the UPDATE changes.
    Changed,
    /// A row that gives its AUTO_INCREMENT column a value.
    GivenId,
    /// A call of LAST_INSERT_ID with an argument.
    LastId,
}

/// What functions read of a session beyond its facts, and what they change.
pub trait EvaluationContext: SessionFacts + Debug {
    /// The thread's number in performance_schema; 0 for a thread that has none.
    fn thread_id(&self) -> u64;
    /// LAST_INSERT_ID().
    fn last_insert_id(&self) -> i64;
    /// Sets LAST_INSERT_ID().
    fn set_last_insert_id(&self, id: i64);
    /// ROW_COUNT().
    fn row_count(&self) -> i64;
    /// FOUND_ROWS().
    fn found_rows(&self) -> i64;
    /// Counts something of the row that a statement changes.
    fn count(&self, what: Counted);
    /// The number of a row that is inserted: the one that it gives, or else the next one of AUTO_INCREMENT. `None`
    /// lets SQLite generate it.
    ///
    /// # Errors
    /// 1467: there are no more numbers.
    fn auto_increment(&self, given: Option<i64>) -> Result<Option<i64>, SqlError> {
        Ok(given)
    }
    /// The row whose number was asked for last is a duplicate, and is not inserted. `updated` is the number of the row
    /// that is updated instead.
    fn give_number_back(&self, _updated: Option<i64>) {}
    /// `@@scope.name`.
    fn variable(&self, scope: &str, name: &str) -> Value;
    /// `@name`.
    fn user_variable(&self, name: &str) -> Value;
    /// Sets `@name`.
    fn set_user_variable(&self, name: &str, value: Value, is_number: bool);
    /// An option of schema sys in sys_config; `None` for NULL and for unknown options.
    fn sys_option(&self, name: &str) -> Option<String>;
    /// Whether an instrument of this name is enabled, or timed (`timed`), by default.
    fn instrument_default(&self, name: &str, timed: bool) -> bool;
    /// @@sql_mode, as text.
    fn sql_mode(&self) -> String;
    /// 1365: warns of a division by zero if @@sql_mode has ERROR_FOR_DIVISION_BY_ZERO; returns whether.
    fn divided_by_zero(&self) -> bool {
        let warns = self.sql_mode().contains("ERROR_FOR_DIVISION_BY_ZERO");
        if warns {
            self.warn(1365, "Division by 0");
        }
        warns
    }

    /// Warns of a text of which only a part, or nothing, is a number (1292).
    fn truncated(&self, kind: &str, text: &[u8]) {
        let text = quoted(text);
        self.warn(1292, &format!("Truncated incorrect {kind} value: '{text}'"));
    }

    /// The warning that is an error, because the statement changes rows in strict mode.
    fn refused_warning(&self) -> Option<SqlError> {
        None
    }

    /// 1300: warns that bytes are no text of a character set. Returns whether @@sql_mode is strict.
    fn invalid_text(&self, charset: &str, bytes: &[u8]) -> bool {
        let digits: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
        self.warn(
            1300,
            &format!("Invalid {charset} character string: '{digits}'"),
        );
        Mode::of(&self.sql_mode()).strict
    }

    /// The error of a statement that must end.
    fn interruption(&self) -> SqlError {
        SqlError::interrupted()
    }

    /// The digest of a statement, as hexadecimal digits, and its text; `None` if nothing computes digests here.
    fn digest(&self, _statement: &str) -> Option<(String, String)> {
        None
    }

    /// Waits. Returns whether the statement was interrupted.
    ///
    /// # Errors
    /// 1317 if the session must end.
    fn sleep(&self, seconds: f64) -> Result<bool, SqlError>;
    /// GET_LOCK: takes a lock, and waits for it no longer than `timeout` (`None` = without limit). False:
    /// another connection has it.
    ///
    /// # Errors
    /// The statement was interrupted, or its session and others wait for one another (3058).
    fn take_lock(&self, name: &str, timeout: Option<Duration>) -> Result<bool, SqlError>;
    /// The connection that has a lock.
    fn lock_owner(&self, name: &str) -> Option<u64>;
    /// RELEASE_LOCK. `None`: no connection has it; `Some(false)`: another one has.
    fn unlock(&self, name: &str) -> Option<bool>;
    /// RELEASE_ALL_LOCKS. Returns the number of released locks.
    fn unlock_all(&self) -> u64;
}
