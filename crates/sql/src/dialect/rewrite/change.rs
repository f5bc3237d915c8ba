//! UPDATE and DELETE: their table and the rows of it.

use sqlparser::ast::{
    AssignmentTarget, Delete, Expr, FromTable, OrderByExpr, TableFactor, TableWithJoins, Update,
};

use super::{Rewriter, canonical};
use crate::dialect::near;
use crate::dialect::plan::Sql;
use crate::server::error::{Result, SqlError};
use crate::storage::connection::quote;
use crate::storage::tables::last_name;

impl Rewriter<'_> {
    /// UPDATE of one table.
    pub fn update(mut self, mut update: Update) -> Result<Sql> {
        if !update.table.joins.is_empty() || update.from.is_some() || update.returning.is_some() {
            return Err(SqlError::unsupported("UPDATE of several tables"));
        }
        let (database, table, alias) = self.target(&update.table)?;
        self.sql.writes = Some(database.clone());
        let or = match update.or {
            Some(_) => " OR IGNORE",
            None => "",
        };
        let mut sql = format!(
            "UPDATE{or} {}.{}{}",
            quote(&database),
            quote(&table),
            as_alias(alias.as_deref())
        );
        for (i, assignment) in update.assignments.iter_mut().enumerate() {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(near("("));
            };
            let column = last_name(name);
            self.visit(&mut assignment.value)?;
            let word = if i == 0 { " SET" } else { "," };
            sql.push_str(&format!("{word} {} = {}", quote(&column), assignment.value));
        }
        let tail = self.some_rows(
            &database,
            &table,
            alias.as_deref(),
            update.selection.take(),
            update.order_by,
            update.limit,
        )?;
        self.sql.text = sql + &tail;
        Ok(self.sql)
    }

    /// DELETE from one table.
    pub fn delete(mut self, mut delete: Delete) -> Result<Sql> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let [one] = from.as_slice() else {
            return Err(SqlError::unsupported("DELETE from several tables"));
        };
        if !one.joins.is_empty()
            || !delete.tables.is_empty()
            || delete.using.is_some()
            || delete.returning.is_some()
        {
            return Err(SqlError::unsupported("DELETE from several tables"));
        }
        let (database, table, alias) = self.target(one)?;
        self.sql.writes = Some(database.clone());
        let tail = self.some_rows(
            &database,
            &table,
            alias.as_deref(),
            delete.selection.take(),
            delete.order_by,
            delete.limit,
        )?;
        self.sql.text = format!(
            "DELETE FROM {}.{}{}{tail}",
            quote(&database),
            quote(&table),
            as_alias(alias.as_deref())
        );
        Ok(self.sql)
    }

    fn target(&mut self, table: &TableWithJoins) -> Result<(String, String, Option<String>)> {
        let TableFactor::Table { name, alias, .. } = &table.relation else {
            return Err(SqlError::new(
                1288,
                "The target table of the UPDATE or DELETE is not updatable",
            ));
        };
        let (database, table) = self.resolve(name)?;
        self.note(&database, &table);
        let (database, table) = canonical(database, table);
        Ok((
            database,
            table,
            alias.as_ref().map(|a| a.name.value.clone()),
        ))
    }

    /// WHERE, ORDER BY and LIMIT of an UPDATE or DELETE: SQLite has no LIMIT there, but rowids.
    fn some_rows(
        &mut self,
        database: &str,
        table: &str,
        alias: Option<&str>,
        selection: Option<Expr>,
        order: Vec<OrderByExpr>,
        limit: Option<Expr>,
    ) -> Result<String> {
        let mut tail = String::new();
        if let Some(mut selection) = selection {
            self.visit(&mut selection)?;
            tail = format!(" WHERE {selection}");
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
            " WHERE rowid IN (SELECT rowid FROM {}.{}{}{tail}{by} LIMIT {limit})",
            quote(database),
            quote(table),
            as_alias(alias)
        ))
    }
}

fn as_alias(alias: Option<&str>) -> String {
    alias.map_or_else(String::new, |a| format!(" AS {}", quote(a)))
}
