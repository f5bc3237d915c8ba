//! The options that Tare adds to the user's own.

use std::ffi::OsString;

use tare_image::Release;
use tare_image::options::{SWITCH, UserOptions, count_leading};

/// Size options of the server's own Performance Schema. They are `loose`, because no release has all of them.
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

/// Inserts Tare's options before the user's own, which override them.
pub fn insert(arguments: &mut Vec<OsString>, release: Release, users: &UserOptions) {
    let switch = (!users.names(SWITCH)).then(|| OsString::from(format!("--{SWITCH}=ON")));
    let own: &[(&str, u32)] = match release {
        Release::Mysql80 | Release::Mysql97 => &[("error-size", 0), ("max-statement-stack", 1)],
        Release::Mysql57 | Release::Mariadb1011 | Release::Mariadb114 | Release::Mariadb118 => {
            &[("max-statement-stack", 1)]
        }
        Release::Mysql56 => &[],
    };
    let common = BUFFERS.iter().map(|&buffer| (buffer, 0));
    let buffers = common
        .chain(own.iter().copied())
        .map(|(buffer, size)| (format!("{SWITCH}-{buffer}"), size))
        .filter(|(buffer, _)| !users.names(buffer))
        .map(|(buffer, size)| OsString::from(format!("--loose-{buffer}={size}")));
    let at = count_leading(arguments);
    arguments.splice(at..at, switch.into_iter().chain(buffers));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(line: &str) -> UserOptions {
        UserOptions::read(line.split_whitespace().map(str::to_owned))
    }

    fn inserted(line: &str, release: Release) -> Vec<String> {
        let mut arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        insert(&mut arguments, release, &users(line));
        let text = |argument: OsString| argument.into_string().expect("UTF-8");
        arguments.into_iter().map(text).collect()
    }

    #[test]
    fn tares_options_come_between_the_files_and_the_users() {
        let all = inserted("--no-defaults --port=1 --no-defaults", Release::Mysql57);
        assert_eq!(all.len(), 3 + 1 + BUFFERS.len() + 1);
        assert_eq!(all[0], "--no-defaults");
        assert_eq!(all[1], "--performance-schema=ON");
        assert_eq!(all[all.len() - 2..], ["--port=1", "--no-defaults"]);
        assert!(all.contains(&"--loose-performance-schema-digests-size=0".to_owned()));
    }

    #[test]
    fn the_users_own_options_stay() {
        let line = "--performance_schema --loose-performance_schema_digests_size=5";
        let all = inserted(line, Release::Mysql80);
        assert!(!all.iter().any(|each| each == "--performance-schema=ON"));
        assert!(!all.iter().any(|each| each.contains("digests-size=0")));
        assert_eq!(all.len(), 2 + BUFFERS.len() + 2 - 1);
    }
}
