//! Whose tests are run: MySQL's or MariaDB's.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use mysql::Conn;
use mysql::prelude::Queryable;

use crate::cases::Case;
use crate::options;
use crate::route::Columns;
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

/// Names of columns by table, as a server has them.
fn columns(conn: &mut Conn) -> HashMap<String, Vec<String>> {
    const ASK: &str = "SELECT table_name, column_name FROM information_schema.columns \
        WHERE table_schema = 'performance_schema' ORDER BY table_name, ordinal_position";
    let rows: Vec<(String, String)> = conn.query(ASK).expect("its columns");
    let mut columns: HashMap<String, Vec<String>> = HashMap::new();
    for (table, column) in rows {
        columns.entry(table).or_default().push(column);
    }
    columns
}

/// A consumer and status variables of MySQL 9.7; digests that gave way are Tare's own.
const MYSQLS_ROWS: [&str; 6] = [
    "events_statements_cpu",
    "Performance_schema_digest_evicted",
    "Performance_schema_logger_lost",
    "Performance_schema_meter_lost",
    "Performance_schema_metric_lost",
    "Performance_schema_session_connect_attrs_longest_seen",
];

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

    /// The columns that tests of this server know, of tables of which Tare's have all of them, and others.
    pub fn columns(&self, server: &mut Conn, tables: &mut Conn) -> Columns {
        if !self.version.is_mariadb() {
            return Columns::new();
        }
        let (known, tares) = (columns(server), columns(tables));
        let has_all = |table: &str, names: &[String]| {
            tares
                .get(table)
                .is_some_and(|tares| names.iter().all(|name| tares.contains(name)))
        };
        let known = known
            .into_iter()
            .filter(|(table, names)| has_all(table, names));
        known
            .map(|(table, names)| (table, names.join(", ")))
            .collect()
    }

    /// A row that only Tare has: what MariaDB has not, with a name that stands first.
    pub fn is_more(&self, line: &str) -> bool {
        let name = line.split_once('\t').map(|(name, _)| name);
        self.version.is_mariadb() && name.is_some_and(|name| MYSQLS_ROWS.contains(&name))
    }

    /// A line of a result as it is compared: where Tare's texts are MySQL's, MariaDB's become them.
    pub fn as_compared<'a>(&self, line: &'a str) -> Cow<'a, str> {
        match self.version.is_mariadb() {
            true => as_mysql_says(line),
            false => line.into(),
        }
    }
}

fn as_mysql_says(line: &str) -> Cow<'_, str> {
    if line == "ERROR HY000: Invalid performance_schema usage" {
        return format!("{line}.").into();
    }
    refused(line).unwrap_or_else(|| match line.contains('\t') {
        true => columns_of(line).into(),
        false => line.into(),
    })
}

/// MariaDB names a table that someone may not use with its database, MySQL without.
fn refused(line: &str) -> Option<Cow<'_, str>> {
    let (start, table) = line.split_once(" for table `")?;
    let name = table.trim_end_matches('`').rsplit("`.`").next()?;
    let is_refused = start.contains(" command denied to user ");
    is_refused.then(|| format!("{start} for table '{name}'").into())
}

/// MariaDB has no SOURCE of an event, and a blank at the end of a digest's text.
fn columns_of(line: &str) -> String {
    let fields = line.split('\t').map(|field| {
        let is_a_source = field.ends_with(".cc:") || field.ends_with(".c:");
        if is_a_source { "" } else { field.trim_end() }
    });
    fields.collect::<Vec<_>>().join("\t")
}

#[test]
fn lines_are_compared_as_mysql_says_them() {
    for (line, compared) in [
        (
            "ERROR 42000: SELECT command denied to user 'a'@'b' for table `performance_schema`.`hosts`",
            "ERROR 42000: SELECT command denied to user 'a'@'b' for table 'hosts'",
        ),
        ("handler\thandler.cc:\tt1", "handler\t\tt1"),
        ("SELECT ? \t1", "SELECT ?\t1"),
        ("create table `t`", "create table `t`"),
    ] {
        assert_eq!(MARIADB.as_compared(line), compared);
        assert_eq!(MYSQL.as_compared(line), line);
    }
}
