//! What procedures store in a session between calls.

use std::collections::HashMap;

use serde_json::Value as Json;

use tare_query::result::Rows;

/// The state of procedures in a session.
#[derive(Debug, Default)]
pub struct ProcedureState {
    /// ps_setup_save: the rows of each setup table.
    pub(super) saved: Option<Vec<Rows>>,
    /// statement_performance_analyzer's snapshots: its own is called "".
    pub(super) snapshots: HashMap<String, Snapshot>,
}

/// events_statements_summary_by_digest as it was at a moment, as JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    pub(super) rows: Vec<Vec<Json>>,
}
