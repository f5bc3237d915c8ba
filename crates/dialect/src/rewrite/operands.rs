//! The operands of comparisons.

use sqlparser::ast::{BinaryOperator, Expr};

/// Whether an operator compares, by rank or for identity.
pub(super) fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(
        op,
        Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq | Op::Spaceship
    )
}

/// The operands of a comparison; for IN and CASE, the value and the values that it is compared with.
pub(super) fn operands(expr: &mut Expr) -> Option<Vec<&mut Expr>> {
    Some(match expr {
        Expr::BinaryOp { left, op, right } if is_comparison(op) => vec![left, right],
        Expr::Between {
            expr, low, high, ..
        } => vec![expr, low, high],
        Expr::InList { expr, list, .. } => std::iter::once(expr.as_mut()).chain(list).collect(),
        Expr::Case {
            operand: Some(operand),
            conditions,
            ..
        } => {
            let values = conditions.iter_mut().map(|when| &mut when.condition);
            std::iter::once(operand.as_mut()).chain(values).collect()
        }
        _ => return None,
    })
}
