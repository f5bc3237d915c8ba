//! Options of schema sys.

use rusqlite::types::Value;
use tare_functions::EvaluationContext;

/// An option: the session's `@sys.NAME`, or sys_config's.
pub fn option(context: &dyn EvaluationContext, name: &str) -> Option<String> {
    match context.user_variable(&format!("sys.{name}")) {
        Value::Text(text) => Some(text),
        Value::Integer(n) => Some(n.to_string()),
        Value::Real(x) => Some(x.to_string()),
        _ => context.sys_option(name),
    }
}

/// An option that is a number.
pub(crate) fn number(context: &dyn EvaluationContext, name: &str, default: usize) -> usize {
    option(context, name)
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(default)
}
