//! Follows statements one by one: reads events_statements_history_long repeatedly before it wraps.

use std::collections::HashMap;

use super::totals::IS_STATEMENT;
use crate::observe::{ObservedServer, QueryError, integer, sql_literal, text};

/// How far a read overlaps the one before, because statements become visible some time after they end,
/// out of order.
const OVERLAP_PS: i128 = 100_000_000_000;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Its thread.
    pub thread: u64,
    /// Its start by the server's timer, in picoseconds.
    pub start_ps: i128,
    /// Its end.
    pub end_ps: i128,
    /// Whether it was answered from the query cache; `None` if that is not known.
    pub cached: Option<bool>,
}

/// The position in the history.
pub struct Follower {
    own_thread: Option<u64>,
    has_cache: bool,
    /// The end of the latest statement.
    latest_ps: i128,
    /// The event id of each thread's latest statement.
    last: HashMap<u64, u64>,
    /// Whether the next read is the first, whose statements are not counted.
    fresh: bool,
    /// The size of the history.
    pub capacity: u64,
}

impl Follower {
    /// Starts from now on; `Ok(None)` if the consumers of the history are off.
    pub fn start(
        observed: &mut ObservedServer,
        own_thread: Option<u64>,
        has_cache: bool,
    ) -> Result<Option<Self>, QueryError> {
        if !switched_off(observed)?.is_empty() {
            return Ok(None);
        }
        let capacity =
            observed.text("SELECT @@performance_schema_events_statements_history_long_size");
        let capacity = capacity
            .ok()
            .flatten()
            .and_then(|size| size.parse().ok())
            .unwrap_or(10_000);
        let mut follower = Self {
            own_thread,
            has_cache,
            latest_ps: 0,
            last: HashMap::new(),
            fresh: true,
            capacity,
        };
        follower.read(observed)?;
        Ok(Some(follower))
    }

    /// Skips the statements that have ended up to now.
    pub fn skip(&mut self, observed: &mut ObservedServer) -> Result<(), QueryError> {
        self.fresh = true;
        self.read(observed).map(drop)
    }

    /// The statements that have ended since.
    pub fn read(&mut self, observed: &mut ObservedServer) -> Result<Vec<Statement>, QueryError> {
        // A statement that was answered from the query cache was not parsed, so that it has no digest.
        let cached = if self.has_cache {
            "CASE WHEN EVENT_NAME <> 'statement/sql/select' OR ERRORS > 0 THEN NULL WHEN DIGEST IS NULL THEN 1 ELSE 0 END"
        } else {
            "NULL"
        };
        let question = format!(
            "SELECT THREAD_ID, EVENT_ID, TIMER_START, TIMER_END, {cached} FROM performance_schema.events_statements_history_long \
             WHERE TIMER_END > {} AND {IS_STATEMENT} ORDER BY TIMER_END",
            (self.latest_ps - OVERLAP_PS).max(0),
        );
        let rows = observed.rows(&question)?;
        let mut statements = Vec::new();
        for row in rows {
            let numbers: Vec<Option<i128>> = row.iter().map(integer).collect();
            let [
                Some(thread),
                Some(event),
                Some(start_ps),
                Some(end_ps),
                cached,
            ] = numbers[..]
            else {
                continue;
            };
            let (thread, event) = (
                u64::try_from(thread).unwrap_or(0),
                u64::try_from(event).unwrap_or(0),
            );
            self.latest_ps = self.latest_ps.max(end_ps);
            let last = self.last.entry(thread).or_insert(0);
            // A thread's statements end in the order of their ids, except nested ones.
            let is_new = event > *last;
            *last = (*last).max(event);
            if is_new && !self.fresh && self.own_thread != Some(thread) {
                let cached = cached.map(|cached| cached == 1);
                statements.push(Statement {
                    thread,
                    start_ps,
                    end_ps,
                    cached,
                });
            }
        }
        self.fresh = false;
        Ok(statements)
    }
}

/// The history needs all of these consumers.
const CONSUMERS: &str = "NAME IN ('global_instrumentation', 'thread_instrumentation', 'events_statements_current', 'events_statements_history_long')";

/// The consumers that are off.
fn switched_off(observed: &mut ObservedServer) -> Result<Vec<String>, QueryError> {
    let rows = observed.rows(&format!(
        "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'NO' AND {CONSUMERS}"
    ))?;
    Ok(rows.iter().filter_map(|row| text(row.first()?)).collect())
}

/// Consumers that were switched on and have to be switched off again.
pub struct EnabledConsumers(Vec<String>);

impl EnabledConsumers {
    /// Switches on those that are off.
    pub fn switch_on(observed: &mut ObservedServer) -> Result<Self, QueryError> {
        let switched = Self(switched_off(observed)?);
        switched.set(observed, "YES")?;
        Ok(switched)
    }

    /// Switches them off again.
    pub fn restore(self, observed: &mut ObservedServer) -> Result<(), QueryError> {
        self.set(observed, "NO")
    }

    fn set(&self, observed: &mut ObservedServer, enabled: &str) -> Result<(), QueryError> {
        for name in &self.0 {
            observed.rows(&format!("UPDATE performance_schema.setup_consumers SET ENABLED = '{enabled}' WHERE NAME = {}", sql_literal(name)))?;
        }
        Ok(())
    }
}

/// The thread of this connection; `None` for a segment.
pub fn own_thread(observed: &mut ObservedServer) -> Result<Option<u64>, QueryError> {
    if observed.about.is_segment {
        return Ok(None);
    }
    let question = format!(
        "SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {}",
        observed.about.connection_id
    );
    Ok(observed.text(&question)?.and_then(|id| id.parse().ok()))
}

/// Whether the server has a query cache.
pub fn has_query_cache(observed: &mut ObservedServer) -> Result<bool, QueryError> {
    if observed.about.product != crate::observe::Product::MariaDb {
        return Ok(false);
    }
    let rows = observed.rows(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('query_cache_size', 'query_cache_type')",
    )?;
    let of = |name: &str| {
        rows.iter()
            .find(|row| text(&row[0]).as_deref() == Some(name))
            .and_then(|row| text(&row[1]))
    };
    let size: u64 = of("query_cache_size")
        .and_then(|size| size.parse().ok())
        .unwrap_or(0);
    let digests = observed.text(
        "SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest'",
    )?;
    Ok(size > 0
        && of("query_cache_type").as_deref() != Some("OFF")
        && digests.as_deref() == Some("YES"))
}
