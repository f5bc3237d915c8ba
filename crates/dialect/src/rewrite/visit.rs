//! The single walk over a statement: the work before and after the parts of each node.

use std::ops::ControlFlow;

use crate::error::{Error, Place, Result, near};
use sqlparser::ast::{
    BinaryOperator, Expr, LimitClause, ObjectName, ObjectNamePart, OrderByKind, Query, Select,
    SetExpr, TableFactor, VisitMut, VisitorMut,
};

use tare_mysql::error::SqlError;
use tare_mysql::{charset, interrupt};

use super::assign::assigned_values::ASSIGNED_MARK;
use super::rewriter::{Rewriter, canonical};
use super::zoned::RAW_MARK;
use crate::name::{ident, last_name};
use crate::node::{self, query};
use crate::scope::Scope;
use crate::types;

impl Rewriter<'_> {
    /// Rewrites an expression that is not part of a statement.
    pub fn expression(mut self, mut expr: Expr) -> Result<Expr> {
        self.visit(&mut expr)?;
        Ok(expr)
    }

    /// Rewrites a part of the statement and all of its parts.
    pub(super) fn visit<T: VisitMut>(&mut self, node: &mut T) -> Result<()> {
        match node.visit(self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

impl Rewriter<'_> {
    /// 1273 for a COLLATE that MySQL does not have, such as those of the evaluation, and 1253 for one of
    /// another character set than the operand's.
    fn check_collation(&mut self, expr: &Expr) -> Result<()> {
        let Expr::Collate { expr, collation } = expr else {
            return Ok(());
        };
        let Some(name) = node::collation_in_text(collation) else {
            return Ok(());
        };
        let is_binary = name.value.eq_ignore_ascii_case("binary");
        if is_binary && name.quote_style.is_none() {
            // The word is reserved.
            return Err(Error::Syntax(Place::At(name.span.start)));
        }
        charset::check_collation(&name.value, None)?;
        match types::charset(expr, &mut self.names) {
            Some(charset) if is_binary != (charset == "binary") => {
                Err(charset::mismatched_collation(&name.value, charset).into())
            }
            _ => Ok(()),
        }
    }
}

impl Rewriter<'_> {
    /// 3995 for BINARY and a text.
    fn check_regexp(&mut self, expr: &Expr) -> Result<()> {
        let Expr::RLike { expr, pattern, .. } = expr else {
            return Ok(());
        };
        let mut charset = |expr: &Expr| match expr {
            Expr::Collate { collation, .. } if last_name(collation) == "binary" => Some("binary"),
            _ => types::charset(expr, &mut self.names).filter(|charset| *charset != "binary"),
        };
        match (charset(expr), charset(pattern)) {
            (Some(a), Some(b)) if (a == "binary") != (b == "binary") => {
                let name = |charset| match charset {
                    "binary" => "binary",
                    _ => "utf8mb4_0900_ai_ci",
                };
                let message = format!(
                    "Character set '{}' cannot be used in conjunction with '{}' in call to regexp_like.",
                    name(a),
                    name(b)
                );
                Err(SqlError::new(3995, message).into())
            }
            _ => Ok(()),
        }
    }
}

impl VisitorMut for Rewriter<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.names.types.forget();
        if let Err(error) = self.check(query).and_then(|()| self.arrange(query)) {
            return ControlFlow::Break(error);
        }
        let visible = || (self.names.ctes.clone(), self.ctes.clone());
        let outer = query.with.as_ref().map(|_| visible());
        self.outer.push(outer);
        self.names.with(query);
        if let Some(with) = &query.with {
            self.ctes.extend(
                with.cte_tables
                    .iter()
                    .map(|c| c.alias.name.value.to_lowercase()),
            );
        }
        // ORDER BY has the scope of its SELECT.
        let scope = match query.body.as_ref() {
            SetExpr::Select(select) => self.names.scope(select),
            _ => Scope::default(),
        };
        self.names.scopes.push(scope);
        self.plan_parts(query);
        if let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(by) = &mut order.kind
        {
            by.iter_mut().for_each(|by| self.number_of(&mut by.expr));
        }
        if let Err(error) = self.check_distinct_order(query) {
            return ControlFlow::Break(error);
        }
        self.order_as_stored(query);
        if let Err(error) = self.take_locks(query) {
            return ControlFlow::Break(error);
        }
        if let Some(LimitClause::OffsetCommaLimit { offset, limit }) = &query.limit_clause {
            query.limit_clause = Some(LimitClause::LimitOffset {
                limit: Some(limit.clone()),
                offset: Some(sqlparser::ast::Offset {
                    value: offset.clone(),
                    rows: sqlparser::ast::OffsetRows::None,
                }),
                limit_by: Vec::new(),
            });
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.names.types.forget();
        if let Err(error) = self.limit_recursion(query) {
            return ControlFlow::Break(error);
        }
        self.names.scopes.pop();
        if let Some(Some(outer)) = self.outer.pop() {
            (self.names.ctes, self.ctes) = outer;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        self.names.types.forget();
        let scope = self.names.scope(select);
        self.names.scopes.push(scope);
        match self.select(select) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        self.names.types.forget();
        self.convert_part(select);
        self.names.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Err(error) = interrupt::check_step() {
            return ControlFlow::Break(error.into());
        }
        if let Expr::BinaryOp { op, .. } = expr
            && types::is_div(op)
        {
            *op = BinaryOperator::MyIntegerDivide;
        }
        self.raw += usize::from(is_raw(expr));
        self.number_members(expr);
        let checked = self
            .check_collation(expr)
            .and_then(|()| self.check_regexp(expr))
            .and_then(|()| check_arrow(expr));
        let checked = checked.and_then(|()| self.pairs(expr));
        if let Err(error) = checked.and_then(|()| self.compare(expr)) {
            return ControlFlow::Break(error);
        }
        self.enter_exact(expr);
        self.enter_subquery(expr);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        if let TableFactor::Derived { alias: None, .. } = factor {
            return ControlFlow::Break(Error::NoAlias);
        }
        if let TableFactor::Derived { lateral: true, .. } = factor {
            return ControlFlow::Break(Error::unsupported("LATERAL"));
        }
        if let TableFactor::Derived { .. } = factor {
            self.set_before.push(self.variables_set);
        }
        let TableFactor::Table {
            name,
            args,
            index_hints,
            partitions,
            ..
        } = factor
        else {
            return ControlFlow::Continue(());
        };
        if args.is_some() {
            return ControlFlow::Break(near("("));
        }
        index_hints.clear();
        partitions.clear();
        if let [ObjectNamePart::Identifier(i)] = name.0.as_slice()
            && self.ctes.contains(&i.value.to_lowercase())
        {
            return ControlFlow::Continue(());
        }
        let resolved = self.resolve(name).and_then(|(database, table)| {
            self.require_table("SELECT", &database, &table)?;
            Ok(canonical(database, table))
        });
        match resolved {
            // Its query replaces a view of schema sys afterwards, and is not visited.
            Ok((database, table))
                if database == "sys" && self.names.schema.view(&table).is_some() => {}
            Ok((database, table)) => {
                *name = ObjectName::from(vec![ident(&database), ident(&table)]);
            }
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        if let TableFactor::Derived { subquery, .. } = factor
            && self
                .set_before
                .pop()
                .is_some_and(|n| n < self.variables_set)
        {
            // SQLite computes only the columns of a derived table that are used, and only when they are
            // used. MySQL fills the table before it reads the first row.
            query::materialize(subquery);
        }
        name_derived_columns(factor);
        match self.expand(factor) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        self.names.types.forget();
        self.raw -= usize::from(is_raw(expr));
        self.convert(expr);
        let exact = self.exact_plans.pop().unwrap_or_default();
        if !exact.call(expr) {
            match self.expr(node::take(expr)) {
                Ok(rewritten) => *expr = rewritten,
                Err(error) => return ControlFlow::Break(error),
            }
        }
        self.leave_subquery(expr);
        exact.wrap(expr);
        ControlFlow::Continue(())
    }
}

/// Names the columns of a derived table within it: `(query) AS t (a, b)`, which SQLite does not have.
fn name_derived_columns(factor: &mut TableFactor) {
    if let TableFactor::Derived {
        subquery,
        alias: Some(alias),
        ..
    } = factor
        && !alias.columns.is_empty()
    {
        let columns = std::mem::take(&mut alias.columns);
        let columns = columns.into_iter().map(|column| column.name).collect();
        let name = ident("tare columns");
        let rows = query::table(ObjectName::from(name.clone()));
        let all = query::select_from(vec![query::all()], rows);
        let named = query::query(all);
        let inner = std::mem::replace(subquery.as_mut(), named);
        subquery.with = Some(query::with(query::table_alias(name, columns), inner));
    }
}

/// `->` is of a column, and of a path.
fn check_arrow(expr: &Expr) -> Result<()> {
    let Expr::BinaryOp { left, op, .. } = expr else {
        return Ok(());
    };
    let arrow = match op {
        BinaryOperator::Arrow => "->",
        BinaryOperator::LongArrow => "->>",
        _ => return Ok(()),
    };
    match left.as_ref() {
        Expr::Identifier(name) if name.quote_style.is_some() || !name.value.starts_with('@') => {
            Ok(())
        }
        Expr::CompoundIdentifier(_) => Ok(()),
        _ => Err(near(arrow)),
    }
}

/// Whether the column after a marker is named, not read.
fn is_raw(expr: &Expr) -> bool {
    matches!(expr, Expr::Prefixed { prefix, .. } if prefix.value == RAW_MARK || prefix.value == ASSIGNED_MARK)
}
