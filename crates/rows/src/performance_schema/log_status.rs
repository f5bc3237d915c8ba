//! log_status: positions of the logs, for tools that copy the files.

use crate::cell::Cell;
use crate::describe::{Spec, Table, col};
use crate::server::LogStatus;

const NO_BINARY_LOG: &str =
    r#"{"gtid_executed": "", "binary_log_file": "", "binary_log_position": 0}"#;

fn storage_engines(status: &LogStatus) -> Cell<'_> {
    let logs = status.logs.iter();
    let logs = logs.map(|(name, bytes)| (name.clone(), (*bytes).into()));
    let logs: serde_json::Map<String, serde_json::Value> = logs.collect();
    Cell::owned(serde_json::json!({"SQLite": {"wal_bytes": logs}}).to_string())
}

#[rustfmt::skip] // One column, one line.
static LOG_STATUS: Spec<LogStatus> = Spec::new(
    "performance_schema",
    "log_status",
    "The positions of the server's logs, in one row.",
    &[&[
        col("SERVER_UUID", "char(36)", "The server's UUID.", |r: &LogStatus| r.server_uuid.as_str().into()).binary(),
        col("LOCAL", "json", "Binary log position, as JSON. Always position 0: there is no binary log.", |_| NO_BINARY_LOG.into()),
        col("REPLICATION", "json", "Replication channels, as JSON. Always an empty list.", |_| "{\"channels\": []}".into()),
        col("STORAGE_ENGINES", "json", "The bytes in each database's write-ahead log, as JSON.", storage_engines),
    ]],
    |view, _| Ok(Box::new(view.source.log_status().into_iter())),
)
.expect(1)
.mysql_only();

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&LOG_STATUS];
