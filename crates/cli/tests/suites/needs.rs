//! Rules for what a test needs that Tare lacks. Such tests are not eligible and do not run.

use std::fmt;

use crate::cases::Case;

/// A need that excludes a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    Replication,
    Restart,
    Plugin,
    XProtocol,
    /// A debug build. The stock server skips these, too.
    Debug,
    /// Another operating system or file system.
    Platform,
    /// Its own harness does not run it: MariaDB's suite has tests of MySQL tables that it lacks.
    Disabled,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replication => "replication or a binary log",
            Self::Restart => "a restart",
            Self::Plugin => "a plugin or component",
            Self::XProtocol => "X protocol",
            Self::Debug => "a debug build",
            Self::Platform => "another platform",
            Self::Disabled => "their authors to enable them",
        })
    }
}

/// Words in a test, in its sourced files, or in its options that indicate a need. The first match counts.
const RULES: &[(Need, &[&str])] = &[
    (
        Need::Debug,
        &["include/have_debug.inc", "include/have_debug_sync.inc"],
    ),
    (
        Need::Platform,
        &[
            "source include/windows.inc",
            "source include/freebsd.inc",
            "have_case_insensitive_file_system.inc",
            "include/not_linux.inc",
            "have_lowercase1.inc",
            "have_lowercase2.inc",
            "include/have_32bit.inc",
            "include/not_as_root.inc",
        ],
    ),
    (
        Need::Replication,
        &[
            "include/rpl/",
            "include/master-slave.inc",
            "include/have_log_bin.inc",
            "include/have_binlog_format",
            "suite/rpl/",
            "include/have_innodb_and_wsrep",
            "include/have_wsrep.inc",
            "include/rpl_init.inc",
        ],
    ),
    (
        Need::Restart,
        &[
            "include/restart_mysqld",
            "include/shutdown_mysqld.inc",
            "include/start_mysqld.inc",
            "include/kill_and_restart",
        ],
    ),
    (
        Need::XProtocol,
        &[
            "include/have_mysqlx_plugin.inc",
            "mysqlxtest",
            "xplugin_wait",
        ],
    ),
    (
        Need::Plugin,
        &[
            "install plugin ",
            "install component ",
            "install soname ",
            "include/have_example_plugin.inc",
            "include/have_plugin_auth.inc",
            "include/have_component_",
            "$pfs_example",
            "$query_attributes_component",
            "$test_server_telemetry",
            "include/have_connection_control",
        ],
    ),
];

/// The need that excludes a test.
pub fn find(case: &Case) -> Option<Need> {
    if case.is_disabled() {
        return Some(Need::Disabled);
    }
    let text = case.text();
    let code = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .chain(case.options.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("\n")
        .to_lowercase();
    let rule = RULES
        .iter()
        .find(|(_, words)| words.iter().any(|word| code.contains(word)));
    rule.map(|(need, _)| *need)
}
