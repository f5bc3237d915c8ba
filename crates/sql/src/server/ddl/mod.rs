//! Changes of the schema. Each commits what is open, as in MySQL, and is itself one transaction.

mod alter;
mod database;
mod maintain;
mod table;

use tare::{LockDuration, LockType, Namespace};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

use self::alter::drop_index;
use super::points;
use super::session::Session;
use crate::dialect::ddl::{Ddl, TableName};
use crate::storage::connection::quote;
use crate::storage::error::from_rusqlite;
use crate::storage::tables::FromSql;

/// The metadata locks of a change: of what it names nobody else sees anything meanwhile.
fn locks(ddl: &Ddl) -> Vec<tare::metadata::Lock> {
    let lock = |on: Namespace, database: &str, table: &str| {
        let mut lock = tare::metadata::Lock::new(&points::MDL, on, database, table);
        lock.granted(LockType::Exclusive, LockDuration::Transaction);
        lock
    };
    match ddl {
        Ddl::CreateDatabase { name, .. } | Ddl::DropDatabase { name, .. } => {
            vec![lock(Namespace::Schema, name, "")]
        }
        _ => {
            let tables = ddl.tables().into_iter();
            tables
                .map(|t| lock(Namespace::Table, &t.database, &t.table))
                .collect()
        }
    }
}

/// Tables that are gone under their names take their figures along.
fn forget(ddl: &Ddl) {
    let gone = |name: &TableName| tare::table::dropped(&name.database, &name.table);
    match ddl {
        Ddl::Drop { names, .. } => names.iter().for_each(gone),
        Ddl::Rename(pairs) => pairs.iter().for_each(|(from, _)| gone(from)),
        _ => {}
    }
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Session {
    /// Runs a change. `Some`: OK with so many affected rows; `None`: it has answered with rows.
    pub fn ddl(&mut self, ddl: &Ddl, more: bool, binary: bool) -> Result<Option<u64>> {
        if let Ddl::Maintain(tables, operation) = ddl {
            self.maintain(tables, *operation, more, binary)?;
            return Ok(None);
        }
        if let Ddl::Truncate(name) = ddl
            && is_system_schema(&name.database)
        {
            self.root_only("DROP")?;
            let done = self.system_catalog()?.truncate(&name.database, &name.table);
            done.ok_or_else(|| SqlError::no_such_table(&name.database, &name.table))??;
            return Ok(Some(0));
        }
        self.root_only("CREATE, ALTER, DROP")?;
        self.not_in_system(ddl)?;
        self.commit()?;
        let _locks = locks(ddl);
        let result = self.change(ddl);
        if result.is_ok() {
            forget(ddl);
        }
        result
    }

    fn change(&mut self, ddl: &Ddl) -> Result<Option<u64>> {
        match ddl {
            Ddl::CreateDatabase {
                name,
                if_not_exists,
            } => self.create_database(name, *if_not_exists).map(Some),
            Ddl::DropDatabase { name, if_exists } => self.drop_database(name, *if_exists).map(Some),
            Ddl::CreateTable {
                name,
                def,
                if_not_exists,
            } => {
                if self.is_there(name, *if_not_exists)? {
                    return Ok(Some(0));
                }
                self.in_one(&name.database, |s| s.create(name, def))?;
                Ok(Some(0))
            }
            Ddl::CreateLike {
                name,
                like,
                if_not_exists,
            } => {
                if self.is_there(name, *if_not_exists)? {
                    return Ok(Some(0));
                }
                let mut def = self.existing(like)?.as_ref().clone();
                def.name.clone_from(&name.table);
                self.in_one(&name.database, |s| s.create(name, &def))?;
                Ok(Some(0))
            }
            Ddl::CreateAs {
                name,
                query,
                if_not_exists,
            } => {
                if self.is_there(name, *if_not_exists)? {
                    return Ok(Some(0));
                }
                self.ready(query)?;
                let sql = format!(
                    "CREATE TABLE {}.{} AS {}",
                    quote(&name.database),
                    quote(&name.table),
                    query.text
                );
                let count = format!(
                    "SELECT count(*) FROM {}.{}",
                    quote(&name.database),
                    quote(&name.table)
                );
                let rows = self.in_one(&name.database, |s| {
                    let connection = s.connection()?;
                    connection.batch(&sql)?;
                    Ok(connection
                        .db()
                        .query_row(&count, [], |r| r.get::<_, i64>(0))
                        .map_err(from_rusqlite)? as u64)
                })?;
                Ok(Some(rows))
            }
            Ddl::CreateView {
                name,
                query,
                text,
                or_replace,
            } => self
                .create_view(name, query, text, *or_replace)
                .map(|()| Some(0)),
            Ddl::Drop {
                names,
                if_exists,
                view,
            } => self.drop_tables(names, *if_exists, *view).map(|()| Some(0)),
            Ddl::Alter { name, operations } => self.alter(name, operations).map(Some),
            Ddl::CreateIndex { name, constraint } => {
                let mut def = self.existing(name)?.as_ref().clone();
                def.add_constraint(constraint)?;
                self.add_last_index(name, &def)?;
                Ok(Some(0))
            }
            Ddl::DropIndex { name, index } => {
                let mut def = self.existing(name)?.as_ref().clone();
                drop_index(&mut def, index)?;
                self.in_one(&name.database, |s| {
                    s.connection()?.batch(&format!(
                        "DROP INDEX {}.{}",
                        quote(&name.database),
                        quote(&format!("{}.{index}", name.table))
                    ))?;
                    s.remember(&name.database, &def)
                })?;
                Ok(Some(0))
            }
            Ddl::Rename(pairs) => {
                for (from, to) in pairs {
                    self.rename(from, to)?;
                }
                Ok(Some(0))
            }
            Ddl::Truncate(name) => {
                self.existing(name)?;
                let sql = format!(
                    "DELETE FROM {}.{}",
                    quote(&name.database),
                    quote(&name.table)
                );
                let has_auto = self.existing(name)?.auto_increment().is_some();
                self.in_one(&name.database, |s| {
                    s.connection()?.batch(&sql)?;
                    if has_auto {
                        s.connection()?.batch(&format!(
                            "DELETE FROM {}.sqlite_sequence WHERE name = {}",
                            quote(&name.database),
                            literal(&name.table)
                        ))?;
                    }
                    Ok(())
                })?;
                Ok(Some(0))
            }
            Ddl::Maintain(..) => Ok(Some(0)),
        }
    }

    /// The system schemas stay as they are: 1044, and 1142 for their tables' end.
    fn not_in_system(&mut self, ddl: &Ddl) -> Result<()> {
        let tables = ddl.tables();
        let Some(name) = tables.iter().find(|n| is_system_schema(&n.database)) else {
            return Ok(());
        };
        if let Ddl::Drop { .. } = ddl
            && crate::catalog::table(&name.database, &name.table).is_some()
            && !name.database.eq_ignore_ascii_case("information_schema")
        {
            let (user, host) = self.state.user_host();
            return Err(SqlError::command_denied("DROP", &user, &host, &name.table));
        }
        Err(self.database_denied(&name.database.to_lowercase()))
    }

    /// Runs changes of one database as one transaction, alone.
    fn in_one<R>(&mut self, database: &str, run: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if is_system_schema(database) {
            return Err(self.database_denied(database));
        }
        let locked = self.table_locks.iter().any(|(d, _)| d == database);
        let pass = if locked {
            None
        } else {
            Some(self.wait_for(database)?)
        };
        self.connection()?.attach(database)?;
        self.connection()?.begin()?;
        let result = run(self).and_then(|r| self.connection()?.execute("COMMIT").map(|()| r));
        if result.is_err() && !self.connection()?.is_autocommit() {
            self.connection()?.execute("ROLLBACK")?;
        }
        drop(pass);
        self.shared.databases.changed();
        result
    }
}
