//! `left op ANY (query)`, `left op ALL (query)`: compared with the query's least or greatest row.

use crate::error::{Result, near};
use sqlparser::ast::{BinaryOperator, Expr, Ident, Query, Select, SetExpr, TableFactor};

use crate::node::{self, binary, call, nested, query};

/// The name of the rows' only column.
const COLUMN_NAME: &str = "tare_c";

/// `left op ANY (query)`: whether the comparison is true for one row.
pub(super) fn any(left: Expr, op: BinaryOperator, right: Expr) -> Result<Expr> {
    let query = subquery(right)?;
    let bound = match op {
        BinaryOperator::Eq => return Ok(is_in(left, query, false)),
        BinaryOperator::NotEq => {
            let other = binary(column(), BinaryOperator::NotEq, left);
            return Ok(exists(one_where(query, other), false));
        }
        BinaryOperator::Gt | BinaryOperator::GtEq => "min",
        BinaryOperator::Lt | BinaryOperator::LtEq => "max",
        other => return Err(near(other)),
    };
    let holds = holds(left, op, bound, query.clone());
    Ok(nested(node::case(
        vec![
            (exists(query.clone(), true), node::number(0)),
            (holds.clone(), node::number(1)),
            (has_nulls(query), node::null()),
        ],
        holds,
    )))
}

/// `left op ALL (query)`: whether the comparison is true for all rows.
pub(super) fn all(left: Expr, op: BinaryOperator, right: Expr) -> Result<Expr> {
    let query = subquery(right)?;
    let bound = match op {
        BinaryOperator::NotEq => return Ok(is_in(left, query, true)),
        BinaryOperator::Eq => {
            let other = node::is_not(column(), left);
            return Ok(nested(exists(one_where(query, other), true)));
        }
        BinaryOperator::Lt | BinaryOperator::LtEq => "min",
        BinaryOperator::Gt | BinaryOperator::GtEq => "max",
        other => return Err(near(other)),
    };
    let holds = holds(left, op, bound, query.clone());
    Ok(nested(node::case(
        vec![
            (exists(query.clone(), true), node::number(1)),
            (node::not(nested(holds.clone())), node::number(0)),
            (has_nulls(query), node::null()),
        ],
        holds,
    )))
}

fn subquery(right: Expr) -> Result<Query> {
    match right {
        Expr::Subquery(query) => Ok(*query),
        other => Err(near(other)),
    }
}

fn column() -> Expr {
    Expr::Identifier(Ident::new(COLUMN_NAME))
}

fn is_in(left: Expr, query: Query, negated: bool) -> Expr {
    nested(Expr::InSubquery {
        expr: Box::new(left),
        subquery: Box::new(query),
        negated,
    })
}

fn exists(query: Query, negated: bool) -> Expr {
    Expr::Exists {
        subquery: Box::new(query),
        negated,
    }
}

/// The query's rows, with a name for their column.
fn rows(query: Query) -> TableFactor {
    let null = query::aliased(node::null(), Ident::new(COLUMN_NAME));
    let none = Select {
        selection: Some(node::number(0)),
        ..query::select(vec![null])
    };
    let all = query::select_from(vec![query::all()], query::derived(query, None));
    let body = query::union_all(
        Some(SetExpr::Select(Box::new(none))),
        SetExpr::Select(Box::new(all)),
    );
    query::derived(query::of_body(body), None)
}

/// `SELECT 1 FROM rows WHERE selection`.
fn one_where(query: Query, selection: Expr) -> Query {
    let one = query::select_from(vec![query::unnamed(node::number(1))], rows(query));
    query::query(Select {
        selection: Some(selection),
        ..one
    })
}

/// `(SELECT value FROM rows)`.
fn value_of(value: Expr, query: Query) -> Expr {
    let select = query::select_from(vec![query::unnamed(value)], rows(query));
    Expr::Subquery(Box::new(query::query(select)))
}

/// Whether the comparison is true of the least or the greatest row.
fn holds(left: Expr, op: BinaryOperator, bound: &str, query: Query) -> Expr {
    binary(left, op, value_of(call(bound, vec![column()]), query))
}

/// Whether a row is NULL.
fn has_nulls(query: Query) -> Expr {
    let all = node::call_of_all("count");
    let not_null = call("count", vec![column()]);
    value_of(binary(all, BinaryOperator::Gt, not_null), query)
}
