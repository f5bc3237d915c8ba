//! A connection of its own to the observed server, for questions about locks. The server may take a second to
//! answer one; then it is left alone for a while.

use std::time::{Duration, Instant};

use super::{QueryError, answer, listener, rows, text};
use crate::output::{Cell, Rows};
use crate::sql::{SqlSession, Target};

/// How long the server may take to answer. InnoDB reads its locks while it holds latches that all need.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a server is left alone that did not answer in time.
const PAUSE_AFTER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a server is left alone that refused the connection.
pub const PAUSE_AFTER_REFUSAL: Duration = Duration::from_secs(60);

/// The server itself ends a query that takes longer. The other product reads the comment as one.
pub const LIMIT: &str =
    "SET /*!50708 max_execution_time = 900 */ /*M!100101 max_statement_time = 0.9 */";

/// The server that is queried.
enum Server {
    /// A server that the user has named.
    Named(Box<Target>),
    /// The server of a segment, by its process.
    OfProcess(u32),
}

/// A row as texts by the names of columns, without NULLs.
pub type NamedRow = std::collections::HashMap<String, String>;

/// The connection.
pub struct LimitedSession {
    server: Server,
    session: Option<SqlSession>,
    connection: Option<u64>,
    version: String,
    /// Until when the server is left alone, and why.
    pause: Option<(Instant, String)>,
}

impl LimitedSession {
    /// For a server that the user has named.
    pub fn of_server(target: Target) -> Self {
        Self::new(Server::Named(Box::new(target)))
    }

    /// For the server of a segment.
    pub fn of_process(pid: u32) -> Self {
        Self::new(Server::OfProcess(pid))
    }

    fn new(server: Server) -> Self {
        Self {
            server,
            session: None,
            connection: None,
            version: String::new(),
            pause: None,
        }
    }

    /// The id of the connection, which tools leave out.
    pub fn connection(&self) -> Option<u64> {
        self.connection
    }

    /// Whether InnoDB's locks are in information_schema, as before MySQL 8 and in MariaDB. Connects.
    pub fn has_old_tables(&mut self) -> Result<bool, QueryError> {
        Ok(self.is_mariadb()? || self.major()? < 8)
    }

    /// Whether the server is MariaDB. Connects.
    pub fn is_mariadb(&mut self) -> Result<bool, QueryError> {
        self.connect()?;
        Ok(self.version.contains("MariaDB"))
    }

    /// The first number of the server's version. Connects.
    pub fn major(&mut self) -> Result<u32, QueryError> {
        self.connect()?;
        let major = self.version.split('.').next();
        // An unknown version is taken for a new one.
        Ok(major
            .and_then(|major| major.parse().ok())
            .unwrap_or(u32::MAX))
    }

    /// The rows of a statement.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, QueryError> {
        Ok(self.query(sql)?.rows)
    }

    /// The rows of a statement as texts by the names of columns, without NULLs.
    pub fn named_rows(&mut self, sql: &str) -> Result<Vec<NamedRow>, QueryError> {
        let Rows { columns, rows } = self.query(sql)?;
        let named = |row: Vec<Cell>| {
            let pairs = columns.iter().zip(&row);
            let pairs = pairs.filter_map(|(name, cell)| Some((name.clone(), text(cell)?)));
            pairs.collect()
        };
        Ok(rows.into_iter().map(named).collect())
    }

    fn query(&mut self, sql: &str) -> Result<Rows, QueryError> {
        match answer(self.connect()?, sql) {
            Err(QueryError::Lost(why)) => {
                self.session = None;
                Err(self.pause(why, PAUSE_AFTER_TIMEOUT))
            }
            answer => answer,
        }
    }

    fn pause(&mut self, why: String, pause: Duration) -> QueryError {
        self.pause = Some((Instant::now() + pause, why.clone()));
        QueryError::Lost(why)
    }

    fn connect(&mut self) -> Result<&mut SqlSession, QueryError> {
        if let Some((until, why)) = &self.pause
            && Instant::now() < *until
        {
            return Err(QueryError::Lost(why.clone()));
        }
        self.pause = None;
        let session = match self.session.take() {
            Some(session) => session,
            None => match self.open() {
                Ok(session) => session,
                Err(why) => return Err(self.pause(why, PAUSE_AFTER_REFUSAL)),
            },
        };
        Ok(self.session.insert(session))
    }

    fn open(&mut self) -> Result<SqlSession, String> {
        let mut session = match &self.server {
            Server::Named(target) => SqlSession::open_with_timeout(target, ANSWER_TIMEOUT)
                .map_err(|failure| failure.message)?,
            Server::OfProcess(pid) => listener::connect_to_listener(*pid, ANSWER_TIMEOUT)?,
        };
        let answer = rows(&mut session, "SELECT VERSION(), CONNECTION_ID()");
        let answer = answer.map_err(|error| error.to_string())?;
        let column = |at: usize| answer.first().and_then(|row| text(row.get(at)?));
        self.version = column(0).unwrap_or_default();
        self.connection = column(1).and_then(|id| id.parse().ok());
        // A server without these variables is limited by the timeout alone.
        let _ = rows(&mut session, LIMIT);
        Ok(session)
    }
}
