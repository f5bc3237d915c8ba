//! The storage engines that statements name. All tables are SQLite's.

use tare_mysql::error::{Result, SqlError};
use tare_mysql::table::TableDef;

use crate::session::Session;

/// The engine of all tables.
const OWN: &str = "SQLite";

/// The names of MySQL's engines, which tools write.
const ENGINES: &[&str] = &[
    "ARCHIVE",
    "BLACKHOLE",
    "CSV",
    "HEAP",
    "InnoDB",
    "INNOBASE",
    "MEMORY",
    "MERGE",
    "MRG_MYISAM",
    "MyISAM",
];
/// Those that only MariaDB has.
const OF_MARIADB: &[&str] = &["Aria", "SEQUENCE"];

/// 1286 if the engine of a new table is unknown; without NO_ENGINE_SUBSTITUTION a warning.
pub fn check_created(session: &Session, def: &TableDef) -> Result<()> {
    if !check(session, def)? {
        let message = format!("Using storage engine {OWN} for table '{}'", def.name);
        session.state.warnings.add("Warning", 1266, message);
    }
    Ok(())
}

/// The same of ALTER TABLE, where the table keeps its engine.
pub fn check_altered(session: &Session, def: &TableDef) -> Result<()> {
    check(session, def).map(|_| ())
}

/// 1286 if an engine is unknown.
pub fn check_name(session: &Session, engine: &str) -> Result<()> {
    let is = |name: &&str| name.eq_ignore_ascii_case(engine);
    let of_mariadb = session.shared.config.series.is_mariadb() && OF_MARIADB.iter().any(is);
    match is(&OWN) || of_mariadb || ENGINES.iter().any(is) {
        true => Ok(()),
        false => Err(SqlError::new(
            1286,
            format!("Unknown storage engine '{engine}'"),
        )),
    }
}

/// Whether the engine is known, or none is named.
fn check(session: &Session, def: &TableDef) -> Result<bool> {
    let Some(engine) = &def.engine else {
        return Ok(true);
    };
    let Err(unknown) = check_name(session, engine) else {
        return Ok(true);
    };
    let sql_mode = session.state.text("sql_mode").unwrap_or_default();
    if sql_mode
        .split(',')
        .any(|mode| mode == "NO_ENGINE_SUBSTITUTION")
    {
        return Err(unknown);
    }
    session
        .state
        .warnings
        .add("Warning", unknown.code, unknown.message);
    Ok(false)
}
