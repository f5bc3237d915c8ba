//! Shared code of the engine's tests: one engine at a time, and sums over its segment.
//!
//! The segment is mapped a second time through [`tare::descriptor`], as a reader would; sums are
//! computed here independently, from docs/segment.md, so that a mistake of the reader hides none of the
//! writer.
// Each test binary uses a part of it.
#![allow(dead_code)]

mod work;

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use tare::{Class, Config};
use tare_layout::bank::{baseline, line_of};
use tare_layout::control::setup;
use tare_layout::fine::{FINE_BLOCKS, SEED_LINE, Seeds};
use tare_layout::geometry::LIMITS;
use tare_layout::line::{CONTENDED, COUNT, EXTRA, HISTOGRAM, Line, MAX, MIN, NO_MIN, SUM, TAG};
use tare_layout::shared::{LOSSES, Lost};
use tare_layout::{Geometry, Kind, Limits, View};

#[allow(unused_imports)]
pub use work::{Random, scale};

/// One test at a time: the engine is one for the process.
static EXCLUSIVE: Mutex<()> = Mutex::new(());

/// Tare, running for one test. Stops when dropped.
pub struct Running {
    pub segment: Segment,
    _exclusive: MutexGuard<'static, ()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        tare::stop();
    }
}

impl std::ops::Deref for Running {
    type Target = Segment;
    fn deref(&self) -> &Segment {
        &self.segment
    }
}

pub fn exclusive() -> MutexGuard<'static, ()> {
    EXCLUSIVE.lock().unwrap_or_else(|e| e.into_inner())
}

/// Starts Tare for a test.
pub fn start(config: Config) -> Running {
    let exclusive = exclusive();
    tare::stop();
    tare::start(config).expect("Tare starts");
    Running {
        segment: Segment::of_this_process(),
        _exclusive: exclusive,
    }
}

/// Everything on, with these limits.
pub fn everything(limits: Limits) -> Running {
    start(Config::everything().limits(limits))
}

/// A segment, mapped once more.
pub struct Segment {
    pub view: View<'static>,
    base: *mut libc::c_void,
    bytes: usize,
}

// SAFETY: the mapping is memory that any thread may access through atomics.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: our own mapping; all references end before the test's segment.
        unsafe { libc::munmap(self.base, self.bytes) };
    }
}

/// The sums of a line's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub contended: u64,
    pub sum: u64,
    pub min: Option<u64>,
    pub max: u64,
    pub extra: u64,
    /// Counts of all histogram buckets.
    pub buckets: u64,
}

impl Segment {
    pub fn of_this_process() -> Self {
        let file = tare::descriptor().expect("a segment");
        let map = |bytes: usize| {
            // SAFETY: a new mapping at an address of the kernel's choice.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_NORESERVE,
                    file.as_raw_fd(),
                    0,
                )
            };
            assert_ne!(base, libc::MAP_FAILED);
            base
        };
        let head = map(4096);
        // SAFETY: the header is the first page of a live segment.
        let header = unsafe { &*head.cast::<tare_layout::header::Header>() };
        let values: [u64; LIMITS] =
            std::array::from_fn(|i| header.limits[i].load(Ordering::Relaxed));
        let geometry = Geometry::new(Limits::from_array(values).expect("possible limits"));
        assert_eq!(
            header.total_bytes.load(Ordering::Relaxed),
            geometry.total_bytes as u64
        );
        // SAFETY: mapped above, no longer used.
        unsafe { libc::munmap(head, 4096) };
        let base = map(geometry.total_bytes);
        // SAFETY: the complete mapping, unmapped when the segment is dropped.
        let view = unsafe { View::new(base.cast_const().cast(), geometry) };
        Self {
            view,
            base,
            bytes: geometry.total_bytes,
        }
    }

    pub fn lost(&self, what: Lost) -> u64 {
        self.view.shared().lost[what as usize].load(Ordering::Relaxed)
    }

    /// Every loss that is not zero.
    pub fn losses(&self) -> Vec<(usize, u64)> {
        (0..LOSSES)
            .map(|i| (i, self.view.shared().lost[i].load(Ordering::Relaxed)))
            .filter(|(_, n)| *n != 0)
            .collect()
    }

    pub fn class_number(&self, name: &str) -> Option<usize> {
        let used = self.view.shared().classes_used.0.load(Ordering::Acquire) as usize;
        (1..used).find(|&i| self.view.class(i).name.is(name))
    }

    pub fn number(&self, class: &Class) -> usize {
        self.class_number(class.name())
            .unwrap_or_else(|| panic!("no class {}", class.name()))
    }

    pub fn banks(&self) -> usize {
        self.view.shared().banks_used.0.load(Ordering::Acquire) as usize
    }

    pub fn slots(&self) -> usize {
        self.view.shared().slots_used.0.load(Ordering::Acquire) as usize
    }

    /// Slots of live threads.
    pub fn live(&self) -> Vec<usize> {
        (0..self.slots())
            .filter(|&i| self.view.slot(i).state.load(Ordering::Acquire) == tare_layout::slot::LIVE)
            .collect()
    }

    /// The slot of the thread with this id.
    pub fn slot_of(&self, thread_id: u64) -> usize {
        self.live()
            .into_iter()
            .find(|&i| self.view.slot(i).thread_id.load(Ordering::Relaxed) == thread_id)
            .expect("a live thread")
    }

    /// A class's line `i`, summed over the banks that `of` chooses.
    fn row(&self, class: usize, i: usize, of: impl Fn(usize) -> bool) -> Sum {
        let mut sum = Sum::default();
        let kind = Kind::from_u8(self.view.class(class).kind.load(Ordering::Acquire) as u8);
        let is_time = kind.expect("a class").is_time_line(i);
        for bank in (0..self.banks()).filter(|&b| of(b)) {
            let at = line_of(self.view.class_index(bank)[class].load(Ordering::Acquire));
            if at == 0 {
                continue;
            }
            let line = &self.view.arena(bank)[at + i];
            sum.add_line(line, is_time);
            if is_time {
                sum.add_extremes(&self.view.baseline(baseline::OWNER, bank)[at + i]);
                sum.buckets += self.histogram(bank, line);
            }
        }
        sum
    }

    /// A class's line `i` over all banks.
    pub fn line(&self, class: &Class, i: usize) -> Sum {
        self.row(self.number(class), i, |_| true)
    }

    pub fn total(&self, class: &Class) -> Sum {
        self.line(class, 0)
    }

    /// The same, over the banks of one account.
    /// The count of the thread that has the bank: its class's row less base.
    pub fn own_count(&self, class: &Class, bank: usize) -> u64 {
        let entry = self.view.class_index(bank)[self.number(class)].load(Ordering::Acquire);
        let at = tare_layout::bank::awake_line_of(entry);
        if at == 0 {
            return 0;
        }
        let base = match at < self.view.bank(bank).base_used.load(Ordering::Acquire) as usize {
            true => self.view.baseline(baseline::OWNER, bank)[at].get(COUNT),
            false => 0,
        };
        self.view.arena(bank)[at].get(COUNT) - base
    }

    pub fn total_of_account(&self, class: &Class, account: usize) -> Sum {
        self.row(self.number(class), 0, |bank| {
            self.view.bank(bank).account.load(Ordering::Relaxed) as usize == account + 1
        })
    }

    /// One cell of a class's row over all banks.
    pub fn cell(&self, class: &Class, line: usize, cell: usize) -> u64 {
        let number = self.number(class);
        (0..self.banks())
            .map(|bank| {
                let index = &self.view.class_index(bank)[number];
                match line_of(index.load(Ordering::Acquire)) {
                    0 => 0,
                    at => self.view.arena(bank)[at + line].get(cell),
                }
            })
            .fold(0, u64::wrapping_add)
    }

    fn histogram(&self, bank: usize, line: &Line) -> u64 {
        let blocks = line.get(HISTOGRAM);
        let arena = self.view.arena(bank);
        (0..4)
            .map(|block| (blocks >> (16 * block)) as u16 as usize)
            .filter(|&at| at != 0)
            .flat_map(|at| {
                // 64 counts of 32 bits behind the tag, within five lines.
                (1..=32).map(move |word| arena[at + word / 8].get(word % 8))
            })
            .map(|pair| (pair & 0xffff_ffff) + (pair >> 32))
            .sum()
    }

    /// An instance's counts: the rows of all threads and the shared line. `i` as in its row.
    pub fn instance(&self, id: u32, i: usize) -> Sum {
        let mut sum = Sum::default();
        for (bank, at) in self.instance_rows(id) {
            sum.add_line(&self.view.arena(bank)[at + i], true);
        }
        sum.add_shared(self.shared_line(id, i));
        sum
    }

    fn shared_line(&self, id: u32, i: usize) -> &Line {
        let index = tare_layout::instance::index_of(id);
        if id & tare_layout::instance::FILE != 0 {
            &self.view.file(index).shared[i]
        } else if id & tare_layout::instance::SOCKET != 0 {
            &self.view.socket(index).shared[i]
        } else {
            &self.view.instance(index).shared
        }
    }

    /// Counts in shared lines.
    pub fn instance_shared(&self, id: u32, i: usize) -> u64 {
        self.shared_line(id, i).get(COUNT)
    }

    fn instance_rows(&self, id: u32) -> Vec<(usize, usize)> {
        (0..self.banks())
            .flat_map(|bank| {
                self.view
                    .bank(bank)
                    .instances
                    .iter()
                    .map(move |cell| (bank, cell.load(Ordering::Acquire)))
            })
            .filter(|(_, entry)| (entry >> 32) as u32 == id)
            .map(|(bank, entry)| (bank, entry as u32 as usize))
            .collect()
    }

    /// The holder of an instance: slot and the row's HELD cell.
    pub fn held(&self, id: u32) -> Vec<(usize, u64)> {
        self.instance_rows(id)
            .into_iter()
            .map(|(bank, at)| {
                let slot = self.view.bank(bank).slot.load(Ordering::Relaxed) as usize;
                (slot, self.view.arena(bank)[at].get(HISTOGRAM))
            })
            .filter(|&(slot, held)| slot != 0 && held != 0)
            .map(|(slot, held)| (slot - 1, held))
            .collect()
    }

    /// Ids of the live instances of a class.
    pub fn instances(&self, class: &Class) -> Vec<u32> {
        let number = self.number(class) as u32;
        let used = self.view.shared().instances_used.0.load(Ordering::Acquire) as usize;
        (0..used)
            .map(|i| self.view.instance(i))
            .filter(|i| i.class.load(Ordering::Relaxed) == number)
            .map(|i| i.id.load(Ordering::Acquire))
            .filter(|&id| id != 0)
            .collect()
    }

    /// The id of the file of a class with this name.
    pub fn file(&self, class: &Class, name: &str) -> Option<u32> {
        let number = self.number(class) as u32;
        let used = self.view.shared().files_used.0.load(Ordering::Acquire) as usize;
        (0..used)
            .map(|i| self.view.file(i))
            .filter(|file| file.class.load(Ordering::Relaxed) == number && file.name.is(name))
            .map(|file| file.id.load(Ordering::Acquire))
            .find(|&id| id != 0)
    }

    /// Open sockets of a class, by id.
    pub fn sockets(&self, class: &Class) -> Vec<u32> {
        let number = self.number(class) as u32;
        let used = self.view.shared().sockets_used.0.load(Ordering::Acquire) as usize;
        (0..used)
            .map(|i| self.view.socket(i))
            .filter(|i| i.class.load(Ordering::Relaxed) == number)
            .map(|i| i.id.load(Ordering::Acquire))
            .filter(|&id| id != 0)
            .collect()
    }

    /// Digest rows of the present generation over all banks and the shared lines, with their
    /// histograms. Rows of evicted digests are number 0's.
    pub fn digest(&self, id: u32) -> Sum {
        let generation = self.view.control().digest_generation.load(Ordering::SeqCst);
        let mut sum = Sum::default();
        for bank in 0..self.banks() {
            for cell in &self.view.bank(bank).digests {
                let entry = cell.load(Ordering::Acquire);
                if entry == 0 {
                    continue;
                }
                let at = usize::from(entry as u16);
                let lines = &self.view.arena(bank)[at..at + 4];
                let state = self
                    .view
                    .digest((entry >> 32) as usize)
                    .state
                    .load(Ordering::Acquire);
                let lives = (state >> 32) as u16 == (entry >> 16) as u16
                    && state as u32 == tare_layout::digest::READY as u32;
                let counts_for = if lives { (entry >> 32) as u32 } else { 0 };
                if counts_for == id && lines[1].get(TAG) == u64::from(generation) {
                    sum.add_line(&lines[0], true);
                    sum.buckets += self.fine(bank, lines[0].get(HISTOGRAM));
                    let seeds = Seeds::from_cell(lines[SEED_LINE].get(TAG));
                    sum.buckets += seeds.buckets().count() as u64;
                }
            }
        }
        let row = self.view.digest(id as usize);
        sum.add_shared(&row.shared[0]);
        let shared = self.view.digest_histogram(id as usize).iter();
        sum.buckets += shared.map(|c| c.load(Ordering::Relaxed)).sum::<u64>();
        sum
    }

    /// The values in the blocks of a statement histogram.
    fn fine(&self, bank: usize, blocks: u64) -> u64 {
        (0..FINE_BLOCKS)
            .map(|block| usize::from((blocks >> (16 * block)) as u16))
            .filter(|at| *at != 0)
            .flat_map(|at| self.view.fine_block(bank, at))
            .map(|cell| u64::from(cell.load(Ordering::Relaxed)))
            .sum()
    }

    /// Statements in the histogram of all.
    pub fn statements(&self) -> u64 {
        (0..self.banks())
            .map(|bank| {
                let blocks = self.view.bank(bank).statements.load(Ordering::Acquire);
                self.fine(bank, blocks)
            })
            .sum()
    }

    /// Digests of the present generation: id and normalised text.
    pub fn digests(&self) -> Vec<(u32, String)> {
        let generation = self.view.control().digest_generation.load(Ordering::SeqCst);
        let used = self.view.shared().digests_used.0.load(Ordering::Acquire);
        if (used >> 32) as u32 != generation {
            return Vec::new();
        }
        (1..used as u32)
            .map(|id| {
                let row = self.view.digest(id as usize);
                let mut text = vec![0; row.text_length.load(Ordering::Relaxed) as usize];
                tare_layout::name::load_bytes(self.view.digest_text(id as usize), &mut text);
                (id, String::from_utf8(text).expect("UTF-8"))
            })
            .collect()
    }

    /// UPDATE setup_instruments.
    pub fn set_instrument(&self, class: &Class, enabled: bool, timed: bool) {
        let bits = u8::from(enabled) * setup::ENABLED + u8::from(timed) * setup::TIMED;
        let controls = self.view.controls();
        controls.setup[self.number(class)].store(bits, Ordering::SeqCst);
        self.recompute();
    }

    pub fn recompute(&self) {
        self.view
            .controls()
            .recompute(|i| Kind::from_u8(self.view.class(i).kind.load(Ordering::Acquire) as u8));
    }
}

impl Sum {
    fn add_line(&mut self, line: &Line, is_time: bool) {
        self.count += line.get(COUNT);
        self.contended += line.get(CONTENDED);
        self.sum += line.get(SUM);
        self.extra += line.get(EXTRA);
        if is_time {
            self.add_extremes(line);
        }
    }

    fn add_extremes(&mut self, line: &Line) {
        let (min, max) = (line.get(MIN), line.get(MAX));
        if min != NO_MIN && (min != 0 || max != 0) {
            self.min = Some(self.min.unwrap_or(NO_MIN).min(min));
        }
        self.max = self.max.max(max);
    }

    /// A line that many threads write: its minimum is inverted.
    fn add_shared(&mut self, line: &Line) {
        self.count += line.get(COUNT);
        self.contended += line.get(CONTENDED);
        self.sum += line.get(SUM);
        self.extra += line.get(EXTRA);
        if line.get(MIN) != 0 {
            self.min = Some(self.min.unwrap_or(NO_MIN).min(!line.get(MIN)));
        }
        self.max = self.max.max(line.get(MAX));
    }
}

/// An independent count.
#[derive(Default)]
pub struct Tally(AtomicU64);

impl Tally {
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// In how many of the intervals the exact value is.
#[derive(Default)]
pub struct Coverage {
    inside: usize,
    pub all: usize,
}

impl Coverage {
    pub fn add(&mut self, exact: u64, estimate: u64, error: f64) {
        self.all += 1;
        self.inside += usize::from((estimate as f64 - exact as f64).abs() <= 1.96 * error);
    }

    pub fn percent(&self) -> f64 {
        100.0 * self.inside as f64 / self.all as f64
    }
}
