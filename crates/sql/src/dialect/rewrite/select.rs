//! SELECT: its columns' names and types, and what SQLite's has no like of.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, JoinOperator, LockType, ObjectNamePart, Query, Select, SelectItem,
    SetExpr, TableFactor, Value,
};

use super::{Rewriter, ident};
use crate::dialect::plan::Sql;
use crate::dialect::{function, names};
use crate::server::error::{Result, SqlError};

/// MySQL cuts a column's name after 256 bytes.
fn short(name: &str) -> &str {
    let mut end = name.len().min(256);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

impl Rewriter<'_> {
    /// SELECT.
    pub fn query(mut self, mut query: Query, text: &str) -> Result<Sql> {
        self.name_columns(&mut query, text);
        self.hints(&query);
        self.sql.views = self.view_columns(&query);
        let lock = query.locks.iter().any(|l| l.lock_type == LockType::Update);
        self.visit(&mut query)?;
        self.sql.text = query.to_string();
        if lock {
            self.sql.writes = self.sql.databases.first().cloned();
        }
        Ok(self.sql)
    }

    fn name_columns(&self, query: &mut Query, text: &str) {
        let mut body = &mut query.body;
        let select = loop {
            match body.as_mut() {
                SetExpr::Select(select) => break select,
                SetExpr::SetOperation { left, .. } => body = left,
                _ => return,
            }
        };
        let plain = |item: &SelectItem| !matches!(item, SelectItem::UnnamedExpr(e) if !matches!(e, Expr::Identifier(i) if !i.value.starts_with('@')));
        if select.projection.iter().all(plain) {
            return;
        }
        let texts = names::projection(text);
        let known = texts.len() == select.projection.len();
        for (i, item) in select.projection.iter_mut().enumerate() {
            if plain(item) {
                continue;
            }
            if let SelectItem::UnnamedExpr(expr) = item {
                let name = match &*expr {
                    Expr::CompoundIdentifier(parts) if !parts[0].value.starts_with("@@") => {
                        parts.last().map(|p| p.value.clone()).unwrap_or_default()
                    }
                    Expr::Value(v) => match &v.value {
                        Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => s.clone(),
                        _ if known => texts[i].clone(),
                        other => other.to_string(),
                    },
                    _ if known => texts[i].clone(),
                    other => other.to_string(),
                };
                *item = SelectItem::ExprWithAlias {
                    expr: expr.clone(),
                    alias: ident(short(&name)),
                };
            }
        }
    }

    fn hints(&mut self, query: &Query) {
        let SetExpr::Select(select) = query.body.as_ref() else {
            return;
        };
        let hint = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
                function::type_of(e)
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
        self.sql.hints.0 = list.iter().take_while(|i| !star(i)).map(hint).collect();
        if self.sql.hints.0.len() < list.len() {
            self.sql.hints.1 = list
                .iter()
                .rev()
                .take_while(|i| !star(i))
                .map(hint)
                .collect();
        }
    }

    pub(super) fn select(&mut self, select: &mut Select) -> Result<()> {
        if select.into.is_some() {
            return Err(SqlError::unsupported("SELECT ... INTO"));
        }
        select.select_modifiers = None;
        select.optimizer_hints.clear();
        if matches!(select.distinct, Some(Distinct::All)) {
            select.distinct = None;
        }
        // FROM DUAL is no table.
        if let [one] = select.from.as_slice()
            && one.joins.is_empty()
            && matches!(&one.relation, TableFactor::Table { name, .. }
                if matches!(name.0.as_slice(), [ObjectNamePart::Identifier(i)] if i.value.eq_ignore_ascii_case("dual")))
        {
            select.from.clear();
        }
        if let GroupByExpr::Expressions(_, modifiers) = &select.group_by
            && !modifiers.is_empty()
        {
            return Err(SqlError::unsupported("WITH ROLLUP"));
        }
        for table in &mut select.from {
            for join in &mut table.joins {
                if let JoinOperator::StraightJoin(on) = &join.join_operator {
                    // SQLite keeps the order of a CROSS JOIN.
                    join.join_operator = JoinOperator::CrossJoin(on.clone());
                }
            }
        }
        Ok(())
    }
}
