//! Looking at a server: one question for each moment. The server answers it itself, so that it costs
//! what a statement costs there.

use std::sync::Arc;
use std::time::SystemTime;

use tare_reader::scheduler::Scheduler;

use crate::query::{Answer, Query, QueryError};
use crate::row_locks::{RowLocks, mark, may_wait};
use crate::sample::{Moment, Sample, Source, sampled_text};

macro_rules! question {
    ($os_id:literal) => {
        concat!(
            "\
SELECT t.THREAD_ID, t.NAME, t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST, t.PROCESSLIST_DB, \
t.PROCESSLIST_COMMAND, s.EVENT_NAME, s.EVENT_ID, s.TIMER_WAIT, s.DIGEST, \
CASE WHEN s.DIGEST IS NULL THEN LEFT(s.SQL_TEXT, 1024) END, g.EVENT_NAME, w.EVENT_NAME, w.OPERATION, \
w.OBJECT_SCHEMA, w.OBJECT_NAME, w.TIMER_WAIT, w.EVENT_ID, ",
            $os_id,
            " \
FROM performance_schema.threads t \
LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID AND s.END_EVENT_ID IS NULL \
LEFT JOIN performance_schema.events_stages_current g ON g.THREAD_ID = t.THREAD_ID AND g.END_EVENT_ID IS NULL \
LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID AND w.END_EVENT_ID IS NULL \
AND w.EVENT_NAME <> 'idle' \
WHERE (s.THREAD_ID IS NOT NULL OR w.THREAD_ID IS NOT NULL) \
AND (t.PROCESSLIST_ID IS NULL OR t.PROCESSLIST_ID <> CONNECTION_ID()) \
ORDER BY t.THREAD_ID, s.EVENT_ID DESC, w.EVENT_NAME LIKE 'wait/lock/metadata/%' DESC, w.EVENT_ID DESC"
        )
    };
}

/// The query, for any server that has MySQL's performance_schema.
pub const QUESTION: &str = question!("NULL");

/// The same with the id that each thread has in the operating system, for MySQL 5.7, MariaDB 10.5 and later.
pub const QUESTION_WITH_OS_ID: &str = question!("t.THREAD_OS_ID");

/// A server that is sampled.
pub struct ServerSource<A> {
    server: A,
    row_locks: Box<dyn RowLocks>,
    scheduler: Result<Scheduler, String>,
}

impl<A: Query> ServerSource<A> {
    /// The source of a connected server. `row_locks` name sessions by their THREAD_IDs. `pid` is the server's
    /// process, or why it is not known.
    pub fn new(server: A, row_locks: Box<dyn RowLocks>, pid: Result<u32, String>) -> Self {
        Self {
            server,
            row_locks,
            scheduler: pid.map(Scheduler::new),
        }
    }

    /// The rows of active threads, with their ids in the operating system if states can be known.
    fn query(&mut self) -> Result<Answer, QueryError> {
        if self.scheduler.is_ok() {
            match self.server.query(QUESTION_WITH_OS_ID) {
                Err(QueryError::Refused(why)) => self.scheduler = Err(why),
                answer => return answer,
            }
        }
        self.server.query(QUESTION)
    }
}

impl<A: Query> Source for ServerSource<A> {
    fn read_moment(&mut self) -> Result<Moment, QueryError> {
        let rows = self.query()?;
        let at = SystemTime::now();
        let mut all: Vec<(Sample, u64)> = rows.iter().filter_map(|row| sample(row)).collect();
        // Statements and waits nest. The innermost is first, but a metadata lock wait precedes it.
        all.dedup_by_key(|(sample, _)| sample.thread_id);
        if let Ok(scheduler) = &mut self.scheduler {
            scheduler.begin_moment();
            for (sample, os_id) in all
                .iter_mut()
                .filter(|(sample, _)| sample.statement.is_some())
            {
                let activity = scheduler.read(*os_id, sample.wait.is_some());
                (sample.state, sample.system_call) = (Some(activity.state), activity.system_call);
            }
        }
        let mut samples: Vec<Sample> = all.into_iter().map(|(sample, _)| sample).collect();
        if may_wait(&samples) {
            let (waits, read) = self.row_locks.read();
            mark(&mut samples, &waits, read.elapsed());
        }
        Ok(Moment {
            at,
            threads: None,
            samples,
        })
    }

    fn unknown_states(&self) -> Option<String> {
        match &self.scheduler {
            Ok(scheduler) => scheduler.problem().map(str::to_owned),
            Err(why) => Some(why.clone()),
        }
    }
}

/// The sample of a row, and the thread's id in the operating system.
fn sample(row: &[Option<String>]) -> Option<(Sample, u64)> {
    let text = |i: usize| row.get(i).cloned().flatten().map(Arc::<str>::from);
    let number = |i: usize| row.get(i)?.as_ref()?.parse::<u64>().ok();
    let ns = |i: usize| number(i).map(|ps| ps / 1000);
    let sample = Sample {
        thread_id: number(0)?,
        thread: text(1),
        connection_id: number(2),
        user: text(3),
        client: text(4),
        schema: text(5),
        command: text(6),
        statement: text(7),
        statement_id: number(8),
        statement_ns: ns(9),
        digest: text(10),
        text: text(11).map(|text| sampled_text(&text)),
        stage: text(12),
        wait: text(13),
        operation: text(14),
        object_schema: text(15),
        object: text(16),
        wait_ns: ns(17),
        ..Sample::default()
    };
    Some((sample, number(19).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampled_text_has_no_password() {
        let text_of = |sql: &str| {
            let mut row = vec![None; 19];
            (row[0], row[11]) = (Some("7".to_owned()), Some(sql.to_owned()));
            sample(&row).expect("a sample").0.text
        };
        for (sql, expected) in [
            (
                "CREATE USER u IDENTIFIED BY 'x'",
                "CREATE USER u IDENTIFIED BY '<secret>'",
            ),
            (
                "SET PASSWORD = PASSWORD('x')",
                "SET PASSWORD = PASSWORD('<secret>')",
            ),
            (
                "CHANGE MASTER TO MASTER_PASSWORD='x'",
                "CHANGE MASTER TO MASTER_PASSWORD='<secret>'",
            ),
            ("SELECT 'x'", "SELECT 'x'"),
        ] {
            assert_eq!(text_of(sql).as_deref(), Some(expected));
        }
    }
}
