//! The limits of a statement, which hold from its first byte to its last row.

use std::time::Duration;

use crate::session::{Session, Settings};
use tare_dialect::hint;
use tare_mysql::memory;

/// The session's statement has its limits until this is dropped.
pub struct Limits {
    _memory: memory::StatementLimit,
}

/// Sets the limits of a statement that begins.
#[inline]
pub fn apply_limits(session: &Session, text: &str) -> Limits {
    session.control.start(time_limit(&session.settings, text));
    Limits {
        _memory: memory::limit_statement(session.shared.config.max_statement_memory),
    }
}

/// How long a statement may run, estimated from its first letters. Running it sets the exact limit.
fn time_limit(settings: &Settings, text: &str) -> Duration {
    let limit = settings.max_execution_time;
    let first = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let begins = |word: &str| {
        first
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    if begins("SELECT") {
        return hint::max_execution_time(first).unwrap_or(limit);
    }
    match ["WITH", "TABLE", "VALUES"].into_iter().any(begins) {
        true => limit,
        false => Duration::ZERO,
    }
}
