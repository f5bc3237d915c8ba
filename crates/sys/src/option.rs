//! Options of schema sys.

use rusqlite::types::Value;
use tare_functions::Session;

/// An option: the session's `@sys.NAME`, or sys_config's.
pub fn option(session: &dyn Session, name: &str) -> Option<String> {
    match session.user_variable(&format!("sys.{name}")) {
        Value::Text(text) => Some(text),
        Value::Integer(n) => Some(n.to_string()),
        Value::Real(x) => Some(x.to_string()),
        _ => session.sys_option(name),
    }
}

/// An option that is a number.
pub(crate) fn number(session: &dyn Session, name: &str, default: usize) -> usize {
    option(session, name)
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(default)
}
