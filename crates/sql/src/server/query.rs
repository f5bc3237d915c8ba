//! Runs a plan: rows and changes here, the rest by its kind.

use std::sync::atomic::Ordering;

use mysql_common::constants::{ColumnFlags, ColumnType, StatusFlags};

use super::error::{Result, SqlError};
use super::points;
use super::session::{Columns, Role, Session};
use crate::dialect::admin::SetItem;
use crate::dialect::plan::{Action, Change, Plan, Sql};
use crate::storage::databases::is_system_schema;
use crate::storage::gate::Pass;
use crate::storage::statement::{Cursor, StatementId};
use crate::storage::tables::{ColumnDef, base_type};
use crate::wire::bytes::put_lenenc;
use crate::wire::channel::PacketWriter;
use crate::wire::column::{CHARSET_UTF8MB4, Column, NOT_FIXED, WireType};
use crate::wire::reply;
use crate::wire::value::{Value, put_binary, put_text};

/// Gives a statement its parameters.
pub type Bind<'b> = &'b mut dyn FnMut(&mut Cursor<'_>) -> Result<()>;

/// The type of a table's column, where the definitions tell.
type Known<'k> = &'k dyn Fn(&str, &str, &str) -> Option<WireType>;

/// Limits on a result.
struct Limits {
    rows: u64,
    bytes: u64,
}

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
        self.shared
            .counters
            .questions
            .fetch_add(1, Ordering::Relaxed);
        let at_most = self.execution_limit(plan);
        self.control.begin(at_most);
        let keeps_warnings = matches!(&plan.action, Action::Show(s) if matches!(s.what, crate::dialect::admin::What::Warnings | crate::dialect::admin::What::WarningCount));
        if !keeps_warnings {
            self.state.clear_warnings();
        }
        let result = match &plan.action {
            Action::Rows(sql) => self.rows(sql, statement, columns, bind, more, binary),
            Action::Write(sql, change) => self.write(sql, *change, statement, bind, more),
            Action::Show(show) => self.show(show, more, binary),
            other => {
                let affected = self.other(other, more, binary)?;
                if let Some(affected) = affected {
                    self.done(affected, 0, more);
                }
                return Ok(());
            }
        };
        match result {
            Err(e) if e.code == 1317 => Err(self.control.interruption()),
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
        let warnings = self.state.warning_count();
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
            self.system()?;
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

    /// Waits for the right to write to a database.
    pub fn enter(&mut self, database: &str) -> Result<()> {
        if self.transaction.passes.iter().any(|(d, _)| d == database)
            || self.table_locks.iter().any(|(d, _)| d == database)
        {
            return Ok(());
        }
        let pass = self.wait_for(database)?;
        self.transaction.passes.push((database.to_owned(), pass));
        Ok(())
    }

    /// A pass through a database's gate.
    pub fn wait_for(&mut self, database: &str) -> Result<Pass> {
        let gate = self.shared.databases.gate(database);
        let id = self.state.id;
        if let Some(pass) = gate.try_enter(id) {
            return Ok(pass);
        }
        // Who holds one gate and waits for another may be part of a circle: it gives way soon.
        let holds = !self.transaction.passes.is_empty() || !self.table_locks.is_empty();
        let at_most = if holds {
            self.lock_wait_timeout
                .min(std::time::Duration::from_millis(200))
        } else {
            self.lock_wait_timeout
        };
        let control = self.control.clone();
        let _waits = super::scheduler::blocking();
        tare::stage::set(&points::WAITING_FOR_COMMIT);
        match gate.enter(id, at_most, || control.must_stop()) {
            Some(pass) => Ok(pass),
            None if self.control.must_stop() => Err(SqlError::interrupted()),
            None if holds => {
                self.roll_back();
                Err(SqlError::deadlock())
            }
            None => Err(SqlError::lock_timeout()),
        }
    }

    fn rows(
        &mut self,
        sql: &Sql,
        statement: &mut Option<StatementId>,
        columns: &mut Columns,
        bind: Bind<'_>,
        more: bool,
        binary: bool,
    ) -> Result<()> {
        self.ready(sql)?;
        if let Some(database) = &sql.writes
            && self.transaction.open
        {
            // FOR UPDATE
            self.enter(database)?;
        }
        let id = self.statement_id(sql, statement)?;
        let mut status = self.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, more);
        let deprecates_eof = self.deprecates_eof();
        let limits = Limits {
            rows: self.shared.config.max_result_rows,
            bytes: self.shared.config.max_result_bytes,
        };
        let databases = self.shared.databases.clone();
        let (connection, catalog) = if id.is_system() {
            match self.system.as_mut() {
                Some((connection, catalog)) => (Some(connection), Some(&*catalog)),
                None => (None, None),
            }
        } else {
            let catalog = self.catalog.as_ref().filter(|_| !sql.catalog.is_empty());
            (self.connection.as_mut(), catalog)
        };
        let connection = connection.ok_or_else(SqlError::interrupted)?;
        let _snapshot = catalog.map(|c| c.statement());
        let writer = &mut self.writer;
        let (mark, sequence) = (writer.mark(), writer.sequence());
        let sent_before = writer.sent();
        let single = if !self.transaction.open && !sql.databases.is_empty() {
            Some(single_statement())
        } else {
            None
        };
        tare::stage::set(&points::EXECUTING);
        let tally = &mut self.tally;
        let result = {
            let mut cursor = connection.run(id)?;
            bind(&mut cursor)?;
            let known = |database: &str, table: &str, column: &str| {
                let defs = databases.known(database)?;
                defs.tables.get(table)?.column(column).map(wire_of)
            };
            let sent = send_rows(
                &mut cursor,
                sql,
                columns,
                &known,
                writer,
                status,
                deprecates_eof,
                binary,
                &limits,
            );
            let (scanned, sorts) = cursor.scan_status();
            tally.scanned = scanned > 0;
            tally.sorts = sorts as u64;
            tally.examined = scanned as u64;
            sent
        };
        match result {
            Ok(n) => {
                self.tally.sent = n;
                self.tally.examined = self.tally.examined.max(n);
                if let Some(single) = single {
                    single.commit();
                }
                self.state.set_found_rows(n as i64);
                self.state.set_row_count(-1);
                let warnings = self.state.warning_count();
                if deprecates_eof {
                    reply::result_end(&mut self.writer, status, warnings);
                } else {
                    reply::eof(&mut self.writer, status, warnings);
                }
                Ok(())
            }
            Err(error) => {
                // What has not been sent yet is taken back; otherwise the error follows the rows.
                if writer.sent() == sent_before {
                    writer.rewind(mark, sequence);
                }
                Err(self.after_error(error))
            }
        }
    }

    /// The prepared statement, prepared if need be.
    pub fn statement_id(
        &mut self,
        sql: &Sql,
        statement: &mut Option<StatementId>,
    ) -> Result<StatementId> {
        if let Some(id) = *statement {
            return Ok(id);
        }
        tare::stage::set(&points::OPENING_TABLES);
        let id = if sql.is_system() {
            self.system()?.0.prepare(&sql.text)?.of_system()
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
        if sql.is_system() {
            self.system()?;
        } else if !sql.catalog.is_empty() {
            self.install_catalog()?;
        }
        for database in &sql.databases {
            self.attach(database)?;
        }
        Ok(())
    }

    /// The columns of a statement that has not run yet.
    pub fn describe_prepared(
        &mut self,
        id: StatementId,
        sql: &Sql,
        columns: &mut Columns,
    ) -> Result<()> {
        let databases = self.shared.databases.clone();
        let cursor = if id.is_system() {
            self.system()?.0.run(id)?
        } else {
            self.connection()?.run(id)?
        };
        let known = |database: &str, table: &str, column: &str| {
            databases
                .known(database)?
                .tables
                .get(table)?
                .column(column)
                .map(wire_of)
        };
        describe(&cursor, sql, columns, &known, false);
        Ok(())
    }

    fn write(
        &mut self,
        sql: &Sql,
        change: Change,
        statement: &mut Option<StatementId>,
        bind: Bind<'_>,
        more: bool,
    ) -> Result<()> {
        if !sql.catalog.is_empty() {
            self.may_change_catalog(sql, change)?;
        } else if self.role == Role::Monitor {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1142,
                format!("command denied to user '{user}'@'{host}' for table"),
            ));
        }
        if self.transaction.read_only && self.transaction.open {
            return Err(SqlError::new(
                1792,
                "Cannot execute statement in a READ ONLY transaction.",
            ));
        }
        self.ready(sql)?;
        let database = sql.writes.as_deref().filter(|_| sql.catalog.is_empty());
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
        let single = pass.is_some().then(single_statement);
        tare::stage::set(&points::EXECUTING);
        let connection = if id.is_system() {
            &mut self.system()?.0
        } else {
            self.connection()?
        };
        let mut examined = 0;
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
            done
        };
        if let Err(error) = result {
            drop(pass);
            return Err(self.after_error(error));
        }
        let affected = connection.changes();
        let last = connection.db().last_insert_rowid();
        drop(pass);
        if let Some(single) = single {
            single.commit();
        }
        self.tally.affected = affected;
        if !matches!(change, Change::Insert) {
            self.tally.examined = affected.max(examined as u64);
        }
        let mut insert_id = 0;
        if matches!(change, Change::Insert | Change::Replace) && sql.makes_ids && affected > 0 {
            // MySQL tells the first of the numbers that one statement made.
            insert_id = last - (affected as i64 - 1);
            self.state.set_last_insert_id(insert_id);
        }
        self.done(affected, insert_id.max(0) as u64, more);
        Ok(())
    }

    /// What an error means for the transaction: a deadlock rolls it back, as it does in MySQL.
    pub fn after_error(&mut self, error: SqlError) -> SqlError {
        if error.code == 1213 {
            self.expects_write = true;
            self.roll_back();
        } else if self.transaction.open
            && self.connection.as_ref().is_some_and(|c| c.is_autocommit())
        {
            // SQLite gave the transaction up: disk full, out of memory.
            self.end_transaction();
        }
        error
    }

    /// BEGIN.
    pub fn begin(&mut self, read_only: bool) -> Result<()> {
        self.commit()?;
        let current = self.state.database();
        let connection = self.connection()?;
        if let Some(database) = current.filter(|d| !is_system_schema(d)) {
            // Now: inside the transaction its settings could not be made. That it may have been
            // dropped is for a statement that names it to say.
            let _ = connection.attach(&database);
        }
        connection.begin()?;
        self.transaction.open = true;
        self.transaction.read_only = read_only;
        let mode = tare::transaction::Mode {
            read_only,
            ..tare::transaction::Mode::default()
        };
        self.transaction.point = Some(tare::transaction::start(&points::TRANSACTION, mode));
        Ok(())
    }

    /// COMMIT, if a transaction is open.
    pub fn commit(&mut self) -> Result<()> {
        if !self.transaction.open {
            return Ok(());
        }
        let result = self.connection()?.execute("COMMIT");
        if let Err(error) = result {
            self.roll_back();
            return Err(error);
        }
        self.expects_write = self.transaction.wrote;
        if let Some(point) = self.transaction.point.take() {
            point.commit();
        }
        self.end_transaction();
        Ok(())
    }

    /// ROLLBACK, if a transaction is open.
    pub fn roll_back(&mut self) {
        if self.transaction.open {
            if let Some(connection) = &mut self.connection
                && !connection.is_autocommit()
            {
                // It can only fail when there is nothing to roll back.
                let _ = connection.execute("ROLLBACK");
            }
            self.end_transaction();
        }
    }

    fn end_transaction(&mut self) {
        self.transaction = super::session::Transaction::default();
    }

    /// All that neither returns rows nor changes any. `Some`: OK with so many affected rows.
    fn other(&mut self, action: &Action, more: bool, binary: bool) -> Result<Option<u64>> {
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
                if let Some(point) = &self.transaction.point {
                    match action {
                        Action::RollbackTo(_) => point.rollback_to_savepoint(),
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
                for (database, write) in tables {
                    let database = if database.is_empty() {
                        current.clone().ok_or_else(SqlError::no_database)?
                    } else {
                        database.clone()
                    };
                    if *write && !self.table_locks.iter().any(|(d, _)| *d == database) {
                        let pass = self.wait_for(&database)?;
                        self.table_locks.push((database, pass));
                    }
                }
            }
            Action::UnlockTables => self.table_locks.clear(),
            Action::Nothing => {}
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
                self.named.insert(name.to_lowercase(), text);
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
            Action::Rows(_) | Action::Write(..) | Action::Show(_) => {}
        }
        Ok(Some(0))
    }

    /// EXECUTE name USING @a, @b.
    fn execute_named(
        &mut self,
        name: &str,
        using: &[sqlparser::ast::Expr],
        more: bool,
        binary: bool,
    ) -> Result<()> {
        let Some(text) = self.named.get(&name.to_lowercase()).cloned() else {
            return Err(SqlError::new(
                1243,
                format!("Unknown prepared statement handler ({name}) given to EXECUTE"),
            ));
        };
        let generation = self.shared.databases.generation();
        let plan = self.translate(&text, generation)?;
        if plan.params != using.len() || matches!(plan.action, Action::Execute(..)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        let values = using
            .iter()
            .map(|e| self.evaluate(e.clone()))
            .collect::<Result<Vec<_>>>()?;
        let mut statement = None;
        let mut bind = |cursor: &mut Cursor<'_>| {
            for (i, value) in values.iter().enumerate() {
                cursor.bind(i + 1, borrowed(value))?;
            }
            Ok(())
        };
        let result = self.run(
            &plan,
            &mut statement,
            &mut Columns::default(),
            &mut bind,
            more,
            binary,
        );
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
        let sql = crate::dialect::translate::expression(expr)?;
        self.ready(&sql)?;
        let connection = if sql.is_system() {
            &mut self.system()?.0
        } else {
            self.connection()?
        };
        Ok(connection.db().query_row(&sql.text, [], |row| row.get(0))?)
    }

    fn set(&mut self, items: &[SetItem]) -> Result<()> {
        use rusqlite::types::Value as V;
        for item in items {
            match item {
                SetItem::User(name, expr) => {
                    let value = self.evaluate(expr.clone())?;
                    self.state.set_user_variable(name, value);
                }
                SetItem::Names(charset) => {
                    let charset = charset.to_ascii_lowercase();
                    if !super::show::CHARSETS.iter().any(|c| c.0 == charset) && charset != "default"
                    {
                        return Err(SqlError::new(
                            1115,
                            format!("Unknown character set: '{charset}'"),
                        ));
                    }
                    for name in [
                        "character_set_client",
                        "character_set_connection",
                        "character_set_results",
                    ] {
                        self.state.set(
                            crate::dialect::admin::Scope::Session,
                            name,
                            Some(V::Text(charset.clone())),
                            true,
                        )?;
                    }
                }
                SetItem::Transaction(read_only) => {
                    if let Some(read_only) = read_only {
                        self.next_read_only = *read_only;
                    }
                }
                SetItem::System(scope, name, expr) => {
                    let value = match expr {
                        Some(expr) => Some(self.evaluate(expr.clone())?),
                        None => None,
                    };
                    self.state
                        .set(*scope, name, value, self.role == Role::Root)?;
                    self.variable_changed(name)?;
                }
            }
        }
        Ok(())
    }

    /// What follows from a variable's new value.
    fn variable_changed(&mut self, name: &str) -> Result<()> {
        match name {
            "autocommit" => {
                let on = self.state.text(name).as_deref() != Some("OFF");
                if on && !self.autocommit {
                    self.commit()?;
                }
                self.autocommit = on;
            }
            "foreign_key_checks" => {
                let on = self.state.text(name).as_deref() != Some("OFF");
                self.connection()?.batch(if on {
                    "PRAGMA foreign_keys=ON"
                } else {
                    "PRAGMA foreign_keys=OFF"
                })?;
            }
            "max_execution_time" | "innodb_lock_wait_timeout" => self.read_limits(),
            _ => {}
        }
        Ok(())
    }

    /// Takes over the session's limits from its variables.
    pub fn read_limits(&mut self) {
        use std::time::Duration;
        let number = |name: &str| self.state.text(name).and_then(|t| t.parse::<u64>().ok());
        self.max_execution_time = Duration::from_millis(number("max_execution_time").unwrap_or(0));
        self.lock_wait_timeout =
            Duration::from_secs(number("innodb_lock_wait_timeout").unwrap_or(50).max(1));
    }
}

/// The transaction of a statement under autocommit.
fn single_statement() -> tare::transaction::Transaction {
    let mode = tare::transaction::Mode {
        autocommit: true,
        ..tare::transaction::Mode::default()
    };
    tare::transaction::start(&points::TRANSACTION, mode)
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

/// Steps through the rows and writes them. The caller ends the result.
#[allow(clippy::too_many_arguments)]
fn send_rows(
    cursor: &mut Cursor<'_>,
    sql: &Sql,
    columns: &mut Columns,
    known: Known<'_>,
    writer: &mut PacketWriter,
    status: StatusFlags,
    deprecates_eof: bool,
    binary: bool,
    limits: &Limits,
) -> Result<u64> {
    let mut row = cursor.step()?;
    tare::stage::set(&points::SENDING_DATA);
    let version = cursor.reprepared() + 1;
    if columns.version != version || columns.guessed {
        describe(cursor, sql, columns, known, row);
        columns.version = version;
    }
    put_lenenc(writer.begin(), columns.wire.len() as u64);
    writer.end();
    writer.replay(&columns.packets);
    if !deprecates_eof {
        reply::eof(writer, status, 0);
    }
    let mut rows = 0;
    let start = writer.sent();
    while row {
        rows += 1;
        if binary {
            put_binary_row(cursor, &columns.wire, writer.begin());
        } else {
            let out = writer.begin();
            for (i, wire) in columns.wire.iter().enumerate() {
                put_text(out, cursor.value(i), wire);
            }
        }
        writer.end();
        writer
            .flush_if_full()
            .map_err(|_| SqlError::interrupted())?;
        if (limits.rows > 0 && rows > limits.rows)
            || (limits.bytes > 0 && writer.sent() - start > limits.bytes)
        {
            return Err(SqlError::new(
                1104,
                "The SELECT would give more rows or bytes than this server's limit on a result; narrow it with WHERE or LIMIT",
            ));
        }
        row = cursor.step()?;
    }
    Ok(rows)
}

#[inline]
fn put_binary_row(cursor: &Cursor<'_>, wire: &[WireType], out: &mut Vec<u8>) {
    out.push(0);
    let nulls = out.len();
    out.resize(nulls + (wire.len() + 9) / 8, 0);
    for (i, wire) in wire.iter().enumerate() {
        match cursor.value(i) {
            Value::Null => out[nulls + (i + 2) / 8] |= 1 << ((i + 2) % 8),
            value => put_binary(out, value, wire),
        }
    }
}

/// Finds the columns' types: of the table, of the expression, or else of the first row's values.
fn describe(
    cursor: &Cursor<'_>,
    sql: &Sql,
    columns: &mut Columns,
    known: Known<'_>,
    has_row: bool,
) {
    columns.packets.clear();
    columns.wire.clear();
    columns.guessed = false;
    let n = cursor.columns();
    for i in 0..n {
        let origin = cursor.origin(i);
        let hint = sql
            .hints
            .0
            .get(i)
            .or_else(|| sql.hints.1.get(n - 1 - i))
            .copied()
            .flatten();
        let declared = cursor
            .decltype(i)
            .map(|d| (d, origin.and_then(|(d, t, c)| known(d, t, c))));
        let wire = match (declared, hint) {
            (Some((_, Some(known))), _) => known,
            (Some((text, None)), _) => wire_type(&text.to_lowercase(), true),
            (None, Some(hint)) => hint,
            (None, None) => {
                columns.guessed = true;
                let value = if has_row {
                    cursor.value(i)
                } else {
                    Value::Null
                };
                match value {
                    Value::Int(_) => WireType::bigint(),
                    Value::Real(_) => WireType::double(),
                    Value::Text(_) | Value::Null => WireType::text(255),
                    Value::Blob(_) => WireType::blob(),
                }
            }
        };
        columns.wire.push(wire);
        let (schema, table, org_name) = origin.unwrap_or(("", "", ""));
        let column = Column {
            schema,
            table,
            org_table: table,
            name: cursor.name(i),
            org_name,
            wire,
        };
        put_packet(&mut columns.packets, |out| column.put(out));
    }
}

/// A packet without a number, for [`PacketWriter::replay`].
pub fn put_packet(out: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    payload(out);
    let len = (out.len() - at - 4) as u32;
    out[at..at + 3].copy_from_slice(&len.to_le_bytes()[..3]);
}

/// The wire type of a table's column.
pub fn wire_of(column: &ColumnDef) -> WireType {
    let mut wire = wire_type(&column.column_type, column.nullable);
    if column.auto_increment {
        wire.flags |= ColumnFlags::AUTO_INCREMENT_FLAG;
    }
    wire
}

/// The wire type for a type as MySQL writes it.
pub fn wire_type(column_type: &str, nullable: bool) -> WireType {
    use ColumnType::*;
    let mut arguments = column_type
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(inside, _)| inside)
        .unwrap_or("")
        .split(',')
        .filter_map(|a| a.trim().parse::<u32>().ok());
    let (first, second) = (arguments.next(), arguments.next());
    let mut wire = match base_type(column_type) {
        "tinyint" | "bool" | "boolean" => WireType::number(MYSQL_TYPE_TINY, first.unwrap_or(4)),
        "smallint" => WireType::number(MYSQL_TYPE_SHORT, 6),
        "mediumint" => WireType::number(MYSQL_TYPE_INT24, 9),
        "int" => WireType::number(MYSQL_TYPE_LONG, 11),
        "bigint" | "integer" => WireType::bigint(),
        "bit" => WireType::number(MYSQL_TYPE_LONGLONG, 20),
        "year" => WireType::number(MYSQL_TYPE_YEAR, 4),
        "float" => WireType {
            decimals: NOT_FIXED,
            ..WireType::number(MYSQL_TYPE_FLOAT, 12)
        },
        "double" | "real" => WireType::double(),
        "decimal" | "numeric" => {
            let (digits, scale) = (first.unwrap_or(10), second.unwrap_or(0));
            WireType::decimal(digits + 2, scale.min(30) as u8)
        }
        "date" => WireType::number(MYSQL_TYPE_DATE, 10),
        "time" => WireType::number(MYSQL_TYPE_TIME, 10),
        "datetime" => WireType::number(MYSQL_TYPE_DATETIME, 19),
        "timestamp" => WireType::number(MYSQL_TYPE_TIMESTAMP, 19),
        "char" => WireType {
            code: MYSQL_TYPE_STRING,
            decimals: 0,
            ..WireType::text(first.unwrap_or(1))
        },
        "varchar" => WireType {
            decimals: 0,
            ..WireType::text(first.unwrap_or(255))
        },
        "enum" => WireType {
            code: MYSQL_TYPE_STRING,
            flags: ColumnFlags::ENUM_FLAG,
            decimals: 0,
            ..WireType::text(64)
        },
        "set" => WireType {
            code: MYSQL_TYPE_STRING,
            flags: ColumnFlags::SET_FLAG,
            decimals: 0,
            ..WireType::text(64)
        },
        "binary" => WireType::number(MYSQL_TYPE_STRING, first.unwrap_or(1)),
        "varbinary" => WireType::number(MYSQL_TYPE_VAR_STRING, first.unwrap_or(255)),
        "tinyblob" | "blob" | "mediumblob" | "longblob" => WireType {
            flags: ColumnFlags::BLOB_FLAG | ColumnFlags::BINARY_FLAG,
            ..WireType::blob()
        },
        "json" => WireType {
            code: MYSQL_TYPE_JSON,
            charset: CHARSET_UTF8MB4,
            ..WireType::blob()
        },
        "tinytext" | "text" | "mediumtext" | "longtext" => WireType {
            charset: CHARSET_UTF8MB4,
            flags: ColumnFlags::BLOB_FLAG,
            ..WireType::blob()
        },
        _ => WireType::text(255),
    };
    if column_type.contains("unsigned") {
        wire.flags |= ColumnFlags::UNSIGNED_FLAG;
    }
    if !nullable {
        wire.flags |= ColumnFlags::NOT_NULL_FLAG;
    }
    wire
}
