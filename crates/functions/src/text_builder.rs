//! Texts that functions build, and how long they may be.

use rusqlite::types::Value;

/// Bytes of the longest text that a function builds: MySQL's default of max_allowed_packet. A longer one
/// is NULL, as in MySQL.
pub(crate) const MAX_TEXT_BYTES: usize = 64 << 20;

/// Builds a text of at most [`MAX_TEXT_BYTES`].
#[derive(Debug, Default)]
pub(crate) struct TextBuilder {
    text: String,
    is_too_long: bool,
}

impl TextBuilder {
    /// Appends a text. False: the text is too long, and its value will be NULL.
    pub(crate) fn push(&mut self, text: &str) -> bool {
        self.is_too_long |= self.text.len() + text.len() > MAX_TEXT_BYTES;
        if !self.is_too_long {
            self.text.push_str(text);
        }
        !self.is_too_long
    }

    /// The text, or NULL.
    pub(crate) fn into_value(self) -> Value {
        match self.is_too_long {
            true => Value::Null,
            false => self.text.into(),
        }
    }
}

impl<'t> FromIterator<&'t str> for TextBuilder {
    fn from_iter<I: IntoIterator<Item = &'t str>>(parts: I) -> Self {
        let mut builder = Self::default();
        for part in parts {
            builder.push(part);
        }
        builder
    }
}

/// A text that a function has computed; NULL where it is too long.
pub(crate) fn limited(text: String) -> Value {
    match text.len() > MAX_TEXT_BYTES {
        true => Value::Null,
        false => text.into(),
    }
}
