//! DROP of stored programs. Users have none, and those of schema sys stay.

use tare_dialect::admin::{Program, Routine};
use tare_mysql::error::{Result, SqlError};
use tare_query::programs::Programs as _;
use tare_sys::Sys;

use crate::session::Session;

/// The triggers of schema sys.
const TRIGGERS: [&str; 2] = ["sys_config_insert_set_user", "sys_config_update_set_user"];

/// DROP PROCEDURE, FUNCTION, TRIGGER or EVENT: 1305, 1360 or 1539, and a note with IF EXISTS.
pub fn drop(
    session: &mut Session,
    program: Program,
    database: Option<&str>,
    name: &str,
    if_exists: bool,
) -> Result<()> {
    let current = session.state.database();
    let Some(database) = database.or(current.as_deref()) else {
        return Err(SqlError::no_database());
    };
    if database.eq_ignore_ascii_case("sys") && has(session, program, name) {
        return Err(session.database_denied(database));
    }
    let unknown = match program {
        Program::Routine(routine) => SqlError::new(
            1305,
            format!("{} {database}.{name} does not exist", routine.word()),
        ),
        Program::Trigger => SqlError::new(1360, "Trigger does not exist"),
        Program::Event if if_exists => SqlError::new(1305, format!("Event {name} does not exist")),
        Program::Event => SqlError::new(1539, format!("Unknown event '{name}'")),
    };
    if !if_exists {
        return Err(unknown);
    }
    session
        .state
        .warnings
        .add("Note", unknown.code, unknown.message);
    Ok(())
}

/// Whether schema sys has a program.
fn has(session: &Session, program: Program, name: &str) -> bool {
    let sys = Sys::of(session.shared.config.series);
    match program {
        Program::Routine(Routine::Procedure) => sys.procedure(name).is_some(),
        Program::Routine(Routine::Function) => sys.routine(name).is_some(),
        Program::Trigger => TRIGGERS
            .iter()
            .any(|trigger| trigger.eq_ignore_ascii_case(name)),
        Program::Event => false,
    }
}
