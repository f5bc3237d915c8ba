//! Procedures of schema sys: each a series of statements that run with the rights of the session that
//! calls it.

mod analyze;
mod caller;
mod diagnostics;
mod list;
mod setup;
mod state;
mod trace;

use rusqlite::types::Value;

use self::caller::Call;
pub use self::caller::Caller;
pub use self::list::{PROCEDURES, find};
pub use self::state::ProcedureState;
use tare_dialect::schema::{Direction, Procedure};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::types::parts;

/// Runs a procedure. The results go to the client of the session that calls; the value is that of
/// its OUT parameter.
pub fn run(
    caller: &mut dyn Caller,
    procedure: &Procedure,
    arguments: &[Value],
) -> Result<Option<Value>> {
    check_lengths(procedure, arguments)?;
    let mut call = Call { caller, arguments };
    match procedure.name {
        "create_synonym_db" => Err(SqlError::unsupported(
            "a second name for a database, which is a file here",
        )),
        "diagnostics" => call.diagnostics(),
        "execute_prepared_stmt" => call.execute(),
        "ps_statement_avg_latency_histogram" => call.histogram(),
        "ps_trace_statement_digest" => call.trace_digest(),
        "ps_trace_thread" => call.trace_thread(),
        "statement_performance_analyzer" => call.analyze(),
        "table_exists" => return table_exists(&mut call).map(Some),
        setup => call.setup(setup),
    }
    .map(|()| None)
}

/// Refuses texts that are longer than their parameters.
fn check_lengths(procedure: &Procedure, arguments: &[Value]) -> Result<()> {
    for ((direction, name, kind), argument) in procedure.parameters.iter().zip(arguments) {
        let kind = parts(kind);
        if let (Direction::In, "varchar", Value::Text(text)) = (direction, &*kind.base, argument)
            && let Some(most) = kind.characters()
            && text.chars().count() as u64 > most
        {
            return Err(SqlError::data_too_long(name));
        }
    }
    Ok(())
}

impl Call<'_> {
    /// execute_prepared_stmt.
    fn execute(&mut self) -> Result<()> {
        // The shortest statements, such as DO 1, have four characters.
        match self.text(0).filter(|text| text.len() >= 4) {
            Some(text) => self.caller.run_statement(&text),
            None => Err(SqlError::signal(
                "45000",
                1644,
                "The @sys.execute_prepared_stmt.sql must contain a query",
            )),
        }
    }
}

/// table_exists.
fn table_exists(call: &mut Call<'_>) -> Result<Value> {
    let database = call.text(0).unwrap_or_default();
    let table = call.text(1).unwrap_or_default();
    let rows = call.select(
        "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
        &[&database, &table],
    )?;
    Ok(Value::Text(match rows.rows.first().map(|row| &row[0]) {
        Some(Value::Text(kind)) if kind.ends_with("VIEW") => "VIEW".into(),
        Some(_) => "BASE TABLE".into(),
        None => String::new(),
    }))
}
