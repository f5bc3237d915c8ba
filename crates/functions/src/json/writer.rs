//! Prints documents: MySQL's format, its pretty format, and quoted strings.

use std::io;

use serde_json::Value as Json;
use tare_mysql::wire::value::display_real;

use super::order::name_key;
use crate::prelude::*;
use crate::text_builder::TextBuilder;

/// A document's text in MySQL's format; NULL if it is too long.
pub(crate) fn text(value: &Json) -> Value {
    written(|out| out.put(value))
}

/// The text of an array of these values.
pub(super) fn array<'v>(values: impl IntoIterator<Item = &'v Json>) -> Value {
    written(|out| out.array(values))
}

/// A document's text on many lines.
pub(super) fn pretty(value: &Json) -> Value {
    written(|out| serde_json::to_writer_pretty(out, value).map_err(Into::into))
}

/// A text as a string of JSON.
pub(crate) fn quoted(text: &str) -> Value {
    written(|out| out.string(text))
}

fn written(write: impl FnOnce(&mut JsonWriter) -> io::Result<()>) -> Value {
    let mut out = JsonWriter(TextBuilder::default());
    // The only error is that the text is too long, and its value is NULL.
    let _ = write(&mut out);
    out.0.into_value()
}

/// Where a document is written to.
struct JsonWriter(TextBuilder);

impl io::Write for JsonWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    /// serde_json writes complete characters, so each call gets valid UTF-8.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = str::from_utf8(bytes).map_err(io::Error::other)?;
        self.push(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl JsonWriter {
    fn push(&mut self, text: &str) -> io::Result<()> {
        match self.0.push(text) {
            true => Ok(()),
            false => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn put(&mut self, value: &Json) -> io::Result<()> {
        match value {
            Json::Array(all) => self.array(all),
            Json::Object(all) => {
                // MySQL sorts keys by length, then by their bytes.
                let mut keys: Vec<&String> = all.keys().collect();
                keys.sort_unstable_by_key(|key| name_key(key));
                self.push("{")?;
                for (i, key) in keys.into_iter().enumerate() {
                    if i > 0 {
                        self.push(", ")?;
                    }
                    self.string(key)?;
                    self.push(": ")?;
                    self.put(&all[key])?;
                }
                self.push("}")
            }
            Json::String(text) => self.string(text),
            Json::Number(n) if n.is_f64() => {
                let mut text = display_real(n.as_f64().unwrap_or_default());
                if !text.contains(['.', 'e']) {
                    text.push_str(".0");
                }
                self.push(&text)
            }
            other => serde_json::to_writer(self, other).map_err(Into::into),
        }
    }

    fn array<'v>(&mut self, values: impl IntoIterator<Item = &'v Json>) -> io::Result<()> {
        self.push("[")?;
        for (i, value) in values.into_iter().enumerate() {
            if i > 0 {
                self.push(", ")?;
            }
            self.put(value)?;
        }
        self.push("]")
    }

    fn string(&mut self, text: &str) -> io::Result<()> {
        serde_json::to_writer(self, text).map_err(Into::into)
    }
}
