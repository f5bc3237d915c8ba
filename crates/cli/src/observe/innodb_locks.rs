//! InnoDB's locks that sessions wait for: which of them are granted, and their objects and modes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tare_reader::Segment;

use super::innodb::{InnodbReader, RowLockWait};
use super::text;

/// A lock of InnoDB by its name: schema, table, index, mode. Only a comparison with one name is cheap.
const LOCK: &str = "SELECT ENGINE_LOCK_ID, OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, LOCK_MODE \
     FROM performance_schema.data_locks WHERE ENGINE_LOCK_ID = '{}'";

/// The same before MySQL 8 and in MariaDB.
const OLD_LOCKS: &str = "SELECT lock_id, NULL, lock_table, lock_index, lock_mode FROM information_schema.innodb_locks WHERE lock_id IN ({})";

/// The most locks whose objects are queried at once.
const MAX_LOCKS: usize = 100;

/// A lock of InnoDB.
#[derive(Default, Clone)]
pub struct RowLock {
    /// Its schema.
    pub schema: Option<String>,
    /// Its table.
    pub table: Option<String>,
    /// Its index, if it is a row.
    pub index: Option<String>,
    /// Its mode.
    pub mode: Option<String>,
}

/// Of the holders of each wait, those whose lock is granted, if there are any; others queue as the session does.
pub fn choose_holders(pairs: Vec<RowLockWait>) -> Vec<RowLockWait> {
    let requested: HashSet<&str> = pairs.iter().map(|pair| &*pair.requested_lock).collect();
    let is_granted = |pair: &RowLockWait| !requested.contains(&*pair.blocking_lock);
    let granted = pairs.iter().filter(|pair| is_granted(pair));
    let with_holder: HashSet<u64> = granted.map(|pair| pair.waiting).collect();
    let chosen = pairs
        .iter()
        .filter(|pair| is_granted(pair) || !with_holder.contains(&pair.waiting));
    chosen.cloned().collect()
}

/// The objects and modes of the locks of these waits, by the locks' names.
pub fn query_locks(
    row_locks: &mut InnodbReader,
    pairs: &[RowLockWait],
) -> HashMap<String, RowLock> {
    let names = pairs.iter().map(|pair| &pair.blocking_lock);
    let names = names.chain(pairs.iter().map(|pair| &pair.requested_lock));
    // InnoDB's names need no quoting.
    let is_plain = |name: &&String| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b':')
    };
    let names: BTreeSet<&String> = names.filter(is_plain).take(MAX_LOCKS).collect();
    let session = row_locks.session();
    let (false, Ok(has_old_tables)) = (names.is_empty(), session.has_old_tables()) else {
        return HashMap::new();
    };
    let query = match has_old_tables {
        true => {
            let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
            OLD_LOCKS.replace("{}", &names.join(", "))
        }
        false => {
            let each: Vec<_> = names.iter().map(|name| LOCK.replace("{}", name)).collect();
            each.join(" UNION ALL ")
        }
    };
    let answer = session.rows(&query).unwrap_or_default();
    let locks = answer.iter().filter_map(|row| {
        let word = |at: usize| row.get(at).and_then(text);
        let (schema, table) = match has_old_tables {
            true => split_table(&word(2).unwrap_or_default()),
            false => (word(1), word(2)),
        };
        let lock = RowLock {
            schema,
            table,
            index: word(3),
            mode: word(4),
        };
        Some((word(0)?, lock))
    });
    locks.collect()
}

/// The schema and the table of a name of InnoDB's: `` `schema`.`table` ``.
pub fn split_table(name: &str) -> (Option<String>, Option<String>) {
    let (schema, table) = name.split_once("`.`").unwrap_or(("", name));
    let table = table.split_once("` ").map_or(table, |(table, _)| table);
    let plain = |name: &str| name.trim_matches('`').replace("``", "`");
    let plain = |name: &str| Some(plain(name)).filter(|name| !name.is_empty());
    (plain(schema), plain(table))
}

/// The waits that a segment has, and its locks by their names.
pub fn segment_locks(segment: &Segment) -> (Vec<RowLockWait>, HashMap<String, RowLock>) {
    let all = segment.row_locks().unwrap_or_default();
    let waits = all.waits.iter().filter_map(|wait| {
        Some(RowLockWait {
            waiting: wait.requesting.thread?,
            blocking: wait.blocking.thread?,
            age: Duration::ZERO,
            requested_lock: wait.requesting.id.to_string(),
            blocking_lock: wait.blocking.id.to_string(),
        })
    });
    let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    let locks = all.locks.iter().map(|lock| {
        let [schema, table, _, _, index] = &lock.object;
        let row_lock = RowLock {
            schema: text(schema),
            table: text(table),
            index: text(index),
            mode: Some(lock.lock[0].to_string()),
        };
        (lock.owner.id.to_string(), row_lock)
    });
    (waits.collect(), locks.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(waiting: u64, blocking: u64, requested: &str, held: &str) -> RowLockWait {
        RowLockWait {
            waiting,
            blocking,
            age: Duration::ZERO,
            requested_lock: requested.into(),
            blocking_lock: held.into(),
        }
    }

    #[test]
    fn the_holder_of_a_queue_is_the_session_whose_lock_is_granted() {
        let queue = vec![
            pair(2, 1, "b", "a"),
            pair(3, 1, "c", "a"),
            pair(3, 2, "c", "b"),
        ];
        let expected = vec![queue[0].clone(), queue[1].clone()];
        assert_eq!(choose_holders(queue), expected);
        // Where every lock waits, as InnoDB of MySQL 5.7 names them for an upgrade, all are evidence.
        let upgrade = vec![pair(2, 1, "b", "a"), pair(1, 2, "a", "b")];
        assert_eq!(choose_holders(upgrade.clone()), upgrade);
    }

    #[test]
    fn names_of_tables_are_split() {
        let split = |name: &str| {
            let (schema, table) = split_table(name);
            (schema.unwrap_or_default(), table.unwrap_or_default())
        };
        let of = |schema: &str, table: &str| (schema.to_owned(), table.to_owned());
        assert_eq!(split("`shop`.`t`"), of("shop", "t"));
        assert_eq!(split("`shop`.`a``b`"), of("shop", "a`b"));
        assert_eq!(split("`shop`.`t` /* Partition `p0` */"), of("shop", "t"));
    }
}
