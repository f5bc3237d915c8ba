//! The stages and waits of a statement's last executions, from the histories.
//!
//! Events within a statement have event ids between the statement's EVENT_ID and END_EVENT_ID, on its
//! thread. So one scan of a history is enough, without a join.

use std::time::Instant;

use super::drills::EXECUTIONS;
use super::snapshot::{Key, Row, Snapshot, growth};
use crate::observe::{ObservedServer, QueryError, format, integer, sql_literal, text};
use crate::output::Cell;

/// Executions that are read: enough for an average, few enough for a query's text.
const MAX_EXECUTIONS: usize = 50;

const STATEMENTS: &str =
    "SELECT THREAD_ID, EVENT_ID, END_EVENT_ID, TIMER_WAIT, LOCK_TIME FROM performance_schema.";
const EVENTS: &str = "SELECT EVENT_NAME, COUNT(*), SUM(TIMER_WAIT) FROM performance_schema.";
const CONSUMERS: &str = "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' AND NAME LIKE 'events%'";

/// The beginnings of this module's queries.
pub fn queries() -> [&'static str; 3] {
    [STATEMENTS, EVENTS, CONSUMERS]
}

/// The result of the drill-down.
pub struct DrillDown {
    /// Stages and waits.
    pub rows: Vec<Row>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// Reads the executions of the statement with these keys: its schema and its digest.
pub fn read(observed: &mut ObservedServer, keys: &Key) -> Result<DrillDown, QueryError> {
    let compare = |column: &str, key: Option<&Option<String>>| match key.and_then(Option::as_ref) {
        Some(key) => format!("{column} = {}", sql_literal(key)),
        None => format!("{column} IS NULL"),
    };
    let statement_predicate = format!(
        "{} AND {}",
        compare("DIGEST", keys.get(1)),
        compare("CURRENT_SCHEMA", keys.first())
    );
    let consumers = read_consumers(observed)?;
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
        return Ok(DrillDown {
            rows: Vec::new(),
            notes: vec![switch_on("statements")],
        });
    };
    let query = format!(
        "{STATEMENTS}{statements} WHERE {statement_predicate} AND END_EVENT_ID IS NOT NULL ORDER BY TIMER_START DESC LIMIT {MAX_EXECUTIONS}"
    );
    let executions = observed.rows(&query)?;
    if executions.is_empty() {
        notes.push(format!(
            "{statements} has no execution of it now; under load it keeps little: drill down again"
        ));
        return Ok(DrillDown {
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
        let query = format!(
            "{EVENTS}{history} WHERE {} GROUP BY EVENT_NAME",
            ranges.join(" OR ")
        );
        let rows = observed.rows(&query)?;
        if rows.is_empty() {
            notes.push(format!(
                "{history} has no {word} of them: are instruments {word}/% on?"
            ));
        }
        answer.extend(rows.into_iter().map(|row| {
            let mut cells = row.into_iter();
            let mut next = || cells.next().unwrap_or(Cell::Null);
            let (name, count, time) = (next(), next(), next());
            vec![time, count, Cell::Text(word.into()), name]
        }));
    }
    let snapshot = Snapshot::new(&EXECUTIONS, answer, Instant::now());
    let mut rows = growth(&EXECUTIONS, None, &snapshot);
    // Shares of the statement's time, because events overlap.
    let share = EXECUTIONS.find(|kind| kind == super::sheet::Measure::Share);
    for row in &mut rows {
        if let (Some(at), true) = (share, time > 0) {
            row.figures[at] =
                super::snapshot::Figure::Number(row.figures[0].number() / time as f64);
        }
    }
    Ok(DrillDown { rows, notes })
}

/// The enabled consumers of events.
fn read_consumers(observed: &mut ObservedServer) -> Result<Vec<String>, QueryError> {
    let rows = observed.rows(CONSUMERS)?;
    Ok(rows.iter().filter_map(|row| text(row.first()?)).collect())
}

fn switch_on(kind: &str) -> String {
    format!(
        "no {kind}: UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE 'events_{kind}_%'"
    )
}
