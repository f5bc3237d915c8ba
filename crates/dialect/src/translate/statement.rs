//! Translates a statement that sqlparser has parsed.

use crate::error::{Error, Result, near};
use sqlparser::ast::AnalyzeFormatKind::{Assignment, Keyword};
use sqlparser::ast::{AnalyzeFormat, Insert, ObjectName, RenameTable, Statement, TableObject};

use crate::admin::{Filter, Format, Show, What};
use crate::clauses::Names;
use crate::ddl::{Ddl, TableName};
use crate::mode::Mode;
use crate::plan::{Action, Change};
use crate::rewrite::{Rewriter, change_of, insert_table};
use crate::schema::Schema;
use crate::tokens::DuplicateRows;
use crate::{call, lookup};

/// The text of a statement, and the session's settings.
pub(super) struct Translation<'a> {
    pub(super) text: &'a str,
    pub(super) database: Option<&'a str>,
    pub(super) schema: &'a mut dyn Schema,
    pub(super) mode: Mode,
    /// What CREATE TABLE ... SELECT does with duplicate rows.
    pub(super) doubles: DuplicateRows,
}

impl Translation<'_> {
    /// Translates a statement, and collects the columns that it names.
    pub(super) fn named(&mut self, statement: Statement) -> Result<Action> {
        let names = Names::of(&statement);
        let mut action = self.statement(statement)?;
        match &mut action {
            Action::Rows(sql) | Action::Write(sql, _) => sql.names = names,
            Action::Show(show) => {
                if let What::Explain(sql, ..) = &mut show.what {
                    sql.names = names;
                }
            }
            _ => {}
        }
        Ok(action)
    }

    /// Translates a statement.
    fn statement(&mut self, statement: Statement) -> Result<Action> {
        Ok(match statement {
            Statement::Query(query) => {
                let text = self.text;
                Action::Rows(self.rewriter().query(*query, text)?)
            }
            Statement::Insert(insert) => self.insert(insert)?,
            Statement::Update(update) => {
                Action::Write(self.rewriter().update(update)?, Change::Update)
            }
            Statement::Delete(delete) => {
                Action::Write(self.rewriter().delete(delete)?, Change::Delete)
            }
            Statement::Explain {
                statement,
                analyze,
                format,
                ..
            } => {
                let format = match format {
                    Some(Keyword(AnalyzeFormat::JSON) | Assignment(AnalyzeFormat::JSON)) => {
                        Format::Json
                    }
                    Some(Keyword(AnalyzeFormat::TREE) | Assignment(AnalyzeFormat::TREE)) => {
                        Format::Tree
                    }
                    _ if analyze => Format::Tree,
                    _ => Format::Traditional,
                };
                self.explain(*statement, format)?
            }
            Statement::Call(call) => {
                let (text, database) = (self.text, self.database);
                Action::Call(Box::new(call::procedure(
                    call,
                    text,
                    database,
                    self.schema,
                )?))
            }
            Statement::Truncate(truncate) => {
                let [table] = truncate.table_names.as_slice() else {
                    return Err(near(","));
                };
                ddl(Ddl::Truncate(self.name(&table.name)?))
            }
            Statement::RenameTable(renames) => ddl(Ddl::Rename(self.renamed(&renames)?)),
            Statement::AlterTable(alter) => ddl(Ddl::Alter {
                name: self.name(&alter.name)?,
                operations: alter.operations,
            }),
            Statement::CreateFunction(_)
            | Statement::CreateProcedure { .. }
            | Statement::CreateTrigger(_) => {
                return Err(Error::unsupported("stored programs"));
            }
            other => ddl(self.definition(other)?),
        })
    }

    pub(super) fn rewriter(&mut self) -> Rewriter<'_> {
        Rewriter::new(self.database, self.schema, self.mode)
    }

    /// A qualified name.
    pub(super) fn name(&self, name: &ObjectName) -> Result<TableName> {
        TableName::of(name, self.database)
    }

    fn insert(&mut self, insert: Insert) -> Result<Action> {
        let change = change_of(&insert);
        let TableObject::TableName(name) = &insert.table else {
            return Err(near("FUNCTION"));
        };
        let name = self.name(name)?;
        let def = insert_table(self.schema, &name.database, &name.table)?;
        let sql = self.rewriter().insert(insert, def.as_deref())?;
        Ok(Action::Write(sql, change))
    }

    fn explain(&mut self, statement: Statement, format: Format) -> Result<Action> {
        let lookup = lookup::of(&statement, self.database, self.schema).map(Box::new);
        let (Action::Rows(mut sql) | Action::Write(mut sql, _)) = self.statement(statement)? else {
            return Err(near("EXPLAIN"));
        };
        sql.text = format!("EXPLAIN QUERY PLAN {}", sql.text);
        Ok(Action::Show(Box::new(Show {
            what: What::Explain(Box::new(sql), format, lookup),
            filter: Filter::None,
            full: false,
        })))
    }

    fn renamed(&self, renames: &[RenameTable]) -> Result<Vec<(TableName, TableName)>> {
        let pair = |r: &RenameTable| Ok((self.name(&r.old_name)?, self.name(&r.new_name)?));
        renames.iter().map(pair).collect()
    }
}

fn ddl(ddl: Ddl) -> Action {
    Action::Ddl(Box::new(ddl))
}
