//! A thread's rows of tables and programs.

use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::bank::OBJECT_ENTRIES;
use tare_layout::line::{COUNT, Item, Line, MIN, NO_MIN, TAG, Tag};
use tare_layout::object::{PROGRAM_LINES, index_of};
use tare_layout::shared::Lost;

use super::local::Local;

impl Local {
    /// The mask of effective flags for an object.
    #[inline(always)]
    pub fn object_mask(&self, id: u32) -> u8 {
        match self.object_masks.get(index_of(id)) {
            Some(mask) if id != 0 => mask.load(Ordering::Relaxed),
            _ => 0,
        }
    }

    /// A line of such a row.
    pub fn object_line(&self, at: usize) -> &Line {
        self.line(at)
    }

    /// The first line of an object's row with this number of lines in this thread's bank; `None` if the
    /// index entries for it are in use.
    #[inline(always)]
    pub fn object_row(&self, id: u32, part: u8, lines: usize) -> Option<usize> {
        self.object_fast(id, part)
            .or_else(|| self.object_row_slow(id, part, lines))
    }

    /// The same, if the row is at its first index entry.
    #[inline(always)]
    pub fn object_fast(&self, id: u32, part: u8) -> Option<usize> {
        let entry = self.bank.get().objects[place(id, part, 0)].load(Ordering::Relaxed);
        (entry & !0xffff == key(id, part)).then_some(entry as u16 as usize)
    }

    #[cold]
    #[inline(never)]
    fn object_row_slow(&self, id: u32, part: u8, lines: usize) -> Option<usize> {
        let bank = self.own_bank()?;
        let mut free = None;
        for probe in 0..PROBES {
            let cell = &bank.objects[place(id, part, probe)];
            let entry = cell.load(Ordering::Relaxed);
            if entry & !0xffff == key(id, part) {
                return Some(entry as u16 as usize);
            }
            // The row of a dropped object is given to the next one with as many lines.
            let at = entry as u16 as usize;
            let reusable = entry == 0
                || (!self.engine.is_live_object((entry >> 32) as u32)
                    && Tag::unpack(self.line(at).get(TAG)).is_some_and(|tag| tag.lines == lines));
            if reusable && free.is_none() {
                free = Some((cell, at));
            }
        }
        let (cell, at) = free?;
        let _creation = self.begin_creation()?;
        self.claim_object(cell, at, id, part, lines)
    }

    fn claim_object(
        &self,
        cell: &AtomicU64,
        at: usize,
        id: u32,
        part: u8,
        lines: usize,
    ) -> Option<usize> {
        let bank = self.bank_number.get();
        let tag = Tag {
            item: Item::Object,
            lines,
            part,
            id,
        };
        let at = match at {
            0 => self.engine.new_item(bank, tag)?,
            at => {
                cell.store(0, Ordering::Relaxed);
                self.engine.reuse_item(bank, at, tag);
                at
            }
        };
        // A program's row has counters after its two time lines.
        let times = if lines == PROGRAM_LINES { 2 } else { lines };
        for i in 0..times {
            self.line(at + i).set(MIN, NO_MIN);
        }
        cell.store(key(id, part) | at as u64, Ordering::Release);
        Some(at)
    }

    /// Counts `weight` events without a time into the only line of a part's row.
    #[inline]
    pub fn count_object(&self, id: u32, part: u8, timed: bool, weight: u16) {
        match self.object_row(id, part, 1) {
            Some(at) => self.line(at).at_once(timed, u32::from(weight)),
            None => self.time_object_shared(id, part, 0, 1, timed.then_some(0), weight),
        }
    }

    /// Counts `n` events that took `ticks` together, each with this weight, into line `i` of an
    /// object's row with this number of lines.
    #[inline]
    pub fn time_object(
        &self,
        (id, part, lines): (u32, u8, usize),
        i: usize,
        n: u64,
        ticks: Option<u64>,
        weight: u16,
    ) {
        match (self.object_row(id, part, lines), ticks) {
            (Some(at), Some(ticks)) => self.line(at + i).time_many(n, ticks, u32::from(weight)),
            (Some(at), None) => self
                .line(at + i)
                .add(COUNT, n.wrapping_mul(u64::from(weight))),
            (None, ticks) => self.time_object_shared(id, part, i, n, ticks, weight),
        }
    }

    #[cold]
    fn time_object_shared(
        &self,
        id: u32,
        part: u8,
        i: usize,
        n: u64,
        ticks: Option<u64>,
        weight: u16,
    ) {
        let weighed = n.wrapping_mul(u64::from(weight));
        match (self.engine.object_lines(id, part, i), ticks) {
            (Some((line, _)), Some(ticks)) => {
                line.time_many_shared(n, ticks, u32::from(weight));
            }
            (Some((line, _)), None) => {
                line.cells[COUNT].fetch_add(weighed, Ordering::Relaxed);
            }
            (None, _) => self.engine.lose(Lost::InstanceEvents, weighed),
        }
    }
}

/// Number of index entries in which a row can be.
const PROBES: usize = 8;

#[inline(always)]
const fn key(id: u32, part: u8) -> u64 {
    (id as u64) << 32 | (part as u64) << 16
}

#[inline(always)]
const fn place(id: u32, part: u8, probe: usize) -> usize {
    (id as usize * 11 + part as usize * 5 + probe * 17) % OBJECT_ENTRIES
}
