//! SQL on a history, evaluated in this process.

use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tare_query::segment::Outcome;
use tare_sys::segment::SegmentSession;

use super::local::rows_for_client;
use super::{Answer, SqlError};
use crate::exit::{FAILED, Failure};
use crate::history::{History, Tables};

/// A session on a history.
pub struct HistorySession {
    session: SegmentSession,
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
        let history = History::new(past);
        let session = SegmentSession::with_programs(Tables::get(), history.clone());
        let mut session = session.map_err(failed)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_leaves_nothing_when_it_is_closed() {
        let directory = std::env::temp_dir().join(format!("tare-closed-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("created");
        let past = || tare_history::Past {
            directory: directory.clone(),
            from: i64::MIN,
            to: i64::MAX,
            host: None,
            server: None,
        };
        let mut histories = Vec::new();
        for _ in 0..2 {
            let mut session = HistorySession::open(past()).map_err(|error| error.message);
            let session = session.as_mut().expect("a session");
            let tables = ["samples", "performance_schema.global_status"];
            for table in tables {
                let sql = format!("SELECT COUNT(*) FROM {table}");
                session.run(&sql, &mut |_| ()).expect("readable");
            }
            histories.push(Arc::downgrade(&session.history));
        }
        std::fs::remove_dir(&directory).expect("removed");
        assert!(histories.iter().all(|history| history.upgrade().is_none()));
    }
}
