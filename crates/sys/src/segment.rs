//! Statements on a segment, with schema sys: what `tare sql`, `tare top` and `tare explain` call.

use std::any::Any;
use std::sync::Arc;

use tare_dialect::near;
use tare_dialect::plan::{Action, Call};
use tare_dialect::schema::Direction;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;
use tare_query::programs::Programs;
use tare_query::result::Rows;
use tare_query::runner::StatementRunner;
use tare_query::segment::{Data, DigestFn, Evaluator, Outcome};
use tare_reader::Segment;

use crate::Sys;
use crate::config::SysConfig;
use crate::procedures::{self, Caller, ProcedureState};

/// A session on a segment.
#[derive(Debug)]
pub struct SegmentSession {
    evaluator: Evaluator,
    procedures: ProcedureState,
}

impl SegmentSession {
    /// On a segment that is attached. `digest` computes digests of statements. The options of schema sys are
    /// the defaults, and what is changed in sys_config holds for this session.
    ///
    /// # Errors
    /// SQLite's, where it has no memory.
    pub fn open(segment: Arc<Segment>, digest: DigestFn) -> Result<Self> {
        Self::open_with(Data::Segment(segment), Sys::of(Series::default()), digest)
    }

    /// On the tables that these programs have in place of a segment's, and nothing else. The tables get `data`
    /// from their source.
    ///
    /// # Errors
    /// SQLite's, where it has no memory.
    pub fn with_programs(
        programs: &'static dyn Programs,
        data: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self> {
        Self::open_with(Data::Extension(data), programs, |_, _| None)
    }

    fn open_with(data: Data, programs: &'static dyn Programs, digest: DigestFn) -> Result<Self> {
        let options = Arc::new(SysConfig::load(None));
        Ok(Self {
            evaluator: Evaluator::open(data, programs, options, digest)?,
            procedures: ProcedureState::default(),
        })
    }

    /// Evaluates a statement. `take` gets each result. There is one, except for CALL: a procedure may return
    /// several results before the last, which has no rows.
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
        let mut caller = SegmentCaller {
            session: self,
            take,
        };
        let out = procedures::run(&mut caller, call.procedure, &arguments)?;
        for ((direction, ..), variable) in call.procedure.parameters.iter().zip(&call.variables) {
            if let (Direction::Out, Some(variable), Some(value)) = (direction, variable, &out) {
                let context = self.evaluator.context();
                context.set_user_variable(variable, value.clone(), false);
            }
        }
        Ok(Outcome::Changed(0))
    }
}

/// A session that calls a procedure.
struct SegmentCaller<'c> {
    session: &'c mut SegmentSession,
    take: &'c mut dyn FnMut(Outcome),
}

impl Caller for SegmentCaller<'_> {
    fn runner(&mut self) -> &mut dyn StatementRunner {
        &mut self.session.evaluator
    }

    fn run_statement(&mut self, text: &str) -> Result<()> {
        let plan = self.session.evaluator.plan(text)?;
        if plan.params > 0 || matches!(plan.action, Action::Call(_)) {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        // The CALL itself reports what has no rows.
        if let rows @ Outcome::Rows(_) = self.session.evaluator.evaluate(&plan, &[])? {
            (self.take)(rows);
        }
        Ok(())
    }

    fn send(&mut self, rows: &Rows) -> Result<()> {
        (self.take)(Outcome::Rows(rows.clone()));
        Ok(())
    }

    fn state(&mut self) -> &mut ProcedureState {
        &mut self.session.procedures
    }
}
