//! The data that a table's rows come from.

use std::sync::Arc;

use crate::describe::Table;
use crate::record::thread::Thread;
use crate::snapshot::Snapshot;
use crate::source::Source;

/// The source, and this statement's snapshot of the segment.
#[derive(Clone)]
pub struct View {
    /// The program that serves the tables.
    pub source: Arc<dyn Source>,
    /// The segment as this statement sees it.
    pub snapshot: Arc<Snapshot>,
    /// The tables that this crate describes, by schema and name.
    pub tables: &'static [&'static dyn Table],
}

impl View {
    /// Whether a thread is one of the process list that the session may see: all sessions with PROCESS, else
    /// its user's.
    pub(crate) fn process_filter(&self) -> impl Fn(&Thread) -> bool + use<> {
        let sees_all = self.source.rights().may_see_others();
        let user = self.source.account().0;
        move |thread| {
            thread.processlist_id.is_some() && (sees_all || thread.user.as_deref() == Some(&user))
        }
    }

    /// The tables and views of one schema, sorted, with those of the source's extension.
    pub fn tables_in(&self, schema: &str) -> Vec<&'static dyn Table> {
        let extension = self.source.extension();
        if let Some(instead) = extension.and_then(|e| e.instead(schema)) {
            return instead.to_vec();
        }
        let more = extension.map_or_else(Vec::new, |e| e.tables());
        let mut tables: Vec<&'static dyn Table> = self.tables.iter().copied().chain(more).collect();
        tables.retain(|t| t.schema().eq_ignore_ascii_case(schema));
        tables.sort_by_key(|t| t.name());
        tables
    }
}
