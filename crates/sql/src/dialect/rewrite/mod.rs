//! Statements on rows: their tree is changed in place until its text is SQLite's.

mod change;
mod expr;
mod insert;
mod select;
mod sys;

pub use expr::interval;
pub use insert::{change_of, insert_columns};

use std::collections::HashSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Ident, LimitClause, ObjectName, ObjectNamePart, Query, Select, TableFactor, Value,
    VisitMut, VisitorMut,
};

use crate::dialect::near;
use crate::dialect::plan::Sql;
use crate::server::error::{Result, SqlError};
use crate::storage::databases::is_system_schema;
use crate::wire::column::WireType;

/// A piece of SQLite's SQL as an expression: sqlparser prints a number as it stands.
pub fn raw(text: impl Into<String>) -> Expr {
    Expr::value(Value::Number(text.into(), false))
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

/// A name that needs no care.
fn ident(name: &str) -> Ident {
    Ident::with_quote('"', name.replace('"', "\"\""))
}

/// What a rewrite knows and gathers.
pub struct Rewriter<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    ctes: HashSet<String>,
    sql: Sql,
    inserting: bool,
}

impl<'a> Rewriter<'a> {
    /// For a session's default database.
    pub fn new(database: Option<&'a str>) -> Self {
        Self {
            database,
            ctes: HashSet::new(),
            sql: Sql::default(),
            inserting: false,
        }
    }

    /// Database and table of a name.
    pub fn resolve(&self, name: &ObjectName) -> Result<(String, String)> {
        let part = |p: &ObjectNamePart| p.as_ident().map(|i| i.value.clone());
        match name.0.as_slice() {
            [table] => {
                let database = self.database.ok_or_else(SqlError::no_database)?.to_owned();
                Ok((database, part(table).unwrap_or_default()))
            }
            [database, table] => Ok((
                part(database).unwrap_or_default(),
                part(table).unwrap_or_default(),
            )),
            _ => Err(near(name)),
        }
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
        if let Some(with) = &query.with {
            self.ctes.extend(
                with.cte_tables
                    .iter()
                    .map(|c| c.alias.name.value.to_lowercase()),
            );
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

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        match self.select(select) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        let TableFactor::Table {
            name,
            alias,
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
                if database == "sys"
                    && let Err(error) = self.expand(&table, name, alias)
                {
                    return ControlFlow::Break(error);
                }
                if database == "sys" && crate::sys::view(&table).is_some() {
                    return ControlFlow::Continue(());
                }
                // SQLite names a column of the result after the table; clients expect the name
                // as they wrote it.
                if alias.is_none() && is_system_schema(&database) {
                    let written = name
                        .0
                        .last()
                        .and_then(|p| p.as_ident())
                        .map(|i| i.value.clone());
                    debug_assert!(written.is_some());
                }
                *name = ObjectName::from(vec![ident(&database), ident(&table)]);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        match self.expr(expr) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// Types that an expression tells by itself.
pub type Hint = Option<WireType>;
