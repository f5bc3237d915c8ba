//! Scalar subqueries: SQLite takes the first row, and MySQL refuses a second one
//! (1242).

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, LimitClause, ObjectName, Query, SelectItem, SetExpr, Value,
};

use super::Rewriter;
use super::select::aggregates;
use crate::name::ident;
use crate::node::{self, query};
use crate::schema::Schema;

impl Rewriter<'_> {
    /// Remembers a scalar subquery, before its parts are rewritten.
    pub(super) fn enter_subquery(&mut self, expr: &Expr) {
        match expr {
            Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } => {
                self.subqueries.many.push(&raw const **right);
            }
            // The views of schema sys need no check.
            Expr::Subquery(query)
                if self.database != Some("sys")
                    && !self.subqueries.many.contains(&(&raw const *expr))
                    && may_give_more(&*self.names.schema, query) =>
            {
                self.subqueries.one.push(expr);
            }
            _ => {}
        }
    }

    /// Wraps a query that may return several rows in a function that refuses the second.
    pub(super) fn leave_subquery(&mut self, expr: &mut Expr) {
        let place: *const Expr = expr;
        if let Expr::Subquery(query) = expr
            && self.subqueries.one.pop_if(|one| *one == place).is_some()
        {
            let query = std::mem::replace(query.as_mut(), query::query(query::select(Vec::new())));
            *expr = Expr::Subquery(Box::new(require_one_row(query)));
        }
    }
}

/// `WITH "tare one" (v) AS (query) SELECT tare_only(v) FROM "tare one"`.
fn require_one_row(query: Query) -> Query {
    let (rows, value) = (ident("tare one"), Ident::new("v"));
    let only = node::call("tare_only", vec![Expr::Identifier(value.clone())]);
    let select = query::select_from(
        vec![query::unnamed(only)],
        query::table(ObjectName::from(rows.clone())),
    );
    Query {
        with: Some(query::with(query::table_alias(rows, vec![value]), query)),
        ..query::query(select)
    }
}

/// Whether a query of one column may return several rows, judged by its text.
fn may_give_more(schema: &dyn Schema, query: &Query) -> bool {
    let limited = match &query.limit_clause {
        Some(LimitClause::LimitOffset {
            limit: Some(limit), ..
        }) => is_one(limit),
        Some(LimitClause::OffsetCommaLimit { limit, .. }) => is_one(limit),
        _ => false,
    };
    let SetExpr::Select(select) = query.body.as_ref() else {
        return !limited && matches!(query.body.as_ref(), SetExpr::SetOperation { .. });
    };
    let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] =
        select.projection.as_slice()
    else {
        return false;
    };
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    !select.from.is_empty() && !limited && (grouped || !aggregates(schema, value))
}

fn is_one(limit: &Expr) -> bool {
    matches!(limit, Expr::Value(v) if matches!(&v.value, Value::Number(n, _) if n == "1" || n == "0"))
}
