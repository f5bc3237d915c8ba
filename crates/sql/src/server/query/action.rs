//! Actions: all that neither returns rows nor changes any.

use std::sync::atomic::Ordering;

use tare::digest::Digest;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

use super::borrowed;
use crate::dialect::plan::Action;
use crate::server::SystemSchema;
use crate::server::session::{Columns, Named, Role, Session};
use crate::server::status::{By, Counter};
use crate::storage::error::from_rusqlite;
use crate::storage::statement::Cursor;

impl Session {
    /// All that neither returns rows nor changes any. `Some`: OK with so many affected rows.
    pub(super) fn other(
        &mut self,
        action: &Action,
        more: bool,
        binary: bool,
    ) -> Result<Option<u64>> {
        match action {
            Action::Begin { read_only } => self.begin(*read_only)?,
            Action::Commit { chain } | Action::Rollback { chain } => {
                let read_only = self.transaction.read_only;
                if matches!(action, Action::Commit { .. }) {
                    self.commit()?;
                } else {
                    self.roll_back();
                }
                if *chain {
                    self.begin(read_only)?;
                }
            }
            Action::Savepoint(name) => {
                // Outside of a transaction there is nothing to come back to.
                if self.transaction.open {
                    let sql = format!("SAVEPOINT {}", crate::storage::connection::quote(name));
                    self.connection()?.batch(&sql)?;
                    self.registration.status().add(Counter::HandlerSavepoint, 1);
                    if let Some(point) = &self.transaction.point {
                        point.savepoint();
                    }
                }
            }
            Action::RollbackTo(name) | Action::Release(name) => {
                let quoted = crate::storage::connection::quote(name);
                let sql = match action {
                    Action::RollbackTo(_) => format!("ROLLBACK TO {quoted}"),
                    _ => format!("RELEASE {quoted}"),
                };
                if !self.transaction.open {
                    return Err(SqlError::new(
                        1305,
                        format!("SAVEPOINT {name} does not exist"),
                    ));
                }
                self.connection()?.batch(&sql)?;
                if matches!(action, Action::RollbackTo(_)) {
                    let status = self.registration.status();
                    status.add(Counter::HandlerSavepointRollback, 1);
                }
                if let Some(point) = &self.transaction.point {
                    match action {
                        Action::RollbackTo(_) => {
                            point.rollback_to_savepoint();
                            crate::server::metrics::TRX_ROLLBACKS_SAVEPOINT.add(1);
                        }
                        _ => point.release_savepoint(),
                    }
                }
            }
            Action::Use(name) => self.use_database(name)?,
            Action::Set(items) => self.set(items)?,
            Action::Kill { id, query_only } => {
                let id = match self.evaluate(id.clone())? {
                    rusqlite::types::Value::Integer(id) if id >= 0 => id as u64,
                    _ => return Err(SqlError::new(1094, "Unknown thread id")),
                };
                self.root_only("CONNECTION_ADMIN")?;
                if !self.shared.registry.kill(id, *query_only) {
                    return Err(SqlError::new(1094, format!("Unknown thread id: {id}")));
                }
            }
            Action::LockTables(tables) => {
                self.root_only("LOCK TABLES")?;
                self.commit()?;
                self.table_locks.clear();
                let current = self.state.database();
                for (database, table, write) in tables {
                    let database = if database.is_empty() {
                        current.clone().ok_or_else(SqlError::no_database)?
                    } else {
                        database.clone()
                    };
                    if !is_system_schema(&database)
                        && self.connection()?.table(&database, table)?.is_none()
                    {
                        return Err(SqlError::no_such_table(&database, table));
                    }
                    if *write && !self.table_locks.iter().any(|(d, _)| *d == database) {
                        let pass = self.wait_for(&database)?;
                        self.table_locks.push((database, pass));
                    }
                }
            }
            Action::UnlockTables => self.table_locks.clear(),
            Action::Nothing => {}
            Action::Flush(what) => self.flush(what)?,
            Action::Shutdown => {
                self.root_only("SHUTDOWN")?;
                self.shared.stop.request();
            }
            Action::Prepare(name, text) => {
                let text = match self.evaluate(text.clone())? {
                    rusqlite::types::Value::Text(text) => text,
                    _ => return Err(crate::dialect::near("NULL")),
                };
                let generation = self.shared.databases.generation();
                self.translate(&text, generation)?;
                self.last_statement = self.last_statement.wrapping_add(1).max(1);
                let (name, id) = (name.to_lowercase(), u64::from(self.last_statement));
                let instance = tare::prepared::Prepared::new(id, Some(&name), &text);
                let named = Named {
                    text,
                    generation,
                    instance,
                };
                self.named.insert(name.clone(), named);
                self.named_now = Some((name, true));
            }
            Action::Execute(name, using) => {
                self.execute_named(name, using, more, binary)?;
                return Ok(None);
            }
            Action::Deallocate(name) => {
                if self.named.remove(&name.to_lowercase()).is_none() {
                    return Err(SqlError::new(
                        1243,
                        format!(
                            "Unknown prepared statement handler ({name}) given to DEALLOCATE PREPARE"
                        ),
                    ));
                }
            }
            Action::Ddl(ddl) => return self.ddl(ddl, more, binary),
            Action::Call(_)
            | Action::Rows(_)
            | Action::Into(..)
            | Action::Do(_)
            | Action::Write(..)
            | Action::Show(_) => {}
        }
        Ok(Some(0))
    }

    /// FLUSH. There are no logs, privileges or tables in memory to be read anew.
    pub fn flush(&mut self, what: &[String]) -> Result<()> {
        self.root_only("RELOAD")?;
        let (counters, registry) = (&self.shared.counters, &self.shared.registry);
        let has = |word: &str| what.iter().any(|w| w == word);
        if has("STATUS") {
            self.registration.status().flush();
            for by in [By::Account, By::User, By::Host] {
                registry.truncate_status(by);
            }
            registry.flush_peak();
            let now = self.shared.started.elapsed().as_secs();
            counters.flushed_status.store(now, Ordering::Relaxed);
        }
        if has("HOSTS") {
            self.shared.hosts.flush();
        }
        if has("TABLES") || has("TABLE") {
            counters.flushes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// EXECUTE name USING @a, @b.
    fn execute_named(
        &mut self,
        name: &str,
        using: &[sqlparser::ast::Expr],
        more: bool,
        binary: bool,
    ) -> Result<()> {
        let generation = self.shared.databases.generation();
        let known = self.named.get_mut(&name.to_lowercase());
        let Some(text) = known.map(|named| named.used(generation)) else {
            return Err(SqlError::new(
                1243,
                format!("Unknown prepared statement handler ({name}) given to EXECUTE"),
            ));
        };
        self.named_now = Some((name.to_lowercase(), false));
        let plan = self.translate(&text, generation)?;
        if plan.params != using.len() || matches!(plan.action, Action::Execute(..)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        let values = using
            .iter()
            .map(|e| self.evaluate(e.clone()))
            .collect::<Result<Vec<_>>>()?;
        let mut statement = None;
        let mut columns = Columns {
            digest: tare::is_running().then(|| Digest::of(&text)),
            ..Columns::default()
        };
        let mut bind = |cursor: &mut Cursor<'_>| {
            for (i, value) in values.iter().enumerate() {
                cursor.bind(i + 1, borrowed(value))?;
            }
            Ok(())
        };
        let result = self.run(&plan, &mut statement, &mut columns, &mut bind, more, binary);
        if let Some(id) = statement {
            self.close_statement(id);
        }
        result
    }

    /// 1227 for everybody but root.
    pub fn root_only(&self, privilege: &str) -> Result<()> {
        if self.role == Role::Root {
            return Ok(());
        }
        Err(SqlError::new(
            1227,
            format!(
                "Access denied; you need (at least one of) the {privilege} privilege(s) for this operation"
            ),
        ))
    }

    /// The value of an expression.
    pub fn evaluate(&mut self, expr: sqlparser::ast::Expr) -> Result<rusqlite::types::Value> {
        let database = self.state.database();
        let sql = crate::dialect::translate::expression(
            expr,
            database.as_deref(),
            &mut SystemSchema::default(),
        )?;
        self.ready(&sql)?;
        let connection = self.connection_for(&sql)?;
        Ok(connection
            .db()
            .query_row(&sql.text, [], |row| row.get(0))
            .map_err(from_rusqlite)?)
    }
}
