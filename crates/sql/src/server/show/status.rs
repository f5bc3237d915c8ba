//! Counters of SHOW STATUS.

use crate::server::shared::Shared;

impl Shared {
    /// Counters of SHOW STATUS, by name.
    pub fn status(&self) -> Vec<(&'static str, String)> {
        use std::sync::atomic::Ordering::Relaxed;
        let c = &self.counters;
        vec![
            (
                "Aborted_connects",
                c.aborted_connects.load(Relaxed).to_string(),
            ),
            (
                "Connection_errors_internal",
                c.panics.load(Relaxed).to_string(),
            ),
            (
                "Connection_errors_max_connections",
                c.refused.load(Relaxed).to_string(),
            ),
            ("Connections", self.registry.total().to_string()),
            ("Max_used_connections", self.registry.peak().to_string()),
            ("Queries", c.questions.load(Relaxed).to_string()),
            ("Questions", c.questions.load(Relaxed).to_string()),
            ("Threads_connected", self.registry.len().to_string()),
            (
                "Threads_running",
                self.registry
                    .list()
                    .iter()
                    .filter(|p| p.command != "Sleep")
                    .count()
                    .to_string(),
            ),
            ("Uptime", self.started.elapsed().as_secs().to_string()),
        ]
    }
}
