//! Runs a plan: rows and changes here, the rest by its kind.

mod action;
mod columns;
mod into;
mod rows;
mod set;
mod transaction;

use mysql_common::constants::StatusFlags;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::wire::reply;
use tare_mysql::wire::value::Value;

pub(super) use self::columns::put_packet;
pub(crate) use self::columns::{wire_of, wire_type};
use self::transaction::single_statement;
use super::points;
use super::session::{Columns, Role, Session};
use super::status::{Com, Counter};
use super::tables::{Rows, Uses};
use crate::dialect::plan::{Action, Change, Plan, Sql};
use crate::storage::statement::{Cursor, StatementId};

/// Gives a statement its parameters.
pub type Bind<'b> = &'b mut dyn FnMut(&mut Cursor<'_>) -> Result<()>;

impl Session {
    /// Runs a plan and answers. `statement` and `columns` are kept for the next time.
    pub fn run(
        &mut self,
        plan: &Plan,
        statement: &mut Option<StatementId>,
        columns: &mut Columns,
        bind: Bind<'_>,
        more: bool,
        binary: bool,
    ) -> Result<()> {
        let counter = Com::of_statement(plan.command);
        self.registration.status().command(counter);
        let at_most = self.execution_limit(plan);
        if !at_most.is_zero() {
            self.registration
                .status()
                .add(Counter::MaxExecutionTimeSet, 1);
        }
        self.control.begin(at_most);
        let keeps_warnings = matches!(&plan.action, Action::Show(s) if matches!(s.what, crate::dialect::admin::What::Warnings { .. } | crate::dialect::admin::What::WarningCount { .. }));
        if !keeps_warnings {
            self.state.warnings.clear();
        }
        let result = match &plan.action {
            Action::Rows(sql) => self.rows(sql, statement, columns, bind, more, binary),
            Action::Write(sql, change) => self.write(sql, *change, statement, columns, bind, more),
            Action::Show(show) => self.show(show, more, binary),
            Action::Call(call) => self
                .call(call, bind, binary)
                .map(|()| self.done(0, 0, more)),
            Action::Into(sql, names) => self.select_into(sql, names, statement, bind, more),
            Action::Do(sql) => self.evaluate_all(sql, statement, bind, more),
            other => {
                let affected = self.other(other, more, binary)?;
                if let Some(affected) = affected {
                    self.done(affected, 0, more);
                }
                return Ok(());
            }
        };
        super::metrics::count(&plan.action, &self.tally);
        if let Some(connection) = &mut self.connection {
            connection.statement_ended();
        }
        match result {
            Err(e) if e.code == 1317 => {
                let error = self.control.interruption();
                if error.code == 3024 {
                    self.registration
                        .status()
                        .add(Counter::MaxExecutionTimeExceeded, 1);
                }
                Err(error)
            }
            other => other,
        }
    }

    fn execution_limit(&self, plan: &Plan) -> std::time::Duration {
        if !matches!(plan.action, Action::Rows(_)) {
            return std::time::Duration::ZERO;
        }
        self.max_execution_time
    }

    /// Answers with OK.
    pub fn done(&mut self, affected_rows: u64, last_insert_id: u64, more: bool) {
        let mut status = self.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, more);
        self.state.set_row_count(affected_rows as i64);
        let warnings = self.state.warnings.count();
        reply::ok(
            &mut self.writer,
            status,
            reply::Ok {
                affected_rows,
                last_insert_id,
                warnings,
                info: "",
            },
        );
    }

    /// Attaches what a statement names, and begins the transaction that it needs.
    pub fn ready(&mut self, sql: &Sql) -> Result<()> {
        if self.role == Role::Monitor && !sql.databases.is_empty() {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1142,
                format!("SELECT command denied to user '{user}'@'{host}' for table"),
            ));
        }
        if sql.is_system() {
            // It may ask for metrics: they are to have what this session has done.
            if let Some(connection) = &mut self.connection {
                connection.gather();
            }
        } else if !sql.catalog.is_empty() {
            self.install_catalog()?;
        }
        for database in &sql.databases {
            if !self.connection()?.is_attached(database) {
                tare::stage::set(&points::OPENING_TABLES);
                self.attach(database)?;
            }
        }
        if self.transaction.open {
            if self.expects_write
                && !self.transaction.read_only
                && let Some(database) = sql.databases.first()
            {
                self.enter(database)?;
            }
        } else if !self.autocommit && (!sql.databases.is_empty() || sql.writes.is_some()) {
            self.begin(false)?;
        }
        Ok(())
    }

    /// SQLite attaches nothing while a transaction is open that has begun to read: that
    /// transaction has nothing to lose yet when it is only begun.
    fn attach(&mut self, database: &str) -> Result<()> {
        self.connection()?.attach(database)?;
        Ok(())
    }

    /// The prepared statement, prepared if need be.
    pub fn statement_id(
        &mut self,
        sql: &Sql,
        statement: &mut Option<StatementId>,
    ) -> Result<StatementId> {
        let opened = if statement.is_some() {
            Counter::TableOpenCacheHits
        } else {
            Counter::TableOpenCacheMisses
        };
        if !sql.databases.is_empty() {
            self.registration.status().add(opened, 1);
        }
        if let Some(id) = *statement {
            return Ok(id);
        }
        tare::stage::set(&points::OPENING_TABLES);
        let id = if sql.is_system() {
            self.connection_for(sql)?.prepare(&sql.text)?.of_system()
        } else {
            let connection = self.connection()?;
            for database in &sql.databases {
                // The result's columns will be described by them.
                connection.definitions(database)?;
            }
            connection.prepare(&sql.text)?
        };
        *statement = Some(id);
        Ok(id)
    }

    /// Attaches what a statement names, before it is prepared.
    pub fn attach_all(&mut self, sql: &Sql) -> Result<()> {
        if !sql.catalog.is_empty() && !sql.is_system() {
            self.install_catalog()?;
        }
        for database in &sql.databases {
            self.attach(database)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        sql: &Sql,
        change: Change,
        statement: &mut Option<StatementId>,
        columns: &mut Columns,
        bind: Bind<'_>,
        more: bool,
    ) -> Result<()> {
        // A database's rows may be made from system tables: what counts is what is written to.
        let system = sql.writes.as_deref().is_some_and(is_system_schema);
        if system {
            self.may_change_catalog(sql, change)?;
        } else if self.role == Role::Monitor {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1142,
                format!("command denied to user '{user}'@'{host}' for table"),
            ));
        }
        let read_only = if self.transaction.open {
            self.transaction.read_only
        } else {
            self.reads_only || std::mem::take(&mut self.next_read_only)
        };
        if read_only && sql.catalog.is_empty() {
            return Err(SqlError::new(
                1792,
                "Cannot execute statement in a READ ONLY transaction.",
            ));
        }
        self.ready(sql)?;
        let database = sql.writes.as_deref().filter(|_| !system);
        let mut pass = None;
        if let Some(database) = database {
            if self.transaction.open {
                self.enter(database)?;
                self.transaction.wrote = true;
            } else if !self.table_locks.iter().any(|(d, _)| d == database) {
                pass = Some(self.wait_for(database)?);
            }
        }
        let id = self.statement_id(sql, statement)?;
        let uses = self.uses(sql, columns, Some(change));
        let single = pass.is_some().then(single_statement);
        tare::stage::set(&points::EXECUTING);
        let wait = uses.as_ref().and_then(|uses| self.tables.begin(uses));
        let connection = self.connection_with(id)?;
        let (mut examined, mut steps) = (0, 0);
        let result = {
            let mut cursor = connection.run(id)?;
            bind(&mut cursor)?;
            let done = loop {
                match cursor.step() {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(e) => break Err(e),
                }
            };
            examined += cursor.scan_status().0;
            if uses.as_ref().is_some_and(|uses| uses.counts_steps()) {
                steps = cursor.steps();
            }
            done
        };
        let changed = match &result {
            Ok(()) => connection.changes(),
            Err(_) => 0,
        };
        if let Some(uses) = &uses {
            let rows = Rows {
                sent: 0,
                scanned: examined as u64,
                affected: changed,
                steps,
            };
            self.tables.end(uses, wait, rows);
        }
        columns.uses = uses;
        self.release();
        if let Err(error) = result {
            drop(pass);
            return Err(self.after_error(error));
        }
        let mut affected = changed;
        let connection = self.connection_with(id)?;
        let last = connection.db().last_insert_rowid();
        drop(pass);
        if let Some(single) = single {
            single.commit();
            super::metrics::TRX_RW_COMMITS.add(1);
            self.registration.status().add(Counter::HandlerCommit, 1);
        }
        if sql.counts_updates {
            affected += self.state.take_updated();
        }
        let handler = match change {
            Change::Insert | Change::Replace => Counter::HandlerWrite,
            Change::Update => Counter::HandlerUpdate,
            Change::Delete => Counter::HandlerDelete,
        };
        self.registration.status().add(handler, affected);
        self.tally.affected = affected;
        if !matches!(change, Change::Insert) {
            self.tally.examined = affected.max(examined as u64);
        }
        let mut insert_id = 0;
        if matches!(change, Change::Insert | Change::Replace) && sql.makes_ids && affected > 0 {
            // MySQL tells the first of the numbers that one statement made.
            insert_id = last - (changed as i64 - 1).max(0);
            self.state.set_last_insert_id(insert_id);
        }
        self.done(affected, insert_id.max(0) as u64, more);
        Ok(())
    }
}

impl Session {
    /// Which tables a statement uses, where performance_schema asks for it.
    fn uses(
        &mut self,
        sql: &Sql,
        columns: &mut Columns,
        change: Option<Change>,
    ) -> Option<Box<Uses>> {
        if sql.databases.is_empty() || !tare::is_running() {
            return None;
        }
        let generation = self.shared.databases.generation();
        if let Some(known) = columns.uses.take().filter(|uses| uses.is_of(generation)) {
            return Some(known);
        }
        let (tables, digest) = (&mut self.tables, columns.digest.as_ref());
        let connection = self.connection.as_mut()?;
        // What SQLite cannot explain runs all the same.
        let found = tables.uses(connection, sql, change, digest, generation);
        found.ok().map(Box::new)
    }

    /// Lets go of the metadata locks, unless a transaction holds them.
    pub fn release(&mut self) {
        if !self.transaction.open {
            self.tables.release();
        }
    }
}

/// A value that borrows from rusqlite's.
pub fn borrowed(value: &rusqlite::types::Value) -> Value<'_> {
    use rusqlite::types::Value as V;
    match value {
        V::Null => Value::Null,
        V::Integer(n) => Value::Int(*n),
        V::Real(x) => Value::Real(*x),
        V::Text(t) => Value::Text(t.as_bytes()),
        V::Blob(b) => Value::Blob(b),
    }
}
