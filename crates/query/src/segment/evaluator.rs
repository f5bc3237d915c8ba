//! The evaluator: runs a plan on a segment.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use rusqlite::types::Value;
use sqlparser::ast::Expr;
use tare_dialect::ddl::Ddl;
use tare_dialect::plan::{Action, Change, Plan, Sql};
use tare_dialect::{near, translate};
use tare_functions::EvaluationContext;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::memory;
use tare_mysql::schema::is_system_schema;
use tare_mysql::session::SessionFacts as _;
use tare_rows::options::Options;
use tare_store::{Client, Connection, Control, Databases};

use super::context::{Data, DigestFn, SegmentContext};
use crate::explain::{self, Line};
use crate::programs::{Programs, system_ddl_error};
use crate::result::Rows;
use crate::rows::{NO_DATA, SingleRow};
use crate::runner::StatementRunner;
use crate::schema::SystemSchema;
use crate::show::names::check_access;
use crate::show::{self, preserves_warnings};
use crate::system::System;

/// The result of a statement.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A result.
    Rows(Rows),
    /// No result; the number of changed rows.
    Changed(u64),
}

/// Evaluates statements on one segment. Each statement reads one snapshot of the segment.
pub struct Evaluator {
    pub(super) system: System,
    pub(super) context: Arc<SegmentContext>,
    pub(super) programs: &'static dyn Programs,
    /// Prepared statements' texts, by name in lower case.
    named: HashMap<String, String>,
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluator")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// The client of a session without a connection.
#[derive(Debug)]
struct NoClient;

impl Client for NoClient {
    fn has_gone(&self) -> bool {
        false
    }

    fn hang_up(&self) {}

    fn disconnect(&self) {}
}

impl Evaluator {
    /// Opens an evaluator. `options` are schema sys's. `digest` is for
    /// STATEMENT_DIGEST, and for samples of active sessions.
    ///
    /// # Errors
    /// SQLite's, where it has no memory.
    pub fn open(
        data: Data,
        programs: &'static dyn Programs,
        options: Arc<dyn Options + Send + Sync>,
        digest: DigestFn,
    ) -> Result<Self> {
        tare_store::sqlite::configure();
        let context = Arc::new(SegmentContext::new(data, programs, options, digest));
        let evaluation: Arc<dyn EvaluationContext> = context.clone();
        let control = Arc::new(Control::new(Arc::new(NoClient)));
        let databases = Arc::new(Databases::none());
        Ok(Self {
            system: System::open(databases, control, context.clone(), &evaluation, programs)?,
            context,
            programs,
            named: HashMap::new(),
        })
    }

    /// Evaluates a statement without parameters.
    ///
    /// # Errors
    /// MySQL's; 1235 for what a segment cannot do.
    pub fn query(&mut self, text: &str) -> Result<Outcome> {
        let plan = self.plan(text)?;
        if plan.params > 0 {
            return Err(near("?").into());
        }
        self.evaluate(&plan, &[])
    }

    /// Evaluates a plan with its parameters, except CALL: the crate that has the procedures runs that.
    ///
    /// # Errors
    /// MySQL's; 1235 for what a segment cannot do.
    pub fn evaluate(&mut self, plan: &Plan, parameters: &[Value]) -> Result<Outcome> {
        let _memory = memory::limit_statement(memory::DEFAULT_BYTES);
        if !preserves_warnings(&plan.action) {
            self.context.values().warnings.clear();
        }
        let refused = || {
            let name = plan.command.name().replace('_', " ").to_uppercase();
            Err(SqlError::unsupported(format!(
                "{name} on {}",
                self.context.source_kind()
            )))
        };
        match &plan.action {
            Action::Rows(sql) => return self.rows(sql, parameters),
            Action::Show(show) => {
                let rows = show::rows(self, show)?;
                self.context.values().found_rows = rows.rows.len() as i64;
                return Ok(Outcome::Rows(rows));
            }
            Action::Write(sql, change) => {
                let changed = self.change(sql, *change, parameters)?;
                return Ok(Outcome::Changed(changed));
            }
            Action::Into(sql, names) => self.select_into(sql, names, parameters)?,
            Action::Do(sql) => {
                self.require_no_database(sql)?;
                self.system.select(sql, parameters)?;
            }
            Action::Set(items) => self.set(items)?,
            Action::Use(name) => {
                check_access(&*self.context, name)?;
                self.context.values().database = Some(name.clone());
            }
            Action::Ddl(ddl) => {
                match (
                    &**ddl,
                    system_ddl_error(self.programs, ddl, &self.context.account()),
                ) {
                    (Ddl::Truncate(name), _) if is_system_schema(&name.database) => {
                        self.system.truncate(&name.database, &name.table)?;
                    }
                    (_, Some(error)) => return Err(error),
                    (_, None) => return refused(),
                }
            }
            Action::Prepare(name, text) => self.prepare(name, text)?,
            Action::Execute(name, using) => return self.execute(name, using),
            Action::Deallocate(name) => {
                if self.named.remove(&name.to_lowercase()).is_none() {
                    return Err(SqlError::unknown_handler(name, "DEALLOCATE PREPARE"));
                }
            }
            // The tables of the system schemas take no part in transactions, in MySQL as here.
            Action::Begin { .. }
            | Action::Commit { .. }
            | Action::Rollback { .. }
            | Action::UnlockTables
            | Action::NoOp
            | Action::Empty => {}
            Action::Savepoint(_)
            | Action::RollbackTo(_)
            | Action::Release(_)
            | Action::Kill { .. }
            | Action::LockTables(_)
            | Action::Flush(_)
            | Action::Shutdown
            | Action::Account(_)
            | Action::Call(_) => return refused(),
        }
        self.context.values().row_count = 0;
        Ok(Outcome::Changed(0))
    }

    /// 1049: a segment has no databases but the system schemas.
    pub(super) fn require_no_database(&self, sql: &Sql) -> Result<()> {
        match sql.databases.first() {
            Some(name) => Err(SqlError::unknown_database(name)),
            None => Ok(()),
        }
    }

    fn rows(&mut self, sql: &Sql, parameters: &[Value]) -> Result<Outcome> {
        self.require_no_database(sql)?;
        let rows = self.system.select(sql, parameters)?;
        let mut found_rows = rows.rows.len() as i64;
        if let Some(count) = &sql.found_rows {
            found_rows = self.system.connection().number(count).unwrap_or(found_rows);
        }
        let mut values = self.context.values();
        values.found_rows = found_rows;
        values.row_count = -1;
        drop(values);
        Ok(Outcome::Rows(rows))
    }

    /// INSERT, UPDATE or DELETE; how many rows.
    fn change(&mut self, sql: &Sql, change: Change, parameters: &[Value]) -> Result<u64> {
        self.require_no_database(sql)?;
        self.check_change(sql, change)?;
        let changed = self.system.change(sql, parameters)?;
        self.context.values().row_count = changed as i64;
        Ok(changed)
    }

    /// SELECT ... INTO @a, @b.
    fn select_into(&mut self, sql: &Sql, names: &[String], parameters: &[Value]) -> Result<()> {
        self.require_no_database(sql)?;
        let mut single = SingleRow::of(names.len());
        self.system.run_once(sql, parameters, |cursor| {
            while cursor.step()? {
                single.take(cursor)?;
            }
            Ok(())
        })?;
        match single.row {
            Some(values) => {
                for (name, value) in names.iter().zip(values) {
                    self.context.set_user_variable(name, value, false);
                }
            }
            None => self.context.warn(1329, NO_DATA),
        }
        Ok(())
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: Expr) -> Result<Value> {
        let mut schema = SystemSchema::without_databases(self.programs);
        let database = self.context.database();
        let mode = self.context.mode();
        let sql = translate::expression(expr, database.as_deref(), mode, &mut schema)?;
        self.require_no_database(&sql)?;
        let rows = self.system.select(&sql, &[])?.rows;
        let first = rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next());
        Ok(first.unwrap_or(Value::Null))
    }

    /// The values of a SELECT of expressions: the arguments of a CALL.
    ///
    /// # Errors
    /// The errors of the expressions.
    pub fn values(&mut self, sql: &Sql) -> Result<Vec<Value>> {
        self.require_no_database(sql)?;
        let rows = self.system.select(sql, &[])?.rows;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    fn prepare(&mut self, name: &str, text: &Expr) -> Result<()> {
        let Value::Text(text) = self.value(text.clone())? else {
            return Err(near("NULL").into());
        };
        self.plan(&text)?;
        self.named.insert(name.to_lowercase(), text);
        Ok(())
    }

    fn execute(&mut self, name: &str, using: &[Expr]) -> Result<Outcome> {
        let text = self.named.get(&name.to_lowercase());
        let text = text
            .cloned()
            .ok_or_else(|| SqlError::unknown_handler(name, "EXECUTE"))?;
        let plan = self.plan(&text)?;
        if plan.params != using.len() || matches!(plan.action, Action::Execute(..)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        let values = using.iter().map(|e| self.value(e.clone()));
        let values = values.collect::<Result<Vec<_>>>()?;
        self.evaluate(&plan, &values)
    }
}

impl StatementRunner for Evaluator {
    fn context(&self) -> &dyn EvaluationContext {
        &*self.context
    }

    fn programs(&self) -> &'static dyn Programs {
        self.programs
    }

    fn plan(&mut self, text: &str) -> Result<Plan> {
        let mut schema = SystemSchema::without_databases(self.programs);
        let database = self.context.database();
        let mode = self.context.mode();
        Ok(translate::translate(
            text,
            database.as_deref(),
            &mut schema,
            0,
            mode,
        )?)
    }

    fn system(&mut self) -> Result<&mut System> {
        Ok(&mut self.system)
    }

    fn connection(&mut self) -> Result<&mut Connection> {
        Ok(self.system.connection())
    }

    fn query_plan(&mut self, sql: &Sql) -> Result<Vec<Line>> {
        self.require_no_database(sql)?;
        let system = self.system.ensure(&sql.catalog)?;
        explain::lines(system.connection().db(), sql)
    }
}
