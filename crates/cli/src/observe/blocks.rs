//! Who waits for whose lock, for histories: with the sessions, their statements and their transactions.
//!
//! A stock server gets one cheap question, [`CHECK`], and others only if somebody waits; all of them on the
//! connection of [`InnodbReader`], which takes a second at most. Tables of a segment are read in this process.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_history::{Block, Holder, HolderState, LockKind, Party, sampled_text};
use tare_reader::{Segment, threads};

use super::innodb::{InnodbReader, RowLockWait};
use super::lock_waits::{LockWait, METADATA, TABLE_STATE, TABLES, WAITING, lock_waits};
use super::{QueryError, integer, rows, text};
use crate::output::Cell;
use crate::sql::{Local, SqlSession};

/// The sessions that wait for a lock of the server, and how many wait for one of InnoDB.
const CHECK: &str = "SELECT THREAD_ID, PROCESSLIST_STATE FROM performance_schema.threads WHERE PROCESSLIST_STATE LIKE 'Waiting for % lock' \
     OR PROCESSLIST_STATE IN ('Waiting for table flush', 'User lock') UNION ALL \
     SELECT `COUNT`, NAME FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_row_lock_current_waits'";

/// The counter of [`CHECK`].
const ROW_WAITS: &str = "lock_row_lock_current_waits";

/// What sessions do, with the statements that they run or ran last. Nested statements and waits come first.
const SESSIONS: &str = "SELECT t.THREAD_ID, t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST, t.PROCESSLIST_COMMAND, t.PROCESSLIST_TIME, \
     s.DIGEST, LEFT(COALESCE(s.DIGEST_TEXT, s.SQL_TEXT, t.PROCESSLIST_INFO), 1024), CASE WHEN s.END_EVENT_ID IS NULL THEN s.TIMER_WAIT END, w.TIMER_WAIT \
     FROM performance_schema.threads AS t \
     LEFT JOIN performance_schema.events_statements_current AS s ON s.THREAD_ID = t.THREAD_ID \
     LEFT JOIN performance_schema.events_waits_current AS w ON w.THREAD_ID = t.THREAD_ID AND w.END_EVENT_ID IS NULL \
     AND w.EVENT_NAME LIKE 'wait/lock/%' \
     WHERE t.THREAD_ID IN ({}) ORDER BY t.THREAD_ID, s.EVENT_ID DESC, w.EVENT_ID DESC";

/// The connections of open transactions and their ages in seconds. InnoDB's times are in the system's zone.
const TRANSACTIONS: &str = "SELECT trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) \
     FROM information_schema.innodb_trx WHERE trx_mysql_thread_id IN ({})";

/// The same of a segment.
const TRANSACTIONS_OF_ENGINE: &str = "SELECT t.PROCESSLIST_ID, x.TIMER_WAIT DIV 1000000000000 FROM performance_schema.events_transactions_current AS x \
     JOIN performance_schema.threads AS t ON t.THREAD_ID = x.THREAD_ID WHERE x.STATE = 'ACTIVE' AND t.PROCESSLIST_ID IN ({})";

/// A lock of InnoDB by its name: schema, table, index, mode. Only a comparison with one name is cheap.
const LOCK: &str = "SELECT ENGINE_LOCK_ID, OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, LOCK_MODE \
     FROM performance_schema.data_locks WHERE ENGINE_LOCK_ID = '{}'";

/// The same before MySQL 8 and in MariaDB.
const OLD_LOCKS: &str = "SELECT lock_id, NULL, lock_table, lock_index, lock_mode FROM information_schema.innodb_locks WHERE lock_id IN ({})";

/// The most locks whose objects are queried at once.
const MAX_LOCKS: usize = 100;

/// The most rows of a reading.
const MAX_BLOCKS: usize = 1000;

/// A wait with what is known of its time.
struct Wait {
    kind: LockKind,
    index: Option<String>,
    age: Option<Duration>,
    lock: LockWait,
}

/// A lock of InnoDB.
#[derive(Default, Clone)]
struct RowLock {
    schema: Option<String>,
    table: Option<String>,
    index: Option<String>,
    mode: Option<String>,
}

/// The answer of [`SESSIONS`] about a session.
struct Session {
    party: Party,
    is_asleep: bool,
    /// For how long it has run its statement or slept.
    state_ns: Option<u64>,
    /// For how long it has waited for a lock, if waits are timed.
    wait_ns: Option<u64>,
}

/// Reads who waits for whom.
pub struct BlockReader {
    /// A segment, whose tables are read.
    segment: Option<(Arc<Segment>, SqlSession)>,
    /// The server's InnoDB, if it has one.
    innodb: Option<InnodbReader>,
    /// Whether the server refuses [`CHECK`], because the account lacks the privilege PROCESS.
    is_check_refused: bool,
    /// When each wait was first seen, by the thread and the object.
    first_seen: HashMap<(u64, String), Instant>,
}

impl BlockReader {
    /// For a server.
    pub fn of_server(innodb: InnodbReader) -> Self {
        Self::new(None, Some(innodb))
    }

    /// For a segment, and the server's row locks if the segment does not have them.
    pub fn of_segment(segment: Arc<Segment>, innodb: Option<InnodbReader>) -> Self {
        let session = Local::new(Arc::clone(&segment)).ok();
        let session = session.map(|session| (segment, SqlSession::Local(Box::new(session))));
        Self::new(session, innodb)
    }

    fn new(segment: Option<(Arc<Segment>, SqlSession)>, innodb: Option<InnodbReader>) -> Self {
        Self {
            segment,
            innodb,
            is_check_refused: false,
            first_seen: HashMap::new(),
        }
    }

    /// The reader of the server's row locks, unless the segment has them.
    pub fn row_locks(&mut self) -> Option<&mut InnodbReader> {
        self.innodb.as_mut().filter(|innodb| innodb.has_row_locks())
    }

    /// Who waits for whom now. `has_row_waits`: a session is known to wait for a row.
    pub fn read(&mut self, has_row_waits: bool) -> Vec<Block> {
        let mut waits = self.waits(has_row_waits);
        waits.truncate(MAX_BLOCKS);
        if waits.is_empty() {
            self.first_seen.clear();
            return Vec::new();
        }
        self.describe(waits)
    }

    /// The rows of a query; none if the server refuses it or does not answer.
    fn rows(&mut self, sql: &str) -> Vec<Vec<Cell>> {
        self.try_rows(sql).unwrap_or_default()
    }

    fn try_rows(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, QueryError> {
        match (&mut self.segment, &mut self.innodb) {
            (Some((_, session)), _) => rows(session, sql),
            (None, Some(innodb)) => innodb.session().rows(sql),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Sessions that wait for a lock of the server by their states, and whether any waits for one of InnoDB.
    fn check(&mut self) -> (Vec<(u64, String)>, bool) {
        let mut answer = Ok(Vec::new());
        if self.segment.is_none() && !self.is_check_refused {
            answer = self.try_rows(CHECK);
            self.is_check_refused = matches!(answer, Err(QueryError::Refused(_)));
        }
        let answer = match self.segment.is_some() || self.is_check_refused {
            true => self.rows(WAITING),
            false => answer.unwrap_or_default(),
        };
        let mut waiting = Vec::new();
        let mut has_row_waits = false;
        for row in &answer {
            match (row.first().and_then(integer), row.get(1).and_then(text)) {
                (Some(count), Some(name)) if name == ROW_WAITS => has_row_waits = count > 0,
                (Some(id), Some(state)) => {
                    waiting.extend(u64::try_from(id).ok().map(|id| (id, state)))
                }
                _ => {}
            }
        }
        (waiting, has_row_waits)
    }

    fn waits(&mut self, mut has_row_waits: bool) -> Vec<Wait> {
        let (waiting, is_counted) = self.check();
        has_row_waits |= is_counted;
        let mut waits = match has_row_waits {
            true => self.row_waits(),
            false => Vec::new(),
        };
        let mut resolved: HashSet<u64> = waits.iter().map(|wait| wait.lock.waiting).collect();
        let is_table = |(_, state): &(u64, String)| state == TABLE_STATE;
        let mut server_waits = Vec::new();
        if waiting.iter().any(|one| !is_table(one)) {
            server_waits.extend(lock_waits(&self.rows(METADATA)));
        }
        if waiting.iter().any(is_table) {
            server_waits.extend(lock_waits(&self.rows(TABLES)));
        }
        server_waits.retain(|wait| !resolved.contains(&wait.waiting));
        resolved.extend(server_waits.iter().map(|wait| wait.waiting));
        waits.extend(server_waits.into_iter().map(|lock| Wait {
            kind: match lock.object_type.as_str() {
                "USER LEVEL LOCK" => LockKind::User,
                "HANDLE" => LockKind::Table,
                _ => LockKind::Metadata,
            },
            index: None,
            age: None,
            lock,
        }));
        for (thread, state) in waiting {
            if resolved.insert(thread) {
                waits.push(Wait {
                    kind: match state.as_str() {
                        "User lock" => LockKind::User,
                        "Waiting for table flush" | TABLE_STATE => LockKind::Table,
                        _ => LockKind::Metadata,
                    },
                    index: None,
                    age: None,
                    lock: LockWait {
                        waiting: thread,
                        ..LockWait::default()
                    },
                });
            }
        }
        waits
    }

    /// Waits for locks of InnoDB, by threads.
    fn row_waits(&mut self) -> Vec<Wait> {
        let row_locks = self.innodb.as_mut().filter(|innodb| innodb.has_row_locks());
        // The server of a segment names connections.
        let is_by_connection = row_locks.is_some();
        let (mut pairs, locks) = match (row_locks, &self.segment) {
            (Some(row_locks), _) => {
                let pairs = choose_holders(row_locks.read().0.to_vec());
                let locks = query_locks(row_locks, &pairs);
                (pairs, locks)
            }
            (None, Some((segment, _))) => {
                let (pairs, locks) = segment_locks(segment);
                (choose_holders(pairs), locks)
            }
            (None, None) => return Vec::new(),
        };
        if let (Some((segment, _)), true) = (&self.segment, is_by_connection) {
            let by_connection: HashMap<u64, u64> = threads(segment.view())
                .iter()
                .map(|thread| (thread.processlist_id, thread.id))
                .collect();
            let thread = |connection: u64| by_connection.get(&connection).copied();
            pairs = (pairs.into_iter())
                .filter_map(|pair| {
                    Some(RowLockWait {
                        waiting: thread(pair.waiting)?,
                        blocking: thread(pair.blocking)?,
                        ..pair
                    })
                })
                .collect();
        }
        let waits = pairs.into_iter().map(|pair| {
            let requested = locks.get(&pair.requested_lock).cloned().unwrap_or_default();
            let held = locks.get(&pair.blocking_lock);
            Wait {
                kind: LockKind::Row,
                index: requested.index,
                age: Some(pair.age).filter(|age| !age.is_zero()),
                lock: LockWait {
                    waiting: pair.waiting,
                    holding: Some(pair.blocking),
                    object_type: String::new(),
                    schema: requested.schema,
                    name: requested.table,
                    wanted: requested.mode.unwrap_or_default(),
                    held: held.and_then(|lock| lock.mode.clone()),
                },
            }
        });
        waits.collect()
    }

    /// Adds what the sessions do.
    fn describe(&mut self, mut waits: Vec<Wait>) -> Vec<Block> {
        let waiters: HashSet<u64> = waits.iter().map(|wait| wait.lock.waiting).collect();
        let holders = waits.iter().filter_map(|wait| wait.lock.holding);
        let ids: BTreeSet<u64> = waiters.iter().copied().chain(holders).collect();
        let sessions = self.sessions(&ids);
        // One that is missing has ended meanwhile.
        waits.retain(|wait| sessions.is_empty() || sessions.contains_key(&wait.lock.waiting));
        let holders = waits.iter().filter_map(|wait| wait.lock.holding);
        let connections = holders.filter_map(|id| sessions.get(&id)?.party.connection_id);
        let transactions = self.transactions(&connections.collect());
        let now = Instant::now();
        let mut still_waiting = HashMap::new();
        let blocks = waits.into_iter().map(|wait| {
            let lock = wait.lock;
            let key = (lock.waiting, format!("{:?}.{:?}", lock.schema, lock.name));
            let first = self.first_seen.get(&key).copied().unwrap_or(now);
            still_waiting.insert(key, first);
            let waiter = sessions.get(&lock.waiting);
            let timed = waiter.and_then(|session| session.wait_ns);
            let timed = timed.filter(|_| wait.kind != LockKind::Row);
            let wait_ns = timed.or_else(|| {
                let age = wait.age.unwrap_or_default().max(now - first);
                u64::try_from(age.as_nanos()).ok()
            });
            let party = |id: u64| {
                let described = sessions.get(&id).map(|session| session.party.clone());
                described.unwrap_or(Party {
                    thread_id: id,
                    ..Party::default()
                })
            };
            let shared = |text: Option<String>| text.map(Arc::<str>::from);
            let holder = lock.holding.map(|id| {
                let session = sessions.get(&id);
                let party = party(id);
                Holder {
                    state: session.map(|session| match session.is_asleep {
                        _ if waiters.contains(&id) => HolderState::Waiting,
                        true => HolderState::Sleeping,
                        false => HolderState::Running,
                    }),
                    state_ns: session.and_then(|session| session.state_ns),
                    transaction_ns: (party.connection_id)
                        .and_then(|id| transactions.get(&id).copied()),
                    lock_mode: shared(lock.held),
                    party,
                }
            });
            Block {
                kind: wait.kind,
                object_schema: shared(lock.schema),
                object: shared(lock.name),
                index_name: shared(wait.index),
                lock_mode: shared(Some(lock.wanted).filter(|mode| !mode.is_empty())),
                wait_ns,
                waiter: party(lock.waiting),
                holder,
            }
        });
        let blocks = blocks.collect();
        self.first_seen = still_waiting;
        blocks
    }

    fn sessions(&mut self, ids: &BTreeSet<u64>) -> HashMap<u64, Session> {
        let answer = self.rows(&SESSIONS.replace("{}", &list(ids)));
        let mut sessions = HashMap::new();
        for row in &answer {
            let number = |at: usize| u64::try_from(integer(row.get(at)?)?).ok();
            let word = |at: usize| row.get(at).and_then(text);
            let Some(thread_id) = number(0) else {
                continue;
            };
            let digest = word(6).map(Arc::from);
            let is_asleep = word(4).as_deref() == Some("Sleep");
            let ns = |at: usize| number(at).map(|ps| ps / 1000);
            let command_ns = number(5).map(|seconds| seconds.saturating_mul(1_000_000_000));
            sessions.entry(thread_id).or_insert_with(|| Session {
                party: Party {
                    thread_id,
                    connection_id: number(1),
                    user: word(2).map(Arc::from),
                    client: word(3).map(Arc::from),
                    text: word(7).map(|text| sampled_text(&text)),
                    digest,
                },
                state_ns: ns(8).filter(|_| !is_asleep).or(command_ns),
                wait_ns: ns(9),
                is_asleep,
            });
        }
        sessions
    }

    /// The ages of transactions in nanoseconds, by connection.
    fn transactions(&mut self, connections: &BTreeSet<u64>) -> HashMap<u64, u64> {
        if connections.is_empty() {
            return HashMap::new();
        }
        let connections = list(connections);
        let answer = match self.row_locks() {
            Some(row_locks) => {
                let query = TRANSACTIONS.replace("{}", &connections);
                row_locks.session().rows(&query).unwrap_or_default()
            }
            None => self.rows(&TRANSACTIONS_OF_ENGINE.replace("{}", &connections)),
        };
        let ages = answer.iter().filter_map(|row| {
            let number = |at: usize| u64::try_from(integer(row.get(at)?)?).ok();
            Some((number(0)?, number(1)?.saturating_mul(1_000_000_000)))
        });
        ages.collect()
    }
}

fn list(ids: &BTreeSet<u64>) -> String {
    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
    ids.join(", ")
}

/// Of the holders of each wait, those whose lock is granted, if there are any; others queue as the session does.
fn choose_holders(pairs: Vec<RowLockWait>) -> Vec<RowLockWait> {
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
fn query_locks(row_locks: &mut InnodbReader, pairs: &[RowLockWait]) -> HashMap<String, RowLock> {
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
        let lock = RowLock {
            schema: word(1),
            table: word(2),
            index: word(3),
            mode: word(4),
        };
        let lock = match has_old_tables {
            true => split_table(lock),
            false => lock,
        };
        Some((word(0)?, lock))
    });
    locks.collect()
}

/// Splits the name `` `schema`.`table` `` of a table.
fn split_table(lock: RowLock) -> RowLock {
    let name = lock.table.clone().unwrap_or_default();
    let (schema, table) = name.split_once("`.`").unwrap_or(("", &name));
    let plain = |name: &str| name.trim_matches('`').replace("``", "`");
    let table = table.split_once("` ").map_or(table, |(table, _)| table);
    RowLock {
        schema: Some(plain(schema)).filter(|schema| !schema.is_empty()),
        table: Some(plain(table)).filter(|table| !table.is_empty()),
        ..lock
    }
}

/// The waits that a segment has, and its locks by their names.
fn segment_locks(segment: &Segment) -> (Vec<RowLockWait>, HashMap<String, RowLock>) {
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
            let lock = split_table(RowLock {
                table: Some(name.into()),
                ..RowLock::default()
            });
            (
                lock.schema.unwrap_or_default(),
                lock.table.unwrap_or_default(),
            )
        };
        let of = |schema: &str, table: &str| (schema.to_owned(), table.to_owned());
        assert_eq!(split("`shop`.`t`"), of("shop", "t"));
        assert_eq!(split("`shop`.`a``b`"), of("shop", "a`b"));
        assert_eq!(split("`shop`.`t` /* Partition `p0` */"), of("shop", "t"));
    }
}
