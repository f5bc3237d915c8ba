//! SHOW ENGINE.

use crate::session::Session;
use tare_dialect::admin::EngineReport;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::variable::VERSION;
use tare_query::result::Rows;

/// SHOW ENGINE x STATUS, MUTEX, LOGS.
pub fn engine(session: &mut Session, engine: &str, report: EngineReport) -> Result<Rows> {
    let mut rows = Rows::new(&["Type", "Name", "Status"]);
    match (engine.to_ascii_lowercase().as_str(), report) {
        ("performance_schema", EngineReport::Status) => {
            for (name, status) in performance_schema_status(session)? {
                rows.push(["performance_schema".into(), name.into(), status.into()]);
            }
        }
        // Its tables' engine answers to the name that tools ask for.
        ("innodb" | "sqlite", EngineReport::Status) => {
            let text = storage_status(session);
            rows.push([engine.into(), "".into(), text.into()]);
        }
        ("performance_schema" | "innodb" | "sqlite", _) => {}
        _ => {
            return Err(SqlError::new(
                1286,
                format!("Unknown storage engine '{engine}'"),
            ));
        }
    }
    Ok(rows)
}

/// Rows of SHOW ENGINE PERFORMANCE_SCHEMA STATUS: names and values.
fn performance_schema_status(session: &mut Session) -> Result<Vec<(String, String)>> {
    let rows = session
        .connections
        .system_catalog()?
        .performance_schema_status()
        .into_iter();
    Ok(rows
        .map(|(name, value)| (name, value.to_string()))
        .collect())
}

/// What the sessions do in the databases now, as text.
fn storage_status(session: &Session) -> String {
    let mut text = format!(
        "\n=====================================\n{} STORAGE MONITOR OUTPUT\n=====================================\n\
         Server {VERSION}, SQLite {}\n------------\nTRANSACTIONS\n------------\n",
        tare_mysql::date::now_local(false).text(),
        rusqlite::version()
    );
    for p in session.shared.registry.list() {
        text.push_str(&format!(
            "---SESSION {}, {} {} sec {}\n",
            p.id,
            p.command,
            p.since.elapsed().as_secs(),
            p.info
        ));
    }
    text.push_str("----------------------------\nEND OF STORAGE MONITOR OUTPUT\n============================\n");
    text
}
