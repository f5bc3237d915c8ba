//! Memory.

use crate::class::Class;
use std::alloc::{GlobalAlloc, Layout};

/// An allocator that counts nothing.
#[derive(Debug)]
pub struct Tracked<A>(A);

impl<A> Tracked<A> {
    /// `inner` as it is.
    pub const fn new(inner: A, _: &'static Class) -> Self {
        Self(inner)
    }
}

// SAFETY: every call goes to the inner allocator, unchanged.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Tracked<A> {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `GlobalAlloc`, which are those of the inner allocator.
        unsafe { self.0.alloc(layout) }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.0.dealloc(place, layout) }
    }

    #[inline(always)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        unsafe { self.0.realloc(place, layout, size) }
    }
}

/// False.
#[inline(always)]
pub fn is_counted(_: &Class) -> bool {
    false
}

/// False: nothing is counted.
#[inline(always)]
pub fn allocated(_: &Class, _: usize) -> bool {
    false
}

/// Does nothing.
#[inline(always)]
pub fn freed(_: &Class, _: usize) {}
