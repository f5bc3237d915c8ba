//! The session that calls a procedure, and the call that runs.

use rusqlite::types::Value;
use tare_functions::EvaluationContext;
use tare_mysql::error::Result;
use tare_mysql::interrupt;
use tare_query::result::Rows;
use tare_query::runner::StatementRunner;

use super::state::ProcedureState;

/// The session that calls a procedure: everything runs with its rights.
pub trait Caller {
    /// Runs statements whose results the procedure reads.
    fn runner(&mut self) -> &mut dyn StatementRunner;

    /// Runs a statement as if the client had sent it.
    fn run_statement(&mut self, text: &str) -> Result<()>;

    /// Sends a result; more will follow, if only the OK of the CALL.
    fn send(&mut self, rows: &Rows) -> Result<()>;

    /// What procedures store between calls.
    fn state(&mut self) -> &mut ProcedureState;
}

/// A call that runs.
pub(super) struct Call<'c> {
    pub(super) caller: &'c mut dyn Caller,
    pub(super) arguments: &'c [Value],
}

impl Call<'_> {
    /// An argument as text; `None` for NULL.
    pub(super) fn text(&self, i: usize) -> Option<String> {
        match self.arguments.get(i)? {
            Value::Null => None,
            Value::Integer(n) => Some(n.to_string()),
            Value::Real(x) => Some(x.to_string()),
            Value::Text(t) => Some(t.clone()),
            Value::Blob(b) => Some(String::from_utf8_lossy(b).into_owned()),
        }
    }

    /// An argument as a number; `None` for NULL and for what is none.
    pub(super) fn number(&self, i: usize) -> Option<f64> {
        self.text(i)?.trim().parse().ok()
    }

    /// An argument as a condition.
    pub(super) fn flag(&self, i: usize) -> bool {
        match self.text(i) {
            None => false,
            Some(text) => {
                text.eq_ignore_ascii_case("true")
                    || text.trim().parse().is_ok_and(|n: f64| n != 0.0)
            }
        }
    }

    /// The facts of the session.
    pub(super) fn context(&mut self) -> &dyn EvaluationContext {
        self.caller.runner().context()
    }

    /// The rows of a SELECT.
    pub(super) fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows> {
        self.caller.runner().select(query, parameters)
    }

    /// Changes rows of performance_schema.
    pub(super) fn change(&mut self, statement: &str, parameters: &[&str]) -> Result<u64> {
        self.caller.runner().change(statement, parameters)
    }

    /// Runs statements that undo changes of performance_schema, even if the call was killed meanwhile.
    pub(super) fn undo(&mut self, statements: &[String]) -> Result<()> {
        interrupt::ignore_during(|| {
            let mut statements = statements.iter();
            statements.try_for_each(|statement| self.change(statement, &[]).map(drop))
        })
    }

    /// TRUNCATE of a table of performance_schema.
    pub(super) fn truncate(&mut self, table: &str) -> Result<()> {
        let system = self.caller.runner().system()?;
        system.truncate("performance_schema", table)
    }

    /// 1227 for who may not change settings.
    pub(super) fn require_settings(&mut self, privilege: &str) -> Result<()> {
        self.context().rights().require_settings(privilege)
    }

    /// Sends a result.
    pub(super) fn send(&mut self, rows: Rows) -> Result<()> {
        self.caller.send(&rows)
    }

    /// Sends the rows of a SELECT.
    pub(super) fn send_select(&mut self, query: &str) -> Result<()> {
        let rows = self.select(query, &[])?;
        self.send(rows)
    }

    /// Sends one text.
    pub(super) fn send_text(&mut self, name: &str, text: impl Into<String>) -> Result<()> {
        self.send(Rows::single(name, text.into()))
    }
}

/// A value of a row as text.
pub(super) fn cell(row: &[Value], i: usize) -> String {
    match row.get(i) {
        Some(Value::Text(t)) => t.clone(),
        Some(Value::Integer(n)) => n.to_string(),
        Some(Value::Real(x)) => x.to_string(),
        _ => String::new(),
    }
}
