//! The defaults of columns.

use crate::error::{Clause, Error, Result};
use sqlparser::ast::Expr;
use tare_mysql::table::ColumnDef;
use tare_mysql::types::{base_type, parts};

use super::Target;
use crate::function::{arguments, name_of};
use crate::node;
use crate::plan::MissingDefault;
use crate::rewrite::Rewriter;

impl Rewriter<'_> {
    /// The value of DEFAULT or DEFAULT(column), which SQLite does not have in VALUES.
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
        let Some(definition) = def.column(column) else {
            return Err(Error::UnknownColumn {
                name: column.to_owned(),
                clause: Clause::FieldList,
            });
        };
        if let Some(bits) = definition.bits_default() {
            return Ok(Some(node::number(bits as i64)));
        }
        Ok(Some(match &definition.default {
            Some(default) if default == "CURRENT_TIMESTAMP" => now(definition),
            Some(default) => node::stored_default(default.replace("\\\\", "\\")),
            None if definition.nullable || definition.auto_increment => node::null(),
            None => return Err(Error::NoDefault(column.to_owned())),
        }))
    }
}

/// The current time, with as many digits as a column has.
pub(in crate::rewrite) fn now(column: &ColumnDef) -> Expr {
    let digits = parts(&column.column_type).fraction().unwrap_or(0);
    let arguments = (digits > 0).then(|| node::number(digits as i64));
    node::call("now", arguments.into_iter().collect())
}

impl Target<'_> {
    /// The columns that are not named and whose default is computed at run time: the next number of AUTO_INCREMENT,
    /// the current time, and a TIMESTAMP's default, which is in the session's time zone.
    pub(super) fn columns_with_runtime_default(&self, zoned: bool) -> Vec<String> {
        let Some(def) = self.def.filter(|def| def.view.is_none()) else {
            return Vec::new();
        };
        let is_left_out = |c: &&ColumnDef| {
            let named = |name: &String| name.eq_ignore_ascii_case(&c.name);
            !self.names.iter().any(named)
        };
        let is_filled = |c: &&ColumnDef| match c.default.as_deref() {
            _ if c.auto_increment => true,
            Some("CURRENT_TIMESTAMP") => true,
            Some(_) => zoned && base_type(&c.column_type) == "timestamp",
            None => false,
        };
        let columns = def.columns.iter().filter(is_left_out).filter(is_filled);
        columns.map(|c| c.name.clone()).collect()
    }

    /// The first column that is not named, cannot be NULL and has no default: strict mode refuses the statement when
    /// it runs. `of_defaults`: no column has a value.
    pub(super) fn missing_default(&self, of_defaults: bool) -> Option<MissingDefault> {
        let def = self.def.filter(|def| def.view.is_none())?;
        if self.names.is_empty() && !of_defaults {
            return None;
        }
        let is_named = |column: &ColumnDef| {
            let named = |name: &String| name.eq_ignore_ascii_case(&column.name);
            self.names.iter().any(named)
        };
        let is_missing = |column: &&ColumnDef| {
            !column.nullable
                && column.default.is_none()
                && !column.auto_increment
                && !column.on_update_now
                && !is_named(column)
        };
        let missing = def.columns.iter().find(is_missing)?;
        let is_key = |name: &String| name.eq_ignore_ascii_case(&missing.name);
        let is_numbered = def
            .primary()
            .is_some_and(|key| key.columns.iter().all(is_key));
        Some(MissingDefault {
            column: missing.name.clone(),
            is_numbered,
        })
    }

    /// Checks that every named column exists.
    pub(super) fn check_columns_exist(&self) -> Result<()> {
        let Some(def) = self.def else { return Ok(()) };
        match self.names.iter().find(|n| def.column(n).is_none()) {
            None => Ok(()),
            Some(name) => Err(Error::UnknownColumn {
                name: name.clone(),
                clause: Clause::FieldList,
            }),
        }
    }
}

/// Whether it is the word DEFAULT.
pub(super) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(d) if d.quote_style.is_none() && d.value.eq_ignore_ascii_case("DEFAULT"))
}
