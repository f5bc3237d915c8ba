//! The statements of a connection: their texts, and prepared statements and portals by their names.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::FixedState;

use super::commands::{self, Command, Commands};
use super::session::MAX_NAME_BYTES;
use super::shape;
use super::tokens::{Token, Tokens};
use crate::session::MAX_STORED_BYTES;

/// The most prepared statements, and the most portals, whose texts are stored.
const MAX_NAMES: usize = 4096;

/// Bytes of memory that the texts of a connection take.
pub type Budget = Rc<Cell<usize>>;

/// A text that is stored, if the connection's texts have space for it.
pub struct StoredText {
    text: String,
    is_left_out: bool,
    budget: Budget,
}

impl StoredText {
    pub fn new(text: &str, budget: &Budget) -> Self {
        let total = budget.get() + text.len();
        let is_left_out = total > MAX_STORED_BYTES;
        let text = match is_left_out {
            true => "",
            false => text,
        };
        budget.set(budget.get() + text.len());
        Self {
            text: text.to_owned(),
            is_left_out,
            budget: Rc::clone(budget),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether there was no space for it.
    pub fn is_left_out(&self) -> bool {
        self.is_left_out
    }
}

impl Drop for StoredText {
    fn drop(&mut self) {
        self.budget.set(self.budget.get() - self.text.len());
    }
}

/// A statement that a client has sent.
pub struct Source {
    /// Empty: it is not read.
    text: StoredText,
    /// By its first words.
    pub command: &'static Command,
    /// Whether literals are not stored, nor the messages of errors, which may quote them.
    pub is_secret: bool,
    has_escapes: bool,
    shape: OnceCell<String>,
}

impl Source {
    pub fn new(
        text: &str,
        has_escapes: bool,
        commands: &'static Commands,
        budget: &Budget,
    ) -> Self {
        let text = text.trim();
        let command = commands.of_text(text, has_escapes);
        Self {
            text: StoredText::new(text, budget),
            command,
            is_secret: command.is_secret || commands::has_password(text),
            has_escapes,
            shape: OnceCell::new(),
        }
    }

    /// One that is not there: the client has sent no text, or it was not stored.
    pub fn unknown(commands: &'static Commands, budget: &Budget) -> Self {
        Self {
            text: StoredText::new("", budget),
            command: &commands.other,
            is_secret: false,
            has_escapes: false,
            shape: OnceCell::new(),
        }
    }

    /// One whose text is not read.
    pub fn unread(commands: &'static Commands, budget: &Budget) -> Self {
        Self {
            is_secret: true,
            ..Self::unknown(commands, budget)
        }
    }

    pub fn has_text(&self) -> bool {
        !self.text.as_str().is_empty()
    }

    /// Its text, with `?` in place of literals if some may be secret.
    pub fn text(&self) -> &str {
        match self.is_secret {
            true => self.shape(),
            false => self.text.as_str(),
        }
    }

    /// Its normalised text.
    pub fn shape(&self) -> &str {
        self.shape.get_or_init(|| {
            let mut shape =
                String::with_capacity(self.text.as_str().len().min(shape::MAX_SHAPE_BYTES));
            shape::write(self.tokens(), self.command.is_secret, &mut shape);
            shape
        })
    }

    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::new(self.text.as_str(), self.has_escapes)
    }

    /// The name at its end, as the server reads it.
    pub fn last_name(&self) -> Option<String> {
        match self.tokens().last()? {
            Token::Word(name) => Some(name.to_ascii_lowercase()),
            Token::Quoted(name) => {
                let name = name.strip_prefix('"')?.strip_suffix('"')?;
                Some(name.replace("\"\"", "\""))
            }
            _ => None,
        }
    }

    /// Whether it is a COPY that reads a file of the server, or what a client sends.
    pub fn copies_in(&self) -> bool {
        commands::has_word(self.tokens(), "from")
    }
}

/// A portal: a statement that Bind has given its parameters.
pub struct Portal {
    pub source: Rc<Source>,
    /// Whether an Execute has returned some of its rows, and there may be more.
    pub is_suspended: Cell<bool>,
}

impl Portal {
    pub fn new(source: &Rc<Source>) -> Self {
        Self {
            source: Rc::clone(source),
            is_suspended: false.into(),
        }
    }
}

/// What has names. The server reads their first bytes only.
pub struct Names<T> {
    map: HashMap<Box<[u8]>, Rc<T>, FixedState>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self {
            map: HashMap::default(),
        }
    }
}

/// A change of a name, which can be undone.
pub struct Change<T> {
    name: Box<[u8]>,
    /// What the name has before the change; if the change is undone, what it has after it.
    other: Option<Rc<T>>,
}

#[cfg(test)]
impl<T> Change<T> {
    pub fn name(&self) -> &[u8] {
        &self.name
    }
}

impl<T> Names<T> {
    pub fn get(&self, name: &[u8]) -> Option<Rc<T>> {
        self.map.get(cut(name)).cloned()
    }

    /// Gives a name another value; `None` = none.
    pub fn set(&mut self, name: &[u8], value: Option<Rc<T>>) -> Change<T> {
        let name: Box<[u8]> = cut(name).into();
        let before = match value {
            Some(value) if self.map.len() < MAX_NAMES || self.map.contains_key(&name) => {
                self.map.insert(name.clone(), value)
            }
            _ => self.map.remove(&name),
        };
        Change {
            name,
            other: before,
        }
    }

    /// Undoes a change, or does it again. Later ones are undone before, and done again after it.
    pub fn swap(&mut self, change: &mut Change<T>) {
        let now = self.map.remove(&change.name);
        if let Some(other) = std::mem::replace(&mut change.other, now) {
            self.map.insert(change.name.clone(), other);
        }
    }

    pub fn clear(&mut self) {
        self.map.clear();
    }
}

fn cut(name: &[u8]) -> &[u8] {
    &name[..name.len().min(MAX_NAME_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::super::tokens;
    use super::*;
    use crate::random::Random;

    #[test]
    fn any_text_has_tokens_parts_and_a_shape() {
        let pieces: &[&[u8]] = &[
            b"select",
            b" ",
            b"$1",
            b"$a$",
            b"$$",
            b"'",
            b"''",
            b"\"",
            b"E'",
            b"U&\"",
            b"\\",
            b"--",
            b"\n",
            b"/*",
            b"*/",
            b"(",
            b")",
            b"[",
            b";",
            b",",
            b".",
            b"..",
            b"::",
            b"-",
            b"@-",
            b"1",
            b"0x",
            b"1e+",
            b"in",
            b"null",
            b"create function f() begin",
            b"case",
            b"end",
            b"password",
            "é".as_bytes(),
            b"with",
            b"grant",
            b"\0",
            b"\xff",
        ];
        commands::create("test");
        let commands = commands::commands().expect("created");
        for seed in 0..20_000 {
            let (mut random, budget) = (Random::new(seed), Budget::default());
            let bytes = random.bytes(pieces, 16);
            let text = String::from_utf8_lossy(&bytes);
            for has_escapes in [false, true] {
                let mut tokens = Tokens::new(&text, has_escapes);
                let mut last = 0;
                while tokens.next().is_some() {
                    assert!(
                        last < tokens.position() && tokens.position() <= text.len(),
                        "{text}"
                    );
                    last = tokens.position();
                }
                let mut rest = tokens::trim(&text);
                while !rest.is_empty() {
                    let (part, behind) = tokens::split(rest, has_escapes);
                    assert!(rest.starts_with(part) && rest.ends_with(behind), "{text}");
                    assert!(behind.len() < rest.len(), "{text}");
                    rest = behind;
                }
                let source = Source::new(&text, has_escapes, commands, &budget);
                assert!(
                    source.shape().len() <= shape::MAX_SHAPE_BYTES + "...".len(),
                    "{text}"
                );
                let _ = (source.last_name(), source.copies_in());
                let mut secret = String::new();
                shape::write(source.tokens(), true, &mut secret);
            }
            assert_eq!(budget.get(), 0);
        }
    }

    #[test]
    fn texts_take_bounded_memory_and_names_can_be_undone() {
        let budget = Budget::default();
        let text = "x".repeat(100_000);
        let texts: Vec<_> = (0..20).map(|_| StoredText::new(&text, &budget)).collect();
        assert!(budget.get() <= MAX_STORED_BYTES && budget.get() > MAX_STORED_BYTES / 2);
        assert!(texts[0].as_str() == text && texts[19].as_str().is_empty());
        drop(texts);
        assert_eq!(budget.get(), 0);

        let mut names = Names::default();
        drop(names.set(b"a", Some(Rc::new(1))));
        let mut first = names.set(b"a", Some(Rc::new(2)));
        let mut second = names.set(b"b", Some(Rc::new(3)));
        let mut third = names.set(b"a", None);
        assert_eq!(names.get(b"a"), None);
        names.swap(&mut third);
        assert_eq!(names.get(b"a").as_deref(), Some(&2));
        names.swap(&mut second);
        assert_eq!(names.get(b"b"), None);
        names.swap(&mut first);
        assert_eq!(names.get(b"a").as_deref(), Some(&1));
        names.swap(&mut second);
        names.swap(&mut third);
        assert_eq!(names.get(b"b").as_deref(), Some(&3));
        assert_eq!(names.get(b"a"), None);
        drop(names.set(&[b'x'; 99], Some(Rc::new(4))));
        assert_eq!(names.get(&[b'x'; 64]).as_deref(), Some(&4));
        assert_eq!(names.get(&[b'x'; 62]), None);
        for number in 0..5_000u32 {
            drop(names.set(&number.to_le_bytes(), Some(Rc::new(0))));
        }
        assert_eq!(names.map.len(), MAX_NAMES);
    }
}
