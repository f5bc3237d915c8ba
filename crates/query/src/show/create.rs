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
        if let Some(text) = create_view(system) {
            let mut rows = Rows::new(&[
                "View",
                "Create View",
                "character_set_client",
                "collation_connection",
            ]);
            rows.push([
                system.name().into(),
                text.into(),
                "utf8mb4".into(),
                "utf8mb4_0900_ai_ci".into(),
            ]);
            return Ok(rows);
        }
        let mut rows = Rows::new(&["Table", "Create Table"]);
        rows.push([
            system.name().into(),
            tare_rows::show::create_table(system).into(),
        ]);
        return Ok(rows);
    }
    let (_, def) = names::user_table(runner, database, table)?;
    if def.view.is_some() {
        let mut rows = Rows::new(&[
            "View",
            "Create View",
            "character_set_client",
            "collation_connection",
        ]);
        rows.push([
            def.name.as_str().into(),
            def.to_mysql().into(),
            "utf8mb4".into(),
            "utf8mb4_general_ci".into(),
        ]);
        return Ok(rows);
    }
    let mut rows = Rows::new(&["Table", "Create Table"]);
    let text = def.to_mysql_of(runner.programs().series());
    rows.push([def.name.as_str().into(), text.into()]);
    Ok(rows)
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
