//! Row lock waits and open transactions, as InnoDB's own tables have them: on stock servers, and on servers behind
//! the door where Tare's engine does not have them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tare_image::Release;

use super::{QueryError, integer, listener, rows, text};
use crate::output::Cell;
use crate::ps::process;
use crate::sql::{SqlSession, Target};

/// The shortest interval between two queries.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// How long the server may take to answer. InnoDB reads its locks while it holds latches that all need.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a server is left alone that did not answer in time.
const PAUSE_AFTER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a server is left alone that refused the connection.
const PAUSE_AFTER_REFUSAL: Duration = Duration::from_secs(60);

/// The server itself ends a query that takes longer. The other product reads the comment as one.
const LIMIT: &str =
    "SET /*!50708 max_execution_time = 900 */ /*M!100101 max_statement_time = 0.9 */";

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
            " FROM information_schema.innodb_lock_waits AS w \
             JOIN information_schema.innodb_trx AS r ON r.trx_id = w.requesting_trx_id \
             JOIN information_schema.innodb_trx AS b ON b.trx_id = w.blocking_trx_id",
            $joins
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
    " FROM performance_schema.data_lock_waits AS w \
     LEFT JOIN information_schema.innodb_trx AS r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID"
);
/// For accounts without the privilege PROCESS.
const BY_THREAD_WITHOUT_TIME: &str = "SELECT REQUESTING_THREAD_ID, BLOCKING_THREAD_ID, NULL \
     FROM performance_schema.data_lock_waits";
const BY_CONNECTION: &str = concat!(
    "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id, ",
    waited!(),
    " FROM performance_schema.data_lock_waits AS w \
     JOIN information_schema.innodb_trx AS r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID \
     JOIN information_schema.innodb_trx AS b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID"
);

/// A session that waits for another's row lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLockWait {
    /// The session that waits.
    pub waiting: u64,
    /// The session that holds the lock.
    pub blocking: u64,
    /// For how long it has waited.
    pub age: Duration,
}

/// How waits and transactions name sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    Threads,
    Connections,
}

/// An open transaction.
#[cfg(feature = "terminal")]
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
#[cfg(feature = "terminal")]
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

#[cfg(feature = "terminal")]
const TRANSACTIONS_BY_THREAD: &str = transactions!(
    "t.THREAD_ID",
    " JOIN performance_schema.threads AS t ON t.PROCESSLIST_ID = x.trx_mysql_thread_id"
);
#[cfg(feature = "terminal")]
const TRANSACTIONS_BY_CONNECTION: &str = transactions!("x.trx_mysql_thread_id", "");

/// The server whose tables are read.
enum Server {
    /// A server that the user has named.
    Named(Box<Target>),
    /// The server of a segment, by its process.
    OfProcess(u32),
}

/// Reads InnoDB's tables on a connection of its own, at most once a second.
pub struct InnodbReader {
    server: Server,
    session: Option<SqlSession>,
    connection: Option<u64>,
    /// Whether row locks are read; otherwise Tare's engine has them.
    has_row_locks: bool,
    ids: Ids,
    /// Queries of waits that the server has not refused, the best first.
    queries: Vec<&'static str>,
    waits: Vec<RowLockWait>,
    /// The transactions or why they are unknown; `None` until they are requested.
    #[cfg(feature = "terminal")]
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
        Self::new(Server::Named(Box::new(target)), Ids::Threads, true)
    }

    /// For the server of a segment. Sessions are named by their connections. `None` if the process is none that has
    /// InnoDB.
    pub fn of_segment(pid: u32) -> Option<Self> {
        let program = process::server_release(pid)?;
        let has_row_locks = program != Release::Mysql97;
        Some(Self::new(
            Server::OfProcess(pid),
            Ids::Connections,
            has_row_locks,
        ))
    }

    fn new(server: Server, ids: Ids, has_row_locks: bool) -> Self {
        Self {
            server,
            session: None,
            connection: None,
            has_row_locks,
            ids,
            queries: Vec::new(),
            waits: Vec::new(),
            #[cfg(feature = "terminal")]
            transactions: None,
            first_seen: HashMap::new(),
            read: Instant::now(),
            next: Instant::now(),
            error: None,
        }
    }

    /// The waits, which may be up to a second old, and when they were read.
    pub fn read(&mut self) -> (&[RowLockWait], Instant) {
        self.refresh();
        (&self.waits, self.read)
    }

    /// The open transactions, which may be up to a second old. The error says why they are unknown.
    #[cfg(feature = "terminal")]
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
    #[cfg(feature = "terminal")]
    pub fn ids(&self) -> Ids {
        self.ids
    }

    fn refresh(&mut self) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + MIN_INTERVAL;
        self.error = None;
        if let Err((why, pause)) = self.query() {
            self.error = Some(why);
            self.next = Instant::now() + pause;
            self.waits.clear();
        }
        self.read = Instant::now();
    }

    /// Whether it reads row locks.
    #[cfg(any(feature = "history", feature = "terminal"))]
    pub fn has_row_locks(&self) -> bool {
        self.has_row_locks
    }

    /// The id of its connection, which tools leave out.
    pub fn connection(&self) -> Option<u64> {
        self.connection
    }

    /// Why the last query failed.
    #[cfg(feature = "terminal")]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Queries all that is read. The error has a reason and a pause.
    fn query(&mut self) -> Result<(), (String, Duration)> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.connect().map_err(|why| (why, PAUSE_AFTER_REFUSAL))?,
        };
        if self.has_row_locks {
            let answer = first_answer(&mut session, &mut self.queries)?;
            self.set_waits(&answer);
        }
        #[cfg(feature = "terminal")]
        self.query_transactions(&mut session)?;
        self.session = Some(session);
        Ok(())
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
            })
        });
        // A wait has a row for each lock that it waits for.
        let mut waits: Vec<_> = waits.collect();
        waits.sort_by_key(|wait| (wait.waiting, wait.blocking));
        waits.dedup_by_key(|wait| (wait.waiting, wait.blocking));
        let is_left = |pair: &(u64, u64)| {
            waits
                .iter()
                .any(|wait| (wait.waiting, wait.blocking) == *pair)
        };
        self.first_seen.retain(|pair, _| is_left(pair));
        self.waits = waits;
    }

    /// Queries transactions once they were requested, until the server refuses it.
    #[cfg(feature = "terminal")]
    fn query_transactions(&mut self, session: &mut SqlSession) -> Result<(), (String, Duration)> {
        let Some(Ok(_)) = self.transactions else {
            return Ok(());
        };
        let query = match self.ids {
            Ids::Threads => TRANSACTIONS_BY_THREAD,
            Ids::Connections => TRANSACTIONS_BY_CONNECTION,
        };
        self.transactions = Some(match rows(session, query) {
            Ok(answer) => Ok(answer
                .iter()
                .filter_map(|row| open_transaction(row))
                .collect()),
            Err(QueryError::Refused(why)) => Err(why),
            Err(QueryError::Lost(why)) => return Err((why, PAUSE_AFTER_TIMEOUT)),
        });
        Ok(())
    }

    fn connect(&mut self) -> Result<SqlSession, String> {
        let mut session = match &self.server {
            Server::Named(target) => SqlSession::open_with_timeout(target, ANSWER_TIMEOUT)
                .map_err(|failure| failure.message)?,
            Server::OfProcess(pid) => listener::connect_to_listener(*pid, ANSWER_TIMEOUT)?,
        };
        let answer = rows(&mut session, "SELECT VERSION(), CONNECTION_ID()");
        let answer = answer.map_err(|error| error.to_string())?;
        let column = |at: usize| answer.first().and_then(|row| text(row.get(at)?));
        let version = column(0).unwrap_or_default();
        self.connection = column(1).and_then(|id| id.parse().ok());
        let major = version
            .split('.')
            .next()
            .and_then(|major| major.parse::<u32>().ok());
        let is_old = version.contains("MariaDB") || major.is_some_and(|major| major < 8);
        self.queries = match (self.ids, is_old) {
            (Ids::Threads, true) => vec![OLD_BY_THREAD],
            (Ids::Connections, true) => vec![OLD_BY_CONNECTION],
            (Ids::Threads, false) => vec![BY_THREAD, BY_THREAD_WITHOUT_TIME],
            (Ids::Connections, false) => vec![BY_CONNECTION],
        };
        // A server without these variables is limited by the timeout alone.
        let _ = rows(&mut session, LIMIT);
        Ok(session)
    }
}

/// The answer to the first of these queries, without those that the server refuses.
fn first_answer(
    session: &mut SqlSession,
    queries: &mut Vec<&'static str>,
) -> Result<Vec<Vec<Cell>>, (String, Duration)> {
    let mut refusal = String::from("this server has no table of them");
    while let Some(query) = queries.first() {
        match rows(session, query) {
            Ok(answer) => return Ok(answer),
            Err(QueryError::Refused(why)) => {
                refusal = why;
                queries.remove(0);
            }
            Err(QueryError::Lost(why)) => return Err((why, PAUSE_AFTER_TIMEOUT)),
        }
    }
    Err((refusal, PAUSE_AFTER_REFUSAL))
}

#[cfg(feature = "terminal")]
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
#[cfg(feature = "terminal")]
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
