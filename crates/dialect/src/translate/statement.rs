//! Translates a statement that sqlparser has parsed.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::error::{Error, Result, near};
use sqlparser::ast::AnalyzeFormatKind::{Assignment, Keyword};
use sqlparser::ast::{
    AnalyzeFormat, Expr, Insert, ObjectName, RenameTable, Statement, TableObject, Value,
};
use sqlparser::ast::{Query, Visit, Visitor, visit_expressions, visit_relations};

use crate::admin::{Filter, Format, Show, What};
use crate::clauses::Names;
use crate::ddl::{AlterOperation, Ddl, TableName};
use crate::mode::Mode;
use crate::name::{self, full_name, last_name};
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
        check_privileges(&statement, self.database, self.schema)?;
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
                        Some(Format::Json)
                    }
                    Some(Keyword(AnalyzeFormat::TREE) | Assignment(AnalyzeFormat::TREE)) => {
                        Some(Format::Tree)
                    }
                    _ if analyze => Some(Format::Tree),
                    named => named.map(|_| Format::Traditional),
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
            Statement::CreateFunction(_)
            | Statement::CreateProcedure { .. }
            | Statement::CreateTrigger(_) => {
                return Err(Error::unsupported("stored programs"));
            }
            other => ddl(self.definition(other)?),
        })
    }

    /// ALTER TABLE.
    pub(super) fn alter(
        &mut self,
        name: &ObjectName,
        operations: Vec<AlterOperation>,
    ) -> Result<Action> {
        for operation in &operations {
            if let AlterOperation::Parsed(operation) = operation {
                check_functions(operation.as_ref(), self.schema)?;
            }
        }
        let name = self.name(name)?;
        Ok(ddl(Ddl::Alter { name, operations }))
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

    fn explain(&mut self, statement: Statement, format: Option<Format>) -> Result<Action> {
        // What a parameter looks up is not known.
        let lookup = match has_parameters(&statement) {
            true => None,
            false => lookup::of(&statement, self.database, self.schema).map(Box::new),
        };
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

/// The names of a statement's common table expressions, in lower case.
struct Ctes(HashSet<String>);

impl Visitor for Ctes {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let with = query.with.iter().flat_map(|with| &with.cte_tables);
        self.0
            .extend(with.map(|cte| cte.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }
}

/// Checks that the session may read or change each table that a statement names, before anything else of the
/// statement is refused. Each table is checked again when it is resolved, for what the statement does to it.
fn check_privileges(
    statement: &Statement,
    database: Option<&str>,
    schema: &dyn Schema,
) -> Result<()> {
    let privilege = match statement {
        Statement::Insert(_) => "INSERT",
        Statement::Update(_) => "UPDATE",
        Statement::Delete(_) => "DELETE",
        Statement::Query(_) | Statement::Explain { .. } => "SELECT",
        // What they change is no table of rows.
        _ => return Ok(()),
    };
    let mut ctes = Ctes(HashSet::new());
    let _ = statement.visit(&mut ctes);
    let checked = visit_relations(statement, |relation| {
        let is_cte = relation.0.len() == 1 && ctes.0.contains(&last_name(relation).to_lowercase());
        match name::resolve(relation, database) {
            Ok((database, table)) if !is_cte => {
                let reads = schema.check_privilege("SELECT", &database, &table);
                match reads.or_else(|_| schema.check_privilege(privilege, &database, &table)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => ControlFlow::Break(error),
                }
            }
            _ => ControlFlow::Continue(()),
        }
    });
    match checked {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error.into()),
    }
}

/// Checks that MySQL has the functions that defaults and checks of columns call: SQLite reads them as they are
/// written.
pub(super) fn check_functions(definitions: &impl Visit, schema: &dyn Schema) -> Result<()> {
    let checked = visit_expressions(definitions, |expr| {
        let name = match expr {
            Expr::Function(call) => full_name(&call.name),
            _ => return ControlFlow::Continue(()),
        };
        match schema.function(&name.to_ascii_lowercase()) {
            Some(_) => ControlFlow::Continue(()),
            None => ControlFlow::Break(name),
        }
    });
    match checked {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(name) => Err(Error::NoSuchRoutine {
            kind: "FUNCTION",
            name,
        }),
    }
}

fn has_parameters(statement: &Statement) -> bool {
    let is_parameter = |expr: &Expr| match expr {
        Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    visit_expressions(statement, is_parameter).is_break()
}

fn ddl(ddl: Ddl) -> Action {
    Action::Ddl(Box::new(ddl))
}
