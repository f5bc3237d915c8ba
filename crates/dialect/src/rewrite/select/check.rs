//! Errors of a SELECT that SQLite does not report, or reports differently.

use crate::error::{Clause, Error, Result, near};
use sqlparser::ast::{
    Expr, LimitClause, OrderByKind, Query, Select, SelectItem, SetExpr, TableFactor, Value,
};

use crate::depth::{MAX_JOINED_TABLES, check_column_count};
use crate::join::shares_columns;
use crate::rewrite::Rewriter;
use crate::scope::Column;

impl Rewriter<'_> {
    /// Checks that the columns of a derived table have different names.
    pub(super) fn check_unique_columns(&mut self, select: &Select) -> Result<()> {
        for from in &select.from {
            let joined = from.joins.iter().map(|j| &j.relation);
            for factor in std::iter::once(&from.relation).chain(joined) {
                let TableFactor::Derived {
                    subquery, alias, ..
                } = factor
                else {
                    continue;
                };
                if alias.as_ref().is_some_and(|a| !a.columns.is_empty())
                    || matches!(subquery.body.as_ref(), SetExpr::Select(s) if shares_columns(&s.from))
                {
                    continue;
                }
                let columns = self.names.columns(subquery).unwrap_or_default();
                for (i, one) in columns.iter().enumerate() {
                    let again = |c: &Column| c.name.eq_ignore_ascii_case(&one.name);
                    if !one.name.is_empty() && columns[..i].iter().any(again) {
                        return Err(Error::DuplicateColumn(one.name.clone()));
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks that the tables of one FROM have different names.
    pub(super) fn check_unique_tables(&self) -> Result<()> {
        let Some(scope) = self.names.scopes.last() else {
            return Ok(());
        };
        // Tables that commas join are not counted in the tokens.
        if scope.relations.len() > MAX_JOINED_TABLES {
            return Err(Error::TooManyTables);
        }
        for (i, one) in scope.relations.iter().enumerate() {
            let again = scope.relations[..i].iter().any(|other| {
                !one.alias.is_empty()
                    && other.alias.eq_ignore_ascii_case(&one.alias)
                    && other.database == one.database
            });
            if again {
                return Err(Error::DuplicateTable(one.alias.clone()));
            }
        }
        Ok(())
    }

    /// Errors that SQLite does not report, or reports differently.
    pub(in crate::rewrite) fn check(&self, query: &Query) -> Result<()> {
        let by = query.order_by.as_ref().map(|order| &order.kind);
        if let (SetExpr::Select(select), Some(OrderByKind::Expressions(by))) =
            (query.body.as_ref(), by)
        {
            check_column_count(by.len())?;
            positions(
                by.iter().map(|o| &o.expr),
                &select.projection,
                Clause::Order,
            )?;
        }
        let Some(limit) = &query.limit_clause else {
            return Ok(());
        };
        let bounds = match limit {
            LimitClause::LimitOffset { limit, offset, .. } => {
                [limit.as_ref(), offset.as_ref().map(|o| &o.value)]
            }
            LimitClause::OffsetCommaLimit { offset, limit } => [Some(limit), Some(offset)],
        };
        for bound in bounds.into_iter().flatten() {
            let plain = matches!(bound, Expr::Value(v)
                if matches!(&v.value, Value::Placeholder(_))
                    || matches!(&v.value, Value::Number(n, _) if n.parse::<u64>().is_ok()));
            if !plain {
                return Err(near(bound));
            }
        }
        Ok(())
    }
}

/// Checks that numbers in GROUP BY and ORDER BY are positions of the select list.
pub(super) fn positions<'e>(
    by: impl Iterator<Item = &'e Expr>,
    projection: &[SelectItem],
    clause: Clause,
) -> Result<()> {
    let star = projection.iter().any(|i| {
        matches!(
            i,
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
        )
    });
    for expr in by {
        if let Expr::Value(v) = expr
            && let Value::Number(n, _) = &v.value
            && let Ok(place) = n.parse::<usize>()
            && !star
            && !(1..=projection.len()).contains(&place)
        {
            return Err(Error::UnknownColumn {
                name: place.to_string(),
                clause,
            });
        }
    }
    Ok(())
}
