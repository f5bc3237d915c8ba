//! Databases and tables, by name.

use rusqlite::types::Value;
use tare_mysql::error::Result;
use tare_mysql::schema::{SYSTEM_SCHEMAS, is_system_schema};

use super::names;
use crate::programs;
use crate::result::Rows;
use crate::runner::StatementRunner;

/// SHOW DATABASES.
pub fn databases(runner: &dyn StatementRunner) -> Rows {
    let mut rows = Rows::new(&["Database"]);
    let mut names: Vec<String> = SYSTEM_SCHEMAS.iter().map(|s| (*s).to_owned()).collect();
    names.extend(runner.context().databases());
    names.sort();
    for name in names {
        rows.push([name.into()]);
    }
    rows
}

/// SHOW TABLES.
pub fn tables(
    runner: &mut dyn StatementRunner,
    database: &Option<String>,
    full: bool,
) -> Result<Rows> {
    let database = names::default_database(runner, database)?;
    let title = format!("Tables_in_{database}");
    let mut rows = if full {
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
        names.extend(
            programs::tables_in(runner.programs(), &database)
                .into_iter()
                .map(|t| {
                    let view = t.view_definition().is_some();
                    (t.name().to_owned(), if view { "VIEW" } else { kind })
                }),
        );
    } else {
        names.extend(names::definitions(runner, &database)?.iter().map(|d| {
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
        rows.rows.push(if full {
            vec![Value::Text(name), Value::Text(kind.into())]
        } else {
            vec![Value::Text(name)]
        });
    }
    Ok(rows)
}

/// SHOW CREATE DATABASE.
pub fn create_database(runner: &dyn StatementRunner, name: &str) -> Result<Rows> {
    names::default_database(runner, &Some(name.to_owned()))?;
    let mut rows = Rows::new(&["Database", "Create Database"]);
    // 8.0.15 does not have it.
    let encryption = match runner.programs().series().has_encryption() {
        false => "",
        true => " /*!80016 DEFAULT ENCRYPTION='N' */",
    };
    let statement = format!(
        "CREATE DATABASE `{name}` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */{encryption}"
    );
    rows.push([name.into(), statement.into()]);
    Ok(rows)
}

/// SHOW OPEN TABLES: those of the databases that this session has opened.
pub fn open_tables(runner: &mut dyn StatementRunner, database: &Option<String>) -> Result<Rows> {
    let mut rows = Rows::new(&["Database", "Table", "In_use", "Name_locked"]).typed(&[
        "varchar(64)",
        "varchar(64)",
        "bigint",
        "bigint",
    ]);
    rows.like = 1;
    let names = match database {
        Some(name) => vec![name.clone()],
        None => runner.context().databases(),
    };
    for name in names {
        if names::check_access(runner.context(), &name).is_err() || !runner.context().is_open(&name)
        {
            continue;
        }
        for def in names::definitions(runner, &name)? {
            if def.view.is_none() {
                rows.push([
                    name.as_str().into(),
                    def.name.as_str().into(),
                    0i64.into(),
                    0i64.into(),
                ]);
            }
        }
    }
    Ok(rows)
}
