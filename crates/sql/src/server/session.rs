//! One client's conversation: its state, and the commands it sends.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mysql_common::constants::{CapabilityFlags, StatusFlags};

use super::error::{Result, SqlError};
use super::points;
use super::prepared::Prepared;
use super::registry::Registration;
use super::shared::Shared;
use super::variables::SessionState;
use tare::digest::Digest;

use crate::catalog::Catalog;
use crate::dialect::plan::Plan;
use crate::dialect::split;
use crate::storage::gate::Pass;
use crate::storage::statement::StatementId;
use crate::storage::{Connection, Control};
use crate::wire::channel::{PacketReader, PacketWriter, ReadError, Stream};
use crate::wire::reply;

/// Statements of COM_QUERY that a session keeps translated and prepared.
const CACHE: usize = 256;
/// Longer texts than this are bulk loads: they never come again.
const CACHEABLE: usize = 4096;

/// The commands' codes.
mod com {
    use mysql_common::constants::Command;

    pub const DEBUG: u8 = Command::COM_DEBUG as u8;
    pub const FIELD_LIST: u8 = Command::COM_FIELD_LIST as u8;
    pub const INIT_DB: u8 = Command::COM_INIT_DB as u8;
    pub const PING: u8 = Command::COM_PING as u8;
    pub const PROCESS_INFO: u8 = Command::COM_PROCESS_INFO as u8;
    pub const PROCESS_KILL: u8 = Command::COM_PROCESS_KILL as u8;
    pub const QUERY: u8 = Command::COM_QUERY as u8;
    pub const QUIT: u8 = Command::COM_QUIT as u8;
    pub const RESET_CONNECTION: u8 = Command::COM_RESET_CONNECTION as u8;
    pub const SET_OPTION: u8 = Command::COM_SET_OPTION as u8;
    pub const STATISTICS: u8 = Command::COM_STATISTICS as u8;
    pub const STMT_CLOSE: u8 = Command::COM_STMT_CLOSE as u8;
    pub const STMT_EXECUTE: u8 = Command::COM_STMT_EXECUTE as u8;
    pub const STMT_PREPARE: u8 = Command::COM_STMT_PREPARE as u8;
    pub const STMT_RESET: u8 = Command::COM_STMT_RESET as u8;
    pub const STMT_SEND_LONG_DATA: u8 = Command::COM_STMT_SEND_LONG_DATA as u8;
    pub const CHANGE_USER: u8 = Command::COM_CHANGE_USER as u8;
}

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Root,
    /// Read system schemas.
    Monitor,
}

/// A statement of COM_QUERY that may come again.
#[derive(Debug)]
pub struct Cached {
    /// Of its text.
    pub digest: Option<Digest>,
    /// How it is run.
    pub plan: Arc<Plan>,
    /// Prepared, when it is rows or a change.
    pub statement: Option<StatementId>,
    /// The result's column definitions as they go over the wire.
    pub columns: Columns,
}

/// Column definitions, kept from one execution to the next.
#[derive(Debug, Default)]
pub struct Columns {
    /// The packets, but for their sequence numbers.
    pub packets: Vec<u8>,
    /// How each column's values are written.
    pub wire: Vec<crate::wire::column::WireType>,
    /// Which version of the prepared statement they belong to; 0 is none yet.
    pub version: i32,
    /// Whether the values of the first row had a say.
    pub guessed: bool,
}

/// What a statement has done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Rows sent to the client.
    pub sent: u64,
    /// Rows looked at.
    pub examined: u64,
    /// Rows changed.
    pub affected: u64,
    /// The first table was scanned from end to end.
    pub scanned: bool,
    /// Sorts.
    pub sorts: u64,
}

/// What to do after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Read the next one.
    Continue,
    /// End the session.
    Quit,
}

/// A transaction's state.
#[derive(Debug, Default)]
pub struct Transaction {
    /// BEGIN was said (or implied by autocommit=0).
    pub open: bool,
    /// READ ONLY.
    pub read_only: bool,
    /// Something was written.
    pub wrote: bool,
    /// The databases that may be written to.
    pub passes: Vec<(String, Pass)>,
    /// Its event.
    pub point: Option<tare::transaction::Transaction>,
}

/// A session.
pub struct Session {
    /// What all sessions share.
    pub shared: Arc<Shared>,
    /// What SQL functions see of the session.
    pub state: Arc<SessionState>,
    /// What can stop it.
    pub control: Arc<Control>,
    /// Its entry in the process list.
    pub registration: Registration,
    /// From the client.
    /// It is taken out while the packet that lies in it is answered.
    pub reader: Option<PacketReader>,
    /// To the client.
    pub writer: PacketWriter,
    /// The socket.
    pub stream: Arc<Stream>,
    /// What client and server have agreed on.
    pub capabilities: CapabilityFlags,
    /// What the user may do.
    pub role: Role,
    /// Opened by the first statement that needs it.
    pub connection: Option<Connection>,
    /// COM_STMT_PREPARE.
    pub prepared: HashMap<u32, Prepared>,
    /// PREPARE name FROM text.
    pub named: HashMap<String, String>,
    /// The last number given to a prepared statement.
    pub last_statement: u32,
    /// COM_QUERY's statements.
    pub cache: HashMap<Box<str>, Cached>,
    /// The transaction.
    pub transaction: Transaction,
    /// @@autocommit.
    pub autocommit: bool,
    /// The last transaction read first and wrote then: the next one is let in as a writer.
    pub expects_write: bool,
    /// SET TRANSACTION READ ONLY, for the next one.
    pub next_read_only: bool,
    /// @@max_execution_time.
    pub max_execution_time: Duration,
    /// @@innodb_lock_wait_timeout.
    pub lock_wait_timeout: Duration,
    /// The system schemas, once a statement has named one: in a connection of their own, so that
    /// a transaction's rollback does not touch them.
    pub system: Option<(Connection, Catalog)>,
    /// The system schemas in the session's own connection, once a statement has joined them with
    /// a database's tables.
    pub catalog: Option<Catalog>,
    /// Whether the pool's poller knows the socket.
    pub polled: bool,
    /// What the statement that runs has done.
    pub tally: Tally,
    /// The session's thread in performance_schema, in pool-of-threads. Declared last: the
    /// session's end is recorded while it is there.
    pub thread: Option<tare::thread::Session>,
    /// LOCK TABLES ... WRITE.
    pub table_locks: Vec<(String, Pass)>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.state.id)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// The status flags of an answer.
    pub fn status(&self) -> StatusFlags {
        let mut status = StatusFlags::empty();
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, self.transaction.open);
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, self.autocommit);
        status
    }

    /// Whether a next command has been read already.
    pub fn has_buffered(&self) -> bool {
        self.reader.as_ref().is_some_and(PacketReader::has_buffered)
    }

    /// Whether the client takes OK packets for the end of a result.
    pub fn deprecates_eof(&self) -> bool {
        self.capabilities
            .contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    /// The connection to SQLite.
    pub fn connection(&mut self) -> Result<&mut Connection> {
        if self.connection.is_none() {
            let connection = Connection::open(
                self.shared.databases.clone(),
                self.control.clone(),
                &self.state,
            )?;
            self.connection = Some(connection);
        }
        self.connection
            .as_mut()
            .ok_or_else(|| SqlError::new(1041, "Out of memory"))
    }

    /// Reads one command and answers it.
    pub fn turn(&mut self) -> Next {
        let Some(mut reader) = self.reader.take() else {
            return Next::Quit;
        };
        let next = match reader.read(0) {
            Ok((packet, sequence)) => {
                self.writer.set_sequence(sequence);
                self.control.forget();
                match packet.split_first() {
                    Some((&code, body)) if code == com::CHANGE_USER => {
                        // More packets may follow: this one is copied out of the buffer.
                        let body = body.to_vec();
                        self.reader = Some(reader);
                        self.com_change_user(&body)
                    }
                    _ => {
                        let next = self.command(packet);
                        self.reader = Some(reader);
                        next
                    }
                }
            }
            Err(error) => return self.refuse(error, reader),
        };
        if self.control.is_gone() {
            return Next::Quit;
        }
        match self.writer.flush() {
            Ok(()) if self.control.is_killed() => Next::Quit,
            Ok(()) => next,
            Err(_) => Next::Quit,
        }
    }

    /// A packet that could not be read ends the session; the client is told why if it can be.
    fn refuse(&mut self, error: ReadError, mut reader: PacketReader) -> Next {
        let told = match error {
            ReadError::TooLarge(_) => {
                SqlError::new(1153, "Got a packet bigger than 'max_allowed_packet' bytes")
            }
            ReadError::OutOfOrder { .. } => SqlError::new(1156, "Got packets out of order"),
            ReadError::Closed => return Next::Quit,
            ReadError::Io(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                SqlError::new(
                    4031,
                    "The client was disconnected by the server because of inactivity.",
                )
            }
            ReadError::Io(_) => {
                if self.control.is_killed() {
                    SqlError::new(1053, "Server shutdown in progress")
                } else {
                    return Next::Quit;
                }
            }
        };
        self.writer.set_sequence(1);
        reply::error(&mut self.writer, &told, true);
        if self.writer.flush().is_ok() && told.code == 1153 {
            // A client that is still sending would see a reset instead of the error.
            self.stream.shutdown(std::net::Shutdown::Write);
            reader.drain(Duration::from_millis(500), 512 << 20);
        }
        Next::Quit
    }

    fn command(&mut self, packet: &[u8]) -> Next {
        let Some((&code, body)) = packet.split_first() else {
            return self.fail(&SqlError::new(1047, "Unknown command"));
        };
        let class = match code {
            com::QUERY | com::STMT_EXECUTE | com::STMT_PREPARE => None,
            com::STMT_CLOSE => Some(&points::COM_CLOSE_STMT),
            com::STMT_SEND_LONG_DATA => Some(&points::COM_LONG_DATA),
            com::STMT_RESET => Some(&points::COM_RESET_STMT),
            com::QUIT => Some(&points::COM_QUIT),
            com::PING => Some(&points::COM_PING),
            com::INIT_DB => Some(&points::COM_INIT_DB),
            com::FIELD_LIST => Some(&points::COM_FIELD_LIST),
            com::STATISTICS => Some(&points::COM_STATISTICS),
            com::RESET_CONNECTION => Some(&points::COM_RESET_CONNECTION),
            com::SET_OPTION => Some(&points::COM_SET_OPTION),
            com::DEBUG => Some(&points::COM_DEBUG),
            com::PROCESS_INFO | com::PROCESS_KILL => None,
            _ => Some(&points::COM_ERROR),
        };
        let _point = class.map(tare::statement::start);
        let result = match code {
            com::QUERY => self.com_query(body),
            com::STMT_EXECUTE => self.com_execute(body),
            com::STMT_PREPARE => self.com_prepare(body),
            com::STMT_CLOSE => {
                // Has no answer.
                self.com_close(body);
                return Next::Continue;
            }
            com::STMT_SEND_LONG_DATA => {
                // Has no answer either; COM_STMT_EXECUTE will tell what went wrong.
                self.com_long_data(body);
                return Next::Continue;
            }
            com::STMT_RESET => self.com_reset_statement(body),
            com::QUIT => return Next::Quit,
            com::PING => {
                self.ok();
                Ok(())
            }
            com::INIT_DB => self.com_init_db(body),
            com::FIELD_LIST => self.com_field_list(body),
            com::STATISTICS => {
                let text = self.shared.statistics();
                self.writer.begin().extend_from_slice(text.as_bytes());
                self.writer.end();
                Ok(())
            }
            com::PROCESS_INFO => self.text_query("SHOW PROCESSLIST"),
            com::PROCESS_KILL => match body.try_into().map(u32::from_le_bytes) {
                Ok(id) => self.text_query(&format!("KILL {id}")),
                Err(_) => Err(malformed()),
            },
            com::RESET_CONNECTION => {
                self.reset();
                self.ok();
                Ok(())
            }
            com::SET_OPTION => match body.first() {
                Some(&option @ (0 | 1)) => {
                    self.capabilities
                        .set(CapabilityFlags::CLIENT_MULTI_STATEMENTS, option == 0);
                    let status = self.status();
                    reply::eof(&mut self.writer, status, 0);
                    Ok(())
                }
                _ => Err(malformed()),
            },
            com::DEBUG => {
                let status = self.status();
                reply::eof(&mut self.writer, status, 0);
                Ok(())
            }
            _ => Err(SqlError::new(1047, "Unknown command")),
        };
        match result {
            Ok(()) => Next::Continue,
            Err(error) => self.fail(&error),
        }
    }

    /// Answers with an OK packet.
    pub fn ok(&mut self) {
        let status = self.status();
        reply::ok(&mut self.writer, status, reply::Ok::default());
    }

    /// Answers with an error packet.
    pub fn fail(&mut self, error: &SqlError) -> Next {
        reply::error(&mut self.writer, error, true);
        Next::Continue
    }

    fn com_query(&mut self, body: &[u8]) -> Result<()> {
        let text = split::text(body)
            .ok_or_else(|| SqlError::new(1300, "Invalid utf8mb4 character string"))?;
        self.text_query(&text)
    }

    /// Runs the statements of a text, one after the other, up to the first that fails.
    pub fn text_query(&mut self, text: &str) -> Result<()> {
        let mut rest = text.trim_end_matches(|c: char| c.is_whitespace() || c == ';' || c == '\0');
        loop {
            // Most texts have no `;` at all.
            let (end, next) = if rest.contains(';') {
                split::first(rest)
            } else {
                (rest.len(), rest.len())
            };
            let (one, after) = (&rest[..end], &rest[next..]);
            let more = !split::is_blank(after);
            if more
                && !self
                    .capabilities
                    .contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
            {
                return Err(crate::dialect::near(
                    after.trim().chars().take(40).collect::<String>(),
                ));
            }
            self.statement(one, more)?;
            if !more {
                return Ok(());
            }
            rest = after;
        }
    }

    fn statement(&mut self, text: &str, more: bool) -> Result<()> {
        let point = tare::statement::start(&points::QUERY);
        tare::stage::set(&points::STARTING);
        tare::thread::set_command(tare::Command::Query);
        self.registration.begin_query(text);
        self.tally = Tally::default();
        let result = self.cached(text, more, &point);
        self.record(&point, &result);
        self.registration.end_query();
        tare::thread::set_command(tare::Command::Sleep);
        result
    }

    /// Tells a statement's event how it went, and the session how it failed.
    pub fn record(&mut self, point: &tare::statement::Statement, result: &Result<()>) {
        if let Err(error) = result {
            self.state.clear_warnings();
            self.state.warn("Error", error.code, error.message.clone());
            self.state.set_row_count(-1);
            point.error(error.code.into(), error.state, &error.message);
        }
        if !point.is_recorded() {
            return;
        }
        let tally = self.tally;
        for (counter, n) in [
            (tare::Counter::RowsSent, tally.sent),
            (tare::Counter::RowsExamined, tally.examined),
            (tare::Counter::RowsAffected, tally.affected),
            (tare::Counter::Warnings, self.state.warning_count().into()),
            (tare::Counter::SelectScan, tally.scanned.into()),
            (tare::Counter::SortScan, tally.sorts),
        ] {
            if n != 0 {
                point.set(counter, n);
            }
        }
    }

    fn cached(&mut self, text: &str, more: bool, point: &tare::statement::Statement) -> Result<()> {
        let generation = self.shared.databases.generation();
        let mut cached = match self.cache.remove(text) {
            Some(mut cached) if cached.plan.generation == generation => {
                if point.is_recorded() {
                    let digest = cached.digest.get_or_insert_with(|| Digest::of(text));
                    point.prepared(text, digest);
                }
                cached
            }
            old => {
                // Its text is known even if nothing else will be.
                let digest = point.is_recorded().then(|| Digest::of(text));
                if let Some(digest) = &digest {
                    point.prepared(text, digest);
                }
                if let Some(statement) = old.and_then(|c| c.statement) {
                    self.close_statement(statement);
                }
                let plan = self.translate(text, generation)?;
                Cached {
                    digest,
                    plan: Arc::new(plan),
                    statement: None,
                    columns: Columns::default(),
                }
            }
        };
        if cached.plan.params > 0 {
            return Err(crate::dialect::near("?"));
        }
        let plan = cached.plan.clone();
        point.refine(plan.class);
        let result = self.run(
            &plan,
            &mut cached.statement,
            &mut cached.columns,
            &mut |_| Ok(()),
            more,
            false,
        );
        let keep = result.is_ok()
            && text.len() <= CACHEABLE
            && matches!(
                plan.action,
                crate::dialect::plan::Action::Rows(_)
                    | crate::dialect::plan::Action::Write(..)
                    | crate::dialect::plan::Action::Begin { .. }
                    | crate::dialect::plan::Action::Commit { .. }
            );
        if keep {
            if self.cache.len() >= CACHE {
                self.empty_cache();
            }
            self.cache.insert(text.into(), cached);
        } else if let Some(statement) = cached.statement {
            self.close_statement(statement);
        }
        result
    }

    /// Forgets COM_QUERY's statements, as when the default database changes.
    pub fn empty_cache(&mut self) {
        for (_, cached) in std::mem::take(&mut self.cache) {
            if let Some(statement) = cached.statement {
                self.close_statement(statement);
            }
        }
    }

    /// Finalizes a prepared statement.
    pub fn close_statement(&mut self, id: StatementId) {
        let connection = if id.is_system() {
            self.system.as_mut().map(|(connection, _)| connection)
        } else {
            self.connection.as_mut()
        };
        if let Some(connection) = connection {
            connection.close(id);
        }
    }

    /// Reads and rewrites a statement.
    pub fn translate(&mut self, text: &str, generation: u64) -> Result<Plan> {
        let database = self.state.database();
        crate::dialect::translate::translate(
            text,
            database.as_deref(),
            self.connection()?,
            generation,
        )
    }

    fn com_init_db(&mut self, body: &[u8]) -> Result<()> {
        let name = std::str::from_utf8(body).map_err(|_| malformed())?;
        self.use_database(name)?;
        self.ok();
        Ok(())
    }

    /// USE.
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        if !self.shared.databases.exists(name) {
            return Err(SqlError::unknown_database(name));
        }
        if self.role == Role::Monitor && !crate::storage::databases::is_system_schema(name) {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1044,
                format!("Access denied for user '{user}'@'{host}' to database '{name}'"),
            ));
        }
        self.empty_cache();
        self.state.set_database(Some(name.to_owned()));
        tare::thread::set_db(name);
        self.registration.set_database(Some(name));
        Ok(())
    }

    fn com_field_list(&mut self, body: &[u8]) -> Result<()> {
        let end = body.iter().position(|&b| b == 0).ok_or_else(malformed)?;
        let table = std::str::from_utf8(&body[..end]).map_err(|_| malformed())?;
        self.field_list(table)
    }

    /// COM_RESET_CONNECTION: as new, but for the account and the database.
    pub fn reset(&mut self) {
        self.roll_back();
        self.empty_cache();
        let ids: Vec<u32> = self.prepared.keys().copied().collect();
        for id in ids {
            self.close_prepared(id);
        }
        self.named.clear();
        self.table_locks.clear();
        self.autocommit = true;
        self.expects_write = false;
        self.state.reset();
    }

    fn com_change_user(&mut self, body: &[u8]) -> Next {
        self.reset();
        match super::auth::change_user(self, body) {
            Ok(()) => {
                self.ok();
                Next::Continue
            }
            Err(error) => {
                self.fail(&error);
                Next::Quit
            }
        }
    }
}

/// 1835: the packet is not what its command says.
pub fn malformed() -> SqlError {
    SqlError::new(1835, "Malformed communication packet.")
}
