//! Who waits for whose lock, for histories: with the sessions, their statements and their transactions; and deadlocks.
//!
//! A stock server gets one cheap question each second, and others only if somebody waits; all of them on the
//! connection of [`InnodbReader`], which takes a second at most. Tables of a segment are read in this process.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_history::{
    Block, Holder, HolderState, LockKind, LockReading, Party, ServerStatus, sampled_text,
};
use tare_mysql::traceparent::TraceContext;
use tare_reader::event_loop::queued_sessions;
use tare_reader::{Segment, threads};

use super::deadlocks::{Counter, DeadlockReader};
use super::innodb::{InnodbReader, RowLockWait};
use super::innodb_locks::{choose_holders, query_locks, segment_locks};
use super::lock_waits::{LockWait, METADATA, TABLE_STATE, TABLES, WAITING, lock_waits};
use super::server_status::StatusReader;
use super::{QueryError, integer, rows, text};
use crate::output::Cell;
use crate::sql::{Local, SqlSession};

/// InnoDB's count of sessions that wait for a row.
const ROW_WAITS: &str = "lock_row_lock_current_waits";
/// The numbers of [`Counter`]'s queries.
const DEADLOCKS: [&str; 2] = ["lock_deadlocks", "errors"];

/// What sessions do, with the statements that they run or ran last. Nested statements and waits come first.
const SESSIONS: &str = "SELECT t.THREAD_ID, t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST, t.PROCESSLIST_COMMAND, t.PROCESSLIST_TIME, \
     s.DIGEST, LEFT(COALESCE(s.DIGEST_TEXT, s.SQL_TEXT, t.PROCESSLIST_INFO), 1024), CASE WHEN s.END_EVENT_ID IS NULL THEN s.TIMER_WAIT END, w.TIMER_WAIT, \
     CASE WHEN s.SQL_TEXT LIKE '%traceparent%' THEN s.SQL_TEXT END \
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

/// The most rows of a reading.
const MAX_BLOCKS: usize = 1000;

/// Whether anybody waits, and how often there was a deadlock.
#[derive(Default)]
struct Check {
    /// Sessions that wait for a lock of the server, by their states.
    waiting: Vec<(u64, String)>,
    /// Whether any waits for a lock of InnoDB.
    has_row_waits: bool,
    deadlocks: Option<(Counter, u64)>,
}

/// A wait with what is known of its time.
struct Wait {
    kind: LockKind,
    index: Option<String>,
    age: Option<Duration>,
    lock: LockWait,
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
    /// Whether the server refuses to count, because the account lacks the privilege PROCESS.
    is_check_refused: bool,
    deadlocks: DeadlockReader,
    status: StatusReader,
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
            deadlocks: DeadlockReader::default(),
            status: StatusReader::default(),
            first_seen: HashMap::new(),
        }
    }

    /// The reader of the server's row locks, unless the segment has them.
    pub fn row_locks(&mut self) -> Option<&mut InnodbReader> {
        self.innodb.as_mut().filter(|innodb| innodb.has_row_locks())
    }

    /// Who waits for whom now, and deadlocks since the last call. `has_row_waits`: a session is known to wait for a
    /// row.
    pub fn read(&mut self, has_row_waits: bool) -> LockReading {
        let check = self.check();
        let session = self.innodb.as_mut().map(InnodbReader::session);
        let deadlock = (check.deadlocks)
            .and_then(|(counter, number)| self.deadlocks.read(counter, number, session));
        let mut waits = self.waits(check.waiting, has_row_waits || check.has_row_waits);
        waits.extend(self.event_loop_waits());
        waits.truncate(MAX_BLOCKS);
        let blocks = match waits.is_empty() {
            true => {
                self.first_seen.clear();
                Vec::new()
            }
            false => self.describe(waits),
        };
        LockReading { blocks, deadlock }
    }

    /// The status of the server, without the connections in `own`; `None` if there is no MySQL or MariaDB.
    pub fn read_status(&mut self, own: &[u64]) -> Option<ServerStatus> {
        let server = self.innodb.as_mut()?.session();
        let segment = self.segment.as_mut().map(|(_, session)| session);
        Some(self.status.read(server, segment, own))
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

    /// What counts deadlocks now. An exact window is too short for another counter.
    fn counter(&self) -> Counter {
        match (&self.segment, &self.innodb) {
            (None, _) => Counter::Server,
            (Some((segment, _)), Some(_)) if segment.view().control().returns_to_active() => {
                Counter::ServerAfterErrors
            }
            (Some(_), _) => Counter::Segment,
        }
    }

    /// Queries whether anybody waits, and counts deadlocks.
    fn check(&mut self) -> Check {
        let counter = self.counter();
        let mut answer = match self.is_check_refused {
            false => self.try_rows(&format!("{WAITING} UNION ALL {}", counter.query())),
            true => self.try_rows(WAITING),
        };
        if let (Err(QueryError::Refused(_)), false) = (&answer, self.is_check_refused) {
            self.is_check_refused = true;
            answer = self.try_rows(WAITING);
        }
        let mut check = Check::default();
        for row in &answer.unwrap_or_default() {
            let number = row.first().and_then(integer);
            let number = number.and_then(|number| u64::try_from(number).ok());
            match (number, row.get(1).and_then(text)) {
                (Some(count), Some(name)) if name == ROW_WAITS => check.has_row_waits = count > 0,
                (Some(count), Some(name)) if DEADLOCKS.contains(&&*name) => {
                    check.deadlocks = Some((counter, count));
                }
                (Some(id), Some(state)) => check.waiting.push((id, state)),
                _ => {}
            }
        }
        check
    }

    fn waits(&mut self, waiting: Vec<(u64, String)>, has_row_waits: bool) -> Vec<Wait> {
        let mut waits = match has_row_waits {
            true => self.row_waits(),
            false => Vec::new(),
        };
        let mut resolved: HashSet<u64> = waits.iter().map(|wait| wait.lock.waiting).collect();
        let mut server_waits = Vec::new();
        if !waiting.is_empty() {
            server_waits.extend(lock_waits(&self.rows(METADATA)));
        }
        // In tare serve this is the state of a session that waits for a metadata lock.
        let is_table_wait = |(id, state): &(u64, String)| {
            state == TABLE_STATE && !server_waits.iter().any(|wait| wait.waiting == *id)
        };
        if waiting.iter().any(is_table_wait) {
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

    /// Sessions that wait for an event loop, and the one whose command it executes.
    fn event_loop_waits(&self) -> impl Iterator<Item = Wait> + use<> {
        let segment = self.segment.as_ref().map(|(segment, _)| segment);
        let queued = segment.map(|segment| queued_sessions(segment));
        queued.unwrap_or_default().into_iter().map(|queued| Wait {
            kind: LockKind::EventLoop,
            index: None,
            age: None,
            lock: LockWait {
                waiting: queued.thread.id,
                holding: Some(queued.holder),
                ..LockWait::default()
            },
        })
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
        break_unproven_circles(&mut waits, |lock| self.first_seen.contains_key(&key(lock)));
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
            let key = key(&lock);
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
                waiter: match wait.kind {
                    // Its last command has ended, and the next one was not read.
                    LockKind::EventLoop => Party {
                        digest: None,
                        text: None,
                        trace: None,
                        ..party(lock.waiting)
                    },
                    _ => party(lock.waiting),
                },
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
            let trace = word(10).and_then(|text| TraceContext::of_statement(&text));
            let is_asleep = word(4).as_deref() == Some("Sleep");
            let ns = |at: usize| number(at).map(|ps| ps / 1000);
            let command_ns = number(5).map(|seconds| seconds.saturating_mul(1_000_000_000));
            let session = sessions.entry(thread_id).or_insert_with(|| Session {
                party: Party {
                    thread_id,
                    connection_id: number(1),
                    user: word(2).map(Arc::from),
                    client: word(3).map(Arc::from),
                    text: word(7).map(|text| sampled_text(&text)),
                    digest,
                    trace,
                },
                state_ns: ns(8).filter(|_| !is_asleep).or(command_ns),
                wait_ns: ns(9),
                is_asleep,
            });
            // The client's statement is the last row.
            session.party.trace = trace.or(session.party.trace);
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

/// The thread and the object of a wait.
fn key(lock: &LockWait) -> (u64, String) {
    (lock.waiting, format!("{:?}.{:?}", lock.schema, lock.name))
}

/// Forgets holders of new waits that would close a circle. Row locks and locks of the server are read one after the
/// other, so that a session may have waited first and held later. A circle of waits that were there before is true, and
/// so is one of row locks only, which are of one moment.
fn break_unproven_circles(waits: &mut [Wait], is_old: impl Fn(&LockWait) -> bool) {
    let mut of_thread: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, wait) in waits.iter().enumerate() {
        of_thread.entry(wait.lock.waiting).or_default().push(at);
    }
    for at in 0..waits.len() {
        let (start, Some(holder)) = (waits[at].lock.waiting, waits[at].lock.holding) else {
            continue;
        };
        if is_old(&waits[at].lock) {
            continue;
        }
        let (mut reached, mut next) = (HashSet::from([holder]), vec![holder]);
        let mut kinds = vec![waits[at].kind];
        while let Some(thread) = next.pop() {
            for wait in of_thread.get(&thread).into_iter().flatten() {
                let wait = &waits[*wait];
                kinds.push(wait.kind);
                next.extend(wait.lock.holding.filter(|holder| reached.insert(*holder)));
            }
        }
        if reached.contains(&start) && kinds.iter().any(|kind| *kind != LockKind::Row) {
            let lock = &mut waits[at].lock;
            (lock.holding, lock.held) = (None, None);
        }
    }
}

fn list(ids: &BTreeSet<u64>) -> String {
    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
    ids.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_two_readings_is_not_reported_at_first() {
        let circle = |kinds: [LockKind; 2], is_old: bool| {
            let mut waits: Vec<Wait> = [(1, 2), (2, 1)]
                .into_iter()
                .zip(kinds)
                .map(|((waiting, holding), kind)| Wait {
                    kind,
                    index: None,
                    age: None,
                    lock: LockWait {
                        waiting,
                        holding: Some(holding),
                        ..LockWait::default()
                    },
                })
                .collect();
            break_unproven_circles(&mut waits, |_| is_old);
            waits
                .iter()
                .map(|wait| wait.lock.holding)
                .collect::<Vec<_>>()
        };
        let (row, metadata) = (LockKind::Row, LockKind::Metadata);
        assert_eq!(circle([row, metadata], false), [None, Some(1)]);
        assert_eq!(circle([row, metadata], true), [Some(2), Some(1)]);
        assert_eq!(circle([row, row], false), [Some(2), Some(1)]);
    }
}
