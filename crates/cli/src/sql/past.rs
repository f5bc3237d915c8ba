//! A history to ask, evaluated in this process.

use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tare_query::segment::Outcome;

use super::local::shown;
use super::{Answer, SqlError};
use crate::exit::{FAILED, Failure};
use crate::past::{History, Tables};

/// A session on a history.
pub struct Past {
    session: tare_sys::segment::SegmentSession,
    history: Arc<History>,
}

impl Past {
    /// On a history that is there.
    pub fn open(past: tare_history::Past) -> Result<Self, Failure> {
        // Pieces that recorders have not put in their place are held open while a table is read.
        let limit = getrlimit(Resource::Nofile);
        let all = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        let _ = setrlimit(Resource::Nofile, all);
        let failed = |error| Failure::new(FAILED, format!("cannot evaluate SQL: {error}"));
        let (history, tables) = Tables::of(past);
        let mut session = tare_sys::segment::SegmentSession::instead(tables).map_err(failed)?;
        session.query("USE tare", &mut |_| ()).map_err(failed)?;
        Ok(Self { session, history })
    }

    /// What is asked: for who looks at one range of time after the other.
    #[cfg(feature = "terminal")]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Runs one statement, and hands each of its results over. Files that were left out are named on
    /// standard error.
    pub fn run(&mut self, statement: &str, take: &mut dyn FnMut(Answer)) -> Result<(), SqlError> {
        let done = self.session.query(statement, &mut |outcome| {
            take(match outcome {
                Outcome::Rows(rows) => Answer::Rows(shown(&rows)),
                Outcome::Changed(rows) => Answer::Changed(rows),
            });
        });
        for line in self.history.warnings() {
            eprintln!("tare: {line}");
        }
        Ok(done?)
    }
}
