//! SQLite's memory: the C library's, counted.
//!
//! A statement allocates and frees hundreds of times. So whether memory is counted is checked only when the
//! statement begins and in the progress handler.

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

// SAFETY: function pointers and a null, which never change.
unsafe impl Sync for Methods {}

thread_local! {
    /// Whether a statement runs whose memory is not counted.
    static UNCOUNTED: Cell<bool> = const { Cell::new(false) };
}

/// The memory counting of a statement that runs on the calling thread.
#[derive(Debug)]
pub struct Statement {
    before: bool,
}

/// Begins a statement: checks whether its memory is counted, as the progress handler does again.
#[inline]
pub fn begin_statement() -> Statement {
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

/// Checks again, while a statement runs, whether its memory is counted.
pub(super) fn update_counting() {
    if UNCOUNTED.get() {
        UNCOUNTED.set(!tare::memory::is_counted(&SQLITE_HEAP));
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
    let usable = unsafe { libc::malloc_usable_size(memory) };
    // A freed block counts with its usable size.
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
    let after = unsafe { libc::malloc_usable_size(moved) };
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
