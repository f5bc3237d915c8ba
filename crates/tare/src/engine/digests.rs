//! Finding a statement's digest: a small cache per thread in front of the segment's table.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use tare_layout::bank::DIGEST_ENTRIES;
use tare_layout::class::{COUNTERS, counter_cell};
use tare_layout::digest::{MAKING, PROBES, READY, state};
use tare_layout::histogram::{BUCKETS, bucket_of};
use tare_layout::line::{COUNT, EXTRA, Item, Line, MIN, NO_MIN, SUM, Tag};
use tare_layout::name::store_bytes;
use tare_layout::primitive::AtomicU64;
use tare_layout::shared::Lost;

use super::local::Local;
use super::{Engine, clock, lock};
use crate::digest::{self, Digest};

/// Texts that a thread remembers, with their digests.
const CACHED: usize = 16;

/// A thread's memory of the texts it ran last, so that a text seen again is not normalised again.
#[derive(Default)]
pub struct DigestCache {
    entries: [CacheEntry; CACHED],
    text: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct CacheEntry {
    /// Hash of the text, and its length; 0 = empty.
    hash: u64,
    length: usize,
    /// Hash of schema and digest id: what the id is good for.
    schema: u32,
    generation: u32,
    id: u32,
}

/// A digest found: its number (0 = all else) in this generation of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Number of the digest.
    pub id: u32,
    /// Generation of the table.
    pub generation: u32,
}

impl Found {
    /// As the word of a statement's record.
    pub const fn pack(self) -> u64 {
        self.id as u64 | (self.generation as u64) << 32
    }
}

impl Local {
    /// The digest of a text run under a schema.
    pub fn digest_of_text(&self, text: &str, schema: u32) -> Found {
        let generation = self.engine.digest_generation();
        let hash = digest::fast_hash(text.as_bytes());
        // SAFETY: the cache is this thread's alone, and nothing below comes back here: neither
        // normalising nor the table records events or calls the host. (A signal handler that runs a
        // statement is beyond what async-signal-safety allows its host.)
        let cache = unsafe { &mut *self.digests.get() };
        let entry = cache.entries[hash as usize % CACHED];
        // The hash reads no more than so much of a text.
        let same = entry.hash == hash
            && entry.length == text.len()
            && text.len() <= digest::FAST_HASH_LIMIT
            && entry.schema == schema
            && entry.generation == generation;
        if same {
            return Found {
                id: entry.id,
                generation,
            };
        }
        let limit = self.engine.view.geometry().limits.digest_text_bytes;
        cache.text.clear();
        cache.text.reserve_exact(limit);
        digest::normalize(text.as_bytes(), limit, &mut cache.text);
        let digest = Digest::of_normalized(&cache.text);
        let id = self.engine.find_digest(generation, schema, &digest, text);
        cache.entries[hash as usize % CACHED] = CacheEntry {
            hash,
            length: text.len(),
            schema,
            generation,
            id,
        };
        Found { id, generation }
    }

    /// The digest that a host computed before.
    pub fn digest_known(&self, digest: &Digest, text: &str, schema: u32) -> Found {
        let generation = self.engine.digest_generation();
        let hash = hash_word(digest, 0);
        // SAFETY: as in `digest_of_text`.
        let cache = unsafe { &mut *self.digests.get() };
        let entry = cache.entries[hash as usize % CACHED];
        // A length that no text has: entries by text and by digest share the cache.
        let same = entry.hash == hash
            && entry.length == usize::MAX
            && entry.schema == schema
            && entry.generation == generation;
        if same {
            return Found {
                id: entry.id,
                generation,
            };
        }
        let id = self.engine.find_digest(generation, schema, digest, text);
        cache.entries[hash as usize % CACHED] = CacheEntry {
            hash,
            length: usize::MAX,
            schema,
            generation,
            id,
        };
        Found { id, generation }
    }

    /// Counts a statement that ended into its digest's row.
    pub fn count_digest(&self, found: Found, ticks: u64, now: u64, counted: &Counted) {
        let generation = self.engine.digest_generation();
        let found = if found.generation == generation {
            found
        } else {
            // The table was truncated while it ran, and its number may be another digest's now.
            Found { id: 0, generation }
        };
        if found.id == 0 {
            self.engine.lose(Lost::Digests, 1);
        }
        match self.digest_line(found) {
            Some(line) => {
                line.set(EXTRA, now);
                self.time_counted(line, ticks, counted);
            }
            None => self
                .engine
                .count_digest_shared(found.id, ticks, now, counted),
        }
    }

    fn time_counted(&self, line: &Line, ticks: u64, counted: &Counted) {
        // Class 0 only names the spill row that 2^32 statements of one bucket would need.
        self.time(0, line, ticks);
        // SAFETY: a digest's item has four lines, made by `claim_digest` below.
        let lines = unsafe { std::slice::from_raw_parts(line, 4) };
        counted.each(|line, cell, n| lines[line].add(cell, n));
    }

    #[inline]
    fn digest_line(&self, found: Found) -> Option<&Line> {
        let key = u64::from(found.id) << 32 | u64::from(found.generation as u16) << 16;
        let cell = &self.bank.get().digests[found.id as usize % DIGEST_ENTRIES];
        let entry = cell.load(Ordering::Relaxed);
        if entry & !0xffff == key && entry != 0 {
            return Some(self.line(entry as u16 as usize));
        }
        self.digest_line_slow(found, key)
    }

    #[cold]
    #[inline(never)]
    fn digest_line_slow(&self, found: Found, key: u64) -> Option<&Line> {
        let mut free = None;
        for probe in 0..DIGEST_ENTRIES {
            let cell = &self.bank.get().digests[(found.id as usize + probe) % DIGEST_ENTRIES];
            let entry = cell.load(Ordering::Relaxed);
            if entry & !0xffff == key && entry != 0 {
                return Some(self.line(entry as u16 as usize));
            }
            let stale = (entry >> 16) as u16 != found.generation as u16;
            if stale && free.is_none() {
                free = Some((cell, entry as u16 as usize));
            }
            if entry == 0 {
                break;
            }
        }
        let (cell, at) = free?;
        self.settle();
        let _making = self.making()?;
        self.claim_digest(cell, at, found, key)
    }

    #[cold]
    fn claim_digest(&self, cell: &AtomicU64, at: usize, found: Found, key: u64) -> Option<&Line> {
        let bank = self.bank_number.get();
        let tag = Tag::new(Item::Digest, 4, found.id);
        let at = match at {
            0 => self.engine.new_item(bank, tag)?,
            at => {
                cell.store(0, Ordering::Relaxed);
                self.engine.reuse_item(bank, at, tag);
                at
            }
        };
        let line = &self.engine.view.arena(bank)[at];
        line.set(MIN, NO_MIN);
        cell.store(key | at as u64, Ordering::Release);
        Some(line)
    }
}

/// Word `i` of a digest's hash, as the segment stores it.
fn hash_word(digest: &Digest, i: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|j| digest.hash[8 * i + j]))
}

/// Makes the counts that threads share zero; pages that were never touched stay so.
fn clear_shared(row: &tare_layout::digest::Digest) {
    let lines = row.shared.iter().flat_map(|line| &line.cells);
    for cell in lines.chain(&row.shared_histogram) {
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, Ordering::Relaxed);
        }
    }
}

/// Line and cell of each counter, so that finding them takes no division.
const CELLS_OF: [(usize, usize); COUNTERS] = {
    let mut all = [(0, 0); COUNTERS];
    let mut i = 0;
    while i < COUNTERS {
        all[i] = counter_cell(i);
        i += 1;
    }
    all
};

/// What a statement counted: the counters, and a bit for each that was set, so that beginning and
/// adding up touch no other.
#[derive(Default)]
pub struct Counted {
    /// By [`tare_layout::class::Counter`]; one that was not touched holds what an older statement left.
    counters: [Cell<u64>; COUNTERS],
    touched: Cell<u32>,
}

impl Counted {
    /// Begins a statement.
    #[inline(always)]
    pub fn clear(&self) {
        self.touched.set(0);
    }

    /// Whether the statement has set a counter.
    #[inline(always)]
    pub fn touched(&self, i: usize) -> bool {
        self.touched.get() & 1 << i != 0
    }

    /// Replaces a counter; its new value.
    #[inline(always)]
    pub fn change(&self, i: usize, new: impl FnOnce(u64) -> u64) -> u64 {
        let touched = self.touched.get();
        let old = if touched & 1 << i != 0 {
            self.counters[i].get()
        } else {
            0
        };
        let new = new(old);
        self.counters[i].set(new);
        self.touched.set(touched | 1 << i);
        new
    }

    /// Calls `add` with line, cell and count of each.
    #[inline(always)]
    pub fn each(&self, mut add: impl FnMut(usize, usize, u64)) {
        let mut left = self.touched.get();
        while left != 0 {
            let i = left.trailing_zeros() as usize % COUNTERS;
            left &= left - 1;
            let (line, cell) = CELLS_OF[i];
            add(line, cell, self.counters[i].get());
        }
    }
}

impl Engine {
    /// The present generation of the digest table.
    fn digest_generation(&self) -> u32 {
        let control = self.view.control();
        control.digest_generation.load(Ordering::Relaxed)
    }

    /// The number of a digest in this generation of the table, 0 when the table is full.
    fn find_digest(&self, generation: u32, schema: u32, digest: &Digest, text: &str) -> u32 {
        let words: [u64; 4] = std::array::from_fn(|i| hash_word(digest, i));
        let index = self.view.digest_index();
        let first = (words[0] ^ u64::from(schema).wrapping_mul(0x9e37_79b9_7f4a_7c15)) as usize;
        let place = |probe: usize| &index[(first + probe) & (index.len() - 1)];
        let is_it = |id: u32| {
            let row = self.view.digest(id as usize);
            row.schema.load(Ordering::Relaxed) == schema
                && row
                    .hash
                    .iter()
                    .zip(words)
                    .all(|(cell, word)| cell.load(Ordering::Relaxed) == word)
        };
        let find = || {
            for probe in 0..PROBES {
                let entry = place(probe).load(Ordering::Acquire);
                if (entry >> 32) as u32 != generation {
                    return Err(Some(probe));
                }
                if (entry as u32 as usize) < self.view.geometry().limits.digests
                    && is_it(entry as u32)
                {
                    return Ok(entry as u32);
                }
            }
            Err(None)
        };
        if let Ok(id) = find() {
            return id;
        }
        // New digests are rare, and one at a time.
        let _one_at_a_time = lock(&self.digesting);
        // What a newer generation has in the table would look free to an older one.
        if self.digest_generation() != generation {
            return 0;
        }
        match find() {
            Ok(id) => id,
            Err(Some(probe)) => match self.new_digest(generation) {
                0 => 0,
                id => {
                    self.fill_digest(id, generation, schema, words, text);
                    place(probe).store(state(generation, u64::from(id)), Ordering::Release);
                    id
                }
            },
            Err(None) => 0,
        }
    }

    /// The next number of this generation; 0 when all are used, or another generation has begun.
    fn new_digest(&self, generation: u32) -> u32 {
        let used = &self.view.shared().digests_used.0;
        let now = used.load(Ordering::Relaxed);
        let next = match (now >> 32) as u32 == generation {
            true => now as u32,
            false => {
                // The table was truncated, "all else" with it.
                clear_shared(self.view.digest(0));
                1
            }
        };
        if next as usize >= self.view.geometry().limits.digests {
            return 0;
        }
        used.store(state(generation, u64::from(next) + 1), Ordering::Release);
        next
    }

    fn fill_digest(&self, id: u32, generation: u32, schema: u32, hash: [u64; 4], text: &str) {
        let row = self.view.digest(id as usize);
        row.state
            .store(state(generation, MAKING), Ordering::Release);
        for (cell, word) in row.hash.iter().zip(hash) {
            cell.store(word, Ordering::Relaxed);
        }
        row.schema.store(schema, Ordering::Relaxed);
        let limit = self.view.geometry().limits.digest_text_bytes;
        let mut normalized = Vec::with_capacity(limit);
        digest::normalize(text.as_bytes(), limit, &mut normalized);
        store_bytes(self.view.digest_text(id as usize), &normalized);
        row.text_length
            .store(normalized.len() as u32, Ordering::Relaxed);
        let now = clock::now();
        row.first_seen.store(now, Ordering::Relaxed);
        clear_shared(row);
        row.sample_wait.store(0, Ordering::Relaxed);
        self.fill_sample(id, text, now, 0);
        row.state.store(state(generation, READY), Ordering::Release);
    }

    /// Makes `text` the digest's sample, unless another thread is doing so.
    fn fill_sample(&self, id: u32, text: &str, now: u64, ticks: u64) {
        let row = self.view.digest(id as usize);
        let turn = row.sample_turn.load(Ordering::Relaxed);
        if turn % 2 == 1
            || row
                .sample_turn
                .compare_exchange(turn, turn + 1, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
        {
            return;
        }
        let cut =
            tare_layout::name::floor_boundary(text, self.view.geometry().limits.digest_text_bytes);
        store_bytes(
            self.view.digest_sample(id as usize),
            &text.as_bytes()[..cut],
        );
        row.sample_length.store(cut as u32, Ordering::Relaxed);
        row.sample_seen.store(now, Ordering::Relaxed);
        row.sample_wait.store(ticks, Ordering::Relaxed);
        row.sample_turn
            .store(turn.wrapping_add(2), Ordering::Release);
    }

    /// Keeps a statement as its digest's sample when it is slower than the sample.
    #[inline]
    pub fn offer_sample(
        &self,
        found: Found,
        now: u64,
        ticks: u64,
        text: impl FnOnce() -> Option<String>,
    ) {
        let row = self.view.digest(found.id as usize);
        // A quarter slower, so that a digest whose times creep up does not write at each of them.
        let known = row.sample_wait.load(Ordering::Relaxed);
        if found.id != 0
            && ticks > known + known / 4
            && let Some(text) = text()
        {
            self.fill_sample(found.id, &text, now, ticks);
        }
    }

    #[cold]
    fn count_digest_shared(&self, id: u32, ticks: u64, now: u64, counted: &Counted) {
        let row = self.view.digest(id as usize);
        row.shared[0].time_shared(ticks, 0);
        row.shared[0].cells[EXTRA].fetch_max(now, Ordering::Relaxed);
        row.shared_histogram[bucket_of(ticks).min(BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
        counted.each(|line, cell, n| {
            row.shared[line].cells[cell].fetch_add(n, Ordering::Relaxed);
        });
    }

    /// Adds a thread's row to the digest's shared lines, when its bank is merged away.
    pub fn add_digest_shared(&self, id: u32, lines: &[Line]) {
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
