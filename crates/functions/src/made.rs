//! A text that a function makes: it stays within what a packet takes and what its statement may take,
//! and is made in steps between which the function looks whether its statement must end.

use std::borrow::Cow;
use std::cell::Cell;

use rusqlite::Result;
use rusqlite::types::Value;

use crate::call::{Answer, Call, ROUNDS, STEP, go_on, pieces, room};
use crate::evaluation::EvaluationContext;

/// The longest text that a function makes, in bytes: MySQL's default of max_allowed_packet. What would
/// be longer is NULL, as in MySQL.
pub(crate) const MOST: usize = 64 << 20;

/// Work in small steps: it looks now and then whether its statement must end.
pub(crate) struct Watch<'a> {
    session: &'a dyn EvaluationContext,
    /// Since the last look.
    bytes: Cell<usize>,
    rounds: Cell<usize>,
}

impl<'a> Watch<'a> {
    /// Work for a session.
    pub(crate) fn new(session: &'a dyn EvaluationContext) -> Self {
        Self {
            session,
            bytes: Cell::default(),
            rounds: Cell::default(),
        }
    }

    /// A step is done, with so many bytes.
    #[inline]
    pub(crate) fn step(&self, bytes: usize) -> Result<()> {
        self.bytes.set(self.bytes.get() + bytes);
        self.rounds.set(self.rounds.get() + 1);
        match self.bytes.get() >= STEP || self.rounds.get() >= ROUNDS {
            true => self.look(),
            false => Ok(()),
        }
    }

    #[cold]
    fn look(&self) -> Result<()> {
        self.bytes.set(0);
        self.rounds.set(0);
        go_on(self.session)
    }
}

/// A text in the making.
pub(crate) struct Made<'a> {
    watch: Watch<'a>,
    text: String,
}

impl<'a> Made<'a> {
    /// An empty one.
    pub(crate) fn new(session: &'a dyn EvaluationContext) -> Self {
        Self {
            watch: Watch::new(session),
            text: String::new(),
        }
    }

    /// Puts a text behind it. False: it would be too long, and the function's value is NULL.
    pub(crate) fn push(&mut self, text: &str) -> Result<bool> {
        let needed = self.text.len() + text.len();
        if needed > MOST {
            return Ok(false);
        }
        if needed > self.text.capacity() {
            let larger = (self.text.capacity() * 2).clamp(needed, MOST);
            room(larger)?;
            self.text.reserve_exact(larger - self.text.len());
        }
        self.copy(text)?;
        Ok(true)
    }

    /// The same where there is room. Copying is as fast as memory is, which may be slow where it is new.
    fn copy(&mut self, text: &str) -> Result<()> {
        for piece in pieces(text) {
            self.text.push_str(piece);
            self.watch.step(piece.len())?;
        }
        Ok(())
    }

    /// What has been put in.
    pub(crate) fn value(self) -> Value {
        self.text.into()
    }
}

/// A text of its own, copied in steps.
pub(crate) fn owned(session: &dyn EvaluationContext, text: Cow<'_, str>) -> Result<String> {
    let Cow::Borrowed(text) = text else {
        return Ok(text.into_owned());
    };
    room(text.len())?;
    let mut made = Made::new(session);
    made.text.reserve_exact(text.len());
    made.copy(text)?;
    Ok(made.text)
}

impl Call<'_> {
    /// Texts one behind the other; NULL where that is too long.
    pub(crate) fn joined<'t>(&self, parts: impl IntoIterator<Item = &'t str>) -> Answer {
        let mut made = Made::new(self.session);
        for part in parts {
            if !made.push(part)? {
                return Ok(Value::Null);
            }
        }
        Ok(made.value())
    }

    /// A text made of the pieces of another, which end where characters do.
    pub(crate) fn mapped(&self, text: &str, each: impl Fn(&str) -> String) -> Answer {
        let mut made = Made::new(self.session);
        for piece in pieces(text) {
            if !made.push(&each(piece))? {
                return Ok(Value::Null);
            }
        }
        Ok(made.value())
    }
}
