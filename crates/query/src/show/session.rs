//! What SHOW asks of the session that it runs in.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use tare_dialect::plan::Sql;
use tare_mysql::account::Rights;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::{LOCALHOST, ROOT, is_system_schema};
use tare_mysql::table::{Figures, TableDef};
use tare_rows::source::Account;

use crate::catalog::Catalog;
use crate::explain::Line;
use crate::programs::Programs;
use crate::result::Rows;

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

/// A session. What has a default fits one that sees no databases of users.
pub trait Session {
    /// Schema sys.
    fn programs(&self) -> &'static dyn Programs;
    /// The default database.
    fn database(&self) -> Option<String>;
    /// User and host of the account.
    fn account(&self) -> (String, String);
    /// Whether the account may do more than read.
    fn is_root(&self) -> bool;
    /// User and host of the account that the client was let in by.
    fn current_account(&self) -> (String, String) {
        self.account()
    }
    /// The accounts that there are.
    fn accounts(&self) -> Vec<Account> {
        vec![Account {
            user: ROOT.into(),
            host: LOCALHOST.into(),
            plugin: "mysql_native_password".into(),
            rights: Rights::ALL,
            ssl: false,
            locked: false,
        }]
    }
    /// Whether it may see others than its own.
    fn may_see_accounts(&self) -> bool {
        true
    }
    /// The warnings of the statement before.
    fn warnings(&self) -> Vec<Warning>;
    /// The system schemas.
    fn catalog(&mut self) -> Result<&Catalog>;
    /// A connection that evaluates LIKE and WHERE.
    fn evaluator(&mut self) -> Result<&Connection>;
    /// The rows of a SELECT on system schemas, in MySQL's dialect; `?` are the parameters.
    fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows>;
    /// The lines of EXPLAIN QUERY PLAN, which the statement's text begins with.
    fn query_plan(&mut self, sql: &Sql) -> Result<Vec<Line>>;
    /// The process list, in the columns of [`PROCESSES`]; INFO in full.
    fn processes(&mut self) -> Result<Rows>;
    /// SHOW ENGINE INNODB STATUS: what is done in the users' databases now. 1235 where none is
    /// known.
    fn storage_status(&mut self) -> Result<String>;

    /// Whether there is such a database: 1049; and whether the account may look into it: 1044.
    fn may_see(&self, database: &str) -> Result<()> {
        match is_system_schema(database) {
            true => Ok(()),
            false => Err(SqlError::unknown_database(database)),
        }
    }
    /// The users' databases that the account may look into, sorted.
    fn databases(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether the tables of a user's database are in memory.
    fn is_open(&self, _database: &str) -> bool {
        false
    }
    /// The tables and views of a user's database, sorted.
    fn definitions(&mut self, database: &str) -> Result<Vec<Arc<TableDef>>> {
        Err(SqlError::unknown_database(database))
    }
    /// The value of a SELECT on users' databases, in SQLite's text.
    fn count(&mut self, _sqlite: &str) -> Option<i64> {
        None
    }
    /// How large the tables of a user's database are, by name.
    fn figures(&self, _database: &str) -> Arc<HashMap<String, Figures>> {
        Arc::default()
    }
}

/// The columns of SHOW PROCESSLIST.
pub const PROCESSES: [&str; 8] = [
    "Id", "User", "Host", "db", "Command", "Time", "State", "Info",
];
