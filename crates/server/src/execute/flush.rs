//! FLUSH. There are no logs, privileges or tables in memory that could be read again.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use crate::session::Session;
use crate::shared::FlushedLosses;
use crate::status::By;
use tare_mysql::error::Result;
use tare_rows::merged;
use tare_rows::snapshot::Snapshot;

/// FLUSH of these options, in capital letters.
pub fn flush(session: &Session, what: &[String]) -> Result<()> {
    session.rights.require_all("RELOAD")?;
    let (counters, registry) = (&session.shared.counters, &session.shared.registry);
    let has = |word: &str| what.iter().any(|w| w == word);
    if has("STATUS") {
        // FLUSH STATUS clears the counters of every session, as in MySQL.
        registry.flush_sessions();
        for by in [By::Account, By::User, By::Host] {
            registry.truncate_status(by);
        }
        registry.flush_peak();
        let segment = session.shared.observed.segment();
        let of = segment.as_ref().map_or_else(Weak::new, Arc::downgrade);
        let losses = merged::losses(&Snapshot::new(segment), session.shared.config.series);
        *counters.flushed_losses.lock() = FlushedLosses {
            of,
            losses: Arc::new(losses),
        };
        tare::thread::forget_longest_attributes();
        let now = session.shared.started.elapsed().as_secs();
        counters.flushed_status.store(now, Ordering::Relaxed);
    }
    if has("PRIVILEGES") && session.shared.config.series.warns_of_deprecated() {
        let text = "'FLUSH PRIVILEGES' is deprecated and will be removed in a future release.";
        session.state.warnings.add("Warning", 1681, text);
    }
    if has("HOSTS") {
        session.shared.hosts.flush();
    }
    if has("TABLES") || has("TABLE") {
        counters.flushes.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
