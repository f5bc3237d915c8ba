//! What sessions ran last that run nothing now, but have an open transaction or block others.

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Row};
use crate::observe::{ObservedServer, QueryError, text};

/// The last statements of threads, the newest of each first, without those of stored programs. What has no text, such
/// as a ping, is left out.
const LAST: &str = "SELECT s.THREAD_ID, LEFT(s.SQL_TEXT, 200) FROM (SELECT THREAD_ID, EVENT_ID, SQL_TEXT, NESTING_EVENT_TYPE \
     FROM performance_schema.events_statements_current WHERE THREAD_ID IN ({}) UNION ALL SELECT THREAD_ID, EVENT_ID, SQL_TEXT, NESTING_EVENT_TYPE \
     FROM performance_schema.events_statements_history WHERE THREAD_ID IN ({})) AS s \
     WHERE s.SQL_TEXT IS NOT NULL AND COALESCE(s.NESTING_EVENT_TYPE, '') <> 'STATEMENT' ORDER BY s.THREAD_ID, s.EVENT_ID DESC";

/// Whether last statements are recorded.
const RECORDED: &str = "SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'events_statements_current'";

/// The most sessions of a query.
const MAX_SESSIONS: usize = 1000;

/// The queries of this module, for one session.
pub fn queries() -> [String; 2] {
    [query("1"), RECORDED.to_owned()]
}

fn query(threads: &str) -> String {
    LAST.replace("{}", threads)
}

/// Fills in what the sessions ran last. The rows have their transactions and blockers already. Returns a note if it is
/// unknown what a session ran that blocks others.
///
/// # Errors
/// The server was lost.
pub fn fill(
    observed: &mut ObservedServer,
    sheet: &Sheet,
    rows: &mut [Row],
) -> Result<Option<String>, QueryError> {
    let (Some(thread), Some(age), Some(blocks), Some(command), Some(statement)) = (
        sheet.find(|kind| kind == Measure::KeyNumber),
        sheet.find(|kind| kind == Measure::TransactionAge),
        sheet.find(|kind| kind == Measure::Blocks),
        sheet.column("COMMAND"),
        sheet.column("STATE, STATEMENT"),
    ) else {
        return Ok(None);
    };
    let is_involved = |row: &Row| {
        [age, blocks]
            .iter()
            .any(|at| row.figures[*at] != Figure::Empty)
    };
    let is_asleep = |row: &Row| row.figures[command].text(Measure::Text) == "Sleep";
    let id = |row: &Row| row.figures[thread].text(Measure::Gauge);
    let mut holders: Vec<&mut Row> = (rows.iter_mut())
        .filter(|row| is_asleep(row) && is_involved(row))
        .take(MAX_SESSIONS)
        .collect();
    if holders.is_empty() {
        return Ok(None);
    }
    let ids: Vec<String> = holders.iter().map(|row| id(row)).collect();
    let answer = match observed.rows(&query(&ids.join(", "))) {
        Ok(answer) => answer,
        Err(QueryError::Refused(why)) => {
            return Ok(Some(format!(
                "what idle sessions ran last is unknown: {why}"
            )));
        }
        Err(lost) => return Err(lost),
    };
    let mut is_unknown = false;
    for row in &mut holders {
        let id = id(row);
        let of_thread =
            (answer.iter()).find(|last| last.first().and_then(text).as_ref() == Some(&id));
        match of_thread.and_then(|last| text(last.get(1)?)) {
            Some(sql) => row.figures[statement] = Figure::Text(format!("after {sql}")),
            None => is_unknown |= row.figures[blocks] != Figure::Empty,
        }
    }
    if !is_unknown {
        return Ok(None);
    }
    let enabled = match observed.rows(RECORDED) {
        Ok(rows) => rows.first().and_then(|row| text(row.first()?)),
        Err(QueryError::Refused(_)) => None,
        Err(lost) => return Err(lost),
    };
    Ok((enabled.as_deref() == Some("NO")).then(|| {
        "what an idle session ran last is not recorded: UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' \
         WHERE NAME = 'events_statements_current' records it from then on"
            .to_owned()
    }))
}
