//! CALL: a procedure of schema sys, run with the session's rights.

use rusqlite::types::Value;

use super::answer;
use super::execute;
use super::execute::prepare::{self, Answer, Bind, Run};
use super::session::{Columns, Session};
use tare_dialect::plan::{Action, Call, Plan};
use tare_dialect::schema::Direction;
use tare_mysql::error::{Result, SqlError};
use tare_query::result::{Rows, owned};
use tare_query::runner::StatementRunner;
use tare_sys::procedures::{self, Caller, ProcedureState};

/// A session that calls a procedure.
struct ProcedureCaller<'s> {
    session: &'s mut Session,
    /// The procedure's results are not the last ones.
    answer: Answer,
}

/// CALL. The results go to the client; who runs the statement answers with OK behind them.
pub fn call(session: &mut Session, call: &Call, bind: Bind<'_>, binary: bool) -> Result<()> {
    let arguments = arguments(session, call, bind)?;
    let answer = Answer { more: true, binary };
    let mut caller = ProcedureCaller { session, answer };
    let out = procedures::run(&mut caller, call.procedure, &arguments)?;
    for ((mode, ..), variable) in call.procedure.parameters.iter().zip(&call.variables) {
        if let (Direction::Out, Some(variable), Some(value)) = (mode, variable, &out) {
            session
                .state
                .user_variables
                .set(variable, value.clone(), false);
        }
    }
    Ok(())
}

/// The values that a procedure is called with.
fn arguments(session: &mut Session, call: &Call, bind: Bind<'_>) -> Result<Vec<Value>> {
    if call.procedure.parameters.is_empty() {
        return Ok(Vec::new());
    }
    prepare::start(session, &call.values)?;
    let connection = session.connections.of(&call.values)?;
    let id = connection.prepare(&call.values.text)?;
    let values = (|| {
        let mut cursor = connection.run(id)?;
        bind(&mut cursor)?;
        cursor.step()?;
        let text = |value| match value {
            Value::Blob(b) => Value::Text(String::from_utf8_lossy(&b).into_owned()),
            other => other,
        };
        Ok((0..cursor.columns())
            .map(|i| text(owned(cursor.value(i))))
            .collect())
    })();
    connection.close(id);
    values
}

impl ProcedureCaller<'_> {
    fn run(&mut self, plan: &Plan) -> Result<()> {
        let mut statement = None;
        let run = Run {
            statement: &mut statement,
            columns: &mut Columns::default(),
            bind: &mut |_| Ok(()),
            answer: self.answer,
        };
        let result = execute::run(self.session, plan, run);
        if let Some(id) = statement {
            self.session.connections.close(id);
        }
        result
    }
}

impl Caller for ProcedureCaller<'_> {
    fn runner(&mut self) -> &mut dyn StatementRunner {
        self.session
    }

    fn run_statement(&mut self, text: &str) -> Result<()> {
        let generation = self.session.shared.databases.generation();
        let plan = prepare::translate(self.session, text, generation)?;
        if plan.params > 0 || matches!(plan.action, Action::Call(_)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        if matches!(plan.action, Action::Rows(_) | Action::Show(_)) {
            return self.run(&plan);
        }
        // The OK of a statement would end the CALL for the client. The CALL sends its own OK at the end.
        let writer = &self.session.client.writer;
        let (mark, sequence) = (writer.mark(), writer.sequence());
        let result = self.run(&plan);
        self.session.client.writer.rewind(mark, sequence);
        result
    }

    fn send(&mut self, rows: &Rows) -> Result<()> {
        if !self.session.client.has_multi_results() {
            return Err(SqlError::new(
                1312,
                "PROCEDURE sys can't return a result set in the given context",
            ));
        }
        answer::send(self.session, rows, self.answer)
    }

    fn state(&mut self) -> &mut ProcedureState {
        &mut self.session.procedures
    }
}
