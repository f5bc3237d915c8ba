//! Who waits for whom for locks of the server itself: metadata locks, those of GET_LOCK, and locks of tables whose
//! engine has no row locks. A holder is named only by evidence: by a lock that excludes the requested one.

use std::collections::HashSet;

use tare_mysql::{metadata_lock, table_lock};

use super::{integer, text};
use crate::output::Cell;

/// Sessions that wait for a lock of the server, by what they do. This is recorded whatever instruments are on.
pub const WAITING: &str = "SELECT THREAD_ID, PROCESSLIST_STATE FROM performance_schema.threads WHERE PROCESSLIST_STATE LIKE 'Waiting for % lock' \
     OR PROCESSLIST_STATE IN ('Waiting for table flush', 'User lock')";

/// Pending metadata locks, with the other holders and waiters of the same object.
pub const METADATA: &str = "SELECT p.OWNER_THREAD_ID, h.OWNER_THREAD_ID, p.LOCK_TYPE, h.LOCK_TYPE, h.LOCK_STATUS, \
     p.OBJECT_TYPE, p.OBJECT_SCHEMA, p.OBJECT_NAME \
     FROM performance_schema.metadata_locks AS p LEFT JOIN performance_schema.metadata_locks AS h \
     ON h.OBJECT_TYPE = p.OBJECT_TYPE AND h.OBJECT_SCHEMA <=> p.OBJECT_SCHEMA AND h.OBJECT_NAME <=> p.OBJECT_NAME \
     AND h.OWNER_THREAD_ID <> p.OWNER_THREAD_ID WHERE p.LOCK_STATUS = 'PENDING'";

/// The state of a session that waits for the lock of a table.
pub const TABLE_STATE: &str = "Waiting for table level lock";

/// Open tables of sessions in [`TABLE_STATE`], with other sessions that have them open.
pub const TABLES: &str = "SELECT p.OWNER_THREAD_ID, h.OWNER_THREAD_ID, p.INTERNAL_LOCK, h.INTERNAL_LOCK, \
     CASE WHEN ht.PROCESSLIST_STATE = 'Waiting for table level lock' THEN 'PENDING' ELSE 'GRANTED' END, \
     'HANDLE', p.OBJECT_SCHEMA, p.OBJECT_NAME \
     FROM performance_schema.threads AS pt JOIN performance_schema.table_handles AS p ON p.OWNER_THREAD_ID = pt.THREAD_ID \
     LEFT JOIN performance_schema.table_handles AS h ON h.OBJECT_SCHEMA = p.OBJECT_SCHEMA AND h.OBJECT_NAME = p.OBJECT_NAME \
     AND h.OWNER_THREAD_ID <> p.OWNER_THREAD_ID AND h.INTERNAL_LOCK IS NOT NULL \
     LEFT JOIN performance_schema.threads AS ht ON ht.THREAD_ID = h.OWNER_THREAD_ID \
     WHERE pt.PROCESSLIST_STATE = 'Waiting for table level lock' AND p.INTERNAL_LOCK IS NOT NULL";

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

/// The waits in the answer of [`METADATA`] or [`TABLES`]. The blockers are holders of conflicting locks or, if there
/// are none, sessions behind whose requests this one queues.
pub fn lock_waits(rows: &[Vec<Cell>]) -> Vec<LockWait> {
    let requests: Vec<(LockWait, bool)> = rows.iter().filter_map(|row| request(row)).collect();
    let (mut waits, mut pairs, mut resolved) = (Vec::new(), HashSet::new(), HashSet::new());
    for is_granted in [true, false] {
        for (wait, _) in requests.iter().filter(|(_, is)| *is == is_granted) {
            if excludes(wait, is_granted)
                && !resolved.contains(&wait.waiting)
                && pairs.insert((wait.waiting, wait.holding))
            {
                waits.push(wait.clone());
            }
        }
        resolved.extend(waits.iter().map(|wait: &LockWait| wait.waiting));
    }
    for (wait, _) in requests {
        if resolved.insert(wait.waiting) {
            waits.push(LockWait {
                holding: None,
                held: None,
                ..wait
            });
        }
    }
    waits
}

/// A row's request, and whether the other lock is granted.
fn request(row: &[Cell]) -> Option<(LockWait, bool)> {
    let id = |at: usize| u64::try_from(integer(row.get(at)?)?).ok();
    let word = |at: usize| row.get(at).and_then(text);
    let wait = LockWait {
        waiting: id(0)?,
        holding: id(1),
        wanted: word(2)?,
        held: word(3),
        object_type: word(5)?,
        schema: word(6),
        name: word(7),
    };
    Some((wait, word(4).as_deref() == Some("GRANTED")))
}

/// Whether the other lock of a request is why it waits.
fn excludes(wait: &LockWait, is_granted: bool) -> bool {
    let rule = match (wait.object_type.as_str(), is_granted) {
        ("HANDLE", true) => table_lock::conflicts,
        ("HANDLE", false) => table_lock::queues_behind,
        (_, true) => metadata_lock::conflicts,
        (_, false) => metadata_lock::queues_behind,
    };
    let held = wait.held.as_deref();
    wait.holding.is_some() && held.is_some_and(|held| rule(&wait.wanted, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(words: [&str; 5]) -> Vec<Cell> {
        let words = words.into_iter().chain(["TABLE", "shop", "t"]);
        words.map(|word| Cell::Text(word.into())).collect()
    }

    fn pairs(rows: &[Vec<Cell>]) -> Vec<(u64, Option<u64>)> {
        let waits = lock_waits(rows).into_iter();
        waits.map(|wait| (wait.waiting, wait.holding)).collect()
    }

    #[test]
    fn the_blocker_is_a_holder_or_else_a_waiting_session() {
        // 1 reads; 2 alters and waits for 1; 3 reads and waits for 2.
        let rows = [
            row(["2", "1", "EXCLUSIVE", "SHARED_READ", "GRANTED"]),
            row(["2", "3", "EXCLUSIVE", "SHARED_READ", "PENDING"]),
            row(["3", "1", "SHARED_READ", "SHARED_READ", "GRANTED"]),
            row(["3", "2", "SHARED_READ", "SHARED_UPGRADABLE", "GRANTED"]),
            row(["3", "2", "SHARED_READ", "EXCLUSIVE", "PENDING"]),
        ];
        assert_eq!(pairs(&rows), [(2, Some(1)), (3, Some(2))]);
    }

    /// The first holder is not recorded: its lock is older than the instrument. 2 alters, 3 and 4 read.
    #[test]
    fn waits_for_a_holder_that_was_not_recorded_form_no_circle() {
        let requests = [
            ("2", "EXCLUSIVE"),
            ("3", "SHARED_READ"),
            ("4", "SHARED_READ"),
        ];
        let mut rows = Vec::new();
        for (waits, wanted) in requests {
            for (other, pending) in requests {
                if waits != other {
                    rows.push(row([waits, other, wanted, pending, "PENDING"]));
                }
            }
            if waits != "2" {
                rows.push(row([waits, "2", wanted, "SHARED_UPGRADABLE", "GRANTED"]));
            }
        }
        let expected = [(3, Some(2)), (4, Some(2)), (2, None)];
        assert_eq!(pairs(&rows), expected);
    }

    #[test]
    fn a_reader_waits_for_the_writer_that_waits_for_a_reader() {
        let row = |words: [&str; 5]| {
            let words = words.into_iter().chain(["HANDLE", "shop", "m"]);
            words.map(|word| Cell::Text(word.into())).collect()
        };
        let rows = [
            row(["2", "1", "WRITE", "READ", "GRANTED"]),
            row(["2", "3", "WRITE", "READ", "PENDING"]),
            row(["3", "1", "READ", "READ", "GRANTED"]),
            row(["3", "2", "READ", "WRITE", "PENDING"]),
        ];
        assert_eq!(pairs(&rows), [(2, Some(1)), (3, Some(2))]);
    }

    #[test]
    fn a_lock_that_nobody_else_has_is_named_without_a_holder() {
        let mut only = row(["2", "1", "EXCLUSIVE", "SHARED_READ", "PENDING"]);
        (only[1], only[3]) = (Cell::Null, Cell::Null);
        assert_eq!(pairs(&[only]), [(2, None)]);
    }
}
