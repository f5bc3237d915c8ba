//! SHOW TABLE STATUS.

use tare_mysql::error::Result;
use tare_mysql::schema::is_system_schema;

use super::names;
use super::session::Session;
use crate::programs::{self, Programs};
use crate::result::Rows;
use tare_store::connection::quote;

/// SHOW TABLE STATUS.
pub fn table_status(session: &mut dyn Session, database: &Option<String>) -> Result<Rows> {
    let database = names::default_database(session, database)?;
    let mut rows = Rows::new(&[
        "Name",
        "Engine",
        "Version",
        "Row_format",
        "Rows",
        "Avg_row_length",
        "Data_length",
        "Max_data_length",
        "Index_length",
        "Data_free",
        "Auto_increment",
        "Create_time",
        "Update_time",
        "Check_time",
        "Collation",
        "Checksum",
        "Create_options",
        "Comment",
    ])
    .typed(&[
        "varchar(64)",
        "varchar(64)",
        "int",
        "varchar(10)",
        "bigint unsigned",
        "bigint unsigned",
        "bigint unsigned",
        "bigint unsigned",
        "bigint unsigned",
        "bigint unsigned",
        "bigint unsigned",
        "datetime",
        "datetime",
        "datetime",
        "varchar(64)",
        "bigint",
        "varchar(256)",
        "varchar(2048)",
    ]);
    if is_system_schema(&database) {
        of_system(session.programs(), &mut rows, &database);
    } else {
        of_user(session, &mut rows, &database)?;
    }
    Ok(rows)
}

/// The tables and views of a system schema.
fn of_system(programs: &dyn Programs, rows: &mut Rows, database: &str) {
    for t in programs::tables_in(programs, database) {
        let view = t.view_definition().is_some();
        // Of a view nothing is known but its name.
        let number = |n: i64| (!view).then_some(n);
        rows.push([
            t.name().into(),
            tare_rows::show::engine(t).into(),
            number(10).into(),
            (!view).then_some("Dynamic").into(),
            number(0).into(),
            number(0).into(),
            number(0).into(),
            number(0).into(),
            number(0).into(),
            number(0).into(),
            None::<i64>.into(),
            None::<String>.into(),
            None::<String>.into(),
            None::<String>.into(),
            (!view).then_some("utf8mb4_0900_ai_ci").into(),
            None::<i64>.into(),
            (!view).then_some("").into(),
            if view { "VIEW" } else { "" }.into(),
        ]);
    }
}

/// The tables and views of a user's database.
fn of_user(session: &mut dyn Session, rows: &mut Rows, database: &str) -> Result<()> {
    for def in session.definitions(database)? {
        let view = def.view.is_some();
        let count = if view {
            None
        } else {
            let sql = format!(
                "SELECT count(*) FROM {}.{}",
                quote(database),
                quote(&def.name)
            );
            session.count(&sql)
        };
        let (engine, comment) = if view {
            (None, "VIEW")
        } else {
            (Some("SQLite"), def.comment.as_str())
        };
        rows.push([
            def.name.as_str().into(),
            engine.into(),
            (!view).then_some(10i64).into(),
            (!view).then_some("Dynamic").into(),
            count.into(),
            None::<i64>.into(),
            None::<i64>.into(),
            None::<i64>.into(),
            None::<i64>.into(),
            None::<i64>.into(),
            None::<i64>.into(),
            None::<String>.into(),
            None::<String>.into(),
            None::<String>.into(),
            (!view).then_some("utf8mb4_general_ci").into(),
            None::<i64>.into(),
            "".into(),
            comment.into(),
        ]);
    }
    Ok(())
}
