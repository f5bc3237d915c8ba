//! The session that a statement runs in, as the evaluator of the statement reads it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::account::{Account, Rights};
use crate::date::Zone;
use crate::schema::{LOCALHOST, ROOT};
use crate::series::Series;
use crate::table::{Figures, TableDef};

/// A row of SHOW WARNINGS.
#[derive(Debug, Clone)]
pub struct Warning {
    /// Note, Warning or Error.
    pub level: &'static str,
    /// MySQL's number.
    pub code: u16,
    /// The text.
    pub message: String,
}

/// Facts about a session that SQL functions, the tables of the system schemas, SHOW and procedures read.
///
/// The methods are called while a statement runs, on its thread: they must not use the connection that
/// runs it. The defaults fit a reader of a segment, who may do everything and has no databases.
pub trait SessionFacts: Send + Sync {
    /// The MySQL whose tables are served.
    fn series(&self) -> Series {
        Series::default()
    }
    /// The connection's number (PROCESSLIST_ID).
    fn id(&self) -> u64 {
        0
    }
    /// User and host of the client.
    fn account(&self) -> (String, String) {
        (ROOT.into(), LOCALHOST.into())
    }
    /// User and host of the account that the client was let in by.
    fn current_account(&self) -> (String, String) {
        self.account()
    }
    /// What that account may do.
    fn rights(&self) -> Rights {
        Rights::ALL
    }
    /// The accounts that the session may see.
    fn accounts(&self) -> Vec<Account> {
        Vec::new()
    }
    /// @@time_zone.
    fn zone(&self) -> Zone {
        Zone::system()
    }
    /// The default database.
    fn database(&self) -> Option<String> {
        None
    }
    /// Whether there is such a database of users.
    fn has_database(&self, _name: &str) -> bool {
        false
    }
    /// The users' databases that the account may read, sorted.
    fn databases(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether the definitions of a user's database are in memory.
    fn is_open(&self, _database: &str) -> bool {
        false
    }
    /// The tables and views of a user's database, sorted.
    fn tables(&self, _database: &str) -> Vec<Arc<TableDef>> {
        Vec::new()
    }
    /// How large the tables of a user's database are, by name.
    fn figures(&self, _database: &str) -> Arc<HashMap<String, Figures>> {
        Arc::default()
    }
    /// The number that AUTO_INCREMENT of a user's table gives next; `None` if that is not known.
    fn next_id(&self, _database: &str, _table: &str) -> Option<u64> {
        None
    }
    /// The warnings of the statement before.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }
    /// Adds a warning, by MySQL's number, to those of the statement.
    fn warn(&self, _code: u16, _message: &str) {}
}
