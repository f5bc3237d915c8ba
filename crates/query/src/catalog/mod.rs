//! The catalog: the schemas that a connection has besides the users' databases, and their tables.
//!
//! [`install`] gives a SQLite connection the schemas `performance_schema`,
//! `information_schema`, `mysql` and `tare` as virtual tables over a [`Source`]. All tables that
//! a statement reads show the same snapshot: hold [`Catalog::statement`] while it runs.
//!
//! SQLite types are declared as MySQL's without display widths (`BIGINT UNSIGNED`,
//! `VARCHAR(64)`, `CHAR(3)` for `enum('YES','NO')`); [`Table::columns`] has MySQL's own text.

mod state;
pub mod types;
mod vtab;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::vtab::Module;
use tare_mysql::error::SqlError;
use tare_mysql::schema::{SYSTEM_SCHEMAS, is_system_schema};
use tare_mysql::variable::Scope;
use tare_rows::describe::Table;
use tare_rows::source::{Source, Variable};
use tare_rows::{merged, registry};
use tare_store::authorizer::as_server;

use self::state::State;
use self::vtab::CatalogTable;
pub use self::vtab::take_lookups;

/// What a statement does to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// SELECT.
    Select,
    /// INSERT and REPLACE.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// TRUNCATE TABLE.
    Truncate,
    /// CREATE TABLE, CREATE VIEW.
    Create,
    /// DROP TABLE.
    Drop,
    /// ALTER TABLE.
    Alter,
    /// CREATE INDEX, DROP INDEX.
    Index,
}

impl Command {
    /// The privilege's name in error 1142.
    fn privilege(self) -> &'static str {
        match self {
            Command::Select => "SELECT",
            Command::Insert => "INSERT",
            Command::Update => "UPDATE",
            Command::Delete => "DELETE",
            // As MySQL does: emptying a table needs the privilege to drop it.
            Command::Truncate | Command::Drop => "DROP",
            Command::Create => "CREATE",
            Command::Alter => "ALTER",
            Command::Index => "INDEX",
        }
    }
}

/// The catalog tables of a connection.
#[derive(Clone)]
pub struct Catalog {
    state: Arc<State>,
    /// The tables that the connection has.
    created: Arc<Mutex<HashSet<(&'static str, &'static str)>>>,
}

/// While this exists, all tables read the same snapshot.
pub struct Statement {
    state: Arc<State>,
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.state.end_statement();
    }
}

/// Gives a connection the catalog's schemas, with all their tables.
pub fn install(conn: &Connection, source: Arc<dyn Source>) -> rusqlite::Result<Catalog> {
    let series = source.series();
    let catalog = install_schemas(conn, source)?;
    conn.execute_batch("BEGIN")?;
    for table in registry::all(series) {
        catalog.create(conn, *table)?;
    }
    conn.execute_batch("COMMIT")?;
    Ok(catalog)
}

/// Gives a connection the catalog's schemas, without tables: [`Catalog::ensure`] creates those that a
/// statement names. Most sessions name a few of the two hundred, and creating all takes milliseconds.
pub fn install_schemas(conn: &Connection, source: Arc<dyn Source>) -> rusqlite::Result<Catalog> {
    const READ: Module<'static, CatalogTable> = Module::read_only_module();
    const WRITE: Module<'static, CatalogTable> = Module::update_module();
    let state = Arc::new(State::new(source));
    conn.create_module(c"tare_read", &READ, Some(state.clone()))?;
    conn.create_module(c"tare_write", &WRITE, Some(state.clone()))?;
    for schema in SYSTEM_SCHEMAS {
        as_server(|| conn.execute_batch(&format!("ATTACH ':memory:' AS {schema}")))?;
    }
    Ok(Catalog {
        state,
        created: Arc::default(),
    })
}

impl Catalog {
    /// Creates the tables that a statement names: schema and table. Not inside of a transaction, whose
    /// rollback would remove them again.
    pub fn ensure(&self, conn: &Connection, named: &[(String, String)]) -> rusqlite::Result<()> {
        for (schema, name) in named {
            if let Some(table) = self.find(schema, name) {
                self.create(conn, table)?;
            }
        }
        Ok(())
    }

    fn find(&self, schema: &str, name: &str) -> Option<&'static dyn Table> {
        self.state.find(schema, name)
    }

    fn create(&self, conn: &Connection, table: &'static dyn Table) -> rusqlite::Result<()> {
        let key = (table.schema(), table.name());
        let mut created = self.created.lock().unwrap_or_else(PoisonError::into_inner);
        if created.contains(&key) {
            return Ok(());
        }
        let module = match table.update() {
            Some(_) => "tare_write",
            None => "tare_read",
        };
        let (schema, name) = key;
        let create = format!("CREATE VIRTUAL TABLE {schema}.\"{name}\" USING {module}");
        as_server(|| conn.execute_batch(&create))?;
        created.insert(key);
        Ok(())
    }

    /// Begins a statement: until the guard is dropped, all tables show one snapshot, taken when the first
    /// table is read. Without it a snapshot lasts while a cursor is open.
    #[must_use]
    pub fn statement(&self) -> Statement {
        self.state.begin_statement();
        Statement {
            state: self.state.clone(),
        }
    }

    /// Whether the table allows a command; otherwise MySQL's error. `None` for a table that is not
    /// the catalog's. To be called before a statement runs, so that an UPDATE that matches no row
    /// is refused too.
    pub fn check(
        &self,
        command: Command,
        schema: &str,
        name: &str,
    ) -> Option<Result<(), SqlError>> {
        if !is_system_schema(schema) {
            return None;
        }
        let series = self.state.source().series();
        let allowed = match (command, self.find(schema, name)) {
            (Command::Truncate, Some(_)) if schema.eq_ignore_ascii_case("information_schema") => {
                let (user, host) = self.state.source().account();
                return Some(Err(SqlError::database_denied(&user, &host, schema)));
            }
            (Command::Select, _) => true,
            (Command::Update, Some(table)) => table.update().is_some(),
            (Command::Insert, Some(table)) => table.insert().is_some(),
            (Command::Delete, Some(table)) => table.delete().is_some(),
            (Command::Truncate, Some(table)) if table.can_truncate() => true,
            (Command::Truncate, Some(_)) if series.is_mariadb() => {
                return Some(Err(SqlError::invalid_usage()));
            }
            (Command::Update | Command::Delete, None) if self.is_view(schema, name) => {
                let text = format!(
                    "The target table {name} of the {} is not updatable",
                    command.privilege()
                );
                return Some(Err(SqlError::new(1288, text)));
            }
            (Command::Insert, None) if self.is_view(schema, name) => {
                let text = format!("The target table {name} of the INSERT is not insertable-into");
                return Some(Err(SqlError::new(1471, text)));
            }
            (_, None) if command != Command::Create => {
                let text = format!("Table '{schema}.{name}' doesn't exist");
                return Some(Err(SqlError::new(1146, text)));
            }
            _ => false,
        };
        Some(if allowed {
            Ok(())
        } else {
            let (user, host) = self.state.source().account();
            Err(SqlError::command_denied(
                series,
                command.privilege(),
                (&user, &host),
                (schema, name),
            ))
        })
    }

    /// TRUNCATE TABLE of a catalog table; `None` for another table.
    pub fn truncate(&self, schema: &str, name: &str) -> Option<Result<(), SqlError>> {
        if let Err(error) = self.check(Command::Truncate, schema, name)? {
            return Some(Err(error));
        }
        let table = self.find(schema, name)?;
        let view = self.state.new_view();
        Some(match table.truncate(&view) {
            // As in MySQL, TRUNCATE succeeds while Performance Schema is off.
            Err(error)
                if error.code == SqlError::invalid_usage().code
                    && view.source.segment().is_none() =>
            {
                Ok(())
            }
            other => other,
        })
    }

    /// The variables of a scope with performance_schema's own, sorted by name.
    pub fn variables(&self, scope: Scope) -> Vec<Variable> {
        merged::variables(&self.state.view(), scope)
    }

    /// SHOW ENGINE PERFORMANCE_SCHEMA STATUS: names and values.
    pub fn performance_schema_status(&self) -> Vec<(String, u64)> {
        self.state.view().snapshot.engine_status()
    }

    /// The status counters of a scope with performance_schema's own, sorted by name.
    pub fn status(&self, scope: Scope) -> Vec<Variable> {
        merged::status(&self.state.view(), scope)
    }

    fn is_view(&self, schema: &str, name: &str) -> bool {
        let same = |t: &&'static dyn Table| {
            t.schema().eq_ignore_ascii_case(schema) && t.name().eq_ignore_ascii_case(name)
        };
        let extension = self.state.source().extension();
        let view = extension.and_then(|e| e.tables().into_iter().find(same));
        view.is_some_and(|v| v.view_definition().is_some())
    }
}
