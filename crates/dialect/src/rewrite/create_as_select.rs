//! CREATE TABLE ... AS SELECT: the definition from the query's columns, and the INSERT of its rows.

use sqlparser::ast::{Query, SetExpr};
use tare_mysql::table::{ColumnDef, TableDef};

use super::Rewriter;
use super::insert::now;
use crate::ddl::TableName;
use crate::error::{Error, Result};
use crate::join::shares_columns;
use crate::name::quote;
use crate::plan::Sql;
use crate::tokens::DuplicateRows;

impl Rewriter<'_> {
    /// Completes a definition with a query's columns, and builds the INSERT that fills the table. Columns
    /// that both name have the written definition, and the query's order.
    pub fn create_as_select(
        mut self,
        name: &TableName,
        mut query: Query,
        text: &str,
        mut def: TableDef,
        doubles: DuplicateRows,
    ) -> Result<(Sql, TableDef)> {
        self.add_table(&name.database, &name.table);
        self.names.defines = true;
        self.name_columns(&mut query, text);
        let shared = matches!(query.body.as_ref(), SetExpr::Select(s) if shares_columns(&s.from));
        let columns = match self.names.columns(&query) {
            Some(columns) if !shared || !is_of_all(&query) => columns,
            _ => {
                // Columns of a table that there is not are not known either.
                self.visit(&mut query)?;
                return Err(Error::unsupported(
                    "CREATE TABLE ... SELECT of columns whose types are not known; name them",
                ));
            }
        };
        let mut names = Vec::with_capacity(columns.len());
        for column in &columns {
            if names
                .iter()
                .any(|n: &String| n.eq_ignore_ascii_case(&column.name))
            {
                return Err(Error::DuplicateColumn(column.name.clone()));
            }
            names.push(column.name.clone());
            let at = |c: &ColumnDef| c.name.eq_ignore_ascii_case(&column.name);
            let definition = match def.columns.iter().position(at) {
                Some(at) => def.columns.remove(at),
                None => match &column.def {
                    Some(definition) => ColumnDef {
                        name: column.name.clone(),
                        ..definition.as_value()
                    },
                    None => return Err(Error::unsupported("a column without a type")),
                },
            };
            def.columns.push(definition);
        }
        def.settle();
        def.check_indexes()?;
        let wires: Vec<_> = columns.into_iter().map(|c| c.wire).collect();
        self.exact = self.reads_system(&query);
        self.visit(&mut query)?;
        let into: Vec<&str> = names.iter().map(String::as_str).collect();
        let ignores = doubles == DuplicateRows::Ignored;
        let (mut filled, mut others) = (Vec::new(), Vec::new());
        for column in &def.columns {
            let is_now = column.default.as_deref() == Some("CURRENT_TIMESTAMP");
            if is_now && !into.contains(&column.name.as_str()) {
                let mut value = now(column);
                let value_kind = self.value_kind(&value);
                self.visit(&mut value)?;
                others.push(self.convert_value(
                    Some(&def),
                    &column.name,
                    value_kind,
                    value,
                    ignores,
                ));
                filled.push(column.name.clone());
            }
        }
        let query = query.to_string();
        let rows = self.convert_rows(Some(&def), &into, &wires, others, query, ignores);
        let word = match doubles {
            DuplicateRows::Refused => "INSERT",
            DuplicateRows::Ignored => "INSERT OR IGNORE",
            DuplicateRows::Replaced => "REPLACE",
        };
        let (database, table) = (quote(&name.database), quote(&name.table));
        let into: Vec<String> = names.iter().chain(&filled).map(|n| quote(n)).collect();
        let into = into.join(", ");
        self.sql.text = format!("{word} INTO {database}.{table} ({into}) {rows}");
        Ok((self.sql, def))
    }
}

/// Whether a select list has `*`.
fn is_of_all(query: &Query) -> bool {
    use sqlparser::ast::SelectItem::{QualifiedWildcard, Wildcard};
    match query.body.as_ref() {
        SetExpr::Select(select) => {
            let mut items = select.projection.iter();
            items.any(|item| matches!(item, Wildcard(_) | QualifiedWildcard(..)))
        }
        _ => true,
    }
}
