//! Texts that are asked whether they are true: whether their number is not 0.

use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
};

use super::Rewriter;
use crate::function::name_of;
use crate::{node, types};

impl Rewriter<'_> {
    /// Writes the comparison with 0, which a function of ours makes. SQLite would read the number out of 64 MiB of
    /// digits without looking whether the statement was killed.
    pub(super) fn conditions(&mut self, expr: &mut Expr) {
        match expr {
            Expr::BinaryOp { left, op, right } if self.joins(op) => {
                self.condition(left);
                self.condition(right);
            }
            Expr::UnaryOp {
                op: UnaryOperator::Not | UnaryOperator::BangNot,
                expr,
            }
            | Expr::IsTrue(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotFalse(expr) => self.condition(expr),
            Expr::Case {
                operand: None,
                conditions,
                ..
            } => {
                for when in conditions {
                    self.condition(&mut when.condition);
                }
            }
            Expr::Function(f) if name_of(f) == "if" => {
                if let FunctionArguments::List(list) = &mut f.args
                    && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) =
                        list.args.first_mut()
                {
                    self.condition(first);
                }
            }
            _ => {}
        }
    }

    /// The same of one condition.
    pub(super) fn condition(&mut self, expr: &mut Expr) {
        if self.side(expr).is(types::is_text) {
            node::replace(expr, |e| {
                let compared =
                    node::binary(node::nested(e), BinaryOperator::NotEq, node::number(0));
                node::nested(compared)
            });
        }
    }

    /// AND and OR.
    fn joins(&self, op: &BinaryOperator) -> bool {
        match op {
            BinaryOperator::And | BinaryOperator::Or => true,
            BinaryOperator::StringConcat => !self.mode.pipes_concat,
            _ => false,
        }
    }
}
