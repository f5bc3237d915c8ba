//! UNION and its kin, and queries in parentheses: SQLite has neither parentheses around the parts
//! of a compound nor ORDER BY within them.

use sqlparser::ast::{
    Expr, Parens, Query, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement, Values,
};
use tare_mysql::error::Result;

use super::Rewriter;
use crate::name::ident;
use crate::{near, parse_one};

/// `SELECT * FROM (query)`.
pub(super) fn select_from(query: Query) -> Result<SetExpr> {
    let Statement::Query(mut outer) = parse_one("SELECT * FROM (SELECT 1) AS q")? else {
        return Err(near("SELECT"));
    };
    if let SetExpr::Select(select) = outer.body.as_mut()
        && let Some(table) = select.from.first_mut()
        && let sqlparser::ast::TableFactor::Derived { subquery, .. } = &mut table.relation
    {
        **subquery = query;
    }
    Ok(*outer.body)
}

/// `SELECT items FROM (query)`.
pub fn select_of(items: Vec<SelectItem>, query: Query) -> Result<Query> {
    let mut body = select_from(query)?;
    if let SetExpr::Select(select) = &mut body {
        select.projection = items;
    }
    Ok(query_of(body))
}

fn query_of(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

fn is_bare(query: &Query) -> bool {
    query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none()
}

impl Rewriter<'_> {
    /// Brings a query into a form that SQLite reads. Before its parts are looked at.
    pub(super) fn arrange(&mut self, query: &mut Query) -> Result<()> {
        // (SELECT ...) ORDER BY x: the parentheses' query, or a query of it.
        while matches!(query.body.as_ref(), SetExpr::Query(_)) {
            let SetExpr::Query(inner) = *std::mem::replace(&mut query.body, empty()) else {
                break;
            };
            if is_bare(&inner) {
                query.body = inner.body;
            } else if is_bare(query) {
                *query = *inner;
            } else {
                *query.body = select_from(*inner)?;
            }
        }
        self.parts(query.body.as_mut(), true)?;
        self.rolled_up(query)
    }

    fn parts(&mut self, body: &mut SetExpr, first: bool) -> Result<()> {
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
                    return Err(tare_mysql::error::SqlError::unsupported(format!(
                        "{op} ALL"
                    )));
                }
                self.parts(left, first)?;
                self.parts(right, false)?;
                // SQLite reads from left to right: what is meant to be joined first goes inside.
                if matches!(right.as_ref(), SetExpr::SetOperation { .. }) {
                    let inner = std::mem::replace(right, empty());
                    **right = select_from(query_of(*inner))?;
                }
                Ok(())
            }
            SetExpr::Query(query) => {
                let mut inner = std::mem::replace(query.as_mut(), query_of(*empty()));
                if is_bare(&inner) {
                    *body = *inner.body;
                    self.parts(body, first)
                } else {
                    // Its own ORDER BY and LIMIT stay inside.
                    if inner.with.is_none() && inner.limit_clause.is_none() {
                        inner.order_by = None;
                        *body = *inner.body;
                        return self.parts(body, first);
                    }
                    *body = select_from(inner)?;
                    Ok(())
                }
            }
            SetExpr::Values(values) if values.explicit_row => {
                *body = rows(values, first)?;
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
fn rows(values: &Values, _first: bool) -> Result<SetExpr> {
    let mut all: Option<SetExpr> = None;
    for row in &values.rows {
        let row: &Parens<Vec<Expr>> = row;
        let Statement::Query(query) = parse_one("SELECT 1")? else {
            return Err(near("VALUES"));
        };
        let mut body = *query.body;
        if let SetExpr::Select(select) = &mut body {
            select.projection = row
                .iter()
                .enumerate()
                .map(|(i, expr)| SelectItem::ExprWithAlias {
                    expr: expr.clone(),
                    alias: ident(&format!("column_{i}")),
                })
                .collect();
        }
        all = Some(match all {
            None => body,
            Some(left) => SetExpr::SetOperation {
                op: SetOperator::Union,
                set_quantifier: SetQuantifier::All,
                left: Box::new(left),
                right: Box::new(body),
            },
        });
    }
    all.ok_or_else(|| near("VALUES"))
}
