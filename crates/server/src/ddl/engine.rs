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
    check(session, def)?;
    if warn_of_unknown(session, def) {
        let message = format!("Using storage engine {OWN} for table '{}'", def.name);
        session.state.warnings.add("Warning", 1266, message);
    }
    Ok(())
}

/// 1286 if a definition has an unknown engine, unless sql_mode allows another one in its place.
pub fn check(session: &Session, def: &TableDef) -> Result<()> {
    let sql_mode = session.state.text("sql_mode").unwrap_or_default();
    let is_required = |mode: &str| mode == "NO_ENGINE_SUBSTITUTION";
    match &def.engine {
        Some(engine) if sql_mode.split(',').any(is_required) => check_name(session, engine),
        _ => Ok(()),
    }
}

/// Warns if a definition has an unknown engine, and returns whether it has.
pub fn warn_of_unknown(session: &Session, def: &TableDef) -> bool {
    let engine = def.engine.as_deref();
    let checked = engine.map_or(Ok(()), |engine| check_name(session, engine));
    let is_unknown = checked.is_err();
    if let Err(unknown) = checked {
        let warnings = &session.state.warnings;
        warnings.add("Warning", unknown.code, unknown.message);
    }
    is_unknown
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
