//! Columns of statements that use a temporary table for groups, distinct rows, windows or sorting.

use std::sync::Arc;

use mysql_common::constants::ColumnFlags;
use sqlparser::ast::{Expr, Function, GroupByExpr, OrderBy, OrderByKind, Select, SelectItem};

use super::columns::has_aggregate;
use super::{Column, Origin};
use crate::function::{is_aggregate, name_of};
use crate::schema::Schema;
use crate::{types, walk};

/// How a SELECT uses a temporary table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    /// It uses none.
    None,
    /// It sorts the rows of a join: only the tables' columns are stored.
    Sorted,
    /// Groups or distinct rows are stored.
    Grouped,
    /// Groups that an index finds are stored to be sorted, or rows for windows: all is stored.
    Complete,
}

impl Groups {
    /// What a SELECT with these columns uses.
    pub(super) fn of(
        select: &Select,
        sorts: Option<&OrderBy>,
        joins_tables: bool,
        columns: &[Column],
    ) -> Self {
        let has_windows = expressions(select).any(|e| e.is_some_and(has_window));
        if has_windows {
            return Self::Complete;
        }
        let by = match &select.group_by {
            GroupByExpr::Expressions(by, modifiers) if modifiers.is_empty() => by.as_slice(),
            _ => return Self::Grouped,
        };
        let is_single = matches!(select.from.as_slice(), [one] if one.joins.is_empty());
        if by.is_empty() && select.distinct.is_none() {
            if sorts.is_some() && joins_tables {
                return Self::Complete;
            }
            return match sorts.is_some() && !is_single && !select.from.is_empty() {
                true => Self::Sorted,
                false => Self::None,
            };
        }
        // An index has the groups in their order.
        let key = match by {
            [] if columns.len() == 1 => columns.first(),
            [Expr::Identifier(name)] => columns
                .iter()
                .find(|c| c.name.eq_ignore_ascii_case(&name.value)),
            _ => None,
        };
        let leads_index = |c: &Column| {
            let keys = ColumnFlags::PRI_KEY_FLAG
                | ColumnFlags::UNIQUE_KEY_FLAG
                | ColumnFlags::MULTIPLE_KEY_FLAG;
            c.wire.is_some_and(|t| t.flags.intersects(keys))
        };
        match key {
            Some(key) if is_single && leads_index(key) => match sorts {
                Some(sorts) if !sorts_by(sorts, &key.name) => Self::Complete,
                _ => Self::None,
            },
            _ => Self::Grouped,
        }
    }

    /// Gives the columns the types that they have in the temporary table.
    pub(super) fn apply(self, schema: &dyn Schema, select: &Select, columns: &mut [Column]) {
        if self == Self::None {
            return;
        }
        let is_rollup = matches!(&select.group_by,
            GroupByExpr::Expressions(_, modifiers) if !modifiers.is_empty());
        let mut items = expressions(select);
        // With `*` the expressions are not the columns.
        let is_exact = select.projection.len() == columns.len();
        for column in columns.iter_mut() {
            let expr = items.next().flatten().filter(|_| is_exact);
            if column.store_sorted() {
                continue;
            }
            if column
                .origin
                .as_ref()
                .is_some_and(|o| !o.org_table.is_empty())
            {
                if is_rollup {
                    column.wire = column
                        .wire
                        .map(|t| types::nullable(types::operand(t), true));
                    column.origin = None;
                } else {
                    column.wire = column.temporary_type();
                }
                continue;
            }
            column.own_scale = false;
            let Some(expr) = expr.filter(|_| self != Self::Sorted && !is_rollup) else {
                continue;
            };
            if is_constant(schema, expr) {
                continue;
            }
            let is_aggregate = has_aggregate(expr, schema);
            if self == Self::Grouped && is_aggregate {
                // AVG is computed when it is read, as is what uses an aggregate.
                let is_plain = matches!(expr, Expr::Function(f) if name_of(f) != "avg");
                if is_plain {
                    column.wire = column.temporary_type();
                }
                continue;
            }
            column.wire = column.temporary_type();
            column.origin = Some(Arc::new(Origin {
                org_name: column.name.clone(),
                ..Origin::default()
            }));
        }
    }
}

fn expressions(select: &Select) -> impl Iterator<Item = Option<&Expr>> {
    select.projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => Some(e),
        _ => None,
    })
}

/// Whether ORDER BY begins with this column.
fn sorts_by(sorts: &OrderBy, name: &str) -> bool {
    let OrderByKind::Expressions(by) = &sorts.kind else {
        return false;
    };
    matches!(by.first().map(|by| &by.expr),
        Some(Expr::Identifier(first)) if first.value.eq_ignore_ascii_case(name))
}

/// Whether an expression is the same for all rows, or is a subquery.
fn is_constant(schema: &dyn Schema, expr: &Expr) -> bool {
    let mut is_constant = true;
    walk::expressions(expr, &mut |e| {
        let varies = match e {
            Expr::Identifier(name) => !name.value.starts_with('@'),
            Expr::CompoundIdentifier(parts) => !parts[0].value.starts_with('@'),
            Expr::Function(f) => is_window(f) || is_aggregate(schema, &name_of(f)),
            _ => false,
        };
        is_constant &= !varies;
    });
    is_constant
}

/// Whether a call has a window.
fn is_window(f: &Function) -> bool {
    f.over.is_some()
}

/// Whether an expression has a function of a window.
pub(super) fn has_window(expr: &Expr) -> bool {
    let mut result = false;
    walk::expressions(expr, &mut |e| {
        result |= matches!(e, Expr::Function(f) if is_window(f));
    });
    result
}
