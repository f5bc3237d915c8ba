//! The commands that have an instrument: PostgreSQL's command tags, and what has none.

use std::collections::HashMap;
use std::sync::OnceLock;

use engine::{Class, Kind};
use foldhash::fast::FixedState;

use super::tokens::{Token, Tokens};
use crate::names::create_class;

/// The command tags that PostgreSQL's manual and its `CREATE EVENT TRIGGER` list, one a line.
const TAGS: &str = include_str!("tags.txt");

/// A command.
#[derive(Debug)]
pub struct Command {
    /// Its tag.
    pub tag: &'static str,
    pub class: &'static Class,
    /// Whether its text has no literals, because some are passwords.
    pub is_secret: bool,
}

/// All commands.
pub struct Commands {
    by_tag: HashMap<&'static str, Command, FixedState>,
    /// What has no tag: an empty query.
    pub empty: Command,
    /// A call of a function by its number (FunctionCall).
    pub function_call: Command,
    /// Any other.
    pub other: Command,
    /// Transactions.
    pub transaction: &'static Class,
}

static COMMANDS: OnceLock<Commands> = OnceLock::new();

/// Creates and registers the classes of all commands of a program.
pub fn create(program: &str) {
    let commands = COMMANDS.get_or_init(|| Commands::new(program));
    for command in commands.by_tag.values() {
        command.class.register();
    }
    for command in [&commands.empty, &commands.function_call, &commands.other] {
        command.class.register();
    }
    commands.transaction.register();
}

/// The commands; `None` before the start.
pub fn commands() -> Option<&'static Commands> {
    COMMANDS.get()
}

impl Commands {
    fn new(program: &str) -> Self {
        let command = |tag: &'static str| {
            let name = tag.to_ascii_lowercase().replace(' ', "_");
            Command {
                tag,
                class: create_class(
                    Kind::Statement,
                    format!("statement/{program}/{name}"),
                    "A statement.",
                ),
                is_secret: is_secret(tag),
            }
        };
        Self {
            by_tag: TAGS.lines().map(|tag| (tag, command(tag))).collect(),
            empty: command("EMPTY QUERY"),
            function_call: command("FUNCTION CALL"),
            other: command("OTHER"),
            transaction: create_class(
                Kind::Transaction,
                "transaction".into(),
                "Transactions, also of single statements.",
            ),
        }
    }

    /// The command with this tag.
    pub fn of_tag(&self, tag: &str) -> &Command {
        self.by_tag.get(tag).unwrap_or(&self.other)
    }

    /// The command of a statement, by its first words. What it does may have another tag in the end:
    /// CREATE TABLE AS ends with SELECT.
    pub fn of_text(&self, text: &str, has_escapes: bool) -> &Command {
        let mut tokens = Tokens::new(text, has_escapes);
        let first = loop {
            match tokens.next() {
                Some(Token::Symbol("(")) => {}
                Some(Token::Word(word)) => break word.to_ascii_uppercase(),
                Some(_) => return &self.other,
                None => return &self.empty,
            }
        };
        let behind = tokens.clone();
        let second = || match behind.clone().next() {
            Some(Token::Word(word)) => word.to_ascii_uppercase(),
            _ => String::new(),
        };
        let tag = match first.as_str() {
            "SELECT" | "VALUES" | "TABLE" => "SELECT",
            "WITH" => find_main_verb(tokens),
            "END" => "COMMIT",
            "ABORT" => "ROLLBACK",
            "ANALYSE" => "ANALYZE",
            "TRUNCATE" => "TRUNCATE TABLE",
            "LOCK" => "LOCK TABLE",
            "DECLARE" => "DECLARE CURSOR",
            "START" => "START TRANSACTION",
            "REFRESH" => "REFRESH MATERIALIZED VIEW",
            "IMPORT" => "IMPORT FOREIGN SCHEMA",
            "SECURITY" => "SECURITY LABEL",
            "REASSIGN" => "REASSIGN OWNED",
            "CLOSE" if second() == "ALL" => "CLOSE CURSOR ALL",
            "CLOSE" => "CLOSE CURSOR",
            "PREPARE" if second() == "TRANSACTION" => "PREPARE TRANSACTION",
            "GRANT" if !has_word(behind.clone(), "on") => "GRANT ROLE",
            "REVOKE" if !has_word(behind.clone(), "on") => "REVOKE ROLE",
            "ALTER" | "CREATE" | "DROP" => return self.of_object(first, tokens),
            "COMMIT" | "ROLLBACK" | "SET" | "DISCARD" | "DEALLOCATE" => {
                let both = format!("{first} {}", second());
                let command = self.by_tag.get(both.as_str());
                return command.unwrap_or_else(|| self.of_tag(&first));
            }
            first => first,
        };
        self.of_tag(tag)
    }

    /// The command that alters, creates or drops an object.
    fn of_object(&self, mut tag: String, tokens: Tokens) -> &Command {
        let mut command = None;
        for token in tokens.take(8) {
            let Token::Word(word) = token else { break };
            let word = word.to_ascii_uppercase();
            match word.as_str() {
                "OR" | "REPLACE" | "TEMP" | "TEMPORARY" | "GLOBAL" | "LOCAL" | "UNLOGGED"
                | "UNIQUE" | "RECURSIVE" | "TRUSTED" | "PROCEDURAL" => continue,
                // CREATE CONSTRAINT TRIGGER, CREATE DEFAULT CONVERSION
                "CONSTRAINT" | "DEFAULT" if tag == "CREATE" => continue,
                _ => {}
            }
            tag.push(' ');
            tag.push_str(match word.as_str() {
                "GROUP" => "ROLE",
                word => word,
            });
            command = self.by_tag.get(tag.as_str()).or(command);
        }
        // USER is a role, but in USER MAPPING.
        command.unwrap_or_else(|| {
            let mut words = tag.split(' ');
            match (words.next(), words.next()) {
                (Some(verb), Some("USER")) => self.of_tag(&format!("{verb} ROLE")),
                _ => &self.other,
            }
        })
    }
}

/// The words that are not within parentheses.
fn outer_words(tokens: Tokens<'_>) -> impl Iterator<Item = &str> {
    let mut depth = 0u32;
    tokens.filter_map(move |token| match token {
        Token::Word(word) if depth == 0 => Some(word),
        Token::Symbol("(") => {
            depth += 1;
            None
        }
        Token::Symbol(")") => {
            depth = depth.saturating_sub(1);
            None
        }
        _ => None,
    })
}

/// The verb of a statement behind WITH: SELECT, or one that changes rows.
fn find_main_verb(tokens: Tokens) -> &'static str {
    const VERBS: [&str; 5] = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"];
    outer_words(tokens)
        .find_map(|word| {
            VERBS
                .into_iter()
                .find(|verb| word.eq_ignore_ascii_case(verb))
        })
        .unwrap_or("SELECT")
}

/// Whether a word is among the tokens that are not within parentheses.
pub fn has_word(tokens: Tokens, name: &str) -> bool {
    outer_words(tokens).any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether some literals of a command may be secret: passwords, and options of connections.
fn is_secret(tag: &str) -> bool {
    match tag.split_once(' ') {
        Some(("CREATE" | "ALTER", object)) => matches!(
            object,
            "ROLE"
                | "USER MAPPING"
                | "SERVER"
                | "SUBSCRIPTION"
                | "FOREIGN DATA WRAPPER"
                | "FOREIGN TABLE"
                | "SYSTEM"
        ),
        Some(("IMPORT", _)) => true,
        _ => tag == "OTHER",
    }
}

/// Whether a text speaks of a password: in a command, a connection's options, or a column's name.
pub fn has_password(text: &str) -> bool {
    let mut bytes = text.as_bytes();
    while let Some(at) = memchr::memchr2(b'p', b'P', bytes) {
        bytes = &bytes[at..];
        if bytes.len() >= 5 && bytes[..5].eq_ignore_ascii_case(b"passw") {
            return true;
        }
        bytes = &bytes[1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_recognised_by_their_first_words() {
        let commands = Commands::new("test");
        let tag = |text: &str| commands.of_text(text, false).tag;
        for (text, expected) in [
            ("select 1", "SELECT"),
            (" /* a */ ((SELECT 1) UNION SELECT 2)", "SELECT"),
            ("VALUES (1)", "SELECT"),
            (
                "WITH a AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM a",
                "INSERT",
            ),
            ("WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a", "SELECT"),
            ("", "EMPTY QUERY"),
            ("-- nothing", "EMPTY QUERY"),
            ("CRAETE USER x", "OTHER"),
            ("'x'", "OTHER"),
            ("end", "COMMIT"),
            ("rollback to savepoint s", "ROLLBACK"),
            ("COMMIT PREPARED 'x'", "COMMIT PREPARED"),
            ("CREATE OR REPLACE TEMP VIEW v AS SELECT 1", "CREATE VIEW"),
            ("CREATE UNIQUE INDEX ON t (id)", "CREATE INDEX"),
            ("CREATE CONSTRAINT TRIGGER t", "CREATE TRIGGER"),
            ("CREATE MATERIALIZED VIEW v", "CREATE MATERIALIZED VIEW"),
            ("CREATE TABLE t AS SELECT 1", "CREATE TABLE"),
            ("CREATE USER MAPPING FOR a SERVER b", "CREATE USER MAPPING"),
            ("ALTER USER a PASSWORD 'x'", "ALTER ROLE"),
            ("ALTER USER \"a\" PASSWORD 'x'", "ALTER ROLE"),
            ("DROP GROUP a", "DROP ROLE"),
            (
                "ALTER DEFAULT PRIVILEGES GRANT SELECT",
                "ALTER DEFAULT PRIVILEGES",
            ),
            ("DROP OWNED BY a", "DROP OWNED"),
            ("CREATE TEXT SEARCH PARSER p", "CREATE TEXT SEARCH PARSER"),
            ("GRANT SELECT ON t TO a", "GRANT"),
            ("GRANT a TO b", "GRANT ROLE"),
            ("set x to 1", "SET"),
            ("SET CONSTRAINTS ALL DEFERRED", "SET CONSTRAINTS"),
            ("discard all", "DISCARD ALL"),
            ("DEALLOCATE p", "DEALLOCATE"),
            ("PREPARE p AS SELECT 1", "PREPARE"),
        ] {
            assert_eq!(tag(text), expected, "{text}");
        }
        assert!(
            commands
                .of_text("ALTER USER MAPPING FOR a", false)
                .is_secret
        );
        assert!(commands.of_text("SELEC 'x'", false).is_secret);
        assert!(!commands.of_text("DROP ROLE a", false).is_secret);
        assert!(has_password("SELECT dblink('host=a PassWord=b')"));
        assert!(!has_password("SELECT pass, 'pp' FROM p"));
    }
}
