//! The commands that have an instrument, and where their keys are.

use std::collections::HashMap;
use std::sync::OnceLock;

use engine::{Class, Kind};
use foldhash::fast::FixedState;

use crate::names::create_class;
use crate::request::Request;
use crate::turn;

/// Names in lower case, each with the positions of the first and the last key and the step between keys, as
/// the command COMMAND answers them. 0 = there are no keys at fixed positions.
const COMMANDS: &str = include_str!("commands.tsv");

/// What a command changes for its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    Auth,
    Hello,
    Select,
    Multi,
    Exec,
    Discard,
    Reset,
    SetName,
    SetInfo,
    /// CLIENT REPLY: whether there are replies from now on.
    Reply,
    /// What follows are no replies: MONITOR, SYNC, PSYNC.
    Stream,
    /// The replies are pushes in RESP3, and messages follow.
    Subscribe,
}

/// Where the keys are among the arguments; the command itself is argument 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    None,
    /// First, last (negative: from the end) and step.
    Range(usize, i32, usize),
    /// Argument 2 has their number, and they follow.
    Counted,
}

/// A command.
#[derive(Debug)]
pub struct Command {
    /// In upper case; that of a container's subcommand has both words.
    pub name: String,
    pub class: &'static Class,
    pub keys: Keys,
    pub effect: Effect,
    /// Whether its text may have no arguments, because some are passwords.
    pub is_secret: bool,
    /// Number of words of its name.
    pub words: usize,
    /// Whether it has subcommands, each with a row of its own.
    is_container: bool,
}

/// The stages of a command.
pub struct Stages {
    /// It waits for the thread that executes the commands of all clients.
    pub queue: &'static Class,
    /// It is executed.
    pub execution: &'static Class,
    /// It waits for something else than the thread, such as an element of a list.
    pub blocked: &'static Class,
    /// Its reply waits to be written, and is written.
    pub write: &'static Class,
}

struct Table {
    stages: Stages,
    commands: HashMap<&'static [u8], Command, FixedState>,
    other: Command,
}

static TABLE: OnceLock<Table> = OnceLock::new();

/// Creates and registers the classes of all commands of a program.
pub fn create(program: &str) {
    let table = TABLE.get_or_init(|| Table::new(program));
    for command in table.commands.values() {
        command.class.register();
    }
    table.other.class.register();
    let stages = &table.stages;
    for class in [stages.queue, stages.execution, stages.blocked, stages.write] {
        class.register();
    }
    turn::set_stage(stages.execution);
}

/// The stages of commands.
pub fn stages() -> Option<&'static Stages> {
    TABLE.get().map(|table| &table.stages)
}

/// The longest name.
const MAX_NAME_BYTES: usize = 64;

/// The command of a request.
pub fn find(request: &Request) -> Option<&'static Command> {
    let table = TABLE.get()?;
    let mut name = [0; MAX_NAME_BYTES];
    let first = lower(request.argument(0), &mut name, 0);
    let row = first.and_then(|end| {
        let row = table.commands.get(&name[..end])?;
        if !row.is_container || request.count() == 1 {
            return Some(row);
        }
        // The container's row is for unknown subcommands.
        *name.get_mut(end)? = b'|';
        let both = lower(request.argument(1), &mut name, end + 1);
        both.and_then(|end| table.commands.get(&name[..end]))
            .or(Some(row))
    });
    Some(row.unwrap_or(&table.other))
}

/// Writes a word in lower case behind the first `at` bytes of `name`. Returns the end; `None`: it does not
/// fit.
fn lower(word: &[u8], name: &mut [u8; MAX_NAME_BYTES], at: usize) -> Option<usize> {
    let end = at + word.len();
    let place = name.get_mut(at..end)?;
    place.copy_from_slice(word);
    place.make_ascii_lowercase();
    Some(end)
}

impl Table {
    fn new(program: &str) -> Self {
        let class = |name: &str, documentation| {
            create_class(
                Kind::Statement,
                format!("statement/{program}/{name}"),
                documentation,
            )
        };
        let commands = COMMANDS.lines().filter_map(|line| {
            let mut fields = line.split('\t');
            let name = fields.next()?;
            let number = |field: Option<&str>| field.and_then(|text| text.parse::<i32>().ok());
            let (first, last, step) = (
                number(fields.next())?,
                number(fields.next())?,
                number(fields.next())?,
            );
            let command = Command {
                name: name.replace('|', " ").to_ascii_uppercase(),
                class: class(name, "A command."),
                keys: match name {
                    "eval" | "evalsha" | "eval_ro" | "evalsha_ro" | "fcall" | "fcall_ro" => {
                        Keys::Counted
                    }
                    _ if first > 0 => Keys::Range(first as usize, last, step.max(1) as usize),
                    _ => Keys::None,
                },
                effect: effect(name),
                is_secret: matches!(
                    name,
                    "auth"
                        | "hello"
                        | "acl"
                        | "acl|setuser"
                        | "config"
                        | "config|set"
                        | "migrate"
                        | "module"
                        | "module|load"
                        | "module|loadex"
                        | "sentinel"
                        | "debug"
                ),
                words: 1 + name.matches('|').count(),
                is_container: false,
            };
            Some((name.as_bytes(), command))
        });
        let mut commands: HashMap<_, Command, _> = commands.collect();
        for (container, _) in COMMANDS.lines().filter_map(|line| line.split_once('|')) {
            if let Some(container) = commands.get_mut(container.as_bytes()) {
                container.is_container = true;
            }
        }
        let stage = |name: &str, documentation| {
            create_class(
                Kind::Stage,
                format!("stage/{program}/{name}"),
                documentation,
            )
        };
        Self {
            stages: Stages {
                queue: stage(
                    "queue",
                    "A command waits for the thread that executes the commands of all clients.",
                ),
                execution: stage("execution", "A command is executed."),
                blocked: stage(
                    "blocked",
                    "A command waits for something else than the thread.",
                ),
                write: stage("write", "A reply waits to be written, and is written."),
            },
            commands,
            other: Command {
                name: "?".into(),
                class: class("other", "Commands of modules, renamed and unknown ones."),
                keys: Keys::None,
                effect: Effect::None,
                is_secret: true,
                words: 1,
                is_container: false,
            },
        }
    }
}

fn effect(name: &str) -> Effect {
    match name {
        "auth" => Effect::Auth,
        "hello" => Effect::Hello,
        "select" => Effect::Select,
        "multi" => Effect::Multi,
        "exec" => Effect::Exec,
        "discard" => Effect::Discard,
        "reset" => Effect::Reset,
        "client|setname" => Effect::SetName,
        "client|setinfo" => Effect::SetInfo,
        "client|reply" => Effect::Reply,
        "monitor" | "sync" | "psync" => Effect::Stream,
        "subscribe" | "psubscribe" | "ssubscribe" | "unsubscribe" | "punsubscribe"
        | "sunsubscribe" => Effect::Subscribe,
        _ => Effect::None,
    }
}

impl Command {
    /// Whether [`find`] returns it for this request, as far as the first word says so. False: it may all the same.
    #[inline]
    pub fn is_named_in(&self, request: &Request) -> bool {
        !self.is_container
            && self.words == 1
            && request
                .argument(0)
                .eq_ignore_ascii_case(self.name.as_bytes())
    }

    /// Whether clients send it before the commands for which they have connected.
    pub fn begins_session(&self) -> bool {
        matches!(self.effect, Effect::Auth | Effect::Hello | Effect::Select)
            || ["CLIENT", "COMMAND", "PING"]
                .iter()
                .any(|name| self.name.starts_with(name))
    }
}

impl Keys {
    /// The positions of the keys of a request, and how many arguments belong to each.
    pub fn positions(self, request: &Request) -> (std::ops::Range<usize>, usize) {
        let count = request.count();
        match self {
            Self::None => (0..0, 1),
            Self::Range(first, last, step) => {
                let end = match last {
                    0.. => last as usize + 1,
                    _ => (count + 1).saturating_sub(last.unsigned_abs() as usize),
                };
                (first..end.clamp(first, count.max(first)), step)
            }
            Self::Counted => {
                let text = std::str::from_utf8(request.argument(2)).unwrap_or("");
                let keys = text.parse().unwrap_or(0usize);
                (3..keys.saturating_add(3).min(count.max(3)), 1)
            }
        }
    }
}
