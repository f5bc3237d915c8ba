//! ONLY_FULL_GROUP_BY refuses a column that neither is grouped by nor depends on the grouped ones. Only
//! certain errors are refused: plain columns of one table, whose keys are known.

use crate::error::{Error, Result};
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, TableFactor,
};

use super::Rewriter;
use super::select::aggregates;
use crate::walk;

/// The name of an expression that is a column.
fn column(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Identifier(name) => Some(&name.value),
        Expr::CompoundIdentifier(parts) => parts.last().map(|p| p.value.as_str()),
        _ => None,
    }
}

fn mentions(expr: &Expr, name: &str) -> bool {
    let mut matched = false;
    walk::expressions(expr, &mut |e| {
        matched |= column(e).is_some_and(|c| c.eq_ignore_ascii_case(name));
    });
    matched
}

/// Whether an expression has a subquery, whose aggregates are its own.
fn has_subquery(expr: &Expr) -> bool {
    let mut matched = false;
    walk::expressions(expr, &mut |e| {
        matched |= matches!(
            e,
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. }
        );
    });
    matched
}

impl Rewriter<'_> {
    /// 3065: ORDER BY a column that DISTINCT does not select.
    pub(super) fn check_distinct_order(&mut self, query: &Query) -> Result<()> {
        let (SetExpr::Select(select), Some(order)) = (query.body.as_ref(), &query.order_by) else {
            return Ok(());
        };
        let OrderByKind::Expressions(by) = &order.kind else {
            return Ok(());
        };
        if !self.mode.full_group_by || !matches!(select.distinct, Some(Distinct::Distinct)) {
            return Ok(());
        }
        for (i, order) in by.iter().enumerate() {
            let Some(name) = column(&order.expr) else {
                continue;
            };
            let selected = select.projection.iter().any(|item| match item {
                SelectItem::UnnamedExpr(expr) => mentions(expr, name),
                SelectItem::ExprWithAlias { expr, alias } => {
                    mentions(expr, name) || alias.value.eq_ignore_ascii_case(name)
                }
                // The columns of `*` are not checked.
                _ => true,
            });
            if !selected && self.names.column_of(&order.expr).is_some() {
                return Err(Error::NotSelected {
                    place: i + 1,
                    column: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// 1140 without GROUP BY, 1055 with it.
    pub(super) fn check_full_group_by(&mut self, select: &Select) -> Result<()> {
        if !self.mode.full_group_by {
            return Ok(());
        }
        let [from] = select.from.as_slice() else {
            return Ok(());
        };
        let (
            TableFactor::Table {
                name, args: None, ..
            },
            true,
        ) = (&from.relation, from.joins.is_empty())
        else {
            return Ok(());
        };
        let GroupByExpr::Expressions(by, _) = &select.group_by else {
            return Ok(());
        };
        let Some(by) = by.iter().map(column).collect::<Option<Vec<&str>>>() else {
            return Ok(());
        };
        let items = || {
            select.projection.iter().filter_map(|item| match item {
                SelectItem::UnnamedExpr(expr) => Some((expr, None)),
                SelectItem::ExprWithAlias { expr, alias } => Some((expr, Some(&alias.value))),
                _ => None,
            })
        };
        if by.is_empty()
            && !items()
                .any(|(expr, _)| aggregates(&*self.names.schema, expr) && !has_subquery(expr))
        {
            return Ok(());
        }
        let is_cte = name.0.len() == 1
            && name.0[0]
                .as_ident()
                .is_some_and(|i| self.names.ctes.contains_key(&i.value.to_lowercase()));
        let Ok((database, table)) = self.resolve(name) else {
            return Ok(());
        };
        if is_cte {
            return Ok(());
        }
        let grouped = |name: &str| by.iter().any(|b| b.eq_ignore_ascii_case(name));
        let Some((columns, decided)) = self.columns_and_key(&database, &table, grouped) else {
            return Ok(());
        };
        let has = |name: &str| columns.iter().any(|c| c.eq_ignore_ascii_case(name));
        let is_primary = |name: &&str| {
            has(name)
                || items().any(|(_, alias)| alias.is_some_and(|a| a.eq_ignore_ascii_case(name)))
        };
        if !by.iter().all(is_primary) {
            return Ok(());
        }
        // The whole row depends on a key.
        if decided {
            return Ok(());
        }
        for (i, (expr, alias)) in items().enumerate() {
            let Some(name) = column(expr) else { continue };
            if !has(name)
                || grouped(name)
                || alias.is_some_and(|a| grouped(a) && !has(a))
                // GROUP BY finds a column before an alias. A column in WHERE may have one value, too.
                || select.selection.as_ref().is_some_and(|w| mentions(w, name))
            {
                continue;
            }
            let place = i + 1;
            let column = format!("{database}.{table}.{name}");
            return Err(if by.is_empty() {
                Error::NotAggregated { place, column }
            } else {
                Error::NotGrouped { place, column }
            });
        }
        Ok(())
    }

    /// A table's columns, and whether its whole row may depend on the grouped columns. `None` for an unknown
    /// table.
    fn columns_and_key(
        &mut self,
        database: &str,
        table: &str,
        grouped: impl Fn(&str) -> bool,
    ) -> Option<(Vec<String>, bool)> {
        if let Some(def) = self.names.definition(database, table) {
            let mut keys = def.indexes.iter().filter(|i| i.unique);
            let decided = def.view.is_some() || keys.any(|i| i.columns.iter().all(|c| grouped(c)));
            return Some((
                def.columns.iter().map(|c| c.name.clone()).collect(),
                decided,
            ));
        }
        if !database.eq_ignore_ascii_case("performance_schema") {
            return None;
        }
        let columns = self.names.table(database, table)?;
        let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
        // Each key of MySQL's begins with the table's first column, or with one of these.
        let decided = names.first().is_some_and(|first| grouped(first))
            || grouped("object_instance_begin")
            || grouped("owner_thread_id");
        Some((names, decided))
    }
}
