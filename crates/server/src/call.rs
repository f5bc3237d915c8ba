//! CALL: a procedure of schema sys, run with the session's rights.

use rusqlite::types::Value;

use super::answer;
use super::blocking::mark_blocked;
use super::execute;
use super::execute::internal;
use super::execute::prepare::{self, Answer, Bind, Run};
use super::session::{Columns, Session};
use tare_dialect::plan::{Action, Call, Plan, Sql};
use tare_dialect::schema::{Direction, Rewritten, View as _};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;
use tare_query::result::{Rows, owned};
use tare_query::schema::SystemSchema;
use tare_sys as sys;
use tare_sys::option::option;
use tare_sys::procedures::{self, Caller, Kept};

/// A session that calls a procedure.
struct Calling<'s> {
    session: &'s mut Session,
    /// The procedure's results are not the last ones.
    answer: Answer,
}

/// CALL. The results go to the client; who runs the statement answers with OK behind them.
pub fn call(session: &mut Session, call: &Call, bind: Bind<'_>, binary: bool) -> Result<()> {
    let arguments = arguments(session, call, bind)?;
    let answer = Answer { more: true, binary };
    let mut caller = Calling { session, answer };
    let out = procedures::run(&mut caller, call.procedure, &arguments)?;
    for ((mode, ..), variable) in call.procedure.parameters.iter().zip(&call.variables) {
        if let (Direction::Out, Some(variable), Some(value)) = (mode, variable, &out) {
            session.state.user_variables.set(variable, value.clone());
        }
    }
    Ok(())
}

/// The values that a procedure is called with.
fn arguments(session: &mut Session, call: &Call, bind: Bind<'_>) -> Result<Vec<Value>> {
    if call.procedure.parameters.is_empty() {
        return Ok(Vec::new());
    }
    prepare::ready(session, &call.values)?;
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

impl Calling<'_> {
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

impl Caller for Calling<'_> {
    fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows> {
        internal::select(self.session, query, parameters)
    }

    fn rows(&mut self, sql: &Sql, parameters: &[&str]) -> Result<Rows> {
        let system = self.session.connections.system()?;
        system.select(sql, &internal::texts(parameters))
    }

    fn rewritten(&mut self, view: &sys::View) -> Result<Rewritten> {
        Ok(view
            .query(&mut SystemSchema::new(sys::Sys::of(self.series())))
            .cloned()?)
    }

    fn change(&mut self, statement: &str, parameters: &[&str]) -> Result<usize> {
        let generation = self.session.shared.databases.generation();
        let plan = prepare::translate(self.session, statement, generation)?;
        let Action::Write(sql, change) = plan.action else {
            return Err(tare_dialect::near(statement).into());
        };
        prepare::may_change(self.session, &sql, change)?;
        let system = self.session.connections.system()?;
        let rows = system.change(&sql, &internal::texts(parameters))?;
        Ok(rows as usize)
    }

    fn truncate(&mut self, schema: &str, table: &str) -> Result<()> {
        self.session.connections.system()?.truncate(schema, table)
    }

    fn statement(&mut self, text: &str) -> Result<()> {
        let generation = self.session.shared.databases.generation();
        let plan = prepare::translate(self.session, text, generation)?;
        if plan.params > 0 || matches!(plan.action, Action::Call(_)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        if matches!(plan.action, Action::Rows(_) | Action::Show(_)) {
            return self.run(&plan);
        }
        // Its OK would end the CALL for the client: the CALL's own says as much.
        let writer = &self.session.client.writer;
        let (mark, sequence) = (writer.mark(), writer.sequence());
        let result = self.run(&plan);
        self.session.client.writer.rewind(mark, sequence);
        result
    }

    fn show(&mut self, rows: &Rows) -> Result<()> {
        if !self.session.client.takes_several() {
            return Err(SqlError::new(
                1312,
                "PROCEDURE sys can't return a result set in the given context",
            ));
        }
        answer::send(self.session, rows, self.answer)
    }

    fn root_only(&self, privilege: &str) -> Result<()> {
        self.session.require_set(privilege)
    }

    fn option(&self, name: &str) -> Option<String> {
        option(&*self.session.state, name)
    }

    fn database(&self) -> Option<String> {
        self.session.state.database()
    }

    fn warn(&self, code: u16, message: &str) {
        self.session.state.warnings.add("Warning", code, message);
    }

    fn sleep(&mut self, seconds: f64) -> Result<()> {
        // A pool's worker that sleeps is none.
        let _waits = mark_blocked();
        match self.session.state.sleep(seconds.max(0.0)) {
            true => Err(self.session.control.interruption()),
            false => Ok(()),
        }
    }

    fn series(&self) -> Series {
        self.session.shared.config.series
    }

    fn kept(&mut self) -> &mut Kept {
        &mut self.session.kept
    }
}
