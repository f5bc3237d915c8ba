//! Who waits for whose row lock, as InnoDB's own tables have it: on stock servers, and on servers behind the door
//! whose row locks Tare's engine cannot read.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::{QueryError, integer, listener, rows, text};
use tare_image::Release;

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

/// How waits name sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    Threads,
    Connections,
}

/// The server whose row locks are read.
enum Server {
    /// A server that the user has named.
    Named(Box<Target>),
    /// The server of a segment, by its process.
    OfProcess(u32),
}

/// Reads row locks on a connection of its own, at most once a second.
pub struct RowLockReader {
    server: Server,
    session: Option<SqlSession>,
    connection: Option<u64>,
    /// Queries that the server has not refused, the best first.
    queries: Vec<&'static str>,
    waits: Vec<RowLockWait>,
    /// When each pair was first seen, for servers that do not report times.
    first_seen: HashMap<(u64, u64), Instant>,
    read: Instant,
    next: Instant,
    error: Option<String>,
}

impl RowLockReader {
    /// For a server. Sessions are named by THREAD_ID.
    pub fn of_server(target: Target) -> Self {
        Self::new(Server::Named(Box::new(target)))
    }

    /// For the server of a segment. Sessions are named by their connections. `None` if the process is none whose
    /// row locks InnoDB has, or its segment has them.
    pub fn of_segment(pid: u32) -> Option<Self> {
        let program = process::server_release(pid)?;
        (program != Release::Mysql97).then(|| Self::new(Server::OfProcess(pid)))
    }

    fn new(server: Server) -> Self {
        Self {
            server,
            session: None,
            connection: None,
            queries: Vec::new(),
            waits: Vec::new(),
            first_seen: HashMap::new(),
            read: Instant::now(),
            next: Instant::now(),
            error: None,
        }
    }

    /// The waits, which may be up to a second old, and when they were read.
    pub fn read(&mut self) -> (&[RowLockWait], Instant) {
        if Instant::now() >= self.next {
            self.next = Instant::now() + MIN_INTERVAL;
            self.error = None;
            if let Err((why, pause)) = self.query() {
                self.error = Some(why);
                self.next = Instant::now() + pause;
                self.waits.clear();
            }
            self.read = Instant::now();
        }
        (&self.waits, self.read)
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

    /// Queries the waits. The error has a reason and a pause.
    fn query(&mut self) -> Result<(), (String, Duration)> {
        let session = match self.session.take() {
            Some(session) => self.session.insert(session),
            None => {
                let session = self.connect().map_err(|why| (why, PAUSE_AFTER_REFUSAL))?;
                self.session.insert(session)
            }
        };
        let mut refusal = String::from("this server has no table of them");
        while let Some(query) = self.queries.first() {
            match rows(session, query) {
                Ok(answer) => {
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
                    return Ok(());
                }
                Err(QueryError::Refused(why)) => {
                    refusal = why;
                    self.queries.remove(0);
                }
                Err(QueryError::Lost(why)) => {
                    self.session = None;
                    return Err((why, PAUSE_AFTER_TIMEOUT));
                }
            }
        }
        self.session = None;
        Err((refusal, PAUSE_AFTER_REFUSAL))
    }

    fn connect(&mut self) -> Result<SqlSession, String> {
        let (mut session, ids) = match &self.server {
            Server::Named(target) => {
                let session = SqlSession::open_with_timeout(target, ANSWER_TIMEOUT);
                (session.map_err(|failure| failure.message)?, Ids::Threads)
            }
            Server::OfProcess(pid) => (
                listener::connect_to_listener(*pid, ANSWER_TIMEOUT)?,
                Ids::Connections,
            ),
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
        self.queries = match (ids, is_old) {
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

/// The queries of this module, so that tools can leave out their own statements.
#[cfg(feature = "terminal")]
pub fn queries() -> [&'static str; 6] {
    [
        OLD_BY_THREAD,
        OLD_BY_CONNECTION,
        BY_THREAD,
        BY_THREAD_WITHOUT_TIME,
        BY_CONNECTION,
        LIMIT,
    ]
}
