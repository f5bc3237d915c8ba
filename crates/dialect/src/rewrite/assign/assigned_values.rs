//! The values that an UPDATE has assigned so far, which later assignments read.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::node;
use sqlparser::ast::{Expr, Ident, Query, VisitMut, VisitorMut};

/// The marker before a column that is to be replaced by the value that was assigned to it.
pub(crate) const ASSIGNED_MARK: &str = "tare_given";

/// The assigned values by column, and whether each has the same value when it is evaluated again.
#[derive(Debug, Default)]
pub(crate) struct AssignedValues(HashMap<String, (Expr, bool)>);

impl AssignedValues {
    /// Adds an assignment.
    pub(crate) fn add(&mut self, column: &str, value: &Expr, certain: bool) {
        let value = (value.clone(), certain);
        self.0.insert(column.to_lowercase(), value);
    }

    /// The value that was assigned to a column.
    pub(crate) fn value(&self, column: &str) -> Option<&Expr> {
        self.0.get(&column.to_lowercase()).map(|(value, _)| value)
    }

    /// Marks the columns in a later value that were assigned before: MySQL assigns from left to right.
    pub(crate) fn mark(&self, value: &mut Expr) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut depth = 0;
        let mut visitor = Mark {
            assigned: self,
            depth: &mut depth,
        };
        match value.visit(&mut visitor) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

struct Mark<'a> {
    assigned: &'a AssignedValues,
    depth: &'a mut usize,
}

impl VisitorMut for Mark<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        *self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        *self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let name = match &*expr {
            Expr::Identifier(name) => name,
            Expr::CompoundIdentifier(parts) => match parts.last() {
                Some(name) => name,
                None => return ControlFlow::Continue(()),
            },
            _ => return ControlFlow::Continue(()),
        };
        let Some((_, certain)) = self.assigned.0.get(&name.value.to_lowercase()) else {
            return ControlFlow::Continue(());
        };
        if *self.depth > 0 || !certain {
            return ControlFlow::Break(Error::unsupported(
                "a column that has been assigned, in a subquery, or with a value of chance",
            ));
        }
        node::replace(expr, |column| Expr::Prefixed {
            prefix: Ident::new(ASSIGNED_MARK),
            value: Box::new(column),
        });
        ControlFlow::Continue(())
    }
}
