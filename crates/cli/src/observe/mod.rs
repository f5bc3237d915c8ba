//! A server or segment that `tare top`, `tare querystat` and `tare explain` query, whatever its product.

mod about;
#[cfg(feature = "tools")]
pub mod blocks;
#[cfg(feature = "tools")]
mod deadlocks;
#[cfg(feature = "tools")]
mod figures;
pub mod format;
mod grant;
#[cfg(feature = "tools")]
pub mod innodb;
#[cfg(feature = "tools")]
mod innodb_locks;
#[cfg(feature = "tools")]
mod limited_session;
mod listener;
#[cfg(feature = "tools")]
pub mod lock_waits;
mod process;
#[cfg(feature = "tools")]
mod replication;
pub mod sampling;
#[cfg(feature = "tools")]
pub mod server_status;
pub mod status;
pub mod table;

use std::fmt;
use std::time::Duration;

#[cfg(feature = "tools")]
pub use about::queries;
pub use about::{About, Product};
pub use listener::connect_to_listener;
use tare_client::SessionKind;

pub use self::grant::explain_refusal;
#[cfg(feature = "tools")]
use self::innodb::InnodbReader;
use crate::exit::{FAILED, Failure};
use crate::output::{Cell, Rows};
use crate::sql::{Answer, SqlSession, Target};

/// Why a query failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryError {
    /// The connection or the segment is gone. A later attempt may succeed.
    Lost(String),
    /// The server refused the statement.
    Refused(String),
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Self::new(FAILED, error)
    }
}

/// A connection to a server or segment that is queried repeatedly.
pub struct ObservedServer {
    target: Target,
    session: SqlSession,
    /// Product, version and identity.
    pub about: About,
    /// Statements sent to the server since the connection was opened.
    pub statements_sent: u64,
}

impl ObservedServer {
    /// Connects or attaches, and reads product and version.
    pub fn open(target: Target) -> Result<Self, Failure> {
        let mut session = SqlSession::open(&target, SessionKind::Tool)?;
        let about = About::query(&target, |sql| rows(&mut session, sql))?;
        Ok(Self {
            target,
            session,
            about,
            statements_sent: 0,
        })
    }

    /// Opens it again after it was lost.
    #[cfg(feature = "tools")]
    pub fn reopen(&mut self) -> Result<(), Failure> {
        *self = Self::open(self.target.clone())?;
        Ok(())
    }

    /// What was opened.
    #[cfg(feature = "tools")]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A reader of row locks and transactions that the target's own tables do not have; `None` if there is no InnoDB.
    #[cfg(feature = "tools")]
    pub fn innodb(&self) -> Option<InnodbReader> {
        match (self.about.product, self.about.pid) {
            (Product::Tare, pid) => {
                let pid = pid.filter(|_| self.about.is_segment)?;
                InnodbReader::of_segment(pid)
            }
            _ => Some(InnodbReader::of_server(self.target.clone())),
        }
    }

    /// The session of a segment, whose tables are read in this process.
    #[cfg(feature = "tools")]
    pub fn segment_session(&mut self) -> Option<&mut SqlSession> {
        self.about.is_segment.then_some(&mut self.session)
    }

    /// The session, without the rest.
    #[cfg(feature = "tools")]
    pub fn into_session(self) -> SqlSession {
        self.session
    }

    /// The rows of a statement, if it has any.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, QueryError> {
        // Nothing is sent to a segment's program.
        self.statements_sent += u64::from(!self.about.is_segment);
        rows(&mut self.session, sql)
    }

    /// Whether the segment's writer still runs. A lost server is noticed by its connection.
    pub fn is_live(&mut self) -> Result<bool, QueryError> {
        if !self.about.is_segment {
            return Ok(true);
        }
        Ok(self.text("SELECT state FROM tare.segments")?.as_deref() == Some("live"))
    }

    /// The first value of the first row, as text.
    pub fn text(&mut self, sql: &str) -> Result<Option<String>, QueryError> {
        Ok(self.rows(sql)?.first().and_then(|row| text(row.first()?)))
    }
}

/// The rows of a statement on a session, if it has any.
pub fn rows(session: &mut SqlSession, sql: &str) -> Result<Vec<Vec<Cell>>, QueryError> {
    Ok(answer(session, sql)?.rows)
}

/// The same with the names of the columns.
fn answer(session: &mut SqlSession, sql: &str) -> Result<Rows, QueryError> {
    match session.query(sql) {
        Ok(Answer::Rows(rows)) => Ok(rows),
        Ok(Answer::Changed(_)) => Ok(Rows {
            columns: Vec::new(),
            rows: Vec::new(),
        }),
        Err(error) if is_lost(error.errno()) => Err(QueryError::Lost(error.to_string())),
        Err(error) => {
            let why = explain_refusal(error.errno(), &error.to_string(), None);
            Err(QueryError::Refused(why))
        }
    }
}

/// Whether an error ends a connection, or says that the server took too long for an answer.
pub fn is_lost(errno: u16) -> bool {
    match errno {
        // The server shuts down, or it or an administrator has ended the session.
        1053 | 1077 | 1079 | 1152 | 1927 | 3169 | 4031 => true,
        // A statement was longer than max_statement_time of MariaDB, or max_execution_time of MySQL.
        1969 | 3024 => true,
        // The client library's own errors. Those from 3000 on are a server's again.
        _ => (2000..3000).contains(&errno),
    }
}

/// Parses an interval of the command line, in seconds.
pub fn parse_interval(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text}: give seconds, from 0.1 to 86400");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if (0.1..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(wrong())
    }
}

/// A cell as text; `None` for NULL.
pub fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Unsigned(n) => Some(n.to_string()),
        Cell::Signed(n) => Some(n.to_string()),
        Cell::Real(x) => Some(x.to_string()),
        Cell::Decimal(text) | Cell::Text(text) => Some(text.clone()),
    }
}

/// An integer, exactly: counters exceed the precision of a float.
pub fn integer(cell: &Cell) -> Option<i128> {
    match cell {
        Cell::Null => None,
        Cell::Unsigned(n) => Some((*n).into()),
        Cell::Signed(n) => Some((*n).into()),
        Cell::Real(x) => Some(*x as i128),
        Cell::Decimal(text) | Cell::Text(text) => text.split('.').next()?.parse().ok(),
    }
}

/// A cell as a float.
pub fn real(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Real(x) => Some(*x),
        Cell::Decimal(text) | Cell::Text(text) => text.parse().ok(),
        other => integer(other).map(|n| n as f64),
    }
}

/// A text as an SQL literal, valid whatever sql_mode says about backslashes.
pub fn sql_literal(text: &str) -> String {
    if text.is_ascii() && !text.contains(['\'', '\\']) {
        return format!("'{text}'");
    }
    let hex: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("CONVERT(x'{hex}' USING utf8)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stay_exact() {
        assert_eq!(integer(&Cell::Unsigned(u64::MAX)), Some(u64::MAX.into()));
        assert_eq!(
            integer(&Cell::Decimal("36893488147419103232.00".into())),
            Some(1 << 65)
        );
        assert_eq!(integer(&Cell::Signed(-7)), Some(-7));
        assert_eq!(integer(&Cell::Null), None);
    }

    #[test]
    fn a_refused_statement_does_not_end_the_connection() {
        // 3676: STATEMENT_DIGEST() of a text that is cut off.
        assert!(
            [1064, 1142, 1227, 3676]
                .iter()
                .all(|errno| !is_lost(*errno))
        );
        assert!(
            [1053, 1969, 2006, 2013, 3024, 4031]
                .iter()
                .all(|errno| is_lost(*errno))
        );
    }

    #[test]
    fn a_literal_cannot_be_broken_out_of() {
        assert_eq!(sql_literal("db"), "'db'");
        assert_eq!(sql_literal("a'b"), "CONVERT(x'612762' USING utf8)");
    }
}
