//! What a statement's last executions did: their stages and waits, out of the histories.
//!
//! The events within a statement have the numbers between the statement's own and the one at its end, on its
//! thread. So one scan of a history answers, and no join of two.

use std::time::Instant;

use super::drills::EXECUTIONS;
use super::snapshot::{Key, Row, Snapshot, between};
use crate::observe::{ObservedServer, QueryError, format, integer, sql_literal, text};
use crate::output::Cell;

/// Executions that are looked at: enough for an average, few enough for a statement's text.
const EXECUTIONS_SEEN: usize = 50;

const STATEMENTS: &str =
    "SELECT THREAD_ID, EVENT_ID, END_EVENT_ID, TIMER_WAIT, LOCK_TIME FROM performance_schema.";
const EVENTS: &str = "SELECT EVENT_NAME, COUNT(*), SUM(TIMER_WAIT) FROM performance_schema.";
const CONSUMERS: &str = "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' AND NAME LIKE 'events%'";

/// How the questions asked here begin, for whoever leaves out our own statements.
pub fn questions() -> [&'static str; 3] {
    [STATEMENTS, EVENTS, CONSUMERS]
}

/// What a drill-down found.
pub struct Found {
    /// Stages and waits.
    pub rows: Vec<Row>,
    /// What is to be said about them.
    pub notes: Vec<String>,
}

/// Looks at the executions of the statement with these keys: its schema and its digest.
pub fn look(observed: &mut ObservedServer, keys: &Key) -> Result<Found, QueryError> {
    let compare = |column: &str, key: Option<&Option<String>>| match key.and_then(Option::as_ref) {
        Some(key) => format!("{column} = {}", sql_literal(key)),
        None => format!("{column} IS NULL"),
    };
    let is_it = format!(
        "{} AND {}",
        compare("DIGEST", keys.get(1)),
        compare("CURRENT_SCHEMA", keys.first())
    );
    let consumers = consumers(observed)?;
    let history = |kind: &str| {
        let on = |name: &String| consumers.contains(name);
        [
            format!("events_{kind}_history_long"),
            format!("events_{kind}_history"),
        ]
        .into_iter()
        .find(on)
    };
    let mut notes = Vec::new();
    let mut answer: Vec<Vec<Cell>> = Vec::new();
    let Some(statements) = history("statements") else {
        return Ok(Found {
            rows: Vec::new(),
            notes: vec![switch_on("statements")],
        });
    };
    let question = format!(
        "{STATEMENTS}{statements} WHERE {is_it} AND END_EVENT_ID IS NOT NULL ORDER BY TIMER_START DESC LIMIT {EXECUTIONS_SEEN}"
    );
    let executions = observed.rows(&question)?;
    if executions.is_empty() {
        notes.push(format!(
            "{statements} has no execution of it now; under load it keeps little: drill down again"
        ));
        return Ok(Found {
            rows: Vec::new(),
            notes,
        });
    }
    let sum = |at: usize| {
        executions
            .iter()
            .filter_map(|row| integer(&row[at]))
            .sum::<i128>()
    };
    let (time, lock) = (sum(3), sum(4));
    let average = |sum: i128| format::time(sum as f64 / executions.len() as f64);
    notes.push(format!(
        "the last {} executions ({statements}): {} each, of that {} for locks",
        executions.len(),
        average(time),
        average(lock),
    ));
    let ranges: Vec<String> = (executions.iter())
        .filter_map(|row| {
            let (thread, first, last) = (integer(&row[0])?, integer(&row[1])?, integer(&row[2])?);
            Some(format!(
                "(THREAD_ID = {thread} AND EVENT_ID > {first} AND EVENT_ID <= {last})"
            ))
        })
        .collect();
    for (kind, word) in [("stages", "stage"), ("waits", "wait")] {
        let Some(history) = history(kind) else {
            notes.push(switch_on(kind));
            continue;
        };
        let question = format!(
            "{EVENTS}{history} WHERE {} GROUP BY EVENT_NAME",
            ranges.join(" OR ")
        );
        let found = observed.rows(&question)?;
        if found.is_empty() {
            notes.push(format!(
                "{history} has no {word} of them: are instruments {word}/% on?"
            ));
        }
        answer.extend(found.into_iter().map(|row| {
            let mut cells = row.into_iter();
            let mut next = || cells.next().unwrap_or(Cell::Null);
            let (name, count, time) = (next(), next(), next());
            vec![time, count, Cell::Text(word.into()), name]
        }));
    }
    let snapshot = Snapshot::of(&EXECUTIONS, answer, Instant::now());
    let mut rows = between(&EXECUTIONS, None, &snapshot);
    // Shares are of the statement's time, not of the sum of what overlaps.
    let share = EXECUTIONS.find(|kind| kind == super::sheet::Measure::Share);
    for row in &mut rows {
        if let (Some(at), true) = (share, time > 0) {
            row.figures[at] =
                super::snapshot::Figure::Number(row.figures[0].number() / time as f64);
        }
    }
    Ok(Found { rows, notes })
}

/// The histories that are kept.
fn consumers(observed: &mut ObservedServer) -> Result<Vec<String>, QueryError> {
    let rows = observed.rows(CONSUMERS)?;
    Ok(rows.iter().filter_map(|row| text(row.first()?)).collect())
}

fn switch_on(kind: &str) -> String {
    format!(
        "no {kind}: UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE 'events_{kind}_%'"
    )
}
