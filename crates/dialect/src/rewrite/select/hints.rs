//! The types of a result's columns.

use sqlparser::ast::{Query, SelectItem, SetExpr};

use crate::join::shares_columns;
use crate::rewrite::Rewriter;
use crate::scope::Column;
use crate::types;

impl Rewriter<'_> {
    /// Types of the result's columns: of all where `types` has them.
    pub(super) fn hints(&mut self, query: &Query, types: Option<Vec<Column>>) {
        if let Some(types) = types
            && !matches!(query.body.as_ref(), SetExpr::Select(s) if shares_columns(&s.from))
        {
            self.sql.hints.0 = types.into_iter().map(|c| c.wire).collect();
            return;
        }
        let SetExpr::Select(select) = query.body.as_ref() else {
            return;
        };
        let scope = self.names.scope(select);
        self.names.scopes.push(scope);
        let names = &mut self.names;
        let mut hint = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
                types::of(e, names)
            }
            _ => None,
        };
        let star = |i: &SelectItem| {
            matches!(
                i,
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
            )
        };
        let list = &select.projection;
        self.sql.hints.0 = list
            .iter()
            .take_while(|i| !star(i))
            .map(&mut hint)
            .collect();
        if self.sql.hints.0.len() < list.len() {
            self.sql.hints.1 = list
                .iter()
                .rev()
                .take_while(|i| !star(i))
                .map(&mut hint)
                .collect();
        }
        self.names.scopes.pop();
    }
}
