//! SQL on a history, evaluated in this process.

use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tare_query::segment::Outcome;

use super::local::rows_for_client;
use super::{Answer, SqlError};
use crate::exit::{FAILED, Failure};
use crate::history::{History, Tables};

/// A session on a history.
pub struct HistorySession {
    session: tare_sys::segment::SegmentSession,
    history: Arc<History>,
}

impl HistorySession {
    /// Opens a session on a history.
    pub fn open(past: tare_history::Past) -> Result<Self, Failure> {
        // A scan keeps all pieces open that recorders have not merged yet.
        let limit = getrlimit(Resource::Nofile);
        let all = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        let _ = setrlimit(Resource::Nofile, all);
        let failed = |error| Failure::new(FAILED, format!("cannot evaluate SQL: {error}"));
        let (history, tables) = Tables::new(past);
        let mut session =
            tare_sys::segment::SegmentSession::with_programs(tables).map_err(failed)?;
        session.query("USE tare", &mut |_| ()).map_err(failed)?;
        Ok(Self { session, history })
    }

    /// The history, so that `tare top` can change the range of time.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Runs one statement, and calls `take` with each of its results. Prints the names of damaged files
    /// on standard error.
    pub fn run(&mut self, statement: &str, take: &mut dyn FnMut(Answer)) -> Result<(), SqlError> {
        let done = self.session.query(statement, &mut |outcome| {
            take(match outcome {
                Outcome::Rows(rows) => Answer::Rows(rows_for_client(&rows)),
                Outcome::Changed(rows) => Answer::Changed(rows),
            });
        });
        for line in self.history.take_warnings() {
            eprintln!("tare: {line}");
        }
        Ok(done?)
    }
}
