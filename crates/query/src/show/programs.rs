//! SHOW of stored programs: triggers, events, procedures and functions.

use rusqlite::types::Value;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;

use crate::result::Rows;
use crate::runner::StatementRunner;
use tare_dialect::admin::{Program, Routine};

/// SHOW TRIGGERS.
pub fn triggers(runner: &mut dyn StatementRunner, database: &Option<String>) -> Result<Rows> {
    let query = format!(
        "{TRIGGERS} WHERE {} ORDER BY 1, 2",
        of("TRIGGER_SCHEMA", database)
    );
    let mut rows = runner.select(&query, &[])?;
    // LIKE compares the table's name.
    rows.like = 2;
    Ok(rows)
}

/// SHOW EVENTS.
pub fn events(runner: &mut dyn StatementRunner, database: &Option<String>) -> Result<Rows> {
    let query = format!(
        "{EVENTS} WHERE {} ORDER BY 1, 2",
        of("EVENT_SCHEMA", database)
    );
    let mut rows = runner.select(&query, &[])?;
    rows.like = 1;
    Ok(rows)
}

/// SHOW PROCEDURE STATUS, SHOW FUNCTION STATUS.
pub fn routines(runner: &mut dyn StatementRunner, routine: Routine) -> Result<Rows> {
    let word = routine.word();
    let language = match runner.programs().series() {
        Series::V9_7 => "EXTERNAL_LANGUAGE AS Language, ",
        _ => "",
    };
    let query = format!(
        "SELECT ROUTINE_SCHEMA AS Db, ROUTINE_NAME AS Name, ROUTINE_TYPE AS Type, {language}{ROUTINES} \
         WHERE ROUTINE_TYPE = '{word}' ORDER BY 1, 2"
    );
    let mut rows = runner.select(&query, &[])?;
    rows.like = 1;
    Ok(rows)
}

/// SHOW CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT.
pub fn show_program(
    runner: &mut dyn StatementRunner,
    program: Program,
    database: &Option<String>,
    name: &str,
) -> Result<Rows> {
    let database = match database {
        Some(name) => name.clone(),
        None => runner
            .context()
            .database()
            .ok_or_else(SqlError::no_database)?,
    };
    let routine = match program {
        Program::Trigger => return Err(SqlError::new(1360, "Trigger does not exist")),
        Program::Event => return Err(SqlError::new(1539, format!("Unknown event '{name}'"))),
        Program::Routine(routine) => routine,
    };
    let word = routine.word();
    let routines_of_name = runner.select(
        "SELECT ROUTINE_NAME, SQL_MODE, ROUTINE_DEFINITION FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA = ? AND ROUTINE_NAME = ? AND ROUTINE_TYPE = ?",
        &[&database, name, word],
    )?;
    let Some(row) = routines_of_name.rows.first() else {
        return Err(SqlError::new(1305, format!("{word} {name} does not exist")));
    };
    let title = match routine {
        Routine::Procedure => ("Procedure", "Create Procedure"),
        Routine::Function => ("Function", "Create Function"),
    };
    let mut rows = Rows::new(&[
        title.0,
        "sql_mode",
        title.1,
        "character_set_client",
        "collation_connection",
        "Database Collation",
    ]);
    let mut values = row.clone();
    values.extend(
        ["utf8mb4", "utf8mb4_0900_ai_ci", "utf8mb4_0900_ai_ci"].map(|t| Value::Text(t.into())),
    );
    rows.rows.push(values);
    Ok(rows)
}

/// The condition on the database: the given one, or else the session's.
fn of(schema: &str, database: &Option<String>) -> String {
    match database {
        Some(name) => format!("{schema} = '{}'", name.replace('\'', "''")),
        None => format!("{schema} = DATABASE()"),
    }
}

const TRIGGERS: &str = "SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS `Event`, \
    EVENT_OBJECT_TABLE AS `Table`, ACTION_STATEMENT AS `Statement`, ACTION_TIMING AS Timing, \
    CREATED AS Created, SQL_MODE AS sql_mode, DEFINER AS `Definer`, \
    CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
    DATABASE_COLLATION AS `Database Collation` FROM information_schema.TRIGGERS";

const EVENTS: &str = "SELECT EVENT_SCHEMA AS Db, EVENT_NAME AS Name, DEFINER AS `Definer`, \
    TIME_ZONE AS `Time zone`, EVENT_TYPE AS Type, EXECUTE_AT AS `Execute at`, \
    INTERVAL_VALUE AS `Interval value`, INTERVAL_FIELD AS `Interval field`, STARTS AS Starts, \
    ENDS AS Ends, STATUS AS Status, ORIGINATOR AS Originator, \
    CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
    DATABASE_COLLATION AS `Database Collation` FROM information_schema.EVENTS";

const ROUTINES: &str = "DEFINER AS `Definer`, LAST_ALTERED AS Modified, CREATED AS Created, \
    SECURITY_TYPE AS Security_type, ROUTINE_COMMENT AS Comment, \
    CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
    DATABASE_COLLATION AS `Database Collation` FROM information_schema.ROUTINES";
