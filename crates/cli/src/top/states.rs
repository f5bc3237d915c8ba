//! What Linux says of each session of a stock server that runs a statement: whether it is on a CPU, waits for one or
//! sleeps. Of a server with Tare's engine, tare.active_sessions has the same.

use std::collections::HashMap;

use tare_history::ROW_LOCK_WAIT;
use tare_reader::scheduler::{Scheduler, State};

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Row};
use crate::observe::{ObservedServer, Product, QueryError, integer, text};
use crate::output::Cell;

/// Sessions that run a statement, the innermost wait of each first, with their threads in the operating system.
const QUERY: &str = "SELECT t.THREAD_ID, t.THREAD_OS_ID, w.EVENT_NAME, w.OBJECT_SCHEMA, w.OBJECT_NAME, t.PROCESSLIST_STATE, \
     LEFT(t.PROCESSLIST_INFO, 200) FROM performance_schema.threads AS t LEFT JOIN performance_schema.events_waits_current AS w \
     ON w.THREAD_ID = t.THREAD_ID AND w.END_EVENT_ID IS NULL AND w.EVENT_NAME <> 'idle' \
     WHERE t.PROCESSLIST_ID <> CONNECTION_ID() \
     AND t.PROCESSLIST_COMMAND NOT IN ('Sleep', 'Daemon', 'Connect', 'Binlog Dump', 'Binlog Dump GTID') \
     ORDER BY t.THREAD_ID, w.EVENT_NAME LIKE 'wait/lock/metadata/%' DESC, w.EVENT_ID DESC";

/// The query of this module.
pub fn queries() -> [&'static str; 1] {
    [QUERY]
}

/// The head of the column with the states.
const COLUMN: &str = "STATE, STATEMENT";

/// Reads the states of one server's sessions.
#[derive(Default)]
pub struct States {
    /// `None` until they are first read; then the scheduler, or why it cannot be queried.
    scheduler: Option<Result<Scheduler, String>>,
}

impl States {
    /// Fills in the states of a page's sessions. Returns a note if they are not known.
    ///
    /// # Errors
    /// The server was lost.
    pub fn fill(
        &mut self,
        observed: &mut ObservedServer,
        sheet: &Sheet,
        rows: &mut [Row],
    ) -> Result<Option<String>, QueryError> {
        let columns = sheet.find(|kind| kind == Measure::KeyNumber);
        let (Some(thread), Some(column), false) = (
            columns,
            sheet.column(COLUMN),
            observed.about.product == Product::Tare,
        ) else {
            return Ok(None);
        };
        if self.scheduler.is_none() {
            let process = match observed.find_threads() {
                Ok(process) => process,
                Err(QueryError::Refused(why)) => Err(why),
                Err(lost) => return Err(lost),
            };
            self.scheduler = Some(process.map(Scheduler::new));
        }
        let Some(Ok(scheduler)) = &mut self.scheduler else {
            return Ok(self.note());
        };
        let answer = match observed.rows(QUERY) {
            Ok(answer) => answer,
            Err(QueryError::Refused(why)) => {
                self.scheduler = Some(Err(why));
                return Ok(self.note());
            }
            Err(lost) => return Err(lost),
        };
        scheduler.begin_moment();
        let blocked_by = sheet.find(|kind| kind == Measure::BlockedBy);
        let mut sessions = HashMap::new();
        for row in &answer {
            if let Some(id) = row.first().and_then(integer) {
                sessions.entry(id.to_string()).or_insert(row);
            }
        }
        for row in rows {
            let id = row.figures[thread].text(Measure::Gauge);
            let is_blocked = blocked_by.is_some_and(|at| row.figures[at] != Figure::Empty);
            let state =
                (sessions.remove(&id)).and_then(|session| describe(scheduler, session, is_blocked));
            if let Some(state) = state {
                row.figures[column] = Figure::Text(state);
            }
        }
        Ok(self.note())
    }

    /// Why states are not known.
    fn note(&self) -> Option<String> {
        let why = match self.scheduler.as_ref()? {
            Ok(scheduler) => scheduler.problem()?,
            Err(why) => why,
        };
        Some(format!("whether a session is on a CPU is not known: {why}"))
    }
}

/// The state of a session, the wait in which it sleeps or else its stage and system call, and its statement. `None` if
/// the state is unknown. A session that sleeps and is blocked waits for a lock, whatever instruments are on.
fn describe(scheduler: &mut Scheduler, row: &[Cell], is_blocked: bool) -> Option<String> {
    let text = |at: usize| row.get(at).and_then(text).filter(|text| !text.is_empty());
    let os_id = row.get(1).and_then(integer);
    let os_id = os_id.and_then(|id| u64::try_from(id).ok()).unwrap_or(0);
    let wait = text(2);
    let lock = is_blocked
        .then(|| lock_wait(wait.as_deref(), text(5)))
        .flatten();
    let activity = scheduler.read(os_id, wait.is_some() || lock.is_some());
    let place = match (activity.state, lock) {
        (State::Unknown, _) => return None,
        (State::Waiting, Some(lock)) => [Some(lock), None],
        (State::Waiting, None) => {
            let object: Vec<String> = [text(3), text(4)].into_iter().flatten().collect();
            [wait, Some(object.join("."))]
        }
        _ => [text(5), activity.system_call.map(|call| call.to_string())],
    };
    let words = place.into_iter().chain([text(6)]).flatten();
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    Some(format!("{}: {}", activity.state.name(), words.join(" ")))
}

/// The lock for which a blocked session waits, unless its wait names it: a lock of the server by the session's stage,
/// or else a row. InnoDB waits for a row inside of the wait for the table, on a condition.
fn lock_wait(wait: Option<&str>, stage: Option<String>) -> Option<String> {
    let outer = ["wait/io/table/", "wait/synch/"];
    if wait.is_some_and(|wait| !outer.iter().any(|begin| wait.starts_with(begin))) {
        return None;
    }
    let of_server = |stage: &String| stage.starts_with("Waiting for ") || stage == "User lock";
    Some((stage.filter(of_server)).unwrap_or_else(|| ROW_LOCK_WAIT.to_owned()))
}
