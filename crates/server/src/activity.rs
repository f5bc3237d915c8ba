//! The samples of active sessions: of this server, or of the process to which it is attached.

use std::fmt;
use std::sync::Arc;

use tare_mysql::secret::redact;
use tare_reader::Segment;
use tare_reader::activity_log::{ActivityLog, Subject};

use crate::observed::Observed;
use crate::points;

/// The server's log.
pub struct Activity(pub Arc<ActivityLog>);

impl fmt::Debug for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Activity").finish_non_exhaustive()
    }
}

impl Activity {
    /// The log of what the server reads, which has not begun.
    pub fn new(observed: Arc<Observed>, digests_retain_positions: bool) -> Self {
        Self(ActivityLog::new(ObservedSessions {
            observed,
            digests_retain_positions,
        }))
    }
}

struct ObservedSessions {
    observed: Arc<Observed>,
    digests_retain_positions: bool,
}

impl Subject for ObservedSessions {
    fn segment(&self) -> Option<Arc<Segment>> {
        self.observed.segment()
    }

    fn normalize(&self, statement: &str) -> Option<String> {
        let digest = tare::digest::hash_and_text(&redact(statement), self.digests_retain_positions);
        digest.map(|(_, text)| text)
    }

    fn begin_thread(&self) {
        tare::thread::register(&points::THREAD_ACTIVITY_LOG);
    }
}
