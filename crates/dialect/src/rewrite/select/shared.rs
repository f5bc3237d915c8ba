//! `*` over USING and NATURAL: the shared columns come first, once.

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, JoinConstraint, JoinOperator, Select, SelectItem, TableFactor,
    TableWithJoins,
};

use crate::join::{constraint, shares_columns};
use crate::name::{ident, last_name};
use crate::node::query;
use crate::rewrite::Rewriter;
use crate::scope::Relation;

/// A column of a join: its table's name, and its own.
#[derive(Clone)]
struct JoinedColumn {
    table: String,
    name: String,
}

impl JoinedColumn {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl Rewriter<'_> {
    /// Writes the columns of `*`, if its tables share some and all of them are known.
    pub(super) fn expand_shared_columns(&self, select: &mut Select) {
        let is_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_));
        if !select.projection.iter().any(is_star) || !shares_columns(&select.from) {
            return;
        }
        let Some(scope) = self.names.scopes.last() else {
            return;
        };
        let mut relations = scope.relations.iter();
        let columns: Option<Vec<Vec<JoinedColumn>>> = select
            .from
            .iter()
            .map(|table| joined(table, &mut relations))
            .collect();
        let Some(columns) = columns else { return };
        let item = |column: &JoinedColumn| {
            let parts = vec![ident(&column.table), ident(&column.name)];
            query::aliased(Expr::CompoundIdentifier(parts), ident(&column.name))
        };
        let all: Vec<SelectItem> = columns.iter().flatten().map(item).collect();
        let items = std::mem::take(&mut select.projection).into_iter();
        select.projection = items
            .flat_map(|i| if is_star(&i) { all.clone() } else { vec![i] })
            .collect();
    }

    /// Replaces a name in GROUP BY that several tables have by the item of the SELECT that has it.
    pub(super) fn group_by_items(&self, select: &mut Select) {
        let Some(scope) = self.names.scopes.last() else {
            return;
        };
        if shares_columns(&select.from) {
            return;
        }
        let GroupByExpr::Expressions(by, _) = &mut select.group_by else {
            return;
        };
        for key in by {
            let Expr::Identifier(name) = &*key else {
                continue;
            };
            let has_it = |relation: &&Relation| {
                let mut columns = relation.columns.iter().flat_map(|all| all.iter());
                columns.any(|c| c.name.eq_ignore_ascii_case(&name.value))
            };
            if scope.relations.iter().filter(has_it).count() < 2 {
                continue;
            }
            let is_named = |wanted: &Ident| wanted.value.eq_ignore_ascii_case(&name.value);
            let item = select.projection.iter().find_map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } if is_named(alias) => Some(expr),
                SelectItem::UnnamedExpr(expr @ Expr::CompoundIdentifier(parts))
                    if parts.last().is_some_and(is_named) =>
                {
                    Some(expr)
                }
                _ => None,
            });
            if let Some(item) = item {
                *key = item.clone();
            }
        }
    }
}

/// The columns of a table and what it is joined with, in the order of `*`.
fn joined<'r>(
    table: &TableWithJoins,
    relations: &mut impl Iterator<Item = &'r Relation>,
) -> Option<Vec<JoinedColumn>> {
    let mut left = factor(&table.relation, relations)?;
    for join in &table.joins {
        let right = factor(&join.relation, relations)?;
        // The columns of the table that keeps all of its rows come first.
        let is_right = matches!(
            join.join_operator,
            JoinOperator::Right(_) | JoinOperator::RightOuter(_)
        );
        let (first, second) = match is_right {
            true => (right, left),
            false => (left, right),
        };
        let shares = |column: &JoinedColumn| match constraint(&join.join_operator) {
            Some(JoinConstraint::Using(names)) => names.iter().any(|n| column.is(&last_name(n))),
            Some(JoinConstraint::Natural) => {
                let is_in = |all: &[JoinedColumn]| all.iter().any(|c| c.is(&column.name));
                is_in(&first) && is_in(&second)
            }
            _ => false,
        };
        let (shared, others): (Vec<_>, Vec<_>) = first.iter().cloned().partition(&shares);
        let rest = second.iter().filter(|c| !shares(c)).cloned();
        left = shared.into_iter().chain(others).chain(rest).collect();
    }
    Some(left)
}

fn factor<'r>(
    factor: &TableFactor,
    relations: &mut impl Iterator<Item = &'r Relation>,
) -> Option<Vec<JoinedColumn>> {
    if let TableFactor::NestedJoin {
        table_with_joins, ..
    } = factor
    {
        return joined(table_with_joins, relations);
    }
    let relation = relations.next()?;
    let column = |name: &str| JoinedColumn {
        table: relation.alias.clone(),
        name: name.to_owned(),
    };
    let columns = relation.columns.as_ref()?;
    Some(columns.iter().map(|c| column(&c.name)).collect())
}
