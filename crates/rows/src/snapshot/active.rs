//! Active sessions: those of now, the samples of the last hour, and the time that these represent.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tare_mysql::error::SqlError;
use tare_mysql::secret::redact;
use tare_reader::activity_log::{ActivityLog, Description, Moment};
use tare_reader::estimate::{Estimate, Moments};
use tare_reader::scheduler::State;
use tare_reader::sessions::Session;

use super::{RowsResult, Snapshot, none, rows};
use crate::record::active::{ActiveSession, ActiveTime, SessionSample, TimeEstimate};
use crate::source::Source;

/// The warning of the statement with which the log begins.
const BEGINS_NOW: &str =
    "Sampling of active sessions begins with this statement; the table has the samples since";

/// The source's log, if it has one and there is something to sample.
fn running_log(source: &dyn Source) -> Result<Option<&Arc<ActivityLog>>, SqlError> {
    let is_live = |segment: Arc<tare_reader::Segment>| segment.is_live();
    let Some(log) = source.activity_log() else {
        return Ok(None);
    };
    if source.segment().is_some_and(is_live) {
        match log.begin() {
            Ok(false) => {}
            Ok(true) => source.warn(1105, BEGINS_NOW),
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(0);
                return Err(SqlError::new(
                    1135,
                    format!("Can't create a new thread (errno {errno})"),
                ));
            }
        }
    }
    Ok(Some(log))
}

impl Snapshot {
    /// tare.active_sessions.
    pub fn active_sessions(&self, source: &dyn Source) -> RowsResult<ActiveSession> {
        let Some(log) = source.activity_log() else {
            return none();
        };
        let sessions = self.active_sessions.get_or_init(|| {
            let (at, sessions) = log.read_now();
            Arc::new(
                sessions
                    .into_iter()
                    .map(|session| row(session, at))
                    .collect(),
            )
        });
        rows(sessions, ActiveSession::clone, |_| true)
    }

    /// The log's moments, as this statement sees them.
    fn moments(&self, source: &dyn Source) -> Result<Arc<Vec<Arc<Moment>>>, SqlError> {
        if let Some(moments) = self.moments.get() {
            return Ok(moments.clone());
        }
        let log = running_log(source)?;
        let moments = log.map(|log| log.moments()).unwrap_or_default();
        Ok(self.moments.get_or_init(|| Arc::new(moments)).clone())
    }

    /// tare.active_session_history.
    pub fn session_history(&self, source: &dyn Source) -> RowsResult<SessionSample> {
        let moments = self.moments(source)?;
        let count = moments.len();
        Ok(Box::new((0..count).flat_map(move |at| {
            let moment = moments[at].clone();
            (0..moment.samples.len()).map(move |number| SessionSample {
                moment: moment.clone(),
                number,
            })
        })))
    }

    /// The time of the samples that have a key, by this key, the longest first.
    pub fn active_time<K: Clone + Eq + Hash + 'static>(
        &self,
        source: &dyn Source,
        key: fn(&Description) -> Option<K>,
    ) -> RowsResult<ActiveTime<K>> {
        Ok(Box::new(estimate(&self.moments(source)?, key).into_iter()))
    }
}

/// TRUNCATE of tare.active_session_history.
pub fn clear_session_history(source: &dyn Source) {
    if let Some(log) = source.activity_log() {
        log.clear();
    }
}

/// The row of a session at a time.
fn row(session: Session, at: SystemTime) -> ActiveSession {
    let text = session.text().map(|text| redact(text).into());
    let (digest, digest_text) = session.digest.unzip();
    let age = session.statement_ns.map(Duration::from_nanos);
    let (state, system_call) = match session.activity {
        Some(activity) => (activity.state, activity.system_call),
        None => (State::Unknown, None),
    };
    ActiveSession {
        thread_id: session.thread.id,
        processlist_id: session.processlist_id,
        user: session.user,
        host: session.host,
        db: session.schema,
        statement: session.statement,
        digest,
        sql_text: text.or(digest_text.flatten()),
        stage: session.stage,
        wait: session.wait,
        operation: session.operation,
        object_schema: session.object_schema,
        object_name: session.object,
        state,
        system_call,
        blocker: session.blocker,
        started: age.and_then(|age| at.checked_sub(age)),
    }
}

/// The time of each key, the longest first.
fn estimate<K: Clone + Eq + Hash>(
    moments: &[Arc<Moment>],
    key: fn(&Description) -> Option<K>,
) -> Vec<ActiveTime<K>> {
    let mut by_state: HashMap<K, [f64; State::ALL.len()]> = HashMap::new();
    let mut categories = Moments::default();
    let start = moments.first().map(|first| first.instant);
    for moment in moments {
        let at = start.map_or(Duration::ZERO, |start| moment.instant - start);
        categories.begin(at.as_secs_f64(), moment.seconds);
        for sample in &moment.samples {
            let description = &sample.description;
            let Some(key) = key(description) else {
                continue;
            };
            let states = by_state.entry(key.clone()).or_default();
            states[description.state as usize] += moment.seconds;
            categories.add(key);
        }
    }
    let row = |(key, estimate): (&K, Estimate)| ActiveTime {
        key: key.clone(),
        time: TimeEstimate {
            samples: estimate.samples,
            seconds: estimate.value,
            error: (moments.len() > 1).then_some(estimate.standard_error),
            by_state: by_state.get(key).copied().unwrap_or_default(),
        },
    };
    let mut rows: Vec<ActiveTime<K>> = categories.estimates().map(row).collect();
    rows.sort_by(|a, b| b.time.seconds.total_cmp(&a.time.seconds));
    rows
}
