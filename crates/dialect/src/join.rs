//! The conditions of joins.

use sqlparser::ast::{JoinConstraint, JoinOperator, TableWithJoins};

/// ON, USING or NATURAL.
pub fn constraint(operator: &JoinOperator) -> Option<&JoinConstraint> {
    match operator {
        JoinOperator::Join(c)
        | JoinOperator::Inner(c)
        | JoinOperator::Left(c)
        | JoinOperator::LeftOuter(c)
        | JoinOperator::Right(c)
        | JoinOperator::RightOuter(c)
        | JoinOperator::FullOuter(c)
        | JoinOperator::CrossJoin(c)
        | JoinOperator::StraightJoin(c) => Some(c),
        _ => None,
    }
}

/// Whether a FROM clause has fewer columns than its tables: USING and NATURAL share some.
pub fn shares_columns(from: &[TableWithJoins]) -> bool {
    let joins = from.iter().flat_map(|table| &table.joins);
    joins.into_iter().any(|join| {
        matches!(
            constraint(&join.join_operator),
            Some(JoinConstraint::Using(_) | JoinConstraint::Natural)
        )
    })
}
