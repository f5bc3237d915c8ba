//! Determines the product and version of a server or segment.

use super::{QueryError, real, text};
use crate::output::Cell;
use crate::sql::Target;

const VERSION_QUERY: &str = "SELECT VERSION(), @@version_comment, CONNECTION_ID()";
const SEGMENTS_QUERY: &str = "SELECT state, pid, program FROM tare.segments";
/// Behind Tare's door a server has no instruments of its own (docs/door.md).
const INSTRUMENTS_QUERY: &str =
    "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'statement/%'";

/// The queries of [`About::query`], so that `tare top` can leave out its own statements.
#[cfg(feature = "tools")]
pub fn queries() -> [&'static str; 3] {
    [VERSION_QUERY, SEGMENTS_QUERY, INSTRUMENTS_QUERY]
}

/// The product whose performance_schema answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Tare's engine: `tare serve`, a segment, or a server behind Tare's door.
    Tare,
    /// Oracle's MySQL or one of its kin.
    MySql,
    /// MariaDB.
    MariaDb,
}

/// Whether a performance_schema records anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// It records.
    Here,
    /// The server was started without it.
    Off,
    /// It has no instruments, because Tare's engine records in the server's process.
    Elsewhere,
}

/// Product, version and identity of a server or segment.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The target's name, without a password.
    pub name: String,
    /// The product whose performance_schema answers.
    pub product: Product,
    /// The result of VERSION().
    pub version: String,
    /// Major and minor, e.g. (5, 7).
    pub series: (u32, u32),
    /// Whether anything is recorded.
    pub recording: Recording,
    /// Whether a segment is read, so that nothing is sent to the program.
    pub is_segment: bool,
    /// Whether a segment's writer still ran when it was opened; true for a server.
    pub was_live: bool,
    /// The id of this connection.
    pub connection_id: u64,
    /// The process that a segment names.
    pub pid: Option<u32>,
}

impl About {
    /// Queries a target.
    pub fn query(
        target: &Target,
        mut query: impl FnMut(&str) -> Result<Vec<Vec<Cell>>, QueryError>,
    ) -> Result<Self, QueryError> {
        let rows = query(VERSION_QUERY)?;
        let column = |number: usize| {
            rows.first()
                .and_then(|row| text(row.get(number)?))
                .unwrap_or_default()
        };
        let (version, comment) = (column(0), column(1));
        let connection_id = column(2).parse().unwrap_or(0);
        // A server that calls itself MySQL may have Tare's engine behind the door. Only that has schema tare.
        let segment = query(SEGMENTS_QUERY).ok();
        let first = segment.as_ref().and_then(|rows| rows.first());
        let product = match &segment {
            Some(_) => Product::Tare,
            None if version.contains("MariaDB") || comment.contains("MariaDB") => Product::MariaDb,
            None => Product::MySql,
        };
        let mut number = |sql| match query(sql) {
            Ok(rows) => Ok(rows.first().and_then(|row| real(row.first()?))),
            Err(QueryError::Refused(_)) => Ok(None),
            Err(lost) => Err(lost),
        };
        let is_on = match product {
            Product::Tare => first.is_some(),
            _ => number("SELECT @@performance_schema")? == Some(1.0),
        };
        let recording = match is_on {
            false => Recording::Off,
            // Without privileges, the next query fails with the server's message.
            true if product != Product::Tare && number(INSTRUMENTS_QUERY)? == Some(0.0) => {
                Recording::Elsewhere
            }
            true => Recording::Here,
        };
        let is_segment = target.is_segment();
        let segment_column = |number: usize| first.and_then(|row| text(row.get(number)?));
        let pid = segment_column(1).and_then(|pid| pid.parse().ok());
        let name = match (is_segment, segment_column(2), pid) {
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
            was_live: !is_segment || segment_column(0).as_deref() == Some("live"),
            connection_id,
            pid,
        })
    }

    /// A stock server that is not connected, by its version.
    pub fn from_version(product: Product, version: &str) -> Self {
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

    /// Name and version of the server, for a headline.
    pub fn server(&self) -> String {
        match (self.product, self.is_segment) {
            (Product::Tare, true) => "segment".to_owned(),
            (Product::Tare, false) => format!("Tare {}", self.version),
            (Product::MariaDb, _) => self.version.clone(),
            (Product::MySql, _) => format!("MySQL {}", self.version),
        }
    }

    /// Why its performance_schema is empty, and how to change that.
    pub fn explain_empty_page(&self) -> Option<&'static str> {
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
                 tare ps lists it, and --pid PID in place of the server's address queries it",
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
