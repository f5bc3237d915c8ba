//! Schema sys, as the evaluator needs it.

use std::fmt::Debug;
use std::sync::Arc;

use rusqlite::Connection;
use tare_dialect::ddl::{Ddl, TableName};
use tare_dialect::schema::{Procedure, Routine, View};
use tare_functions::EvaluationContext;
use tare_mysql::error::SqlError;
use tare_mysql::schema::is_system_schema;
use tare_rows::describe::Table;
use tare_rows::extension::Extension;
use tare_rows::registry;

/// The views, functions and procedures of schema sys. The crate that has them is above this one, and hands
/// them in.
pub trait Programs: Extension + Debug {
    /// A view, by its name without case.
    fn view(&self, name: &str) -> Option<&'static dyn View>;
    /// A function, by its name without case.
    fn routine(&self, name: &str) -> Option<&'static dyn Routine>;
    /// A procedure, by its name without case.
    fn procedure(&self, name: &str) -> Option<&'static Procedure>;
    /// Gives a connection the functions that are not SELECTs.
    ///
    /// # Errors
    /// SQLite's, where it cannot take one.
    fn register(
        &self,
        db: &Connection,
        session: &Arc<dyn EvaluationContext>,
    ) -> rusqlite::Result<()>;
}

/// A table of the system schemas or a view of schema sys, by names without case.
pub fn table(programs: &dyn Programs, schema: &str, name: &str) -> Option<&'static dyn Table> {
    registry::find_with(Some(programs), programs.series(), schema, name).or_else(|| {
        if !schema.eq_ignore_ascii_case("sys") {
            return None;
        }
        let mut views = programs.tables().into_iter();
        views.find(|view| view.name().eq_ignore_ascii_case(name))
    })
}

/// The tables and views of one system schema, sorted.
pub fn tables_in(programs: &dyn Programs, schema: &str) -> Vec<&'static dyn Table> {
    if let Some(instead) = programs.instead(schema) {
        return instead.to_vec();
    }
    let mut tables: Vec<&'static dyn Table> =
        registry::tables_in(programs.series(), schema).collect();
    let views = programs.tables().into_iter();
    tables.extend(views.filter(|t| t.schema().eq_ignore_ascii_case(schema)));
    tables.sort_by_key(|t| t.name());
    tables
}

/// The error of DDL on system schemas: 1142 for a DROP of their tables, and 1044 otherwise. `None` for other
/// schemas, and for a DROP of tables that they do not have.
pub fn system_ddl_error(
    programs: &dyn Programs,
    ddl: &Ddl,
    account: &(String, String),
) -> Option<SqlError> {
    if let Ddl::CreateLike { like, .. } = ddl
        && like.database.eq_ignore_ascii_case("performance_schema")
    {
        // The new table would have the engine PERFORMANCE_SCHEMA.
        return Some(SqlError::invalid_usage());
    }
    let tables = ddl.tables();
    let mut of_system = tables.iter().filter(|n| is_system_schema(&n.database));
    let (user, host) = account;
    let is_information =
        |name: &TableName| name.database.eq_ignore_ascii_case("information_schema");
    let name = match ddl {
        Ddl::Drop { view, .. } => {
            let is_there = |n: &TableName| table(programs, &n.database, &n.table).is_some();
            let name = of_system.find(|n| *view || is_information(n) || is_there(n))?;
            if is_there(name) && !is_information(name) {
                let of = (name.database.as_str(), name.table.as_str());
                let series = programs.series();
                return Some(SqlError::command_denied(series, "DROP", (user, host), of));
            }
            name
        }
        _ => of_system.next()?,
    };
    let database = name.database.to_lowercase();
    Some(SqlError::database_denied(user, host, &database))
}
