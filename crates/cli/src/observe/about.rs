//! Which server answers, and what its performance_schema can be asked.

use super::{Trouble, real, text};
use crate::output::Cell;
use crate::sql::Target;

const WHO: &str = "SELECT VERSION(), @@version_comment, CONNECTION_ID()";
const SEGMENTS: &str = "SELECT state, pid, program FROM tare.segments";
/// Behind Tare's door a server keeps no instruments of its own (docs/door.md).
const STATEMENTS: &str =
    "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'statement/%'";

/// What is asked of every server, for whoever leaves out our own statements.
#[cfg(feature = "terminal")]
pub fn questions() -> [&'static str; 3] {
    [WHO, SEGMENTS, STATEMENTS]
}

/// Whose performance_schema it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Tare's engine: `tare serve`, a segment, or a server behind Tare's door.
    Tare,
    /// Oracle's MySQL or one of its kin.
    MySql,
    /// MariaDB.
    MariaDb,
}

/// Whether a performance_schema has anything to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// It has.
    Here,
    /// It was started without.
    Off,
    /// It has no instruments: those of this server are Tare's, in its process.
    Elsewhere,
}

/// What is known about what is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// What is asked, without a password.
    pub name: String,
    /// Whose performance_schema it is.
    pub product: Product,
    /// The server's version as it says it.
    pub version: String,
    /// Major and minor, e.g. (5, 7).
    pub series: (u32, u32),
    /// Whether anything is recorded.
    pub recording: Recording,
    /// Whether a segment is read and nothing is sent to the program.
    pub is_segment: bool,
    /// Of a segment: whether its writer still ran when it was opened.
    pub was_live: bool,
    /// Our own connection, as the server numbers it.
    pub connection_id: u64,
    /// The process, where a segment names it.
    pub pid: Option<u32>,
}

impl About {
    /// Asks.
    pub fn of(
        target: &Target,
        mut ask: impl FnMut(&str) -> Result<Vec<Vec<Cell>>, Trouble>,
    ) -> Result<Self, Trouble> {
        let rows = ask(WHO)?;
        let of = |number: usize| {
            rows.first()
                .and_then(|row| text(row.get(number)?))
                .unwrap_or_default()
        };
        let (version, comment) = (of(0), of(1));
        let connection_id = of(2).parse().unwrap_or(0);
        // What answers in MySQL's name may be Tare's engine behind the door; only that has schema tare.
        let segment = ask(SEGMENTS).ok();
        let first = segment.as_ref().and_then(|rows| rows.first());
        let product = match &segment {
            Some(_) => Product::Tare,
            None if version.contains("MariaDB") || comment.contains("MariaDB") => Product::MariaDb,
            None => Product::MySql,
        };
        let mut number = |sql| match ask(sql) {
            Ok(rows) => Ok(rows.first().and_then(|row| real(row.first()?))),
            Err(Trouble::Refused(_)) => Ok(None),
            Err(lost) => Err(lost),
        };
        let is_on = match product {
            Product::Tare => first.is_some(),
            _ => number("SELECT @@performance_schema")? == Some(1.0),
        };
        let recording = match is_on {
            false => Recording::Off,
            // Who may not look is told so by what it asks next.
            true if product != Product::Tare && number(STATEMENTS)? == Some(0.0) => {
                Recording::Elsewhere
            }
            true => Recording::Here,
        };
        let is_segment = target.is_segment();
        let of_segment = |number: usize| first.and_then(|row| text(row.get(number)?));
        let pid = of_segment(1).and_then(|pid| pid.parse().ok());
        let name = match (is_segment, of_segment(2), pid) {
            (true, Some(program), Some(pid)) => format!("{program} ({pid})"),
            _ => target.name(),
        };
        Ok(Self {
            name,
            product,
            series: series(&version),
            version,
            recording,
            is_segment,
            was_live: !is_segment || of_segment(0).as_deref() == Some("live"),
            connection_id,
            pid,
        })
    }

    /// A stock server that nobody asks now, by the version that it told.
    pub fn of_version(product: Product, version: &str) -> Self {
        Self {
            name: String::new(),
            product,
            version: version.into(),
            series: series(version),
            recording: Recording::Here,
            is_segment: false,
            was_live: true,
            connection_id: 0,
            pid: None,
        }
    }

    /// The server's name and version, for a headline.
    pub fn server(&self) -> String {
        match (self.product, self.is_segment) {
            (Product::Tare, true) => "segment".to_owned(),
            (Product::Tare, false) => format!("Tare {}", self.version),
            (Product::MariaDb, _) => self.version.clone(),
            (Product::MySql, _) => format!("MySQL {}", self.version),
        }
    }

    /// Why its performance_schema is empty, and how to have it filled.
    pub fn silent(&self) -> Option<&'static str> {
        match (self.recording, self.product) {
            (Recording::Here, _) => None,
            (Recording::Off, Product::Tare) => {
                Some("nothing is recorded: the server was started with --performance-schema=OFF")
            }
            (Recording::Off, _) => Some(
                "performance_schema is off: start the server with --performance-schema=ON (my.cnf: [mysqld] performance_schema = ON)",
            ),
            (Recording::Elsewhere, _) => Some(
                "its own performance_schema has no instruments. Behind tare run they are Tare's, in the server's process: \
                 tare ps lists it, and --pid PID in place of the server's address asks it",
            ),
        }
    }
}

/// The first two numbers of a version.
fn series(version: &str) -> (u32, u32) {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_read_from_versions() {
        assert_eq!(series("5.7.22-log"), (5, 7));
        assert_eq!(series("10.11.19-MariaDB-0+deb12u1"), (10, 11));
        assert_eq!(series(""), (0, 0));
    }
}
