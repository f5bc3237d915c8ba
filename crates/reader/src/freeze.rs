//! `thread_instrumentation`: while it is off, sums by thread, account, user and host are frozen.
//!
//! The writer continues to count, because global sums are the sums of the threads' banks. So the rows are copied
//! into a baseline, which is displayed in their place. When the consumer is on again, the counts of the time
//! between are added to the baselines of truncation, so that they are never displayed.
//!
//! The writer does not wait for readers. If it merges two banks while sums are thawed, the counts of one of
//! them may be hidden twice: the sums of that account are then too low by these counts, never too high, and
//! correct from then on.
//!
//! Memory is not frozen: memory that was allocated before the freeze may be freed during it, and the bytes in
//! use stay correct.

use std::sync::atomic::Ordering;

use tare_layout::bank::baseline;
use tare_layout::control::{THREAD, mask_under};
use tare_layout::line::{CELLS, EXTRA, HISTOGRAM, Item, MAX, MIN, SUM, Tag};
use tare_layout::{Kind, View};

use crate::attach::Segment;
use crate::classes;
use crate::error::WriteError;
use crate::line::{Cells, cells, combine_extremes};
use crate::truncate::{CopiedItem, TruncationLock, blocks_of, fill_bank, fill_baselines, items};

/// The baselines of the tables that are frozen.
const SCOPES: [usize; 4] = [
    baseline::TRUNCATED_ACCOUNT,
    baseline::TRUNCATED_USER,
    baseline::TRUNCATED_HOST,
    baseline::TRUNCATED_THREAD,
];

impl Segment {
    /// Freezes sums by thread, or thaws them.
    pub(crate) fn switch_thread_sums(&self, on: bool) -> Result<(), WriteError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        if is_frozen(view) != on {
            return Ok(());
        }
        let consumers = &view.control().consumers;
        if on {
            let [account, user, host, thread] = SCOPES;
            let baselines = [account, user, host, thread, baseline::FROZEN];
            fill_baselines(view, &baselines, thaw_bank);
            consumers.fetch_or(THREAD, Ordering::SeqCst);
        } else {
            fill_baselines(view, &[baseline::FROZEN], |view, bank, filled| {
                let wanted = |tag| kind_of(view, tag).is_some_and(freezes);
                fill_bank(view, baseline::FROZEN, bank, wanted, filled);
            });
            consumers.fetch_and(!THREAD, Ordering::SeqCst);
        }
        let now = consumers.load(Ordering::SeqCst);
        view.control().announce_change();
        let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
        for mask in view.thread_masks().iter().take(used) {
            mask.store(
                mask_under(mask.load(Ordering::SeqCst), now),
                Ordering::SeqCst,
            );
        }
        Ok(())
    }
}

/// Whether sums by thread are frozen.
pub(crate) fn is_frozen(view: View<'_>) -> bool {
    view.control().consumers.load(Ordering::SeqCst) & THREAD == 0
}

/// Whether sums of this kind can be frozen.
pub(crate) fn freezes(kind: Kind) -> bool {
    kind != Kind::Memory
}

/// The kind of a class's row.
pub(crate) fn kind_of(view: View<'_>, tag: Tag) -> Option<Kind> {
    let kind = classes::kind(view, tag.id as usize).filter(|_| tag.item == Item::Class)?;
    (kind.row_lines() == tag.lines).then_some(kind)
}

/// The extremes of time line `at`, of its present thread and of those before it.
pub(crate) fn extremes(view: View<'_>, bank: usize, at: usize) -> (u64, u64) {
    let line = cells(&view.arena(bank)[at]);
    let (mut min, mut max) = (line[MIN], line[MAX]);
    if let Some(base) = base(view, bank, at) {
        let mut both = line;
        combine_extremes(&mut both, &base);
        (min, max) = (both[MIN], both[MAX]);
    }
    (min, max)
}

fn base(view: View<'_>, bank: usize, at: usize) -> Option<Cells> {
    let covered = view.bank(bank).base_used.load(Ordering::Acquire) as usize;
    let base = || cells(&view.baseline(baseline::OWNER, bank)[at]);
    (at < covered).then(base)
}

/// Hides the counts of a bank since it was frozen.
fn thaw_bank(view: View<'_>, bank: usize, filled: &mut Vec<CopiedItem>) {
    let arena = view.arena(bank);
    let used = view.bank(bank).used.load(Ordering::Acquire) as usize;
    for (at, tag) in items(arena, used) {
        let Some(kind) = kind_of(view, tag).filter(|kind| freezes(*kind)) else {
            continue;
        };
        filled.push((bank, at, tag.pack()));
        for i in at..at + tag.lines {
            thaw_line(view, bank, i, kind.is_time_line(i - at), filled);
        }
    }
}

/// Adds a line's counts since the freeze to the baselines and to the frozen values. So it can be repeated,
/// and the displayed values are the same at any time between.
fn thaw_line(view: View<'_>, bank: usize, at: usize, is_time: bool, filled: &mut Vec<CopiedItem>) {
    let arena = view.arena(bank);
    let frozen = &view.baseline(baseline::FROZEN, bank)[at];
    let (live, then) = (cells(&arena[at]), cells(frozen));
    let sums = match is_time {
        true => 1..=SUM,
        false => 1..=CELLS - 1,
    };
    let summed = sums.chain(is_time.then_some(EXTRA));
    if summed.clone().all(|i| live[i] == then[i]) {
        return;
    }
    let extremes = extremes(view, bank, at);
    for scope in SCOPES {
        let target = &view.baseline(scope, bank)[at];
        let own = base(view, bank, at).filter(|_| scope == baseline::TRUNCATED_THREAD);
        for i in summed.clone() {
            let before = target.get(i).max(own.map_or(0, |base| base[i]));
            // Counts that were hidden then stay hidden.
            let visible = then[i].saturating_sub(before);
            target.set(i, live[i].saturating_sub(visible));
        }
        if is_time {
            target.set(MIN, extremes.0);
            target.set(MAX, extremes.1);
        }
    }
    for i in summed {
        frozen.set(i, live[i]);
    }
    if !is_time {
        return;
    }
    for (block, tag) in blocks_of(arena, live[HISTOGRAM]) {
        filled.push((bank, block, tag));
        let counts = view.block(bank, block).iter();
        for (i, (now, then)) in counts
            .zip(view.baseline_block(baseline::FROZEN, bank, block))
            .enumerate()
        {
            let now = now.load(Ordering::Relaxed);
            let hidden = now.wrapping_sub(then.load(Ordering::Relaxed));
            if hidden == 0 {
                continue;
            }
            for scope in SCOPES {
                let target = &view.baseline_block(scope, bank, block)[i];
                let sum = target.load(Ordering::Relaxed).wrapping_add(hidden);
                target.store(sum, Ordering::Relaxed);
            }
            then.store(now, Ordering::Relaxed);
        }
    }
}
