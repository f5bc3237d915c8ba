//! A text that a function makes: it stays within what a packet takes and what its statement may take,
//! and is made in steps between which the function looks whether its statement must end.

use std::borrow::Cow;
use std::cell::Cell;

use rusqlite::Result;
use rusqlite::types::Value;

use crate::call::{Answer, Call, ROUNDS, STEP, go_on, room};
use crate::session::Session;

/// The longest text that a function makes, in bytes: MySQL's default of max_allowed_packet. What would
/// be longer is NULL, as in MySQL.
pub(crate) const MOST: usize = 64 << 20;

/// Work in small steps: it looks now and then whether its statement must end.
pub(crate) struct Watch<'a> {
    session: &'a dyn Session,
    /// Since the last look.
    bytes: Cell<usize>,
    rounds: Cell<usize>,
}

impl<'a> Watch<'a> {
    /// Work for a session.
    pub(crate) fn new(session: &'a dyn Session) -> Self {
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
    pub(crate) fn new(session: &'a dyn Session) -> Self {
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
    fn copy(&mut self, mut text: &str) -> Result<()> {
        while text.len() > STEP {
            let (piece, more) = text.split_at(text.floor_char_boundary(STEP));
            self.text.push_str(piece);
            self.watch.step(piece.len())?;
            text = more;
        }
        self.text.push_str(text);
        self.watch.step(text.len())
    }

    /// What has been put in.
    pub(crate) fn value(self) -> Value {
        self.text.into()
    }
}

/// A text of its own, copied in steps.
pub(crate) fn owned(session: &dyn Session, text: Cow<'_, str>) -> Result<String> {
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
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.floor_char_boundary(STEP));
            if !made.push(&each(piece))? {
                return Ok(Value::Null);
            }
            rest = more;
        }
        Ok(made.value())
    }

    /// Where a text has another, from a byte on.
    pub(crate) fn find(&self, text: &str, what: &str, from: usize) -> Result<Option<usize>> {
        if what.len() > STEP {
            let (text, what) = (&text.as_bytes()[from..], what.as_bytes());
            let found = self.find_long(text.len(), what.len(), |i| text[i], |i| what[i])?;
            return Ok(found.map(|at| from + at));
        }
        let window = STEP.max(what.len() * 2);
        let mut from = from;
        loop {
            let end = text.ceil_char_boundary(from.saturating_add(window).min(text.len()));
            if let Some(at) = text[from..end].find(what) {
                return Ok(Some(from + at));
            }
            if end == text.len() {
                return Ok(None);
            }
            self.go_on()?;
            // What begins before the window's end may end behind it.
            from = text.floor_char_boundary(end - what.len().saturating_sub(1));
        }
    }
}

impl Call<'_> {
    /// Where a text has another for the last time, before a byte.
    pub(crate) fn find_last(&self, text: &str, what: &str, to: usize) -> Result<Option<usize>> {
        if what.len() > STEP {
            let (text, what) = (&text.as_bytes()[..to], what.as_bytes());
            let (last, last_of) = (to.wrapping_sub(1), what.len() - 1);
            let found =
                self.find_long(to, what.len(), |i| text[last - i], |i| what[last_of - i])?;
            return Ok(found.map(|at| to - at - what.len()));
        }
        let window = STEP.max(what.len() * 2);
        let mut to = to;
        loop {
            let from = text.floor_char_boundary(to.saturating_sub(window));
            if let Some(at) = text[from..to].rfind(what) {
                return Ok(Some(from + at));
            }
            if from == 0 {
                return Ok(None);
            }
            self.go_on()?;
            // What ends behind the window's beginning may begin before it.
            to = text.ceil_char_boundary(from + what.len().saturating_sub(1));
        }
    }
}

impl Call<'_> {
    /// Where bytes first are in others, both of which may be read backwards. The search of a text by a long
    /// one begins with reading that to its end: this one looks meanwhile. It compares sums of all bytes, each
    /// times a power of a number (Karp and Rabin), and the bytes where the sums are alike.
    fn find_long(
        &self,
        len: usize,
        of: usize,
        byte: impl Fn(usize) -> u8,
        sought: impl Fn(usize) -> u8,
    ) -> Result<Option<usize>> {
        if of > len {
            return Ok(None);
        }
        const BASE: u64 = 0x0100_0000_01b3;
        let add = |sum: u64, byte: u8| sum.wrapping_mul(BASE).wrapping_add(byte.into());
        let watch = Watch::new(self.session);
        let (mut here, mut there, mut power) = (0, 0, 1_u64);
        for i in 0..of {
            watch.step(1)?;
            (here, there) = (add(here, byte(i)), add(there, sought(i)));
            power = power.wrapping_mul(BASE);
        }
        for at in 0.. {
            if here == there {
                let mut differs = false;
                for i in 0..of {
                    watch.step(1)?;
                    differs = byte(at + i) != sought(i);
                    if differs {
                        break;
                    }
                }
                if !differs {
                    return Ok(Some(at));
                }
            }
            if at + of == len {
                break;
            }
            watch.step(1)?;
            let gone = power.wrapping_mul(byte(at).into());
            here = add(here, byte(at + of)).wrapping_sub(gone);
        }
        Ok(None)
    }
}

/// Where a text's character begins; its end, where it has fewer. As fast as memory is.
pub(crate) fn offset(text: &str, characters: usize) -> usize {
    let Some(skip) = characters.checked_sub(1) else {
        return 0;
    };
    let mut rest = text.chars();
    rest.nth(skip);
    text.len() - rest.as_str().len()
}
