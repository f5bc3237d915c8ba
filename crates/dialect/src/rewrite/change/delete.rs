//! DELETE.

use crate::error::{Error, Result, near};
use sqlparser::ast::{Delete, FromTable, ObjectName, TableFactor, TableWithJoins};

use crate::name::{full_name, last_name, quote};
use crate::plan::Sql;
use crate::rewrite::Rewriter;

impl Rewriter<'_> {
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
                    Error::unsupported("DELETE of rows of several tables")
                });
            };
            let target = self
                .named_target("DELETE", &tables, &last_name(name))
                .map_err(|error| match error {
                    Error::NotUpdatable(_) => Error::UnknownTarget(full_name(name)),
                    other => other,
                })?;
            self.sql.writes = Some(target.database.clone());
            self.sql.refuses_warnings = self.mode.strict;
            self.sql.target = Some(target.table.clone());
            self.sql.joined = true;
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
        let target = self.target("DELETE", &one.relation)?;
        self.sql.writes = Some(target.database.clone());
        self.sql.refuses_warnings = self.mode.strict;
        self.sql.target = Some(target.table.clone());
        let tail = self.some_rows(
            &target,
            delete.selection.take(),
            delete.order_by,
            delete.limit,
        )?;
        self.sql.text = format!("DELETE FROM {}{tail}", target.sql());
        Ok(self.sql)
    }
}
