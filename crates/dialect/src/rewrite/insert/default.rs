//! The defaults of columns.

use sqlparser::ast::Expr;
use tare_mysql::error::{Result, SqlError};

use super::Target;
use crate::function::{arguments, name_of};
use crate::node;
use crate::rewrite::Rewriter;

impl Rewriter<'_> {
    /// What stands for DEFAULT and DEFAULT(column). SQLite has no such word among values.
    pub(in crate::rewrite) fn default_value(
        &mut self,
        database: &str,
        table: &str,
        column: &str,
        value: &Expr,
    ) -> Result<Option<Expr>> {
        let column = match value {
            _ if is_default(value) => column,
            Expr::Function(f) if name_of(f) == "default" => match arguments(f).as_slice() {
                [Expr::Identifier(name)] => &name.value,
                [Expr::CompoundIdentifier(parts)] => match parts.last() {
                    Some(name) => &name.value,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(def) = self.names.definition(database, table) else {
            return Ok(None);
        };
        let Some(found) = def.column(column) else {
            return Err(SqlError::new(
                1054,
                format!("Unknown column '{column}' in 'field list'"),
            ));
        };
        Ok(Some(match &found.default {
            Some(default) if default == "CURRENT_TIMESTAMP" => node::call("now", Vec::new()),
            Some(default) => node::stored_default(default.replace("\\\\", "\\")),
            None if found.nullable || found.auto_increment => node::null(),
            None => return Err(no_default(column)),
        }))
    }
}

impl Target<'_> {
    /// In strict mode each column that is left out and cannot be NULL has a default.
    pub(super) fn has_defaults(&self) -> Result<()> {
        let Some(def) = self.def.filter(|def| def.view.is_none()) else {
            return Ok(());
        };
        if self.names.is_empty() {
            return Ok(());
        }
        for column in &def.columns {
            if !column.nullable
                && column.default.is_none()
                && !column.auto_increment
                && !column.on_update_now
                && !self
                    .names
                    .iter()
                    .any(|n| n.eq_ignore_ascii_case(&column.name))
            {
                return Err(no_default(&column.name));
            }
        }
        Ok(())
    }

    /// Every column that is named exists.
    pub(super) fn has_columns(&self) -> Result<()> {
        let Some(def) = self.def else { return Ok(()) };
        match self.names.iter().find(|n| def.column(n).is_none()) {
            None => Ok(()),
            Some(name) => Err(SqlError::new(
                1054,
                format!("Unknown column '{name}' in 'field list'"),
            )),
        }
    }
}

fn no_default(column: &str) -> SqlError {
    SqlError::new(
        1364,
        format!("Field '{column}' doesn't have a default value"),
    )
}

/// Whether it is the word DEFAULT.
fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(d) if d.quote_style.is_none() && d.value.eq_ignore_ascii_case("DEFAULT"))
}
