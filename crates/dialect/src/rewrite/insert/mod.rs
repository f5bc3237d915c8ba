//! INSERT and REPLACE: their rows, defaults and ON DUPLICATE KEY UPDATE.

mod conflict;
mod default;
mod rows;

use std::sync::Arc;

use crate::error::{Error, Result, near};
use sqlparser::ast::{AssignmentTarget, Insert, OnInsert, SetExpr, TableObject};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::TableDef;

pub(super) use self::default::now;
use self::rows::Rows;
use super::Rewriter;
use crate::depth::check_column_count;
use crate::name::{last_name, quote};
use crate::node::query;
use crate::plan::{Change, Sql};
use crate::schema::Schema;
use crate::scope::Scope;

/// The table that rows are inserted into, and the columns that the rows have.
struct Target<'d> {
    database: String,
    table: String,
    /// `None` in a system schema.
    def: Option<&'d TableDef>,
    /// The columns that the statement names, or none for all. After them, the columns whose defaults are
    /// computed at run time.
    names: Vec<String>,
    /// How many of the latter there are.
    filled: usize,
    /// IGNORE: a value that does not fit becomes the nearest one.
    ignore: bool,
}

impl<'d> Target<'d> {
    /// The columns of a row, in its order; none if they are not known.
    fn columns(&self) -> Vec<&str> {
        match self.def {
            Some(def) if self.names.is_empty() => {
                def.columns.iter().map(|c| c.name.as_str()).collect()
            }
            _ => self.names.iter().map(String::as_str).collect(),
        }
    }

    /// The column with AUTO_INCREMENT.
    fn auto(&self) -> Option<&'d str> {
        let column = self.def.and_then(TableDef::auto_increment)?;
        Some(&column.name)
    }

    /// `database.table (columns)`.
    fn sql(&self) -> String {
        let (database, table) = (quote(&self.database), quote(&self.table));
        if self.names.is_empty() {
            return format!("{database}.{table}");
        }
        let names: Vec<String> = self.names.iter().map(|n| quote(n)).collect();
        format!("{database}.{table} ({})", names.join(", "))
    }
}

impl Rewriter<'_> {
    /// INSERT and REPLACE into a table, which is known unless it is a system schema's.
    pub fn insert(mut self, mut insert: Insert, def: Option<&TableDef>) -> Result<Sql> {
        let TableObject::TableName(name) = &insert.table else {
            return Err(near("FUNCTION"));
        };
        if insert.partitioned.is_some() || insert.returning.is_some() || insert.overwrite {
            return Err(Error::unsupported("PARTITION and RETURNING in INSERT"));
        }
        let (database, table) = self.resolve(name)?;
        self.add_table(&database, &table);
        let mut target = Target {
            database,
            table,
            def,
            names: names(&mut insert)?,
            filled: 0,
            ignore: insert.ignore,
        };
        self.sql.writes = Some(target.database.clone());
        self.sql.refuses_warnings = self.mode.strict && !insert.ignore;
        self.sql.target = Some(target.table.clone());
        self.sql.creates_ids = target.auto().is_some();
        target.check_columns_exist()?;
        let source = insert.source.take().ok_or_else(|| near("DEFAULT"))?;
        let of_defaults = matches!(source.body.as_ref(), SetExpr::Values(v) if v.rows.iter().all(|r| r.is_empty()));
        if self.mode.strict && !insert.ignore {
            self.sql.missing_default = target.missing_default(of_defaults);
        }
        if !target.names.is_empty() || of_defaults {
            let filled = target.columns_with_runtime_default(self.mode.zoned);
            target.filled = filled.len();
            target.names.extend(filled);
        }
        let selected = match (source.body.as_ref(), &insert.on) {
            (SetExpr::Select(select), Some(_)) => self.names.scope(select),
            _ => Scope::default(),
        };
        self.sql.listed_rows = match source.body.as_ref() {
            SetExpr::Values(values) => values.rows.len(),
            _ => 0,
        };
        self.sql.ignores = insert.ignore && insert.on.is_none();
        let rows = self.rows(&target, *source)?;
        self.sql.joined = matches!(rows, Rows::Selected(_));
        let word = if insert.replace_into {
            "REPLACE"
        } else {
            "INSERT"
        };
        let or = if insert.ignore { " OR IGNORE" } else { "" };
        let into = format!("{word}{or} INTO {}", target.sql());
        self.sql.text = match (insert.on.take(), rows) {
            (None, rows) if insert.ignore => {
                let clauses = conflict::ignored(&target, self.mode.series);
                match rows {
                    Rows::Selected(rows) if !clauses.is_empty() => {
                        format!("{into} SELECT * FROM ({rows}) WHERE true{clauses}")
                    }
                    Rows::Listed(rows) | Rows::Selected(rows) => format!("{into} {rows}{clauses}"),
                }
            }
            (None, Rows::Listed(rows) | Rows::Selected(rows)) => format!("{into} {rows}"),
            (Some(OnInsert::DuplicateKeyUpdate(assignments)), rows) => {
                let rows = match rows {
                    Rows::Listed(rows) => rows,
                    // Otherwise SQLite parses ON as a join's.
                    Rows::Selected(rows) => format!("SELECT * FROM ({rows}) WHERE true"),
                };
                let alias = insert
                    .insert_alias
                    .as_ref()
                    .map(|a| last_name(&a.row_alias));
                for assignment in &assignments {
                    conflict::check_no_source_names(&target, &selected, &assignment.value)?;
                }
                let update = self.conflict(&target, assignments, alias.as_deref())?;
                format!("{into} {rows}{update}")
            }
            (Some(OnInsert::OnConflict(_)), _) => return Err(near("ON CONFLICT")),
            (Some(other), _) => return Err(near(other)),
        };
        Ok(self.sql)
    }
}

/// The columns that an INSERT names. `SET a = 1` becomes a row of them.
fn names(insert: &mut Insert) -> Result<Vec<String>> {
    let mut names: Vec<String> = insert.columns.iter().map(last_name).collect();
    if !insert.assignments.is_empty() {
        let mut row = Vec::new();
        for assignment in std::mem::take(&mut insert.assignments) {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(near("("));
            };
            names.push(last_name(name));
            row.push(assignment.value);
        }
        insert.source = Some(Box::new(query::values(vec![row])));
    }
    check_column_count(names.len())?;
    for (i, name) in names.iter().enumerate() {
        if names[..i].iter().any(|n| n.eq_ignore_ascii_case(name)) {
            return Err(Error::AssignedTwice(name.clone()));
        }
    }
    Ok(names)
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
    schema.require_table("INSERT", database, table)?;
    match is_system_schema(database) {
        true => Ok(None),
        false => Ok(schema.user_table(database, table)?),
    }
}
