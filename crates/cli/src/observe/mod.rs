//! What `tare top`, `tare querystat` and `tare explain` look at: any performance_schema, asked in SQL.

mod about;
mod process;
pub mod sampling;
pub mod show;
pub mod table;

use std::fmt;
use std::time::Duration;

#[cfg(feature = "terminal")]
pub use about::questions;
pub use about::{About, Product};

use crate::exit::{FAILED, Failure};
use crate::output::{Cell, Rows};
use crate::sql::{Answer, Session, Target};

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// Nobody is there any more; asking again later may help.
    Lost(String),
    /// The server says no to this statement.
    Refused(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::new(FAILED, trouble)
    }
}

/// A server or a segment that is asked again and again.
pub struct Observed {
    target: Target,
    session: Session,
    /// What it is.
    pub about: About,
    /// Statements sent to it since it was opened.
    pub asked: u64,
}

impl Observed {
    /// Connects or attaches, and learns what is there.
    pub fn open(target: Target) -> Result<Self, Failure> {
        let mut session = Session::open(&target)?;
        let about = About::of(&target, |sql| rows(&mut session, sql))?;
        Ok(Self {
            target,
            session,
            about,
            asked: 0,
        })
    }

    /// The same anew, after it was lost.
    #[cfg(feature = "terminal")]
    pub fn reopen(&mut self) -> Result<(), Failure> {
        *self = Self::open(self.target.clone())?;
        Ok(())
    }

    /// The session alone, for who has learned what is there.
    #[cfg(feature = "history")]
    pub fn into_session(self) -> Session {
        self.session
    }

    /// The rows of a statement; none of one that has none.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, Trouble> {
        // To a segment nothing is sent.
        self.asked += u64::from(!self.about.is_segment);
        rows(&mut self.session, sql)
    }

    /// Whether who writes the segment still does. A server would say itself that it is gone.
    pub fn is_live(&mut self) -> Result<bool, Trouble> {
        if !self.about.is_segment {
            return Ok(true);
        }
        Ok(self.text("SELECT state FROM tare.segments")?.as_deref() == Some("live"))
    }

    /// The first value of the first row, as text.
    pub fn text(&mut self, sql: &str) -> Result<Option<String>, Trouble> {
        Ok(self.rows(sql)?.first().and_then(|row| text(row.first()?)))
    }
}

/// The rows of a statement on a session; none of one that has none.
pub fn rows(session: &mut Session, sql: &str) -> Result<Vec<Vec<Cell>>, Trouble> {
    match session.query(sql) {
        Ok(Answer::Rows(Rows { rows, .. })) => Ok(rows),
        Ok(Answer::Changed(_)) => Ok(Vec::new()),
        Err(error) => Err(match error.errno() {
            // Shutting down, killed; and the client's own for whatever ended the connection.
            1053 | 1077 | 1079 | 1152 | 1927 | 2000.. => Trouble::Lost(error.to_string()),
            _ => Trouble::Refused(error.to_string()),
        }),
    }
}

/// Reads an interval of the command line, in seconds.
pub fn interval(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text}: give seconds, from 0.1 to 86400");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if (0.1..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(wrong())
    }
}

/// A cell as text; NULL is none.
pub fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Unsigned(n) => Some(n.to_string()),
        Cell::Signed(n) => Some(n.to_string()),
        Cell::Real(x) => Some(x.to_string()),
        Cell::Decimal(text) | Cell::Text(text) => Some(text.clone()),
    }
}

/// A whole number, exactly: counters go beyond what a float holds.
pub fn whole(cell: &Cell) -> Option<i128> {
    match cell {
        Cell::Null => None,
        Cell::Unsigned(n) => Some((*n).into()),
        Cell::Signed(n) => Some((*n).into()),
        Cell::Real(x) => Some(*x as i128),
        Cell::Decimal(text) | Cell::Text(text) => text.split('.').next()?.parse().ok(),
    }
}

/// A number.
pub fn real(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Real(x) => Some(*x),
        Cell::Decimal(text) | Cell::Text(text) => text.parse().ok(),
        other => whole(other).map(|n| n as f64),
    }
}

/// A text as a literal of SQL, whatever sql_mode says of backslashes.
pub fn quoted(text: &str) -> String {
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
        assert_eq!(whole(&Cell::Unsigned(u64::MAX)), Some(u64::MAX.into()));
        assert_eq!(
            whole(&Cell::Decimal("36893488147419103232.00".into())),
            Some(1 << 65)
        );
        assert_eq!(whole(&Cell::Signed(-7)), Some(-7));
        assert_eq!(whole(&Cell::Null), None);
    }

    #[test]
    fn a_literal_cannot_be_broken_out_of() {
        assert_eq!(quoted("db"), "'db'");
        assert_eq!(quoted("a'b"), "CONVERT(x'612762' USING utf8)");
    }
}
