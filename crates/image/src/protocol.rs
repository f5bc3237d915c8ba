//! What `tare run` and the library that it preloads agree on: variables, an exit code, and which programs
//! they do not instrument.

use std::ffi::OsStr;
use std::path::Path;

/// The variable with the libraries that the system's loader adds to a program (ld.so(8)).
pub const PRELOAD: &str = "LD_PRELOAD";

/// Set by `tare run --require`: a server that Tare cannot serve must not start.
pub const REQUIRE_VARIABLE: &str = "TARE_PSI_REQUIRE";

/// Set by `tare run` before the start: the library reports whether it can serve the server, changes nothing,
/// and exits.
pub const CHECK_VARIABLE: &str = "TARE_PSI_CHECK";

/// The engine's options in a server, one per line.
pub const OPTIONS_VARIABLE: &str = "TARE_OPTIONS";

/// The file name of the only program that libtare_any.so records. It does nothing in others, and stays in
/// [`PRELOAD`] there, so that what they start inherits it.
pub const PROGRAM_VARIABLE: &str = "TARE_PROGRAM";

/// The exit code of a server that does not start because of [`REQUIRE_VARIABLE`], and of a `tare run` that
/// does not start one; MySQL and MariaDB themselves use 1 and 2.
pub const REFUSED: u8 = 4;

/// Options with which a server prints something or creates a data directory, and exits. It does not
/// initialise its own Performance Schema then, so there is nothing to serve.
const SHORT_LIVED: [&str; 9] = [
    "help",
    "version",
    "print-defaults",
    "initialize",
    "initialize-insecure",
    "bootstrap",
    "install",
    "remove",
    "verbose-help",
];

/// Whether a server with these arguments exits without serving a client.
pub fn is_short_lived<T: AsRef<OsStr>>(arguments: impl IntoIterator<Item = T>) -> bool {
    let mut arguments = arguments.into_iter();
    arguments.any(|argument| is_short_lived_option(&argument.as_ref().to_string_lossy()))
}

fn is_short_lived_option(argument: &str) -> bool {
    let Some(long) = argument.strip_prefix("--") else {
        // The version, and two spellings of help.
        return matches!(argument, "-V" | "-?" | "-I");
    };
    let name = long.split('=').next().unwrap_or(long).replace('_', "-");
    let name = name.strip_prefix("loose-").unwrap_or(&name);
    SHORT_LIVED.contains(&name)
}

/// Whether a program has a server's name. What it is, [`crate::Image::recognise`] finds in its file.
pub fn has_server_name(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name == "mysqld" || name == "mariadbd")
}

/// Programs that start another one. They are not observed, and the program that they start inherits the
/// library.
const LAUNCHERS: [&str; 33] = [
    "ash",
    "bash",
    "busybox",
    "catatonit",
    "chrt",
    "dash",
    "dumb-init",
    "env",
    "fish",
    "gosu",
    "ionice",
    "ksh",
    "mksh",
    "nice",
    "nohup",
    "numactl",
    "pg_ctl",
    "runuser",
    "setpriv",
    "setsid",
    "sh",
    "start-stop-daemon",
    "stdbuf",
    "su",
    "su-exec",
    "sudo",
    "taskset",
    "time",
    "timeout",
    "tini",
    "unshare",
    "xargs",
    "zsh",
];

/// Whether a program's file is one that starts another program in its place.
pub fn is_launcher(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| LAUNCHERS.contains(&name))
}

/// The part of a program's name that its instruments' names have: `redis` of `redis-server`.
pub fn short_name(path: &Path) -> String {
    let name = path
        .file_name()
        .map_or("".into(), |name| name.to_string_lossy());
    name.strip_suffix("-server").unwrap_or(&name).to_owned()
}

/// A protocol whose commands libtare_any.so reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandProtocol {
    /// Of Redis, Valkey and their kin.
    Redis,
    /// Of memcached: text and binary.
    Memcached,
    /// Of PostgreSQL.
    Postgres,
    /// HTTP, in nginx.
    Http,
    /// Of MySQL and MariaDB.
    Mysql,
}

impl CommandProtocol {
    /// Whether several processes serve connections.
    pub fn has_processes(self) -> bool {
        matches!(self, Self::Postgres | Self::Http)
    }
}

/// The protocol of a program of this short name.
pub fn command_protocol(short_name: &str) -> Option<CommandProtocol> {
    match short_name {
        "redis" | "valkey" | "keydb" | "redict" => Some(CommandProtocol::Redis),
        "memcached" => Some(CommandProtocol::Memcached),
        "postgres" | "postmaster" => Some(CommandProtocol::Postgres),
        "nginx" | "angie" | "openresty" => Some(CommandProtocol::Http),
        "mysqld" | "mariadbd" => Some(CommandProtocol::Mysql),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_short_lived_servers_are_recognised() {
        for text in [
            "--help",
            "-?",
            "-V",
            "--version",
            "--initialize_insecure",
            "--bootstrap",
            "--initialize=1",
            "--loose-bootstrap",
        ] {
            assert!(is_short_lived(["--user=root", text]), "{text}");
        }
        for text in [
            "--verbose",
            "-v",
            "--datadir=/x/--help",
            "--initialized",
            "help",
            "--",
            "-u",
        ] {
            assert!(!is_short_lived([text]), "{text}");
        }
    }
}
