//! Memory: allocations and frees by class.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::Ordering;

use tare_layout::control::effective;
use tare_layout::line::{Line, memory as at};
use tare_layout::sampling::{LARGE, MEMORY};
use tare_layout::shared::Lost;

use crate::class::Class;
use crate::engine::bank::OutsideRow;
use crate::engine::hot::{self, NoLocal, local, local_of_memory, memory_fast};
use crate::engine::local::Local;
use crate::engine::running::{self, NOW};
use crate::engine::state::Engine;
use crate::payload::{IS_COMPILED_IN, Payload};
use tare_layout::Kind;

/// An allocator that counts the allocations of another one.
///
/// ```
/// use std::alloc::System;
/// tare::classes! { static HEAP: Memory = "memory/app/heap"; }
/// #[global_allocator]
/// static ALLOCATOR: tare::memory::Tracked<System> = tare::memory::Tracked::new(System, &HEAP);
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Tracked<A> {
    inner: A,
    class: Payload<&'static Class>,
}

impl<A> Tracked<A> {
    #[inline(always)]
    fn count_allocated(&self, bytes: usize) {
        if let Some(class) = self.class.get() {
            allocated(class, bytes);
        }
    }

    #[inline(always)]
    fn count_freed(&self, bytes: usize) {
        if let Some(class) = self.class.get() {
            freed(class, bytes);
        }
    }

    /// Counts what `inner` allocates under `class`.
    pub const fn new(inner: A, class: &'static Class) -> Self {
        Self {
            inner,
            class: Payload::of(class),
        }
    }
}

// SAFETY: every call goes to `inner` unchanged; counting touches only the segment. A thread's first
// event allocates with the system's allocator, never through this one.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Tracked<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `GlobalAlloc`, which are those of `inner`.
        let place = unsafe { self.inner.alloc(layout) };
        if !place.is_null() {
            self.count_allocated(layout.size());
        }
        place
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.inner.dealloc(place, layout) };
        self.count_freed(layout.size());
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let place = unsafe { self.inner.alloc_zeroed(layout) };
        if !place.is_null() {
            self.count_allocated(layout.size());
        }
        place
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { self.inner.realloc(place, layout, size) };
        if !moved.is_null() {
            self.count_freed(layout.size());
            self.count_allocated(size);
        }
        moved
    }
}

/// Whether the class's memory is counted on the calling thread: for hosts that allocate often, and
/// check once for many allocations. True if Tare does not run, or the thread has no slot: then each
/// call must be made.
#[inline]
pub fn is_counted(class: &Class) -> bool {
    if !IS_COMPILED_IN {
        return false;
    }
    if NOW.memory.load(Ordering::Relaxed) == 0 {
        return NOW.generation.load(Ordering::Relaxed) == 0;
    }
    local().is_none_or(|local| local.bits(local.number(class)) & effective::COUNT != 0)
}

/// An allocation or a free, and the number of blocks that it counts as.
#[derive(Clone, Copy)]
struct Block {
    bytes: u64,
    weight: u64,
}

impl Block {
    #[inline(always)]
    fn one(bytes: usize) -> Self {
        Self::standing_for(bytes, 1)
    }

    #[inline(always)]
    fn standing_for(bytes: usize, weight: u16) -> Self {
        Self {
            bytes: bytes as u64,
            weight: u64::from(weight),
        }
    }

    /// The bytes of all blocks.
    #[inline(always)]
    fn all_bytes(self) -> u64 {
        self.bytes.wrapping_mul(self.weight)
    }
}

/// Counts an allocation. Returns whether it was counted, so that a host can count the frees of counted
/// memory only.
#[inline]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub fn allocated(class: &Class, bytes: usize) -> bool {
    class.kind() == Kind::Memory && count_allocation(class, Block::one(bytes))
}

/// The same by the class's number ([`class_number`](crate::host_lock::class_number)), which must be of
/// a class of memory. Returns the weight with which it was counted; the host stores it with the block
/// and passes it to [`freed_as`]. 0 = it was not counted, and neither is its free. While memory is
/// sampled, one in N allocations below 4 KiB is drawn, and counts as N.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn allocated_as(number: u16, bytes: usize) -> u16 {
    if !IS_COMPILED_IN {
        return 0;
    }
    let n = NOW.weights[MEMORY].load(Ordering::Relaxed);
    if n == 1 || bytes >= LARGE {
        return u16::from(count_allocation(number, Block::one(bytes)));
    }
    match hot::draw_next(n) {
        // N has 16 bits.
        true => count_drawn(number, bytes, n as u16),
        false => 0,
    }
}

/// The same for almost every allocation, in as few instructions as possible: sampling skips it (0), or
/// the calling thread has counted this class before (1). `None`: nothing was done; call
/// [`allocated_as`].
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn try_allocate_fast(number: u16, bytes: usize) -> Option<u16> {
    if !IS_COMPILED_IN {
        return Some(0);
    }
    let n = NOW.weights[MEMORY].load(Ordering::Relaxed);
    if n != 1 && bytes < LARGE {
        return hot::try_skip(n).then_some(0);
    }
    let local = memory_fast().1?;
    if local.bits(number) & effective::COUNT == 0 {
        return Some(0);
    }
    count_allocated(local.existing_row(number)?, || None, Block::one(bytes));
    Some(1)
}

/// Counts the free of an allocation that was counted as one. False: nothing was done; call
/// [`freed_as`].
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn try_free_fast(number: u16, bytes: usize) -> bool {
    let Some(local) = memory_fast().1 else {
        return false;
    };
    if local.bits(number) & effective::COUNT == 0 {
        return true;
    }
    let Some(line) = local.existing_row(number) else {
        return false;
    };
    count_freed(line, || local.existing_line(number, 1), Block::one(bytes));
    true
}

/// Whether memory is sampled. Then another allocation may stand for one for which [`allocated_as`]
/// returned 0.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn is_sampled() -> bool {
    IS_COMPILED_IN && NOW.weights[MEMORY].load(Ordering::Relaxed) != 1
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn count_drawn(number: u16, bytes: usize, n: u16) -> u16 {
    match count_allocation(number, Block::standing_for(bytes, n)) {
        true => n,
        false => 0,
    }
}

/// A class of memory, by reference or by number.
trait Numbered: Copy {
    fn in_thread(self, local: &Local) -> u16;
    fn outside(self, engine: &Engine) -> u16;
}

impl Numbered for &Class {
    #[inline(always)]
    fn in_thread(self, local: &Local) -> u16 {
        local.number(self)
    }

    fn outside(self, engine: &Engine) -> u16 {
        engine.number(self)
    }
}

impl Numbered for u16 {
    #[inline(always)]
    fn in_thread(self, _: &Local) -> u16 {
        self
    }

    fn outside(self, _: &Engine) -> u16 {
        self
    }
}

#[inline(always)]
fn count_allocation(class: impl Numbered, block: Block) -> bool {
    match memory_fast() {
        (0, _) => false,
        (_, Some(local)) => count_allocation_in(local, class.in_thread(local), block),
        (generation, None) => count_allocation_elsewhere(class, generation, block),
    }
}

#[inline(always)]
fn count_allocation_in(local: &Local, number: u16, block: Block) -> bool {
    if local.bits(number) & effective::COUNT == 0 {
        return false;
    }
    let Some(line) = local.row(number, 0) else {
        return false;
    };
    count_allocated(line, || local.row(number, 1), block);
    true
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn count_allocation_elsewhere(class: impl Numbered, generation: u32, block: Block) -> bool {
    if let Some(row) = existing_outside_row(class) {
        if row.is_counted {
            Row::Shared(row.lines).allocated(block);
        }
        return row.is_counted;
    }
    let mut counted = false;
    let away = |engine: &Engine, place| {
        let number = class.outside(engine);
        counted = count_away(engine, place, number, |row| row.allocated(block));
    };
    match local_of_memory(generation, away) {
        Some(local) => count_allocation_in(local, class.in_thread(local), block),
        None => counted,
    }
}

/// The row of a thread that is outside of sessions, if it exists: each connection makes some forty
/// calls before its session and after it.
#[inline(always)]
fn existing_outside_row(class: impl Numbered) -> Option<OutsideRow> {
    let engine = hot::is_outside().then(running::pinned)??;
    engine.existing_outside_row(class.outside(engine))
}

/// Counts a free. Another thread may free the memory: the balance is of the class.
#[inline]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub fn freed(class: &Class, bytes: usize) {
    if class.kind() == Kind::Memory {
        count_free(class, Block::one(bytes));
    }
}

/// The same by the class's number, for an allocation of this `weight`: see [`allocated_as`].
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn freed_as(number: u16, bytes: usize, weight: u16) {
    match weight {
        0 => {}
        1 => count_free(number, Block::one(bytes)),
        _ => free_drawn(number, bytes, weight),
    }
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn free_drawn(number: u16, bytes: usize, weight: u16) {
    count_free(number, Block::standing_for(bytes, weight));
}

#[inline(always)]
fn count_free(class: impl Numbered, block: Block) {
    match memory_fast() {
        (0, _) => {}
        (_, Some(local)) => count_free_in(local, class.in_thread(local), block),
        (generation, None) => count_free_elsewhere(class, generation, block),
    }
}

#[inline(always)]
fn count_free_in(local: &Local, number: u16, block: Block) {
    if local.bits(number) & effective::COUNT != 0
        && let Some(line) = local.row(number, 0)
    {
        count_freed(line, || local.row(number, 1), block);
    }
}

/// A thread frees its last memory, for example its name, after it has left. That is counted in a free
/// bank of its account, or the free would be missing. Frees outside of sessions are counted for no
/// account.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn count_free_elsewhere(class: impl Numbered, generation: u32, block: Block) {
    if let Some(row) = existing_outside_row(class) {
        if row.is_counted {
            Row::Shared(row.lines).freed(block);
        }
        return;
    }
    let away = |engine: &Engine, place| {
        let number = class.outside(engine);
        count_away(engine, place, number, |row| row.freed(block));
    };
    if let Some(local) = local_of_memory(generation, away) {
        count_free_in(local, class.in_thread(local), block);
    }
}

/// A row that does not belong to the calling thread.
enum Row<'a> {
    /// No other thread writes it during the call.
    Lent(&'a [Line]),
    /// Other threads may write it.
    Shared(&'a [Line]),
}

impl Row<'_> {
    #[inline(always)]
    fn allocated(&self, block: Block) {
        match self {
            Self::Lent(row) => count_allocated(&row[0], || Some(&row[1]), block),
            Self::Shared(row) => {
                let add = |line: usize, cell: usize, n| {
                    row[line].cells[cell].fetch_add(n, Ordering::Relaxed);
                };
                add(0, at::ALLOC_COUNT, block.weight);
                add(0, at::ALLOC_BYTES, block.all_bytes());
                if block.weight != 1 {
                    sampled(block)
                        .into_iter()
                        .for_each(|(cell, n)| add(1, cell, n));
                }
                raise(&row[0]);
            }
        }
    }

    #[inline(always)]
    fn freed(&self, block: Block) {
        match self {
            Self::Lent(row) => count_freed(&row[0], || Some(&row[1]), block),
            Self::Shared(row) => {
                row[0].cells[at::FREE_COUNT].fetch_add(block.weight, Ordering::Relaxed);
                row[0].cells[at::FREE_BYTES].fetch_add(block.all_bytes(), Ordering::Relaxed);
                lower(&row[0], || Some(&row[1]));
            }
        }
    }
}

#[inline(always)]
fn count_allocated<'a>(line: &Line, second: impl FnOnce() -> Option<&'a Line>, block: Block) {
    line.add(at::ALLOC_COUNT, block.weight);
    line.add(at::ALLOC_BYTES, block.all_bytes());
    if block.weight != 1
        && let Some(second) = second()
    {
        sampled(block)
            .into_iter()
            .for_each(|(cell, n)| second.add(cell, n));
    }
    raise(line);
}

/// The gains of a row's second line by an allocation that was drawn with the chance 1/n and is counted
/// as n. The variance of a total that includes it is estimated by n (n - 1) for the count (Horvitz and
/// Thompson 1952), and by that times the square of its bytes for the bytes.
#[inline(always)]
fn sampled(block: Block) -> [(usize, u64); 4] {
    let variance = block.weight * (block.weight - 1);
    let units = block.bytes.div_ceil(at::VARIANCE_UNIT);
    [
        (at::SAMPLED, 1),
        (at::WEIGHTED, block.weight),
        (at::COUNT_VARIANCE, variance),
        (at::BYTES_VARIANCE, variance * units * units),
    ]
}

#[inline(always)]
fn count_freed<'a>(line: &Line, low: impl FnOnce() -> Option<&'a Line>, block: Block) {
    line.add(at::FREE_COUNT, block.weight);
    line.add(at::FREE_BYTES, block.all_bytes());
    lower(line, low);
}

/// Raises the high marks. In a shared row a mark that another thread raises now may be lost, until its
/// next allocation.
#[inline(always)]
fn raise(line: &Line) {
    let (count, balance) = balance(line);
    if count > line.get(at::HIGH_COUNT) as i64 {
        line.set(at::HIGH_COUNT, count as u64);
    }
    if balance > line.get(at::HIGH_BYTES) as i64 {
        line.set(at::HIGH_BYTES, balance as u64);
    }
}

/// Lowers the low marks, likewise.
#[inline(always)]
fn lower<'a>(line: &Line, low: impl FnOnce() -> Option<&'a Line>) {
    let (count, balance) = balance(line);
    // Below zero: this thread has freed memory that other threads allocated.
    if (count < 0 || balance < 0)
        && let Some(low) = low()
    {
        if count < low.get(at::LOW_COUNT) as i64 {
            low.set(at::LOW_COUNT, count as u64);
        }
        if balance < low.get(at::LOW_BYTES) as i64 {
            low.set(at::LOW_BYTES, balance as u64);
        }
    }
}

/// Allocations minus frees: their number and bytes.
#[inline(always)]
fn balance(line: &Line) -> (i64, i64) {
    let less = |of, from| line.get(of).wrapping_sub(line.get(from)) as i64;
    (
        less(at::ALLOC_COUNT, at::FREE_COUNT),
        less(at::ALLOC_BYTES, at::FREE_BYTES),
    )
}

#[inline(always)]
fn count_away(engine: &Engine, place: NoLocal, number: u16, count: impl FnOnce(&Row<'_>)) -> bool {
    let flags = &engine.view.controls().effective[usize::from(number)];
    if flags.load(Ordering::Relaxed) & effective::COUNT == 0 {
        return false;
    }
    let counted = match place {
        NoLocal::Outside => engine
            .outside_row(number)
            .map(|row| count(&Row::Shared(row)))
            .is_some(),
        NoLocal::Gone(account) => {
            engine.with_free_row(account, number, |row| count(&Row::Lent(row)))
        }
    };
    if !counted {
        engine.lose(Lost::ThreadEvents, 1);
    }
    counted
}
