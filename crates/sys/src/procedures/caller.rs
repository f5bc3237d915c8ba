//! Who calls a procedure, and a call that runs.

use rusqlite::types::Value;

use super::kept::Kept;
use crate::view::View;
use tare_dialect::plan::Sql;
use tare_dialect::schema::Rewritten;
use tare_mysql::error::Result;
use tare_mysql::series::Series;
use tare_query::result::Rows;

/// What a procedure asks of the session that calls it: everything runs with that session's rights.
pub trait Caller {
    /// The rows of a SELECT on system schemas, in MySQL's dialect; `?` are the parameters.
    fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows>;

    /// The rows of a SELECT that is SQLite's already.
    fn rows(&mut self, sql: &Sql, parameters: &[&str]) -> Result<Rows>;

    /// A view's query as SQLite reads it.
    fn rewritten(&mut self, view: &View) -> Result<Rewritten>;

    /// UPDATE, INSERT or DELETE in performance_schema; how many rows.
    fn change(&mut self, statement: &str, parameters: &[&str]) -> Result<usize>;

    /// TRUNCATE of a system table.
    fn truncate(&mut self, schema: &str, table: &str) -> Result<()>;

    /// Runs a statement as if the client had sent it.
    fn statement(&mut self, text: &str) -> Result<()>;

    /// Sends a result; more will follow, if only the OK of the CALL.
    fn show(&mut self, rows: &Rows) -> Result<()>;

    /// 1227 unless the account has all privileges.
    fn root_only(&self, privilege: &str) -> Result<()>;

    /// An option of schema sys: the session's `@sys.NAME`, or sys_config's.
    fn option(&self, name: &str) -> Option<String>;

    /// The default database.
    fn database(&self) -> Option<String>;

    /// Adds a warning to those of the CALL.
    fn warn(&self, code: u16, message: &str);

    /// Waits; an error when the CALL is to stop.
    fn sleep(&mut self, seconds: f64) -> Result<()>;

    /// The series whose tables there are.
    fn series(&self) -> Series;

    /// What is kept from one call to the next.
    fn kept(&mut self) -> &mut Kept;
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
    pub(super) fn is(&self, i: usize) -> bool {
        match self.text(i) {
            None => false,
            Some(text) => {
                text.eq_ignore_ascii_case("true")
                    || text.trim().parse().is_ok_and(|n: f64| n != 0.0)
            }
        }
    }

    /// Changes rows of performance_schema.
    pub(super) fn change(&mut self, statement: &str, parameters: &[&str]) -> Result<usize> {
        self.caller.change(statement, parameters)
    }

    /// Shows rows.
    pub(super) fn show(&mut self, rows: Rows) -> Result<()> {
        self.caller.show(&rows)
    }

    /// Shows the rows of a SELECT.
    pub(super) fn select(&mut self, query: &str) -> Result<()> {
        let rows = self.caller.select(query, &[])?;
        self.show(rows)
    }

    /// Shows one text.
    pub(super) fn say(&mut self, name: &str, text: impl Into<String>) -> Result<()> {
        let mut rows = Rows::new(&[name]);
        rows.rows.push(vec![Value::Text(text.into())]);
        self.show(rows)
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
