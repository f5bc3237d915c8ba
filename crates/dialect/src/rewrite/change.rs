//! UPDATE and DELETE: their tables and the rows of them.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, Delete, Expr, FromTable, ObjectName, OrderByExpr, TableFactor,
    TableWithJoins, Update, Value, visit_expressions,
};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

use super::{Rewriter, canonical};
use crate::name::last_name;
use crate::name::quote;
use crate::plan::Sql;
use crate::schema::Schema;
use crate::scope::Names;
use crate::{function, near};

/// A table that is changed: database, name, and what expressions call it.
struct Target {
    database: String,
    table: String,
    alias: Option<String>,
}

impl Target {
    fn called(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.table)
    }

    fn sql(&self) -> String {
        format!(
            "{}.{}{}",
            quote(&self.database),
            quote(&self.table),
            as_alias(self.alias.as_deref())
        )
    }
}

impl Rewriter<'_> {
    /// UPDATE.
    pub fn update(mut self, mut update: Update) -> Result<Sql> {
        if update.from.is_some() || update.returning.is_some() {
            return Err(near("FROM"));
        }
        let scope = self.names.tables(std::slice::from_ref(&update.table));
        self.names.scopes.push(scope);
        if !update.table.joins.is_empty() {
            return self.update_joined(update);
        }
        let target = self.target(&update.table.relation)?;
        self.sql.writes = Some(target.database.clone());
        let or = match update.or {
            Some(_) => " OR IGNORE",
            None => "",
        };
        let mut sql = format!("UPDATE{or} {}", target.sql());
        let mut changed = Vec::new();
        let mut certain = true;
        for (i, assignment) in update.assignments.iter_mut().enumerate() {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(near("("));
            };
            let column = last_name(name);
            if let Some(default) =
                self.default_value(&target.database, &target.table, &column, &assignment.value)?
            {
                assignment.value = default;
            }
            certain &= is_certain(&*self.names.schema, &assignment.value);
            self.visit(&mut assignment.value)?;
            let word = if i == 0 { " SET" } else { "," };
            sql.push_str(&format!("{word} {} = {}", quote(&column), assignment.value));
            changed.push(differs(&quote(&column), &assignment.value.to_string()));
        }
        let tail = self.some_rows(
            &target,
            update.selection.take(),
            update.order_by,
            update.limit,
        )?;
        sql.push_str(&tail);
        // MySQL neither writes nor counts a row that stays as it is.
        if certain && !self.mode.found_rows && !is_system_schema(&target.database) {
            let word = if tail.is_empty() { "WHERE" } else { "AND" };
            sql.push_str(&format!(" {word} ({})", changed.join(" OR ")));
        }
        self.sql.text = sql;
        Ok(self.sql)
    }

    /// UPDATE of one of several tables that are joined.
    fn update_joined(mut self, mut update: Update) -> Result<Sql> {
        let mut called: Option<String> = None;
        let mut columns = Vec::new();
        for assignment in &mut update.assignments {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(near("("));
            };
            let of = owner(&self.names, name).ok_or_else(|| {
                let text = name.to_string().replace('`', "");
                SqlError::new(1054, format!("Unknown column '{text}' in 'field list'"))
            })?;
            if called
                .as_ref()
                .is_some_and(|c| !c.eq_ignore_ascii_case(&of))
            {
                return Err(SqlError::unsupported("UPDATE of columns of several tables"));
            }
            called = Some(of);
            columns.push(last_name(name));
            self.visit(&mut assignment.value)?;
        }
        let called = called.ok_or_else(|| near("SET"))?;
        let target = self.named_target(std::slice::from_ref(&update.table), &called)?;
        self.sql.writes = Some(target.database.clone());
        let selection = match update.selection.take() {
            Some(mut selection) => {
                self.visit(&mut selection)?;
                format!(" WHERE {selection}")
            }
            None => String::new(),
        };
        self.visit(&mut update.table)?;
        let values: Vec<String> = update
            .assignments
            .iter()
            .enumerate()
            .map(|(i, a)| format!("{} AS tare_v{i}", a.value))
            .collect();
        let sets: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(i, c)| format!("{} = tare_q.tare_v{i}", quote(c)))
            .collect();
        let name = quote(target.called());
        let changed: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(i, c)| {
                differs(
                    &format!("{name}.{}", quote(c)),
                    &format!("tare_q.tare_v{i}"),
                )
            })
            .collect();
        let mut sql = format!(
            "UPDATE {} SET {} FROM (SELECT {name}.rowid AS tare_r, {} FROM {}{selection}) AS tare_q WHERE {name}.rowid = tare_q.tare_r",
            target.sql(),
            sets.join(", "),
            values.join(", "),
            update.table
        );
        if !self.mode.found_rows {
            sql.push_str(&format!(" AND ({})", changed.join(" OR ")));
        }
        self.sql.text = sql;
        Ok(self.sql)
    }

    /// DELETE.
    pub fn delete(mut self, mut delete: Delete) -> Result<Sql> {
        if delete.returning.is_some() {
            return Err(near("RETURNING"));
        }
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) =
            delete.from.clone();
        let (targets, mut tables): (Vec<ObjectName>, Vec<TableWithJoins>) =
            match (delete.tables.is_empty(), delete.using.take()) {
                (false, _) => (delete.tables.clone(), from),
                (true, Some(using)) => {
                    let names = from.iter().map(|t| match &t.relation {
                        TableFactor::Table { name, .. } => Ok(name.clone()),
                        other => Err(near(other)),
                    });
                    (names.collect::<Result<_>>()?, using)
                }
                (true, None) => (Vec::new(), from),
            };
        let scope = self.names.tables(&tables);
        self.names.scopes.push(scope);
        if !targets.is_empty() || tables.len() > 1 || tables.iter().any(|t| !t.joins.is_empty()) {
            let [name] = targets.as_slice() else {
                return Err(if targets.is_empty() {
                    near(",")
                } else {
                    SqlError::unsupported("DELETE of rows of several tables")
                });
            };
            let target = self.named_target(&tables, &last_name(name)).map_err(|_| {
                let text = name.to_string().replace('`', "");
                SqlError::new(1109, format!("Unknown table '{text}' in MULTI DELETE"))
            })?;
            self.sql.writes = Some(target.database.clone());
            let selection = match delete.selection.take() {
                Some(mut selection) => {
                    self.visit(&mut selection)?;
                    format!(" WHERE {selection}")
                }
                None => String::new(),
            };
            for table in &mut tables {
                self.visit(table)?;
            }
            let all: Vec<String> = tables.iter().map(ToString::to_string).collect();
            self.sql.text = format!(
                "DELETE FROM {}.{} WHERE rowid IN (SELECT {}.rowid FROM {}{selection})",
                quote(&target.database),
                quote(&target.table),
                quote(target.called()),
                all.join(", ")
            );
            return Ok(self.sql);
        }
        let [one] = tables.as_slice() else {
            return Err(near("FROM"));
        };
        let target = self.target(&one.relation)?;
        self.sql.writes = Some(target.database.clone());
        let tail = self.some_rows(
            &target,
            delete.selection.take(),
            delete.order_by,
            delete.limit,
        )?;
        self.sql.text = format!("DELETE FROM {}{tail}", target.sql());
        Ok(self.sql)
    }

    fn target(&mut self, table: &TableFactor) -> Result<Target> {
        let TableFactor::Table { name, alias, .. } = table else {
            return Err(SqlError::new(
                1288,
                "The target table of the UPDATE or DELETE is not updatable",
            ));
        };
        let (database, table) = self.resolve(name)?;
        self.note(&database, &table);
        let (database, table) = canonical(database, table);
        Ok(Target {
            database,
            table,
            alias: alias.as_ref().map(|a| a.name.value.clone()),
        })
    }

    /// The table of a FROM clause that is called so.
    fn named_target(&mut self, tables: &[TableWithJoins], called: &str) -> Result<Target> {
        let factors = tables
            .iter()
            .flat_map(|t| std::iter::once(&t.relation).chain(t.joins.iter().map(|j| &j.relation)));
        for factor in factors {
            if let TableFactor::Table { name, alias, .. } = factor {
                let own = alias
                    .as_ref()
                    .map_or_else(|| last_name(name), |a| a.name.value.clone());
                if own.eq_ignore_ascii_case(called) {
                    return self.target(factor);
                }
            }
        }
        Err(SqlError::new(
            1288,
            format!("The target table {called} of the UPDATE is not updatable"),
        ))
    }

    /// WHERE, ORDER BY and LIMIT of an UPDATE or DELETE: SQLite has no LIMIT there, but rowids.
    fn some_rows(
        &mut self,
        target: &Target,
        selection: Option<Expr>,
        order: Vec<OrderByExpr>,
        limit: Option<Expr>,
    ) -> Result<String> {
        let mut tail = String::new();
        if let Some(mut selection) = selection {
            self.visit(&mut selection)?;
            // In parentheses: more conditions may follow.
            tail = format!(" WHERE ({selection})");
        }
        let Some(mut limit) = limit else {
            return Ok(tail);
        };
        self.visit(&mut limit)?;
        let mut by = Vec::new();
        for mut item in order {
            self.visit(&mut item.expr)?;
            by.push(item.to_string());
        }
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" ORDER BY {}", by.join(", "))
        };
        Ok(format!(
            " WHERE rowid IN (SELECT rowid FROM {}{tail}{by} LIMIT {limit})",
            target.sql()
        ))
    }
}

/// What calls the table that has an assigned column.
fn owner(names: &Names<'_>, column: &ObjectName) -> Option<String> {
    let scope = names.scopes.last()?;
    let name = last_name(column);
    let table = column
        .0
        .len()
        .checked_sub(2)
        .and_then(|i| column.0[i].as_ident())
        .map(|i| i.value.clone());
    scope
        .relations
        .iter()
        .find(|r| match &table {
            Some(table) => r.alias.eq_ignore_ascii_case(table),
            None => r
                .columns
                .as_ref()
                .is_some_and(|c| c.iter().any(|c| c.name.eq_ignore_ascii_case(&name))),
        })
        .map(|r| r.alias.clone())
}

/// Whether an expression gives the same again when it is evaluated twice.
fn is_certain(schema: &dyn Schema, expr: &Expr) -> bool {
    let mut certain = true;
    let _ = visit_expressions(expr, |e| {
        certain &= match e {
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => false,
            Expr::BinaryOp { op, .. } => *op != sqlparser::ast::BinaryOperator::Assignment,
            Expr::Function(f) => function::is_certain(schema, &function::name_of(f)),
            _ => true,
        };
        ControlFlow::<()>::Continue(())
    });
    certain
}

/// Whether a column's value is another one, byte by byte.
fn differs(column: &str, value: &str) -> String {
    format!("{column} IS NOT ({value}) COLLATE BINARY")
}

fn as_alias(alias: Option<&str>) -> String {
    alias.map_or_else(String::new, |a| format!(" AS {}", quote(a)))
}

/// Whether it is the word DEFAULT.
pub(super) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(d) if d.quote_style.is_none() && d.value.eq_ignore_ascii_case("DEFAULT"))
}

/// An expression that is NULL when it is read.
pub(super) fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(v) if v.value == Value::Null)
}
