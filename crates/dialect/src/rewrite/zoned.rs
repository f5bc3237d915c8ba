//! TIMESTAMP columns of sessions whose time zone is not UTC: they are stored in UTC, and a read converts them
//! to the zone. ORDER BY and GROUP BY use the stored values.

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind,
};

use super::rewriter::Rewriter;
use crate::error::{Error, Result};
use crate::join::shares_columns;
use crate::name::{ident, last_name};
use crate::node;
use crate::scope::Relation;

/// The marker before a column that is read as it is stored.
pub(super) const RAW_MARK: &str = "tare_raw";

impl Rewriter<'_> {
    /// Whether an expression is a column that a read converts to the zone.
    pub(super) fn is_zoned(&self, expr: &Expr) -> bool {
        self.names.zoned
            && matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
            && self.names.column_of(expr).is_some_and(|c| c.zoned)
    }

    /// Marks a TIMESTAMP column to be read as it is stored.
    fn as_stored(&self, expr: &mut Expr) {
        if self.is_zoned(expr) {
            node::replace(expr, |column| Expr::Prefixed {
                prefix: Ident::new(RAW_MARK),
                value: Box::new(column),
            });
        }
    }

    pub(super) fn order_as_stored(&self, query: &mut Query) {
        if let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(by) = &mut order.kind
            && self.names.zoned
        {
            by.iter_mut().for_each(|by| self.as_stored(&mut by.expr));
        }
    }

    pub(super) fn group_as_stored(&self, select: &mut Select) {
        if let GroupByExpr::Expressions(by, _) = &mut select.group_by
            && self.names.zoned
        {
            by.iter_mut().for_each(|expr| self.as_stored(expr));
        }
    }

    /// Gives converted columns their names, and expands `*` if one of its columns is converted.
    pub(super) fn name_timestamps(&self, select: &mut Select) -> Result<()> {
        let is_star = |item: &SelectItem| {
            matches!(
                item,
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
            )
        };
        if !self.names.zoned {
            return Ok(());
        }
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item
                && self.is_zoned(expr)
            {
                // Otherwise the column's name would be the text of the call.
                let name = match &*expr {
                    Expr::CompoundIdentifier(parts) => parts.last(),
                    Expr::Identifier(name) => Some(name),
                    _ => None,
                };
                let alias = name.map(|n| ident(&n.value)).unwrap_or_else(|| ident(""));
                *item = SelectItem::ExprWithAlias {
                    expr: node::take(expr),
                    alias,
                };
            }
        }
        if !select.projection.iter().any(is_star) {
            return Ok(());
        }
        let Some(scope) = self.names.scopes.last() else {
            return Ok(());
        };
        let has = |relation: &Relation| {
            let columns = relation.columns.iter().flat_map(|all| all.iter());
            columns.into_iter().any(|c| c.zoned)
        };
        if !scope.relations.iter().any(has) {
            return Ok(());
        }
        if shares_columns(&select.from) {
            return Err(Error::unsupported(
                "* of a TIMESTAMP over USING or NATURAL, where time_zone is not UTC; name the columns",
            ));
        }
        let mut items = Vec::new();
        for item in std::mem::take(&mut select.projection) {
            let of = match &item {
                SelectItem::Wildcard(_) => None,
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => Some(last_name(name)),
                _ => {
                    items.push(item);
                    continue;
                }
            };
            let is_named = |r: &&Relation| {
                of.as_ref()
                    .is_none_or(|name| r.alias.eq_ignore_ascii_case(name))
            };
            for relation in scope.relations.iter().filter(is_named) {
                let Some(columns) = &relation.columns else {
                    return Err(Error::unsupported(
                        "* of columns that are not known; name them",
                    ));
                };
                items.extend(columns.iter().map(|column| SelectItem::ExprWithAlias {
                    expr: Expr::CompoundIdentifier(vec![
                        ident(&relation.alias),
                        ident(&column.name),
                    ]),
                    alias: ident(&column.name),
                }));
            }
        }
        select.projection = items;
        Ok(())
    }
}
