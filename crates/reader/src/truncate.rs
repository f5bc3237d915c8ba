//! TRUNCATE: a table counts from now on. The writer's rows stay as they are; readers copy them into
//! baselines, which are subtracted from then on.
//!
//! While rows are copied, two banks may be merged and their lines given to other rows. Then a copy may be in
//! the baseline of another row: such baselines are cleared, and all rows are copied again.

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use tare_layout::View;
use tare_layout::account::UNLISTED;
use tare_layout::bank::baseline;
use tare_layout::fine::{ALL, DIGESTS, FINE_BLOCK_LINES, FINE_BLOCKS, SEED_LINE};
use tare_layout::histogram::{BLOCK_LINES, BLOCKS};
use tare_layout::instance::{FILE, SOCKET};
use tare_layout::line::{CELLS, COUNT, HISTOGRAM, Item, Line, MAX, MIN, TAG, Tag};
use tare_layout::object::{self, ObjectType, TableLock};

use crate::attach::Segment;
use crate::error::WriteError;
use crate::freeze::{extremes, freezes, is_frozen, kind_of};
use crate::totals::{Scope, Selection, banks_used, is_logging_in};

/// How long a truncation waits for another to end. One takes milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// How often rows are copied again because banks were merged during the copy. Banks are merged one at a time,
/// when there are as many accounts as banks.
const MAX_COPIES: usize = 64;

impl Segment {
    /// Truncates the tables by event name of a scope, for the selected classes (usually those of one event
    /// type).
    ///
    /// # Errors
    /// [`WriteError`]: the writer has ended, is another user's, or another reader truncates.
    pub fn truncate_classes(&self, scope: Scope, selection: &Selection) -> Result<(), WriteError> {
        self.fill_baseline(scope.baseline(), |tag| {
            tag.item == Item::Class && selection.has(tag.id as usize)
        })?;
        match scope.baseline() {
            baseline::TRUNCATED_GLOBAL => self.truncate_samples(selection),
            _ => Ok(()),
        }
    }

    /// Truncates the tables by instance: all, or only those of files or sockets.
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_instances(&self, which: Instances) -> Result<(), WriteError> {
        self.fill_baseline(baseline::TRUNCATED_GLOBAL, |tag| {
            tag.item == Item::Instance && which.has(tag.id)
        })?;
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        let (shared, limits) = (view.shared(), view.geometry().limits);
        view.control()
            .instances_truncated
            .store(1, Ordering::Release);
        let used = shared.instances_used.0.load(Ordering::Acquire) as usize;
        for i in (0..used.min(limits.instances)).filter(|_| which == Instances::All) {
            let instance = view.instance(i);
            copy_counted(&instance.shared, &instance.truncated);
        }
        let used = shared.files_used.0.load(Ordering::Acquire) as usize;
        for i in (0..used.min(limits.files)).filter(|_| which.has(FILE)) {
            let file = view.file(i);
            for (from, to) in file.shared.iter().zip(&file.truncated) {
                copy_counted(from, to);
            }
        }
        let used = shared.sockets_used.0.load(Ordering::Acquire) as usize;
        for i in (0..used.min(limits.sockets)).filter(|_| which.has(SOCKET)) {
            let socket = view.socket(i);
            for (from, to) in socket.shared.iter().zip(&socket.truncated) {
                copy_counted(from, to);
            }
        }
        Ok(())
    }

    /// Truncates tables by object: those of the parts that `wanted` accepts, by type and part (see
    /// [`tare_layout::object::part`]).
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_objects(
        &self,
        wanted: impl Fn(ObjectType, u8) -> bool,
    ) -> Result<(), WriteError> {
        let view = self.writable()?;
        let limits = view.geometry().limits;
        let kind = |id: u32| {
            let i = object::index_of(id);
            (i < limits.objects)
                .then(|| view.object(i).kind.load(Ordering::Relaxed) as u8)
                .and_then(ObjectType::from_u8)
        };
        self.fill_baseline(baseline::TRUNCATED_GLOBAL, |tag| {
            tag.item == Item::Object && kind(tag.id).is_some_and(|kind| wanted(kind, tag.part))
        })?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        view.control().objects_truncated.store(1, Ordering::Release);
        let shared = view.shared();
        let used = shared.objects_used.0.load(Ordering::Acquire) as usize;
        for i in 0..used.min(limits.objects) {
            let object = view.object(i);
            let Some(kind) = kind(object.id.load(Ordering::Acquire)) else {
                continue;
            };
            for (at, (from, to)) in object.shared.iter().zip(&object.truncated).enumerate() {
                let lock = at.checked_sub(object::IO_LINES).filter(|_| kind.is_table());
                let lock = lock.and_then(|lock| TableLock::from_u8(lock as u8));
                if wanted(kind, lock.map_or(object::part::MAIN, object::part::lock)) {
                    copy_any(from, to);
                }
            }
        }
        let used = shared.indexes_used.0.load(Ordering::Acquire) as usize;
        for i in 0..used.min(limits.indexes) {
            let index = view.table_index(i);
            let number = index.number.load(Ordering::Relaxed) as usize;
            if wanted(ObjectType::Table, object::part::index(number)) {
                for (from, to) in index.shared.iter().zip(&index.truncated) {
                    copy_counted(from, to);
                }
            }
        }
        Ok(())
    }

    /// Truncates the table of prepared statements: it clears their counts, and leaves their rows.
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_prepared(&self) -> Result<(), WriteError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        let used = view.shared().prepared_used.0.load(Ordering::Acquire) as usize;
        for i in 0..used.min(view.geometry().limits.prepared_statements) {
            let entry = view.prepared(i);
            if entry.id.load(Ordering::Acquire) != 0 {
                for (from, to) in entry.rows.iter().zip(&entry.truncated) {
                    copy(from, to);
                }
            }
        }
        Ok(())
    }

    /// Truncates accounts, users or hosts: those without connections disappear, the others count from the
    /// connections that they have. [`Segment::truncate_classes`] truncates the sums of their events.
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_connections(&self, table: ConnectionTable) -> Result<(), WriteError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        let (shared, limits) = (view.shared(), view.geometry().limits);
        let count =
            |used: &AtomicU32, limit: usize| (used.load(Ordering::Acquire) as usize).min(limit);
        match table {
            ConnectionTable::Accounts => {
                for i in 1..count(&shared.accounts_used.0, limits.accounts + UNLISTED) {
                    let account = view.account(i);
                    forget(&account.current, &account.total, &account.forgotten);
                }
            }
            ConnectionTable::Users => {
                for i in 1..count(&shared.users_used.0, limits.users + UNLISTED) {
                    let user = view.user(i);
                    forget(&user.current, &user.total, &user.forgotten);
                }
            }
            ConnectionTable::Hosts => {
                for i in 1..count(&shared.hosts_used.0, limits.hosts + UNLISTED) {
                    let host = view.host(i);
                    forget(&host.current, &host.total, &host.forgotten);
                }
            }
        }
        Ok(())
    }

    /// Truncates the table of digests: a new generation begins.
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_digests(&self) -> Result<(), WriteError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        view.control()
            .digest_generation
            .fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Truncates the histogram of all statements.
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_statement_histogram(&self) -> Result<(), WriteError> {
        self.fill_fine(ALL, |view, bank, filled| {
            let blocks = view.bank(bank).statements.load(Ordering::Acquire);
            fill_fine_blocks(view, bank, blocks, filled);
        })
    }

    /// Truncates only the histograms of digests.
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_digest_histograms(&self) -> Result<(), WriteError> {
        self.fill_fine(DIGESTS, |view, bank, filled| {
            let used = view.bank(bank).used.load(Ordering::Acquire) as usize;
            let arena = view.arena(bank);
            let target = view.baseline(baseline::TRUNCATED_GLOBAL, bank);
            let is_row = |tag: &Tag| tag.item == Item::Digest && tag.lines > SEED_LINE;
            for (at, tag) in items(arena, used).filter(|(_, tag)| is_row(tag)) {
                filled.push((bank, at, tag.pack()));
                target[at + SEED_LINE].set(TAG, arena[at + SEED_LINE].get(TAG));
                fill_fine_blocks(view, bank, arena[at].get(HISTOGRAM), filled);
            }
        })?;
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        for id in 0..crate::digests::used(view) {
            // If nothing was counted, the pages may not be allocated yet.
            if view.digest(id).shared[0].get(COUNT) != 0 {
                let pairs = view.digest_histogram(id).iter();
                for (from, to) in pairs.zip(view.digest_histogram_truncated(id)) {
                    to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
        }
        Ok(())
    }

    /// Fills the baselines of statement histograms.
    fn fill_fine(
        &self,
        which: u32,
        fill: impl Fn(View<'_>, usize, &mut Vec<CopiedItem>),
    ) -> Result<(), WriteError> {
        let flags = &self.writable()?.control().fine_truncated;
        self.fill(baseline::TRUNCATED_GLOBAL, |view, bank, filled| {
            // Only now does the writer maintain the baseline.
            flags.fetch_or(which, Ordering::AcqRel);
            fill(view, bank, filled);
        })
    }

    /// Truncates a table of events: of `ring` (see [`tare_layout::slot::ring`]), `table` (see
    /// [`tare_layout::control::table`]).
    ///
    /// # Errors
    /// As [`Segment::truncate_classes`].
    pub fn truncate_events(&self, ring: usize, table: usize) -> Result<(), WriteError> {
        let view = self.writable()?;
        let number = ring * 3 + table;
        let cleared = view.control().cleared.get(number).ok_or(WriteError::Gone {
            what: "event table",
            number: number as u64,
        })?;
        let now = self.clock().now().ok_or(WriteError::Ended)?;
        cleared.fetch_max(now, Ordering::AcqRel);
        let truncations = view.control().truncations.fetch_add(1, Ordering::AcqRel);
        view.control().cleared_untimed[number].store(truncations + 1, Ordering::Release);
        Ok(())
    }

    fn fill_baseline(
        &self,
        baseline: usize,
        wanted: impl Fn(Tag) -> bool,
    ) -> Result<(), WriteError> {
        self.fill(baseline, |view, bank, filled| {
            fill_bank(view, baseline, bank, &wanted, filled);
        })
    }

    /// Fills a baseline bank by bank, and starts again if two banks were merged during that.
    fn fill(
        &self,
        baseline: usize,
        fill: impl Fn(View<'_>, usize, &mut Vec<CopiedItem>),
    ) -> Result<(), WriteError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        fill_baselines(view, &[baseline], fill);
        Ok(())
    }
}

/// Fills baselines bank by bank, and starts again if two banks were merged during that. The caller holds the lock.
pub(crate) fn fill_baselines(
    view: View<'_>,
    baselines: &[usize],
    fill: impl Fn(View<'_>, usize, &mut Vec<CopiedItem>),
) {
    // First, so that from now on the writer clears the baselines of each row that it creates.
    let bits = baselines
        .iter()
        .fold(0, |bits, baseline| bits | 1 << baseline);
    view.control()
        .baselines_used
        .fetch_or(bits, Ordering::AcqRel);
    let merge_sequence = &view.shared().merge_sequence.0;
    let mut filled = Vec::new();
    for _ in 0..MAX_COPIES {
        let before = merge_sequence.load(Ordering::Acquire);
        for bank in 0..banks_used(view) {
            fill(view, bank, &mut filled);
        }
        fence(Ordering::AcqRel);
        if before.is_multiple_of(2) && merge_sequence.load(Ordering::Relaxed) == before {
            break;
        }
        std::thread::yield_now();
        for (bank, at, tag) in filled.drain(..) {
            for baseline in baselines {
                clear_foreign(view, *baseline, bank, at, tag);
            }
        }
    }
}

/// Which table of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionTable {
    /// accounts
    Accounts,
    /// users
    Users,
    /// hosts
    Hosts,
}

/// Stores the number of connections that have ended as forgotten. A connection that begins meanwhile changes
/// both counts; then they are read again.
fn forget(current: &AtomicU64, total: &AtomicU64, forgotten: &AtomicU64) {
    for _ in 0..MAX_COPIES {
        let before = total.load(Ordering::Acquire);
        let now = current.load(Ordering::Acquire);
        if total.load(Ordering::Acquire) == before {
            forgotten.store(before.saturating_sub(now), Ordering::Release);
            return;
        }
        std::hint::spin_loop();
    }
}

/// Which instances to truncate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instances {
    /// All.
    All,
    /// Files.
    Files,
    /// Sockets.
    Sockets,
}

impl Instances {
    fn has(self, id: u32) -> bool {
        match self {
            Instances::All => true,
            Instances::Files => id & FILE != 0,
            Instances::Sockets => id & (FILE | SOCKET) == SOCKET,
        }
    }
}

/// Bank, first line and tag of an item that was copied.
pub(crate) type CopiedItem = (usize, usize, u64);

pub(crate) fn fill_bank(
    view: View<'_>,
    baseline: usize,
    bank: usize,
    wanted: impl Fn(Tag) -> bool,
    filled: &mut Vec<CopiedItem>,
) {
    let (arena, target) = (view.arena(bank), view.baseline(baseline, bank));
    let used = view.bank(bank).used.load(Ordering::Acquire) as usize;
    let is_summed = !is_logging_in(view, bank);
    for (at, tag) in items(arena, used) {
        if !wanted(tag) || tag.item == Item::Class && !is_summed {
            continue;
        }
        filled.push((bank, at, tag.pack()));
        // While sums by thread are frozen, the frozen values are what the truncation hides.
        let kind = kind_of(view, tag);
        let frozen = (baseline != baseline::TRUNCATED_GLOBAL && baseline != baseline::FROZEN)
            && kind.is_some_and(freezes)
            && is_frozen(view);
        let from = match frozen {
            true => view.baseline(baseline::FROZEN, bank),
            false => arena,
        };
        for i in at..at + tag.lines {
            copy(&from[i], &target[i]);
            // A line has only its present thread's extremes: sums of all threads also have those of earlier
            // threads.
            let of_all = baseline != baseline::TRUNCATED_THREAD && !frozen;
            if of_all && kind.is_some_and(|kind| kind.is_time_line(i - at)) {
                let (min, max) = extremes(view, bank, i);
                target[i].set(MIN, min);
                target[i].set(MAX, max);
            }
        }
        // Lines that count no times have no blocks: that cell may be any number.
        let time_lines = at..at + tag.lines;
        for line in time_lines.filter(|_| tag.item == Item::Class) {
            let blocks = arena[line].get(HISTOGRAM);
            for (at, tag) in blocks_of(arena, blocks) {
                filled.push((bank, at, tag));
                let from = match frozen {
                    true => view.baseline_block(baseline::FROZEN, bank, at),
                    false => view.block(bank, at),
                };
                for (from, to) in from.iter().zip(view.baseline_block(baseline, bank, at)) {
                    to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
        }
    }
}

/// The blocks of a histogram that a line names: first line and tag.
pub(crate) fn blocks_of(arena: &[Line], blocks: u64) -> impl Iterator<Item = (usize, u64)> + '_ {
    (0..BLOCKS).filter_map(move |block| {
        let at = usize::from((blocks >> (16 * block)) as u16);
        if at == 0 || at + BLOCK_LINES > arena.len() {
            return None;
        }
        let tag = arena[at].get(TAG);
        let is_block = Tag::unpack(tag).is_some_and(|tag| tag.item == Item::Histogram);
        is_block.then_some((at, tag))
    })
}

/// Copies the blocks of a statement histogram that a cell names into their baseline.
fn fill_fine_blocks(view: View<'_>, bank: usize, blocks: u64, filled: &mut Vec<CopiedItem>) {
    let baseline = baseline::TRUNCATED_GLOBAL;
    let arena = view.arena(bank);
    for block in 0..FINE_BLOCKS {
        let at = usize::from((blocks >> (16 * block)) as u16);
        if at == 0 || at + FINE_BLOCK_LINES > arena.len() {
            continue;
        }
        let tag = arena[at].get(TAG);
        if Tag::unpack(tag).is_none_or(|tag| tag.item != Item::Fine) {
            continue;
        }
        filled.push((bank, at, tag));
        let from = view.fine_block(bank, at);
        for (from, to) in from
            .iter()
            .zip(view.baseline_fine_block(baseline, bank, at))
        {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

/// Clears the baseline of an item that is no longer there.
fn clear_foreign(view: View<'_>, baseline: usize, bank: usize, at: usize, tag: u64) {
    let (arena, target) = (view.arena(bank), view.baseline(baseline, bank));
    let used = view.bank(bank).used.load(Ordering::Acquire) as usize;
    let blocks = view.bank(bank).blocks.load(Ordering::Acquire) as usize;
    let lines = Tag::unpack(tag).map_or(0, |tag| tag.lines);
    let in_use = at + lines <= used || at >= arena.len().saturating_sub(blocks);
    if in_use && arena[at].get(TAG) == tag {
        return;
    }
    for line in &target[at..at + lines] {
        for i in 0..CELLS {
            line.set(i, 0);
        }
    }
}

/// The items of an arena with their first lines, up to the first line that begins none.
pub(crate) fn items(arena: &[Line], used: usize) -> impl Iterator<Item = (usize, Tag)> + '_ {
    let used = used.min(arena.len());
    let mut at = 1;
    std::iter::from_fn(move || {
        let tag = Tag::unpack(arena.get(at).filter(|_| at < used)?.get(TAG))?;
        let first = at;
        at += tag.lines;
        (at <= used).then_some((first, tag))
    })
}

fn copy(from: &Line, to: &Line) {
    for i in 0..CELLS {
        to.set(i, from.get(i));
    }
}

/// Copies a shared line, unless it counted nothing: its page may not be allocated yet.
fn copy_counted(from: &Line, to: &Line) {
    if from.get(COUNT) != 0 || to.get(COUNT) != 0 {
        copy(from, to);
    }
}

/// As [`copy_counted`], for a line that may not count events.
fn copy_any(from: &Line, to: &Line) {
    if (0..CELLS).any(|i| from.get(i) != 0 || to.get(i) != 0) {
        copy(from, to);
    }
}

/// The lock that lets one reader truncate at a time.
pub(crate) struct TruncationLock<'a>(&'a AtomicU32);

impl<'a> TruncationLock<'a> {
    pub(crate) fn take(cell: &'a AtomicU32) -> Result<Self, WriteError> {
        let own = std::process::id();
        let begin = Instant::now();
        loop {
            let holder = match cell.compare_exchange(0, own, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Ok(TruncationLock(cell)),
                Err(holder) => holder,
            };
            // A reader that died while it held the lock does not block others.
            if holder != own && !Path::new(&format!("/proc/{holder}")).exists() {
                let _ = cell.compare_exchange(holder, 0, Ordering::AcqRel, Ordering::Relaxed);
                continue;
            }
            if begin.elapsed() > LOCK_TIMEOUT {
                return Err(WriteError::Busy { pid: holder });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for TruncationLock<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}
