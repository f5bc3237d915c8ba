//! Samples of all threads of a server or segment.

use std::sync::Arc;
use std::time::SystemTime;

use tare_mysql::secret::redact;
use tare_mysql::traceparent::TraceContext;
use tare_reader::Segment;
use tare_reader::scheduler::State;

use crate::blocks::LockReading;
use crate::growth::{Text, Total};
use crate::query::QueryError;
use crate::status::ServerStatus;

/// A thread that is not idle. The columns of table `samples`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The thread's id.
    pub thread_id: u64,
    /// The thread's instrument.
    pub thread: Option<Arc<str>>,
    /// The connection's id.
    pub connection_id: Option<u64>,
    /// The account's user.
    pub user: Option<Arc<str>>,
    /// The account's host.
    pub client: Option<Arc<str>>,
    /// The default schema.
    pub schema: Option<Arc<str>>,
    /// The command.
    pub command: Option<Arc<str>>,
    /// The instrument of the innermost running statement.
    pub statement: Option<Arc<str>>,
    /// The statement's event id.
    pub statement_id: Option<u64>,
    /// The statement's duration so far.
    pub statement_ns: Option<u64>,
    /// The statement's digest.
    pub digest: Option<Arc<str>>,
    /// The statement's text, if there is no digest.
    pub text: Option<Arc<str>>,
    /// The stage.
    pub stage: Option<Arc<str>>,
    /// The wait.
    pub wait: Option<Arc<str>>,
    /// The wait's operation.
    pub operation: Option<Arc<str>>,
    /// The schema of the wait's object.
    pub object_schema: Option<Arc<str>>,
    /// The wait's object.
    pub object: Option<Arc<str>>,
    /// The wait's duration so far.
    pub wait_ns: Option<u64>,
    /// The thread that holds the object.
    pub blocker: Option<u64>,
    /// What it does, if it runs a statement or has no statements, and its process is on this machine.
    pub state: Option<State>,
    /// The system call in which it sleeps outside of any wait.
    pub system_call: Option<Arc<str>>,
    /// As the moment's.
    pub is_exact: Option<bool>,
    /// The thread's process, if processes without a segment are observed.
    pub process_id: Option<u64>,
    /// The span of the client that sent the statement.
    pub trace: Option<TraceContext>,
}

/// The text of a statement as samples have it: without passwords. MariaDB removes none itself.
pub fn sampled_text(text: &str) -> Arc<str> {
    redact(text).into()
}

/// The samples of one moment.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The time.
    pub at: SystemTime,
    /// The number of threads.
    pub threads: Option<u64>,
    /// Whether the server counts all events exactly now; `None` if it is read by SQL.
    pub is_exact: Option<bool>,
    /// The active threads.
    pub samples: Vec<Sample>,
}

/// Follows what a recorder reads. It must not block: the recorder waits for it.
pub trait Follower {
    /// Takes a moment, after the locks that were read with it. Returns sentences for the log.
    fn follow(&mut self, moment: &Moment) -> Vec<String>;

    /// Takes who waited for whom.
    fn follow_locks(&mut self, locks: &LockReading) {
        let _ = locks;
    }

    /// Takes the texts of digests that are new.
    fn follow_texts(&mut self, texts: &[Text]) {
        let _ = texts;
    }
}

/// A server, a segment or processes that can be sampled.
pub trait Source {
    /// Samples all threads.
    ///
    /// # Errors
    /// [`QueryError`]: the connection is lost, or the server refuses the query.
    fn read_moment(&mut self) -> Result<Moment, QueryError>;

    /// Reads who waits for whose lock, after this moment, and deadlocks. It queries the details only if there are any.
    fn read_locks(&mut self, moment: &Moment) -> LockReading {
        let _ = moment;
        LockReading::default()
    }

    /// Reads the status of the server; `None` if the source is no MySQL or MariaDB.
    fn read_status(&mut self) -> Option<ServerStatus> {
        None
    }

    /// Reads counters that the source has itself, and no server.
    fn read_totals(&mut self) -> Vec<Total> {
        Vec::new()
    }

    /// The segment that is sampled.
    fn attached(&self) -> Option<&Arc<Segment>> {
        None
    }

    /// Why the states of threads are unknown, if they are.
    fn unknown_states(&self) -> Option<String> {
        None
    }
}
