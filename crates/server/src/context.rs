//! A session as the evaluation of a statement reads it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::Value;
use tare::digest::hash_and_text;
use tare_functions::{Counted, EvaluationContext};
use tare_mysql::account::{Account, Rights};
use tare_mysql::date::Zone;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;
use tare_mysql::session::{SessionFacts, Warning};
use tare_mysql::table::{Figures, TableDef};
use tare_query::system::register;
use tare_sys::Sys;

use crate::instruments;
use crate::shared::Shared;
use crate::state::SessionState;

/// The server and the state of one session: what SQL functions, the tables of the system schemas, SHOW and
/// procedures read of them.
#[derive(Debug, Clone)]
pub struct SessionContext {
    /// What all sessions share.
    pub shared: Arc<Shared>,
    /// The session's own state.
    pub state: Arc<SessionState>,
}

impl SessionFacts for SessionContext {
    fn zone(&self) -> Zone {
        self.state.zone()
    }

    fn series(&self) -> Series {
        self.shared.config.series
    }

    fn id(&self) -> u64 {
        self.state.id
    }

    fn account(&self) -> (String, String) {
        self.state.account()
    }

    fn current_account(&self) -> (String, String) {
        self.state.current_account()
    }

    fn rights(&self) -> Rights {
        self.state.rights()
    }

    fn accounts(&self) -> Vec<Account> {
        let public = |account: crate::accounts::Account| Account {
            user: account.user,
            host: account.host,
            plugin: account.plugin,
            rights: account.rights,
            ssl: account.ssl,
            locked: account.locked,
        };
        let mut all: Vec<_> = self.shared.accounts.all().into_iter().map(public).collect();
        if !self.rights().may_read() {
            let own = self.current_account();
            all.retain(|account| (&account.user, &account.host) == (&own.0, &own.1));
        }
        all
    }

    fn database(&self) -> Option<String> {
        self.state.database()
    }

    fn has_database(&self, name: &str) -> bool {
        self.shared.databases.exists(name)
    }

    fn databases(&self) -> Vec<String> {
        match self.rights().may_read_data() {
            true => self.shared.databases.names(),
            false => Vec::new(),
        }
    }

    fn is_open(&self, database: &str) -> bool {
        self.shared.databases.cached_definitions(database).is_some()
    }

    fn tables(&self, database: &str) -> Vec<Arc<TableDef>> {
        let context: Arc<dyn EvaluationContext> = Arc::new(self.clone());
        let prepare = |db: &rusqlite::Connection| register(db, &context, Sys::of(self.series()));
        let Ok(definitions) = self.shared.databases.read(database, prepare) else {
            return Vec::new();
        };
        let mut all: Vec<_> = definitions.tables.values().cloned().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn figures(&self, database: &str) -> Arc<HashMap<String, Figures>> {
        self.shared.databases.figures(database)
    }

    fn next_id(&self, database: &str, table: &str) -> Option<u64> {
        self.shared.databases.next_id(database, table).ok()
    }

    fn warnings(&self) -> Vec<Warning> {
        self.state.warnings.list()
    }

    fn warn(&self, code: u16, message: &str) {
        self.state.warnings.add("Warning", code, message);
    }
}

impl EvaluationContext for SessionContext {
    fn thread_id(&self) -> u64 {
        tare::thread::id()
    }

    fn last_insert_id(&self) -> i64 {
        self.state.last_insert_id()
    }

    fn set_last_insert_id(&self, id: i64) {
        self.state.set_last_insert_id(id);
    }

    fn row_count(&self) -> i64 {
        self.state.row_count()
    }

    fn found_rows(&self) -> i64 {
        self.state.found_rows()
    }

    fn count(&self, what: Counted) {
        self.state.count(what);
    }

    fn auto_increment(&self, given: Option<i64>) -> Result<Option<i64>> {
        let mut numbers = self.state.numbers.lock();
        let Some(numbers) = numbers.as_mut() else {
            return Ok(given);
        };
        numbers.of_row(given).map(Some).ok_or_else(|| {
            SqlError::new(
                1467,
                "Failed to read auto-increment value from storage engine",
            )
        })
    }

    fn give_number_back(&self, updated: Option<i64>) {
        if let Some(numbers) = self.state.numbers.lock().as_mut() {
            numbers.give_back();
            numbers.updated = updated.or(numbers.updated);
        }
    }

    fn variable(&self, scope: &str, name: &str) -> Value {
        self.state.variable(scope, name)
    }

    fn user_variable(&self, name: &str) -> Value {
        self.state.user_variables.get(name)
    }

    fn set_user_variable(&self, name: &str, value: Value, is_number: bool) {
        self.state.user_variables.set(name, value, is_number);
    }

    fn sys_option(&self, name: &str) -> Option<String> {
        self.state.sys_config().get(name)
    }

    fn instrument_default(&self, name: &str, timed: bool) -> bool {
        instruments::default_of(name, timed)
    }

    fn sql_mode(&self) -> String {
        self.state.text("sql_mode").unwrap_or_default()
    }

    fn refused_warning(&self) -> Option<SqlError> {
        self.state.warnings.take_refused()
    }

    fn interruption(&self) -> SqlError {
        self.state.control.interruption()
    }

    fn digest(&self, statement: &str) -> Option<(String, String)> {
        hash_and_text(statement, self.series().has_9_7_digests())
    }

    fn sleep(&self, seconds: f64) -> Result<bool> {
        let is_interrupted = self.state.sleep(seconds);
        match is_interrupted && self.state.control.is_killed() {
            true => Err(SqlError::interrupted()),
            false => Ok(is_interrupted),
        }
    }

    fn take_lock(&self, name: &str, timeout: Option<Duration>) -> Result<bool> {
        self.state.take_user_lock(name, timeout)
    }

    fn lock_owner(&self, name: &str) -> Option<u64> {
        self.state.user_locks().owner(name)
    }

    fn unlock(&self, name: &str) -> Option<bool> {
        self.state.user_locks().release(name, self.state.id)
    }

    fn unlock_all(&self) -> u64 {
        self.state.user_locks().release_all(self.state.id)
    }
}
