//! Memory: allocations and frees by class.

use std::alloc::{GlobalAlloc, Layout};

use tare_layout::control::effective;
use tare_layout::line::memory as at;

use crate::Kind;
use crate::class::Class;
use crate::engine::hot::local;
use crate::engine::local::Local;

/// An allocator that counts what another one does.
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
    class: &'static Class,
}

impl<A> Tracked<A> {
    /// Counts what `inner` allocates under `class`.
    pub const fn new(inner: A, class: &'static Class) -> Self {
        Self { inner, class }
    }
}

// SAFETY: every call goes to `inner` unchanged; counting touches the segment only. A thread's first
// event allocates with the system's allocator, never through this one.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Tracked<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of `inner`.
        let place = unsafe { self.inner.alloc(layout) };
        if !place.is_null() {
            allocated(self.class, layout.size());
        }
        place
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.inner.dealloc(place, layout) };
        freed(self.class, layout.size());
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let place = unsafe { self.inner.alloc_zeroed(layout) };
        if !place.is_null() {
            allocated(self.class, layout.size());
        }
        place
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { self.inner.realloc(place, layout, size) };
        if !moved.is_null() {
            freed(self.class, layout.size());
            allocated(self.class, size);
        }
        moved
    }
}

/// Counts an allocation.
#[inline]
pub fn allocated(class: &Class, bytes: usize) {
    let Some((local, number)) = counting(class) else {
        return;
    };
    let Some(line) = local.row(number, 0) else {
        return;
    };
    line.add(at::ALLOC_COUNT, 1);
    line.add(at::ALLOC_BYTES, bytes as u64);
    let count = line
        .get(at::ALLOC_COUNT)
        .wrapping_sub(line.get(at::FREE_COUNT)) as i64;
    let balance = line
        .get(at::ALLOC_BYTES)
        .wrapping_sub(line.get(at::FREE_BYTES)) as i64;
    if count > line.get(at::HIGH_COUNT) as i64 {
        line.set(at::HIGH_COUNT, count as u64);
    }
    if balance > line.get(at::HIGH_BYTES) as i64 {
        line.set(at::HIGH_BYTES, balance as u64);
    }
}

/// Counts a free. The balance is the class's: memory may be freed by another thread.
#[inline]
pub fn freed(class: &Class, bytes: usize) {
    let Some((local, number)) = counting(class) else {
        return;
    };
    let Some(line) = local.row(number, 0) else {
        return;
    };
    line.add(at::FREE_COUNT, 1);
    line.add(at::FREE_BYTES, bytes as u64);
    let count = line
        .get(at::ALLOC_COUNT)
        .wrapping_sub(line.get(at::FREE_COUNT)) as i64;
    let balance = line
        .get(at::ALLOC_BYTES)
        .wrapping_sub(line.get(at::FREE_BYTES)) as i64;
    // Below zero: this thread has freed more than it allocated, which others did for it.
    if (count < 0 || balance < 0)
        && let Some(low) = local.row(number, 1)
    {
        if count < low.get(at::LOW_COUNT) as i64 {
            low.set(at::LOW_COUNT, count as u64);
        }
        if balance < low.get(at::LOW_BYTES) as i64 {
            low.set(at::LOW_BYTES, balance as u64);
        }
    }
}

#[inline(always)]
fn counting<'a>(class: &Class) -> Option<(&'a Local, u16)> {
    let local = local()?;
    let number = local.number(class);
    let counts = local.bits(number) & effective::COUNT != 0 && class.kind() == Kind::Memory;
    counts.then_some((local, number))
}
