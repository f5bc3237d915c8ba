//! Row lock waits and open transactions, as InnoDB's own tables have them: on stock servers, and on servers behind
//! the door where Tare's engine does not have them.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tare_image::Release;

use super::limited_session::{LIMIT, LimitedSession, PAUSE_AFTER_REFUSAL};
use super::{QueryError, integer, text};
use crate::output::Cell;
use crate::ps::process;
use crate::sql::Target;

/// The shortest interval between two queries.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// For how long the transaction `r` has waited. Its times are in the system's zone.
macro_rules! waited {
    () => {
        "TIMESTAMPDIFF(SECOND, r.trx_wait_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM'))"
    };
}

macro_rules! innodb_lock_waits {
    ($columns:literal, $joins:literal) => {
        concat!(
            "SELECT ",
            $columns,
            ", ",
            waited!(),
            ", w.requested_lock_id, w.blocking_lock_id FROM information_schema.innodb_lock_waits AS w \
             JOIN information_schema.innodb_trx AS r ON r.trx_id = w.requesting_trx_id \
             JOIN information_schema.innodb_trx AS b ON b.trx_id = w.blocking_trx_id",
            $joins,
            " LIMIT 10000"
        )
    };
}

/// Before MySQL 8, and in MariaDB.
const OLD_BY_THREAD: &str = innodb_lock_waits!(
    "rt.THREAD_ID, bt.THREAD_ID",
    " JOIN performance_schema.threads AS rt ON rt.PROCESSLIST_ID = r.trx_mysql_thread_id \
     JOIN performance_schema.threads AS bt ON bt.PROCESSLIST_ID = b.trx_mysql_thread_id"
);
const OLD_BY_CONNECTION: &str =
    innodb_lock_waits!("r.trx_mysql_thread_id, b.trx_mysql_thread_id", "");

const BY_THREAD: &str = concat!(
    "SELECT w.REQUESTING_THREAD_ID, w.BLOCKING_THREAD_ID, ",
    waited!(),
    ", w.REQUESTING_ENGINE_LOCK_ID, w.BLOCKING_ENGINE_LOCK_ID FROM performance_schema.data_lock_waits AS w \
     LEFT JOIN information_schema.innodb_trx AS r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID LIMIT 10000"
);
/// For accounts without the privilege PROCESS.
const BY_THREAD_WITHOUT_TIME: &str = "SELECT REQUESTING_THREAD_ID, BLOCKING_THREAD_ID, NULL, \
     REQUESTING_ENGINE_LOCK_ID, BLOCKING_ENGINE_LOCK_ID FROM performance_schema.data_lock_waits LIMIT 10000";
const BY_CONNECTION: &str = concat!(
    "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id, ",
    waited!(),
    ", w.REQUESTING_ENGINE_LOCK_ID, w.BLOCKING_ENGINE_LOCK_ID FROM performance_schema.data_lock_waits AS w \
     JOIN information_schema.innodb_trx AS r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID \
     JOIN information_schema.innodb_trx AS b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID LIMIT 10000"
);

/// A session that waits for another's row lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLockWait {
    /// The session that waits.
    pub waiting: u64,
    /// The session that holds the lock.
    pub blocking: u64,
    /// For how long it has waited.
    pub age: Duration,
    /// InnoDB's name of the lock that is requested.
    pub requested_lock: String,
    /// InnoDB's name of the lock that it waits for.
    pub blocking_lock: String,
}

/// How waits and transactions name sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    Threads,
    Connections,
}

/// An open transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTransaction {
    /// Its session.
    pub session: u64,
    /// For how many seconds it is open.
    pub age_s: u64,
    /// InnoDB's word for what it does.
    pub state: String,
}

/// For how long the transaction `x` is open. InnoDB's times are in the system's zone.
macro_rules! transactions {
    ($session:literal, $joins:literal) => {
        concat!(
            "SELECT ",
            $session,
            ", TIMESTAMPDIFF(SECOND, x.trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')), x.trx_state \
             FROM information_schema.innodb_trx AS x",
            $joins
        )
    };
}

const TRANSACTIONS_BY_THREAD: &str = transactions!(
    "t.THREAD_ID",
    " JOIN performance_schema.threads AS t ON t.PROCESSLIST_ID = x.trx_mysql_thread_id"
);
const TRANSACTIONS_BY_CONNECTION: &str = transactions!("x.trx_mysql_thread_id", "");

/// Reads InnoDB's tables on a connection of its own, at most once a second.
pub struct InnodbReader {
    session: LimitedSession,
    /// Whether row locks are read; otherwise Tare's engine has them.
    has_row_locks: bool,
    ids: Ids,
    /// How many of the server's queries of waits it has refused.
    refused: usize,
    waits: Vec<RowLockWait>,
    /// The transactions or why they are unknown; `None` until they are requested.
    transactions: Option<Result<Vec<OpenTransaction>, String>>,
    /// When each pair was first seen, for servers that do not report times.
    first_seen: HashMap<(u64, u64), Instant>,
    read: Instant,
    next: Instant,
    error: Option<String>,
}

impl InnodbReader {
    /// For a server. Sessions are named by THREAD_ID.
    pub fn of_server(target: Target) -> Self {
        Self::new(LimitedSession::of_server(target), Ids::Threads, true)
    }

    /// For the server of a segment. Sessions are named by their connections. `None` if the process is none that has
    /// InnoDB.
    pub fn of_segment(pid: u32) -> Option<Self> {
        let program = process::server_release(pid)?;
        let has_row_locks = program != Release::Mysql97;
        Some(Self::new(
            LimitedSession::of_process(pid),
            Ids::Connections,
            has_row_locks,
        ))
    }

    fn new(session: LimitedSession, ids: Ids, has_row_locks: bool) -> Self {
        Self {
            session,
            has_row_locks,
            ids,
            refused: 0,
            waits: Vec::new(),
            transactions: None,
            first_seen: HashMap::new(),
            read: Instant::now(),
            next: Instant::now(),
            error: None,
        }
    }

    /// Its connection.
    pub fn session(&mut self) -> &mut LimitedSession {
        &mut self.session
    }

    /// The waits, which may be up to a second old, and when they were read.
    pub fn read(&mut self) -> (&[RowLockWait], Instant) {
        self.refresh();
        (&self.waits, self.read)
    }

    /// The open transactions, which may be up to a second old. The error says why they are unknown.
    pub fn read_transactions(&mut self) -> Result<&[OpenTransaction], String> {
        if self.transactions.is_none() {
            self.transactions = Some(Ok(Vec::new()));
            // A pause after a failure goes on.
            if self.error.is_none() {
                self.next = Instant::now();
            }
        }
        self.refresh();
        match (&self.error, &self.transactions) {
            (Some(why), _) | (None, Some(Err(why))) => Err(why.clone()),
            (None, Some(Ok(transactions))) => Ok(transactions),
            (None, None) => Ok(&[]),
        }
    }

    /// How the server's sessions are named.
    pub fn ids(&self) -> Ids {
        self.ids
    }

    fn refresh(&mut self) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + MIN_INTERVAL;
        self.error = None;
        if let Err(error) = self.query() {
            if let QueryError::Refused(_) = error {
                self.next = Instant::now() + PAUSE_AFTER_REFUSAL;
                self.refused = 0;
            }
            self.error = Some(error.to_string());
            self.waits.clear();
        }
        self.read = Instant::now();
    }

    /// Whether it reads row locks.
    pub fn has_row_locks(&self) -> bool {
        self.has_row_locks
    }

    /// The id of its connection, which tools leave out.
    pub fn connection(&self) -> Option<u64> {
        self.session.connection()
    }

    /// Why the last query failed.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Queries all that is read.
    fn query(&mut self) -> Result<(), QueryError> {
        if self.has_row_locks {
            self.query_waits()?;
        }
        self.query_transactions()?;
        Ok(())
    }

    fn query_waits(&mut self) -> Result<(), QueryError> {
        let queries: &[&str] = match (self.ids, self.session.has_old_tables()?) {
            (Ids::Threads, true) => &[OLD_BY_THREAD],
            (Ids::Connections, true) => &[OLD_BY_CONNECTION],
            (Ids::Threads, false) => &[BY_THREAD, BY_THREAD_WITHOUT_TIME],
            (Ids::Connections, false) => &[BY_CONNECTION],
        };
        let mut refusal = String::from("this server has no table of them");
        for query in queries.iter().skip(self.refused) {
            match self.session.rows(query) {
                Ok(answer) => {
                    self.set_waits(&answer);
                    return Ok(());
                }
                Err(QueryError::Refused(why)) => {
                    refusal = why;
                    self.refused += 1;
                }
                Err(lost) => return Err(lost),
            }
        }
        Err(QueryError::Refused(refusal))
    }

    fn set_waits(&mut self, answer: &[Vec<Cell>]) {
        let now = Instant::now();
        let waits = answer.iter().filter_map(|row| {
            let id = |at: usize| u64::try_from(integer(row.get(at)?)?).ok();
            let pair = (id(0)?, id(1)?);
            let first = *self.first_seen.entry(pair).or_insert(now);
            let seconds = id(2).map(Duration::from_secs);
            Some(RowLockWait {
                waiting: pair.0,
                blocking: pair.1,
                age: seconds.unwrap_or_default().max(now - first),
                requested_lock: text(row.get(3)?)?,
                blocking_lock: text(row.get(4)?)?,
            })
        });
        self.waits = one_row_per_pair(waits.collect());
        let pairs = self.waits.iter().map(|wait| (wait.waiting, wait.blocking));
        let pairs: HashSet<_> = pairs.collect();
        self.first_seen.retain(|pair, _| pairs.contains(pair));
    }

    /// Queries transactions once they were requested, until the server refuses it.
    fn query_transactions(&mut self) -> Result<(), QueryError> {
        let Some(Ok(_)) = self.transactions else {
            return Ok(());
        };
        let query = match self.ids {
            Ids::Threads => TRANSACTIONS_BY_THREAD,
            Ids::Connections => TRANSACTIONS_BY_CONNECTION,
        };
        self.transactions = Some(match self.session.rows(query) {
            Ok(answer) => Ok(answer
                .iter()
                .filter_map(|row| open_transaction(row))
                .collect()),
            Err(QueryError::Refused(why)) => Err(why),
            Err(lost) => return Err(lost),
        });
        Ok(())
    }
}

/// A wait has a row for each lock of the other session that it waits for. One that is granted is stored first: another
/// may be a request that queues, too.
fn one_row_per_pair(mut waits: Vec<RowLockWait>) -> Vec<RowLockWait> {
    let requested: HashSet<String> = (waits.iter())
        .map(|wait| wait.requested_lock.clone())
        .collect();
    waits.sort_by_key(|wait| {
        let is_requested = requested.contains(&wait.blocking_lock);
        (wait.waiting, wait.blocking, is_requested)
    });
    waits.dedup_by_key(|wait| (wait.waiting, wait.blocking));
    waits
}

fn open_transaction(row: &[Cell]) -> Option<OpenTransaction> {
    let number = |at: usize| u64::try_from(integer(row.get(at)?)?).ok();
    Some(OpenTransaction {
        session: number(0)?,
        // A clock that was set back makes it negative.
        age_s: number(1).unwrap_or(0),
        state: row.get(2).and_then(text).unwrap_or_default(),
    })
}

/// The queries of this module, so that tools can leave out their own statements.
pub fn queries() -> [&'static str; 8] {
    [
        TRANSACTIONS_BY_THREAD,
        TRANSACTIONS_BY_CONNECTION,
        OLD_BY_THREAD,
        OLD_BY_CONNECTION,
        BY_THREAD,
        BY_THREAD_WITHOUT_TIME,
        BY_CONNECTION,
        LIMIT,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 has a lock of the row, and waits for a stronger one, as 3 does.
    #[test]
    fn the_granted_lock_of_a_pair_is_stored() {
        let wait = |waiting, blocking, requested: &str, held: &str| RowLockWait {
            waiting,
            blocking,
            age: Duration::ZERO,
            requested_lock: requested.into(),
            blocking_lock: held.into(),
        };
        let waits = vec![
            wait(3, 2, "3x", "2x"),
            wait(3, 2, "3x", "2s"),
            wait(2, 1, "2x", "1s"),
        ];
        let stored = [waits[2].clone(), waits[1].clone()];
        assert_eq!(one_row_per_pair(waits), stored);
    }
}
