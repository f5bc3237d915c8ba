//! What a look at all threads gives, whoever is looked at.

use std::sync::Arc;
use std::time::SystemTime;

use crate::query::QueryError;

/// A thread that runs a statement or waits. The columns of table `samples`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Its id.
    pub thread_id: u64,
    /// Its instrument.
    pub thread: Option<Arc<str>>,
    /// Its connection.
    pub connection_id: Option<u64>,
    /// Its account's user.
    pub user: Option<Arc<str>>,
    /// Its account's host.
    pub client: Option<Arc<str>>,
    /// Its default schema.
    pub schema: Option<Arc<str>>,
    /// Its command.
    pub command: Option<Arc<str>>,
    /// The innermost statement that runs: its instrument.
    pub statement: Option<Arc<str>>,
    /// Its event.
    pub statement_id: Option<u64>,
    /// For how long.
    pub statement_ns: Option<u64>,
    /// Its digest.
    pub digest: Option<Arc<str>>,
    /// Its text, where there is no digest.
    pub text: Option<Arc<str>>,
    /// The stage.
    pub stage: Option<Arc<str>>,
    /// The wait.
    pub wait: Option<Arc<str>>,
    /// What it does.
    pub operation: Option<Arc<str>>,
    /// Schema of the object.
    pub object_schema: Option<Arc<str>>,
    /// The object.
    pub object: Option<Arc<str>>,
    /// For how long.
    pub wait_ns: Option<u64>,
    /// Who holds it.
    pub blocker: Option<u64>,
}

/// What was seen at one moment.
#[derive(Clone, Debug)]
pub struct Moment {
    /// When.
    pub at: SystemTime,
    /// Threads that exist.
    pub threads: Option<u64>,
    /// Those that are active.
    pub samples: Vec<Sample>,
}

/// Whoever can be looked at.
pub trait Source {
    /// Looks at all threads.
    ///
    /// # Errors
    /// [`QueryError`]: it is gone, or says no.
    fn read_moment(&mut self) -> Result<Moment, QueryError>;
}
