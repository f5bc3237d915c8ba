//! A thread's rows of instances: each row counts the thread's operations on one mutex or file.

use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::bank::INSTANCE_ENTRIES;
use tare_layout::instance::{Socket, index_of};
use tare_layout::line::{EXTRA, Item, Line, MIN, NO_MIN, Tag};
use tare_layout::shared::Lost;

use super::local::Local;
use super::state::Engine;

impl Local {
    /// Line `i` of an instance's row in this thread's bank; `None` if the index entries for it are in
    /// use.
    #[inline(always)]
    pub fn instance_line(&self, id: u32, i: usize) -> Option<&Line> {
        let at = match self.instance_fast(id) {
            Some(at) => at,
            None => self.instance_slow(id)?,
        };
        Some(self.line(at + i))
    }

    /// The first line of the row, if it is at its first index entry.
    #[inline(always)]
    fn instance_fast(&self, id: u32) -> Option<usize> {
        let bank = self.bank.get();
        let entry = bank.instances[id as usize % INSTANCE_ENTRIES].load(Ordering::Relaxed);
        ((entry >> 32) as u32 == id).then_some(entry as u32 as usize)
    }

    /// The line of such a row that counts operations of line `i`; see [`Local::time_instance`].
    #[inline(always)]
    pub fn instance_line_fast(&self, id: u32, i: usize) -> Option<&Line> {
        let at = self.instance_fast(id)?;
        Some(self.line(at + line_of(id, i)))
    }

    /// The socket with this id, if it is open. As [`Engine::live_socket`], from the local's own data.
    #[inline(always)]
    pub fn socket(&self, id: u32) -> Option<&Socket> {
        let socket = self.sockets.get(index_of(id))?;
        (id != 0 && socket.id.load(Ordering::Acquire) == id).then_some(socket)
    }

    /// Counts a time into the row of an instance. An instance without a line for each operation has a
    /// single line, and the next line belongs to another row.
    #[inline(always)]
    pub fn time_instance(&self, id: u32, i: usize, ticks: u64, extra: u64, weight: u16) {
        let i = line_of(id, i);
        match self.instance_line(id, i) {
            Some(line) => {
                line.time_weighed(ticks, u32::from(weight));
                line.add(EXTRA, extra.wrapping_mul(u64::from(weight)));
            }
            None => self.time_instance_shared(id, i, ticks, extra, weight),
        }
    }

    #[cold]
    fn time_instance_shared(&self, id: u32, i: usize, ticks: u64, extra: u64, weight: u16) {
        match self.engine.shared_line(id, i) {
            Some(line) => line.time_shared(ticks, extra, u32::from(weight)),
            None => self.engine.lose(Lost::InstanceEvents, 1),
        }
    }

    /// The same, if the row exists: for the end of an operation.
    #[inline(always)]
    pub fn existing_instance_line(&self, id: u32) -> Option<&Line> {
        let bank = self.bank.get();
        for probe in 0..INSTANCE_PROBES {
            let entry = bank.instances[probe_place(id, probe)].load(Ordering::Relaxed);
            if (entry >> 32) as u32 == id {
                return Some(self.line(entry as u32 as usize));
            }
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn instance_slow(&self, id: u32) -> Option<usize> {
        let bank = self.own_bank()?;
        let lines = Engine::instance_lines(id);
        let mut free = None;
        for probe in 0..INSTANCE_PROBES {
            let cell = &bank.instances[probe_place(id, probe)];
            let entry = cell.load(Ordering::Relaxed);
            let owner = (entry >> 32) as u32;
            if owner == id {
                return Some(entry as u32 as usize);
            }
            // The row of an ended instance is given to the next one with as many lines.
            let reusable = entry == 0
                || (!self.engine.is_live(owner) && Engine::instance_lines(owner) == lines);
            if reusable && free.is_none() {
                free = Some((cell, entry as u32 as usize));
            }
        }
        let (cell, at) = free?;
        let _creation = self.begin_creation()?;
        self.claim_instance(cell, at, id, lines)
    }

    fn claim_instance(&self, cell: &AtomicU64, at: usize, id: u32, lines: usize) -> Option<usize> {
        let bank = self.bank_number.get();
        let tag = Tag::new(Item::Instance, lines, id);
        let at = match at {
            0 => self.engine.new_item(bank, tag)?,
            at => {
                cell.store(0, Ordering::Relaxed);
                self.engine.reuse_item(bank, at, tag);
                at
            }
        };
        for i in 0..lines {
            self.line(at + i).set(MIN, NO_MIN);
        }
        cell.store(u64::from(id) << 32 | at as u64, Ordering::Release);
        Some(at)
    }
}

/// An instance without a line for each operation has a single one.
#[inline(always)]
fn line_of(id: u32, i: usize) -> usize {
    i.min(Engine::instance_lines(id) - 1)
}

/// Number of index entries in which an id can be.
const INSTANCE_PROBES: usize = 4;

#[inline(always)]
fn probe_place(id: u32, probe: usize) -> usize {
    (id as usize + probe * 17) % INSTANCE_ENTRIES
}
