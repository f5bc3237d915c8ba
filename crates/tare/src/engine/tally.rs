//! How many events there are, as far as sampled clusters tell.

use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::sampling::GROUPS;

/// What the events of clusters stand for that were observed since the engine began, by group.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    represented: [AtomicU64; GROUPS],
}

impl Tally {
    /// Adds a cluster.
    pub fn add(&self, events: &[u64; GROUPS], weights: &[u32; GROUPS]) {
        for group in (0..GROUPS).filter(|group| events[*group] != 0) {
            let represented = events[group] * u64::from(weights[group]);
            self.represented[group].fetch_add(represented, Ordering::Relaxed);
        }
    }

    /// All of it.
    pub fn read(&self) -> [u64; GROUPS] {
        self.represented
            .each_ref()
            .map(|cell| cell.load(Ordering::Relaxed))
    }
}
