//! A session, as a struct of its parts.

mod client;
mod connections;
mod locks;
mod settings;
mod statements;
mod tables;
mod tally;
mod trace;
mod transaction;

use std::fmt;
use std::sync::Arc;

use mysql_common::constants::StatusFlags;

pub use self::client::Client;
pub use self::connections::Connections;
pub use self::locks::Locks;
pub use self::settings::Settings;
pub use self::statements::{
    CachedStatement, Columns, NamedStatement, PreparedCount, PreparedStatement, PreparedUse,
    Statements,
};
pub use self::tables::{Rows, Tables, Uses, Work};
pub use self::tally::Tally;
pub use self::trace::RequestTrace;
pub use self::transaction::Transaction;
use super::accounts::Account;
use super::registry::Registration;
use super::shared::Shared;
use super::state::SessionState;
use tare_dialect::Mode;
use tare_mysql::account::Rights;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::memory::{SESSION_ERRORS, SessionMemory};
use tare_mysql::wire::reply;
use tare_query::show::names::check_access;
use tare_store::Control;
use tare_sys::procedures::ProcedureState;

/// What follows a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Read the next command.
    Continue,
    /// End the session.
    Quit,
}

/// A session.
pub struct Session {
    /// The state that all sessions share.
    pub shared: Arc<Shared>,
    /// The state that SQL functions and other sessions read.
    pub state: Arc<SessionState>,
    /// Interrupts its statements, and ends it.
    pub control: Arc<Control>,
    /// Its entry in the process list.
    pub registration: Registration,
    /// The user's rights.
    pub rights: Rights,
    /// Its client.
    pub client: Client,
    /// The memory that it holds. It is taken out while a command is served.
    pub memory: Option<SessionMemory>,
    /// Its connections to SQLite.
    pub connections: Connections,
    /// Its prepared and cached statements.
    pub statements: Statements,
    /// Its transaction.
    pub transaction: Transaction,
    /// The write locks that it holds.
    pub locks: Locks,
    /// Its limits.
    pub settings: Settings,
    /// The work of the current statement.
    pub tally: Tally,
    /// The trace of the current request.
    pub trace: RequestTrace,
    /// Its open tables.
    pub tables: Tables,
    /// The number of ended attached processes that it was warned of.
    pub reported_ends: u32,
    /// Functions of schema sys for which it was noted that a native function has their name.
    pub reported_namesakes: Vec<&'static str>,
    /// What procedures store between calls.
    pub procedures: ProcedureState,
    /// The session's thread in performance_schema, in pool-of-threads. Declared last, so that the
    /// session's end is recorded before it is dropped.
    pub thread: Option<tare::thread::ThreadSession>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.state.id)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// A session for a client that has not logged in.
    pub fn new(
        shared: Arc<Shared>,
        state: Arc<SessionState>,
        control: Arc<Control>,
        registration: Registration,
        client: Client,
    ) -> Self {
        Self {
            memory: Some(SessionMemory::new(shared.memory.clone())),
            connections: Connections::new(shared.clone(), state.clone(), control.clone()),
            transaction: Transaction::of(&state),
            shared,
            state,
            control,
            registration,
            rights: Rights::NONE,
            client,
            statements: Statements::default(),
            locks: Locks::default(),
            settings: Settings::default(),
            tally: Tally::default(),
            trace: RequestTrace::default(),
            tables: Tables::default(),
            reported_ends: 0,
            reported_namesakes: Vec::new(),
            procedures: ProcedureState::default(),
            thread: None,
        }
    }

    /// Answers with an OK packet.
    pub fn send_ok(&mut self) {
        let status = self.transaction.status();
        reply::ok(&mut self.client.writer, status, reply::Ok::default());
    }

    /// Answers with OK and the statement's counts.
    pub fn send_counts(&mut self, affected_rows: u64, last_insert_id: u64, more: bool) {
        self.send_info(affected_rows, last_insert_id, "", more);
    }

    /// Answers with OK, the statement's counts, and MySQL's words about them.
    pub fn send_info(&mut self, affected_rows: u64, last_insert_id: u64, info: &str, more: bool) {
        let mut status = self.transaction.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, more);
        self.state.set_row_count(affected_rows as i64);
        let ok = reply::Ok {
            affected_rows,
            last_insert_id,
            warnings: self.state.warnings.count(),
            info,
        };
        reply::ok(&mut self.client.writer, status, ok);
    }

    /// Answers with an error packet. The session ends after some errors.
    pub fn send_error(&mut self, error: &SqlError) -> Next {
        reply::error(&mut self.client.writer, error, true);
        match SESSION_ERRORS.contains(&error.code) {
            true => Next::Quit,
            false => Next::Continue,
        }
    }

    /// Words a statement's error as the served series does.
    pub fn reword<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.worded(self.shared.config.series))
    }

    /// The generation of what the plan of a text depends on: the schemas, and the types of the user variables if it
    /// may name one.
    pub fn generation(&self, text: &str) -> u64 {
        generation(&self.shared, &self.state, text)
    }

    /// The mode that statements are translated in, by @@sql_mode and the client.
    pub fn mode(&self) -> Mode {
        let mut mode = Mode::of(&self.state.text("sql_mode").unwrap_or_default());
        mode.series = self.shared.config.series;
        mode.zoned = !self.state.zone().is_utc();
        mode.found_rows = self
            .client
            .capabilities
            .contains(mysql_common::constants::CapabilityFlags::CLIENT_FOUND_ROWS);
        mode
    }

    /// USE.
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        check_access(&*self.connections.context, name)?;
        self.statements.empty_cache(&mut self.connections);
        self.state.set_database(Some(name.to_owned()));
        tare::thread::set_db(name);
        self.registration.set_database(Some(name));
        Ok(())
    }

    /// Whether the user has all rights.
    pub fn is_root(&self) -> bool {
        self.rights.all
    }

    /// Gives the session an account's rights. A later GRANT takes effect at the next login.
    pub fn assume_account(&mut self, account: &Account) {
        self.rights = account.rights;
        self.state
            .set_current_account(&account.user, &account.host, account.rights);
    }

    /// Error 1044: the account has no rights in a database.
    pub fn database_denied(&self, name: &str) -> SqlError {
        let (user, host) = self.state.account();
        SqlError::database_denied(&user, &host, name)
    }

    /// Releases the metadata locks, unless a transaction holds them.
    pub fn release(&mut self) {
        if !self.transaction.open {
            self.tables.release();
        }
    }
}

/// See [`Session::generation`].
pub fn generation(shared: &Shared, state: &SessionState, text: &str) -> u64 {
    let schemas = shared.databases.generation();
    match text.contains('@') {
        true => schemas.wrapping_add(state.user_variables.types_version() << 40),
        false => schemas,
    }
}
