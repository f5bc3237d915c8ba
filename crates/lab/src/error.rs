//! Why a cell has no figures.

use thiserror::Error;

/// Why a cell was not measured.
#[derive(Debug, Clone, Error)]
pub enum CellError {
    /// The measurement failed; the run continues.
    #[error("{reason}")]
    Failed {
        /// What happened, and what to do.
        reason: String,
        /// The end of the log.
        log: String,
    },
    /// This machine or this build cannot measure it.
    #[error("{0}")]
    Skipped(String),
    /// A signal stopped the run.
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

    /// For `map_err`: a failure with its context.
    pub fn at<E: std::fmt::Display>(what: impl std::fmt::Display) -> impl FnOnce(E) -> Self {
        move |error| Self::failed(format!("{what}: {error}"))
    }

    /// Adds a log to a failure that has none.
    pub fn with_log(self, end: String) -> Self {
        match self {
            Self::Failed { reason, log } if log.is_empty() => Self::Failed { reason, log: end },
            other => other,
        }
    }
}
