//! SHOW CREATE: of tables, views and programs.

use tare_mysql::error::{Result, SqlError};

use super::names;
use crate::result::Rows;
use crate::runner::StatementRunner;
use tare_rows::describe::Table;

/// SHOW CREATE TABLE.
pub fn create_text(
    runner: &mut dyn StatementRunner,
    database: &Option<String>,
    table: &str,
) -> Result<Rows> {
    if let Some(system) = names::system_table(runner, database, table)? {
        return Ok(match create_view(system) {
            Some(text) => view_rows(system.name(), text, "utf8mb4_0900_ai_ci"),
            None => table_rows(system.name(), tare_rows::show::create_table(system)),
        });
    }
    let (database, def) = names::user_table(runner, database, table)?;
    let mut def = def.as_ref().clone();
    if def.view.is_none() && def.auto_increment().is_some() {
        def.next_id = runner.context().next_id(&database, &def.name);
    }
    let series = runner.programs().series();
    Ok(match def.view {
        Some(_) => view_rows(&def.name, def.to_mysql_of(series), "utf8mb4_0900_ai_ci"),
        None => table_rows(&def.name, def.to_mysql_of(series)),
    })
}

fn table_rows(name: &str, text: String) -> Rows {
    let mut rows = Rows::new(&["Table", "Create Table"]);
    rows.push([name.into(), text.into()]);
    rows
}

fn view_rows(name: &str, text: String, collation: &str) -> Rows {
    let mut rows = Rows::new(&[
        "View",
        "Create View",
        "character_set_client",
        "collation_connection",
    ]);
    rows.push([name.into(), text.into(), "utf8mb4".into(), collation.into()]);
    rows
}

/// The CREATE VIEW of a view of schema sys, in MySQL's form.
pub fn create_view(view: &dyn Table) -> Option<String> {
    let definition = view.view_definition()?;
    let columns = view.columns().into_iter();
    let columns: Vec<String> = columns.map(|c| format!("`{}`", c.name)).collect();
    Some(format!(
        "CREATE ALGORITHM=TEMPTABLE DEFINER=`mysql.sys`@`localhost` SQL SECURITY INVOKER VIEW `{}` ({}) AS {definition}",
        view.name(),
        columns.join(","),
    ))
}

/// SHOW CREATE VIEW.
pub fn show_view(
    runner: &mut dyn StatementRunner,
    database: &Option<String>,
    view: &str,
) -> Result<Rows> {
    let rows = create_text(runner, database, view)?;
    if rows.names.first().is_some_and(|n| n == "View") {
        return Ok(rows);
    }
    let database = match database {
        Some(name) => name.clone(),
        None => runner.context().database().unwrap_or_default(),
    };
    Err(SqlError::new(
        1347,
        format!("'{database}.{view}' is not VIEW"),
    ))
}
