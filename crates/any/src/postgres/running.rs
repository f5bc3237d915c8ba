//! The statement that runs, and how it ends.

use std::rc::Rc;

use engine::statement::{self, Statement};

use super::commands::{Command, Commands};
use super::statements::Source;
use crate::session::{Session, UNKNOWN_ERROR};

/// The statement that runs.
pub struct Running {
    statement: Statement,
    pub source: Rc<Source>,
    /// Whether a Parse of it was answered, and no Execute.
    pub is_parsed: bool,
    pub warnings: u64,
    pub copy: Copy,
}

/// Whether a statement is a COPY that goes over the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Copy {
    None,
    In,
    Out,
}

impl Running {
    /// Starts a statement, which arrived at `since`.
    pub fn start(command: &Command, source: Rc<Source>, since: u64, session: &mut Session) -> Self {
        let running = Self {
            statement: statement::start_since(command.class, since),
            source,
            is_parsed: false,
            warnings: 0,
            copy: Copy::None,
        };
        running.describe("", session);
        running
    }

    /// Sets its text and digest, behind a word.
    fn describe(&self, word: &str, session: &mut Session) {
        let source = &self.source;
        if !source.has_text() || !self.statement.is_recorded() {
            return;
        }
        if word.is_empty() {
            self.statement.text_only(source.text());
            if self.statement.wants_digest() && !self.statement.is_active() {
                let (shape, text) = (source.shape(), source.text());
                self.statement.digest_by_shape(shape, text);
            }
        } else {
            session.describe(
                &self.statement,
                |text| text.extend([word, source.text()]),
                |shape| shape.extend([word, source.shape()]),
            );
        }
    }

    /// It is done, and this is its tag: `INSERT 0 5`. Returns the tag without numbers.
    pub fn complete<'t>(self, commands: &Commands, tag: &'t [u8], sent: u64) -> &'t str {
        let name = match tag.strip_prefix(self.source.command.tag.as_bytes()) {
            Some(numbers) if numbers.iter().all(is_numeric) => self.source.command.tag,
            _ => {
                let tag = str::from_utf8(tag).unwrap_or_default();
                let name = tag.trim_end_matches(|char: char| char.is_ascii_digit() || char == ' ');
                self.refine(commands.of_tag(name));
                name
            }
        };
        let (sent, affected) = match (name, self.copy) {
            ("INSERT" | "UPDATE" | "DELETE" | "MERGE", _) | ("COPY", Copy::In) => {
                (sent, rows_of(tag))
            }
            ("COPY", Copy::Out) => (rows_of(tag), 0),
            ("COPY", Copy::None) if self.source.copies_in() => (0, rows_of(tag)),
            // CREATE TABLE AS, SELECT INTO
            ("SELECT", _) if sent == 0 => (0, rows_of(tag)),
            _ => (sent, 0),
        };
        self.end(sent, affected);
        name
    }

    /// It is another command.
    pub fn refine(&self, command: &Command) {
        self.statement.refine(command.class);
    }

    /// It has failed after this number of rows.
    pub fn fail(self, state: &[u8], message: Option<&str>, rows: u64) {
        let state = String::from_utf8_lossy(state);
        // The message may quote what is secret.
        let message = message.filter(|_| !self.source.is_secret);
        self.statement
            .error(UNKNOWN_ERROR, &state, message.unwrap_or_default());
        self.end(rows, 0);
    }

    /// It was only prepared, or only described, which is no statement.
    pub fn end_unexecuted(self, commands: &Commands, session: &mut Session) {
        if !self.is_parsed {
            return self.discard();
        }
        self.refine(commands.of_tag("PREPARE"));
        self.describe("PREPARE ", session);
        self.end(0, 0);
    }

    /// It ends, and has sent and changed so many rows.
    pub fn end(self, sent: u64, affected: u64) {
        for (rows, set) in [
            (sent, Statement::rows_sent as fn(&Statement, u64)),
            (affected, Statement::rows_affected),
            (self.warnings, Statement::warnings),
        ] {
            if rows != 0 {
                set(&self.statement, rows);
            }
        }
    }

    /// It does not count.
    pub fn discard(self) {
        self.statement.discard();
    }
}

/// Whether a byte is a part of the numbers at the end of a command tag.
fn is_numeric(byte: &u8) -> bool {
    byte.is_ascii_digit() || *byte == b' '
}

/// The number of rows at the end of a command tag; 0 = it has none.
fn rows_of(tag: &[u8]) -> u64 {
    let number = tag.rsplit(|&byte| byte == b' ').next();
    let text = number.and_then(|number| str::from_utf8(number).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}
