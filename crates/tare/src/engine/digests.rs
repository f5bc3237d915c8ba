//! A statement's digest: looked up in a [cache](super::digest_cache) per thread in front of the
//! segment's table, and counted into the thread's own row for it.

use std::sync::atomic::Ordering;

use tare_layout::bank::DIGEST_ENTRIES;
use tare_layout::digest::{READY, state};
use tare_layout::fine::SEED_LINE;
use tare_layout::line::{EXTRA, HISTOGRAM, Item, Line, MIN, NO_MIN, TAG, Tag};
use tare_layout::primitive::bump;
use tare_layout::shared::Lost;

use super::counted::StatementCounters;
use super::digest_cache::Key;
use super::digest_table::{DigestRef, DigestText, hash_word};
use super::fine::Place;
use super::hot::attached;
use super::local::Local;
use super::state::Engine;
use crate::digest::{self, Digest, Extent, Rules};
use crate::payload::IS_COMPILED_IN;

impl Local {
    /// The digest of a text under a schema.
    pub fn digest_of_text(&self, text: &str, schema: u32) -> DigestRef {
        let generation = self.engine.digest_generation();
        // The hash covers at most this part of a text.
        let key = Key::of_text(digest::fast_hash(text.as_bytes()), text.len(), schema);
        self.cached(key, generation, || {
            self.digest_of_new("", text, schema, generation)
        })
    }

    /// The digest of a text with these tokens of the host's parser: looked up by them, if a statement
    /// with the same ones came before. `verb`: the verb in front of the text.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn digest_of_tokens(
        &self,
        tokens: &[u8],
        verb: &str,
        text: &str,
        schema: u32,
    ) -> DigestRef {
        let generation = self.engine.digest_generation();
        let key = Key::of_tokens(digest::fast_hash(tokens), tokens.len(), schema);
        if key.is_none() && verb.is_empty() {
            return self.digest_of_text(digest::first_statement(text), schema);
        }
        self.cached(key, generation, || {
            let text = digest::first_statement(text);
            self.digest_of_new(verb, text, schema, generation)
        })
    }

    /// The digest of a text that is not in the cache.
    #[inline(never)]
    fn digest_of_new(&self, verb: &str, text: &str, schema: u32, generation: u32) -> DigestRef {
        // SAFETY: only this thread uses the cache, and nothing below comes back here: neither
        // normalising nor the table records events or calls the host. (A signal handler that runs a
        // statement is beyond what async-signal-safety allows its host.)
        let cache = unsafe { &mut *self.digests.get() };
        let limit = self.engine.view.geometry().limits.digest_text_bytes;
        let bank = self.own_bank();
        if let Some(bank) = bank {
            bump(&bank.read_texts, 1);
        }
        cache.text.clear();
        cache.text.reserve_exact(limit);
        let statement = digest::with_verb(verb, text);
        let rules = self.engine.digest_rules;
        let extent = digest::normalize_by(rules, statement.as_bytes(), limit, &mut cache.text);
        if let Some(bank) = bank.filter(|_| extent == Extent::Truncated) {
            bump(&bank.cut_digests, 1);
        }
        let digest = Digest::of_normalized(&cache.text);
        self.engine.find_digest(
            generation,
            schema,
            &digest,
            DigestText::Statement(verb, text),
        )
    }

    /// The digest that a host computed earlier.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn digest_of_prepared(
        &self,
        digest: &Digest,
        verb: &str,
        text: &str,
        schema: u32,
    ) -> DigestRef {
        let generation = self.engine.digest_generation();
        let key = Key::of_digest(hash_word(digest, 0), schema);
        self.cached(Some(key), generation, || {
            self.engine.find_digest(
                generation,
                schema,
                digest,
                DigestText::Statement(verb, text),
            )
        })
    }

    /// The digest with this text, which the host normalised; `text`: a statement that has it.
    pub fn digest_of_shape(&self, shape: &str, text: &str, schema: u32) -> DigestRef {
        let generation = self.engine.digest_generation();
        let key = Key::of_tokens(digest::fast_hash(shape.as_bytes()), shape.len(), schema);
        self.cached(key, generation, || {
            let digest = Digest::of_normalized(shape.as_bytes());
            let texts = DigestText::Shape(shape, text);
            self.engine.find_digest(generation, schema, &digest, texts)
        })
    }

    /// The cached digest, if the table still has it; otherwise the result of `find`, which is then
    /// cached.
    #[inline(always)]
    fn cached(
        &self,
        key: Option<Key>,
        generation: u32,
        find: impl FnOnce() -> DigestRef,
    ) -> DigestRef {
        let Some(key) = key else { return find() };
        // SAFETY: as in `digest_of_new`.
        let cached = unsafe { &*self.digests.get() }.get(key);
        let lives = |digest: &DigestRef| {
            digest.generation == generation && self.engine.digest_lives(*digest)
        };
        if let Some(digest) = cached.filter(lives) {
            return digest;
        }
        let digest = find();
        // A full table is looked up again the next time.
        if digest.id != 0 {
            // SAFETY: as above.
            unsafe { &mut *self.digests.get() }.remember(key, digest);
        }
        digest
    }

    /// Counts a finished statement into its digest's row. `time`: its time and the bucket of that, if
    /// the statement was timed.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn count_digest(
        &self,
        digest: DigestRef,
        time: Option<(u64, Place)>,
        now: u64,
        counted: &StatementCounters,
    ) {
        let generation = self.engine.digest_generation();
        if digest.id == 0 {
            self.engine.lose(Lost::Digests, 1);
        }
        // The table was truncated or the digest evicted while the statement ran, so another digest may
        // have its number now.
        let lives = digest.generation == generation && self.engine.digest_lives(digest);
        let digest = if lives {
            digest
        } else {
            DigestRef::none(generation)
        };
        let Some(line) = self.digest_line(digest) else {
            return self
                .engine
                .count_digest_shared(digest.id, time, now, counted);
        };
        line.set(EXTRA, now);
        // SAFETY: a digest's item has four lines, made by `digest_line_slow`.
        let lines = unsafe { std::slice::from_raw_parts(line, 4) };
        match time {
            Some((ticks, bucket)) => {
                line.time(ticks);
                let seeds = Some(&lines[SEED_LINE].cells[TAG]);
                let spill = || self.engine.view.digest_histogram(digest.id as usize);
                self.count_fine(&line.cells[HISTOGRAM], seeds, bucket, spill);
            }
            None => line.count(),
        }
        counted.each(|line, cell, n| lines[line].add(cell, n));
    }

    #[inline]
    fn digest_line(&self, digest: DigestRef) -> Option<&Line> {
        self.digest_line_at(digest, 0)
            .or_else(|| self.digest_line_slow(digest))
    }

    /// The row, if the index entry at this distance from its home names it.
    #[inline(always)]
    fn digest_line_at(&self, digest: DigestRef, probe: usize) -> Option<&Line> {
        let cell = &self.bank.get().digests[(digest.id as usize + probe) % DIGEST_ENTRIES];
        let entry = cell.load(Ordering::Relaxed);
        if entry & !0xffff != digest.key() || entry == 0 {
            return None;
        }
        let at = entry as u16 as usize;
        // Number 0 has no incarnations: the row itself has its generation.
        let current = self.line(at + 1).get(TAG) == u64::from(digest.generation);
        current.then(|| self.line(at))
    }

    #[cold]
    #[inline(never)]
    fn digest_line_slow(&self, digest: DigestRef) -> Option<&Line> {
        let mut probes = 1..DIGEST_ENTRIES;
        if let Some(line) = probes.find_map(|probe| self.digest_line_at(digest, probe)) {
            return Some(line);
        }
        let _creation = self.begin_creation()?;
        let header = self.ensure_bank()?;
        let bank = self.bank_number.get();
        let place = |probe: usize| &header.digests[(digest.id as usize + probe) % DIGEST_ENTRIES];
        let cell = (0..DIGEST_ENTRIES).map(place).find(|cell| {
            let entry = cell.load(Ordering::Relaxed);
            entry == 0 || !self.engine.digest_row_lives(bank, entry)
        })?;
        let tag = Tag::new(Item::Digest, 4, digest.id);
        let at = match cell.load(Ordering::Relaxed) {
            0 => self.engine.new_item(bank, tag)?,
            stale => {
                let at = stale as u16 as usize;
                cell.store(0, Ordering::Relaxed);
                // The counts of an evicted digest go to "all else".
                self.engine.share_digest_row(bank, stale);
                let blocks = self.line(at).get(HISTOGRAM);
                self.engine.clear_fine(bank, blocks);
                self.engine.reuse_item(bank, at, tag);
                self.line(at).set(HISTOGRAM, blocks);
                self.line(at + SEED_LINE).set(TAG, 0);
                at
            }
        };
        let line = self.line(at);
        line.set(MIN, NO_MIN);
        self.line(at + 1).set(TAG, u64::from(digest.generation));
        cell.store(digest.key() | at as u64, Ordering::Release);
        Some(line)
    }
}

impl Digest {
    /// The digest of a statement, in the form of the engine that this thread records for. Counts that a
    /// text was read for it.
    pub fn of(sql: &str) -> Self {
        Self::with_verb("", sql)
    }

    /// The same for an operation on a prepared statement, which has a digest of its own: it begins with
    /// a verb such as `EXECUTE`.
    pub fn with_verb(verb: &str, sql: &str) -> Self {
        if !IS_COMPILED_IN {
            return Self::of_normalized(&[]);
        }
        let local = attached();
        if let Some(bank) = local.and_then(|local| local.own_bank()) {
            bump(&bank.read_texts, 1);
        }
        let rules = local.map_or_else(Rules::default, |local| local.engine.digest_rules);
        let mut text = Vec::with_capacity(digest::MAX_DIGEST_LENGTH);
        let statement = digest::with_verb(verb, sql);
        digest::normalize_by(
            rules,
            statement.as_bytes(),
            digest::MAX_DIGEST_LENGTH,
            &mut text,
        );
        Self::of_normalized(&text)
    }
}

impl Engine {
    /// The present generation of the digest table.
    #[inline]
    pub fn digest_generation(&self) -> u32 {
        let control = self.view.control();
        control.digest_generation.load(Ordering::Relaxed)
    }

    /// Whether a digest's number still belongs to it.
    #[inline]
    fn digest_lives(&self, digest: DigestRef) -> bool {
        let row = self.view.digest(digest.id as usize);
        row.state.load(Ordering::Acquire) == state(digest.incarnation, READY)
    }

    /// Whether a row that a bank's index names belongs to a digest of the present table.
    fn digest_row_lives(&self, bank: usize, entry: u64) -> bool {
        let (id, at) = ((entry >> 32) as usize, entry as u16 as usize);
        let digest = self.view.digest(id);
        let now = digest.state.load(Ordering::Acquire);
        let generation = u64::from(self.digest_generation());
        self.view.arena(bank)[at + 1].get(TAG) == generation
            && now as u32 == READY as u32
            && (now >> 32) as u16 == (entry >> 16) as u16
    }

    /// Adds a row that a bank's index names to shared lines: its digest's, or "all else" if that was
    /// evicted. A row of an older generation is ignored.
    pub fn share_digest_row(&self, bank: usize, entry: u64) {
        let (id, at) = ((entry >> 32) as usize, entry as u16 as usize);
        let lines = &self.view.arena(bank)[at..at + 4];
        if lines[1].get(TAG) != u64::from(self.digest_generation()) {
            return;
        }
        let id = if self.digest_row_lives(bank, entry) {
            id
        } else {
            0
        };
        self.add_digest_shared(id as u32, lines);
        let (shared, truncated) = (
            self.view.digest_histogram(id),
            self.view.digest_histogram_truncated(id),
        );
        self.share_fine(bank, at, shared, truncated);
    }
}
