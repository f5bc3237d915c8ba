//! The stages and waits of a statement's last executions, from the histories.
//!
//! Events within a statement have event ids between the statement's EVENT_ID and END_EVENT_ID, on its
//! thread. So one scan of a history is enough, without a join.

use std::time::Instant;

use tare_mysql::secret::redact;

use super::drills::EXECUTIONS;
use super::prepared::is_prepared;
use super::sheet::Measure;
use super::snapshot::{Figure, Key, Row, Snapshot, growth};
use crate::observe::sampling;
use crate::observe::{ObservedServer, QueryError, format, integer, sql_literal, text};
use crate::output::Cell;

/// Executions that are read: enough for an average, few enough for a query's text.
const MAX_EXECUTIONS: usize = 50;

const STATEMENTS: &str = "SELECT THREAD_ID, EVENT_ID, END_EVENT_ID, TIMER_WAIT, LOCK_TIME, SQL_TEXT FROM performance_schema.";
const TEXT_AND_SAMPLE: &str = "SELECT DIGEST_TEXT, QUERY_SAMPLE_TEXT FROM performance_schema.events_statements_summary_by_digest WHERE ";
/// Before MySQL 8, and in MariaDB.
const TEXT: &str =
    "SELECT DIGEST_TEXT, NULL FROM performance_schema.events_statements_summary_by_digest WHERE ";
const EVENTS: &str = "SELECT EVENT_NAME, COUNT(*), SUM(TIMER_WAIT) FROM performance_schema.";
const CONSUMERS: &str = "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' AND NAME LIKE 'events%'";

/// The beginnings of this module's queries.
pub fn queries() -> [&'static str; 5] {
    [STATEMENTS, EVENTS, CONSUMERS, TEXT_AND_SAMPLE, TEXT]
}

/// The result of the drill-down.
pub struct DrillDown {
    /// Stages and waits.
    pub rows: Vec<Row>,
    /// Remarks.
    pub notes: Vec<String>,
}

const OF_PREPARED: &str =
    "a prepared statement has no digest here, so its executions are not in the histories";

/// Reads the executions of the statement with these keys: its schema and its digest. The level `active`
/// records none.
pub fn read(
    observed: &mut ObservedServer,
    keys: &Key,
    is_active: bool,
) -> Result<DrillDown, QueryError> {
    let compare = |column: &str, key: Option<&Option<String>>| match key.and_then(Option::as_ref) {
        Some(key) => format!("{column} = {}", sql_literal(key)),
        None => format!("{column} IS NULL"),
    };
    let statement_predicate = format!(
        "{} AND {}",
        compare("DIGEST", keys.get(1)),
        compare("CURRENT_SCHEMA", keys.first())
    );
    let notes_only = |notes: Vec<String>| {
        let rows = Vec::new();
        Ok(DrillDown { rows, notes })
    };
    if is_prepared(keys) {
        return notes_only(vec![OF_PREPARED.to_owned()]);
    }
    let of_summary = format!(
        "{} AND {}",
        compare("DIGEST", keys.get(1)),
        compare("SCHEMA_NAME", keys.first())
    );
    let (statement, sample) = read_texts(observed, &of_summary)?;
    if is_active {
        let level = sampling::active_note(observed.about.was_live);
        return notes_only(statement.into_iter().chain(sample).chain([level]).collect());
    }
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
    let mut notes: Vec<String> = statement.into_iter().collect();
    let mut answer: Vec<Vec<Cell>> = Vec::new();
    let Some(statements) = history("statements") else {
        notes.extend(sample.into_iter().chain([switch_on("statements")]));
        return notes_only(notes);
    };
    let query = format!(
        "{STATEMENTS}{statements} WHERE {statement_predicate} AND END_EVENT_ID IS NOT NULL ORDER BY TIMER_START DESC LIMIT {MAX_EXECUTIONS}"
    );
    let executions = observed.rows(&query)?;
    let executed = executions.iter().find_map(|row| text(row.get(5)?));
    notes.extend(sample.or_else(|| executed.map(|text| example(&text))));
    if executions.is_empty() {
        notes.push(format!(
            "{statements} has no execution of it now; under load it keeps little: drill down again"
        ));
        return notes_only(notes);
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
    for (kind, word) in [("stages", "stage"), ("waits", "wait")] {
        match history(kind) {
            Some(history) => {
                let rows = read_events(observed, &history, word, &executions)?;
                if rows.is_empty() {
                    notes.push(format!(
                        "{history} has no {word} of them: are instruments {word}/% on?"
                    ));
                }
                answer.extend(rows);
            }
            None => notes.push(switch_on(kind)),
        }
    }
    let snapshot = Snapshot::new(&EXECUTIONS, answer, Instant::now());
    let mut rows = growth(&EXECUTIONS, None, &snapshot);
    fill_shares(&mut rows, time);
    Ok(DrillDown { rows, notes })
}

/// Fills in each event's share of the statement's time, in place of that of all events, which overlap.
fn fill_shares(rows: &mut [Row], time: i128) {
    let share = EXECUTIONS.find(|kind| kind == Measure::Share);
    if let (Some(at), true) = (share, time > 0) {
        for row in rows {
            row.figures[at] = Figure::Number(row.figures[0].number() / time as f64);
        }
    }
}

/// The stages or waits of the executions, by name: time, number, kind and name.
fn read_events(
    observed: &mut ObservedServer,
    history: &str,
    word: &str,
    executions: &[Vec<Cell>],
) -> Result<Vec<Vec<Cell>>, QueryError> {
    let ranges: Vec<String> = (executions.iter())
        .filter_map(|row| {
            let (thread, first, last) = (integer(&row[0])?, integer(&row[1])?, integer(&row[2])?);
            Some(format!(
                "(THREAD_ID = {thread} AND EVENT_ID > {first} AND EVENT_ID <= {last})"
            ))
        })
        .collect();
    let query = format!(
        "{EVENTS}{history} WHERE {} GROUP BY EVENT_NAME",
        ranges.join(" OR ")
    );
    let rows = observed.rows(&query)?.into_iter().map(|row| {
        let mut cells = row.into_iter();
        let mut next = || cells.next().unwrap_or(Cell::Null);
        let (name, count, time) = (next(), next(), next());
        vec![time, count, Cell::Text(word.into()), name]
    });
    Ok(rows.collect())
}

/// The whole statement, and an example with its literals if the summary has one.
fn read_texts(
    observed: &mut ObservedServer,
    predicate: &str,
) -> Result<(Option<String>, Option<String>), QueryError> {
    for query in [TEXT_AND_SAMPLE, TEXT] {
        match observed.rows(&format!("{query}{predicate}")) {
            Ok(rows) => {
                let column = |at: usize| rows.first().and_then(|row| text(row.get(at)?));
                let sample = column(1).filter(|text| !text.is_empty());
                return Ok((column(0), sample.map(|text| example(&text))));
            }
            Err(QueryError::Refused(_)) => {}
            Err(lost) => return Err(lost),
        }
    }
    Ok((None, None))
}

/// MariaDB removes no passwords itself.
fn example(text: &str) -> String {
    format!("example: {}", redact(text))
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
