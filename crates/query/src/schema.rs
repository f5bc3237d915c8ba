//! The tables that the dialect looks up: those of the system schemas and of a connection's databases.

use std::sync::Arc;

use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::session::SessionFacts;
use tare_mysql::table::TableDef;
use tare_mysql::variable::{self, Variable};
use tare_mysql::wire::column::{Definition, WireType};

use crate::programs::{self, Programs};
use crate::rights::check_table;
use tare_dialect::function::Signature;
use tare_dialect::schema::{Procedure, Routine, Schema, SystemColumn, VariableTypes, View};
use tare_mysql::series::Series;
use tare_rows::definition::{definitions, sorted_definitions};
use tare_rows::describe::{Meta, Table};
use tare_store::Connection;
use tare_store::tables::{ReadDefinition, Tables};

/// The system schemas, and a connection's databases where there is one.
pub struct SystemSchema<'c> {
    programs: &'static dyn Programs,
    databases: Databases<'c>,
    /// The session whose statement is read; `None` for a statement of the server's own.
    session: Option<&'c dyn SessionFacts>,
    variables: Option<&'c dyn VariableTypes>,
}

/// The users' databases.
#[derive(Debug)]
enum Databases<'c> {
    /// They are not looked up.
    Unknown,
    /// There are none.
    None,
    /// The databases of a connection.
    Of(&'c mut Connection),
}

impl<'c> SystemSchema<'c> {
    /// The system schemas; users' databases are not looked up.
    pub fn new(programs: &'static dyn Programs) -> Self {
        Self {
            programs,
            databases: Databases::Unknown,
            session: None,
            variables: None,
        }
    }

    /// The system schemas, and no other database.
    pub fn without_databases(programs: &'static dyn Programs) -> Self {
        Self {
            programs,
            databases: Databases::None,
            session: None,
            variables: None,
        }
    }

    /// With the databases of a connection.
    pub fn with(programs: &'static dyn Programs, connection: &'c mut Connection) -> Self {
        Self {
            programs,
            databases: Databases::Of(connection),
            session: None,
            variables: None,
        }
    }

    /// Adds the user variables of a session.
    #[must_use]
    pub fn with_variables(self, variables: &'c dyn VariableTypes) -> Self {
        Self {
            variables: Some(variables),
            ..self
        }
    }

    /// For a statement of a session's client, who sees the tables that the account may read.
    #[must_use]
    pub fn for_client(self, session: &'c dyn SessionFacts) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }
}

/// A table's columns as the dialect reads them.
pub fn system_columns(table: &dyn Table, series: Series) -> Vec<SystemColumn> {
    let definitions = definitions(table, series);
    let sorted = sorted_definitions(table, series);
    let columns = table.columns().into_iter().zip(definitions).enumerate();
    let column = |(i, (meta, definition)): (usize, (Meta, Definition))| SystemColumn {
        name: meta.name,
        column_type: meta.column_type,
        nullable: meta.nullable,
        definition,
        sorted: sorted.map(|all| all[i]),
    };
    columns.map(column).collect()
}

impl Schema for SystemSchema<'_> {
    fn user_table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableDef>>> {
        self.check_privilege("SELECT", database, table)?;
        match &mut self.databases {
            Databases::Unknown => Ok(None),
            Databases::None => Err(SqlError::unknown_database(database)),
            Databases::Of(connection) => Ok(connection.table(database, table)?),
        }
    }

    fn check_privilege(&self, privilege: &str, database: &str, table: &str) -> Result<()> {
        match self.session {
            Some(session) => check_table(session, privilege, (database, table)),
            None => Ok(()),
        }
    }

    fn require_table(&mut self, privilege: &str, database: &str, table: &str) -> Result<()> {
        self.check_privilege(privilege, database, table)?;
        let exists = match &mut self.databases {
            _ if is_system_schema(database) => {
                programs::table(self.programs, database, table).is_some()
            }
            Databases::Unknown => true,
            Databases::None => return Err(SqlError::unknown_database(database)),
            Databases::Of(connection) => connection.table(database, table)?.is_some(),
        };
        match exists {
            true => Ok(()),
            false => Err(SqlError::no_such_table(database, table)),
        }
    }

    fn system_table(&self, schema: &str, table: &str) -> Option<Vec<SystemColumn>> {
        let table = programs::table(self.programs, schema, table)?;
        Some(system_columns(table, self.programs.series()))
    }

    fn view(&self, name: &str) -> Option<&'static dyn View> {
        self.programs.view(name)
    }

    fn routine(&self, name: &str) -> Option<&'static dyn Routine> {
        self.programs.routine(name)
    }

    fn procedure(&self, name: &str) -> Option<&'static Procedure> {
        self.programs.procedure(name)
    }

    fn function(&self, name: &str) -> Option<&'static Signature> {
        tare_functions::find(name)
    }

    fn variable(&self, name: &str) -> Option<WireType> {
        variable::find_in(self.programs.series(), name).map(Variable::wire)
    }

    fn user_variable(&self, name: &str) -> Option<WireType> {
        self.variables?.variable_type(name)
    }
}

/// How a database's definitions are read.
pub const DEFINITIONS: ReadDefinition = ReadDefinition {
    table: tare_dialect::ddl::definition,
    view: |text, database, tables| {
        let mut schema = OneDatabase {
            database,
            tables,
            missing: false,
        };
        let columns = tare_dialect::ddl::view_columns(text, database, &mut schema);
        columns.filter(|_| !schema.missing)
    },
};

/// The tables of one database that have been read so far.
#[derive(Debug)]
struct OneDatabase<'t> {
    database: &'t str,
    tables: &'t Tables,
    /// A table was looked up that is not there, or not yet.
    missing: bool,
}

impl Schema for OneDatabase<'_> {
    fn user_table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableDef>>> {
        let is_own = database == self.database;
        let definition = self.tables.get(table).filter(|_| is_own).cloned();
        self.missing |= definition.is_none() && !table.eq_ignore_ascii_case("dual");
        Ok(definition)
    }

    fn system_table(&self, _schema: &str, _table: &str) -> Option<Vec<SystemColumn>> {
        None
    }

    fn view(&self, _name: &str) -> Option<&'static dyn View> {
        None
    }

    fn routine(&self, _name: &str) -> Option<&'static dyn Routine> {
        None
    }

    fn procedure(&self, _name: &str) -> Option<&'static Procedure> {
        None
    }

    fn function(&self, name: &str) -> Option<&'static Signature> {
        tare_functions::find(name)
    }

    fn variable(&self, name: &str) -> Option<WireType> {
        variable::find(name).map(Variable::wire)
    }
}
