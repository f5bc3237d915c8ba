//! What `tare run` and the library that it preloads agree on.

use std::ffi::OsStr;
use std::path::Path;

/// Names libraries that the system's loader adds to a program (ld.so(8)).
pub const PRELOAD: &str = "LD_PRELOAD";

/// Set by `tare run --require`: a server that cannot be given our engine is not to start at all.
pub const REQUIRE_VARIABLE: &str = "TARE_PSI_REQUIRE";

/// Set by `tare run` before the start: say whether this server can be served, change nothing, and end.
pub const CHECK_VARIABLE: &str = "TARE_PSI_CHECK";

/// The exit code of a server that does not start because of [`REQUIRE_VARIABLE`], and of a `tare run` that does
/// not start one; MySQL and MariaDB themselves use 1 and 2.
pub const REFUSED: u8 = 4;

/// Options with which a server tells something or makes a data directory, and ends. It does not
/// initialise its own Performance Schema then, and there is nothing to serve.
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

/// Whether a server with these arguments will end without serving anybody.
pub fn only_tells_or_initialises<T: AsRef<OsStr>>(arguments: impl IntoIterator<Item = T>) -> bool {
    let mut arguments = arguments.into_iter();
    arguments.any(|argument| is_short_lived(&argument.as_ref().to_string_lossy()))
}

fn is_short_lived(argument: &str) -> bool {
    let Some(long) = argument.strip_prefix("--") else {
        // Version, help (twice).
        return matches!(argument, "-V" | "-?" | "-I");
    };
    let name = long.split('=').next().unwrap_or(long).replace('_', "-");
    let name = name.strip_prefix("loose-").unwrap_or(&name);
    SHORT_LIVED.contains(&name)
}

/// Whether a program has a server's name; what it is, its file tells.
pub fn is_called_like_a_server(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name == "mysqld" || name == "mariadbd")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_end_at_once_are_known() {
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
            assert!(only_tells_or_initialises(["--user=root", text]), "{text}");
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
            assert!(!only_tells_or_initialises([text]), "{text}");
        }
    }
}
