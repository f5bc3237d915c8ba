//! The numbers of places in the host's source, which stored events contain (`tare_layout::source`).
//!
//! A place is looked up by its word ([`Source`]), which is an address, and meaningless to a reader. The
//! first event that is stored from a place copies file and line into the segment. From then on a lookup
//! in this index takes one multiplication and one comparison.
//!
//! **An address is valid as long as the text there.** The program's own constants exist as long as the
//! process: their word is enough. Any other text may be unloaded, and another library loaded at its
//! address. So that text is compared with the entry at each lookup, and an entry with another text is
//! skipped. Entries never change, so that a lookup takes no lock.

use std::sync::atomic::Ordering;

use tare_layout::event::word;
use tare_layout::seqlock::Record;
use tare_layout::shared::Lost;
use tare_layout::source::{SOURCES, THREAD_BITS};

use super::hot;
use super::local::Local;
use super::source_index::{COMPARED, MAX_USED_ENTRIES, Text, place_of};
use super::state::Engine;
use crate::source::Source;

impl Local {
    /// The number of a place, in the bits of [`THREAD_BITS`] on.
    #[inline(always)]
    pub fn source(&self, source: Source) -> u64 {
        // SAFETY: the first entry of an index that `engine` keeps, or of a static one; `place_of` is
        // below the number of entries of both.
        let entry = unsafe { &*self.sources.add(place_of(source.0)) };
        // Acquire: pairs with the store in `Engine::learn_source`.
        if entry.key.load(Ordering::Acquire) == source.0 {
            let value = entry.value.load(Ordering::Relaxed);
            if value & COMPARED == 0 {
                return value;
            }
        }
        self.source_slow(source)
    }

    /// Sets the place where a running event began.
    #[inline(always)]
    pub fn set_source<const N: usize>(&self, record: &Record<N>, source: Source) {
        let thread = self.slot.thread_id.load(Ordering::Relaxed);
        record.set(word::THREAD, thread | self.source(source));
    }

    #[cold]
    #[inline(never)]
    fn source_slow(&self, source: Source) -> u64 {
        let sources = &self.engine.sources;
        if let Ok(value) = sources.find(source, |_| false) {
            return value;
        }
        let Some(text) = Text::of(source) else {
            return 0;
        };
        let entry = sources.find(source, |value| self.engine.is_source(value, &text));
        let value = entry.ok().or_else(|| {
            // Not in a signal handler that interrupted the creation of another entry.
            let _creation = hot::begin_creation()?;
            self.engine.learn_source(source, &text)
        });
        if value.is_none() {
            self.engine.lose(Lost::Sources, 1);
        }
        value.unwrap_or(0) & !COMPARED
    }
}

impl Engine {
    /// Whether an entry's number has this text.
    fn is_source(&self, value: u64, text: &Text<'_>) -> bool {
        let number = (value >> THREAD_BITS) as usize;
        self.view.source(number).is(&text.file, text.line)
    }

    /// Creates a place's entry, with the number of another entry with the same text if there is one.
    /// Returns its value.
    fn learn_source(&self, source: Source, text: &Text<'_>) -> Option<u64> {
        let numbers = &self.view.shared().sources_used.0;
        let mut used = self.lock(&self.sources.used);
        let free = match (self.sources).find(source, |value| self.is_source(value, text)) {
            Ok(value) => return Some(value),
            Err(free) => free.filter(|_| *used < MAX_USED_ENTRIES)?,
        };
        let used_numbers = numbers.load(Ordering::Relaxed) as usize;
        let same = |i: &usize| self.view.source(*i).is(&text.file, text.line);
        let number = match (1..used_numbers).find(same) {
            _ if source.is_none_of_hosts() => 0,
            Some(number) => number,
            None if used_numbers == SOURCES => return None,
            None => {
                self.view.source(used_numbers).set(&text.file, text.line);
                // Release: a reader that sees the number also sees its text.
                numbers.store(used_numbers as u32 + 1, Ordering::Release);
                used_numbers
            }
        };
        let compared = if text.is_fixed || number == 0 {
            0
        } else {
            COMPARED
        };
        let value = (number as u64) << THREAD_BITS | compared;
        free.value.store(value, Ordering::Relaxed);
        free.key.store(source.0, Ordering::Release);
        *used += 1;
        Some(value)
    }
}
