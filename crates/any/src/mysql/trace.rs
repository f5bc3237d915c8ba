//! The trace to which a client's next statement belongs: that of the request's query attribute `traceparent`, or else of
//! the user variable `@traceparent`, as far as a text assigns it.

use engine::thread;

/// The name of the variable and of the query attribute.
pub const NAME: &str = "traceparent";

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

/// The value that a text assigns to `@traceparent`: `SET @traceparent = 'text'`. Empty: NULL, or something that the text
/// does not say. `None`: it is no SET, or it does not assign the variable.
#[inline]
fn assigned(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let is_set = text
        .get(..3)
        .is_some_and(|word| word.eq_ignore_ascii_case("SET"));
    is_set.then(|| assigned_slow(&text[3..])).flatten()
}

#[cold]
fn assigned_slow(assignments: &str) -> Option<&str> {
    let lower = assignments.to_ascii_lowercase();
    let mut assigned = None;
    for name in NAMES {
        for (at, _) in lower.match_indices(name) {
            let rest = assignments[at + name.len()..].trim_start();
            let Some(value) = rest.strip_prefix(":=").or_else(|| rest.strip_prefix('=')) else {
                // Another variable's name may begin so, or the variable is read.
                continue;
            };
            // Of several assignments, or one in a text or a comment, the value is not known.
            let is_only = assignments[..at].trim().is_empty();
            let value = is_only.then(|| literal(value.trim())).flatten();
            assigned = Some(value.unwrap_or(""));
        }
    }
    assigned
}

/// How the variable is written.
const NAMES: [&str; 4] = [
    "@traceparent",
    "@`traceparent`",
    "@'traceparent'",
    "@\"traceparent\"",
];

/// The text of a literal without escapes, behind which nothing follows.
fn literal(value: &str) -> Option<&str> {
    let value = value.trim_end_matches([';', ' ', '\n', '\r', '\t']);
    let quote = value.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let text = value[1..].strip_suffix(quote)?;
    (!text.contains(['\'', '"', '\\'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_an_assignment_is_read() {
        for (text, expected) in [
            ("SET @traceparent = 'a'", Some("a")),
            ("set @traceparent='a';", Some("a")),
            ("  SET\n@`TraceParent` := \"a\" ", Some("a")),
            ("SET @traceparent = NULL", Some("")),
            ("SET @traceparent = CONCAT('a', 'b')", Some("")),
            ("SET @traceparent = 'a\\'b'", Some("")),
            ("SET @traceparent = 'a' 'b'", Some("")),
            ("SET @traceparent = 'a', @b = 1", Some("")),
            ("SET @b = '@traceparent=', @traceparent = 'a'", Some("")),
            ("SET @traceparent = 'a' /* c */", Some("")),
            ("SET @traceparent = 1, @c = @traceparent", Some("")),
            ("SET @traceparents = 'a'", None),
            ("SET @b = @traceparent", None),
            ("SET @b = 1", None),
            ("SELECT @traceparent = 'a'", None),
            ("SETTLE", None),
            ("", None),
        ] {
            assert_eq!(assigned(text), expected, "{text}");
        }
    }
}
