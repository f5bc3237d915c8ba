//! What the dialect is told: the tables of this server.

use std::sync::Arc;

use tare_mysql::Result;
use tare_mysql::table::TableDef;
use tare_mysql::wire::column::WireType;

use crate::server::variables::{self, Variable};
use crate::sys;
use tare_dialect::function::{Record, find};
use tare_dialect::schema::{Procedure, Routine, Schema, SystemColumn, View};
use tare_store::Connection;

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
        let found = crate::sys::table(schema, table)?;
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

    fn function(&self, name: &str) -> Option<&'static Record> {
        find(name)
    }

    fn variable(&self, name: &str) -> Option<WireType> {
        variables::find(name).map(Variable::wire)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use crate::server::Config;
    use crate::server::socket::{Socket, Stream};
    use crate::server::state::SessionState;
    use crate::server::variables::Globals;
    use crate::storage::functions;
    use tare_dialect::function::Form;
    use tare_dialect::function::list::{ANY, FUNCTIONS};
    use tare_store::Control;

    /// What the list promises, SQLite has: itself, or from `storage::functions`.
    #[test]
    fn sqlite_knows_every_function() {
        let (stream, _other) = UnixStream::pair().expect("a pair of sockets");
        let control = Arc::new(Control::new(Arc::new(Stream::new(Socket::Unix(stream)))));
        let globals = Arc::new(Globals::new(&Config::new("/nowhere"), "", 0));
        let session = Arc::new(SessionState::new(1, globals, control));
        let db = rusqlite::Connection::open_in_memory().expect("a database");
        functions::register(&db, &session).expect("functions");
        // -1 is as many as one likes; below that, at least two fewer (sqlite3_create_function).
        let mut known = db
            .prepare(
                "SELECT count(*) FROM pragma_function_list
                 WHERE name = ?1 AND (narg IN (?2, -1) OR narg < -2 AND -2 - narg <= ?2)",
            )
            .expect("a list of functions");
        let mut missing = Vec::new();
        for function in FUNCTIONS {
            let name = match function.form {
                Form::Itself => function.name,
                Form::To(name) => name,
                Form::Text(_) | Form::Made(_) => continue,
            };
            let most = match function.most {
                ANY => function.fewest + 2,
                most => most,
            };
            for n in function.fewest..=most {
                let found: i64 = known
                    .query_row((name, n), |row| row.get(0))
                    .expect("a number");
                if found == 0 {
                    missing.push(format!("{} with {n} arguments: {name}", function.name));
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
