//! The trace to which a session's statements belong: that of the request's query attribute `traceparent`, or else of
//! the user variable `@traceparent`.

use rusqlite::types::Value;

use crate::state::{TRACEPARENT, UserVariables};

/// The texts of a session. The engine gets a text only when it changes.
#[derive(Debug, Default)]
pub struct RequestTrace {
    attribute: Option<String>,
    variable: String,
    /// The version of the variable.
    version: u64,
    /// The text that the engine has.
    published: String,
}

impl RequestTrace {
    /// Sets the query attribute of the request that begins.
    pub fn set_attribute(&mut self, text: Option<String>) {
        self.attribute = text;
    }

    /// Passes the text of the statement that begins next to the engine.
    pub fn publish(&mut self, variables: &UserVariables) {
        let version = variables.traceparent_version();
        if version != self.version {
            self.version = version;
            self.variable = match variables.get(TRACEPARENT) {
                Value::Text(text) => text,
                Value::Blob(bytes) => String::from_utf8(bytes).unwrap_or_default(),
                _ => String::new(),
            };
        }
        let text = self.attribute.as_ref().unwrap_or(&self.variable);
        if *text != self.published {
            tare::thread::set_traceparent(text);
            self.published.clone_from(text);
        }
    }
}
