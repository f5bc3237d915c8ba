//! The user's options of the server's Performance Schema, from option files and the command line.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Release;

/// The switch itself.
pub const SWITCH: &str = "performance-schema";

/// The spellings of the switch that servers accept; each may have a value.
const SWITCHES: [&str; 4] = [
    SWITCH,
    "skip-performance-schema",
    "disable-performance-schema",
    "enable-performance-schema",
];

/// Options that servers accept only before all others (mysqld --verbose --help).
const FIRST: [&str; 6] = [
    "print-defaults",
    "no-defaults",
    "defaults-file",
    "defaults-extra-file",
    "defaults-group-suffix",
    "login-path",
];

/// An option's name, spelled with dashes and without `loose`, and its value.
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

/// The user's options of the Performance Schema, from files and the command line.
#[derive(Debug, Default)]
pub struct UserOptions {
    options: Vec<(String, Option<String>)>,
}

impl UserOptions {
    /// Selects them from options as a command line has them; the later ones win.
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

    /// The option that switches the instruments off, if one does: the last switch counts.
    pub fn off_switch(&self) -> Option<String> {
        let is_switch = |name: &str| SWITCHES.contains(&name);
        let (name, value) = self.options.iter().rfind(|(name, _)| is_switch(name))?;
        let is_off = match value.as_deref() {
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
        is_off.then_some(text)
    }

    /// Why a server of this release does not initialise its Performance Schema: the option that switches it
    /// off, or that none switches it on where it is off by default.
    pub fn off_reason(&self, release: Release) -> Option<String> {
        let is_silent = !self
            .options
            .iter()
            .any(|(name, _)| SWITCHES.contains(&name.as_str()));
        if is_silent && release.is_mariadb() {
            return Some(format!("{release} without --{SWITCH}"));
        }
        self.off_switch()
    }

    /// The options of instruments, consumers and sizes, as Tare's engine names them: `instrument`,
    /// `consumer_...`, `digests_size`. The smallest size is left out: `tare run` itself sets it, to keep the
    /// server's own engine small.
    pub fn engine_options(&self) -> impl Iterator<Item = (String, &str)> {
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

/// Runs the server with `--print-defaults`, because only the server knows which files it reads.
pub fn read_user_options(server: &Path, arguments: &[OsString]) -> UserOptions {
    let (leading, rest) = arguments.split_at(count_leading(arguments));
    let printed = Command::new(server)
        .args(leading)
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
    UserOptions::read(files.chain(line))
}

/// The number of arguments that must stay in front.
pub fn count_leading(arguments: &[OsString]) -> usize {
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

    fn users(line: &str) -> UserOptions {
        UserOptions::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_last_switch_counts() {
        let off = |line: &str| users(line).off_switch();
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
    fn mariadb_is_off_by_default() {
        let is_off = |line: &str, release| users(line).off_reason(release).is_some();
        assert!(is_off(
            "--performance-schema-digests-size=5",
            Release::Mariadb1011
        ));
        assert!(!is_off("--performance-schema", Release::Mariadb1011));
        assert!(!is_off("", Release::Mysql57));
        assert!(is_off("--performance-schema=OFF", Release::Mysql80));
    }

    #[test]
    fn users_options_become_the_engines() {
        let line = "--performance-schema --loose-performance_schema_digests_size=5 --performance-schema-users-size=0 \
                    --loose-performance-schema-max-statement-stack=1 \
                    --performance-schema-instrument=wait/%=OFF --performance-schema-consumer-events-waits-current \
                    --performance-schema-consumer-statements-digest=0 --port=1";
        let users = users(line);
        let options: Vec<_> = users.engine_options().collect();
        let options: Vec<_> = options
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let expected = [
            ("digests_size", "5"),
            ("instrument", "wait/%=OFF"),
            ("consumer_events_waits_current", "ON"),
            ("consumer_statements_digest", "0"),
        ];
        assert_eq!(options, expected);
    }
}
