//! SELECT: its columns' names and types, and the clauses that SQLite does not have.

mod check;
mod described;
mod having;
mod locks;
mod named;
mod shared;

use std::ops::ControlFlow;

use crate::error::{Clause, Error, Result, near};
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, JoinOperator, ObjectNamePart, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableFactor,
};
use tare_mysql::schema::is_system_schema;

use self::check::positions;
use super::Rewriter;
use crate::depth::check_column_count;
use crate::plan::Sql;
use crate::schema::{RewrittenQuery, Schema};
use crate::{function, walk};

impl Rewriter<'_> {
    /// SELECT.
    pub fn query(mut self, mut query: Query, text: &str) -> Result<Sql> {
        self.select_statement(&mut query, text)?;
        Ok(self.sql)
    }

    /// A query of system tables, still a tree.
    pub fn rewritten(mut self, mut query: Query, text: &str) -> Result<RewrittenQuery> {
        self.select_statement(&mut query, text)?;
        Ok(RewrittenQuery {
            query,
            catalog: self.sql.catalog,
        })
    }

    fn select_statement(&mut self, query: &mut Query, text: &str) -> Result<()> {
        self.exact = self.reads_system(query);
        self.name_columns(query, text);
        let columns = self.names.columns(query);
        self.describe_result(columns);
        let counts_found_rows = calculates_found_rows(query);
        self.visit(query)?;
        self.sql.text = query.to_string();
        if counts_found_rows {
            query.limit_clause = None;
            query.order_by = None;
            let query = query.to_string();
            self.sql.found_rows = Some(format!("SELECT count(*) FROM ({query})"));
        }
        Ok(())
    }

    /// Whether a query names a table of a system schema: sums of its counters may exceed 64 bits.
    pub(in crate::rewrite) fn reads_system(&self, query: &Query) -> bool {
        let mut reads = false;
        let _ = sqlparser::ast::visit_relations(query, |name| {
            reads |= self.resolve(name).is_ok_and(|(d, _)| is_system_schema(&d));
            ControlFlow::<()>::Continue(())
        });
        reads
    }

    pub(in crate::rewrite) fn select(&mut self, select: &mut Select) -> Result<()> {
        if select.into.is_some() {
            return Err(near("INTO"));
        }
        check_column_count(select.projection.len())?;
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            check_column_count(by.len())?;
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
            // `db.t.*`: SQLite accepts only the table's name here.
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
            return Err(Error::NoTables);
        }
        self.check_unique_tables()?;
        self.expand_shared_columns(select);
        check_column_count(select.projection.len())?;
        self.group_by_items(select);
        self.check_unique_columns(select)?;
        self.check_full_group_by(select)?;
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            positions(by.iter(), &select.projection, Clause::Group)?;
        }
        self.group_as_stored(select);
        self.name_timestamps(select)?;
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
        let conditions = [&mut select.selection, &mut select.having];
        for condition in conditions.into_iter().flatten() {
            self.condition(condition, true);
        }
        self.group_without_case(select);
        Ok(())
    }
}

/// Whether an aggregate function is called, outside of subqueries and windows.
pub(in crate::rewrite) fn aggregates(schema: &dyn Schema, expr: &Expr) -> bool {
    let mut result = false;
    walk::expressions(expr, &mut |e| {
        if let Expr::Function(f) = e
            && f.over.is_none()
            && function::is_aggregate(schema, &function::name_of(f))
        {
            result = true;
        }
    });
    result
}

fn calculates_found_rows(query: &Query) -> bool {
    matches!(query.body.as_ref(), SetExpr::Select(s)
        if s.select_modifiers.as_ref().is_some_and(|m| m.sql_calc_found_rows))
}
