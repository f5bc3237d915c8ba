//! Documents as texts: MySQL's form, its pretty one, and one string in quotes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use rusqlite::{Error, Result};
use serde_json::Value as Json;

use crate::call::{ROUNDS, STEP, pieces};
use crate::evaluation::EvaluationContext;
use crate::made::Made;
use crate::prelude::*;

/// A document's text, as MySQL prints it. NULL where that is too long.
pub(crate) fn text(session: &dyn EvaluationContext, value: &Json) -> Answer {
    written(session, |out| out.put(value))
}

/// The same on many lines.
pub(super) fn pretty(session: &dyn EvaluationContext, value: &Json) -> Answer {
    written(session, |out| {
        serde_json::to_writer_pretty(out, value).map_err(Into::into)
    })
}

/// A text as a string of JSON.
pub(crate) fn quoted(session: &dyn EvaluationContext, text: &str) -> Answer {
    written(session, |out| out.string(text))
}

fn written(
    session: &dyn EvaluationContext,
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
) -> Answer {
    let mut out = Out {
        made: Made::new(session),
        session,
        ended: None,
    };
    match (write(&mut out), out.ended) {
        (_, Some(error)) => Err(error),
        (Ok(()), None) => Ok(out.made.value()),
        // Nothing else stops it but its length.
        (Err(_), None) => Ok(Value::Null),
    }
}

/// Where it is written to.
struct Out<'a> {
    made: Made<'a>,
    session: &'a dyn EvaluationContext,
    /// Why it ended before its end.
    ended: Option<Error>,
}

impl io::Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    /// serde_json hands over whole characters.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = str::from_utf8(bytes).map_err(io::Error::other)?;
        let pushed = self.made.push(text);
        if self.kept(pushed)? {
            return Ok(());
        }
        Err(io::Error::other("too long"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Out<'_> {
    /// Keeps an error of ours, which io's cannot hold.
    fn kept<T>(&mut self, result: Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            self.ended = Some(error);
            io::Error::other("ended")
        })
    }

    fn put(&mut self, value: &Json) -> io::Result<()> {
        use io::Write as _;
        match value {
            Json::Array(all) => {
                self.write_all(b"[")?;
                for (i, v) in all.iter().enumerate() {
                    if i > 0 {
                        self.write_all(b", ")?;
                    }
                    self.put(v)?;
                }
                self.write_all(b"]")
            }
            Json::Object(all) => {
                self.write_all(b"{")?;
                let keys = self.sorted(all)?;
                let mut first = true;
                for key in keys {
                    if !first {
                        self.write_all(b", ")?;
                    }
                    first = false;
                    self.string(key)?;
                    self.write_all(b": ")?;
                    self.put(&all[key])?;
                }
                self.write_all(b"}")
            }
            Json::String(text) => self.string(text),
            other => serde_json::to_writer(self, other).map_err(Into::into),
        }
    }

    /// A string in quotes. serde_json reads one to its end before it writes: a long one is given to it in
    /// pieces, between which this looks.
    fn string(&mut self, text: &str) -> io::Result<()> {
        use io::Write as _;
        if text.len() <= STEP {
            return serde_json::to_writer(self, text).map_err(Into::into);
        }
        self.write_all(b"\"")?;
        for piece in pieces(text) {
            let quoted = serde_json::to_string(piece)?;
            self.write_all(&quoted.as_bytes()[1..quoted.len() - 1])?;
        }
        self.write_all(b"\"")
    }

    /// MySQL sorts keys by length, then by their bytes. Many are sorted in parts, which are merged.
    fn sorted<'v>(&mut self, all: &'v serde_json::Map<String, Json>) -> io::Result<Keys<'v>> {
        let mut parts = Vec::new();
        let mut keys = all.keys();
        loop {
            let part = keys.by_ref().take(ROUNDS);
            let mut part: Vec<Key<'v>> = part.map(|k| (k.len(), k.as_str())).collect();
            if part.is_empty() {
                break;
            }
            part.sort_unstable();
            parts.push(part.into_iter());
            if parts.len() > 1 {
                let alive = go_on(self.session);
                self.kept(alive)?;
            }
        }
        let heads = parts.iter_mut().enumerate();
        let heads = heads
            .filter_map(|(i, part)| Some(Reverse((part.next()?, i))))
            .collect();
        Ok(Keys { heads, parts })
    }
}

/// By length, then by bytes.
type Key<'v> = (usize, &'v str);

/// Keys in their order, out of parts that are.
struct Keys<'v> {
    heads: BinaryHeap<Reverse<(Key<'v>, usize)>>,
    parts: Vec<std::vec::IntoIter<Key<'v>>>,
}

impl<'v> Iterator for Keys<'v> {
    type Item = &'v str;

    fn next(&mut self) -> Option<&'v str> {
        let Reverse(((_, key), from)) = self.heads.pop()?;
        if let Some(next) = self.parts[from].next() {
            self.heads.push(Reverse((next, from)));
        }
        Some(key)
    }
}
