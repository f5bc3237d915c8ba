//! The trace to which a client's next statement belongs: that of the request's query attribute `traceparent`, or else of
//! the user variable `@traceparent`, as far as a text assigns it.

use engine::thread;
use engine::traceparent::assigned;

/// The texts of a session.
#[derive(Default)]
pub struct RequestTrace {
    /// The query attribute of the command that runs.
    pub attribute: Option<String>,
    variable: String,
    /// The text that the session's place in the segment has.
    published: String,
}

impl RequestTrace {
    /// Passes on the text of the statement that begins next.
    pub fn publish(&mut self, is_recorded: bool) {
        let text = self.attribute.as_ref().unwrap_or(&self.variable);
        if is_recorded && *text != self.published {
            thread::set_traceparent(text);
            self.published.clone_from(text);
        }
    }

    /// A text's statement has begun.
    pub fn assign(&mut self, text: &str) {
        if let Some(value) = assigned(text) {
            value.clone_into(&mut self.variable);
        }
    }

    /// The session's variables are gone.
    pub fn reset(&mut self) {
        self.variable.clear();
    }

    /// Another place in the segment, which has no text.
    pub fn repeat(&mut self) {
        self.published.clear();
    }
}
