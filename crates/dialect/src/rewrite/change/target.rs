//! The table that is changed, and its rows.

use crate::error::{Error, Result};
use sqlparser::ast::{Expr, OrderByExpr, TableFactor, TableWithJoins};

use crate::name::{last_name, quote};
use crate::rewrite::{Rewriter, canonical};

/// A table that is changed: database, name, and alias.
pub(super) struct Target {
    pub(super) database: String,
    pub(super) table: String,
    alias: Option<String>,
}

impl Target {
    pub(super) fn called(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.table)
    }

    pub(super) fn sql(&self) -> String {
        format!(
            "{}.{}{}",
            quote(&self.database),
            quote(&self.table),
            as_alias(self.alias.as_deref())
        )
    }
}

impl Rewriter<'_> {
    /// The table that is changed, which needs a privilege.
    pub(super) fn target(&mut self, privilege: &str, table: &TableFactor) -> Result<Target> {
        let TableFactor::Table { name, alias, .. } = table else {
            return Err(Error::NoTarget);
        };
        let (database, table) = self.resolve(name)?;
        self.require_table(privilege, &database, &table)?;
        let (database, table) = canonical(database, table);
        Ok(Target {
            database,
            table,
            alias: alias.as_ref().map(|a| a.name.value.clone()),
        })
    }

    /// The table of a FROM clause with this name or alias.
    pub(super) fn named_target(
        &mut self,
        privilege: &str,
        tables: &[TableWithJoins],
        called: &str,
    ) -> Result<Target> {
        let factors = tables
            .iter()
            .flat_map(|t| std::iter::once(&t.relation).chain(t.joins.iter().map(|j| &j.relation)));
        for factor in factors {
            if let TableFactor::Table { name, alias, .. } = factor {
                let own = alias
                    .as_ref()
                    .map_or_else(|| last_name(name), |a| a.name.value.clone());
                if own.eq_ignore_ascii_case(called) {
                    return self.target(privilege, factor);
                }
            }
        }
        Err(Error::NotUpdatable(called.to_owned()))
    }

    /// WHERE, ORDER BY and LIMIT of an UPDATE or DELETE: SQLite has no LIMIT there, but rowids.
    pub(super) fn some_rows(
        &mut self,
        target: &Target,
        selection: Option<Expr>,
        order: Vec<OrderByExpr>,
        limit: Option<Expr>,
    ) -> Result<String> {
        let mut tail = String::new();
        if let Some(mut selection) = selection {
            self.require_table("SELECT", &target.database, &target.table)?;
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

fn as_alias(alias: Option<&str>) -> String {
    alias.map_or_else(String::new, |a| format!(" AS {}", quote(a)))
}
