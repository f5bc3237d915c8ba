//! HAVING.

use sqlparser::ast::{BinaryOperator, Expr, GroupByExpr, Select, SelectItem};

use super::aggregates;
use crate::node::{binary, nested};
use crate::rewrite::Rewriter;
use crate::walk;

impl Rewriter<'_> {
    /// Rewrites HAVING, which resolves aliases of the select list first, and is allowed without groups.
    pub(super) fn having(&mut self, select: &mut Select) {
        let aliases: Vec<(String, Expr)> = select
            .projection
            .iter()
            .filter_map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } => {
                    Some((alias.value.clone(), expr.clone()))
                }
                _ => None,
            })
            .collect();
        let Some(having) = &mut select.having else {
            return;
        };
        walk::change(having, &mut |e| {
            if let Expr::Identifier(name) = e
                && let Some((_, expr)) = aliases
                    .iter()
                    .find(|(alias, _)| alias.eq_ignore_ascii_case(&name.value))
                && !matches!(expr, Expr::Identifier(i) if i.value.eq_ignore_ascii_case(&name.value))
            {
                *e = Expr::Nested(Box::new(expr.clone()));
            }
        });
        let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
        let schema = &*self.names.schema;
        if !grouped
            && !aggregates(schema, having)
            && !select.projection.iter().any(|i| match i {
                SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) => {
                    aggregates(schema, expr)
                }
                _ => false,
            })
            && let Some(having) = select.having.take()
        {
            select.selection = Some(match select.selection.take() {
                None => having,
                Some(selection) => binary(nested(selection), BinaryOperator::And, nested(having)),
            });
        }
    }
}
