//! SHOW ENGINE.

use crate::result::Rows;
use crate::runner::StatementRunner;
use tare_dialect::admin::EngineReport;
use tare_mysql::error::{Result, SqlError};

/// SHOW ENGINE x STATUS, MUTEX, LOGS.
pub fn engine(
    runner: &mut dyn StatementRunner,
    engine: &str,
    report: EngineReport,
) -> Result<Rows> {
    let mut rows = Rows::new(&["Type", "Name", "Status"]);
    match (engine.to_ascii_lowercase().as_str(), report) {
        ("performance_schema", EngineReport::Status) => {
            for (name, status) in runner.system()?.catalog().performance_schema_status() {
                let status = status.to_string();
                rows.push(["performance_schema".into(), name.into(), status.into()]);
            }
        }
        // Tools query the status of InnoDB.
        ("innodb" | "sqlite", EngineReport::Status) => {
            let text = runner.storage_status()?;
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
