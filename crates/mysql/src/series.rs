//! The series of MySQL whose tables a server of Tare's has.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A series, the older before the newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Series {
    /// The tables of 8.0.15.
    V8_0,
    /// The tables of 9.7.4.
    V9_7,
}

impl Series {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::V8_0, Self::V9_7];
    /// The one whose tables are served where nobody asks for another.
    pub const DEFAULT: Self = Self::V9_7;

    /// As it is named on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V8_0 => "8.0",
            Self::V9_7 => "9.7",
        }
    }

    /// What a server calls itself. Clients look at the number before they ask for anything, so it is
    /// the MySQL whose tables and protocol are served.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V8_0 => concat!("8.0.15-tare-", env!("CARGO_PKG_VERSION")),
            Self::V9_7 => concat!("9.7.4-tare-", env!("CARGO_PKG_VERSION")),
        }
    }

    /// The number that the one in `/*!80016 ... */` is compared with.
    pub const fn number(self) -> u32 {
        match self {
            Self::V8_0 => 80_015,
            Self::V9_7 => 90_704,
        }
    }

    /// A type of a user's table, whose integers have no display width, as this series shows it: before
    /// 8.0.19 each has the one that its values need.
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
        match (self, rest) {
            (Self::V9_7, _) => Cow::Borrowed(column_type),
            (_, "") => Cow::Owned(format!("{name}({width})")),
            _ => Cow::Owned(format!("{name}({width}) {rest}")),
        }
    }

    /// A column's type as this series shows it. From 8.0.19 on an integer has no display width;
    /// `tinyint(1)` keeps it, because connectors read it as a boolean.
    pub fn shown(self, column_type: &str) -> Cow<'_, str> {
        if self == Self::V8_0 || column_type.starts_with("tinyint(1)") {
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
        let found = Self::ALL.into_iter().find(|series| series.name() == text);
        found.ok_or_else(|| format!("'{text}' is no series whose tables Tare has: give 8.0 or 9.7"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_no_width_since_8_0_19() {
        let shown = |kind| Series::V9_7.shown(kind).into_owned();
        assert_eq!(shown("bigint(20) unsigned"), "bigint unsigned");
        assert_eq!(shown("int(11)"), "int");
        assert_eq!(shown("tinyint(1)"), "tinyint(1)");
        assert_eq!(
            shown("int(5) unsigned zerofill"),
            "int(5) unsigned zerofill"
        );
        assert_eq!(shown("varchar(20)"), "varchar(20)");
        assert_eq!(shown("enum('int(1)')"), "enum('int(1)')");
        assert_eq!(Series::V8_0.shown("int(11)"), "int(11)");
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
    fn a_series_is_read_as_it_is_written() {
        for series in Series::ALL {
            assert_eq!(series.name().parse(), Ok(series));
        }
        assert!("8.4".parse::<Series>().is_err());
    }
}
