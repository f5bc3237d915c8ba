//! INSERT and REPLACE: their rows, defaults and ON DUPLICATE KEY UPDATE.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, Expr, Function, FunctionArguments, Insert, OnInsert, Query, SetExpr,
    Statement, TableObject, Value, Values,
};

use super::{Rewriter, literal, raw};
use crate::dialect::plan::{Change, Sql};
use crate::dialect::{near, parse_one};
use crate::server::error::{Result, SqlError};
use crate::storage::Connection;
use crate::storage::connection::quote;
use crate::storage::databases::is_system_schema;
use crate::storage::tables::last_name;

impl Rewriter<'_> {
    /// INSERT and REPLACE. `auto` is the table's AUTO_INCREMENT column and `columns` are all of
    /// its columns, where that is known.
    pub fn insert(
        mut self,
        mut insert: Insert,
        auto: Option<&str>,
        columns: &[String],
    ) -> Result<Sql> {
        let change = if insert.replace_into {
            "REPLACE"
        } else {
            "INSERT"
        };
        let TableObject::TableName(name) = &insert.table else {
            return Err(near("FUNCTION"));
        };
        if insert.partitioned.is_some() || insert.returning.is_some() || insert.overwrite {
            return Err(SqlError::unsupported("PARTITION and RETURNING in INSERT"));
        }
        let (database, table) = self.resolve(name)?;
        self.note(&database, &table);
        self.sql.writes = Some(database.clone());
        self.sql.makes_ids = auto.is_some();
        let mut names: Vec<String> = insert.columns.iter().map(last_name).collect();
        if !insert.assignments.is_empty() {
            // INSERT ... SET a = 1
            let mut row = Vec::new();
            for assignment in std::mem::take(&mut insert.assignments) {
                let AssignmentTarget::ColumnName(name) = &assignment.target else {
                    return Err(near("("));
                };
                names.push(last_name(name));
                row.push(assignment.value);
            }
            insert.source = Some(values_query(vec![row])?);
        }
        let Some(mut source) = insert.source.take() else {
            return Err(near("DEFAULT"));
        };
        let all: &[String] = if names.is_empty() { columns } else { &names };
        let auto_at = auto.and_then(|a| all.iter().position(|c| c.eq_ignore_ascii_case(a)));
        let mut text = String::new();
        let mut is_values = false;
        if let SetExpr::Values(Values { rows, .. }) = source.body.as_mut()
            && source.with.is_none()
            && source.order_by.is_none()
            && source.limit_clause.is_none()
        {
            is_values = true;
            let mut out = Vec::with_capacity(rows.len());
            for row in rows.iter_mut() {
                let cells: &mut Vec<Expr> = &mut *row;
                if cells.len() != all.len()
                    && !all.is_empty()
                    && !(cells.is_empty() && names.is_empty())
                {
                    return Err(SqlError::new(
                        1136,
                        format!(
                            "Column count doesn't match value count at row {}",
                            out.len() + 1
                        ),
                    ));
                }
                let mut row = Vec::with_capacity(cells.len());
                for (i, cell) in cells.iter_mut().enumerate() {
                    if matches!(cell, Expr::Identifier(d) if d.quote_style.is_none() && d.value.eq_ignore_ascii_case("DEFAULT"))
                    {
                        row.push(self.default_of(
                            &database,
                            &table,
                            all.get(i).map(String::as_str),
                        ));
                        continue;
                    }
                    self.visit(cell)?;
                    if auto_at == Some(i) && may_be_zero(cell) {
                        row.push(format!("nullif({cell}, 0)"));
                    } else {
                        row.push(cell.to_string());
                    }
                }
                out.push(row);
            }
            if out.iter().all(Vec::is_empty) {
                if out.len() != 1 {
                    return Err(SqlError::unsupported("several rows of defaults"));
                }
                text.push_str("DEFAULT VALUES");
            } else {
                text.push_str("VALUES ");
                for (i, row) in out.iter().enumerate() {
                    text.push_str(if i == 0 { "(" } else { ", (" });
                    text.push_str(&row.join(", "));
                    text.push(')');
                }
            }
        } else {
            self.visit(source.as_mut())?;
            text = source.to_string();
        }
        let or = if insert.ignore { " OR IGNORE" } else { "" };
        let list = if names.is_empty() {
            String::new()
        } else {
            format!(
                " ({})",
                names
                    .iter()
                    .map(|n| quote(n))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        };
        let mut alias = String::new();
        if let Some(a) = &insert.insert_alias {
            alias = last_name(&a.row_alias);
        }
        let mut sql = format!(
            "{change}{or} INTO {}.{}{list} {text}",
            quote(&database),
            quote(&table)
        );
        match insert.on.take() {
            None => {}
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => {
                if !is_values {
                    // Otherwise SQLite takes ON for a join's.
                    sql = format!(
                        "{change}{or} INTO {}.{}{list} SELECT * FROM ({text}) WHERE true",
                        quote(&database),
                        quote(&table)
                    );
                }
                sql.push_str(" ON CONFLICT DO UPDATE SET ");
                for (i, mut assignment) in assignments.into_iter().enumerate() {
                    let AssignmentTarget::ColumnName(name) = &assignment.target else {
                        return Err(near("("));
                    };
                    let column = last_name(name);
                    excluded(&mut assignment.value, &alias);
                    self.visit(&mut assignment.value)?;
                    let comma = if i == 0 { "" } else { ", " };
                    sql.push_str(&format!("{comma}{} = {}", quote(&column), assignment.value));
                }
            }
            Some(OnInsert::OnConflict(_)) => return Err(near("ON CONFLICT")),
            Some(other) => return Err(near(other)),
        }
        self.sql.text = sql;
        Ok(self.sql)
    }

    /// DEFAULT as a value. SQLite has no such word in VALUES.
    fn default_of(&self, database: &str, table: &str, column: Option<&str>) -> String {
        let text = |t: &str| literal(t);
        format!(
            "tare_default({}, {}, {})",
            text(database),
            text(table),
            text(column.unwrap_or(""))
        )
    }
}

fn may_be_zero(cell: &Expr) -> bool {
    match cell {
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) => n.parse::<i64>().map_or(true, |n| n == 0),
            _ => true,
        },
        _ => true,
    }
}

/// In ON DUPLICATE KEY UPDATE, VALUES(c) and the row's alias are the row that was refused.
fn excluded(expr: &mut Expr, alias: &str) {
    let _ = sqlparser::ast::visit_expressions_mut(expr, |e| {
        match e {
            Expr::Function(Function {
                name,
                args: FunctionArguments::List(list),
                ..
            }) if last_name(name).eq_ignore_ascii_case("VALUES") && list.args.len() == 1 => {
                let column = list.args[0].to_string();
                *e = raw(format!("excluded.{}", quote(column.trim_matches('`'))));
            }
            Expr::CompoundIdentifier(parts)
                if parts.len() == 2 && !alias.is_empty() && parts[0].value == alias =>
            {
                *e = raw(format!("excluded.{}", quote(&parts[1].value)));
            }
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
}

fn values_query(rows: Vec<Vec<Expr>>) -> Result<Box<Query>> {
    let mut query = match parse_one("VALUES (1)")? {
        Statement::Query(query) => query,
        other => return Err(near(other)),
    };
    if let SetExpr::Values(values) = query.body.as_mut() {
        let first = values.rows.first().cloned().ok_or_else(|| near("VALUES"))?;
        values.rows = rows
            .into_iter()
            .map(|row| {
                let mut parens = first.clone();
                *parens = row;
                parens
            })
            .collect();
    }
    Ok(query)
}

/// What kind of change an INSERT is.
pub fn change_of(insert: &Insert) -> Change {
    if insert.replace_into {
        Change::Replace
    } else {
        Change::Insert
    }
}

/// The AUTO_INCREMENT column of an INSERT's table, and all of its columns.
pub fn insert_columns(
    connection: &mut Connection,
    database: &str,
    table: &str,
) -> Result<(Option<String>, Vec<String>)> {
    if is_system_schema(database) {
        return Ok((None, Vec::new()));
    }
    match connection.table(database, table)? {
        None => Err(SqlError::no_such_table(database, table)),
        Some(def) => Ok((
            def.auto_increment().map(|c| c.name.clone()),
            def.columns.iter().map(|c| c.name.clone()).collect(),
        )),
    }
}
