//! WITH ROLLUP: one SELECT for each level of the groups, joined by UNION ALL in MySQL's order.

use crate::error::{Clause, Error, Result};
use sqlparser::ast::{
    Expr, GroupByExpr, GroupByWithModifier, Ident, OrderByKind, Query, Select, SelectItem, SetExpr,
    Value,
};

use super::Rewriter;
use crate::function::{arguments, name_of};
use crate::name::ident;
use crate::node::{self, query};
use crate::schema::Schema;
use crate::walk;

impl Rewriter<'_> {
    /// Replaces a query WITH ROLLUP by one that SQLite supports.
    pub(super) fn expand_rollup(&mut self, query: &mut Query) -> Result<()> {
        let SetExpr::Select(select) = query.body.as_mut() else {
            return Ok(());
        };
        let GroupByExpr::Expressions(by, modifiers) = &mut select.group_by else {
            return Ok(());
        };
        if modifiers.is_empty() {
            return Ok(());
        }
        if modifiers.iter().any(|m| *m != GroupByWithModifier::Rollup) {
            return Err(Error::unsupported("GROUP BY with this modifier"));
        }
        modifiers.clear();
        let by = by.clone();
        let keys = by
            .iter()
            .map(|e| key(e, &select.projection))
            .collect::<Result<Vec<_>>>()?;
        let columns = columns(&select.projection)?;
        if let Some(OrderByKind::Expressions(order)) =
            query.order_by.as_mut().map(|order| &mut order.kind)
        {
            let keys = by.iter().zip(&keys);
            order
                .iter_mut()
                .for_each(|o| order_by_result(&mut o.expr, &select.projection, keys.clone()));
        }
        let mut all: Option<SetExpr> = None;
        for key_count in (0..=keys.len()).rev() {
            let level = SetExpr::Select(Box::new(level(
                &*self.names.schema,
                select,
                &by,
                &keys,
                key_count,
            )));
            all = Some(query::union_all(all, level));
        }
        let Some(all) = all else { return Ok(()) };
        let inner = Query {
            with: query.with.take(),
            ..query::of_body(all)
        };
        let items = columns.iter().enumerate().map(|(i, name)| {
            query::aliased(Expr::Identifier(ident(&format!("tare_c{i}"))), ident(name))
        });
        query.body = query::select_of(items.collect(), inner).body;
        if query.order_by.is_none() {
            let by = |i| [format!("tare_g{i}"), format!("tare_k{i}")];
            let by = (0..keys.len()).flat_map(by);
            query.order_by = Some(query::order_by(by.map(Ident::new)));
        }
        Ok(())
    }
}

/// Replaces an item of the SELECT or a key in ORDER BY by the result's column: the tables are no longer visible.
fn order_by_result<'k>(
    expr: &mut Expr,
    projection: &[SelectItem],
    mut keys: impl Iterator<Item = (&'k Expr, &'k Expr)>,
) {
    let is_item = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => same(e, expr),
        _ => false,
    };
    if !matches!(expr, Expr::CompoundIdentifier(_)) {
        return;
    }
    let name = match projection.iter().position(is_item) {
        Some(i) => format!("tare_c{i}"),
        None => match keys.position(|(by, key)| same(by, expr) || same(key, expr)) {
            Some(i) => format!("tare_k{i}"),
            None => return,
        },
    };
    *expr = Expr::Identifier(ident(&name));
}

/// The grouped expression; a position or an alias is resolved to the select list's item.
fn key(expr: &Expr, projection: &[SelectItem]) -> Result<Expr> {
    let item = |i: &SelectItem| match i {
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => Some(e.clone()),
        _ => None,
    };
    if let Expr::Value(v) = expr
        && let Value::Number(n, _) = &v.value
        && let Ok(n) = n.parse::<usize>()
    {
        return n
            .checked_sub(1)
            .and_then(|i| projection.get(i))
            .and_then(item)
            .ok_or_else(|| Error::UnknownColumn {
                name: n.to_string(),
                clause: Clause::Group,
            });
    }
    if let Expr::Identifier(name) = expr {
        for i in projection {
            if let SelectItem::ExprWithAlias { expr, alias } = i
                && alias.value.eq_ignore_ascii_case(&name.value)
            {
                return Ok(expr.clone());
            }
        }
    }
    Ok(expr.clone())
}

fn columns(projection: &[SelectItem]) -> Result<Vec<String>> {
    projection
        .iter()
        .map(|i| match i {
            SelectItem::ExprWithAlias { alias, .. } => Ok(alias.value.clone()),
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => Ok(name.value.clone()),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
                Ok(parts.last().map(|p| p.value.clone()).unwrap_or_default())
            }
            SelectItem::UnnamedExpr(other) => Ok(other.to_string()),
            _ => Err(Error::unsupported("* with ROLLUP")),
        })
        .collect()
}

/// The groups by the first `key_count` keys; the other keys are NULL.
fn level(
    schema: &dyn Schema,
    select: &Select,
    by: &[Expr],
    keys: &[Expr],
    key_count: usize,
) -> Select {
    let mut level = select.clone();
    let rolled = |e: &mut Expr| {
        walk::change(e, &mut |e| {
            if let Expr::Function(f) = e
                && name_of(f) == "grouping"
            {
                let bits = arguments(f).iter().fold(0, |bits, argument| {
                    let away = keys[key_count..].iter().any(|k| same(k, argument))
                        || by[key_count..].iter().any(|k| same(k, argument));
                    bits * 2 + i64::from(away)
                });
                *e = node::number(bits);
            }
        });
        replace_keys(schema, e, &keys[key_count..]);
    };
    for (i, item) in level.projection.iter_mut().enumerate() {
        if let SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) = item {
            let mut expr = expr.clone();
            rolled(&mut expr);
            *item = SelectItem::ExprWithAlias {
                expr,
                alias: ident(&format!("tare_c{i}")),
            };
        }
    }
    if let Some(having) = &mut level.having {
        let names: Vec<(String, Expr)> = select
            .projection
            .iter()
            .filter_map(|i| match i {
                SelectItem::ExprWithAlias { expr, alias } => {
                    Some((alias.value.clone(), expr.clone()))
                }
                _ => None,
            })
            .collect();
        walk::change(having, &mut |e| {
            if let Expr::Identifier(name) = e
                && let Some((_, expr)) = names
                    .iter()
                    .find(|(n, _)| n.eq_ignore_ascii_case(&name.value))
            {
                *e = Expr::Nested(Box::new(expr.clone()));
            }
        });
        rolled(having);
    }
    for (i, key) in keys.iter().enumerate() {
        let gone = i >= key_count;
        level.projection.push(SelectItem::ExprWithAlias {
            expr: if gone { node::null() } else { key.clone() },
            alias: ident(&format!("tare_k{i}")),
        });
        level.projection.push(SelectItem::ExprWithAlias {
            expr: node::number(gone.into()),
            alias: ident(&format!("tare_g{i}")),
        });
    }
    level.group_by = if key_count == 0 {
        // One group of all rows, if there are any.
        GroupByExpr::Expressions(vec![node::text("all")], Vec::new())
    } else {
        GroupByExpr::Expressions(keys[..key_count].to_vec(), Vec::new())
    };
    level
}

/// Replaces the keys that are rolled up by NULL, outside of aggregates.
fn replace_keys(schema: &dyn Schema, e: &mut Expr, gone: &[Expr]) {
    if gone.iter().any(|k| same(k, e)) {
        *e = node::null();
        return;
    }
    match e {
        Expr::Function(f) if crate::function::is_aggregate(schema, &name_of(f)) => {}
        Expr::Function(f) => {
            if let sqlparser::ast::FunctionArguments::List(list) = &mut f.args {
                for arg in &mut list.args {
                    if let sqlparser::ast::FunctionArg::Unnamed(
                        sqlparser::ast::FunctionArgExpr::Expr(e),
                    ) = arg
                    {
                        replace_keys(schema, e, gone);
                    }
                }
            }
        }
        Expr::BinaryOp { left, right, .. } => {
            replace_keys(schema, left, gone);
            replace_keys(schema, right, gone);
        }
        Expr::UnaryOp { expr, .. }
        | Expr::Nested(expr)
        | Expr::IsNull(expr)
        | Expr::IsNotNull(expr) => replace_keys(schema, expr, gone),
        Expr::Case {
            operand,
            conditions,
            else_result,
            ..
        } => {
            if let Some(operand) = operand {
                replace_keys(schema, operand, gone);
            }
            for when in conditions {
                replace_keys(schema, &mut when.condition, gone);
                replace_keys(schema, &mut when.result, gone);
            }
            if let Some(other) = else_result {
                replace_keys(schema, other, gone);
            }
        }
        _ => {}
    }
}

/// Whether two expressions are equal, or the same column: a table's name may be left out.
fn same(a: &Expr, b: &Expr) -> bool {
    fn parts(e: &Expr) -> Option<&[Ident]> {
        match e {
            Expr::Identifier(name) => Some(std::slice::from_ref(name)),
            Expr::CompoundIdentifier(parts) => Some(parts),
            _ => None,
        }
    }
    match (parts(a), parts(b)) {
        (Some(a), Some(b)) => {
            let mut pairs = a.iter().rev().zip(b.iter().rev());
            pairs.all(|(a, b)| a.value.eq_ignore_ascii_case(&b.value))
        }
        (None, None) => a == b,
        _ => false,
    }
}
