//! The series of MySQL and MariaDB whose tables Tare serves.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A series. They have no order: MariaDB is neither older nor newer than MySQL. Each
/// difference between them is a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Series {
    /// The tables of MySQL 8.0.15.
    V8_0,
    /// The tables of MySQL 9.7.4.
    V9_7,
    /// performance_schema of MariaDB 10.11. The other schemas are 8.0's.
    Mariadb,
}

impl Series {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::V8_0, Self::V9_7, Self::Mariadb];
    /// The default.
    pub const DEFAULT: Self = Self::V9_7;

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V8_0 => "8.0",
            Self::V9_7 => "9.7",
            Self::Mariadb => "mariadb",
        }
    }

    /// The version that a server reports. Clients decide by it what tables to expect, so it is the tables' version.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V8_0 => concat!("8.0.15-tare-", env!("CARGO_PKG_VERSION")),
            Self::V9_7 => concat!("9.7.4-tare-", env!("CARGO_PKG_VERSION")),
            Self::Mariadb => concat!("10.11.19-MariaDB-tare-", env!("CARGO_PKG_VERSION")),
        }
    }

    /// ICU_VERSION(): what the server of this series has.
    pub const fn icu_version(self) -> &'static str {
        match self {
            Self::V8_0 | Self::Mariadb => "60.2",
            Self::V9_7 => "78.3",
        }
    }

    /// The server with these tables, for messages.
    pub const fn server(self) -> &'static str {
        match self {
            Self::V8_0 => "MySQL 8.0",
            Self::V9_7 => "MySQL 9.7",
            Self::Mariadb => "MariaDB 10.11",
        }
    }

    /// Whether the text of `/*!80016 ... */` is for this server.
    pub const fn reads(self, version: u32) -> bool {
        match self {
            Self::V8_0 => version <= 80_015,
            Self::V9_7 => version <= 90_704,
            // What MySQL has had since 5.7 is not MariaDB's.
            Self::Mariadb => version <= 101_119 && !(version >= 50_700 && version < 100_000),
        }
    }

    /// Whether it is MariaDB.
    pub const fn is_mariadb(self) -> bool {
        matches!(self, Self::Mariadb)
    }

    /// Whether names of hosts are ASCII, as in MySQL since 8.0.17.
    pub const fn has_ascii_hosts(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether the use of something deprecated is a warning: FLUSH PRIVILEGES,
    /// information_schema.PROCESSLIST, the digits of a FLOAT.
    pub const fn warns_of_deprecated(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether a comparison of a date with a text that is none is error 1525, as in MySQL since 8.0.16.
    pub const fn refuses_text_as_date(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether SET sql_mode warns of strict mode without the modes of dates.
    pub const fn warns_of_modes(self) -> bool {
        !self.is_mariadb()
    }

    /// Whether schema sys's functions have the names of native ones, which MySQL has had since 8.0.16.
    pub const fn has_native_namesakes(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether there is telemetry: loggers, meters and metrics, with sizes and losses of their own.
    pub const fn has_telemetry(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether information_schema lists CHECK constraints, which MySQL has had since 8.0.16.
    pub const fn has_checks(self) -> bool {
        !matches!(self, Self::V8_0)
    }

    /// Whether information_schema is made of views, whose columns keep their names however a statement writes them.
    pub const fn has_views_of_information(self) -> bool {
        !self.is_mariadb()
    }

    /// Whether SHOW CREATE DATABASE has the encryption, as in MySQL since 8.0.16.
    pub const fn has_encryption(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether consumer events_statements_cpu is there.
    pub const fn has_cpu_consumer(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether digests of prepared statements begin with PREPARE or EXECUTE, and digests have the positions of
    /// literals.
    pub const fn has_9_7_digests(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether status variables have MySQL 9.7's names.
    pub const fn has_9_7_status(self) -> bool {
        matches!(self, Self::V9_7)
    }

    /// Whether an integer's type has a display width, which MySQL dropped in 8.0.19.
    const fn has_widths(self) -> bool {
        !matches!(self, Self::V9_7)
    }

    /// The type of a user's column, whose integers have no display width, in this series: before 8.0.19 each
    /// has the width that its values need.
    pub fn with_width(self, column_type: &str) -> Cow<'_, str> {
        let (name, rest) = column_type.split_once(' ').unwrap_or((column_type, ""));
        let minus = u32::from(!rest.starts_with("unsigned"));
        let width = match name {
            "tinyint" => 3 + minus,
            "smallint" => 5 + minus,
            "mediumint" => 8 + minus,
            "int" => 10 + minus,
            "bigint" => 20,
            "year" => 4,
            _ => return Cow::Borrowed(column_type),
        };
        match (self.has_widths(), rest) {
            (false, _) => Cow::Borrowed(column_type),
            (true, "") => Cow::Owned(format!("{name}({width})")),
            _ => Cow::Owned(format!("{name}({width}) {rest}")),
        }
    }

    /// A column's type in this series. From 8.0.19 on an integer has no display width;
    /// `tinyint(1)` still has it, because connectors read it as a boolean.
    pub fn display_type(self, column_type: &str) -> Cow<'_, str> {
        if self.has_widths() || column_type.starts_with("tinyint(1)") {
            return Cow::Borrowed(column_type);
        }
        let (name, rest) = column_type.split_once('(').unwrap_or((column_type, ""));
        let integer = matches!(
            name,
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year"
        );
        match rest.split_once(')') {
            // The width that ZEROFILL fills up to stays.
            Some((_, after)) if integer && !after.contains("zerofill") => {
                Cow::Owned(format!("{name}{after}"))
            }
            _ => Cow::Borrowed(column_type),
        }
    }
}

impl Default for Series {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Series {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let series = Self::ALL.into_iter().find(|series| series.name() == text);
        series.ok_or_else(|| {
            format!("'{text}' is no series whose tables Tare has: give 8.0, 9.7 or mariadb")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_no_width_since_8_0_19() {
        let display = |kind| Series::V9_7.display_type(kind).into_owned();
        assert_eq!(display("bigint(20) unsigned"), "bigint unsigned");
        assert_eq!(display("int(11)"), "int");
        assert_eq!(display("tinyint(1)"), "tinyint(1)");
        assert_eq!(
            display("int(5) unsigned zerofill"),
            "int(5) unsigned zerofill"
        );
        assert_eq!(display("varchar(20)"), "varchar(20)");
        assert_eq!(display("enum('int(1)')"), "enum('int(1)')");
        assert_eq!(Series::V8_0.display_type("int(11)"), "int(11)");
    }

    #[test]
    fn integers_of_users_have_a_width_before_8_0_19() {
        for (kind, old) in [
            ("int", "int(11)"),
            ("int unsigned", "int(10) unsigned"),
            ("tinyint(1)", "tinyint(1)"),
            ("bigint unsigned", "bigint(20) unsigned"),
            ("mediumint", "mediumint(9)"),
            ("varchar(20)", "varchar(20)"),
        ] {
            assert_eq!(Series::V8_0.with_width(kind), old);
            assert_eq!(Series::V9_7.with_width(kind), kind);
        }
    }

    #[test]
    fn the_name_of_a_series_parses() {
        for series in Series::ALL {
            assert_eq!(series.name().parse(), Ok(series));
        }
        assert!("8.4".parse::<Series>().is_err());
    }
}
