//! Who waits for whom for locks of the server itself: metadata locks, those of GET_LOCK, and locks of tables whose
//! engine has no row locks. A holder is named only by evidence: by a lock that excludes the requested one.

use std::collections::{BTreeMap, HashMap, HashSet};

use tare_mysql::{metadata_lock, table_lock};

use super::{integer, text};
use crate::output::Cell;

/// Sessions that wait for a lock of the server, by what they do. This is recorded whatever instruments are on.
pub const WAITING: &str = "SELECT THREAD_ID, PROCESSLIST_STATE FROM performance_schema.threads WHERE PROCESSLIST_STATE LIKE 'Waiting for % lock' \
     OR PROCESSLIST_STATE IN ('Waiting for table flush', 'User lock')";

/// All metadata locks of objects for which a session waits.
pub const METADATA: &str = "SELECT l.OWNER_THREAD_ID, l.LOCK_TYPE, l.LOCK_STATUS, l.OBJECT_TYPE, l.OBJECT_SCHEMA, l.OBJECT_NAME \
     FROM (SELECT DISTINCT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME FROM performance_schema.metadata_locks WHERE LOCK_STATUS = 'PENDING') AS p \
     JOIN performance_schema.metadata_locks AS l \
     ON l.OBJECT_TYPE = p.OBJECT_TYPE AND l.OBJECT_SCHEMA <=> p.OBJECT_SCHEMA AND l.OBJECT_NAME <=> p.OBJECT_NAME";

/// The state of a session that waits for the lock of a table.
pub const TABLE_STATE: &str = "Waiting for table level lock";

/// Locks of open tables. Those of a session in [`TABLE_STATE`] are requests.
pub const TABLES: &str = "SELECT h.OWNER_THREAD_ID, h.INTERNAL_LOCK, \
     CASE WHEN t.PROCESSLIST_STATE = 'Waiting for table level lock' THEN 'PENDING' ELSE 'GRANTED' END, \
     'HANDLE', h.OBJECT_SCHEMA, h.OBJECT_NAME \
     FROM performance_schema.table_handles AS h LEFT JOIN performance_schema.threads AS t ON t.THREAD_ID = h.OWNER_THREAD_ID \
     WHERE h.INTERNAL_LOCK IS NOT NULL";

/// A session that waits for a lock, by its thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockWait {
    /// The thread that waits.
    pub waiting: u64,
    /// The thread that holds the lock, or before whose request this one is not granted; `None` if it is unknown.
    pub holding: Option<u64>,
    /// OBJECT_TYPE of a metadata lock.
    pub object_type: String,
    /// The object's schema.
    pub schema: Option<String>,
    /// The object's name.
    pub name: Option<String>,
    /// The mode that is requested.
    pub wanted: String,
    /// The mode of the other lock.
    pub held: Option<String>,
}

/// The threads that hold or request a lock of an object, by its mode.
type Modes = BTreeMap<String, Vec<u64>>;

/// The locks of an object, and the requests for some.
#[derive(Default)]
struct Object {
    held: Modes,
    requested: Modes,
}

/// The waits in the answer of [`METADATA`] or [`TABLES`]. The blockers are holders of conflicting locks or, if there
/// are none, sessions behind whose requests this one queues.
pub fn lock_waits(rows: &[Vec<Cell>]) -> Vec<LockWait> {
    let mut objects: HashMap<_, Object> = HashMap::new();
    let mut requests = Vec::new();
    for (lock, status) in rows.iter().filter_map(|row| lock(row)) {
        let object = objects.entry(lock.object()).or_default();
        let modes = match &*status {
            "GRANTED" => &mut object.held,
            "PENDING" => &mut object.requested,
            // The request has just ended.
            _ => continue,
        };
        let threads = modes.entry(lock.wanted.clone()).or_default();
        threads.push(lock.waiting);
        if status == "PENDING" {
            requests.push(lock);
        }
    }
    let (mut waits, mut pairs, mut resolved) = (Vec::new(), HashSet::new(), HashSet::new());
    for is_granted in [true, false] {
        for request in &requests {
            let object = &objects[&request.object()];
            let modes = if is_granted {
                &object.held
            } else {
                &object.requested
            };
            if resolved.contains(&request.waiting) {
                continue;
            }
            let excluding = modes
                .iter()
                .filter(|(mode, _)| request.is_excluded(mode, is_granted));
            for (mode, threads) in excluding {
                let is_new = |other: &&u64| {
                    **other != request.waiting && pairs.insert((request.waiting, **other))
                };
                waits.extend(threads.iter().filter(is_new).map(|other| LockWait {
                    holding: Some(*other),
                    held: Some(mode.clone()),
                    ..request.clone()
                }));
            }
        }
        resolved.extend(waits.iter().map(|wait: &LockWait| wait.waiting));
    }
    requests.retain(|request| resolved.insert(request.waiting));
    waits.extend(requests);
    waits
}

/// A row's lock as a wait without a holder, and its status.
fn lock(row: &[Cell]) -> Option<(LockWait, String)> {
    let word = |at: usize| row.get(at).and_then(text);
    let lock = LockWait {
        waiting: u64::try_from(integer(row.first()?)?).ok()?,
        wanted: word(1)?,
        object_type: word(3)?,
        schema: word(4),
        name: word(5),
        ..LockWait::default()
    };
    Some((lock, word(2)?))
}

impl LockWait {
    fn object(&self) -> [Option<String>; 3] {
        [
            Some(self.object_type.clone()),
            self.schema.clone(),
            self.name.clone(),
        ]
    }

    /// Whether it waits because another session holds, or has requested, a lock of this mode.
    fn is_excluded(&self, mode: &str, is_granted: bool) -> bool {
        let rule = match (self.object_type.as_str(), is_granted) {
            ("HANDLE", true) => table_lock::conflicts,
            ("HANDLE", false) => table_lock::queues_behind,
            (_, true) => metadata_lock::conflicts,
            (_, false) => metadata_lock::queues_behind,
        };
        rule(&self.wanted, mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(thread: u64, mode: &str, status: &str, kind: &str) -> Vec<Cell> {
        let words = [mode, status, kind, "shop", "t"].map(|word| Cell::Text(word.into()));
        [Cell::Unsigned(thread)].into_iter().chain(words).collect()
    }

    /// The waits and their holders among these threads, modes and statuses.
    fn pairs(kind: &str, locks: &[(u64, &str, &str)]) -> Vec<(u64, Option<u64>)> {
        let rows = locks
            .iter()
            .map(|(thread, mode, status)| lock(*thread, mode, status, kind));
        let waits = lock_waits(&rows.collect::<Vec<_>>()).into_iter();
        waits.map(|wait| (wait.waiting, wait.holding)).collect()
    }

    #[test]
    fn the_blocker_is_a_holder_or_else_a_waiting_session() {
        // 1 reads; 2 alters and waits for 1; 3 reads and waits for 2. 4 has just been killed.
        let locks = [
            (1, "SHARED_READ", "GRANTED"),
            (2, "SHARED_UPGRADABLE", "GRANTED"),
            (2, "EXCLUSIVE", "PENDING"),
            (3, "SHARED_READ", "PENDING"),
            (4, "EXCLUSIVE", "KILLED"),
        ];
        assert_eq!(pairs("TABLE", &locks), [(2, Some(1)), (3, Some(2))]);
    }

    /// The first holder is not recorded: its lock is older than the instrument. 2 alters, 3 and 4 read.
    #[test]
    fn waits_for_a_holder_that_was_not_recorded_form_no_circle() {
        let locks = [
            (2, "SHARED_UPGRADABLE", "GRANTED"),
            (2, "EXCLUSIVE", "PENDING"),
            (3, "SHARED_READ", "PENDING"),
            (4, "SHARED_READ", "PENDING"),
        ];
        let expected = [(3, Some(2)), (4, Some(2)), (2, None)];
        assert_eq!(pairs("TABLE", &locks), expected);
    }

    #[test]
    fn a_reader_waits_for_the_writer_that_waits_for_a_reader() {
        let locks = [
            (1, "READ", "GRANTED"),
            (2, "WRITE", "PENDING"),
            (3, "READ", "PENDING"),
        ];
        assert_eq!(pairs("HANDLE", &locks), [(2, Some(1)), (3, Some(2))]);
    }

    /// A join of all requests with all locks would have 4 million rows.
    #[test]
    fn many_sessions_may_wait_for_one_object() {
        let readers = (3..2003).map(|thread| (thread, "SHARED_READ", "PENDING"));
        let first = [(1, "SHARED_READ", "GRANTED"), (2, "EXCLUSIVE", "PENDING")];
        let locks: Vec<_> = first.into_iter().chain(readers).collect();
        let waits = pairs("TABLE", &locks);
        assert_eq!(waits.len(), 2001);
        assert_eq!((waits[0], waits[2000]), ((2, Some(1)), (2002, Some(2))));
    }

    #[test]
    fn a_lock_that_nobody_else_has_is_named_without_a_holder() {
        assert_eq!(pairs("TABLE", &[(2, "EXCLUSIVE", "PENDING")]), [(2, None)]);
    }
}
