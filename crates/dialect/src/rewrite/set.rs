//! UNION, EXCEPT, INTERSECT, and queries in parentheses: SQLite has neither parentheses around the parts of
//! a compound nor ORDER BY within them.

use crate::error::{Clause, Error, Result, near};
use sqlparser::ast::{
    Expr, OrderBy, OrderByKind, Query, SetExpr, SetOperator, SetQuantifier, Values,
};

use super::Rewriter;
use crate::name::ident;
use crate::node::query;
use crate::scope::Column;

/// `SELECT * FROM (query)`.
fn all_of(query: Query) -> SetExpr {
    *query::select_of(vec![query::all()], query).body
}

fn is_bare(query: &Query) -> bool {
    query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none()
}

/// Whether ORDER BY has anything but names and numbers of columns.
fn sorts_by_expressions(order: &OrderBy) -> bool {
    let OrderByKind::Expressions(all) = &order.kind else {
        return false;
    };
    all.iter()
        .any(|by| !matches!(by.expr, Expr::Identifier(_) | Expr::Value(_)))
}

impl Rewriter<'_> {
    /// Converts a query into a form that SQLite parses, before its parts are visited.
    pub(super) fn arrange(&mut self, query: &mut Query) -> Result<()> {
        // (SELECT ...) ORDER BY x: the query in parentheses, or a query of its rows.
        while matches!(query.body.as_ref(), SetExpr::Query(_)) {
            let SetExpr::Query(mut inner) = *std::mem::replace(&mut query.body, empty()) else {
                break;
            };
            if is_bare(&inner) {
                query.locks.append(&mut inner.locks);
                query.body = inner.body;
            } else if is_bare(query) {
                *query = *inner;
            } else {
                *query.body = all_of(*inner);
            }
        }
        self.check_compound_order(query)?;
        self.parts(query.body.as_mut())?;
        // SQLite sorts a compound by its columns only: expressions go outside.
        if matches!(query.body.as_ref(), SetExpr::SetOperation { .. })
            && query.order_by.as_ref().is_some_and(sorts_by_expressions)
        {
            let compound = std::mem::replace(&mut query.body, empty());
            *query.body = all_of(query::of_body(*compound));
        }
        self.expand_rollup(query)
    }

    /// ORDER BY of a compound names the result's columns (1054), not those of one of its tables (1250).
    fn check_compound_order(&mut self, query: &Query) -> Result<()> {
        let by = query.order_by.as_ref().map(|order| &order.kind);
        let (SetExpr::SetOperation { .. }, Some(OrderByKind::Expressions(by))) =
            (query.body.as_ref(), by)
        else {
            return Ok(());
        };
        let Some(columns) = self.names.columns(query) else {
            return Ok(());
        };
        for by in by {
            let (name, is_there) = match &by.expr {
                Expr::Identifier(name) => {
                    let is_it = |c: &Column| c.name.eq_ignore_ascii_case(&name.value);
                    (name.value.clone(), columns.iter().any(is_it))
                }
                Expr::Value(number) => {
                    let n = number.to_string().parse::<usize>();
                    let is_there = n.map_or(true, |n| (1..=columns.len()).contains(&n));
                    (number.to_string(), is_there)
                }
                Expr::CompoundIdentifier(parts) if parts.len() > 1 => {
                    return Err(Error::TableOfCompound(parts[parts.len() - 2].value.clone()));
                }
                _ => continue,
            };
            if !is_there {
                let clause = Clause::Order;
                return Err(Error::UnknownColumn { name, clause });
            }
        }
        Ok(())
    }

    fn parts(&mut self, body: &mut SetExpr) -> Result<()> {
        match body {
            SetExpr::SetOperation {
                op,
                set_quantifier,
                left,
                right,
            } => {
                if *set_quantifier == SetQuantifier::Distinct {
                    *set_quantifier = SetQuantifier::None;
                }
                if *op == SetOperator::Minus {
                    *op = SetOperator::Except;
                }
                if *op != SetOperator::Union && *set_quantifier == SetQuantifier::All {
                    return Err(Error::unsupported(format!("{op} ALL")));
                }
                self.parts(left)?;
                self.parts(right)?;
                // SQLite evaluates from left to right: an operation of higher precedence becomes a subquery.
                if matches!(right.as_ref(), SetExpr::SetOperation { .. }) {
                    let inner = std::mem::replace(right, empty());
                    **right = all_of(query::of_body(*inner));
                }
                Ok(())
            }
            SetExpr::Query(query) => {
                let mut inner = std::mem::replace(query.as_mut(), query::of_body(*empty()));
                for lock in inner.locks.drain(..) {
                    self.sql.row_locks.add(&lock);
                }
                if is_bare(&inner) {
                    *body = *inner.body;
                    self.parts(body)
                } else {
                    // Its own ORDER BY and LIMIT stay inside.
                    if inner.with.is_none() && inner.limit_clause.is_none() {
                        inner.order_by = None;
                        *body = *inner.body;
                        return self.parts(body);
                    }
                    *body = all_of(inner);
                    Ok(())
                }
            }
            SetExpr::Values(values) if values.explicit_row => {
                *body = rows(values)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn empty() -> Box<SetExpr> {
    Box::new(SetExpr::Values(Values {
        explicit_row: false,
        value_keyword: false,
        rows: Vec::new(),
    }))
}

/// VALUES ROW(1, 2), ROW(3, 4): MySQL calls the columns column_0, column_1.
fn rows(values: &Values) -> Result<SetExpr> {
    let mut all = None;
    for row in &values.rows {
        let named =
            |(i, expr): (usize, &Expr)| query::aliased(expr.clone(), ident(&format!("column_{i}")));
        let select = query::select(row.iter().enumerate().map(named).collect());
        let row = SetExpr::Select(Box::new(select));
        all = Some(query::union_all(all, row));
    }
    all.ok_or_else(|| near("VALUES"))
}
