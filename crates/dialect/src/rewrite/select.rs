//! SELECT: its columns' names and types, and what SQLite's has no like of.

use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, GroupByExpr, JoinOperator, LimitClause, LockType,
    ObjectNamePart, OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, TableFactor, UnaryOperator, Value, visit_expressions_mut,
};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

use super::Rewriter;
use crate::name::ident;
use crate::plan::Sql;
use crate::schema::{Rewritten, Schema};
use crate::scope::Column;
use crate::{function, names, near, types};

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
        self.select_statement(&mut query, text)?;
        Ok(self.sql)
    }

    /// A query of system tables, still a tree.
    pub fn rewritten(mut self, mut query: Query, text: &str) -> Result<Rewritten> {
        self.select_statement(&mut query, text)?;
        Ok(Rewritten {
            query,
            catalog: self.sql.catalog,
        })
    }

    fn select_statement(&mut self, query: &mut Query, text: &str) -> Result<()> {
        self.exact = self.reads_system(query);
        self.name_columns(query, text);
        let types = self.names.columns(query);
        self.hints(query, types);
        self.sql.views = self.view_columns(query);
        let lock = query.locks.iter().any(|l| l.lock_type == LockType::Update);
        let found = calculates_found_rows(query);
        self.visit(query)?;
        self.sql.text = query.to_string();
        if found {
            query.limit_clause = None;
            query.order_by = None;
            self.sql.found_rows = Some(format!("SELECT count(*) FROM ({query})"));
        }
        if lock {
            self.sql.writes = self.sql.databases.first().cloned();
        }
        Ok(())
    }

    /// Whether a table of a system schema is named: their counters' sums may exceed 64 bits.
    fn reads_system(&self, query: &Query) -> bool {
        let mut found = false;
        let _ = sqlparser::ast::visit_relations(query, |name| {
            found |= self.resolve(name).is_ok_and(|(d, _)| is_system_schema(&d));
            std::ops::ControlFlow::<()>::Continue(())
        });
        found
    }

    fn name_columns(&self, query: &mut Query, text: &str) {
        let mut body = &mut query.body;
        let select = loop {
            match body.as_mut() {
                SetExpr::Select(select) => break select,
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Query(query) => body = &mut query.body,
                _ => return,
            }
        };
        let texts = names::projection(text);
        let known = texts.len() == select.projection.len();
        for (i, item) in select.projection.iter_mut().enumerate() {
            let SelectItem::UnnamedExpr(expr) = item else {
                continue;
            };
            let name = match literal_or_column(expr) {
                // A view's columns keep their own names, and information_schema is made of views.
                Expr::Identifier(_) | Expr::CompoundIdentifier(_)
                    if self
                        .database
                        .is_some_and(|d| d.eq_ignore_ascii_case("information_schema"))
                        && !expr.to_string().contains('@')
                        || names_information_schema(&select.from)
                            && !expr.to_string().contains('@') =>
                {
                    continue;
                }
                Expr::Identifier(name)
                    if name.quote_style.is_some() || !name.value.starts_with('@') =>
                {
                    name.value.clone()
                }
                Expr::CompoundIdentifier(parts)
                    if parts[0].quote_style.is_some() || !parts[0].value.starts_with("@@") =>
                {
                    parts.last().map(|p| p.value.clone()).unwrap_or_default()
                }
                Expr::Prefixed { value, .. } if matches!(value.as_ref(), Expr::Value(_)) => {
                    match value.as_ref() {
                        Expr::Value(v) => literal_name(&v.value).unwrap_or_default(),
                        _ => String::new(),
                    }
                }
                Expr::Value(v) => match literal_name(&v.value) {
                    Some(name) => name,
                    None if known => inner_text(&texts[i]).to_owned(),
                    None => v.value.to_string(),
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

    /// Types of the result's columns: of all where `types` has them.
    fn hints(&mut self, query: &Query, types: Option<Vec<Column>>) {
        if let Some(types) = types
            && !shares_columns(query)
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

    pub(super) fn select(&mut self, select: &mut Select) -> Result<()> {
        if select.into.is_some() {
            return Err(near("INTO"));
        }
        let straight = select
            .select_modifiers
            .take()
            .is_some_and(|m| m.straight_join);
        select.optimizer_hints.clear();
        if matches!(select.distinct, Some(Distinct::All)) {
            select.distinct = None;
        }
        for item in &mut select.projection {
            // `db.t.*`: SQLite knows the table by its name alone.
            if let SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(name),
                _,
            ) = item
                && name.0.len() > 1
                && let Some(last) = name.0.pop()
            {
                name.0 = vec![last];
            }
        }
        // FROM DUAL is no table.
        if let [one] = select.from.as_slice()
            && one.joins.is_empty()
            && matches!(&one.relation, TableFactor::Table { name, .. }
                if matches!(name.0.as_slice(), [ObjectNamePart::Identifier(i)] if i.value.eq_ignore_ascii_case("dual")))
        {
            select.from.clear();
        }
        if select.from.is_empty()
            && select
                .projection
                .iter()
                .any(|i| matches!(i, SelectItem::Wildcard(_)))
        {
            return Err(SqlError::new(1096, "No tables used"));
        }
        self.unique_names()?;
        self.unique_columns(select)?;
        self.full_group_by(select)?;
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            positions(by.iter(), &select.projection, "group statement")?;
        }
        for table in &mut select.from {
            for join in &mut table.joins {
                match &join.join_operator {
                    // SQLite keeps the order of a CROSS JOIN.
                    JoinOperator::StraightJoin(on) => {
                        join.join_operator = JoinOperator::CrossJoin(on.clone());
                    }
                    JoinOperator::Join(on) | JoinOperator::Inner(on) if straight => {
                        join.join_operator = JoinOperator::CrossJoin(on.clone());
                    }
                    _ => {}
                }
            }
        }
        self.having(select);
        self.group_without_case(select);
        Ok(())
    }

    /// Two columns of a derived table may not be called the same.
    fn unique_columns(&mut self, select: &Select) -> Result<()> {
        for from in &select.from {
            let joined = from.joins.iter().map(|j| &j.relation);
            for factor in std::iter::once(&from.relation).chain(joined) {
                let TableFactor::Derived {
                    subquery, alias, ..
                } = factor
                else {
                    continue;
                };
                if alias.as_ref().is_some_and(|a| !a.columns.is_empty()) || shares_columns(subquery)
                {
                    continue;
                }
                let columns = self.names.columns(subquery).unwrap_or_default();
                for (i, one) in columns.iter().enumerate() {
                    let again = |c: &Column| c.name.eq_ignore_ascii_case(&one.name);
                    if !one.name.is_empty() && columns[..i].iter().any(again) {
                        return Err(SqlError::new(
                            1060,
                            format!("Duplicate column name '{}'", one.name),
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Two tables of one FROM may not be called the same.
    fn unique_names(&self) -> Result<()> {
        let Some(scope) = self.names.scopes.last() else {
            return Ok(());
        };
        for (i, one) in scope.relations.iter().enumerate() {
            let again = scope.relations[..i].iter().any(|other| {
                !one.alias.is_empty()
                    && other.alias.eq_ignore_ascii_case(&one.alias)
                    && other.database == one.database
            });
            if again {
                return Err(SqlError::new(
                    1066,
                    format!("Not unique table/alias: '{}'", one.alias),
                ));
            }
        }
        Ok(())
    }

    /// What SQLite would not refuse, or not in MySQL's words.
    pub(super) fn check(&self, query: &Query) -> Result<()> {
        if let (SetExpr::Select(select), Some(order)) = (query.body.as_ref(), &query.order_by)
            && let OrderByKind::Expressions(by) = &order.kind
        {
            positions(
                by.iter().map(|o| &o.expr),
                &select.projection,
                "order clause",
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

    /// HAVING sees the select list's aliases first, and may stand where nothing is grouped.
    fn having(&mut self, select: &mut Select) {
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
        let _ = visit_expressions_mut(having, |e| {
            if let Expr::Identifier(name) = e
                && let Some((_, expr)) = aliases
                    .iter()
                    .find(|(alias, _)| alias.eq_ignore_ascii_case(&name.value))
                && !matches!(expr, Expr::Identifier(i) if i.value.eq_ignore_ascii_case(&name.value))
            {
                *e = Expr::Nested(Box::new(expr.clone()));
            }
            std::ops::ControlFlow::<()>::Continue(())
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
                Some(selection) => Expr::BinaryOp {
                    left: Box::new(Expr::Nested(Box::new(selection))),
                    op: BinaryOperator::And,
                    right: Box::new(Expr::Nested(Box::new(having))),
                },
            });
        }
    }
}

/// Numbers in GROUP BY and ORDER BY are places in the select list.
fn positions<'e>(
    by: impl Iterator<Item = &'e Expr>,
    projection: &[SelectItem],
    clause: &str,
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
            return Err(SqlError::new(
                1054,
                format!("Unknown column '{place}' in '{clause}'"),
            ));
        }
    }
    Ok(())
}

/// Whether an aggregate function is called, outside of subqueries and windows.
pub(super) fn aggregates(schema: &dyn Schema, expr: &Expr) -> bool {
    let mut found = false;
    let _ = sqlparser::ast::visit_expressions(expr, |e| {
        if let Expr::Function(f) = e
            && f.over.is_none()
            && function::is_aggregate(schema, &function::name_of(f))
        {
            found = true;
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    found
}

fn calculates_found_rows(query: &Query) -> bool {
    matches!(query.body.as_ref(), SetExpr::Select(s)
        if s.select_modifiers.as_ref().is_some_and(|m| m.sql_calc_found_rows))
}

/// USING and NATURAL give fewer columns than their tables have.
fn shares_columns(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    select.from.iter().flat_map(|t| &t.joins).any(|j| {
        let text = format!("{:?}", j.join_operator);
        text.contains("Using(") || text.contains("Natural")
    })
}

/// Whether the columns keep the names that information_schema's views give them. Two of them are
/// made otherwise, and their columns are called as they are asked for.
fn names_information_schema(from: &[sqlparser::ast::TableWithJoins]) -> bool {
    let of = |factor: &TableFactor| {
        matches!(factor, TableFactor::Table { name, .. }
            if name.0.len() == 2
                && !["key_column_usage", "table_constraints"].iter().any(|t| {
                    name.0[1].as_ident().is_some_and(|i| i.value.eq_ignore_ascii_case(t))
                })
                && name.0[0].as_ident().is_some_and(|i| i.value.eq_ignore_ascii_case("information_schema")))
    };
    from.iter()
        .any(|t| of(&t.relation) || t.joins.iter().any(|j| of(&j.relation)))
}

/// What MySQL names a column after: parentheses and a plus are forgotten.
fn literal_or_column(expr: &Expr) -> &Expr {
    let mut inner = expr;
    loop {
        match inner {
            Expr::Nested(e) => inner = e,
            Expr::UnaryOp {
                op: UnaryOperator::Plus,
                expr: e,
            } => inner = e,
            Expr::Value(_)
            | Expr::Identifier(_)
            | Expr::CompoundIdentifier(_)
            | Expr::Prefixed { .. } => {
                return inner;
            }
            _ => return expr,
        }
    }
}

fn literal_name(value: &Value) -> Option<String> {
    match value {
        Value::SingleQuotedString(s)
        | Value::DoubleQuotedString(s)
        | Value::NationalStringLiteral(s) => Some(s.trim_start().to_owned()),
        Value::Number(n, _) => Some(n.clone()),
        _ => None,
    }
}

fn inner_text(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '+'))
}
