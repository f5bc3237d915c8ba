//! What the dialect is told: the tables of the system schemas, and a connection's databases.

use std::sync::Arc;

use tare_mysql::Result;
use tare_mysql::table::TableDef;
use tare_mysql::variable::{self, Variable};
use tare_mysql::wire::column::WireType;

use crate::programs::{self, Programs};
use tare_dialect::function::Signature;
use tare_dialect::schema::{Procedure, Routine, Schema, SystemColumn, View};
use tare_rows::describe::Meta;
use tare_store::Connection;

/// The system schemas, and a connection's databases where there is one.
#[derive(Debug)]
pub struct SystemSchema<'c> {
    programs: &'static dyn Programs,
    connection: Option<&'c mut Connection>,
}

impl<'c> SystemSchema<'c> {
    /// The system schemas alone.
    pub fn new(programs: &'static dyn Programs) -> Self {
        Self {
            programs,
            connection: None,
        }
    }

    /// With the databases of a connection.
    pub fn with(programs: &'static dyn Programs, connection: &'c mut Connection) -> Self {
        Self {
            programs,
            connection: Some(connection),
        }
    }
}

/// What the dialect asks of a column.
pub fn system_column(meta: &Meta) -> SystemColumn {
    SystemColumn {
        name: meta.name,
        column_type: meta.column_type,
        nullable: meta.nullable,
    }
}

impl Schema for SystemSchema<'_> {
    fn user_table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableDef>>> {
        match &mut self.connection {
            Some(connection) => Ok(connection.table(database, table)?),
            None => Ok(None),
        }
    }

    fn system_table(&self, schema: &str, table: &str) -> Option<Vec<SystemColumn>> {
        let found = programs::table(self.programs, schema, table)?;
        Some(found.columns().iter().map(system_column).collect())
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
        variable::find(name).map(Variable::wire)
    }
}
