//! The rows of an INSERT.

use crate::error::{Error, Result};
use sqlparser::ast::{Expr, Ident, Query, SetExpr, Value, Values};

use super::Target;
use crate::node;
use crate::rewrite::Rewriter;

/// Where the rows come from, in SQLite's text.
pub(super) enum Rows {
    /// VALUES, or DEFAULT VALUES.
    Listed(String),
    /// A query.
    Selected(String),
}

impl Rewriter<'_> {
    /// The rows that are inserted.
    pub(super) fn rows(&mut self, target: &Target<'_>, mut source: Query) -> Result<Rows> {
        let plain =
            source.with.is_none() && source.order_by.is_none() && source.limit_clause.is_none();
        let SetExpr::Values(values) = source.body.as_mut() else {
            return self.selected(target, source);
        };
        if !plain {
            return self.selected(target, source);
        }
        self.listed(target, values)?;
        if !values.rows.iter().all(|row| row.is_empty()) {
            return Ok(Rows::Listed(values.to_string()));
        }
        if values.rows.len() != 1 {
            return Err(Error::unsupported("several rows of defaults"));
        }
        Ok(Rows::Listed("DEFAULT VALUES".into()))
    }

    fn selected(&mut self, target: &Target<'_>, mut source: Query) -> Result<Rows> {
        let columns = self.names.columns(&source).unwrap_or_default();
        let wires: Vec<_> = columns.into_iter().map(|c| c.wire).collect();
        let is_sorted = source.order_by.is_some();
        self.visit(&mut source)?;
        let (text, columns) = (source.to_string(), target.columns());
        let (given, left_out) = columns.split_at(columns.len() - target.filled.min(columns.len()));
        let mut filled = Vec::new();
        for column in left_out {
            let mut cell = Expr::Identifier(Ident::new("DEFAULT"));
            let counts = target
                .auto()
                .is_some_and(|a| a.eq_ignore_ascii_case(column));
            self.cell(target, column, counts, &mut cell)?;
            filled.push(cell);
        }
        let rows = self.convert_rows(target.def, given, &wires, filled, text, target.ignore);
        let rows = match is_sorted && target.auto().is_some() {
            // SQLite would number the rows before it sorts them.
            true => rows.replacen(") AS (", ") AS MATERIALIZED (", 1),
            false => rows,
        };
        Ok(Rows::Selected(rows))
    }

    fn listed(&mut self, target: &Target<'_>, values: &mut Values) -> Result<()> {
        values.explicit_row = false;
        values.value_keyword = false;
        let columns = target.columns();
        let auto = target.auto();
        for (n, row) in values.rows.iter_mut().enumerate() {
            let of_defaults = row.is_empty() && target.names.len() == target.filled;
            let given = columns.len() - target.filled.min(columns.len());
            if row.len() != given && !columns.is_empty() && !of_defaults {
                return Err(Error::ValueCount(n + 1));
            }
            for _ in 0..target.filled {
                row.push(Expr::Identifier(Ident::new("DEFAULT")));
            }
            for (i, cell) in row.iter_mut().enumerate() {
                let column = columns.get(i).copied().unwrap_or_default();
                let counts = auto.is_some_and(|a| a.eq_ignore_ascii_case(column));
                self.cell(target, column, counts, cell)?;
            }
        }
        Ok(())
    }

    /// A value of a column, which may be the one with AUTO_INCREMENT.
    fn cell(
        &mut self,
        target: &Target<'_>,
        column: &str,
        counts: bool,
        cell: &mut Expr,
    ) -> Result<()> {
        if let Some(value) = self.default_value(&target.database, &target.table, column, cell)? {
            *cell = value;
        } else if is_null(cell) && !counts && !target.is_nullable(column) {
            // SQLite takes NULL for the next number of an INTEGER PRIMARY KEY.
            self.sql.null_column.get_or_insert_with(|| column.into());
        }
        let (value_kind, zero) = (self.value_kind(cell), may_be_zero(cell));
        self.visit(cell)?;
        let value = node::take(cell);
        *cell = self.convert_value(target.def, column, value_kind, value, target.ignore);
        if counts && zero {
            node::replace(cell, |e| node::call("nullif", vec![e, node::number(0)]));
        }
        if counts {
            node::replace(cell, |e| node::call("tare_auto_increment", vec![e]));
        }
        Ok(())
    }
}

impl Target<'_> {
    /// Whether a column can be NULL; true if that is not known.
    fn is_nullable(&self, column: &str) -> bool {
        let column = self.def.and_then(|def| def.column(column));
        column.is_none_or(|c| c.nullable)
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

/// Whether an expression is the literal NULL.
fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(v) if v.value == Value::Null)
}
