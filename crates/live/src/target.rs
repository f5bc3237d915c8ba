//! A server, a segment or a process that is watched.

use tare_history::{ExactWindows, Query, Source};

/// An open server, segment or process.
pub struct WatchTarget {
    /// Answers SQL; `None`: a process without a segment is observed.
    pub server: Option<Box<dyn Query>>,
    /// The source of samples.
    pub source: Box<dyn Source>,
    /// Exact windows by rule, if there is one.
    pub windows: Option<ExactWindows>,
    /// The server's process, if it is known and runs on this machine.
    pub pid: Option<u32>,
    /// Whether Tare's engine instruments it, so that schema tare has its losses and its cost.
    pub is_tare: bool,
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// Opens the target, also again after it was lost. It runs on the thread that queries.
pub type Open = Box<dyn FnMut() -> Result<WatchTarget, String> + Send>;
