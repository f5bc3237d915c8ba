//! A row of threads.

use std::sync::Arc;

/// A thread.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Thread {
    pub thread_id: u64,
    pub name: Arc<str>,
    pub foreground: bool,
    pub processlist_id: Option<u64>,
    pub user: Option<Arc<str>>,
    pub host: Option<Arc<str>>,
    pub db: Option<Arc<str>>,
    pub command: Option<&'static str>,
    pub time_s: Option<i64>,
    pub state: Option<Arc<str>>,
    pub info: Option<Arc<str>>,
    pub parent_thread_id: Option<u64>,
    pub instrumented: bool,
    pub history: bool,
    pub connection_type: Option<&'static str>,
    pub os_id: Option<u64>,
}
