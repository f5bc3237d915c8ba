//! SHOW: what is asked for, and the rows that answer it.

mod absent;
mod charset;
mod explain;
mod made;
mod programs;
mod rows;
mod table;

use rusqlite::types::Value;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::{SYSTEM_SCHEMAS, is_system_schema};
use tare_mysql::table::TableDef;

pub(super) use self::charset::CHARSETS;
pub(super) use self::rows::Rows;
use super::session::Session;
use crate::catalog;
use crate::dialect::admin::{Filter, Scope, Show, What};

impl Session {
    /// SHOW.
    pub fn show(&mut self, show: &Show, more: bool, binary: bool) -> Result<()> {
        let mut rows = self.show_rows(show)?;
        if let (Filter::Like(pattern), What::Tables(_) | What::Databases) =
            (&show.filter, &show.what)
        {
            // MySQL says what was looked for in the heading.
            rows = self.filtered(rows, &show.filter)?;
            rows.names[0].push_str(&format!(" ({pattern})"));
        } else {
            rows = self.filtered(rows, &show.filter)?;
        }
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
            return Err(self.database_denied(&name));
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
                let mut names: Vec<String> =
                    SYSTEM_SCHEMAS.iter().map(|s| (*s).to_owned()).collect();
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
                    format!("CREATE DATABASE `{name}` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */")
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
                for v in self.system_catalog()?.variables(scope) {
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
                for v in self.system_catalog()?.status(scope) {
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
            What::Warnings { errors, limit } => {
                let mut rows = Rows::new(&["Level", "Code", "Message"]).typed(&[
                    "varchar(7)",
                    "int unsigned",
                    "varchar(512)",
                ]);
                let all = self.state.warnings.list();
                let all = all.into_iter().filter(|w| !errors || w.level == "Error");
                for w in all.skip(limit.0).take(limit.1) {
                    rows.push([w.level.into(), i64::from(w.code).into(), w.message.into()]);
                }
                rows
            }
            What::WarningCount { errors } => {
                let name = if *errors { "error" } else { "warning" };
                let mut rows = Rows::new(&[&format!("@@session.{name}_count")])
                    .typed(&["bigint unsigned"]);
                let all = self.state.warnings.list();
                let n = all.iter().filter(|w| !errors || w.level == "Error").count();
                rows.push([(n as i64).into()]);
                rows
            }
            What::Engines => self.select(
                "SELECT ENGINE AS Engine, SUPPORT AS Support, COMMENT AS Comment, \
                 TRANSACTIONS AS Transactions, XA, SAVEPOINTS AS Savepoints FROM information_schema.ENGINES",
                &[],
            )?,
            What::Collation => self.select(
                "SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME AS Charset, ID AS Id, \
                 IS_DEFAULT AS `Default`, IS_COMPILED AS Compiled, SORTLEN AS Sortlen, PAD_ATTRIBUTE AS Pad_attribute \
                 FROM information_schema.COLLATIONS ORDER BY 1",
                &[],
            )?,
            What::Charset => self.select(
                "SELECT CHARACTER_SET_NAME AS Charset, DESCRIPTION AS Description, \
                 DEFAULT_COLLATE_NAME AS `Default collation`, MAXLEN AS Maxlen FROM information_schema.CHARACTER_SETS ORDER BY 1",
                &[],
            )?,
            What::Grants(of) => self.grants(of.as_ref())?,
            What::CreateUser(of) => self.show_user(of.as_ref())?,
            What::CreateView(database, view) => self.show_view(database, view)?,
            What::CreateProgram(kind, database, name) => {
                self.show_program(*kind, database, name)?
            }
            What::Engine(engine, what) => self.engine(engine, *what)?,
            What::OpenTables(database) => self.open_tables(database)?,
            What::Triggers(database) => self.triggers(database)?,
            What::Events(database) => self.events(database)?,
            What::Routines(routine) => self.routines(*routine)?,
            What::RoutineCode(routine) => {
                let text = format!(
                    "The 'SHOW {} CODE' feature is disabled; you need MySQL built with '--with-debug' to have it working",
                    routine.word()
                );
                return Err(SqlError::new(1289, text));
            }
            What::BinaryLogs => {
                return Err(SqlError::new(1381, "You are not using binary logging"));
            }
            What::Privileges => {
                let mut rows = Rows::new(&["Privilege", "Context", "Comment"]);
                for (privilege, context, comment) in made::PRIVILEGES {
                    rows.push([(*privilege).into(), (*context).into(), (*comment).into()]);
                }
                rows
            }
            What::Plugins => self.select(
                "SELECT PLUGIN_NAME AS Name, PLUGIN_STATUS AS Status, PLUGIN_TYPE AS Type, \
                 PLUGIN_LIBRARY AS Library, PLUGIN_LICENSE AS License FROM information_schema.PLUGINS",
                &[],
            )?,
            What::Absent(absent) => absent::rows(*absent),
            What::Explain(sql, format) => self.explain(sql, *format)?,
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
