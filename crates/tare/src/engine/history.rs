//! Copies finished events to a thread's history and to history_long.
//!
//! Each history_long is divided into chunks of [`CHUNK_EVENTS`]. A thread holds one chunk at a time, and no
//! other thread writes it meanwhile.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use tare_layout::geometry::CHUNK_EVENTS;
use tare_layout::primitive::{bump, prefetch};
use tare_layout::slot::{Slot, ring};

use super::state::Engine;

/// Chunks of history_long that a thread tries before it uses its own. Threads that began together, as a
/// server's background threads do, hold adjacent chunks.
const MAX_CHUNKS_TRIED: usize = 256;

/// The positions at which a thread writes its next event of one type. Only the thread uses them, so that
/// finding a position is a load and not a division.
#[derive(Debug, Default)]
pub struct Cursor {
    /// Index of the next event in the thread's history.
    pub place: std::cell::Cell<u32>,
    /// Index of the next event in history_long, and the end of the thread's chunk; equal = no chunk.
    pub long: std::cell::Cell<(u32, u32)>,
}

impl Cursor {
    /// The index for the next event in the thread's history of this length; counts the event as pushed.
    #[inline(always)]
    pub fn next_place(&self, slot: &Slot, ring: usize, length: usize) -> usize {
        let place = self.place.get();
        let next = place + 1;
        self.place
            .set(if next as usize >= length { 0 } else { next });
        bump(&slot.pushed[ring], 1);
        place as usize
    }

    /// The index for the next event in history_long; takes another chunk if the thread's is full.
    #[inline(always)]
    pub fn next_long(&self, engine: &Engine, slot_number: usize, ring: usize) -> usize {
        let (next, end) = self.long.get();
        if next < end {
            self.long.set((next + 1, end));
            return next as usize;
        }
        self.take_chunk(engine, slot_number, ring)
    }

    #[cold]
    fn take_chunk(&self, engine: &Engine, slot_number: usize, ring: usize) -> usize {
        let first = engine.take_chunk(slot_number, ring) * CHUNK_EVENTS;
        let end = first + CHUNK_EVENTS;
        self.long.set((first as u32 + 1, end as u32));
        // The rest of the ring was written since this chunk was, so the chunk has left the caches. Its
        // events are fetched together, so that the thread waits for memory once and not once per event.
        prefetch_events(engine, ring, first..end);
        first
    }
}

/// Prefetches the memory of events of one history_long, without waiting for it.
fn prefetch_events(engine: &Engine, ring: usize, events: Range<usize>) {
    let view = &engine.view;
    match ring {
        ring::WAITS => view.long_waits()[events].iter().for_each(prefetch),
        ring::STAGES => view.long_stages()[events].iter().for_each(prefetch),
        ring::TRANSACTIONS => events.for_each(|event| prefetch(view.long_transaction(event))),
        _ => events.for_each(|event| {
            prefetch(view.long_statement(event));
            view.long_text(event).first().into_iter().for_each(prefetch);
        }),
    }
}

impl Engine {
    /// For each shared chunk of a history_long, 1 if a thread holds it.
    fn holders_of(&self, ring: usize) -> &[AtomicU32] {
        let chunks = self.view.geometry().shared_chunks;
        &self.holders[ring * chunks..][..chunks]
    }

    /// Releases the chunk that this thread has, and takes the next one of the shared ring that no thread
    /// holds, or else the thread's own. Returns the chunk's number.
    fn take_chunk(&self, slot: usize, ring: usize) -> usize {
        self.give_chunk(slot, ring);
        let holders = self.holders_of(ring);
        let tickets = &self.view.shared().tickets[ring].0;
        let ticket = tickets.fetch_add(1, Ordering::Relaxed);
        let mut chunk = (ticket % holders.len() as u64) as usize;
        for skipped in 0..MAX_CHUNKS_TRIED.min(holders.len()) {
            let holder = &holders[chunk];
            if holder.load(Ordering::Relaxed) == 0 && holder.swap(1, Ordering::AcqRel) == 0 {
                if skipped != 0 {
                    tickets.fetch_max(ticket + skipped as u64 + 1, Ordering::Relaxed);
                }
                self.view.slot(slot).chunk[ring].store(chunk as u32 + 1, Ordering::Relaxed);
                return chunk;
            }
            chunk = (chunk + 1) % holders.len();
        }
        let own = holders.len() + slot;
        self.view.slot(slot).chunk[ring].store(own as u32 + 1, Ordering::Relaxed);
        own
    }

    /// Releases the thread's chunk, if it has one.
    pub fn give_chunk(&self, slot: usize, ring: usize) {
        // The chunk's number + 1; 0 = no chunk.
        let cell = &self.view.slot(slot).chunk[ring];
        let held = cell.load(Ordering::Relaxed) as usize;
        if held == 0 {
            return;
        }
        cell.store(0, Ordering::Relaxed);
        // Pairs with the swap in `take_chunk`: the thread that takes the chunk next writes after this one.
        if let Some(holder) = held
            .checked_sub(1)
            .and_then(|chunk| self.holders_of(ring).get(chunk))
        {
            holder.store(0, Ordering::Release);
        }
    }
}
