//! Splits `a IN (b, c)` and `CASE a WHEN b WHEN c` into `a = b` and `a = c` if the kinds are mixed.

use sqlparser::ast::{BinaryOperator, Expr};

use super::Rewriter;
use super::change::is_certain;
use super::compare::Side;
use super::operands::operands;
use crate::error::{Error, Result};
use crate::function::{arguments, name_of};
use crate::{node, types, walk};

/// Nodes of an expression that may be written once for each pair.
const MAX_REPEATED_NODES: usize = 16;

impl Rewriter<'_> {
    /// Writes the pairs of a text with texts and numbers: MySQL compares each in its own way, and SQLite all
    /// alike.
    pub(super) fn pairs(&mut self, expr: &mut Expr) -> Result<()> {
        self.split_nullif(expr);
        if !matches!(expr, Expr::Case { .. } | Expr::InList { .. }) {
            return Ok(());
        }
        let Some(all) = operands(expr) else {
            return Ok(());
        };
        let [first, others @ ..] = &all[..] else {
            return Ok(());
        };
        if !self.side(first).is(types::is_text) {
            return Ok(());
        }
        let mut has = |kind| others.iter().any(|e| self.side(e).is(kind));
        if !(has(types::is_number) && has(types::is_text)) {
            return Ok(());
        }
        if !self.may_repeat(first) {
            return Err(Error::unsupported(
                "to compare such an expression with texts and numbers",
            ));
        }
        write(expr);
        Ok(())
    }

    /// Writes NULLIF of a number and a text, or of a document and anything else, as CASE: the values are converted to
    /// be compared, and the first is the result.
    fn split_nullif(&mut self, expr: &mut Expr) {
        let Expr::Function(f) = &*expr else { return };
        let [first, second] = arguments(f)[..] else {
            return;
        };
        if name_of(f) != "nullif" || !self.may_repeat(first) {
            return;
        }
        let (a, b) = (self.side(first), self.side(second));
        let is_mixed = |a: &Side, b: &Side| a.is(types::is_number) && b.is(types::is_text);
        if is_mixed(&a, &b) || is_mixed(&b, &a) || a.is(types::is_json) || b.is(types::is_json) {
            let equal = node::binary(
                node::nested(first.clone()),
                BinaryOperator::Eq,
                node::nested(second.clone()),
            );
            *expr = node::nested(node::case(vec![(equal, node::null())], first.clone()));
        }
    }

    /// Whether an expression may be written several times: its value is the same each time, and its SQLite text
    /// is longer than its own text by a constant factor at most.
    fn may_repeat(&self, expr: &Expr) -> bool {
        let (mut parts, mut grows) = (0, false);
        walk::expressions(expr, &mut |e| {
            parts += 1;
            grows |= matches!(e, Expr::Case { .. } | Expr::InList { .. });
        });
        parts <= MAX_REPEATED_NODES && !grows && is_certain(&*self.names.schema, expr)
    }
}

/// Writes the pairs.
fn write(expr: &mut Expr) {
    let equal = |a: &Expr, b: &mut Expr| {
        let a = node::nested(a.clone());
        node::binary(a, BinaryOperator::Eq, node::nested(node::take(b)))
    };
    match expr {
        Expr::Case {
            operand,
            conditions,
            ..
        } => {
            if let Some(operand) = operand.take() {
                for when in conditions {
                    when.condition = equal(&operand, &mut when.condition);
                }
            }
        }
        Expr::InList {
            expr: first,
            list,
            negated,
        } => {
            let pairs = list.iter_mut().map(|e| equal(first, e));
            let any = pairs.reduce(|all, one| node::binary(all, BinaryOperator::Or, one));
            let negated = *negated;
            if let Some(any) = any {
                *expr = node::nested(node::negated(negated, node::nested(any)));
            }
        }
        _ => {}
    }
}
