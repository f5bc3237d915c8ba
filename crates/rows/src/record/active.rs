//! Rows of active sessions, and of the time that they took.

use std::sync::Arc;
use std::time::SystemTime;

use tare_reader::activity_log::{Moment, Sample};
use tare_reader::scheduler::State;

/// A thread that runs a statement now.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are those of the columns")]
pub struct ActiveSession {
    pub thread_id: u64,
    pub processlist_id: Option<u64>,
    pub user: Option<Arc<str>>,
    pub host: Option<Arc<str>>,
    pub db: Option<Arc<str>>,
    pub statement: Option<Arc<str>>,
    pub digest: Option<Arc<str>>,
    pub sql_text: Option<Arc<str>>,
    pub stage: Option<Arc<str>>,
    pub wait: Option<Arc<str>>,
    pub operation: Option<&'static str>,
    pub object_schema: Option<Arc<str>>,
    pub object_name: Option<Arc<str>>,
    pub state: State,
    pub system_call: Option<Arc<str>>,
    pub started: Option<SystemTime>,
    pub blocker: Option<u64>,
}

/// A thread that ran a statement at a moment.
#[derive(Debug, Clone)]
pub struct SessionSample {
    /// The moment.
    pub moment: Arc<Moment>,
    /// The thread's number in it.
    pub number: usize,
}

impl SessionSample {
    /// The thread.
    pub fn sample(&self) -> &Sample {
        &self.moment.samples[self.number]
    }
}

/// Time that sessions took, estimated from samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TimeEstimate {
    /// The number of samples.
    pub samples: u64,
    /// The time, in seconds.
    pub seconds: f64,
    /// Its standard error; `None` if there was only one moment.
    pub error: Option<f64>,
    /// The part in each of [`State::ALL`].
    pub by_state: [f64; State::ALL.len()],
}

/// The time of one group.
#[derive(Debug, Clone)]
pub struct ActiveTime<K> {
    /// What the samples of the group have in common.
    pub key: K,
    /// Their time.
    pub time: TimeEstimate,
}

impl<K> AsRef<TimeEstimate> for ActiveTime<K> {
    fn as_ref(&self) -> &TimeEstimate {
        &self.time
    }
}
