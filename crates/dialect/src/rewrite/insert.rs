//! INSERT and REPLACE: their rows, defaults and ON DUPLICATE KEY UPDATE.

use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast::{
    AssignmentTarget, Expr, Function, FunctionArguments, Insert, OnInsert, Query, SetExpr,
    Statement, TableObject, Value, Values,
};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::TableDef;

use super::change::{is_default, is_null};
use super::{Rewriter, raw};
use crate::function::name_of;
use crate::name::{last_name, quote};
use crate::plan::{Change, Sql};
use crate::schema::Schema;
use crate::{near, parse_one};

impl Rewriter<'_> {
    /// INSERT and REPLACE into a table, which is known unless it is a system schema's.
    pub fn insert(mut self, mut insert: Insert, def: Option<&TableDef>) -> Result<Sql> {
        let auto = def
            .and_then(TableDef::auto_increment)
            .map(|c| c.name.as_str());
        let columns: Vec<String> = def
            .map(|d| d.columns.iter().map(|c| c.name.clone()).collect())
            .unwrap_or_default();
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
        for (i, name) in names.iter().enumerate() {
            if names[..i].iter().any(|n| n.eq_ignore_ascii_case(name)) {
                return Err(SqlError::new(
                    1110,
                    format!("Column '{name}' specified twice"),
                ));
            }
        }
        if let Some(def) = def {
            if let Some(name) = names.iter().find(|n| def.column(n).is_none()) {
                return Err(SqlError::new(
                    1054,
                    format!("Unknown column '{name}' in 'field list'"),
                ));
            }
            self.have_defaults(def, &names, &insert)?;
        }
        let Some(mut source) = insert.source.take() else {
            return Err(near("DEFAULT"));
        };
        let all: &[String] = if names.is_empty() { &columns } else { &names };
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
                    let column = all.get(i).map(String::as_str).unwrap_or_default();
                    if let Some(value) = self.default_value(&database, &table, column, cell)? {
                        *cell = value;
                    } else if is_null(cell)
                        && auto_at != Some(i)
                        && def.is_some_and(|d| d.column(column).is_some_and(|c| !c.nullable))
                    {
                        // SQLite takes NULL for the next number of an INTEGER PRIMARY KEY.
                        return Err(SqlError::new(
                            1048,
                            format!("Column '{column}' cannot be null"),
                        ));
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
                self.sql.counts_updates = !self.mode.found_rows;
                let mut changed = Vec::new();
                sql.push_str(" ON CONFLICT DO UPDATE SET ");
                for (i, mut assignment) in assignments.into_iter().enumerate() {
                    let AssignmentTarget::ColumnName(name) = &assignment.target else {
                        return Err(near("("));
                    };
                    let column = last_name(name);
                    if let Some(value) =
                        self.default_value(&database, &table, &column, &assignment.value)?
                    {
                        assignment.value = value;
                    }
                    excluded(&mut assignment.value, &alias);
                    self.visit(&mut assignment.value)?;
                    let comma = if i == 0 { "" } else { ", " };
                    let (name, value) = (quote(&column), assignment.value.to_string());
                    changed.push(format!("{name} IS NOT ({value}) COLLATE BINARY"));
                    // The first assignment counts the row as one that was updated.
                    let value = match (i, self.sql.counts_updates) {
                        (0, true) => format!("tare_updated({value})"),
                        _ => value,
                    };
                    sql.push_str(&format!("{comma}{name} = {value}"));
                }
                if self.sql.counts_updates {
                    // A row that stays as it is counts for nothing.
                    sql.push_str(&format!(" WHERE {}", changed.join(" OR ")));
                }
            }
            Some(OnInsert::OnConflict(_)) => return Err(near("ON CONFLICT")),
            Some(other) => return Err(near(other)),
        }
        self.sql.text = sql;
        Ok(self.sql)
    }

    /// What stands for DEFAULT and DEFAULT(column). SQLite has no such word among values.
    pub(super) fn default_value(
        &mut self,
        database: &str,
        table: &str,
        column: &str,
        value: &Expr,
    ) -> Result<Option<Expr>> {
        let column = match value {
            _ if is_default(value) => column.to_owned(),
            Expr::Function(f) if name_of(f) == "default" => match &f.args {
                FunctionArguments::List(list) if list.args.len() == 1 => {
                    let text = list.args[0].to_string();
                    text.rsplit('.')
                        .next()
                        .unwrap_or(&text)
                        .trim_matches('`')
                        .to_owned()
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(def) = self.names.definition(database, table) else {
            return Ok(None);
        };
        let Some(found) = def.column(&column) else {
            return Err(SqlError::new(
                1054,
                format!("Unknown column '{column}' in 'field list'"),
            ));
        };
        Ok(Some(raw(match &found.default {
            Some(default) if default == "CURRENT_TIMESTAMP" => "now()".to_owned(),
            Some(default) => format!("({})", default.replace("\\\\", "\\")),
            None if found.nullable || found.auto_increment => "NULL".to_owned(),
            None => return Err(no_default(&column)),
        })))
    }

    /// In strict mode a column that is left out and cannot be NULL has to have a default.
    fn have_defaults(&self, def: &TableDef, names: &[String], insert: &Insert) -> Result<()> {
        if !self.mode.strict || insert.ignore || names.is_empty() || def.view.is_some() {
            return Ok(());
        }
        for column in &def.columns {
            if !column.nullable
                && column.default.is_none()
                && !column.auto_increment
                && !column.on_update_now
                && !names.iter().any(|n| n.eq_ignore_ascii_case(&column.name))
            {
                return Err(no_default(&column.name));
            }
        }
        Ok(())
    }
}

fn no_default(column: &str) -> SqlError {
    SqlError::new(
        1364,
        format!("Field '{column}' doesn't have a default value"),
    )
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

/// The definition of an INSERT's table; `None` in a system schema.
pub fn insert_table(
    schema: &mut dyn Schema,
    database: &str,
    table: &str,
) -> Result<Option<Arc<TableDef>>> {
    if is_system_schema(database) {
        return Ok(None);
    }
    match schema.user_table(database, table)? {
        None => Err(SqlError::no_such_table(database, table)),
        some => Ok(some),
    }
}
