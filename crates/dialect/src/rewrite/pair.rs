//! `a IN (b, c)` and `CASE a WHEN b WHEN c` as pairs, `a = b` and `a = c`, where they have to be.

use sqlparser::ast::{BinaryOperator, Expr};

use super::Rewriter;
use super::change::is_certain;
use super::exact::compare::operands;
use crate::error::{Error, Result};
use crate::{node, types, walk};

/// What an expression may consist of that is written once for each pair.
const SMALL: usize = 16;

/// How many values of IN become a chain of OR. More are rare among texts that are no literals.
const FEW: usize = 16;

impl Rewriter<'_> {
    /// Writes the pairs of a text with texts and numbers: MySQL compares each in its own way, and SQLite all
    /// alike. And those of texts in IN that are no literals: SQLite looks whether one is NULL by all of them as
    /// integers, and reads megabytes of digits for that.
    pub(super) fn pairs(&mut self, expr: &mut Expr) -> Result<()> {
        let is_case = matches!(expr, Expr::Case { .. });
        if !is_case && !matches!(expr, Expr::InList { .. }) {
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
        let numbers = others
            .iter()
            .filter(|e| self.side(e).is(types::is_number))
            .count();
        let texts = others
            .iter()
            .filter(|e| self.side(e).is(types::is_text))
            .count();
        let mixed = numbers > 0 && texts > 0;
        let is_literal = |e: &&mut Expr| matches!(e, Expr::Value(_));
        let reads_texts = !is_case && texts == others.len() && !others.iter().all(is_literal);
        match self.may_repeat(first) {
            true if mixed || reads_texts && others.len() <= FEW => write(expr),
            false if mixed => {
                return Err(Error::unsupported(
                    "to compare such an expression with texts and numbers",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether an expression means the same wherever it is written, and what becomes of it is no longer than
    /// its text by more than a factor.
    fn may_repeat(&self, expr: &Expr) -> bool {
        let (mut parts, mut grows) = (0, false);
        walk::expressions(expr, &mut |e| {
            parts += 1;
            grows |= matches!(e, Expr::Case { .. } | Expr::InList { .. });
        });
        parts <= SMALL && !grows && is_certain(&*self.names.schema, expr)
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
