//! What the user says about the server's Performance Schema, in option files and on the command line.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Release;

/// The switch itself.
pub const SWITCH: &str = "performance-schema";

/// The switch as servers take it, which may each have a value.
const SWITCHES: [&str; 4] = [
    SWITCH,
    "skip-performance-schema",
    "disable-performance-schema",
    "enable-performance-schema",
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
    /// Out of options as a command line has them; the later ones win.
    pub fn read(texts: impl Iterator<Item = String>) -> Self {
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
        let is_switch = |name: &str| SWITCHES.contains(&name);
        let (name, value) = self.options.iter().rfind(|(name, _)| is_switch(name))?;
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

    /// Why a server of this release does not initialise its Performance Schema: what switches it off, or that nothing
    /// switches it on where it is off by itself.
    pub fn off(&self, release: Release) -> Option<String> {
        let is_silent = !self
            .options
            .iter()
            .any(|(name, _)| SWITCHES.contains(&name.as_str()));
        if is_silent && release.is_mariadb() {
            return Some(format!("{release} without --{SWITCH}"));
        }
        self.switched_off()
    }

    /// What the user has said about instruments, consumers and sizes, as an engine's options: `instrument`,
    /// `consumer_...`, `digests_size`. The smallest size is none of theirs: with it the server's own engine is kept small.
    pub fn of_the_engine(&self) -> impl Iterator<Item = (String, &str)> {
        self.options.iter().filter_map(|(name, value)| {
            let of = name.strip_prefix(SWITCH)?.strip_prefix('-')?;
            let value = value.as_deref().unwrap_or("ON");
            let is_smallest = match of {
                "max-statement-stack" => value == "1",
                _ => value == "0" && !of.starts_with("consumer-"),
            };
            (!is_smallest).then(|| (of.replace('-', "_"), value))
        })
    }

    /// Whether the user gave this option.
    pub fn names(&self, option: &str) -> bool {
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
pub fn first(arguments: &[OsString]) -> usize {
    arguments
        .iter()
        .take_while(|argument| {
            parse(&argument.to_string_lossy())
                .is_some_and(|(name, _)| FIRST.contains(&name.as_str()))
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(line: &str) -> Users {
        Users::read(line.split_whitespace().map(str::to_owned))
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

    #[test]
    fn mariadb_is_off_by_itself() {
        let off = |line: &str, release| users(line).off(release).is_some();
        assert!(off(
            "--performance-schema-digests-size=5",
            Release::Mariadb1011
        ));
        assert!(!off("--performance-schema", Release::Mariadb1011));
        assert!(!off("", Release::Mysql57));
        assert!(off("--performance-schema=OFF", Release::Mysql80));
    }

    #[test]
    fn an_engine_is_told_what_the_user_has_said() {
        let line = "--performance-schema --loose-performance_schema_digests_size=5 --performance-schema-users-size=0 \
                    --loose-performance-schema-max-statement-stack=1 \
                    --performance-schema-instrument=wait/%=OFF --performance-schema-consumer-events-waits-current \
                    --performance-schema-consumer-statements-digest=0 --port=1";
        let users = users(line);
        let told: Vec<_> = users.of_the_engine().collect();
        let told: Vec<_> = told
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let expected = [
            ("digests_size", "5"),
            ("instrument", "wait/%=OFF"),
            ("consumer_events_waits_current", "ON"),
            ("consumer_statements_digest", "0"),
        ];
        assert_eq!(told, expected);
    }
}
