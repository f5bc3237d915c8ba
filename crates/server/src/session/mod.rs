//! One client's conversation: its state, in parts.

mod client;
mod connections;
mod locks;
mod settings;
mod statements;
mod tables;
mod tally;
mod transaction;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mysql_common::constants::StatusFlags;

pub use self::client::Client;
pub use self::connections::Connections;
pub use self::locks::Locks;
pub use self::settings::Settings;
pub use self::statements::{
    CachedStatement, Columns, NamedStatement, PreparedStatement, PreparedUse, Statements,
};
pub use self::tables::{Rows, Tables, Uses, Work};
pub use self::tally::Tally;
pub use self::transaction::Transaction;
use super::accounts::Account;
use super::registry::Registration;
use super::shared::Shared;
use super::state::SessionState;
use tare_dialect::Mode;
use tare_mysql::account::Rights;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::reply;
use tare_query::show::names::check_access;
use tare_store::Control;
use tare_sys::procedures::ProcedureState;

/// What to do after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Read the next one.
    Continue,
    /// End the session.
    Quit,
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
    /// What the user may do.
    pub rights: Rights,
    /// Who is at the other end.
    pub client: Client,
    /// To SQLite.
    pub connections: Connections,
    /// What is prepared.
    pub statements: Statements,
    /// The transaction.
    pub transaction: Transaction,
    /// The databases that it may write to now.
    pub locks: Locks,
    /// Its limits.
    pub settings: Settings,
    /// What the statement that runs has done.
    pub tally: Tally,
    /// The tables that it has open.
    pub tables: Tables,
    /// Ends of attached processes that it was told of.
    pub reported_ends: u32,
    /// Functions of schema sys of which it was told that they have a native one's name.
    pub reported_namesakes: Vec<&'static str>,
    /// What procedures store between calls.
    pub procedures: ProcedureState,
    /// The session's thread in performance_schema, in pool-of-threads. Declared last: the
    /// session's end is recorded while it is there.
    pub thread: Option<tare::thread::Session>,
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
            .fetch_sub(self.statements.prepared.len() as u64, Ordering::Relaxed);
    }
}

impl Session {
    /// For a client that has yet to say who it is.
    pub fn new(
        shared: Arc<Shared>,
        state: Arc<SessionState>,
        control: Arc<Control>,
        registration: Registration,
        client: Client,
    ) -> Self {
        Self {
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
            tables: Tables::default(),
            reported_ends: 0,
            reported_namesakes: Vec::new(),
            procedures: ProcedureState::default(),
            thread: None,
        }
    }

    /// Answers with an OK packet.
    pub fn ok(&mut self) {
        let status = self.transaction.status();
        reply::ok(&mut self.client.writer, status, reply::Ok::default());
    }

    /// Answers with OK, and what the statement has done.
    pub fn done(&mut self, affected_rows: u64, last_insert_id: u64, more: bool) {
        let mut status = self.transaction.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, more);
        self.state.set_row_count(affected_rows as i64);
        let ok = reply::Ok {
            affected_rows,
            last_insert_id,
            warnings: self.state.warnings.count(),
            info: "",
        };
        reply::ok(&mut self.client.writer, status, ok);
    }

    /// Answers with an error packet.
    pub fn fail(&mut self, error: &SqlError) -> Next {
        reply::error(&mut self.client.writer, error, true);
        Next::Continue
    }

    /// A statement's result, with its error in the words of the series that is served.
    pub fn reword<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.worded(self.shared.config.series))
    }

    /// How @@sql_mode and the client have statements read.
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

    /// Whether a user may do more than read.
    pub fn is_root(&self) -> bool {
        self.rights.all
    }

    /// The client is who this account is. What it may do is what it may do now: a GRANT counts from the
    /// next login on.
    pub fn assume_account(&mut self, account: &Account) {
        self.rights = account.rights;
        self.state
            .set_matched(&account.user, &account.host, account.rights);
    }

    /// 1044: this account has no rights in a database.
    pub fn database_denied(&self, name: &str) -> SqlError {
        let (user, host) = self.state.user_host();
        SqlError::database_denied(&user, &host, name)
    }

    /// Lets go of the metadata locks, unless a transaction holds them.
    pub fn release(&mut self) {
        if !self.transaction.open {
            self.tables.release();
        }
    }
}

/// 1835: the packet is not what its command says.
pub fn malformed_packet() -> SqlError {
    SqlError::new(1835, "Malformed communication packet.")
}
