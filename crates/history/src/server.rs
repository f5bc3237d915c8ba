//! Looking at a server: one question for each moment. The server answers it itself, so that it costs
//! what a statement costs there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use tare_mysql::traceparent::TraceContext;
use tare_reader::scheduler::Scheduler;

use crate::blocks::LockReading;
use crate::query::{Answer, Query, QueryError};
use crate::row_locks::{RowLocks, has_row_waits, mark, may_wait};
use crate::sample::{Moment, Sample, Source, sampled_text};
use crate::status::ServerStatus;
use crate::traceparents::Traceparents;

macro_rules! question {
    ($os_id:literal, $join:literal) => {
        concat!(
            "\
SELECT t.THREAD_ID, t.NAME, t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST, t.PROCESSLIST_DB, \
t.PROCESSLIST_COMMAND, s.EVENT_NAME, s.EVENT_ID, s.TIMER_WAIT, s.DIGEST, \
CASE WHEN s.DIGEST IS NULL THEN LEFT(s.SQL_TEXT, 1024) END, g.EVENT_NAME, w.EVENT_NAME, w.OPERATION, \
w.OBJECT_SCHEMA, w.OBJECT_NAME, w.TIMER_WAIT, w.EVENT_ID, ",
            $os_id,
            ", CASE WHEN s.SQL_TEXT LIKE '%traceparent%' THEN s.SQL_TEXT END \
FROM performance_schema.threads t \
LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID AND s.END_EVENT_ID IS NULL \
LEFT JOIN performance_schema.events_stages_current g ON g.THREAD_ID = t.THREAD_ID AND g.END_EVENT_ID IS NULL \
LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID AND w.END_EVENT_ID IS NULL \
AND w.EVENT_NAME <> 'idle' ",
            $join,
            "\
WHERE (s.THREAD_ID IS NOT NULL OR w.THREAD_ID IS NOT NULL) \
AND (t.PROCESSLIST_ID IS NULL OR t.PROCESSLIST_ID <> CONNECTION_ID()) \
ORDER BY t.THREAD_ID, s.EVENT_ID DESC, w.EVENT_NAME LIKE 'wait/lock/metadata/%' DESC, w.EVENT_ID DESC"
        )
    };
}

/// The query, for any server that has MySQL's performance_schema.
const QUESTION: &str = question!("NULL", "");

/// The same with the id that each thread has in the operating system.
const QUESTIONS_WITH_OS_ID: [&str; 2] = [
    // MySQL 5.7, MariaDB 10.5 and later.
    question!("t.THREAD_OS_ID", ""),
    // MariaDB before 10.5. A session in a pool of threads has 0.
    question!(
        "p.TID",
        "LEFT JOIN information_schema.PROCESSLIST p ON p.ID = t.PROCESSLIST_ID "
    ),
];

/// All of them.
pub const QUESTIONS: [&str; 3] = [QUESTION, QUESTIONS_WITH_OS_ID[0], QUESTIONS_WITH_OS_ID[1]];

/// A server that is sampled.
pub struct ServerSource<A> {
    server: A,
    row_locks: Box<dyn RowLocks>,
    scheduler: Result<Scheduler, String>,
    /// Of [`QUESTIONS_WITH_OS_ID`], those that the server has not refused.
    with_os_id: &'static [&'static str],
    traceparents: Traceparents,
}

impl<A: Query> ServerSource<A> {
    /// The source of a connected server. `row_locks` name sessions by their THREAD_IDs. `pid` is the server's
    /// process, or why its threads are not known.
    pub fn new(server: A, row_locks: Box<dyn RowLocks>, pid: Result<u32, String>) -> Self {
        Self {
            server,
            row_locks,
            scheduler: pid.map(Scheduler::new),
            with_os_id: &QUESTIONS_WITH_OS_ID,
            traceparents: Traceparents::default(),
        }
    }

    /// The rows of active threads, with their ids in the operating system if states can be known.
    fn query(&mut self) -> Result<Answer, QueryError> {
        let mut refusal = None;
        while let (true, Some((question, others))) =
            (self.scheduler.is_ok(), self.with_os_id.split_first())
        {
            let why = match self.server.query(question) {
                Err(QueryError::Refused(why)) => refusal.get_or_insert(why).clone(),
                answer => return answer,
            };
            self.with_os_id = others;
            if others.is_empty() {
                self.scheduler = Err(why);
            }
        }
        self.server.query(QUESTION)
    }
}

impl<A: Query> Source for ServerSource<A> {
    fn read_moment(&mut self) -> Result<Moment, QueryError> {
        self.traceparents.read(&mut self.server)?;
        let rows = self.query()?;
        let at = SystemTime::now();
        let mut all: Vec<(Sample, u64)> = rows.iter().filter_map(|row| sample(row)).collect();
        let of_variable =
            |sample: &Sample| self.traceparents.of(sample.thread_id, sample.statement_ns);
        let of_variables: HashMap<u64, TraceContext> = (all.iter())
            .filter_map(|(sample, _)| Some((sample.thread_id, of_variable(sample)?)))
            .collect();
        // Statements and waits nest. The innermost is first, but a metadata lock wait precedes it. The client's
        // statement is the outermost.
        all.dedup_by(|(outer, _), (inner, _)| {
            let is_same = outer.thread_id == inner.thread_id;
            if is_same {
                inner.trace = outer.trace.or(inner.trace);
            }
            is_same
        });
        // A trace in a statement's text precedes that of the variable.
        for (sample, _) in &mut all {
            let of_variable = || of_variables.get(&sample.thread_id).copied();
            sample.trace = sample.trace.or_else(of_variable);
        }
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
            is_exact: None,
            samples,
        })
    }

    fn read_locks(&mut self, moment: &Moment) -> LockReading {
        self.row_locks.read_locks(has_row_waits(&moment.samples))
    }

    fn read_status(&mut self) -> Option<ServerStatus> {
        self.row_locks.read_status()
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
        trace: text(20).and_then(|text| TraceContext::of_statement(&text)),
        ..Sample::default()
    };
    Some((sample, number(19).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use tare_reader::scheduler::State;

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

    #[test]
    fn nested_statements_belong_to_the_trace_of_the_clients_statement() {
        let ids = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
        let traced = format!("CALL p() /*traceparent='00-{}-{}-01'*/", ids[0], ids[1]);
        /// Answers these rows.
        struct Rows(Answer);
        impl Query for Rows {
            fn query(&mut self, _: &str) -> Result<Answer, QueryError> {
                Ok(self.0.clone())
            }
        }
        let row = |thread: &str, id: &str, text: Option<&str>| {
            let mut row = vec![None; 21];
            (row[0], row[8]) = (Some(thread.to_owned()), Some(id.to_owned()));
            row[20] = text.map(str::to_owned);
            row
        };
        // The innermost comes first.
        let rows = vec![
            row("7", "12", None),
            row("7", "11", Some(&traced)),
            row("8", "5", None),
            row(
                "9",
                "6",
                Some("DO 'traceparent=' /*traceparent='00-0-0-0'*/"),
            ),
        ];
        let pid = Err("unknown".to_owned());
        let mut source = ServerSource::new(Rows(rows), Box::new(crate::NoRowLocks), pid);
        let samples = source.read_moment().expect("answers").samples;
        let read = samples
            .iter()
            .map(|sample| (sample.statement_id, sample.trace));
        let mut read = read.collect::<Vec<_>>().into_iter();
        let (inner, trace) = read.next().expect("a sample");
        let trace = trace.expect("a trace");
        assert_eq!(inner, Some(12));
        assert_eq!([trace.trace_id_text(), trace.span_id_text()], ids);
        assert_eq!(read.collect::<Vec<_>>(), [(Some(5), None), (Some(6), None)]);
    }

    /// Refuses questions with a text, and answers others with a row of the calling thread.
    struct Server(Vec<&'static str>);

    impl Query for Server {
        fn query(&mut self, sql: &str) -> Result<Answer, QueryError> {
            if let Some(unknown) = self.0.iter().find(|column| sql.contains(**column)) {
                return Err(QueryError::Refused(format!("Unknown column {unknown}")));
            }
            let mut row = vec![None; 20];
            row[0] = Some("7".to_owned());
            row[7] = Some("statement/sql/select".to_owned());
            // PID/task/TID.
            let thread = std::fs::read_link("/proc/thread-self").expect("this thread");
            let os_id = thread.file_name().and_then(|id| id.to_str());
            row[19] = (!sql.contains(", NULL, CASE")).then(|| os_id.expect("a number").to_owned());
            Ok(vec![row])
        }
    }

    #[test]
    fn the_thread_of_a_session_comes_from_the_column_that_the_server_has() {
        for (refused, has_states) in [
            (&[][..], true),
            (&["THREAD_OS_ID"][..], true),
            (&["THREAD_OS_ID", "p.TID"][..], false),
        ] {
            let server = Server(refused.to_vec());
            let row_locks = Box::new(crate::NoRowLocks);
            let mut source = ServerSource::new(server, row_locks, Ok(std::process::id()));
            for _ in 0..2 {
                let moment = source.read_moment().expect("answers");
                let state = moment.samples[0].state;
                assert_eq!(state.is_some(), has_states, "{refused:?}: {state:?}");
                assert_ne!(state, Some(State::Unknown), "{refused:?}");
            }
            let why = source.unknown_states();
            assert_eq!(why.is_none(), has_states, "{why:?}");
            assert!(why.is_none_or(|why| why == "Unknown column THREAD_OS_ID"));
        }
    }
}
