//! Statements on rows: their tree is changed in place until its text is SQLite's.

mod change;
mod compare;
mod expr;
mod grouped;
mod insert;
mod rollup;
mod scalar;
mod select;
mod set;
mod sys;

pub use expr::interval;
pub use insert::{change_of, insert_table};
pub use set::select_of;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, LimitClause, ObjectName, ObjectNamePart, Query,
    Select, SetExpr, TableFactor, Value, VisitMut, VisitorMut,
};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::wire::column::WireType;

use crate::Mode;
use crate::name::{self, ident};
use crate::plan::Sql;
use crate::schema::Schema;
use crate::scope::{Names, Scope};

/// A piece of SQLite's SQL as an expression: sqlparser prints a number as it stands.
pub fn raw(text: impl Into<String>) -> Expr {
    Expr::value(Value::Number(text.into(), false))
}

/// A value with SQLite's numeric affinity.
pub fn numeric(value: Expr) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(value),
        data_type: DataType::Numeric(ExactNumberInfo::None),
        format: None,
    }
}

/// A text as SQLite's literal.
pub fn literal(text: &str) -> String {
    if text.contains('\0') {
        // SQL text ends at a zero byte.
        let hex: String = text.bytes().map(|b| format!("{b:02x}")).collect();
        return format!("CAST(X'{hex}' AS TEXT)");
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// What a rewrite knows and gathers.
pub struct Rewriter<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    names: Names<'a>,
    /// Names of common table expressions that were in sight before each query, to be restored.
    outer: Vec<Option<std::collections::HashMap<String, Arc<Vec<crate::scope::Column>>>>>,
    ctes: HashSet<String>,
    sql: Sql,
    exact: bool,
    mode: Mode,
    subqueries: scalar::Subqueries,
    conversions: compare::Conversions,
}

impl<'a> Rewriter<'a> {
    /// For a session's default database.
    pub fn new(database: Option<&'a str>, schema: &'a mut dyn Schema, mode: Mode) -> Self {
        Self {
            database,
            names: Names::new(database, schema),
            outer: Vec::new(),
            ctes: HashSet::new(),
            sql: Sql::default(),
            exact: false,
            mode,
            subqueries: scalar::Subqueries::default(),
            conversions: compare::Conversions::default(),
        }
    }

    /// Database and table of a name.
    pub fn resolve(&self, name: &ObjectName) -> Result<(String, String)> {
        name::resolve(name, self.database)
    }

    fn visit<T: VisitMut>(&mut self, node: &mut T) -> Result<()> {
        match node.visit(self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    fn note(&mut self, database: &str, table: &str) {
        if is_system_schema(database) {
            self.sql
                .catalog
                .push((database.to_ascii_lowercase(), table.to_ascii_lowercase()));
        } else if !self.sql.databases.iter().any(|d| d == database) {
            self.sql.databases.push(database.to_owned());
        }
    }
}

/// System schemas and their tables compare without case.
pub fn canonical(database: String, table: String) -> (String, String) {
    if is_system_schema(&database) {
        (database.to_ascii_lowercase(), table.to_ascii_lowercase())
    } else {
        (database, table)
    }
}

impl VisitorMut for Rewriter<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        if let Err(error) = self.check(query).and_then(|()| self.arrange(query)) {
            return ControlFlow::Break(error);
        }
        let outer = query.with.as_ref().map(|_| self.names.ctes.clone());
        self.outer.push(outer);
        self.names.with(query);
        if let Some(with) = &query.with {
            self.ctes.extend(
                with.cte_tables
                    .iter()
                    .map(|c| c.alias.name.value.to_lowercase()),
            );
        }
        // ORDER BY sees what its SELECT sees.
        let scope = match query.body.as_ref() {
            SetExpr::Select(select) => self.names.scope(select),
            _ => Scope::default(),
        };
        self.names.scopes.push(scope);
        if let Err(error) = self.distinct_order(query) {
            return ControlFlow::Break(error);
        }
        query.locks.clear();
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

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<SqlError> {
        self.names.scopes.pop();
        if let Some(Some(outer)) = self.outer.pop() {
            self.names.ctes = outer;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        let scope = self.names.scope(select);
        self.names.scopes.push(scope);
        match self.select(select) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_select(&mut self, _select: &mut Select) -> ControlFlow<SqlError> {
        self.names.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        self.compare(expr);
        self.enter_subquery(expr);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        if let TableFactor::Derived { alias: None, .. } = factor {
            return ControlFlow::Break(SqlError::new(
                1248,
                "Every derived table must have its own alias",
            ));
        }
        let TableFactor::Table {
            name,
            index_hints,
            partitions,
            ..
        } = factor
        else {
            return ControlFlow::Continue(());
        };
        index_hints.clear();
        partitions.clear();
        if let [ObjectNamePart::Identifier(i)] = name.0.as_slice()
            && self.ctes.contains(&i.value.to_lowercase())
        {
            return ControlFlow::Continue(());
        }
        match self.resolve(name) {
            Ok((database, table)) => {
                self.note(&database, &table);
                let (database, table) = canonical(database, table);
                if database == "sys" && self.names.schema.view(&table).is_some() {
                    // Its query takes its place on the way back, and is not visited.
                    return ControlFlow::Continue(());
                }
                if database == "sys" && self.names.schema.system_table("sys", &table).is_none() {
                    return ControlFlow::Break(SqlError::no_such_table("sys", &table));
                }
                *name = ObjectName::from(vec![ident(&database), ident(&table)]);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        match self.expand(factor) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        self.convert(expr);
        if let Err(error) = self.expr(expr) {
            return ControlFlow::Break(error);
        }
        self.leave_subquery(expr);
        ControlFlow::Continue(())
    }
}

/// Types that an expression tells by itself.
pub type Hint = Option<WireType>;
