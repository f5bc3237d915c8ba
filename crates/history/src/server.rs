//! Looking at a server: one question for each moment. The server answers it itself, so that it costs
//! what a statement costs there.

use std::sync::Arc;
use std::time::SystemTime;

use crate::query::{Query, QueryError};
use crate::row_locks::{RowLocks, mark, may_wait};
use crate::sample::{Moment, Sample, Source, sampled_text};

/// The query, for any server that has MySQL's performance_schema.
pub const QUESTION: &str = "\
SELECT t.THREAD_ID, t.NAME, t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST, t.PROCESSLIST_DB, \
t.PROCESSLIST_COMMAND, s.EVENT_NAME, s.EVENT_ID, s.TIMER_WAIT, s.DIGEST, \
CASE WHEN s.DIGEST IS NULL THEN LEFT(s.SQL_TEXT, 1024) END, g.EVENT_NAME, w.EVENT_NAME, w.OPERATION, \
w.OBJECT_SCHEMA, w.OBJECT_NAME, w.TIMER_WAIT, w.EVENT_ID \
FROM performance_schema.threads t \
LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID AND s.END_EVENT_ID IS NULL \
LEFT JOIN performance_schema.events_stages_current g ON g.THREAD_ID = t.THREAD_ID AND g.END_EVENT_ID IS NULL \
LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID AND w.END_EVENT_ID IS NULL \
AND w.EVENT_NAME <> 'idle' \
WHERE (s.THREAD_ID IS NOT NULL OR w.THREAD_ID IS NOT NULL) \
AND (t.PROCESSLIST_ID IS NULL OR t.PROCESSLIST_ID <> CONNECTION_ID()) \
ORDER BY t.THREAD_ID, s.EVENT_ID DESC, w.EVENT_NAME LIKE 'wait/lock/metadata/%' DESC, w.EVENT_ID DESC";

/// A server that is sampled.
pub struct ServerSource<A> {
    server: A,
    row_locks: Box<dyn RowLocks>,
}

impl<A: Query> ServerSource<A> {
    /// The source of a connected server. `row_locks` name sessions by their THREAD_IDs.
    pub fn new(server: A, row_locks: Box<dyn RowLocks>) -> Self {
        Self { server, row_locks }
    }
}

impl<A: Query> Source for ServerSource<A> {
    fn read_moment(&mut self) -> Result<Moment, QueryError> {
        let rows = self.server.query(QUESTION)?;
        let at = SystemTime::now();
        let mut samples: Vec<Sample> = rows.iter().filter_map(|row| sample(row)).collect();
        // Statements and waits nest. The innermost is first, but a metadata lock wait precedes it.
        samples.dedup_by_key(|sample| sample.thread_id);
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
}

fn sample(row: &[Option<String>]) -> Option<Sample> {
    let text = |i: usize| row.get(i).cloned().flatten().map(Arc::<str>::from);
    let number = |i: usize| row.get(i)?.as_ref()?.parse::<u64>().ok();
    let ns = |i: usize| number(i).map(|ps| ps / 1000);
    Some(Sample {
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
        blocker: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampled_text_has_no_password() {
        let text_of = |sql: &str| {
            let mut row = vec![None; 19];
            (row[0], row[11]) = (Some("7".to_owned()), Some(sql.to_owned()));
            sample(&row).expect("a sample").text
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
