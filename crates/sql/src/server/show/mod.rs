//! SHOW: what is asked for, and the rows that answer it.

mod charset;
mod rows;
mod table;

use rusqlite::types::Value;

pub(super) use self::charset::CHARSETS;
use self::charset::COLLATIONS;
pub(super) use self::rows::Rows;
use super::error::{Result, SqlError};
use super::session::Session;
use crate::catalog;
use crate::dialect::admin::{Scope, Show, What};
use crate::storage::databases::{SYSTEM_SCHEMAS, is_system_schema};
use crate::storage::tables::TableDef;

impl Session {
    /// SHOW.
    pub fn show(&mut self, show: &Show, more: bool, binary: bool) -> Result<()> {
        let rows = self.show_rows(show)?;
        let rows = self.filtered(rows, &show.filter)?;
        self.send(rows, more, binary)
    }

    fn default_database(&self, given: &Option<String>) -> Result<String> {
        let name = match given {
            Some(name) => name.clone(),
            None => self.state.database().ok_or_else(SqlError::no_database)?,
        };
        if !self.shared.databases.exists(&name) {
            return Err(SqlError::unknown_database(&name));
        }
        if !self.is_root() && !is_system_schema(&name) {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1044,
                format!("Access denied for user '{user}'@'{host}' to database '{name}'"),
            ));
        }
        Ok(name)
    }

    fn defs(&mut self, database: &str) -> Result<Vec<std::sync::Arc<TableDef>>> {
        let mut all: Vec<_> = self
            .connection()?
            .definitions(database)?
            .tables
            .values()
            .cloned()
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn show_rows(&mut self, show: &Show) -> Result<Rows> {
        Ok(match &show.what {
            What::Databases => {
                let mut rows = Rows::new(&["Database"]);
                let mut names: Vec<String> = SYSTEM_SCHEMAS
                    .iter()
                    .filter(|s| catalog::is_catalog_schema(s))
                    .map(|s| (*s).to_owned())
                    .collect();
                if self.is_root() {
                    names.extend(self.shared.databases.names());
                }
                names.sort();
                for name in names {
                    rows.push([name.into()]);
                }
                rows
            }
            What::Tables(database) => {
                let database = self.default_database(database)?;
                let title = format!("Tables_in_{database}");
                let mut rows = if show.full {
                    Rows::new(&[&title, "Table_type"])
                } else {
                    Rows::new(&[&title])
                };
                let mut names: Vec<(String, &str)> = Vec::new();
                if is_system_schema(&database) {
                    let kind = if database.eq_ignore_ascii_case("information_schema") {
                        "SYSTEM VIEW"
                    } else {
                        "BASE TABLE"
                    };
                    names.extend(catalog::tables_in(&database).into_iter().map(|t| {
                        let view = t.view_definition().is_some();
                        (t.name().to_owned(), if view { "VIEW" } else { kind })
                    }));
                } else {
                    names.extend(self.defs(&database)?.iter().map(|d| {
                        (
                            d.name.clone(),
                            if d.view.is_some() {
                                "VIEW"
                            } else {
                                "BASE TABLE"
                            },
                        )
                    }));
                }
                for (name, kind) in names {
                    rows.rows.push(if show.full {
                        vec![Value::Text(name), Value::Text(kind.into())]
                    } else {
                        vec![Value::Text(name)]
                    });
                }
                rows
            }
            What::TableStatus(database) => self.table_status(database)?,
            What::Columns(database, table) => self.columns(database, table, show.full)?,
            What::Index(database, table) => self.indexes(database, table)?,
            What::CreateTable(database, table) => self.create_text(database, table)?,
            What::CreateDatabase(name) => {
                self.default_database(&Some(name.clone()))?;
                let mut rows = Rows::new(&["Database", "Create Database"]);
                rows.push([
                    name.as_str().into(),
                    format!("CREATE DATABASE `{name}` /*!40100 DEFAULT CHARACTER SET utf8mb4 */")
                        .into(),
                ]);
                rows
            }
            What::Variables(scope) => {
                let mut rows = Rows::new(&["Variable_name", "Value"]);
                let scope = if *scope == Scope::Global {
                    catalog::Scope::Global
                } else {
                    catalog::Scope::Session
                };
                for v in self.system()?.1.variables(scope) {
                    rows.push([v.name.into(), v.value.into()]);
                }
                rows
            }
            What::Status(scope) => {
                let mut rows = Rows::new(&["Variable_name", "Value"]);
                let scope = if *scope == Scope::Global {
                    catalog::Scope::Global
                } else {
                    catalog::Scope::Session
                };
                for v in self.system()?.1.status(scope) {
                    rows.push([v.name.into(), v.value.into()]);
                }
                rows
            }
            What::ProcessList => {
                let mut rows = Rows::new(&[
                    "Id", "User", "Host", "db", "Command", "Time", "State", "Info",
                ]);
                let (user, _) = self.state.user_host();
                for p in self.shared.registry.list() {
                    if !self.is_root() && p.user != user {
                        continue;
                    }
                    let info = if show.full {
                        p.info
                    } else {
                        p.info.chars().take(100).collect()
                    };
                    let info = (!info.is_empty()).then_some(info);
                    rows.push([
                        (p.id as i64).into(),
                        p.user.into(),
                        p.host.into(),
                        p.database.into(),
                        p.command.into(),
                        (p.since.elapsed().as_secs() as i64).into(),
                        p.state.into(),
                        info.into(),
                    ]);
                }
                rows
            }
            What::Warnings => {
                let mut rows = Rows::new(&["Level", "Code", "Message"]);
                for w in self.state.warnings() {
                    rows.push([w.level.into(), i64::from(w.code).into(), w.message.into()]);
                }
                rows
            }
            What::WarningCount => {
                let mut rows = Rows::new(&["@@session.warning_count"]);
                rows.push([i64::from(self.state.warning_count()).into()]);
                rows
            }
            What::Engines => {
                let mut rows = Rows::new(&[
                    "Engine",
                    "Support",
                    "Comment",
                    "Transactions",
                    "XA",
                    "Savepoints",
                ]);
                let version = format!("SQLite {}: one file per database, WAL", rusqlite::version());
                rows.push([
                    "SQLite".into(),
                    "DEFAULT".into(),
                    version.into(),
                    "YES".into(),
                    "NO".into(),
                    "YES".into(),
                ]);
                rows.push([
                    "PERFORMANCE_SCHEMA".into(),
                    "YES".into(),
                    "Performance Schema".into(),
                    "NO".into(),
                    "NO".into(),
                    "NO".into(),
                ]);
                rows
            }
            What::Collation => {
                let mut rows = Rows::new(&[
                    "Collation",
                    "Charset",
                    "Id",
                    "Default",
                    "Compiled",
                    "Sortlen",
                ]);
                for (name, charset, id, default) in COLLATIONS {
                    rows.push([
                        (*name).into(),
                        (*charset).into(),
                        (*id).into(),
                        if *default { "Yes" } else { "" }.into(),
                        "Yes".into(),
                        1i64.into(),
                    ]);
                }
                rows
            }
            What::Charset => {
                let mut rows =
                    Rows::new(&["Charset", "Description", "Default collation", "Maxlen"]);
                for (name, description, collation, bytes) in CHARSETS {
                    rows.push([
                        (*name).into(),
                        (*description).into(),
                        (*collation).into(),
                        (*bytes).into(),
                    ]);
                }
                rows
            }
            What::Grants => {
                let (user, host) = self.state.user_host();
                let mut rows = Rows::new(&[&format!("Grants for {user}@{host}")]);
                if self.is_root() {
                    rows.push([format!(
                        "GRANT ALL PRIVILEGES ON *.* TO `{user}`@`{host}` WITH GRANT OPTION"
                    )
                    .into()]);
                } else {
                    for schema in catalog::SCHEMAS {
                        rows.push([
                            format!("GRANT SELECT ON `{schema}`.* TO `{user}`@`{host}`").into()
                        ]);
                    }
                }
                rows
            }
            What::Privileges => {
                let mut rows = Rows::new(&["Privilege", "Context", "Comment"]);
                for p in [
                    "Alter", "Create", "Delete", "Drop", "Index", "Insert", "Select", "Shutdown",
                    "Super", "Update",
                ] {
                    rows.push([p.into(), "Tables".into(), "".into()]);
                }
                rows
            }
            What::Plugins => {
                let mut rows = Rows::new(&["Name", "Status", "Type", "Library", "License"]);
                for (name, kind) in [
                    ("mysql_native_password", "AUTHENTICATION"),
                    ("caching_sha2_password", "AUTHENTICATION"),
                    ("SQLite", "STORAGE ENGINE"),
                    ("PERFORMANCE_SCHEMA", "STORAGE ENGINE"),
                ] {
                    rows.push([
                        name.into(),
                        "ACTIVE".into(),
                        kind.into(),
                        None::<String>.into(),
                        "MIT".into(),
                    ]);
                }
                rows
            }
            What::Nothing(names) => Rows::new(names),
            What::Explain(sql) => {
                self.ready(sql)?;
                let mut rows = Rows::new(&["id", "parent", "detail"]);
                let connection = self.connection()?;
                let mut statement = connection.db().prepare(&sql.text)?;
                // Parameters of the explained statement stay NULL.
                let found =
                    statement.query_map(rusqlite::params_from_iter((0..0).map(|_: i32| 0)), |r| {
                        Ok([r.get(0)?, r.get(1)?])
                            .and_then(|[a, b]: [i64; 2]| Ok((a, b, r.get::<_, String>(3)?)))
                    });
                for row in found? {
                    let (id, parent, detail) = row?;
                    rows.push([id.into(), parent.into(), detail.into()]);
                }
                rows
            }
        })
    }

    fn one(
        &mut self,
        database: &Option<String>,
        table: &str,
    ) -> Result<(String, std::sync::Arc<TableDef>)> {
        let database = self.default_database(database)?;
        let def = self
            .connection()?
            .table(&database, table)?
            .ok_or_else(|| SqlError::no_such_table(&database, table))?;
        Ok((database, def))
    }

    /// A catalog's table, if it is one.
    fn system_table(
        &self,
        database: &Option<String>,
        table: &str,
    ) -> Result<Option<&'static dyn catalog::Table>> {
        let database = self.default_database(database)?;
        if !is_system_schema(&database) {
            return Ok(None);
        }
        catalog::table(&database, table)
            .map(Some)
            .ok_or_else(|| SqlError::no_such_table(&database, table))
    }
}
