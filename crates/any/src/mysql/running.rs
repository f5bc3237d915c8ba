//! The statement that runs, and how it ends.

use std::borrow::Cow;

use engine::Class;
use engine::prepared::Prepared;
use engine::statement::{self, Statement};

use super::classes::Classes;
use super::kinds;
use super::prepared::PreparedStatement;
use super::results::{Done, Failure};
use super::secrets;
use super::tokens::{Token, Tokens, is_one_of};

/// The statement that runs.
pub struct Running {
    statement: Statement,
    /// That of the text; empty = it is none, or not known.
    kind: &'static str,
    /// Whether it is a text of its own, whose class depends on whether the server can parse it.
    is_text: bool,
    /// Whether messages of errors are not stored, because they may quote a password.
    is_secret: bool,
    pub effect: Effect,
    sent: u64,
    affected: u64,
    warnings: u64,
    #[cfg(test)]
    log: log::Entry,
}

/// What a text changes in the session if it succeeds.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Effect {
    #[default]
    None,
    /// This is the default database.
    Use(String),
    /// This is none any more.
    Drop(String),
    /// The client's character set.
    Charset(String),
}

/// Numbers of errors for which the servers give a statement the class `error`: they arise while the text is
/// parsed. Syntax errors, unknown variables, and an empty text.
const PARSE_ERRORS: [u32; 4] = [1064, 1065, 1149, 1193];

impl Running {
    /// A statement or a command of this class, which arrived at `since`.
    pub fn start(class: &'static Class, since: u64) -> Self {
        Self {
            statement: statement::start_since(class, since),
            kind: kinds::UNKNOWN,
            is_text: false,
            is_secret: false,
            effect: Effect::None,
            sent: 0,
            affected: 0,
            warnings: 0,
            #[cfg(test)]
            log: log::Entry::new(class),
        }
    }

    /// A text's statement.
    pub fn start_text(classes: &Classes, text: &Text, since: u64) -> Self {
        let kind = kinds::kind_of(text.tokens(), text.is_mariadb);
        let mut running = Self::start(classes.of_kind(kind), since);
        (running.kind, running.is_text) = (kind, true);
        running.effect = Effect::of(kind, text);
        running.is_secret = text.is_secret(kind);
        #[cfg(test)]
        running.log.add(text.text);
        if running.statement.is_recorded() && !text.text.is_empty() {
            match running.is_secret {
                true => running.statement.text(&text.hidden()),
                // A comment has no digest.
                false if text.tokens().next().is_none() => running.statement.text_only(text.text),
                false => running.statement.text(text.text),
            }
        }
        running
    }

    /// The preparation of a text.
    pub fn start_prepare(class: &'static Class, text: &Text, since: u64) -> Self {
        let kind = kinds::kind_of(text.tokens(), text.is_mariadb);
        let mut running = Self::start(class, since);
        running.is_secret = text.is_secret(kind);
        #[cfg(test)]
        running.log.add(text.text);
        if running.statement.is_recorded() {
            match running.is_secret {
                true => running.describe("PREPARE", &text.hidden()),
                false => running.describe("PREPARE", text.text),
            }
        }
        running
    }

    /// A command about a prepared statement.
    pub fn start_prepared(class: &'static Class, of: &PreparedStatement, since: u64) -> Self {
        let mut running = Self::start(class, since);
        running.is_secret = of.is_secret;
        #[cfg(test)]
        running.log.add(of.text().unwrap_or_default());
        running
    }

    /// It executes a prepared statement.
    pub fn execute(&self, of: &PreparedStatement) {
        if let (Some(text), Some(digest)) = (of.text(), &of.execution) {
            self.statement.prepared_with_verb("EXECUTE", text, digest);
        }
        if let Some(row) = &of.row {
            self.statement.executes(row);
        }
    }

    /// It closes a prepared statement.
    pub fn close(&self, of: &PreparedStatement) {
        if let Some(text) = of.text() {
            self.describe("DEALLOCATE", text);
        }
    }

    fn describe(&self, verb: &str, text: &str) {
        self.statement.text_only(text);
        // Without tokens the text is read.
        self.statement.digest_by_tokens(&[], verb, text);
    }

    /// It has prepared this one.
    pub fn prepare(&self, row: &Prepared) {
        self.statement.prepares(row);
    }

    /// Whether a procedure runs, whose last result has no rows.
    pub fn is_call(&self) -> bool {
        self.kind == "call_procedure"
    }

    /// The server has sent a result of so many rows, or none.
    pub fn add_result(&mut self, rows: Option<u64>, done: &Done) {
        self.sent += rows.unwrap_or(0);
        self.affected = done.affected;
        self.warnings = done.warnings;
    }

    /// It is done.
    pub fn end(self) -> Effect {
        #[cfg(test)]
        self.log.end([self.sent, self.affected, self.warnings]);
        for (number, set) in [
            (self.sent, Statement::rows_sent as fn(&Statement, u64)),
            (self.affected, Statement::rows_affected),
            (self.warnings, Statement::warnings),
        ] {
            if number != 0 {
                set(&self.statement, number);
            }
        }
        self.effect
    }

    /// It has failed behind so many rows.
    pub fn fail(mut self, failure: &Failure, rows: u64, classes: &Classes) {
        self.sent += rows;
        (self.affected, self.warnings) = (0, 0);
        if PARSE_ERRORS.contains(&failure.number) {
            self.statement.remove_digest();
            if self.is_text {
                self.statement.refine(classes.error);
            }
        }
        #[cfg(test)]
        self.log.add(&format!("error {}", failure.number));
        let message = match self.is_secret {
            true => "",
            false => &failure.message,
        };
        self.statement
            .error(failure.number, &failure.sqlstate, message);
        self.end();
    }

    /// The statement itself.
    pub fn into_statement(self) -> Statement {
        self.statement
    }

    /// It does not count.
    pub fn discard(self) {
        self.statement.discard();
    }
}

/// A text that a client has sent.
#[derive(Clone, Copy, Debug)]
pub struct Text<'t> {
    pub text: &'t str,
    /// Whether `\` escapes in texts.
    pub has_escapes: bool,
    pub is_mariadb: bool,
}

/// Kinds of statements whose texts contain no password of the server's.
const DATA: [&str; 10] = [
    "select",
    "insert",
    "insert_select",
    "replace",
    "replace_select",
    "update",
    "update_multi",
    "delete",
    "delete_multi",
    "load",
];

impl<'t> Text<'t> {
    fn tokens(&self) -> Tokens<'t> {
        Tokens::new(self.text, self.has_escapes)
    }

    /// Whether it may contain a password.
    pub fn is_secret(&self, kind: &str) -> bool {
        !DATA.contains(&kind) && secrets::has_secret(self.text)
    }

    /// Whether it may contain a password, whatever its kind is.
    pub fn has_secret(&self) -> bool {
        self.is_secret(kinds::kind_of(self.tokens(), self.is_mariadb))
    }

    /// The text without passwords.
    pub fn hidden(&self) -> Cow<'t, str> {
        secrets::hide(self.text, self.has_escapes)
    }
}

impl Effect {
    fn of(kind: &str, text: &Text) -> Self {
        let tokens = text.tokens();
        match kind {
            "change_db" => text
                .tokens()
                .nth(1)
                .and_then(name)
                .map_or(Self::None, Self::Use),
            "drop_db" => tokens
                .filter_map(name)
                .last()
                .map_or(Self::None, Self::Drop),
            "set_option" => charset(text).map_or(Self::None, Self::Charset),
            _ => Self::None,
        }
    }
}

/// The name that a token is.
fn name(token: Token) -> Option<String> {
    match token {
        Token::Word(name) => Some(name.to_owned()),
        Token::Quoted(name) => Some(name.replace("``", "`")),
        _ => None,
    }
}

/// The character set that SET gives the client.
fn charset(text: &Text) -> Option<String> {
    let mut tokens = text.tokens();
    let is_set = loop {
        let Token::Word(word) = tokens.next()? else {
            continue;
        };
        if is_one_of(word, &["NAMES", "CHARSET", "CHARACTER_SET_CLIENT"]) {
            break true;
        }
        if is_one_of(word, &["CHARACTER"]) {
            break matches!(tokens.next(), Some(Token::Word(word)) if is_one_of(word, &["SET"]));
        }
    };
    let mut value = tokens.find(|token| !matches!(token, Token::Symbol(b'=' | b':')))?;
    if let Token::Literal = value {
        let quoted = text.text.get(tokens.start()..tokens.end())?;
        value = Token::Word(quoted.trim_matches(['\'', '"']));
    }
    name(value).filter(|_| is_set)
}

/// The statements that have ended on this thread, for tests.
#[cfg(test)]
pub mod log {
    use std::cell::RefCell;

    use engine::Class;

    thread_local! {
        static ENDED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    /// A statement.
    pub struct Entry(RefCell<String>);

    impl Entry {
        pub fn new(class: &Class) -> Self {
            let name = class.name().trim_start_matches("statement/");
            Self(RefCell::new(name.to_owned()))
        }

        pub fn add(&self, text: &str) {
            self.0.borrow_mut().push_str(&format!(" [{text}]"));
        }

        /// Rows sent and affected, and warnings.
        pub fn end(&self, numbers: [u64; 3]) {
            let text = format!("{} {numbers:?}", self.0.borrow());
            ENDED.with_borrow_mut(|ended| ended.push(text));
        }
    }

    /// Takes them.
    pub fn take() -> Vec<String> {
        ENDED.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_change_the_session() {
        let effect = |text| {
            let text = Text {
                text,
                has_escapes: true,
                is_mariadb: false,
            };
            Effect::of(kinds::kind_of(text.tokens(), false), &text)
        };
        for (text, expected) in [
            ("use shop", Effect::Use("shop".into())),
            ("USE `a``b`;", Effect::Use("a`b".into())),
            ("drop database if exists shop", Effect::Drop("shop".into())),
            ("SET NAMES 'gbk' COLLATE 'x'", Effect::Charset("gbk".into())),
            (
                "set @@character_set_client = sjis",
                Effect::Charset("sjis".into()),
            ),
            ("SET CHARACTER SET big5", Effect::Charset("big5".into())),
            ("SET autocommit = 1", Effect::None),
            ("SELECT 1", Effect::None),
        ] {
            assert_eq!(effect(text), expected, "{text}");
        }
    }
}
