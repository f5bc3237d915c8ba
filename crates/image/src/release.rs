//! Recognises which server a program is by its exports, not by its name.

use std::fmt;

use crate::elf::Image;

/// Describes each release once: the enum, the list of all, and their names.
macro_rules! release {
    ($($(#[$what:meta])* $name:ident = $called:literal,)*) => {
        /// A release series of servers, whose versions have the same interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Release {
            $($(#[$what])* $name,)*
        }

        impl Release {
            /// All of them, oldest first.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }

        impl fmt::Display for Release {
            fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
                into.write_str(match self {
                    $(Self::$name => $called,)*
                })
            }
        }
    };
}

release! {
    /// MySQL 5.6: functions are called through one table, which is exported as `PFS_v1`.
    Mysql56 = "MySQL 5.6",
    /// MySQL 5.7: functions `pfs_*_v1` are exported and called directly.
    Mysql57 = "MySQL 5.7",
    /// MySQL 8.0: tables of functions are exported, one for each service.
    Mysql80 = "MySQL 8.0",
    /// MySQL 9.7: several versions of a service have a table each.
    Mysql97 = "MySQL 9.7",
    /// MariaDB 10.11: functions are called directly and not exported.
    Mariadb1011 = "MariaDB 10.11",
    /// MariaDB 11.4: the same functions, other structures.
    Mariadb114 = "MariaDB 11.4",
    /// MariaDB 11.8: one function more.
    Mariadb118 = "MariaDB 11.8",
}

impl Release {
    /// Whether it is a MariaDB.
    pub fn is_mariadb(self) -> bool {
        matches!(
            self,
            Self::Mariadb1011 | Self::Mariadb114 | Self::Mariadb118
        )
    }
}

/// A server that Tare serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its release.
    pub release: Release,
    /// Its version, such as "5.7.22".
    pub version: String,
    /// GNU build-id in hexadecimal, if it has one.
    pub build_id: Option<String>,
}

impl Server {
    /// Whether this very version was tested. Another version of its release is served if its code passes
    /// every check of the interface.
    pub fn is_tested(&self) -> bool {
        tested_versions(self.release).contains(&version_number(&self.version))
    }
}

impl fmt::Display for Server {
    fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
        let (product, version) = match self.version.split_once(MARIADB_MARK) {
            Some((version, _)) => ("MariaDB", version),
            None => ("MySQL", &*self.version),
        };
        write!(into, "{product} {version}")
    }
}

/// What a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognition {
    /// The program exports no Performance Schema, or was stripped.
    Other,
    /// A server that Tare does not serve, and the reason.
    Unknown(String),
    /// A server that Tare serves.
    Server(Server),
}

/// The tested versions. Those of MariaDB are the newest that the tests ran with, because its packages change.
const VERSIONS: &[(Release, &[&str])] = &[
    (Release::Mysql56, &["5.6.24"]),
    (Release::Mysql57, &["5.7.22"]),
    (Release::Mysql80, &["8.0.15"]),
    (Release::Mysql97, &["9.7.4"]),
    (Release::Mariadb1011, &["10.11.19"]),
    (Release::Mariadb114, &["11.4.5"]),
    (Release::Mariadb118, &["11.8.6"]),
];

/// Releases whose untested versions are served if they pass every check, with the prefix of their versions.
/// The checks: the table has as many functions; functions whose names encode their types have the same types; the
/// code that uses a field confirms its offset. Before 9.7, MySQL's names do not encode the types (5.6, 5.7), or
/// the interface changed within the release (8.0).
const UNTESTED_PREFIXES: [(Release, &str); 4] = [
    (Release::Mysql97, "9.7."),
    (Release::Mariadb1011, "10.11."),
    (Release::Mariadb114, "11.4."),
    (Release::Mariadb118, "11.8."),
];

/// The mark of a MariaDB's version: "11.4.5-MariaDB", "11.8.6-MariaDB-0+deb13u1 from Debian".
const MARIADB_MARK: &str = "-MariaDB";

/// The text before a MySQL's version, from 8.0 on: "MySQL 9.7.4".
const MYSQL_MARK: &str = "MySQL ";

fn tested_versions(release: Release) -> &'static [&'static str] {
    let versions = VERSIONS.iter().find(|(each, _)| *each == release);
    versions.map_or(&[], |(_, versions)| versions)
}

/// The number "11.4.5" in "11.4.5-MariaDB-0+deb".
fn version_number(version: &str) -> &str {
    version
        .split_once('-')
        .map_or(version, |(number, _)| number)
}

fn is_version(text: &str) -> bool {
    let parts = text.split('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.clone().count() == 3 && parts.clone().all(is_number)
}

impl Image {
    /// Recognises the server.
    pub fn recognise(&self) -> Recognition {
        let has = |name| self.symbol(name).is_some();
        // A MariaDB exports the symbols of MySQL 5.6; older ones export `using_custom_server_version` as
        // well.
        let mariadb = match has("PSI_server") {
            true => self.mariadb_version(),
            false => None,
        };
        let release = if let Some(version) = mariadb {
            return self.recognise_mariadb(version);
        } else if has("pfs_thread_service_v7") {
            Release::Mysql97
        } else if has("pfs_mutex_service_v1") {
            Release::Mysql80
        } else if has("PSI_hook") && has("PSI_server") && has("server_version") {
            if has("pfs_start_mutex_wait_v1") {
                Release::Mysql57
            } else {
                Release::Mysql56
            }
        } else {
            return Recognition::Other;
        };
        // A debug build's instrumented mutexes differ from those of a build without debugging.
        if has("safe_mutex_lock") || has("_db_enter_") {
            return Recognition::Unknown(format!("this is a debug build of {release}"));
        }
        let is_here = |version: &str| self.constants(version).any(|text| text == version);
        let version = self.mysql_version();
        let tested = tested_versions(release);
        let is_it = |tested: &str| version.map_or_else(|| is_here(tested), |it| it == tested);
        let checked = UNTESTED_PREFIXES.iter().find(|(each, _)| *each == release);
        match tested.iter().find(|tested| is_it(tested)) {
            Some(version) => self.server(release, (*version).to_owned()),
            None => match (version, checked) {
                (Some(version), Some((_, prefix))) if version.starts_with(prefix) => {
                    self.server(release, version.to_owned())
                }
                (Some(version), _) => Recognition::Unknown(format!(
                    "this is MySQL {version}; of {release}, Tare supports only {}",
                    tested.join(", ")
                )),
                (None, _) => Recognition::Unknown(format!(
                    "of {release}, Tare supports only {}, and this is another version",
                    tested.join(", ")
                )),
            },
        }
    }

    /// The version "9.7.4", if the program has it with the product's name.
    fn mysql_version(&self) -> Option<&str> {
        let texts = self.constants(MYSQL_MARK);
        let mut versions = texts.filter_map(|text| text.strip_prefix(MYSQL_MARK));
        versions.find(|text| is_version(text))
    }

    /// The version "11.4.5-MariaDB".
    fn mariadb_version(&self) -> Option<&str> {
        let is_one = |text: &&str| {
            text.split_once(MARIADB_MARK)
                .is_some_and(|(number, _)| is_version(number))
        };
        self.constants("1").find(is_one)
    }

    fn recognise_mariadb(&self, version: &str) -> Recognition {
        let releases = UNTESTED_PREFIXES
            .iter()
            .filter(|(release, _)| release.is_mariadb());
        match releases
            .clone()
            .find(|(_, prefix)| version.starts_with(prefix))
        {
            Some((release, _)) => self.server(*release, version.to_owned()),
            None => {
                let served: Vec<_> = releases.map(|(_, prefix)| format!("{prefix}*")).collect();
                Recognition::Unknown(format!(
                    "this is MariaDB {}, of which {} are known",
                    version_number(version),
                    served.join(", ")
                ))
            }
        }
    }

    fn server(&self, release: Release, version: String) -> Recognition {
        Recognition::Server(Server {
            release,
            version,
            build_id: self.build_id().map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/adding.md: a release is in the table of docs/door.md.
    #[test]
    fn each_release_is_in_the_manual() {
        let manual = include_str!("../../../docs/door.md");
        for release in Release::ALL {
            let row = format!("| {release} |");
            assert!(manual.contains(&row), "docs/door.md has no row {row:?}");
        }
    }

    #[test]
    fn each_release_has_its_versions() {
        for &release in Release::ALL {
            assert!(!tested_versions(release).is_empty(), "{release}");
        }
    }

    #[test]
    fn another_version_is_not_tested() {
        let is_tested = |release, version: &str| {
            let (version, build_id) = (version.to_owned(), None);
            Server {
                release,
                version,
                build_id,
            }
            .is_tested()
        };
        assert!(is_tested(Release::Mysql97, "9.7.4"));
        assert!(!is_tested(Release::Mysql97, "9.7.5"));
        assert!(is_tested(Release::Mariadb114, "11.4.5-MariaDB-log"));
        assert!(!is_tested(Release::Mariadb114, "11.4.50-MariaDB"));
    }
}
