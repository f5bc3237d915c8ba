//! Databases, made and dropped.

use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

use crate::server::session::Session;
use crate::storage::error::from_rusqlite;
use crate::storage::tables::META;

impl Session {
    pub(super) fn create_database(&mut self, name: &str, if_not_exists: bool) -> Result<u64> {
        let path = self.shared.databases.path(name)?;
        let taken = self
            .shared
            .databases
            .names()
            .iter()
            .any(|n| n.eq_ignore_ascii_case(name));
        if is_system_schema(name) || taken {
            let message = format!("Can't create database '{name}'; database exists");
            if if_not_exists {
                self.state.warnings.add("Note", 1007, message);
                return Ok(1);
            }
            return Err(SqlError::new(1007, message));
        }
        let db = rusqlite::Connection::open(&path).map_err(from_rusqlite)?;
        db.execute_batch(&format!("PRAGMA journal_mode=WAL; CREATE TABLE {META} (name TEXT PRIMARY KEY, definition TEXT NOT NULL)")).map_err(from_rusqlite)?;
        self.shared.databases.changed();
        Ok(1)
    }

    pub(super) fn drop_database(&mut self, name: &str, if_exists: bool) -> Result<u64> {
        if is_system_schema(name) {
            return Err(SqlError::new(
                3552,
                format!("Access to system schema '{name}' is rejected."),
            ));
        }
        if !self.shared.databases.exists(name) {
            let message = format!("Can't drop database '{name}'; database doesn't exist");
            if if_exists {
                self.state.warnings.add("Note", 1008, message);
                return Ok(0);
            }
            return Err(SqlError::new(1008, message));
        }
        let tables = self.connection()?.definitions(name)?;
        let count = tables.tables.len() as u64;
        let pass = self.wait_for(name)?;
        self.empty_cache();
        let ids: Vec<u32> = self.prepared.keys().copied().collect();
        for id in ids {
            if let Some(statement) = self.prepared.get_mut(&id).and_then(|p| p.statement.take()) {
                self.close_statement(statement);
            }
        }
        self.connection()?.forget(name)?;
        self.shared.databases.remove(name)?;
        for table in tables.tables.keys() {
            tare::table::dropped(name, table);
        }
        drop(pass);
        self.shared.databases.changed();
        if self.state.database().as_deref() == Some(name) {
            self.state.set_database(None);
            self.registration.set_database(None);
        }
        Ok(count)
    }
}
