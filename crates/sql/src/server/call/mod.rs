//! CALL: the procedures of schema sys, each a series of statements that the session runs.

mod analyze;
mod diagnostics;
mod setup;
mod trace;

use std::collections::HashMap;

use mysql_common::constants::CapabilityFlags;
use rusqlite::types::Value;
use tare_mysql::error::{Result, SqlError};

pub(super) use self::analyze::Snapshot;
pub(super) use self::setup::Saved;
use super::query::Bind;
use super::session::{Columns, Session};
use super::show::Rows;
use crate::dialect::plan::{Action, Call, Plan};
use crate::dialect::schema::Direction;
use crate::storage::error::from_rusqlite;

/// What procedures keep in a session from one call to the next.
#[derive(Debug, Default)]
pub struct Kept {
    /// ps_setup_save.
    saved: Option<Saved>,
    /// statement_performance_analyzer's snapshots: its own is called "".
    snapshots: HashMap<String, Snapshot>,
}

/// A call that runs.
struct Caller<'s> {
    session: &'s mut Session,
    arguments: Vec<Value>,
    binary: bool,
}

impl Session {
    /// CALL. The results go to the client; the caller answers with OK behind them.
    pub fn call(&mut self, call: &Call, bind: Bind<'_>, binary: bool) -> Result<()> {
        let arguments = self.arguments(call, bind)?;
        let mut caller = Caller {
            session: self,
            arguments,
            binary,
        };
        let out = caller.run(call.procedure.name)?;
        for ((mode, ..), variable) in call.procedure.parameters.iter().zip(&call.variables) {
            if let (Direction::Out, Some(variable), Some(value)) = (mode, variable, &out) {
                self.state.user_variables.set(variable, value.clone());
            }
        }
        Ok(())
    }

    /// The values that a procedure is called with.
    fn arguments(&mut self, call: &Call, bind: Bind<'_>) -> Result<Vec<Value>> {
        use tare_mysql::wire::value::Value as Wire;
        if call.procedure.parameters.is_empty() {
            return Ok(Vec::new());
        }
        self.ready(&call.values)?;
        let connection = self.connection_for(&call.values)?;
        let id = connection.prepare(&call.values.text)?;
        let values = (|| {
            let mut cursor = connection.run(id)?;
            bind(&mut cursor)?;
            cursor.step()?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Ok((0..cursor.columns())
                .map(|i| match cursor.value(i) {
                    Wire::Null => Value::Null,
                    Wire::Int(n) => Value::Integer(n),
                    Wire::Real(x) => Value::Real(x),
                    Wire::Text(t) => Value::Text(text(t)),
                    Wire::Blob(b) => Value::Text(text(b)),
                })
                .collect())
        })();
        connection.close(id);
        values
    }
}

impl Caller<'_> {
    fn run(&mut self, procedure: &str) -> Result<Option<Value>> {
        match procedure {
            "create_synonym_db" => Err(SqlError::unsupported(
                "a second name for a database, which is a file here",
            )),
            "diagnostics" => self.diagnostics(),
            "execute_prepared_stmt" => {
                let text = self.text(0).unwrap_or_default();
                self.statement(&text)
            }
            "ps_statement_avg_latency_histogram" => self.histogram(),
            "ps_trace_statement_digest" => self.trace_digest(),
            "ps_trace_thread" => self.trace_thread(),
            "statement_performance_analyzer" => self.analyze(),
            "table_exists" => return self.table_exists().map(Some),
            setup => self.setup(setup),
        }
        .map(|()| None)
    }

    /// An argument as text; `None` for NULL.
    fn text(&self, i: usize) -> Option<String> {
        match self.arguments.get(i)? {
            Value::Null => None,
            Value::Integer(n) => Some(n.to_string()),
            Value::Real(x) => Some(x.to_string()),
            Value::Text(t) => Some(t.clone()),
            Value::Blob(b) => Some(String::from_utf8_lossy(b).into_owned()),
        }
    }

    /// An argument as a number; `None` for NULL and for what is none.
    fn number(&self, i: usize) -> Option<f64> {
        self.text(i)?.trim().parse().ok()
    }

    /// An argument as a condition.
    fn is(&self, i: usize) -> bool {
        match self.text(i) {
            None => false,
            Some(text) => {
                text.eq_ignore_ascii_case("true")
                    || text.trim().parse().is_ok_and(|n: f64| n != 0.0)
            }
        }
    }

    /// UPDATE, INSERT or DELETE in performance_schema, with the session's rights; how many rows.
    fn change(&mut self, sql: &str, parameters: &[&str]) -> Result<usize> {
        let generation = self.session.shared.databases.generation();
        let plan = self.session.translate(sql, generation)?;
        let Action::Write(sql, change) = plan.action else {
            return Err(crate::dialect::near(sql));
        };
        self.session.may_change_catalog(&sql, change)?;
        let (connection, catalog) = self.session.system(&sql.catalog)?;
        let _snapshot = catalog.statement();
        let parameters = rusqlite::params_from_iter(parameters);
        Ok(connection
            .db()
            .execute(&sql.text, parameters)
            .map_err(from_rusqlite)?)
    }

    /// Sends a result; more will follow, if only the OK of the CALL.
    fn show(&mut self, rows: Rows) -> Result<()> {
        let takes =
            CapabilityFlags::CLIENT_MULTI_RESULTS | CapabilityFlags::CLIENT_MULTI_STATEMENTS;
        if !self.session.capabilities.intersects(takes) {
            return Err(SqlError::new(
                1312,
                "PROCEDURE sys can't return a result set in the given context",
            ));
        }
        self.session.send(rows, true, self.binary)
    }

    /// Shows the rows of a SELECT.
    fn select(&mut self, sql: &str) -> Result<()> {
        let rows = self.session.select(sql, &[])?;
        self.show(rows)
    }

    /// Shows one text.
    fn say(&mut self, name: &str, text: impl Into<String>) -> Result<()> {
        let mut rows = Rows::new(&[name]);
        rows.rows.push(vec![Value::Text(text.into())]);
        self.show(rows)
    }

    /// Runs a statement as if the client had sent it.
    fn statement(&mut self, text: &str) -> Result<()> {
        let generation = self.session.shared.databases.generation();
        let plan = self.session.translate(text, generation)?;
        if plan.params > 0 || matches!(plan.action, Action::Call(_)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        if !matches!(plan.action, Action::Rows(_) | Action::Show(_)) {
            // Its OK would end the CALL for the client: the CALL's own says as much.
            return self.quietly(&plan);
        }
        self.run_plan(&plan)
    }

    fn run_plan(&mut self, plan: &Plan) -> Result<()> {
        let mut statement = None;
        let result = self.session.run(
            plan,
            &mut statement,
            &mut Columns::default(),
            &mut |_| Ok(()),
            true,
            self.binary,
        );
        if let Some(id) = statement {
            self.session.close_statement(id);
        }
        result
    }

    /// Runs a statement that gives no rows, and keeps its answer from the client.
    fn quietly(&mut self, plan: &Plan) -> Result<()> {
        let (mark, sequence) = (self.session.writer.mark(), self.session.writer.sequence());
        let result = self.run_plan(plan);
        self.session.writer.rewind(mark, sequence);
        result
    }

    /// Waits; an error when the statement is to stop.
    fn sleep(&mut self, seconds: f64) -> Result<()> {
        // A pool's worker that sleeps is none.
        let _waits = crate::server::scheduler::blocking();
        match self.session.state.sleep(seconds.max(0.0)) {
            true => Err(self.session.control.interruption()),
            false => Ok(()),
        }
    }

    /// table_exists.
    fn table_exists(&mut self) -> Result<Value> {
        let (database, table) = (
            self.text(0).unwrap_or_default(),
            self.text(1).unwrap_or_default(),
        );
        let found = self.session.select(
            "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
            &[&database, &table],
        )?;
        Ok(Value::Text(match found.rows.first().map(|row| &row[0]) {
            Some(Value::Text(kind)) if kind.ends_with("VIEW") => "VIEW".into(),
            Some(_) => "BASE TABLE".into(),
            None => String::new(),
        }))
    }
}

/// A value of a row as text.
fn cell(row: &[Value], i: usize) -> String {
    match row.get(i) {
        Some(Value::Text(t)) => t.clone(),
        Some(Value::Integer(n)) => n.to_string(),
        Some(Value::Real(x)) => x.to_string(),
        _ => String::new(),
    }
}
