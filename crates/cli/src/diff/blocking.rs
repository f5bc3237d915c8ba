//! Compares how long sessions waited for the locks of others, by the lock and by what its holder ran.

use std::collections::BTreeSet;

use super::comparison::{Comparison, Difference, Figure, Presence, intervals, ratio};
use super::locks::Lock;
use super::recording::Recording;
use crate::statistics::{Change, MIN_BATCHES, Parts};

/// The part of [`super::comparison::ERROR`] for waits for locks.
const SHARE: f64 = 0.05;

/// How much longer or shorter sessions waited for a lock, or for all together.
#[derive(Clone, Debug)]
pub struct BlockingChange {
    /// The lock; `None` for all together.
    pub lock: Option<Lock>,
    /// In which windows sessions waited for it.
    pub presence: Presence,
    /// The average number of sessions that waited.
    pub sessions: Figure,
    /// The seconds that sessions waited longer in the later window.
    pub added: Difference,
}

impl BlockingChange {
    /// Whether there is anything to report.
    pub fn is_changed(&self) -> bool {
        self.presence != Presence::Both || self.sessions.is_changed()
    }
}

impl Comparison {
    /// All locks together, and each lock in the order of the seconds that sessions waited longer or shorter. `None`:
    /// no session waited.
    pub fn compare_blocking(&self) -> Option<(BlockingChange, Vec<BlockingChange>)> {
        let both = [&self.before, &self.after];
        let locks: BTreeSet<&Lock> = both
            .into_iter()
            .flat_map(|recording| recording.blocking.by_lock.keys())
            .collect();
        if locks.is_empty() {
            return None;
        }
        let locks: Vec<Option<&Lock>> = std::iter::once(None)
            .chain(locks.into_iter().map(Some))
            .collect();
        let parts = |recording: &Recording, lock: Option<&Lock>| -> Parts {
            recording.sampled(recording.blocking.seconds(lock))
        };
        let raw = locks.iter().enumerate().filter_map(|(number, lock)| {
            let batches = |recording: &Recording| {
                let parts = parts(recording, *lock).into_iter();
                parts.filter(|(seconds, _)| *seconds > 0.0).count()
            };
            // Fewer are single waits.
            let is_enough = batches(&self.before).max(batches(&self.after)) >= MIN_BATCHES;
            let change = |before: &Recording, after: &Recording| {
                Change::absolute(&parts(before, *lock), &parts(after, *lock))
            };
            is_enough.then(|| self.raw(number, change)).flatten()
        });
        let raw = raw.collect();
        let mut changes: Vec<Figure> = locks
            .iter()
            .map(|lock| Figure {
                before: ratio(&parts(&self.before, *lock)),
                after: ratio(&parts(&self.after, *lock)),
                ..Figure::default()
            })
            .collect();
        for (number, change, control_days) in intervals(raw, SHARE, |_| true) {
            let figure = &mut changes[number];
            (figure.change, figure.control_days) = (Some(change), control_days);
        }
        let seconds = self.after.sampled_seconds.iter().sum();
        let changes = locks.into_iter().zip(changes);
        let mut changes: Vec<BlockingChange> = changes
            .map(|(lock, sessions)| BlockingChange {
                presence: Presence::of(
                    both.map(|recording| recording.blocking.seconds(lock).is_some()),
                ),
                lock: lock.cloned(),
                added: sessions.added(seconds),
                sessions,
            })
            .collect();
        let total = changes.remove(0);
        changes.sort_by(|a, b| b.added.value.abs().total_cmp(&a.added.value.abs()));
        Some((total, changes))
    }
}
