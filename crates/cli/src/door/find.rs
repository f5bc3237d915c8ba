//! Finds programs on PATH, the server of a script, and the libraries to preload.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A library that programs preload.
pub struct Library {
    /// The name of its file.
    pub name: &'static str,
    /// The variable with its path, if it is neither next to `tare` nor in ../lib.
    variable: &'static str,
}

/// The library for MySQL and MariaDB servers.
pub const PSI: Library = Library {
    name: "libtare_psi.so",
    variable: "TARE_PSI_LIBRARY",
};

/// The library for other programs.
pub const ANY: Library = Library {
    name: "libtare_any.so",
    variable: "TARE_ANY_LIBRARY",
};

/// Paths of the server below its base directory, in distributions and tarballs.
const SERVER_PATHS: [&str; 6] = [
    "bin/mysqld",
    "bin/mariadbd",
    "sbin/mysqld",
    "sbin/mariadbd",
    "libexec/mysqld",
    "libexec/mariadbd",
];

/// The server that a command starts, and whether the command is a script.
pub fn server(command: &[OsString], named: Option<&Path>) -> Option<(PathBuf, bool)> {
    let program = find_on_path(&command[0])?;
    if let Some(named) = named {
        return Some((named.to_owned(), !is_same_file(&program, named)));
    }
    if is_mysqld_safe(&program) {
        return server_of_mysqld_safe(&program, &command[1..]).map(|path| (path, true));
    }
    Some((program, false))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Finds a program as execvp(3) does.
pub fn find_on_path(program: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        path.metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    let named = PathBuf::from(program);
    if named.components().count() > 1 || program.to_string_lossy().contains('/') {
        return is_program(&named).then_some(named);
    }
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(program))
        .find(|path| is_program(path))
}

/// The program that executes a script, by its first line: `/usr/bin/python3` of `#!/usr/bin/env python3`.
/// `None`: it is no script.
pub fn interpreter(script: &Path) -> Option<PathBuf> {
    /// As many bytes as Linux reads.
    const MAX_BYTES: u64 = 256;
    let mut start = Vec::new();
    let file = File::open(script).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut start).ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|&byte| byte == b'\n')
        .next()?;
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(OsStr::from_bytes);
    let program = Path::new(words.next()?);
    if program.file_name() != Some("env".as_ref()) {
        return Some(program.to_owned());
    }
    // Before the program's name, env may have options and variables.
    let named = words
        .find(|word| !word.as_bytes().starts_with(b"-") && !word.as_bytes().contains(&b'='))?;
    find_on_path(named)
}

/// Whether a program is the script that restarts a crashed server.
pub fn is_mysqld_safe(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name == "mysqld_safe" || name == "mariadbd-safe")
}

/// The server that mysqld_safe starts: by its options, or relative to its own path.
fn server_of_mysqld_safe(script: &Path, arguments: &[OsString]) -> Option<PathBuf> {
    let value = |option: &str| {
        let texts = arguments.iter().filter_map(|argument| argument.to_str());
        let mut values = texts.filter_map(|text| {
            text.strip_prefix("--")?
                .strip_prefix(option)?
                .strip_prefix('=')
        });
        values.next_back().map(PathBuf::from)
    };
    let name = value("mysqld").unwrap_or_else(|| "mysqld".into());
    let in_ledir =
        value("ledir").map(|directory| vec![directory.join(&name), directory.join("mariadbd")]);
    let base = value("basedir")
        .or_else(|| Some(script.canonicalize().ok()?.parent()?.parent()?.to_owned()));
    let below = |base: PathBuf| SERVER_PATHS.iter().map(move |path| base.join(path));
    in_ledir
        .into_iter()
        .flatten()
        .chain(base.into_iter().flat_map(below))
        .chain(below(PathBuf::from("/usr")))
        .find(|path| path.is_file())
}

/// The path of a library: as given, next to this program, in ../lib or in ../lib/tare.
pub fn library(library: &Library, named: Option<&Path>) -> Result<PathBuf, String> {
    let Library { name, variable } = library;
    let path = std::env::var_os(variable).map(PathBuf::from);
    if let Some(path) = named.map(Path::to_owned).or(path) {
        // Absolute, because the server may change its working directory.
        return path
            .canonicalize()
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let own = std::env::current_exe()
        .ok()
        .and_then(|path| path.canonicalize().ok());
    let directory = own.as_deref().and_then(Path::parent);
    let candidates = directory.map(|directory| {
        [
            directory.join(name),
            directory.join("../lib").join(name),
            // Packages install it here, so that no program links with it.
            directory.join("../lib/tare").join(name),
        ]
    });
    candidates
        .into_iter()
        .flatten()
        .find_map(|path| path.canonicalize().ok())
        .ok_or_else(|| {
            format!(
                "{name} is neither in tare's directory nor in ../lib; name it with --library PATH or {variable}"
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_up_on_path() {
        let sh = find_on_path(OsStr::new("sh")).expect("there is a shell");
        assert!(sh.is_absolute() && sh.ends_with("sh"));
        assert_eq!(find_on_path(&sh.clone().into_os_string()), Some(sh));
        assert_eq!(find_on_path(OsStr::new("no-such-program")), None);
        assert_eq!(
            find_on_path(OsStr::new("/etc/passwd")),
            None,
            "not executable"
        );
    }
}
