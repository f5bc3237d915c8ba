//! The two suites: MySQL's and MariaDB's.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::cases::Case;
use crate::options;
use crate::run::Host;
use crate::servers::Version;

/// A server's suites, and the differences between servers.
pub struct Flavor {
    /// The server that the suites were written for; scripts/suites calls them by the same name.
    pub version: Version,
    pub suites: &'static [&'static str],
    /// The series whose tables Tare presents for such a server.
    pub series: &'static str,
    /// The list of tests that do not pass.
    pub open: &'static str,
    /// The list of tests that run through the door; `None` if all do.
    pub door: Option<&'static str>,
    /// Its folder for the logs of failed tests.
    pub logs: &'static str,
    /// Options that its harness adds to [`options::EVERYTHING`].
    pub options: &'static [&'static str],
    /// Option-file sections for its client programs.
    pub clients: &'static str,
}

pub const MYSQL: Flavor = Flavor {
    version: Version::Mysql97,
    suites: &["perfschema", "sysschema"],
    series: "9.7",
    open: "open.tsv",
    door: Some("door.txt"),
    logs: "",
    options: &options::MYSQL,
    clients: "[mysqltest]\nssl-mode=DISABLED\n",
};

pub const MARIADB: Flavor = Flavor {
    version: Version::Mariadb,
    suites: &["perfschema"],
    series: "mariadb",
    open: "open-mariadb.tsv",
    door: None,
    logs: "mariadb",
    options: &options::MARIADB,
    clients: "[mysqltest]\nskip-ssl\n[mysql]\ndefault-character-set=latin1\n[mysqlshow]\n\
        default-character-set=latin1\n",
};

impl Flavor {
    /// The default host of its tests.
    pub fn host(&self) -> Host {
        match self.door {
            Some(_) => Host::Tare,
            None => Host::Door,
        }
    }

    /// The option of MariaDB's mysqltest that says where sourced files are; MySQL's finds them.
    pub fn suite_directory_option(&self, case: &Case) -> Option<String> {
        (self.version.is_mariadb()).then(|| format!("--suite-dir={}/", case.directory.display()))
    }

    /// The temporary directory. MariaDB's mysqltest accesses files only below it and the suite, and it
    /// has to contain the server's data.
    pub fn temporary(&self, directory: &Path) -> PathBuf {
        match self.version.is_mariadb() {
            true => directory.to_owned(),
            false => directory.join("var/tmp"),
        }
    }

    /// A result's line, normalised for the comparison. MariaDB has no SOURCE of events and a blank at
    /// the end of a digest's text.
    pub fn normalise<'a>(&self, line: &'a str) -> Cow<'a, str> {
        match self.version.is_mariadb() && line.contains('\t') {
            true => normalise_columns(line).into(),
            false => line.into(),
        }
    }
}

fn normalise_columns(line: &str) -> String {
    let fields = line.split('\t').map(|field| {
        let is_a_source = field.ends_with(".cc:") || field.ends_with(".c:");
        if is_a_source { "" } else { field.trim_end() }
    });
    fields.collect::<Vec<_>>().join("\t")
}

#[test]
fn sources_and_blanks_are_not_compared() {
    for (line, compared) in [
        ("handler\thandler.cc:\tt1", "handler\t\tt1"),
        ("SELECT ? \t1", "SELECT ?\t1"),
        ("create table `t`", "create table `t`"),
    ] {
        assert_eq!(MARIADB.normalise(line), compared);
        assert_eq!(MYSQL.normalise(line), line);
    }
}
