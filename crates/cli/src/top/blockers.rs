//! Blocked threads and their blockers: metadata locks, row locks, and with Tare's engine mutexes, rwlocks and
//! event loops.

use std::collections::{BTreeMap, HashMap};

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Row};
use crate::observe::innodb::{Ids, InnodbReader};
use crate::observe::lock_waits::{METADATA, TABLE_STATE, TABLES, WAITING, lock_waits};
use crate::observe::{About, ObservedServer, Product, QueryError, text};
use crate::output::Cell;

const ROWS: &str =
    "SELECT REQUESTING_THREAD_ID, BLOCKING_THREAD_ID FROM performance_schema.data_lock_waits";

const INSTANCES: &str = "SELECT w.THREAD_ID, m.LOCKED_BY_THREAD_ID FROM performance_schema.events_waits_current AS w \
     JOIN performance_schema.mutex_instances AS m ON m.OBJECT_INSTANCE_BEGIN = w.OBJECT_INSTANCE_BEGIN \
     WHERE w.END_EVENT_ID IS NULL AND m.LOCKED_BY_THREAD_ID <> w.THREAD_ID UNION ALL \
     SELECT w.THREAD_ID, l.WRITE_LOCKED_BY_THREAD_ID FROM performance_schema.events_waits_current AS w \
     JOIN performance_schema.rwlock_instances AS l ON l.OBJECT_INSTANCE_BEGIN = w.OBJECT_INSTANCE_BEGIN \
     WHERE w.END_EVENT_ID IS NULL AND l.WRITE_LOCKED_BY_THREAD_ID <> w.THREAD_ID";

const METADATA_INSTRUMENT: &str = "SELECT ENABLED FROM performance_schema.setup_instruments WHERE NAME = 'wait/lock/metadata/sql/mdl'";

/// The holder of a lock that no evidence names.
const UNKNOWN: &str = "unknown";

/// The queries of this module.
pub fn queries() -> [&'static str; 6] {
    [
        METADATA,
        TABLES,
        ROWS,
        INSTANCES,
        WAITING,
        METADATA_INSTRUMENT,
    ]
}

/// The blockers of each waiting thread: THREAD_IDs as text. Those of a thread whose holder is unknown are none.
#[derive(Debug, Default)]
pub struct Blocked(BTreeMap<String, Vec<String>>);

/// The blockers, and remarks.
pub type Reading = (Blocked, Vec<String>);

/// Fills in the sessions' blockers, and how many sessions each blocks. Returns remarks about queries
/// that failed. The rows have their transactions already, if these are known. `blocked` has the blockers that the page's
/// own query has read.
pub fn fill(
    observed: &mut ObservedServer,
    innodb: Option<&mut InnodbReader>,
    sheet: &Sheet,
    rows: &mut [Row],
    has_transactions: bool,
    mut blocked: Blocked,
) -> Result<Vec<String>, QueryError> {
    let transactions = has_transactions.then(|| open_transactions(sheet, rows));
    fill_by(sheet, rows, |threads| {
        let mut notes = read_blocked(observed, innodb, threads, &mut blocked)?;
        notes.extend(find_unknown(observed, threads, transactions, &mut blocked)?);
        Ok((blocked, notes))
    })
}

/// Threads with an open transaction and its age in seconds, the oldest first.
fn open_transactions(sheet: &Sheet, rows: &[Row]) -> Vec<(String, f64)> {
    let age = sheet.find(|kind| kind == Measure::TransactionAge);
    let thread = sheet.find(|kind| kind == Measure::KeyNumber);
    let Some((age, thread)) = age.zip(thread) else {
        return Vec::new();
    };
    let open = rows.iter().filter(|row| row.figures[age] != Figure::Empty);
    let mut open: Vec<_> = open
        .map(|row| {
            let id = row.figures[thread].text(Measure::Gauge);
            (id, row.figures[age].number())
        })
        .collect();
    open.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    open
}

/// Threads by the connections that they serve.
pub type Threads<'a> = HashMap<&'a String, &'a String>;

/// The same with another source of blockers.
pub fn fill_by(
    sheet: &Sheet,
    rows: &mut [Row],
    read: impl FnOnce(&Threads<'_>) -> Result<Reading, QueryError>,
) -> Result<Vec<String>, QueryError> {
    let (Some(by), Some(blocks), Some(thread)) = (
        sheet.find(|kind| kind == Measure::BlockedBy),
        sheet.find(|kind| kind == Measure::Blocks),
        sheet.find(|kind| kind == Measure::KeyNumber),
    ) else {
        return Ok(Vec::new());
    };
    let connection = sheet.column("CONN");
    let named = |row: &Row, at: usize| row.figures[at].text(Measure::Gauge);
    // Threads are named by their connection, which KILL takes.
    let names: HashMap<String, String> = (rows.iter())
        .map(|row| {
            let id = named(row, thread);
            let name = connection
                .map(|at| named(row, at))
                .filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| format!("t{id}"));
            (id, name)
        })
        .collect();
    let threads: Threads<'_> = names.iter().map(|(id, name)| (name, id)).collect();
    let (blocked, notes) = read(&threads)?;
    for row in rows {
        let id = named(row, thread);
        if let Some(others) = blocked.0.get(&id) {
            let name = |first: &String| {
                let name = names.get(first).cloned();
                name.unwrap_or_else(|| format!("t{first}"))
            };
            let mut text = others.first().map_or_else(|| UNKNOWN.to_owned(), name);
            if others.len() > 1 {
                text.push_str(&format!(" +{}", others.len() - 1));
            }
            row.figures[by] = Figure::Text(text);
        }
        let waiting = blocked
            .0
            .values()
            .filter(|others| others.contains(&id))
            .count();
        if waiting > 0 {
            row.figures[blocks] = Figure::Number(waiting as f64);
        }
    }
    Ok(notes)
}

fn read_blocked(
    observed: &mut ObservedServer,
    innodb: Option<&mut InnodbReader>,
    threads: &Threads<'_>,
    blocked: &mut Blocked,
) -> Result<Vec<String>, QueryError> {
    let mut notes = Vec::new();
    for query in queries_for(&observed.about) {
        let rows = match observed.rows(query) {
            Ok(rows) => rows,
            Err(QueryError::Refused(why)) => {
                let what = match query {
                    METADATA => "metadata locks",
                    INSTANCES => "mutexes",
                    _ => "row locks",
                };
                notes.push(format!("the holders of {what} are unknown: {why}"));
                continue;
            }
            Err(lost) => return Err(lost),
        };
        match query {
            METADATA => blocked.add_lock_waits(&rows),
            _ => blocked.add_rows(&rows),
        }
    }
    if let Some(innodb) = innodb.filter(|innodb| innodb.has_row_locks()) {
        let ids = innodb.ids();
        let thread = |id: u64| match ids {
            Ids::Connections => threads.get(&id.to_string()).map(|id| (*id).clone()),
            Ids::Threads => Some(id.to_string()),
        };
        for wait in innodb.read().0 {
            if let (Some(waits), Some(holds)) = (thread(wait.waiting), thread(wait.blocking)) {
                blocked.add(waits, holds);
            }
        }
        let why = innodb.error();
        notes.extend(why.map(|why| format!("the holders of row locks are unknown: {why}")));
    }
    Ok(notes)
}

/// Adds the sessions that wait for a lock whose holder is unknown, and says who may hold it.
fn find_unknown(
    observed: &mut ObservedServer,
    threads: &Threads<'_>,
    transactions: Option<Vec<(String, f64)>>,
    blocked: &mut Blocked,
) -> Result<Option<String>, QueryError> {
    let waiting = allow_refusal(observed.rows(WAITING))?;
    let is_table_state =
        |row: &Vec<Cell>| row.get(1).and_then(text).as_deref() == Some(TABLE_STATE);
    if waiting.iter().any(is_table_state) {
        blocked.add_lock_waits(&allow_refusal(observed.rows(TABLES))?);
    }
    let mut states = Vec::new();
    for row in &waiting {
        let (id, state) = (row.first().and_then(text), row.get(1).and_then(text));
        if let (Some(id), Some(state)) = (id, state)
            && !blocked.0.contains_key(&id)
        {
            blocked.0.insert(id, Vec::new());
            states.push(state);
        }
    }
    let unknown = blocked
        .0
        .values()
        .filter(|holders| holders.is_empty())
        .count();
    if unknown == 0 {
        return Ok(None);
    }
    let mut note = match unknown {
        1 => "1 session waits for a lock whose holder is unknown".to_owned(),
        n => format!("{n} sessions wait for locks whose holders are unknown"),
    };
    let others = ["User lock", "Waiting for table flush", TABLE_STATE];
    let is_metadata = |state: &String| !others.contains(&state.as_str());
    let enabled = allow_refusal(observed.rows(METADATA_INSTRUMENT))?;
    let enabled = enabled.first().and_then(|row| text(row.first()?));
    match enabled.as_deref() {
        Some("NO") if states.iter().any(is_metadata) => note.push_str(
            ": UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME = \
             'wait/lock/metadata/sql/mdl' names the holders of locks taken from then on",
        ),
        Some("YES") => {
            note.push_str(": it was taken before its instrument was on, or is of another kind")
        }
        _ => {}
    }
    let Some(transactions) = transactions else {
        return Ok(Some(note));
    };
    let oldest = transactions.iter().find_map(|(id, seconds)| {
        // A session that waits itself is not the holder.
        let name = threads.iter().find(|(_, thread)| **thread == id)?.0;
        (!blocked.0.contains_key(id)).then_some((name, seconds))
    });
    note.push_str(&match oldest {
        Some((name, seconds)) => {
            format!(". The oldest open transaction of another is that of connection {name}, {seconds:.0} s old")
        }
        None => ". No other session has an open transaction".to_owned(),
    });
    Ok(Some(note))
}

/// The rows of a query that the server may refuse.
fn allow_refusal(answer: Result<Vec<Vec<Cell>>, QueryError>) -> Result<Vec<Vec<Cell>>, QueryError> {
    match answer {
        Err(QueryError::Refused(_)) => Ok(Vec::new()),
        other => other,
    }
}

/// The queries that this server supports. Row locks of stock servers are read by [`InnodbReader`].
fn queries_for(about: &About) -> Vec<&'static str> {
    match (about.product, about.series) {
        (Product::Tare, _) => vec![METADATA, ROWS, INSTANCES],
        (Product::MySql, series) if series >= (5, 7) => vec![METADATA],
        (Product::MariaDb, series) if series >= (10, 5) => vec![METADATA],
        _ => Vec::new(),
    }
}

impl Blocked {
    /// Sessions that wait for an event loop, and those whose commands the loops execute: from the rows of a sheet with
    /// states, whose last column is the blocker. Other sheets have none.
    pub fn from_states(sheet: Option<&Sheet>, rows: &[Vec<Cell>]) -> Self {
        let mut blocked = Self::default();
        let selected = sheet.map(|sheet| {
            let columns = sheet.columns.iter();
            let selected = columns.filter(|column| !column.kind.is_derived());
            selected.map(|column| column.kind).collect::<Vec<_>>()
        });
        let selected = selected.unwrap_or_default();
        let thread = selected.iter().position(|kind| *kind == Measure::KeyNumber);
        for row in rows {
            let id = |at: usize| text(row.get(at)?);
            if let Some(thread) = thread
                && let (Some(waits), Some(holds)) = (id(thread), id(selected.len() - 1))
            {
                blocked.add(waits, holds);
            }
        }
        blocked
    }

    /// From rows of a waiting THREAD_ID and its blocker's, which may be unknown.
    pub fn from_rows(rows: &[Vec<Cell>]) -> Self {
        let mut blocked = Self::default();
        blocked.add_rows(rows);
        for id in rows.iter().filter_map(|row| text(row.first()?)) {
            blocked.0.entry(id).or_default();
        }
        blocked
    }

    fn add_rows(&mut self, rows: &[Vec<Cell>]) {
        for row in rows {
            let id = |at: usize| text(row.get(at)?);
            if let (Some(waits), Some(holds)) = (id(0), id(1)) {
                self.add(waits, holds);
            }
        }
    }

    fn add(&mut self, waits: String, holds: String) {
        let others = self.0.entry(waits).or_default();
        if !others.contains(&holds) {
            others.push(holds);
        }
    }

    /// Adds waits for metadata locks or tables. The holder of another lock is unknown: it was not recorded.
    fn add_lock_waits(&mut self, rows: &[Vec<Cell>]) {
        for wait in lock_waits(rows) {
            if let Some(holding) = wait.holding {
                self.add(wait.waiting.to_string(), holding.to_string());
            }
        }
    }
}
