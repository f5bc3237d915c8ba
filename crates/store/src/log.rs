//! The error log. Lines go to standard error, and the last ones are stored for performance_schema.error_log.

use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use tare::sync::PlainMutex;

/// Lines that are stored. They are few and short: a server without problems logs nothing after its start.
const MAX_LINES: usize = 1000;

/// MySQL's priority of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// The server's own start.
    System,
    /// Something does not work.
    Error,
    /// Something works in an unexpected way.
    Warning,
}

impl Priority {
    /// MySQL's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Error => "Error",
            Self::Warning => "Warning",
        }
    }
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Microseconds since 1970; no two lines have the same.
    pub logged_us: u64,
    /// The priority.
    pub priority: Priority,
    /// `Server`, or `SQLite` for the engine.
    pub subsystem: &'static str,
    /// The text.
    pub text: String,
}

/// The stored lines.
#[derive(Debug, Clone)]
pub struct Log {
    /// The oldest first.
    pub lines: VecDeque<Line>,
    /// The number of older lines, which are dropped.
    pub expired: u64,
}

static LOG: LazyLock<PlainMutex<Log>> = LazyLock::new(|| {
    PlainMutex::new(Log {
        lines: VecDeque::new(),
        expired: 0,
    })
});

impl Log {
    fn push(&mut self, priority: Priority, subsystem: &'static str, text: String) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_micros() as u64);
        let after = self.lines.back().map_or(0, |last| last.logged_us + 1);
        if self.lines.len() == MAX_LINES {
            self.lines.pop_front();
            self.expired += 1;
        }
        self.lines.push_back(Line {
            logged_us: now.max(after),
            priority,
            subsystem,
            text,
        });
    }
}

/// Stores a line that is printed elsewhere.
pub fn record(priority: Priority, subsystem: &'static str, text: String) {
    LOG.lock().push(priority, subsystem, text);
}

/// Writes a line to standard error, and stores it.
pub fn write(priority: Priority, subsystem: &'static str, text: String) {
    // Nobody may read it any more.
    let _ = writeln!(std::io::stderr(), "tare: {text}");
    record(priority, subsystem, text);
}

/// The stored lines now.
pub fn snapshot() -> Log {
    LOG.lock().clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_stored_with_distinct_times() {
        let mut log = Log {
            lines: VecDeque::new(),
            expired: 0,
        };
        for n in 0..MAX_LINES + 5 {
            log.push(Priority::Warning, "Server", n.to_string());
        }
        assert_eq!((log.lines.len(), log.expired), (MAX_LINES, 5));
        assert_eq!(log.lines[0].text, "5");
        let times: Vec<u64> = log.lines.iter().map(|line| line.logged_us).collect();
        assert!(times.is_sorted_by(|a, b| a < b));
    }
}
