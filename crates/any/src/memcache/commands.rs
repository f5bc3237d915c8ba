//! The commands of memcached.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use engine::{Class, Kind as ClassKind};

use crate::names::create_class;
use crate::request::Request;
use crate::text::{write_arguments, write_keys};

/// What a command does with its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Get,
    Store,
    Delete,
    /// Increments or decrements.
    Number,
    Touch,
    Other,
}

/// A command.
#[derive(Debug)]
pub struct Command {
    pub name: &'static str,
    pub class: &'static Class,
    pub kind: Kind,
    /// The number of the first key among the arguments, 0 = there is none. All others of a `get` are keys.
    pub first_key: usize,
    /// How many arguments it may have. With others the answer is ERROR, and no value follows.
    pub arguments: RangeInclusive<usize>,
    /// Whether a last argument `noreply` suppresses its reply.
    pub may_be_silent: bool,
}

/// A name, and the rest of a [`Command`].
type Row = (&'static str, Kind, usize, RangeInclusive<usize>, bool);

const MANY: usize = usize::MAX;
const COMMANDS: [Row; 37] = [
    ("get", Kind::Get, 1, 1..=MANY, false),
    ("gets", Kind::Get, 1, 1..=MANY, false),
    ("bget", Kind::Get, 1, 1..=MANY, false),
    ("gat", Kind::Get, 2, 1..=MANY, false),
    ("gats", Kind::Get, 2, 1..=MANY, false),
    ("set", Kind::Store, 1, 4..=5, true),
    ("add", Kind::Store, 1, 4..=5, true),
    ("replace", Kind::Store, 1, 4..=5, true),
    ("append", Kind::Store, 1, 4..=5, true),
    ("prepend", Kind::Store, 1, 4..=5, true),
    ("cas", Kind::Store, 1, 5..=6, true),
    ("delete", Kind::Delete, 1, 1..=3, true),
    ("incr", Kind::Number, 1, 2..=3, true),
    ("decr", Kind::Number, 1, 2..=3, true),
    ("touch", Kind::Touch, 1, 2..=3, true),
    ("mg", Kind::Get, 1, 1..=MANY, false),
    ("ms", Kind::Store, 1, 1..=MANY, false),
    ("md", Kind::Delete, 1, 1..=MANY, false),
    ("ma", Kind::Number, 1, 1..=MANY, false),
    ("me", Kind::Other, 1, 1..=MANY, false),
    ("mn", Kind::Other, 0, 0..=MANY, false),
    ("flush_all", Kind::Other, 0, 0..=2, true),
    ("verbosity", Kind::Other, 0, 1..=MANY, true),
    ("slabs", Kind::Other, 0, 1..=MANY, true),
    ("stats", Kind::Other, 0, 0..=MANY, false),
    ("version", Kind::Other, 0, 0..=MANY, false),
    ("quit", Kind::Other, 0, 0..=MANY, false),
    ("shutdown", Kind::Other, 0, 0..=MANY, false),
    ("watch", Kind::Other, 0, 0..=MANY, false),
    ("lru", Kind::Other, 0, 0..=MANY, false),
    ("lru_crawler", Kind::Other, 0, 0..=MANY, false),
    ("cache_memlimit", Kind::Other, 0, 1..=MANY, true),
    // Only in the binary protocol.
    ("noop", Kind::Other, 0, 0..=0, false),
    ("sasl_list_mechs", Kind::Other, 0, 0..=0, false),
    ("sasl_auth", Kind::Other, 0, 0..=0, false),
    ("sasl_step", Kind::Other, 0, 0..=0, false),
    (OTHER, Kind::Other, 0, 0..=MANY, false),
];
/// The name of what is no command.
pub const OTHER: &str = "other";
/// Of [`COMMANDS`]: those that a line cannot name.
const ONLY_BINARY: usize = 5;

static TABLE: OnceLock<Vec<Command>> = OnceLock::new();

/// Creates and registers the classes of all commands of a program.
pub fn create(program: &str) {
    let table = TABLE.get_or_init(|| {
        let create = |(name, kind, first_key, arguments, may_be_silent): Row| {
            let documentation = match name {
                OTHER => "Unknown commands, and lines that are none.",
                _ => "A command.",
            };
            let path = format!("statement/{program}/{name}");
            Command {
                name,
                class: create_class(ClassKind::Statement, path, documentation),
                kind,
                first_key,
                arguments,
                may_be_silent,
            }
        };
        COMMANDS.into_iter().map(create).collect()
    });
    for command in table {
        command.class.register();
    }
}

/// The command of this name.
pub fn named(name: &str) -> Option<&'static Command> {
    TABLE.get()?.iter().find(|command| command.name == name)
}

/// The command of a line.
pub fn find(name: &[u8]) -> Option<&'static Command> {
    let table = TABLE.get()?;
    let (of_lines, others) = table.split_at(table.len() - ONLY_BINARY);
    let command = of_lines
        .iter()
        .find(|command| command.name.as_bytes() == name);
    command.or(others.last())
}

impl Command {
    /// Whether it is one of the meta commands.
    pub fn is_meta(&self) -> bool {
        self.name.len() == 2
    }

    /// Whether all arguments from the first key on are keys.
    pub fn takes_many_keys(&self) -> bool {
        self.kind == Kind::Get && !self.is_meta()
    }

    /// Writes a request as its line.
    pub fn write_text(&self, request: &Request, into: &mut String) {
        match self.name {
            // The server answers ERROR; what the line has may be of any kind.
            OTHER => into.push('?'),
            _ => write_arguments(request, into),
        }
    }

    /// Writes the name, the shapes of the keys, and of meta commands the flags. Other arguments are one `?`.
    pub fn write_shape(&self, request: &Request, into: &mut String) {
        if self.name == OTHER {
            return into.push('?');
        }
        into.push_str(self.name);
        let keys = match self.first_key {
            0 => 1..1,
            first if self.takes_many_keys() => first..request.count(),
            first => first..(first + 1).min(request.count()),
        };
        write_keys(request, keys.clone(), into);
        let others = request.count().saturating_sub(1 + keys.len());
        if !self.is_meta() {
            into.push_str(if others == 0 { "" } else { " ?" });
            return;
        }
        for number in keys.end..request.stored() {
            match *request.argument(number) {
                [flag] if flag.is_ascii_alphabetic() => into.extend([' ', char::from(flag)]),
                [flag, ..] if flag.is_ascii_alphabetic() => {
                    into.extend([' ', char::from(flag), '?']);
                }
                _ => into.push_str(" ?"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_flags_become_shapes() {
        create("test");
        let both = |line: &str| {
            let arguments: Vec<&str> = line.split(' ').collect();
            let request = Request::of(&arguments);
            let command = find(arguments[0].as_bytes()).expect("created");
            let (mut text, mut shape) = (String::new(), String::new());
            command.write_text(&request, &mut text);
            command.write_shape(&request, &mut shape);
            (text, shape)
        };
        let shape = |line: &str| both(line).1;
        assert_eq!(shape("get user:17"), "get user:?");
        assert_eq!(shape("get user:17 user:18 x"), "get user:? x ...");
        assert_eq!(shape("gats 100 user:17 b"), "gats user:? b ?");
        assert_eq!(shape("set user:17:name 0 0 5 noreply"), "set user:?:name ?");
        assert_eq!(shape("mg user:17 v T30 q O123"), "mg user:? v T? q O?");
        assert_eq!(shape("ms user:17 5 MA"), "ms user:? ? M?");
        assert_eq!(shape("stats items"), "stats ?");
        assert_eq!(shape("flush_all"), "flush_all");
        assert_eq!(both("set user:17 0 0 5").0, "set user:17 0 0 5");
        // A name of the binary protocol, and what is no command.
        for line in ["noop", "GET a", "sesame 4711"] {
            assert_eq!(both(line), ("?".into(), "?".into()));
        }
    }
}
