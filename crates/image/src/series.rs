//! Which server a program is: by what it exports, not by what it is called.

use std::fmt;

use crate::elf::Image;

/// Describes each series once: the enum, the list of all, and how people call them.
macro_rules! series {
    ($($(#[$what:meta])* $name:ident = $called:literal,)*) => {
        /// Servers whose interface is the same.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Series {
            $($(#[$what])* $name,)*
        }

        impl Series {
            /// All of them, oldest first.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }

        impl fmt::Display for Series {
            fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
                into.write_str(match self {
                    $(Self::$name => $called,)*
                })
            }
        }
    };
}

series! {
    /// MySQL 5.6: functions are called through one table, which is exported as `PFS_v1`.
    Mysql56 = "MySQL 5.6",
    /// MySQL 5.7: functions `pfs_*_v1` are exported and called directly.
    Mysql57 = "MySQL 5.7",
    /// MySQL 8.0: tables of functions are exported, one for each service.
    Mysql80 = "MySQL 8.0",
    /// MariaDB 10.11: functions are called directly and not exported.
    Mariadb1011 = "MariaDB 10.11",
    /// MariaDB 11.4: the same functions, other structures.
    Mariadb114 = "MariaDB 11.4",
    /// MariaDB 11.8: one function more.
    Mariadb118 = "MariaDB 11.8",
}

impl Series {
    /// Whether it is MariaDB's.
    pub fn is_mariadb(self) -> bool {
        MARIADB.iter().any(|(each, _)| *each == self)
    }
}

/// A server that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its series.
    pub series: Series,
    /// Its own version, "5.7.22".
    pub version: String,
    /// GNU build-id in hexadecimal, if it has one.
    pub build_id: Option<String>,
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

/// What a program turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognition {
    /// Nothing of a Performance Schema in it, or all of it is stripped away.
    Other,
    /// A server, and not one that is known; the text says why.
    Unknown(String),
    /// A known server.
    Server(Server),
}

/// The versions whose interface was looked at and tested, each with what says it: MySQL's own
/// promise is to keep the interface within a series, and 8.0 does not keep it.
const VERSIONS: [(Series, &[&str]); 3] = [
    (Series::Mysql56, &["5.6.24"]),
    (Series::Mysql57, &["5.7.22"]),
    (Series::Mysql80, &["8.0.15"]),
];

/// MariaDB's series, by how their versions begin. Debian and others follow MariaDB's fixes without a change of the
/// interface, and its functions are found in each build anew.
const MARIADB: [(Series, &str); 3] = [
    (Series::Mariadb1011, "10.11."),
    (Series::Mariadb114, "11.4."),
    (Series::Mariadb118, "11.8."),
];

/// In its version's text: "11.4.5-MariaDB", "11.8.6-MariaDB-0+deb13u1 from Debian".
const MARIADB_MARK: &str = "-MariaDB";

impl Image {
    /// Which server this is.
    pub fn recognise(&self) -> Recognition {
        let has = |name| self.symbol(name).is_some();
        // Its symbols are those of MySQL 5.6 otherwise; the older ones export `using_custom_server_version` as well.
        let mariadb = match has("PSI_server") {
            true => self.mariadb_version(),
            false => None,
        };
        let series = if let Some(version) = mariadb {
            return self.mariadb(version);
        } else if has("pfs_mutex_service_v1") {
            Series::Mysql80
        } else if has("PSI_hook") && has("PSI_server") && has("server_version") {
            if has("pfs_start_mutex_wait_v1") {
                Series::Mysql57
            } else {
                Series::Mysql56
            }
        } else {
            return Recognition::Other;
        };
        // Its instrumented mutexes are others than those of a release build.
        if has("safe_mutex_lock") || has("_db_enter_") {
            return Recognition::Unknown(format!("this is a debug build of {series}"));
        }
        let known = VERSIONS.iter().find(|(each, _)| *each == series);
        let known = known.map_or(&[][..], |(_, versions)| *versions);
        let is_here = |version: &str| self.constants(version).any(|text| text == version);
        match known.iter().find(|version| is_here(version)) {
            Some(version) => self.server(series, (*version).to_owned()),
            None => Recognition::Unknown(format!(
                "this looks like {series}, of which {} is known and this is another version",
                known.join(", ")
            )),
        }
    }

    /// "11.4.5-MariaDB".
    fn mariadb_version(&self) -> Option<&str> {
        self.constants("1").find(|text| {
            let number = text.split_once(MARIADB_MARK).map(|(number, _)| number);
            let is_number =
                |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            number.is_some_and(|number| {
                number.split('.').count() == 3 && number.split('.').all(is_number)
            })
        })
    }

    fn mariadb(&self, version: &str) -> Recognition {
        let known = MARIADB
            .iter()
            .find(|(_, prefix)| version.starts_with(prefix));
        match known {
            Some((series, _)) => self.server(*series, version.to_owned()),
            None => Recognition::Unknown(format!(
                "this is MariaDB {}, of which {} are known",
                version
                    .split_once(MARIADB_MARK)
                    .map_or(version, |(number, _)| number),
                MARIADB.map(|(_, prefix)| format!("{prefix}*")).join(", ")
            )),
        }
    }

    fn server(&self, series: Series, version: String) -> Recognition {
        Recognition::Server(Server {
            series,
            version,
            build_id: self.build_id().map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/adding.md: a series is in the table of docs/door.md.
    #[test]
    fn each_series_is_in_the_manual() {
        let manual = include_str!("../../../docs/door.md");
        for series in Series::ALL {
            let row = format!("| {series} |");
            assert!(manual.contains(&row), "docs/door.md has no row {row:?}");
        }
    }

    #[test]
    fn each_series_has_its_versions() {
        for &series in Series::ALL {
            let known = VERSIONS.iter().any(|(each, _)| *each == series);
            assert!(known || series.is_mariadb(), "{series}");
        }
    }
}
