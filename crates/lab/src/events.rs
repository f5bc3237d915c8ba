//! Events that a Performance Schema collected, by type and name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::connection::Connection;

/// One event of the measured time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its type: wait, stage, statement, transaction, memory, error.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The number of events.
    pub count: u64,
    /// The sum of the durations, where the event was timed.
    pub sum_ps: u64,
}

/// The types, in the order of reports.
pub const KINDS: [&str; 6] = [
    "wait",
    "stage",
    "statement",
    "transaction",
    "memory",
    "error",
];

/// Type, and the query of name, count and time.
const TABLES: [(&str, &str); 6] = [
    (
        "wait",
        "EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0",
    ),
    (
        "stage",
        "EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_stages_summary_global_by_event_name WHERE COUNT_STAR > 0",
    ),
    (
        "statement",
        "EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_statements_summary_global_by_event_name WHERE COUNT_STAR > 0",
    ),
    (
        "transaction",
        "EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_transactions_summary_global_by_event_name WHERE COUNT_STAR > 0",
    ),
    (
        "memory",
        "EVENT_NAME, COUNT_ALLOC + COUNT_FREE, 0 FROM performance_schema.memory_summary_global_by_event_name WHERE COUNT_ALLOC > 0",
    ),
    (
        "error",
        "COALESCE(ERROR_NAME, ERROR_NUMBER), SUM_ERROR_RAISED, 0 FROM performance_schema.events_errors_summary_global_by_error WHERE SUM_ERROR_RAISED > 0",
    ),
];

/// The totals at one moment.
pub type Totals = BTreeMap<(&'static str, String), (u64, u64)>;

/// Reads the totals. A table that the server does not have (5.6 has no transactions) is left out.
pub fn read_totals(connection: &mut Connection) -> Totals {
    let mut totals = Totals::new();
    for (kind, question) in TABLES {
        for row in connection
            .query(&format!("SELECT {question}"))
            .unwrap_or_default()
        {
            let mut row = row.into_iter();
            let mut next = || row.next().flatten();
            let (Some(name), count, sum) = (next(), next(), next()) else {
                continue;
            };
            let number =
                |text: Option<String>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
            totals.insert((kind, name), (number(count), number(sum)));
        }
    }
    totals
}

/// Excludes this connection from what is counted, where the server allows it.
pub fn exclude_own_connection(connection: &mut Connection) {
    let own = "UPDATE performance_schema.threads SET INSTRUMENTED = 'NO' WHERE PROCESSLIST_ID = CONNECTION_ID()";
    if let Connection::Server(_) = connection {
        let _ = connection.query(own);
    }
}

/// The events between two moments, the most frequent first.
pub fn difference(before: &Totals, after: &Totals) -> Vec<Event> {
    let mut events: Vec<Event> = (after.iter())
        .filter_map(|((kind, name), &(count, sum))| {
            let (had, spent) = before
                .get(&(*kind, name.clone()))
                .copied()
                .unwrap_or_default();
            // The table was truncated between the two readings, so that the count began again at zero.
            let (had, spent) = if had > count { (0, 0) } else { (had, spent) };
            (count > had).then(|| Event {
                kind: (*kind).into(),
                name: name.clone(),
                count: count - had,
                sum_ps: sum.saturating_sub(spent),
            })
        })
        .collect();
    events.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_differences_of_totals() {
        let at = |counts: &[(&str, u64)]| -> Totals {
            counts
                .iter()
                .map(|(name, count)| (("wait", (*name).into()), (*count, count * 10)))
                .collect()
        };
        let events = difference(
            &at(&[("a", 5), ("b", 7), ("d", 9)]),
            &at(&[("a", 6), ("b", 7), ("c", 3), ("d", 2)]),
        );
        let counts: Vec<_> = events
            .iter()
            .map(|event| (event.name.as_str(), event.count, event.sum_ps))
            .collect();
        assert_eq!(counts, [("c", 3, 30), ("d", 2, 20), ("a", 1, 10)]);
    }
}
