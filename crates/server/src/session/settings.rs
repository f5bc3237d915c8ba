//! Limits that a session reads for each statement, parsed from the texts of their variables.

use std::time::Duration;

use crate::state::SessionState;

/// A session's limits.
#[derive(Debug)]
pub struct Settings {
    /// @@max_execution_time; zero is none.
    pub max_execution_time: Duration,
    /// @@innodb_lock_wait_timeout.
    pub lock_wait_timeout: Duration,
    /// @@long_query_time.
    pub long_query_time: Duration,
    /// @@connection_memory_limit; `None` if the series has no such variable.
    pub memory_limit: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_execution_time: Duration::ZERO,
            lock_wait_timeout: Duration::from_secs(50),
            long_query_time: Duration::from_secs(10),
            memory_limit: None,
        }
    }
}

impl Settings {
    /// Reads the limits from the session's variables.
    pub fn read(&mut self, state: &SessionState) {
        let seconds = state.text("long_query_time").and_then(|t| t.parse().ok());
        self.long_query_time =
            Duration::try_from_secs_f64(seconds.unwrap_or(10.0)).unwrap_or(Duration::MAX);
        let number = |name: &str| state.text(name).and_then(|t| t.parse::<u64>().ok());
        self.memory_limit = number("connection_memory_limit");
        self.max_execution_time = Duration::from_millis(number("max_execution_time").unwrap_or(0));
        self.lock_wait_timeout =
            Duration::from_secs(number("innodb_lock_wait_timeout").unwrap_or(50).max(1));
    }
}
