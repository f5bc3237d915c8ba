//! The segment's table of digests: lookup, creation, eviction of the least recently used digest when
//! all numbers are used, and a sample of each.
//!
//! A lookup takes no lock. New digests are rare, and one thread at a time creates them.

use std::sync::atomic::Ordering;

use tare_layout::bank::DIGEST_ENTRIES;
use tare_layout::digest::{CUT, FILLING, PROBES, READY, SAMPLE_CUT, state};
use tare_layout::line::{COUNT, EXTRA, Line, MAX, MIN, SUM, TAG};
use tare_layout::name::{floor_boundary, store_bytes};
use tare_layout::primitive::AtomicU64;
use tare_layout::shared::Lost;

use super::clock;
use super::counted::StatementCounters;
use super::fine::Place;
use super::state::Engine;
use crate::digest::{self, Digest, Extent, Rules};

/// The digests to evict next are chosen once per this fraction of all, because choosing reads every
/// bank's index.
const EVICTED_FRACTION: usize = 64;

/// A reference to a digest: its number (0 = all else), with the incarnation and generation of the
/// table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestRef {
    /// Number of the digest.
    pub id: u32,
    /// How many digests had the number before.
    pub incarnation: u32,
    /// Generation of the table.
    pub generation: u32,
}

impl DigestRef {
    /// A reference to "all else".
    pub(super) const fn none(generation: u32) -> Self {
        Self {
            id: 0,
            incarnation: 0,
            generation,
        }
    }

    /// As the word of a statement's record.
    pub const fn pack(self) -> u64 {
        state(self.incarnation, self.id as u64)
    }

    /// The entry of its row in a bank's index, without the line.
    pub(super) const fn key(self) -> u64 {
        (self.id as u64) << 32 | (self.incarnation as u16 as u64) << 16
    }
}

/// State of the creation of digests, under the lock that serialises it.
#[derive(Default)]
pub struct Eviction {
    /// Digests to be evicted next, the least recently used last.
    victims: Vec<u32>,
    /// Their generation.
    generation: u32,
    /// How often digests have been evicted, so that those of another process are noticed.
    sequence: u32,
}

/// Sets cells that many threads write to zero, without touching those that are.
fn clear<'a>(cells: impl IntoIterator<Item = &'a AtomicU64>) {
    for cell in cells {
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, Ordering::Relaxed);
        }
    }
}

/// The texts of a new digest.
#[derive(Clone, Copy)]
pub(super) enum DigestText<'t> {
    /// A statement, and the verb in front of it.
    Statement(&'t str, &'t str),
    /// The host's own normalised text, and a statement that has it.
    Shape(&'t str, &'t str),
}

impl DigestText<'_> {
    /// The text of the column DIGEST_TEXT.
    fn normalize(self, rules: Rules, limit: usize) -> (Vec<u8>, Extent) {
        match self {
            Self::Statement(verb, text) => {
                let mut normalized = Vec::with_capacity(limit);
                let statement = digest::with_verb(verb, text);
                let extent =
                    digest::normalize_by(rules, statement.as_bytes(), limit, &mut normalized);
                (normalized, extent)
            }
            Self::Shape(shape, _) => {
                let fitting = floor_boundary(shape, limit);
                let extent = match fitting < shape.len() {
                    true => Extent::Truncated,
                    false => Extent::Complete,
                };
                (shape.as_bytes()[..fitting].to_vec(), extent)
            }
        }
    }

    /// The statement.
    fn sample(&self) -> &str {
        match self {
            Self::Statement(_, text) | Self::Shape(_, text) => text,
        }
    }
}

impl Engine {
    /// Finds or creates a digest in this generation of the table; number 0 if the table is full.
    pub(super) fn find_digest(
        &self,
        generation: u32,
        schema: u32,
        digest: &Digest,
        text: DigestText,
    ) -> DigestRef {
        let words: [u64; 4] = std::array::from_fn(|i| hash_word(digest, i));
        let find = || self.lookup(generation, schema, words);
        if let Ok(digest) = find() {
            return digest;
        }
        let none = DigestRef {
            generation,
            ..DigestRef::default()
        };
        let mut eviction = self.lock(&self.digesting);
        // Entries of a newer generation would look free to an older one.
        if self.digest_generation() != generation {
            return none;
        }
        if let Ok(digest) = find() {
            return digest;
        }
        let Some(id) = self.new_digest(generation, &mut eviction) else {
            return none;
        };
        // After the eviction, which moves other entries.
        let Err(Some(place)) = find() else {
            eviction.victims.push(id);
            return none;
        };
        let incarnation = self.fill_digest(id, generation, schema, words, text);
        self.view.digest_index()[place].store(state(generation, u64::from(id)), Ordering::Release);
        DigestRef {
            id,
            incarnation,
            generation,
        }
    }

    /// The index entry at which a search for this hash begins.
    fn home(&self, hash: u64, schema: u32) -> usize {
        let mixed = hash ^ u64::from(schema).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed as usize & (self.view.digest_index().len() - 1)
    }

    /// A digest, or the free index entry for it.
    fn lookup(
        &self,
        generation: u32,
        schema: u32,
        words: [u64; 4],
    ) -> Result<DigestRef, Option<usize>> {
        let index = self.view.digest_index();
        let home = self.home(words[0], schema);
        for probe in 0..PROBES {
            let place = (home + probe) & (index.len() - 1);
            let entry = index[place].load(Ordering::Acquire);
            if (entry >> 32) as u32 != generation {
                return Err(Some(place));
            }
            let id = entry as u32;
            if id as usize >= self.view.geometry().limits.digests {
                continue;
            }
            let row = self.view.digest(id as usize);
            let before = row.state.load(Ordering::Acquire);
            let same = row.schema.load(Ordering::Relaxed) == schema
                && row
                    .hash
                    .iter()
                    .zip(words)
                    .all(|(cell, word)| cell.load(Ordering::Relaxed) == word);
            std::sync::atomic::fence(Ordering::Acquire);
            let is_unchanged = row.state.load(Ordering::Relaxed) == before;
            if same && is_unchanged && before as u32 == READY as u32 {
                return Ok(DigestRef {
                    id,
                    incarnation: (before >> 32) as u32,
                    generation,
                });
            }
        }
        Err(None)
    }

    /// A free number of this generation: the next one, or that of an evicted digest.
    fn new_digest(&self, generation: u32, eviction: &mut Eviction) -> Option<u32> {
        let sequence = &self.view.shared().digest_sequence.0;
        let sequence = sequence.load(Ordering::Relaxed);
        if (eviction.generation, eviction.sequence) != (generation, sequence) {
            *eviction = Eviction {
                victims: Vec::new(),
                generation,
                sequence,
            };
        }
        let used = &self.view.shared().digests_used.0;
        let now = used.load(Ordering::Relaxed);
        let next = match (now >> 32) as u32 == generation {
            true => now as u32,
            false => {
                // The table was truncated, including "all else".
                self.clear_shared(0);
                used.store(state(generation, 1), Ordering::Release);
                1
            }
        };
        let limit = self.view.geometry().limits.digests;
        if (next as usize) < limit {
            used.store(state(generation, u64::from(next) + 1), Ordering::Release);
            return Some(next);
        }
        // There is only "all else".
        if limit == 1 {
            return None;
        }
        if eviction.victims.is_empty() {
            eviction.victims = self.least_recently_used(generation);
        }
        let victim = eviction.victims.pop()?;
        self.evict(victim, generation);
        eviction.sequence = sequence.wrapping_add(2);
        Some(victim)
    }

    /// Digests are in the index, or do not exist: a new one that is not there is as if it had not been
    /// created, and one in place of an evicted digest enters the index if it is complete.
    pub(super) fn restore_digests(&self) {
        let generation = self.digest_generation();
        let _eviction = self.lock(&self.digesting);
        let used = &self.view.shared().digests_used.0;
        let now = used.load(Ordering::Relaxed);
        if (now >> 32) as u32 != generation {
            return;
        }
        for id in 1..(now as u32).min(self.view.geometry().limits.digests as u32) {
            let row = self.view.digest(id as usize);
            let words = row.hash.each_ref().map(|cell| cell.load(Ordering::Relaxed));
            let schema = row.schema.load(Ordering::Relaxed);
            let place = match self.lookup(generation, schema, words) {
                Ok(digest) if digest.id == id => continue,
                Ok(_) => None,
                Err(place) => place,
            };
            let is_ready = row.state.load(Ordering::Relaxed) as u32 == READY as u32;
            if id == now as u32 - 1 {
                used.store(now - 1, Ordering::Release);
            } else if let Some(place) = place.filter(|_| is_ready) {
                let entry = state(generation, u64::from(id));
                self.view.digest_index()[place].store(entry, Ordering::Release);
            }
        }
    }

    /// The least recently used digests, the oldest last.
    fn least_recently_used(&self, generation: u32) -> Vec<u32> {
        let count = self.view.geometry().limits.digests;
        let mut candidates: Vec<(u64, u32)> = (0..count as u32)
            .map(|id| {
                let row = self.view.digest(id as usize);
                let first = row.first_seen.load(Ordering::Relaxed);
                (first.max(row.shared[0].get(EXTRA)), id)
            })
            .collect();
        let banks = self.view.shared().banks_used.0.load(Ordering::Acquire) as usize;
        for bank in 0..banks.min(
            self.view
                .geometry()
                .region(tare_layout::Region::Banks)
                .count,
        ) {
            let arena = self.view.arena(bank);
            for cell in &self.view.bank(bank).digests[..DIGEST_ENTRIES] {
                let entry = cell.load(Ordering::Acquire);
                let (id, at) = ((entry >> 32) as usize, entry as u16 as usize);
                if entry == 0 || at + 4 > arena.len() {
                    continue;
                }
                let state = self
                    .view
                    .digest(id.min(count - 1))
                    .state
                    .load(Ordering::Relaxed);
                let current = (state >> 32) as u16 == (entry >> 16) as u16
                    && arena[at + 1].get(TAG) == u64::from(generation);
                if let Some(last) = candidates.get_mut(id).filter(|_| current) {
                    last.0 = last.0.max(arena[at].get(EXTRA));
                }
            }
        }
        // Number 0 is "all else".
        candidates.remove(0);
        let part = (candidates.len() / EVICTED_FRACTION).max(1);
        if part < candidates.len() {
            candidates.select_nth_unstable(part);
            candidates.truncate(part);
        }
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        candidates.into_iter().map(|(_, id)| id).collect()
    }

    /// Removes a digest from the table. Its counts go to "all else": here those in shared lines. The
    /// counts in threads' own rows follow from now on, see `digest_row_lives`.
    fn evict(&self, id: u32, generation: u32) {
        let sequence = &self.view.shared().digest_sequence.0;
        let now = sequence.load(Ordering::Relaxed) & !1;
        sequence.store(now.wrapping_add(1), Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::Release);
        let row = self.view.digest(id as usize);
        let incarnation = (row.state.load(Ordering::Relaxed) >> 32) as u32;
        // From here on no lookup finds it, and no row belongs to it.
        row.state.store(
            state(incarnation.wrapping_add(1), FILLING),
            Ordering::Release,
        );
        self.unlist(id, generation);
        if row.shared[0].get(COUNT) != 0 {
            self.move_shared(id);
        }
        self.lose(Lost::DigestsEvicted, 1);
        // Pairs with the reader's second load of the sequence.
        sequence.store(now.wrapping_add(2), Ordering::Release);
    }

    /// Removes a digest from the index, and moves up entries behind it that have been displaced.
    fn unlist(&self, id: u32, generation: u32) {
        let index = self.view.digest_index();
        let mask = index.len() - 1;
        let row = self.view.digest(id as usize);
        let home_of = |id: u32| {
            let row = self.view.digest(id as usize);
            self.home(
                row.hash[0].load(Ordering::Relaxed),
                row.schema.load(Ordering::Relaxed),
            )
        };
        let home = self.home(
            row.hash[0].load(Ordering::Relaxed),
            row.schema.load(Ordering::Relaxed),
        );
        let own = state(generation, u64::from(id));
        let probes = (0..PROBES).map(|probe| (home + probe) & mask);
        let mut free = match { probes }.find(|i| index[*i].load(Ordering::Relaxed) == own) {
            Some(place) => place,
            None => return,
        };
        let mut next = free;
        // No run of entries is longer than the index, which is half empty.
        for _ in 0..index.len() {
            next = (next + 1) & mask;
            let entry = index[next].load(Ordering::Relaxed);
            if (entry >> 32) as u32 != generation {
                break;
            }
            let limit = self.view.geometry().limits.digests;
            let home = home_of((entry as u32).min(limit as u32 - 1));
            // An entry may be anywhere from its home on. Is the free place there?
            let from_home = (next.wrapping_sub(home)) & mask;
            let from_free = (next.wrapping_sub(free)) & mask;
            if from_home >= from_free {
                index[free].store(entry, Ordering::Release);
                free = next;
            }
        }
        index[free].store(0, Ordering::Release);
    }

    /// Moves a digest's shared counts to "all else".
    fn move_shared(&self, id: u32) {
        let (row, rest) = (self.view.digest(id as usize), self.view.digest(0));
        let take =
            |line: usize, cell: usize| row.shared[line].cells[cell].swap(0, Ordering::Relaxed);
        for cell in [COUNT, SUM] {
            rest.shared[0].cells[cell].fetch_add(take(0, cell), Ordering::Relaxed);
        }
        for cell in [MIN, MAX, EXTRA] {
            rest.shared[0].cells[cell].fetch_max(take(0, cell), Ordering::Relaxed);
        }
        for line in 1..4 {
            for cell in 1..8 {
                rest.shared[line].cells[cell].fetch_add(take(line, cell), Ordering::Relaxed);
            }
        }
        let histograms = [
            (
                self.view.digest_histogram(id as usize),
                self.view.digest_histogram(0),
            ),
            (
                self.view.digest_histogram_truncated(id as usize),
                self.view.digest_histogram_truncated(0),
            ),
        ];
        let truncated = self.digest_histograms_truncated();
        for (from, to) in &histograms[..1 + usize::from(truncated)] {
            for (from, to) in from.iter().zip(*to) {
                match from.swap(0, Ordering::Relaxed) {
                    0 => {}
                    n => _ = to.fetch_add(n, Ordering::Relaxed),
                }
            }
        }
    }

    fn digest_histograms_truncated(&self) -> bool {
        self.fine_truncated(tare_layout::fine::DIGESTS)
    }

    /// Sets a digest's shared counts to zero. Its histogram is on pages of its own, which exist only if
    /// something was counted.
    fn clear_shared(&self, id: u32) {
        let row = self.view.digest(id as usize);
        if row.shared[0].get(COUNT) != 0 {
            clear(self.view.digest_histogram(id as usize));
            if self.digest_histograms_truncated() {
                clear(self.view.digest_histogram_truncated(id as usize));
            }
        }
        clear(row.shared.iter().flat_map(|line| &line.cells));
    }

    /// Initialises a number's row for a digest. Returns its incarnation.
    fn fill_digest(
        &self,
        id: u32,
        generation: u32,
        schema: u32,
        hash: [u64; 4],
        text: DigestText,
    ) -> u32 {
        let row = self.view.digest(id as usize);
        let before = row.state.load(Ordering::Relaxed);
        // Eviction has already incremented it.
        let incarnation = match before as u32 == FILLING as u32 {
            true => (before >> 32) as u32,
            false => ((before >> 32) as u32).wrapping_add(1),
        };
        row.state
            .store(state(incarnation, FILLING), Ordering::Release);
        std::sync::atomic::fence(Ordering::Release);
        for (cell, word) in row.hash.iter().zip(hash) {
            cell.store(word, Ordering::Relaxed);
        }
        row.schema.store(schema, Ordering::Relaxed);
        row.generation.store(generation, Ordering::Relaxed);
        let limit = self.view.geometry().limits.digest_text_bytes;
        let (normalized, extent) = text.normalize(self.digest_rules, limit);
        store_bytes(self.view.digest_text(id as usize), &normalized);
        row.text_length
            .store(normalized.len() as u32, Ordering::Relaxed);
        let cut = if extent == Extent::Truncated { CUT } else { 0 };
        row.text_flags.store(cut, Ordering::Relaxed);
        let now = clock::now();
        row.first_seen.store(now, Ordering::Relaxed);
        self.clear_shared(id);
        row.sample_wait.store(0, Ordering::Relaxed);
        self.fill_sample(id, text.sample(), false, now, 0);
        row.state
            .store(state(incarnation, READY), Ordering::Release);
        incarnation
    }

    /// Stores `text` as the digest's sample, unless another thread is doing so.
    fn fill_sample(&self, id: u32, text: &str, cut_before: bool, now: u64, ticks: u64) {
        let row = self.view.digest(id as usize);
        let sequence = row.sample_sequence.load(Ordering::Relaxed);
        if sequence % 2 == 1
            || row
                .sample_sequence
                .compare_exchange(sequence, sequence + 1, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
        {
            return;
        }
        let cut = floor_boundary(text, self.sql_text_bytes);
        store_bytes(
            self.view.digest_sample(id as usize),
            &text.as_bytes()[..cut],
        );
        let flag = if cut_before || cut < text.len() {
            SAMPLE_CUT
        } else {
            0
        };
        row.sample_length
            .store(cut as u32 | flag, Ordering::Relaxed);
        row.sample_end.store(now, Ordering::Relaxed);
        row.sample_wait.store(ticks, Ordering::Relaxed);
        row.sample_sequence
            .store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// Stores a statement as its digest's sample, if it is slower than the sample, or the sample is too
    /// old.
    #[inline]
    pub fn offer_sample(
        &self,
        digest: DigestRef,
        now: u64,
        ticks: u64,
        text: impl FnOnce() -> Option<(String, bool)>,
    ) {
        if digest.id == 0 {
            return;
        }
        let row = self.view.digest(digest.id as usize);
        let age = self
            .view
            .control()
            .digest_sample_age
            .load(Ordering::Relaxed);
        let sampled_at = row.sample_end.load(Ordering::Relaxed);
        let is_old = age != 0 && now.saturating_sub(sampled_at) > age;
        if (ticks > row.sample_wait.load(Ordering::Relaxed) || is_old)
            && row.state.load(Ordering::Relaxed) == state(digest.incarnation, READY)
            && let Some((text, cut)) = text()
        {
            self.fill_sample(digest.id, &text, cut, now, ticks);
        }
    }

    /// Counts a statement into shared lines, because its thread has no row for the digest and cannot
    /// create one.
    #[cold]
    pub(super) fn count_digest_shared(
        &self,
        id: u32,
        time: Option<(u64, Place)>,
        now: u64,
        counted: &StatementCounters,
    ) {
        let row = self.view.digest(id as usize);
        match time {
            Some((ticks, bucket)) => {
                row.shared[0].time_shared(ticks, 0, 1);
                if let Some(cell) = self.view.digest_histogram(id as usize).get(bucket.bucket()) {
                    cell.fetch_add(1, Ordering::Relaxed);
                }
            }
            None => _ = row.shared[0].cells[COUNT].fetch_add(1, Ordering::Relaxed),
        }
        row.shared[0].cells[EXTRA].fetch_max(now, Ordering::Relaxed);
        counted.each(|line, cell, n| {
            row.shared[line].cells[cell].fetch_add(n, Ordering::Relaxed);
        });
    }

    /// Adds a thread's row to the digest's shared lines.
    pub(super) fn add_digest_shared(&self, id: u32, lines: &[Line]) {
        let row = self.view.digest(id as usize);
        for (shared, line) in row.shared.iter().zip(lines).skip(1) {
            for (into, of) in shared.cells.iter().zip(&line.cells).skip(1) {
                into.fetch_add(of.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        for cell in [COUNT, SUM] {
            row.shared[0].cells[cell].fetch_add(lines[0].get(cell), Ordering::Relaxed);
        }
        row.shared[0].cells[EXTRA].fetch_max(lines[0].get(EXTRA), Ordering::Relaxed);
        super::instances::raise_extremes(&row.shared[0], &lines[0]);
    }
}

/// Word `i` of a digest's hash, as the segment stores it.
pub(super) fn hash_word(digest: &Digest, i: usize) -> u64 {
    let hash = digest.hash();
    u64::from_le_bytes(std::array::from_fn(|j| hash[8 * i + j]))
}
