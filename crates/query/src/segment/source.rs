//! What the system schemas show of a segment that no server stands behind.

use std::sync::Arc;

use tare_mysql::series::Series;
use tare_mysql::variable::Scope;
use tare_reader::Segment;
use tare_rows::extension::Extension;
use tare_rows::options::Options;
use tare_rows::source::{Source, Variable};

use super::state::State;
use crate::programs::Programs;

/// A segment, and the evaluator's own variables.
pub(super) struct Attached {
    pub(super) state: Arc<State>,
    pub(super) programs: &'static dyn Programs,
}

impl Source for Attached {
    fn series(&self) -> Series {
        self.programs.series()
    }

    fn segment(&self) -> Option<Arc<Segment>> {
        self.state.segment.clone()
    }

    fn variables(&self, scope: Scope) -> Vec<Variable> {
        let all = self.state.variables(scope).into_iter();
        all.map(|(name, value)| Variable::new(name, value))
            .collect()
    }

    fn sys_config(&self) -> Option<&dyn Options> {
        Some(&*self.state.options)
    }

    fn extension(&self) -> Option<&'static dyn Extension> {
        Some(self.programs)
    }

    fn engine_version(&self) -> &str {
        rusqlite::version()
    }
}
