//! The classes of statements, by MySQL's names.

use std::collections::HashMap;
use std::sync::OnceLock;

use engine::{Class, Kind};
use foldhash::fast::FixedState;

use crate::names::create_class;

/// What the setup_instruments of MySQL 8.0 and 9.7 and of MariaDB 10.11 name `statement/sql/...`, one a line.
const KINDS: &str = include_str!("statements.txt");

/// Commands of the protocol other than COM_QUERY: number and name. The names are MySQL's; two of them differ
/// in MariaDB by a letter.
const COMMANDS: [(u8, &str); 31] = [
    (0, "Sleep"),
    (command::QUIT, "Quit"),
    (command::INIT_DB, "Init DB"),
    (command::FIELD_LIST, "Field List"),
    (5, "Create DB"),
    (6, "Drop DB"),
    (7, "Refresh"),
    (8, "Shutdown"),
    (command::STATISTICS, "Statistics"),
    (command::PROCESS_INFO, "Processlist"),
    (11, "Connect"),
    (12, "Kill"),
    (13, "Debug"),
    (14, "Ping"),
    (15, "Time"),
    (16, "Delayed insert"),
    (command::CHANGE_USER, "Change user"),
    (command::BINLOG_DUMP, "Binlog Dump"),
    (command::TABLE_DUMP, "Table Dump"),
    (20, "Connect Out"),
    (21, "Register Replica"),
    (command::PREPARE, "Prepare"),
    (command::EXECUTE, "Execute"),
    (command::LONG_DATA, "Long Data"),
    (command::CLOSE, "Close stmt"),
    (26, "Reset stmt"),
    (command::SET_OPTION, "Set option"),
    (command::FETCH, "Fetch"),
    (command::BINLOG_DUMP_GTID, "Binlog Dump GTID"),
    (command::RESET_CONNECTION, "Reset Connection"),
    (command::BULK_EXECUTE, "Bulk_execute"),
];

/// Numbers of commands.
pub mod command {
    pub const QUIT: u8 = 1;
    pub const INIT_DB: u8 = 2;
    pub const QUERY: u8 = 3;
    pub const FIELD_LIST: u8 = 4;
    pub const STATISTICS: u8 = 9;
    pub const PROCESS_INFO: u8 = 10;
    pub const CHANGE_USER: u8 = 17;
    pub const BINLOG_DUMP: u8 = 18;
    pub const TABLE_DUMP: u8 = 19;
    pub const PREPARE: u8 = 22;
    pub const EXECUTE: u8 = 23;
    pub const LONG_DATA: u8 = 24;
    pub const CLOSE: u8 = 25;
    pub const SET_OPTION: u8 = 27;
    pub const FETCH: u8 = 28;
    pub const BINLOG_DUMP_GTID: u8 = 30;
    pub const RESET_CONNECTION: u8 = 31;
    pub const CLONE: u8 = 32;
    pub const SUBSCRIBE: u8 = 33;
    pub const BULK_EXECUTE: u8 = 0xfa;
}

/// All classes.
pub struct Classes {
    by_kind: HashMap<&'static str, &'static Class, FixedState>,
    by_command: HashMap<u8, &'static Class, FixedState>,
    /// A statement whose text is not read, or has no kind.
    pub query: &'static Class,
    /// A statement that the server could not parse.
    pub error: &'static Class,
    /// A command with another number.
    unknown_command: &'static Class,
}

static CLASSES: OnceLock<Classes> = OnceLock::new();

/// Creates and registers the classes.
pub fn create() {
    let classes = CLASSES.get_or_init(Classes::new);
    let of_maps = classes.by_kind.values().chain(classes.by_command.values());
    for class in of_maps.chain([&classes.query, &classes.unknown_command]) {
        class.register();
    }
}

/// The classes; `None` before the start.
pub fn classes() -> Option<&'static Classes> {
    CLASSES.get()
}

impl Classes {
    fn new() -> Self {
        let class = |name: String| create_class(Kind::Statement, name, "A statement.");
        let of_kind = |kind: &str| class(format!("statement/sql/{kind}"));
        let by_kind: HashMap<_, _, FixedState> =
            KINDS.lines().map(|kind| (kind, of_kind(kind))).collect();
        let of_command = |name: &str| class(format!("statement/com/{name}"));
        Self {
            query: class("statement/abstract/Query".into()),
            error: by_kind[ERROR],
            by_kind,
            by_command: COMMANDS
                .iter()
                .map(|&(number, name)| (number, of_command(name)))
                .collect(),
            unknown_command: of_command("Error"),
        }
    }

    /// The class of a statement of this kind.
    pub fn of_kind(&self, kind: &str) -> &'static Class {
        self.by_kind.get(kind).unwrap_or(&self.query)
    }

    /// The class of a command of the protocol.
    pub fn of_command(&self, number: u8) -> &'static Class {
        self.by_command
            .get(&number)
            .unwrap_or(&self.unknown_command)
    }
}

/// The kind of statements that the server could not parse.
const ERROR: &str = "error";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_class() {
        create();
        let classes = classes().expect("created");
        for line in include_str!("kinds.tsv").lines() {
            let (kind, _) = line.split_once('\t').expect("two columns");
            let kind = kind.strip_suffix("@mariadb").unwrap_or(kind);
            let name = format!("statement/sql/{kind}");
            assert_eq!(classes.of_kind(kind).name(), name);
        }
        assert_eq!(classes.of_kind("").name(), "statement/abstract/Query");
        assert_eq!(classes.of_command(25).name(), "statement/com/Close stmt");
        assert_eq!(classes.of_command(99).name(), "statement/com/Error");
    }
}
