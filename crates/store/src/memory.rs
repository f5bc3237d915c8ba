//! SQLite's memory: the C library's, counted.
//!
//! A statement allocates and frees hundreds of times. While nobody counts that, not one of them looks up
//! whether anybody does: the statement has asked, and the progress handler asks again.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::os::raw::{c_int, c_void};

use rusqlite::ffi;

use super::points::SQLITE_HEAP;
use tare_mysql::memory as budget;

/// For SQLITE_CONFIG_MALLOC.
pub fn methods() -> *const ffi::sqlite3_mem_methods {
    static METHODS: Methods = Methods(ffi::sqlite3_mem_methods {
        xMalloc: Some(malloc),
        xFree: Some(free),
        xRealloc: Some(realloc),
        xSize: Some(size),
        xRoundup: Some(roundup),
        xInit: Some(init),
        xShutdown: Some(shutdown),
        pAppData: std::ptr::null_mut(),
    });
    &METHODS.0
}

struct Methods(ffi::sqlite3_mem_methods);

// SAFETY: function pointers and a null; nothing in it is ever changed.
unsafe impl Sync for Methods {}

thread_local! {
    /// A statement runs whose memory is not counted.
    static UNCOUNTED: Cell<bool> = const { Cell::new(false) };
}

/// A statement that runs on the calling thread, as far as its memory is concerned.
#[derive(Debug)]
pub struct Statement {
    before: bool,
}

/// A statement begins: whether its memory is counted is looked up now, and whenever it is asked whether to
/// [stop](super::Control).
#[inline]
pub fn statement() -> Statement {
    Statement {
        before: UNCOUNTED.replace(!tare::memory::is_counted(&SQLITE_HEAP)),
    }
}

impl Drop for Statement {
    #[inline]
    fn drop(&mut self) {
        UNCOUNTED.set(self.before);
    }
}

/// Looks again, while a statement runs, whether its memory is counted.
pub(super) fn look() {
    if UNCOUNTED.get() {
        UNCOUNTED.set(!tare::memory::is_counted(&SQLITE_HEAP));
    }
}

/// From so many bytes on, memory is asked for in large pages.
const LARGE: usize = 8 << 20;

/// Has the kernel give a large block large pages, where it has some. Copying a text of 60 MB takes 12 ms
/// then, and 42 ms where it is 15,000 small ones (AMD EPYC, virtual, 2026-11-25): so long nobody looks
/// whether the statement was killed.
///
/// # Safety
/// The block is there, and has so many bytes.
#[inline]
unsafe fn in_large_pages(memory: *mut u8, bytes: usize) {
    if bytes < LARGE || memory.is_null() {
        return;
    }
    // The smallest page of any processor that this runs on.
    const PAGE: usize = 4096;
    let skipped = memory.align_offset(PAGE);
    // SAFETY: whole pages within the block, by the caller's promise; what they hold stays. That the kernel
    // has no such pages is no error.
    unsafe {
        libc::madvise(
            memory.add(skipped).cast(),
            (bytes - skipped) & !(PAGE - 1),
            libc::MADV_HUGEPAGE,
        );
    }
}

/// A program's allocator that asks for large blocks in large pages, as SQLite's does.
#[derive(Debug)]
pub struct Large<A>(pub A);

// SAFETY: all is done by the allocator within, with the caller's own arguments; advice to the kernel neither
// allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Large<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises; the block is what the allocator has made.
        unsafe {
            let memory = self.0.alloc(layout);
            in_large_pages(memory, layout.size());
            memory
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        unsafe {
            let memory = self.0.alloc_zeroed(layout);
            in_large_pages(memory, layout.size());
            memory
        }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        unsafe {
            let moved = self.0.realloc(memory, layout, bytes);
            in_large_pages(moved, bytes);
            moved
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

#[inline]
fn allocated(bytes: usize) {
    if !UNCOUNTED.get() {
        tare::memory::allocated(&SQLITE_HEAP, bytes);
    }
}

#[inline]
fn freed(bytes: usize) {
    if !UNCOUNTED.get() {
        tare::memory::freed(&SQLITE_HEAP, bytes);
    }
}

unsafe extern "C" fn malloc(bytes: c_int) -> *mut c_void {
    if !budget::take(bytes as usize) {
        return std::ptr::null_mut();
    }
    // SAFETY: malloc takes any size.
    let memory = unsafe { libc::malloc(bytes as usize) };
    if memory.is_null() {
        budget::give(bytes as usize);
        return memory;
    }
    // SAFETY: `memory` was just allocated.
    let usable = unsafe {
        in_large_pages(memory.cast(), bytes as usize);
        libc::malloc_usable_size(memory)
    };
    // What is freed counts with its usable size.
    budget::take(usable - bytes as usize);
    allocated(usable);
    memory
}

unsafe extern "C" fn free(memory: *mut c_void) {
    if !memory.is_null() {
        // SAFETY: SQLite frees what it got from `malloc` or `realloc` above, once.
        unsafe {
            let usable = libc::malloc_usable_size(memory);
            budget::give(usable);
            freed(usable);
            libc::free(memory);
        }
    }
}

unsafe extern "C" fn realloc(memory: *mut c_void, bytes: c_int) -> *mut c_void {
    // SAFETY: as in `free`; SQLite never passes null here.
    let before = unsafe { libc::malloc_usable_size(memory) };
    let more = (bytes as usize).saturating_sub(before);
    if more > 0 && !budget::take(more) {
        return std::ptr::null_mut();
    }
    // SAFETY: as above.
    let moved = unsafe { libc::realloc(memory, bytes as usize) };
    if moved.is_null() {
        budget::give(more);
        return moved;
    }
    // SAFETY: `moved` was just allocated.
    let after = unsafe {
        in_large_pages(moved.cast(), bytes as usize);
        libc::malloc_usable_size(moved)
    };
    match after >= before + more {
        true => _ = budget::take(after - before - more),
        false => budget::give(before + more - after),
    }
    freed(before);
    allocated(after);
    moved
}

unsafe extern "C" fn size(memory: *mut c_void) -> c_int {
    // SAFETY: null, or memory of this allocator.
    unsafe { libc::malloc_usable_size(memory) as c_int }
}

unsafe extern "C" fn roundup(bytes: c_int) -> c_int {
    bytes.saturating_add(7) & !7
}

unsafe extern "C" fn init(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn shutdown(_: *mut c_void) {}
