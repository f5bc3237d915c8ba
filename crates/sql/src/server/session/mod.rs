//! One client's conversation: its state.

mod command;
mod statement;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mysql_common::constants::{CapabilityFlags, StatusFlags};
use tare::digest::Digest;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::reply;

use super::prepared::Prepared;
use super::registry::Registration;
use super::shared::Shared;
use super::state::SessionState;
use super::tables::{Tables, Uses};
use crate::catalog::Catalog;
use crate::dialect::plan::Plan;
use crate::server::socket::{PacketReader, PacketWriter, Stream};
use crate::storage::gate::Pass;
use crate::storage::statement::StatementId;
use crate::storage::{Connection, Control, functions};

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
    pub wire: Vec<tare_mysql::wire::column::WireType>,
    /// Which version of the prepared statement they belong to; 0 is none yet.
    pub version: i32,
    /// Whether the values of the first row had a say.
    pub guessed: bool,
    /// Which tables the statement uses, once it is known.
    pub uses: Option<Box<Uses>>,
    /// Of its text, where performance_schema asks for it.
    pub digest: Option<Digest>,
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

/// A statement of PREPARE name FROM text.
#[derive(Debug)]
pub struct Named {
    /// Its text.
    pub text: String,
    /// The schemas' generation that it was last executed under.
    pub generation: u64,
    /// Its row of prepared_statements_instances.
    pub instance: tare::prepared::Prepared,
}

impl Named {
    /// Its text, to be executed under this generation of the schemas.
    pub fn used(&mut self, generation: u64) -> String {
        if self.generation != generation {
            self.generation = generation;
            self.instance.reprepared();
        }
        self.text.clone()
    }
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
    pub named: HashMap<String, Named>,
    /// The one of them that the statement at hand prepares (true) or executes.
    pub named_now: Option<(String, bool)>,
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
    /// @@transaction_read_only.
    pub reads_only: bool,
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
    /// The tables that it has open.
    pub tables: Tables,
    /// The session's thread in performance_schema, in pool-of-threads. Declared last: the
    /// session's end is recorded while it is there.
    pub thread: Option<tare::thread::Session>,
    /// @@long_query_time.
    pub long_query_time: Duration,
    /// What procedures keep from one call to the next.
    pub kept: super::call::Kept,
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

impl Drop for Session {
    /// The statements that a client leaves open end with it.
    fn drop(&mut self) {
        self.shared
            .counters
            .prepared
            .fetch_sub(self.prepared.len() as u64, Ordering::Relaxed);
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
            let connection = self.open_connection()?;
            self.connection = Some(connection);
            if !self.mode().strict {
                self.check_values()?;
            }
        }
        self.connection
            .as_mut()
            .ok_or_else(|| SqlError::new(1041, "Out of memory"))
    }

    /// A new connection to SQLite, with the functions of this session.
    pub fn open_connection(&self) -> Result<Connection> {
        let (databases, control) = (self.shared.databases.clone(), self.control.clone());
        Connection::open(databases, control, |db| {
            functions::register(db, &self.state)
        })
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

    /// USE.
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        if !self.shared.databases.exists(name) {
            return Err(SqlError::unknown_database(name));
        }
        if self.role == Role::Monitor && !tare_mysql::schema::is_system_schema(name) {
            return Err(self.database_denied(name));
        }
        self.empty_cache();
        self.state.set_database(Some(name.to_owned()));
        tare::thread::set_db(name);
        self.registration.set_database(Some(name));
        Ok(())
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
        self.kept = super::call::Kept::default();
        self.autocommit = true;
        self.next_read_only = false;
        self.reads_only = false;
        self.expects_write = false;
        self.state.reset();
    }
}

/// 1835: the packet is not what its command says.
pub fn malformed() -> SqlError {
    SqlError::new(1835, "Malformed communication packet.")
}
