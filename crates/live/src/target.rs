//! What is watched: whoever answers SQL and can be looked at, opened by whoever knows how.

use tare_history::{Query, Source};

/// A server or a segment that is open.
pub struct WatchTarget {
    /// Answers SQL.
    pub server: Box<dyn Query>,
    /// Is looked at.
    pub source: Box<dyn Source>,
    /// Its process, where it runs on this machine and is known.
    pub pid: Option<u32>,
    /// Whether Tare's engine counts there: then schema tare tells its losses and its cost.
    pub is_tare: bool,
    /// What it is called.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Opens it, and opens it anew after it was lost. Runs on the thread that asks.
pub type Open = Box<dyn FnMut() -> Result<WatchTarget, String> + Send>;
