//! What the dialect is told: the tables of this server.

use std::sync::Arc;

use tare_mysql::Result;
use tare_mysql::table::TableDef;
use tare_mysql::wire::column::WireType;

use tare_dialect::function::Signature;
use tare_dialect::schema::{Procedure, Routine, Schema, SystemColumn, View};
use tare_mysql::variable::{self, Variable};
use tare_store::Connection;
use tare_sys as sys;

/// The system schemas, and a connection's databases where there is one.
#[derive(Debug, Default)]
pub struct SystemSchema<'c> {
    connection: Option<&'c mut Connection>,
}

impl<'c> SystemSchema<'c> {
    /// With the databases of a connection.
    pub fn with(connection: &'c mut Connection) -> Self {
        Self {
            connection: Some(connection),
        }
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
        let found = tare_sys::table(schema, table)?;
        Some(found.columns().iter().map(sys::system_column).collect())
    }

    fn view(&self, name: &str) -> Option<&'static dyn View> {
        sys::view(name).map(|v| v as &dyn View)
    }

    fn routine(&self, name: &str) -> Option<&'static dyn Routine> {
        sys::functions::find(name).map(|f| f as &dyn Routine)
    }

    fn procedure(&self, name: &str) -> Option<&'static Procedure> {
        sys::procedures::find(name)
    }

    fn function(&self, name: &str) -> Option<&'static Signature> {
        tare_functions::find(name)
    }

    fn variable(&self, name: &str) -> Option<WireType> {
        variable::find(name).map(Variable::wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_dialect::node::column;

    #[test]
    fn every_body_of_a_function_of_sys_can_be_rewritten() {
        for function in &sys::functions::FUNCTIONS {
            let mut schema = SystemSchema::default();
            let arguments = vec![column("x"); function.parameters.len()];
            let (expr, _) = function.call(arguments, &mut schema).expect(function.name);
            let text = expr.to_string();
            assert!(!text.contains('?'), "{text}");
            assert!(function.call(vec![column("x"); 9], &mut schema).is_err());
        }
    }
}
