//! Whose tests are run: MySQL's or MariaDB's.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::cases::Case;
use crate::options;
use crate::run::Host;
use crate::servers::Version;

/// A server's suites, and what differs between servers.
pub struct Flavor {
    /// The server that the suites were written for; scripts/suites calls them by the same name.
    pub version: Version,
    pub suites: &'static [&'static str],
    /// Whose tables Tare's are beside such a server.
    pub series: &'static str,
    /// The list of tests that do not pass.
    pub open: &'static str,
    /// The list of those that run through the door, unless all do.
    pub door: Option<&'static str>,
    /// A folder of its own for what its tests said.
    pub said: &'static str,
    /// What its harness starts a server with beside [`options::EVERYTHING`].
    pub options: &'static [&'static str],
    /// What its programs read beside where the server is.
    pub clients: &'static str,
}

pub const MYSQL: Flavor = Flavor {
    version: Version::Mysql97,
    suites: &["perfschema", "sysschema"],
    series: "9.7",
    open: "open.tsv",
    door: Some("door.txt"),
    said: "",
    options: &options::MYSQL,
    clients: "[mysqltest]\nssl-mode=DISABLED\n",
};

pub const MARIADB: Flavor = Flavor {
    version: Version::Mariadb,
    suites: &["perfschema"],
    series: "mariadb",
    open: "open-mariadb.tsv",
    door: None,
    said: "mariadb",
    options: &options::MARIADB,
    clients: "[mysqltest]\nskip-ssl\n[mysql]\ndefault-character-set=latin1\n[mysqlshow]\n\
        default-character-set=latin1\n",
};

impl Flavor {
    /// Where its tests run, if nothing else is wanted and no list says so.
    pub fn host(&self) -> Host {
        match self.door {
            Some(_) => Host::Tare,
            None => Host::Door,
        }
    }

    /// MariaDB's mysqltest looks for what a test reads where it is told to; MySQL's finds out.
    pub fn said_where(&self, case: &Case) -> Option<String> {
        let told = self.version.is_mariadb();
        told.then(|| format!("--suite-dir={}/", case.directory.display()))
    }

    /// MariaDB's mysqltest reads and writes files below two folders, and the server's data have to be there.
    pub fn temporary(&self, directory: &Path) -> PathBuf {
        match self.version.is_mariadb() {
            true => directory.to_owned(),
            false => directory.join("var/tmp"),
        }
    }

    /// A line of a result as it is compared: MariaDB has no SOURCE of an event, and a blank at the end of a digest's
    /// text. How many bytes of a connection's attributes are kept is a figure of Tare's own, whatever is asked for.
    pub fn as_compared<'a>(&self, line: &'a str) -> Cow<'a, str> {
        match self.version.is_mariadb() && line.contains('\t') {
            true => columns_of(line).into(),
            false => line.into(),
        }
    }
}

fn columns_of(line: &str) -> String {
    const ATTRIBUTES: &str = "performance_schema_session_connect_attrs_size";
    if line.starts_with(ATTRIBUTES) && !line.ends_with("\t0") {
        return ATTRIBUTES.to_owned();
    }
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
        (
            "performance_schema_session_connect_attrs_size\t2048",
            "performance_schema_session_connect_attrs_size",
        ),
    ] {
        assert_eq!(MARIADB.as_compared(line), compared);
        assert_eq!(MYSQL.as_compared(line), line);
    }
}
