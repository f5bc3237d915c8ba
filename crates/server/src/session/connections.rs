//! A session's connections to SQLite: one for databases, and one for the system schemas.

use std::sync::Arc;

use rusqlite::config::DbConfig;
use tare_dialect::Mode;
use tare_dialect::plan::Sql;
use tare_functions::EvaluationContext;
use tare_mysql::error::{Result, SqlError};
use tare_query::catalog::{self, Catalog};
use tare_query::system::{System, register};

use super::transaction::Transaction;
use crate::context::SessionContext;
use crate::shared::Shared;
use crate::state::SessionState;
use tare_store::StatementId;
use tare_store::{Connection, Control};
use tare_sys::Sys;

/// A session's connections. The first statement that needs one opens it.
pub struct Connections {
    /// What statements read of the session.
    pub context: Arc<SessionContext>,
    control: Arc<Control>,
    /// The connection for databases.
    pub own: Option<Connection>,
    /// The connection for the system schemas: a separate one, so that a transaction's rollback does not
    /// affect them.
    pub system: Option<System>,
    /// The system schemas in the connection for databases, once a statement has joined both.
    pub joined: Option<Catalog>,
}

impl Connections {
    /// No connection is open yet.
    pub fn new(shared: Arc<Shared>, state: Arc<SessionState>, control: Arc<Control>) -> Self {
        Self {
            context: Arc::new(SessionContext { shared, state }),
            control,
            own: None,
            system: None,
            joined: None,
        }
    }

    fn evaluation_context(&self) -> Arc<dyn EvaluationContext> {
        self.context.clone()
    }

    fn programs(&self) -> &'static Sys {
        Sys::of(self.context.shared.config.series)
    }

    fn open(&self) -> Result<Connection> {
        let (databases, control) = (self.context.shared.databases.clone(), self.control.clone());
        Ok(Connection::open(databases, control, |db| {
            register(db, &self.evaluation_context(), self.programs())
        })?)
    }

    /// The connection for databases.
    pub fn own(&mut self) -> Result<&mut Connection> {
        if self.own.is_none() {
            self.own = Some(self.open()?);
            if self.context.state.text("foreign_key_checks").as_deref() == Some("OFF") {
                self.apply_foreign_key_checks()?;
            }
        }
        self.own
            .as_mut()
            .ok_or_else(|| SqlError::new(1041, "Out of memory"))
    }

    /// The connection for the system schemas.
    pub fn system(&mut self) -> Result<&mut System> {
        if self.system.is_none() {
            let (databases, control) =
                (self.context.shared.databases.clone(), self.control.clone());
            let opened = System::open(
                databases,
                control,
                self.context.clone(),
                &self.evaluation_context(),
                self.programs(),
            );
            self.system = Some(opened?);
        }
        self.system.as_mut().ok_or_else(SqlError::interrupted)
    }

    /// The connection that a statement runs on, with the system tables that it names.
    pub fn of(&mut self, sql: &Sql) -> Result<&mut Connection> {
        match sql.is_system() {
            true => Ok(self.system()?.ensure(&sql.catalog)?.connection()),
            false => self.own(),
        }
    }

    /// The connection that a statement was prepared on.
    pub fn with(&mut self, id: StatementId) -> Result<&mut Connection> {
        match id.is_system() {
            true => Ok(self.system()?.connection()),
            false => self.own(),
        }
    }

    /// The connection that a statement was prepared on, and the catalog of the system tables that it reads.
    pub fn with_catalog(
        &mut self,
        id: StatementId,
        sql: &Sql,
    ) -> Result<(&mut Connection, Option<&Catalog>)> {
        if id.is_system() {
            let (connection, catalog) = self.system()?.parts();
            return Ok((connection, Some(catalog)));
        }
        let connection = self.own.as_mut().ok_or_else(SqlError::interrupted)?;
        let catalog = self.joined.as_ref().filter(|_| !sql.catalog.is_empty());
        Ok((connection, catalog))
    }

    /// Finalizes a prepared statement.
    pub fn close(&mut self, id: StatementId) {
        let connection = match id.is_system() {
            true => self.system.as_mut().map(System::connection),
            false => self.own.as_mut(),
        };
        if let Some(connection) = connection {
            connection.close(id);
        }
    }

    /// Installs the system schemas in the connection for databases, when a statement first joins both.
    pub fn join_system(&mut self, transaction: &Transaction) -> Result<()> {
        if self.joined.is_some() {
            return Ok(());
        }
        let open = transaction.open;
        if open && transaction.wrote {
            return Err(SqlError::unsupported(
                "joining a system schema with a table for the first time in a transaction that has written",
            ));
        }
        let source = self.context.clone();
        let connection = self.own()?;
        // A rollback would remove tables that are created inside the transaction. It has only read, so it
        // can be committed.
        if open {
            connection.execute("COMMIT")?;
        }
        let installed = catalog::install(connection.db(), source);
        if open {
            connection.begin()?;
        }
        self.joined = Some(installed.map_err(tare_store::Error::from)?);
        Ok(())
    }

    /// Whether sql_mode is strict: values that do not fit their columns are refused.
    pub fn is_strict(&self) -> bool {
        Mode::of(&self.context.state.text("sql_mode").unwrap_or_default()).strict
    }

    /// Applies @@foreign_key_checks to the connection for databases.
    pub fn apply_foreign_key_checks(&mut self) -> Result<()> {
        let on = self.context.state.text("foreign_key_checks").as_deref() != Some("OFF");
        if let Some(connection) = &self.own {
            // PRAGMA foreign_keys would have no effect inside a transaction.
            let enable = DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY;
            connection
                .db()
                .set_db_config(enable, on)
                .map_err(tare_store::Error::from)?;
        }
        Ok(())
    }
}
