//! A server's options: those that turn its instruments on, those that are the user's own.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use tare_image::Series;

/// The switch itself.
const SWITCH: &str = "performance-schema";

/// What the server's own Performance Schema would reserve memory for. Not every series has all of
/// them: they are given as `loose`, so that none stops a server.
const BUFFERS: [&str; 40] = [
    "accounts-size",
    "digests-size",
    "events-stages-history-long-size",
    "events-stages-history-size",
    "events-statements-history-long-size",
    "events-statements-history-size",
    "events-transactions-history-long-size",
    "events-transactions-history-size",
    "events-waits-history-long-size",
    "events-waits-history-size",
    "hosts-size",
    "max-cond-classes",
    "max-cond-instances",
    "max-digest-length",
    "max-file-classes",
    "max-file-handles",
    "max-file-instances",
    "max-index-stat",
    "max-memory-classes",
    "max-metadata-locks",
    "max-mutex-classes",
    "max-mutex-instances",
    "max-prepared-statements-instances",
    "max-program-instances",
    "max-rwlock-classes",
    "max-rwlock-instances",
    "max-socket-classes",
    "max-socket-instances",
    "max-sql-text-length",
    "max-stage-classes",
    "max-statement-classes",
    "max-table-handles",
    "max-table-instances",
    "max-table-lock-stat",
    "max-thread-classes",
    "max-thread-instances",
    "session-connect-attrs-size",
    "setup-actors-size",
    "setup-objects-size",
    "users-size",
];

/// Options that every server takes only before all others (mysqld --verbose --help).
const FIRST: [&str; 6] = [
    "print-defaults",
    "no-defaults",
    "defaults-file",
    "defaults-extra-file",
    "defaults-group-suffix",
    "login-path",
];

/// Name and value of an option, spelled with dashes and without `loose`.
fn parse(text: &str) -> Option<(String, Option<&str>)> {
    let long = text.strip_prefix("--")?;
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    let name = name.replace('_', "-");
    Some((
        name.strip_prefix("loose-").unwrap_or(&name).to_owned(),
        value,
    ))
}

/// What the user has said about the Performance Schema, in files and on the command line.
#[derive(Debug, Default)]
pub struct Users {
    options: Vec<(String, Option<String>)>,
}

impl Users {
    fn read(texts: impl Iterator<Item = String>) -> Self {
        let options = texts
            .filter_map(|text| {
                let (name, value) = parse(&text)?;
                Some((name, value.map(str::to_owned)))
            })
            .filter(|(name, _)| name.ends_with(SWITCH) || name.starts_with(SWITCH))
            .collect();
        Self { options }
    }

    /// What switches the instruments off, if something does: the last word counts.
    pub fn switched_off(&self) -> Option<String> {
        let (name, value) = self.options.iter().rfind(|(name, _)| {
            [
                SWITCH,
                "skip-performance-schema",
                "disable-performance-schema",
                "enable-performance-schema",
            ]
            .contains(&name.as_str())
        })?;
        let off = match value.as_deref() {
            None => !(name == SWITCH || name.starts_with("enable")),
            Some(value) => {
                let yes = ["1", "ON", "TRUE", "YES"].contains(&value.to_uppercase().as_str());
                yes != (name == SWITCH || name.starts_with("enable"))
            }
        };
        let text = match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        };
        off.then_some(text)
    }

    fn names(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }
}

/// Asks the server what it would be started with: it knows best which files it reads.
pub fn of_user(server: &Path, arguments: &[OsString]) -> Users {
    let (first, rest) = arguments.split_at(first(arguments));
    let printed = Command::new(server)
        .args(first)
        .arg("--print-defaults")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let files = printed.split_whitespace().map(str::to_owned);
    let line = rest
        .iter()
        .map(|argument| argument.to_string_lossy().into_owned());
    Users::read(files.chain(line))
}

/// How many arguments must stay in front.
fn first(arguments: &[OsString]) -> usize {
    arguments
        .iter()
        .take_while(|argument| {
            parse(&argument.to_string_lossy())
                .is_some_and(|(name, _)| FIRST.contains(&name.as_str()))
        })
        .count()
}

/// Puts ours before the user's own, which then have the last word.
pub fn insert(arguments: &mut Vec<OsString>, series: Series, users: &Users) {
    let switch = (!users.names(SWITCH)).then(|| OsString::from(format!("--{SWITCH}=ON")));
    let own: &[(&str, u32)] = match series {
        Series::Mysql80 => &[("error-size", 0), ("max-statement-stack", 1)],
        Series::Mysql57 | Series::Mariadb1011 => &[("max-statement-stack", 1)],
        Series::Mysql56 => &[],
    };
    let common = BUFFERS.iter().map(|&buffer| (buffer, 0));
    let buffers = common
        .chain(own.iter().copied())
        .map(|(buffer, size)| (format!("{SWITCH}-{buffer}"), size))
        .filter(|(buffer, _)| !users.names(buffer))
        .map(|(buffer, size)| OsString::from(format!("--loose-{buffer}={size}")));
    let at = first(arguments);
    arguments.splice(at..at, switch.into_iter().chain(buffers));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(line: &str) -> Users {
        Users::read(line.split_whitespace().map(str::to_owned))
    }

    fn inserted(line: &str, series: Series) -> Vec<String> {
        let mut arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        insert(&mut arguments, series, &users(line));
        let text = |argument: OsString| argument.into_string().expect("UTF-8");
        arguments.into_iter().map(text).collect()
    }

    #[test]
    fn ours_come_after_the_files_and_before_the_users() {
        let all = inserted("--no-defaults --port=1 --no-defaults", Series::Mysql57);
        assert_eq!(all.len(), 3 + 1 + BUFFERS.len() + 1);
        assert_eq!(all[0], "--no-defaults");
        assert_eq!(all[1], "--performance-schema=ON");
        assert_eq!(all[all.len() - 2..], ["--port=1", "--no-defaults"]);
        assert!(all.contains(&"--loose-performance-schema-digests-size=0".to_owned()));
    }

    #[test]
    fn the_users_own_are_left_alone() {
        let line = "--performance_schema --loose-performance_schema_digests_size=5";
        let all = inserted(line, Series::Mysql80);
        assert!(!all.iter().any(|each| each == "--performance-schema=ON"));
        assert!(!all.iter().any(|each| each.contains("digests-size=0")));
        assert_eq!(all.len(), 2 + BUFFERS.len() + 2 - 1);
    }

    #[test]
    fn the_last_word_switches_off() {
        let off = |line: &str| users(line).switched_off();
        for line in [
            "--performance_schema=OFF",
            "--performance-schema=0",
            "--skip-performance-schema",
            "--performance-schema --loose-performance-schema=off",
        ] {
            assert!(off(line).is_some(), "{line}");
        }
        for line in [
            "",
            "--performance-schema",
            "--performance_schema=1",
            "--performance-schema=OFF --performance-schema=ON",
            "--skip-performance-schema=0",
            "--performance-schema-digests-size=0",
        ] {
            assert_eq!(off(line), None, "{line}");
        }
    }
}
