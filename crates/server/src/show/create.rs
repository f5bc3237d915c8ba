//! SHOW CREATE: of tables, views and programs.

use tare_mysql::error::{Result, SqlError};

use super::names;
use crate::session::Session;
use tare_query::result::Rows;

/// SHOW CREATE TABLE.
pub fn create_text(session: &mut Session, database: &Option<String>, table: &str) -> Result<Rows> {
    if let Some(system) = names::system_table(session, database, table)? {
        if let Some(view) = tare_sys::view(system.name())
            && system.view_definition().is_some()
        {
            let mut rows = Rows::new(&[
                "View",
                "Create View",
                "character_set_client",
                "collation_connection",
            ]);
            rows.push([
                view.name().into(),
                view.create_view().into(),
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
    let (_, def) = names::one(session, database, table)?;
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
    rows.push([def.name.as_str().into(), def.to_mysql().into()]);
    Ok(rows)
}

/// SHOW CREATE VIEW.
pub fn show_view(session: &mut Session, database: &Option<String>, view: &str) -> Result<Rows> {
    let rows = create_text(session, database, view)?;
    if rows.names.first().is_some_and(|n| n == "View") {
        return Ok(rows);
    }
    let database = match database {
        Some(name) => name.clone(),
        None => session.state.database().unwrap_or_default(),
    };
    Err(SqlError::new(
        1347,
        format!("'{database}.{view}' is not VIEW"),
    ))
}
