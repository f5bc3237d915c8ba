//! Why a cell has no figures.

use thiserror::Error;

/// What kept a cell from being measured.
#[derive(Debug, Clone, Error)]
pub enum CellError {
    /// Something went wrong; the matrix goes on.
    #[error("{reason}")]
    Failed {
        /// What happened and what to do.
        reason: String,
        /// The end of the log that tells more.
        log: String,
    },
    /// This machine, or this build, cannot.
    #[error("{0}")]
    Skipped(String),
    /// Ctrl-C: the matrix stops.
    #[error("interrupted")]
    Interrupted,
}

impl CellError {
    /// A failure without a log.
    pub fn failed(reason: impl std::fmt::Display) -> Self {
        Self::Failed {
            reason: reason.to_string(),
            log: String::new(),
        }
    }

    /// For `map_err`: a failure that says what was being done.
    pub fn at<E: std::fmt::Display>(what: impl std::fmt::Display) -> impl FnOnce(E) -> Self {
        move |error| Self::failed(format!("{what}: {error}"))
    }

    /// The same with this log, where it has none.
    pub fn with_log(self, end: String) -> Self {
        match self {
            Self::Failed { reason, log } if log.is_empty() => Self::Failed { reason, log: end },
            other => other,
        }
    }
}
