//! A connection that has the system schemas and nothing else.

use std::sync::Arc;

use rusqlite::types::Value;
use tare_dialect::plan::{Change, Sql};
use tare_functions::EvaluationContext;
use tare_mysql::error::{Result, SqlError};
use tare_rows::source::Source;
use tare_store::{Connection, Control, Cursor, Databases, StatementId, UnknownColumn};

use crate::catalog::{self, Catalog};
use crate::columns::{Types, no_definitions};
use crate::programs::Programs;
use crate::result::{Rows, borrowed};
use crate::rows::each_row;

/// The functions that every connection has: MySQL's, and those of schema sys.
///
/// # Errors
/// SQLite's, where it cannot take one.
pub fn register(
    db: &rusqlite::Connection,
    session: &Arc<dyn EvaluationContext>,
    programs: &dyn Programs,
) -> rusqlite::Result<()> {
    tare_functions::register(db, session)?;
    programs.register(db, session)
}

/// The error of a statement that SQLite does not prepare. SQLite reports only a column's name; the plan
/// has the clause that contains it.
pub fn prepare_error(error: tare_store::Error, sql: &Sql) -> SqlError {
    match error.column() {
        Some(UnknownColumn::None(name)) => sql.names.unknown(name).into(),
        Some(UnknownColumn::Several(name)) => sql.names.ambiguous(name).into(),
        None => error.into(),
    }
}

/// The system schemas in a connection of their own, so that a transaction's rollback does not touch
/// them. Their tables are created as statements name them.
pub struct System {
    connection: Connection,
    catalog: Catalog,
}

impl System {
    /// Opens a connection to them, whose functions read this session.
    ///
    /// # Errors
    /// SQLite's, where it has no memory.
    pub fn open(
        databases: Arc<Databases>,
        control: Arc<Control>,
        source: Arc<dyn Source>,
        session: &Arc<dyn EvaluationContext>,
        programs: &dyn Programs,
    ) -> Result<Self> {
        let register = |db: &rusqlite::Connection| register(db, session, programs);
        let connection = Connection::open(databases, control, register)?;
        let catalog =
            catalog::install_schemas(connection.db(), source).map_err(tare_store::Error::from)?;
        Ok(Self {
            connection,
            catalog,
        })
    }

    /// Creates the tables that a statement names: schema and table.
    ///
    /// # Errors
    /// SQLite's.
    pub fn ensure(&mut self, named: &[(String, String)]) -> Result<&mut Self> {
        let ensured = self.catalog.ensure(self.connection.db(), named);
        ensured.map_err(tare_store::Error::from)?;
        Ok(self)
    }

    /// The connection and its catalog.
    pub fn parts(&mut self) -> (&mut Connection, &Catalog) {
        (&mut self.connection, &self.catalog)
    }

    /// The catalog, which answers without a statement.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The connection.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Prepares a statement, hands its cursor over, and forgets the statement.
    ///
    /// # Errors
    /// The statement's, or those of `run`.
    pub fn run_once<T>(
        &mut self,
        sql: &Sql,
        parameters: &[Value],
        run: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T> {
        self.ensure(&sql.catalog)?;
        let _snapshot = self.catalog.statement();
        let id = self
            .connection
            .prepare(&sql.text)
            .map_err(|error| prepare_error(error, sql))?;
        let result = self.run(id, parameters, run);
        self.connection.close(id);
        result
    }

    fn run<T>(
        &mut self,
        id: StatementId,
        parameters: &[Value],
        run: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut cursor = self.connection.run(id)?;
        for (i, value) in parameters.iter().enumerate() {
            cursor.bind(i + 1, borrowed(value))?;
        }
        run(&mut cursor)
    }

    /// The rows of a SELECT, with their types.
    ///
    /// # Errors
    /// The statement's.
    pub fn select(&mut self, sql: &Sql, parameters: &[Value]) -> Result<Rows> {
        self.run_once(sql, parameters, |cursor| {
            let mut rows = Rows::new(&[]);
            let mut types = Types::default();
            each_row(cursor, sql, &mut types, &no_definitions, &mut rows)?;
            Ok(rows)
        })
    }

    /// Runs INSERT, UPDATE or DELETE; how many rows it changed. [`System::check_change`] comes before.
    ///
    /// # Errors
    /// The statement's.
    pub fn change(&mut self, sql: &Sql, parameters: &[Value]) -> Result<u64> {
        self.run_once(sql, parameters, |cursor| {
            while cursor.step()? {}
            Ok(())
        })?;
        Ok(self.connection.changes())
    }

    /// Refuses a change that the system table does not allow.
    ///
    /// # Errors
    /// 1142, 1146, 1288 or 1471.
    pub fn check_change(&self, sql: &Sql, change: Change) -> Result<()> {
        let command = match change {
            Change::Insert | Change::Replace => catalog::Command::Insert,
            Change::Update => catalog::Command::Update,
            Change::Delete => catalog::Command::Delete,
        };
        let written = sql.catalog.first();
        let checked =
            written.and_then(|(schema, table)| self.catalog.check(command, schema, table));
        checked.unwrap_or(Ok(()))
    }

    /// TRUNCATE of a system table.
    ///
    /// # Errors
    /// 1142, in MariaDB 1683, where the table cannot be emptied; 1146 where there is no such table.
    pub fn truncate(&self, schema: &str, table: &str) -> Result<()> {
        let done = self.catalog.truncate(schema, table);
        done.unwrap_or_else(|| Err(SqlError::no_such_table(schema, table)))
    }
}
