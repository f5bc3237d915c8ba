//! Statements on a segment, with schema sys: what `tare sql`, `tare top` and `tare explain` call.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::Value;
use tare_dialect::near;
use tare_dialect::plan::{Action, Call, Sql};
use tare_dialect::schema::{Direction, Rewritten, View as _};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;
use tare_query::programs::Programs;
use tare_query::result::Rows;
use tare_query::schema::SystemSchema;
use tare_query::segment::{Evaluator, Outcome};
use tare_query::show::Session as _;
use tare_reader::Segment;

use crate::config::SysConfig;
use crate::option::option;
use crate::procedures::{self, Caller, Kept};
use crate::{Sys, View};

/// A session on a segment.
#[derive(Debug)]
pub struct Session {
    evaluator: Evaluator,
    kept: Kept,
}

impl Session {
    /// On a segment that is attached. The options of schema sys are the defaults, and what is changed
    /// in sys_config holds for this session.
    ///
    /// # Errors
    /// SQLite's, where it has no memory.
    pub fn open(segment: Arc<Segment>) -> Result<Self> {
        Self::over(Some(segment), Sys::of(Series::default()))
    }

    /// On the tables that these programs have in place of a segment's, and nothing else.
    ///
    /// # Errors
    /// SQLite's, where it has no memory.
    pub fn instead(programs: &'static dyn Programs) -> Result<Self> {
        Self::over(None, programs)
    }

    fn over(segment: Option<Arc<Segment>>, programs: &'static dyn Programs) -> Result<Self> {
        let options = Arc::new(SysConfig::load(None));
        Ok(Self {
            evaluator: Evaluator::open(segment, programs, options)?,
            kept: Kept::default(),
        })
    }

    /// Evaluates a statement. `take` gets each result: one, but for CALL, whose procedure may show
    /// several before the last, which has no rows.
    ///
    /// # Errors
    /// MySQL's; 1235 for what a segment cannot do.
    pub fn query(&mut self, text: &str, take: &mut dyn FnMut(Outcome)) -> Result<()> {
        let plan = self.evaluator.plan(text)?;
        if plan.params > 0 {
            return Err(near("?").into());
        }
        let last = match &plan.action {
            Action::Call(call) => self.call(call, take),
            _ => self.evaluator.evaluate(&plan, &[]),
        };
        take(last?);
        Ok(())
    }

    /// CALL.
    fn call(&mut self, call: &Call, take: &mut dyn FnMut(Outcome)) -> Result<Outcome> {
        let arguments = match call.procedure.parameters.is_empty() {
            true => Vec::new(),
            false => self.evaluator.values(&call.values)?,
        };
        let mut calling = Calling {
            session: self,
            take,
        };
        let out = procedures::run(&mut calling, call.procedure, &arguments)?;
        for ((direction, ..), variable) in call.procedure.parameters.iter().zip(&call.variables) {
            if let (Direction::Out, Some(variable), Some(value)) = (direction, variable, &out) {
                let asked = self.evaluator.asked();
                asked.set_user_variable(variable, value.clone());
            }
        }
        Ok(Outcome::Changed(0))
    }
}

/// A session that calls a procedure.
struct Calling<'c> {
    session: &'c mut Session,
    take: &'c mut dyn FnMut(Outcome),
}

impl Caller for Calling<'_> {
    fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows> {
        self.session.evaluator.select(query, parameters)
    }

    fn rows(&mut self, sql: &Sql, parameters: &[&str]) -> Result<Rows> {
        let parameters = parameters.iter().map(|p| Value::Text((*p).to_owned()));
        let parameters: Vec<Value> = parameters.collect();
        self.session.evaluator.system().select(sql, &parameters)
    }

    fn rewritten(&mut self, view: &View) -> Result<Rewritten> {
        Ok(view
            .query(&mut SystemSchema::new(Sys::of(self.series())))
            .cloned()?)
    }

    fn change(&mut self, statement: &str, parameters: &[&str]) -> Result<usize> {
        let changed = self.session.evaluator.write(statement, parameters)?;
        Ok(changed as usize)
    }

    fn truncate(&mut self, schema: &str, table: &str) -> Result<()> {
        self.session.evaluator.system().truncate(schema, table)
    }

    fn statement(&mut self, text: &str) -> Result<()> {
        let plan = self.session.evaluator.plan(text)?;
        if plan.params > 0 || matches!(plan.action, Action::Call(_)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        // What has no rows is told by the CALL itself.
        if let rows @ Outcome::Rows(_) = self.session.evaluator.evaluate(&plan, &[])? {
            (self.take)(rows);
        }
        Ok(())
    }

    fn show(&mut self, rows: &Rows) -> Result<()> {
        (self.take)(Outcome::Rows(rows.clone()));
        Ok(())
    }

    fn root_only(&self, _privilege: &str) -> Result<()> {
        // Whoever may not change the segment is told so by the segment.
        Ok(())
    }

    fn option(&self, name: &str) -> Option<String> {
        option(self.session.evaluator.asked(), name)
    }

    fn database(&self) -> Option<String> {
        self.session.evaluator.database()
    }

    fn warn(&self, code: u16, message: &str) {
        self.session.evaluator.warn(code, message);
    }

    fn sleep(&mut self, seconds: f64) -> Result<()> {
        std::thread::sleep(Duration::from_secs_f64(seconds.max(0.0)));
        Ok(())
    }

    fn series(&self) -> Series {
        Series::default()
    }

    fn kept(&mut self) -> &mut Kept {
        &mut self.session.kept
    }
}
