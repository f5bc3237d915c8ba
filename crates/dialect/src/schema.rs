//! What the dialect needs to know about tables, functions and variables.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::Result;
use sqlparser::ast::{Expr, Query};
use tare_mysql::error::SqlError;
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::TableDef;
use tare_mysql::wire::column::{Definition, WireType};

use super::function::Signature;

/// A column of a system schema's table or view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type as MySQL's information_schema.columns.COLUMN_TYPE writes it.
    pub column_type: &'static str,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// How clients get it.
    pub definition: Definition,
    /// The same in a result that is sorted, if that differs.
    pub sorted: Option<Definition>,
}

/// A query of system tables in SQLite's SQL.
#[derive(Debug, Clone)]
pub struct RewrittenQuery {
    /// The query.
    pub query: Query,
    /// The system tables that it names: schema and table.
    pub catalog: Vec<(String, String)>,
}

/// A view of schema sys: its query replaces its name in statements.
pub trait View: Debug + Sync {
    /// The name.
    fn name(&self) -> &'static str;
    /// The query. It does not depend on the session that reads it.
    fn query(&self) -> Result<&RewrittenQuery>;
}

/// A function of schema sys.
pub trait Routine: Debug + Sync {
    /// SQLite's expression for a call, and the system tables that it names.
    fn call(&self, arguments: Vec<Expr>) -> Result<(Expr, &[(String, String)])>;
}

/// The direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the procedure.
    In,
    /// Back into a user variable.
    Out,
}

/// How a procedure is called.
#[derive(Debug)]
pub struct Procedure {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Its parameters: direction, name and type.
    pub parameters: &'static [(Direction, &'static str, &'static str)],
}

/// The tables, views, functions and variables that statements name.
pub trait Schema {
    /// A table or view of a user's database; `None` if there is none.
    fn user_table(
        &mut self,
        database: &str,
        table: &str,
    ) -> tare_mysql::Result<Option<Arc<TableDef>>>;
    /// Checks that there is a table or view, and that the session has a privilege on it, such as SELECT.
    ///
    /// # Errors
    /// 1142 without the privilege, whether or not there is such a table; else 1049 and 1146.
    fn require_table(
        &mut self,
        _privilege: &str,
        database: &str,
        table: &str,
    ) -> tare_mysql::Result<()> {
        let exists = match is_system_schema(database) {
            true => self.system_table(database, table).is_some(),
            false => self.user_table(database, table)?.is_some(),
        };
        match exists {
            true => Ok(()),
            false => Err(SqlError::no_such_table(database, table)),
        }
    }
    /// Checks that the session has a privilege on a table, whether or not there is one.
    ///
    /// # Errors
    /// 1142.
    fn check_privilege(
        &self,
        _privilege: &str,
        _database: &str,
        _table: &str,
    ) -> tare_mysql::Result<()> {
        Ok(())
    }
    /// The columns of a system schema's table or view.
    fn system_table(&self, schema: &str, table: &str) -> Option<Vec<SystemColumn>>;
    /// A view of schema sys, by name without case.
    fn view(&self, name: &str) -> Option<&'static dyn View>;
    /// A function of schema sys, by name without case.
    fn routine(&self, name: &str) -> Option<&'static dyn Routine>;
    /// A procedure of schema sys, by name without case.
    fn procedure(&self, name: &str) -> Option<&'static Procedure>;
    /// A function of MySQL's, by name in lower case.
    fn function(&self, name: &str) -> Option<&'static Signature>;
    /// The type of a system variable, by name in lower case.
    fn variable(&self, name: &str) -> Option<WireType>;
    /// The type of a user variable's value; `None` for NULL, or if it cannot be determined.
    fn user_variable(&self, _name: &str) -> Option<WireType> {
        None
    }
}

/// The user variables of a session, for [`Schema::user_variable`].
pub trait VariableTypes: std::fmt::Debug {
    /// The type of a variable's value, by name in lower case; `None` for NULL.
    fn variable_type(&self, name: &str) -> Option<WireType>;
}
