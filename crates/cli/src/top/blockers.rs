//! Blocked threads and their blockers: metadata locks, row locks, and with Tare's engine mutexes and rwlocks.

use std::collections::{BTreeMap, HashMap};

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Row};
use crate::observe::{About, ObservedServer, Product, QueryError, text};
use crate::output::Cell;

/// Pending metadata locks, with the other holders and waiters of the same object.
const METADATA: &str = "SELECT p.OWNER_THREAD_ID, h.OWNER_THREAD_ID, p.LOCK_TYPE, h.LOCK_TYPE, h.LOCK_STATUS \
     FROM performance_schema.metadata_locks AS p JOIN performance_schema.metadata_locks AS h \
     ON h.OBJECT_TYPE = p.OBJECT_TYPE AND h.OBJECT_SCHEMA <=> p.OBJECT_SCHEMA AND h.OBJECT_NAME <=> p.OBJECT_NAME \
     AND h.OWNER_THREAD_ID <> p.OWNER_THREAD_ID WHERE p.LOCK_STATUS = 'PENDING'";

const ROWS: &str =
    "SELECT REQUESTING_THREAD_ID, BLOCKING_THREAD_ID FROM performance_schema.data_lock_waits";

/// The same where performance_schema does not know: by connection.
const ROWS_OF_INNODB: &str = "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM information_schema.innodb_lock_waits AS w \
     JOIN information_schema.innodb_trx AS r ON r.trx_id = w.requesting_trx_id \
     JOIN information_schema.innodb_trx AS b ON b.trx_id = w.blocking_trx_id";

const INSTANCES: &str = "SELECT w.THREAD_ID, m.LOCKED_BY_THREAD_ID FROM performance_schema.events_waits_current AS w \
     JOIN performance_schema.mutex_instances AS m ON m.OBJECT_INSTANCE_BEGIN = w.OBJECT_INSTANCE_BEGIN \
     WHERE w.END_EVENT_ID IS NULL AND m.LOCKED_BY_THREAD_ID <> w.THREAD_ID UNION ALL \
     SELECT w.THREAD_ID, l.WRITE_LOCKED_BY_THREAD_ID FROM performance_schema.events_waits_current AS w \
     JOIN performance_schema.rwlock_instances AS l ON l.OBJECT_INSTANCE_BEGIN = w.OBJECT_INSTANCE_BEGIN \
     WHERE w.END_EVENT_ID IS NULL AND l.WRITE_LOCKED_BY_THREAD_ID <> w.THREAD_ID";

/// The queries of this module.
pub fn queries() -> [&'static str; 4] {
    [METADATA, ROWS, ROWS_OF_INNODB, INSTANCES]
}

/// The blockers of each waiting thread: THREAD_IDs as text.
#[derive(Debug, Default)]
pub struct Blocked(BTreeMap<String, Vec<String>>);

/// Fills in the sessions' blockers, and how many sessions each blocks. Returns remarks about queries
/// that failed.
pub fn fill(
    observed: &mut ObservedServer,
    sheet: &Sheet,
    rows: &mut [Row],
) -> Result<Vec<String>, QueryError> {
    fill_by(sheet, rows, |threads| read_blocked(observed, threads))
}

/// Threads by the connections that they serve.
pub type Threads<'a> = HashMap<&'a String, &'a String>;

/// The same with another source of blockers.
pub fn fill_by(
    sheet: &Sheet,
    rows: &mut [Row],
    read: impl FnOnce(&Threads<'_>) -> Result<(Blocked, Vec<String>), QueryError>,
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
            let first = &others[0];
            let mut text = names
                .get(first)
                .cloned()
                .unwrap_or_else(|| format!("t{first}"));
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
    threads: &Threads<'_>,
) -> Result<(Blocked, Vec<String>), QueryError> {
    let mut blocked = Blocked::default();
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
            METADATA => blocked.add_metadata(&rows),
            _ => {
                for row in &rows {
                    let id = |at: usize| {
                        let id = text(row.get(at)?)?;
                        match query {
                            ROWS_OF_INNODB => threads.get(&id).map(|id| (*id).clone()),
                            _ => Some(id),
                        }
                    };
                    if let (Some(waits), Some(holds)) = (id(0), id(1)) {
                        blocked.add(waits, holds);
                    }
                }
            }
        }
    }
    Ok((blocked, notes))
}

/// The queries that this server supports.
fn queries_for(about: &About) -> Vec<&'static str> {
    match (about.product, about.series) {
        (Product::Tare, _) => vec![METADATA, ROWS, INSTANCES],
        (Product::MySql, (8.., _)) => vec![METADATA, ROWS],
        (Product::MySql, (5, 7)) => vec![METADATA, ROWS_OF_INNODB],
        (Product::MariaDb, series) if series >= (10, 5) => vec![METADATA, ROWS_OF_INNODB],
        _ => vec![ROWS_OF_INNODB],
    }
}

impl Blocked {
    /// From rows of a waiting THREAD_ID and its blocker's.
    #[cfg(feature = "history")]
    pub fn from_rows(rows: &[Vec<Cell>]) -> Self {
        let mut blocked = Self::default();
        for row in rows {
            let id = |at: usize| text(row.get(at)?);
            if let (Some(waits), Some(holds)) = (id(0), id(1)) {
                blocked.add(waits, holds);
            }
        }
        blocked
    }

    fn add(&mut self, waits: String, holds: String) {
        let others = self.0.entry(waits).or_default();
        if !others.contains(&holds) {
            others.push(holds);
        }
    }

    /// Adds waits for metadata locks. The blockers are holders of conflicting locks or, if there are
    /// none, sessions that wait for conflicting locks.
    fn add_metadata(&mut self, rows: &[Vec<Cell>]) {
        let texts: Vec<Vec<String>> = (rows.iter())
            .map(|row| {
                row.iter()
                    .map(|cell| text(cell).unwrap_or_default())
                    .collect()
            })
            .collect();
        for status in ["GRANTED", "PENDING"] {
            let mut blockers = Self::default();
            for row in &texts {
                let [waits, holds, wanted, held, has] = &row[..] else {
                    continue;
                };
                if has == status && conflicts(wanted, held) && !self.0.contains_key(waits) {
                    blockers.add(waits.clone(), holds.clone());
                }
            }
            for (waits, others) in blockers.0 {
                for holds in others {
                    self.add(waits.clone(), holds);
                }
            }
        }
    }
}

/// Whether a metadata lock of type `held` conflicts with a request for `wanted`.
fn conflicts(wanted: &str, held: &str) -> bool {
    const EXCLUSIVE: [&str; 2] = ["SHARED_NO_READ_WRITE", "EXCLUSIVE"];
    const WRITES: [&str; 2] = ["SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"];
    let strong = EXCLUSIVE.contains(&held);
    let upgrades = ["SHARED_UPGRADABLE", "SHARED_NO_WRITE"].contains(&held);
    match wanted {
        "INTENTION_EXCLUSIVE" => held != "INTENTION_EXCLUSIVE",
        "SHARED" | "SHARED_HIGH_PRIO" => ["EXCLUSIVE", "INTENTION_EXCLUSIVE"].contains(&held),
        "SHARED_READ" => strong,
        "SHARED_WRITE" | "SHARED_WRITE_LOW_PRIO" => {
            strong || ["SHARED_READ_ONLY", "SHARED_NO_WRITE"].contains(&held)
        }
        "SHARED_UPGRADABLE" => strong || upgrades,
        "SHARED_READ_ONLY" => strong || WRITES.contains(&held),
        "SHARED_NO_WRITE" => strong || upgrades || WRITES.contains(&held),
        "SHARED_NO_READ_WRITE" => !["SHARED", "SHARED_HIGH_PRIO"].contains(&held),
        // Exclusive locks, and types of later versions.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocker_is_a_holder_or_else_a_waiting_session() {
        let row = |words: [&str; 5]| words.map(|word| Cell::Text(word.into())).to_vec();
        let mut blocked = Blocked::default();
        // 1 reads; 2 alters and waits for 1; 3 reads and waits for 2.
        blocked.add_metadata(&[
            row(["2", "1", "EXCLUSIVE", "SHARED_READ", "GRANTED"]),
            row(["2", "3", "EXCLUSIVE", "SHARED_READ", "PENDING"]),
            row(["3", "1", "SHARED_READ", "SHARED_READ", "GRANTED"]),
            row(["3", "2", "SHARED_READ", "SHARED_UPGRADABLE", "GRANTED"]),
            row(["3", "2", "SHARED_READ", "EXCLUSIVE", "PENDING"]),
        ]);
        let blocked: Vec<_> = blocked.0.into_iter().collect();
        assert_eq!(
            blocked,
            [
                ("2".to_owned(), vec!["1".to_owned()]),
                ("3".to_owned(), vec!["2".to_owned()])
            ]
        );
    }

    #[test]
    fn compatible_locks_do_not_conflict() {
        assert!(!conflicts("SHARED_READ", "SHARED_WRITE"));
        assert!(!conflicts("SHARED_WRITE", "SHARED_UPGRADABLE"));
        assert!(conflicts("SHARED_WRITE", "SHARED_READ_ONLY"));
        assert!(conflicts("SHARED_UPGRADABLE", "SHARED_UPGRADABLE"));
        assert!(conflicts("EXCLUSIVE", "SHARED"));
        assert!(!conflicts("INTENTION_EXCLUSIVE", "INTENTION_EXCLUSIVE"));
        assert!(conflicts("BACKUP_DDL", "BACKUP_START"));
    }
}
