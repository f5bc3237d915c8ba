//! SHOW TABLE STATUS.

use tare_mysql::date::DateTime;
use tare_mysql::error::Result;
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::Size;

use super::names;
use crate::programs::{self, Programs};
use crate::result::Rows;
use crate::runner::StatementRunner;

/// SHOW TABLE STATUS.
pub fn table_status(runner: &mut dyn StatementRunner, database: &Option<String>) -> Result<Rows> {
    let database = names::default_database(runner, database)?;
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
        of_system(runner.programs(), &mut rows, &database);
    } else {
        of_user(runner, &mut rows, &database)?;
    }
    Ok(rows)
}

/// The tables and views of a system schema.
fn of_system(programs: &dyn Programs, rows: &mut Rows, database: &str) {
    for t in programs::tables_in(programs, database) {
        let view = t.view_definition().is_some();
        // A view has nothing but its name.
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
fn of_user(runner: &mut dyn StatementRunner, rows: &mut Rows, database: &str) -> Result<()> {
    let figures = runner.context().figures(database);
    let zone = runner.context().zone();
    for def in names::definitions(runner, database)? {
        let view = def.view.is_some();
        let own = figures.get(&def.name).filter(|_| !view);
        let own = own.copied().unwrap_or_default();
        let bytes = |of: fn(&Size) -> u64| own.size.as_ref().map(|s| of(s) as i64);
        let counts = !view && def.auto_increment().is_some();
        let next = counts.then(|| own.next_id.unwrap_or(1) as i64);
        let created = own
            .created
            .map(|at| zone.local(DateTime::from_local(at, 0)).text_with(0));
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
            bytes(|s| s.rows).into(),
            bytes(|s| s.data_bytes.checked_div(s.rows).unwrap_or(0)).into(),
            bytes(|s| s.data_bytes).into(),
            (!view).then_some(0i64).into(),
            bytes(|s| s.index_bytes).into(),
            (!view).then_some(0i64).into(),
            next.into(),
            created.into(),
            None::<String>.into(),
            None::<String>.into(),
            (!view).then_some("utf8mb4_0900_ai_ci").into(),
            None::<i64>.into(),
            "".into(),
            comment.into(),
        ]);
    }
    Ok(())
}
