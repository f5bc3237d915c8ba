//! What a thread counts in a cluster that is sampled: into its scratch bank, and at the end, weighted, into its own.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use tare_layout::Kind;
use tare_layout::bank::Bank;
use tare_layout::fine::{FINE_BLOCK_BUCKETS, FINE_BLOCK_LINES};
use tare_layout::histogram::BLOCK_BUCKETS;
use tare_layout::line::{
    CELLS, CONTENDED, COUNT, EXTRA, HISTOGRAM, Item, Line, SUM, Tag, memory as at,
};
use tare_layout::object::{ObjectType, PROGRAM_LINES};
use tare_layout::sampling::{GROUPS, Observed, STATEMENT, STRIPES, WAIT, group_of};

use super::bank::{bucket, items};
use super::fine::{fine_blocks, fine_bucket};
use super::local::Local;
use super::merge::add_cells;
use super::{hot, instances};

/// Where a thread's own bank is.
#[derive(Clone, Copy)]
pub(crate) struct Real {
    index: *const AtomicU16,
    arena: *const Line,
    bank: &'static Bank,
    number: usize,
}

impl Local {
    fn scratch(&self) -> usize {
        self.engine.view.geometry().banks() + self.slot_number()
    }

    /// Makes the scratch bank the thread's; false: it has none of its own, and gets none.
    pub(super) fn use_scratch(&self) -> bool {
        if self.own_bank().is_none() || self.sampler.real.get().is_some() {
            return false;
        }
        // Times that wait for their histograms have rows in the thread's own bank.
        self.count_waiting_histograms();
        let (view, number) = (&self.engine.view, self.scratch());
        let bank = view.bank(number);
        if bank.used.load(Ordering::Relaxed) == 0 {
            bank.used.store(1, Ordering::Relaxed);
        }
        self.sampler.real.set(Some(Real {
            index: self.index.get(),
            arena: self.arena.get(),
            bank: self.bank.get(),
            number: self.bank_number.get(),
        }));
        self.point_to(Real {
            index: view.class_index(number).as_ptr(),
            arena: view.arena(number).as_ptr(),
            bank,
            number,
        });
        true
    }

    /// Makes the thread's own bank its bank again.
    pub(super) fn use_real(&self) {
        self.count_waiting_histograms();
        if let Some(real) = self.sampler.real.take() {
            self.point_to(real);
        }
    }

    fn point_to(&self, place: Real) {
        // A signal handler that comes between would count into a mixture of both.
        let _unbanked = hot::unbanked();
        self.index.set(place.index);
        self.arena.set(place.arena);
        self.bank.set(place.bank);
        self.bank_number.set(place.number);
    }

    /// The row of an instance in the thread's own bank while it counts into another.
    #[cold]
    pub(super) fn real_instance_line(&self, id: u32) -> Option<&Line> {
        let real = self.sampler.real.get()?;
        let mut entries = real.bank.instances.iter();
        let at = entries.find_map(|entry| {
            let entry = entry.load(Ordering::Relaxed);
            ((entry >> 32) as u32 == id).then_some(entry as u32 as usize)
        })?;
        self.engine.view.arena(real.number).get(at)
    }

    /// Counts a time of the scratch bank's row into the histogram of the row in the thread's own.
    #[cold]
    pub(super) fn weighted_histogram(&self, class: u16, line: &Line, number: usize) {
        let (Some(real), Some(_making)) = (self.sampler.real.get(), self.making()) else {
            return;
        };
        let engine = &self.engine;
        let within = |at: usize| {
            let arena = engine.view.arena(self.scratch());
            let row = arena.get(at)?;
            (std::ptr::from_ref(line).addr())
                .checked_sub(std::ptr::from_ref(row).addr())
                .map(|bytes| bytes / size_of::<Line>())
        };
        // SAFETY: a class's number, below the length of the bank's index.
        let entry = unsafe { &*self.index.get().add(usize::from(class)) };
        let i = within(tare_layout::bank::line_of(entry.load(Ordering::Relaxed)));
        // SAFETY: as above.
        let own = unsafe { &*real.index.add(usize::from(class)) }.load(Ordering::Relaxed);
        let own = match tare_layout::bank::awake_line_of(own) {
            0 => engine.awaken(real.number, class),
            at => Some(at),
        };
        let Some(line) = i.zip(own).and_then(|(i, own)| {
            let lines = engine.kind_of(usize::from(class))?.row_lines();
            engine.view.arena(real.number).get(own + i.min(lines - 1))
        }) else {
            return;
        };
        let weight = engine
            .kind_of(usize::from(class))
            .and_then(group_of)
            .map_or(1, |group| self.sampler.weight(group));
        let block = number / BLOCK_BUCKETS;
        if let Some(lines) = engine.block_of(real.number, line, block)
            && add_wraps(bucket(lines, number % BLOCK_BUCKETS), weight)
        {
            engine.spill(class, number);
        }
    }

    /// Adds what the scratch bank holds to the thread's own, which it counts into again, and empties it.
    pub(super) fn fold(&self, weights: &[u32; GROUPS]) {
        let (engine, number) = (&self.engine, self.scratch());
        let mut events = [0; GROUPS];
        engine.take_awake(number, |class, kind, lines| {
            self.fold_class(class, kind, lines, weights, &mut events);
        });
        let bank = engine.view.bank(number);
        self.fold_items(bank, weights);
        if bank.statements.load(Ordering::Relaxed) != 0 {
            engine.merge_fine(self.bank_number.get(), number);
            bank.statements.store(0, Ordering::Relaxed);
        }
        let own = self.bank.get();
        for (into, of) in [
            (&own.cut_texts, &bank.cut_texts),
            (&own.cut_digests, &bank.cut_digests),
            (&own.read_texts, &bank.read_texts),
        ] {
            match of.load(Ordering::Relaxed) {
                0 => {}
                n => {
                    tare_layout::primitive::bump(into, n);
                    of.store(0, Ordering::Relaxed);
                }
            }
        }
        // Its pages stay.
        bank.used.store(1, Ordering::Relaxed);
        // Of a time between statements there is no digest.
        events[STATEMENT] = u64::from(self.statements.get() != 0 && weights[STATEMENT] != 0);
        engine.tally.add(&events, weights);
    }

    /// The same for all but classes.
    fn fold_items(&self, bank: &Bank, weights: &[u32; GROUPS]) {
        let used = bank.used.load(Ordering::Relaxed) as usize;
        if used <= 1 {
            return;
        }
        let arena = self.engine.view.arena(self.scratch());
        for (at, tag) in items(arena, used) {
            let lines = &arena[at..at + tag.lines];
            match tag.item {
                Item::Instance => self.fold_instance(tag.id, lines, u64::from(weights[WAIT])),
                Item::Object => self.fold_object(tag, lines, u64::from(weights[WAIT])),
                Item::Digest => self.fold_digest(tag.id, at, u64::from(weights[STATEMENT])),
                Item::Class | Item::Histogram | Item::Fine => {}
            }
        }
        let places = bank.instances.iter().chain(&bank.digests);
        for cell in places.chain(&bank.objects) {
            cell.store(0, Ordering::Relaxed);
        }
    }

    fn fold_class(
        &self,
        class: u16,
        kind: Kind,
        lines: &[Line],
        weights: &[u32; GROUPS],
        seen: &mut [u64; GROUPS],
    ) {
        let Some(first) = self.row(class, 0) else {
            return;
        };
        // SAFETY: a class's row has as many lines in every bank.
        let own = unsafe { std::slice::from_raw_parts(first, kind.row_lines()) };
        if kind == Kind::Memory {
            return fold_memory(own, lines);
        }
        let (mut events, mut ticks) = (0, 0);
        let group = group_of(kind);
        let weight = group.map_or(1, |group| u64::from(weights[group]));
        for (i, (line, observed)) in own.iter().zip(lines).enumerate() {
            if kind.is_time_line(i) {
                if observed.get(COUNT) == 0 {
                    continue;
                }
                events += observed.get(COUNT);
                ticks += observed.get(SUM);
                scale(observed, weight);
            }
            add_cells(kind, i, line, observed);
        }
        if let Some(group) = group.filter(|_| events != 0) {
            seen[group] += events;
            let stripes = self.engine.view.samples(usize::from(class));
            let observed = Observed {
                events,
                ticks,
                weight,
            };
            observed.add_to(&stripes[self.slot_number() % STRIPES].cells);
        }
    }

    fn fold_instance(&self, id: u32, lines: &[Line], weight: u64) {
        lines.iter().for_each(|line| scale(line, weight));
        for (i, line) in lines.iter().enumerate() {
            match self.instance_line(id, i) {
                Some(own) => {
                    instances::add_line(own, line);
                    // Who holds it: see `sync::instrumented`.
                    if line.get(HISTOGRAM) != 0 {
                        own.set(HISTOGRAM, line.get(HISTOGRAM));
                    }
                }
                None => self.engine.add_instance_shared_line(id, i, line),
            }
        }
    }

    fn fold_object(&self, tag: Tag, lines: &[Line], weight: u64) {
        let is_program = tag.lines == PROGRAM_LINES && self.engine.is_program(tag.id);
        if !is_program {
            lines.iter().for_each(|line| scale(line, weight));
        }
        match self.object_row(tag.id, tag.part, tag.lines) {
            Some(at) => {
                for (i, line) in lines.iter().enumerate() {
                    let own = self.object_line(at + i);
                    if is_program && i > 1 {
                        add_counters(own, line);
                    } else {
                        instances::add_line(own, line);
                    }
                }
            }
            None => self.engine.add_object_shared(tag, lines, None),
        }
    }

    /// A digest of a statement within the sampled one.
    fn fold_digest(&self, id: u32, at: usize, weight: u64) {
        let number = self.scratch();
        let bank = self.engine.view.bank(number);
        let lines = &self.engine.view.arena(number)[at..at + 4];
        let (events, ticks) = (lines[0].get(COUNT), lines[0].get(SUM));
        for cell in [COUNT, SUM] {
            lines[0].set(cell, lines[0].get(cell).wrapping_mul(weight));
        }
        for line in &lines[1..] {
            for cell in 1..CELLS {
                line.set(cell, line.get(cell).wrapping_mul(weight));
            }
        }
        let arena = self.engine.view.arena(number);
        for (_, block) in fine_blocks(lines[0].get(HISTOGRAM)) {
            for i in 0..FINE_BLOCK_BUCKETS {
                let cell = fine_bucket(&arena[block..block + FINE_BLOCK_LINES], i);
                let n = u64::from(cell.load(Ordering::Relaxed)).saturating_mul(weight);
                cell.store(n.min(u64::from(u32::MAX)) as u32, Ordering::Relaxed);
            }
        }
        let entry = bank.digests.iter().find_map(|cell| {
            let entry = cell.load(Ordering::Relaxed);
            let is_it = (entry >> 32) as u32 == id && entry as u16 as usize == at;
            (entry != 0 && is_it).then_some(entry)
        });
        if let Some(entry) = entry {
            self.engine.share_digest_row(number, entry, weight);
            let observed = Observed {
                events,
                ticks,
                weight,
            };
            observed.add_to(&self.engine.view.digest(id as usize).sampled);
        }
    }
}

impl super::state::Engine {
    fn is_program(&self, id: u32) -> bool {
        let kind = self.live_object(id);
        let kind = kind.and_then(|o| ObjectType::from_u8(o.kind.load(Ordering::Relaxed) as u8));
        kind.is_some_and(|kind| !kind.is_table())
    }
}

/// Makes a time line's sums what they stand for.
fn scale(line: &Line, weight: u64) {
    if weight != 1 {
        for cell in [COUNT, CONTENDED, SUM, EXTRA] {
            line.set(cell, line.get(cell).wrapping_mul(weight));
        }
    }
}

fn add_counters(to: &Line, from: &Line) {
    for cell in 1..CELLS {
        to.add(cell, from.get(cell));
    }
}

/// Memory is never left out: marks are what the balance was before, and the cluster's own marks on top.
fn fold_memory(own: &[Line], lines: &[Line]) {
    let balance = |of: usize, from: usize| own[0].get(of).wrapping_sub(own[0].get(from)) as i64;
    let count = balance(at::ALLOC_COUNT, at::FREE_COUNT);
    let bytes = balance(at::ALLOC_BYTES, at::FREE_BYTES);
    for (line, cell, before, is_high) in [
        (0, at::HIGH_COUNT, count, true),
        (0, at::HIGH_BYTES, bytes, true),
        (1, at::LOW_COUNT, count, false),
        (1, at::LOW_BYTES, bytes, false),
    ] {
        let mark = before.saturating_add(lines[line].get(cell) as i64);
        let old = own[line].get(cell) as i64;
        if is_high && mark > old || !is_high && mark < old {
            own[line].set(cell, mark as u64);
        }
    }
    for cell in [
        at::ALLOC_COUNT,
        at::FREE_COUNT,
        at::ALLOC_BYTES,
        at::FREE_BYTES,
    ] {
        own[0].add(cell, lines[0].get(cell));
    }
}

/// Adds to a bucket; whether it wrapped.
pub(super) fn add_wraps(bucket: &AtomicU32, n: u32) -> bool {
    let (sum, wrapped) = bucket.load(Ordering::Relaxed).overflowing_add(n);
    bucket.store(sum, Ordering::Relaxed);
    wrapped
}
