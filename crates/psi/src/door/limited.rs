//! Memory of servers with a limit per connection (`connection_memory_limit`): the engine that counts memory
//! reports it to the server, which raises the error.
//!
//! Memory is charged to the THD that the thread serves (`set_thread_THD`), or that the server has set since
//! (`set_mem_cnt_THD`), for classes that are limited and counted. A key with its highest bit set marks memory
//! that was charged, as in the server's own engine. The owner is the thread, and only memory that a thread
//! frees itself is credited.

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::OnceLock;

use engine::Kind;

use super::{keys, memory, thread};

/// `bool thd_mem_cnt_alloc(THD*, unsigned long)` and `thd_mem_cnt_free`.
type Count = unsafe extern "C" fn(*mut c_void, usize) -> bool;

/// The server's functions that charge and credit memory.
#[derive(Clone, Copy)]
struct MemoryCounter {
    alloc: Count,
    free: Count,
}

static MEMORY_COUNTER: OnceLock<MemoryCounter> = OnceLock::new();

/// The names of the exported functions that charge and credit memory.
pub const NEEDED: [&str; 2] = ["_Z17thd_mem_cnt_allocP3THDm", "_Z16thd_mem_cnt_freeP3THDm"];

/// Finds the server's functions. Called before any other thread runs.
pub fn find_counter() {
    let [alloc, free] = NEEDED.map(|name| {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: a C string; dlsym only looks up the symbol.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    });
    if alloc.is_null() || free.is_null() {
        return;
    }
    // SAFETY: their mangled names have their arguments' types. Their results are ignored.
    let counter = unsafe {
        MemoryCounter {
            alloc: std::mem::transmute::<*mut c_void, Count>(alloc),
            free: std::mem::transmute::<*mut c_void, Count>(free),
        }
    };
    let _ = MEMORY_COUNTER.set(counter);
}

/// The bit in the key of memory that was charged.
const CHARGED: u32 = 1 << 31;

/// Charges memory of class `key`, whose counted key is `counted`, or 0 if sampling left it out. Returns the
/// key to free it by.
#[inline(always)]
unsafe fn charge(key: u32, counted: u32, bytes: usize, owner: *mut *mut c_void) -> u32 {
    let is_limited =
        || keys::packed(memory::class_key(key)).is_some_and(keys::PackedInstrument::is_limited);
    match counted {
        0 if !engine::memory::is_sampled() || !is_limited() => 0,
        // SAFETY: rule 8 (the arguments are passed on).
        0 => unsafe { charge_left_out(key, bytes, owner) },
        // SAFETY: rule 8 (the arguments are passed on).
        _ if is_limited() => unsafe { charge_limited(counted, bytes, owner) },
        _ => counted,
    }
}

/// Charges memory that sampling left out, if its class is on. Outside a session nothing is charged; to query
/// there whether a class is counted would be counted as a loss.
#[inline(never)]
unsafe fn charge_left_out(key: u32, bytes: usize, owner: *mut *mut c_void) -> u32 {
    let instrument = keys::of_kind(memory::class_key(key), Kind::Memory);
    match instrument.filter(|_| thread::current().is_some()) {
        Some(instrument) if engine::memory::is_counted(instrument.class) => {
            // SAFETY: rule 8 (the arguments are passed on).
            unsafe { charge_limited(memory::uncounted(key), bytes, owner) }
        }
        _ => 0,
    }
}

#[inline(never)]
unsafe fn charge_limited(key: u32, bytes: usize, owner: *mut *mut c_void) -> u32 {
    let Some(thread) = thread::current() else {
        return key;
    };
    if !owner.is_null() {
        // SAFETY: rule 6 (NULL, or writable).
        unsafe { *owner = ptr::from_ref(thread).cast_mut().cast() };
    }
    if let (thd, Some(counter)) = (thread.charged_thd.get(), MEMORY_COUNTER.get())
        && !thd.is_null()
    {
        // SAFETY: the server's own function, with the THD that it named for this thread.
        unsafe { (counter.alloc)(thd, bytes) };
    }
    key | CHARGED
}

/// Credits memory that the calling thread was charged for.
#[inline(always)]
unsafe fn credit(key: u32, bytes: usize, owner: *mut c_void) {
    if key & CHARGED != 0
        && let Some(thread) = thread::current()
        && ptr::from_ref(thread).cast_mut().cast() == owner
        && let (thd, Some(counter)) = (thread.charged_thd.get(), MEMORY_COUNTER.get())
        && !thd.is_null()
    {
        // SAFETY: as in `charge_limited`.
        unsafe { (counter.free)(thd, bytes) };
    }
}

/// Charges the calling thread's memory to `thd` from now on, and returns the THD before it.
pub unsafe extern "C" fn set_mem_cnt_thd(thd: *mut c_void, before: *mut *mut c_void) {
    let place = thread::current().map(|thread| &thread.charged_thd);
    let was = place.map_or(ptr::null_mut(), |place| place.replace(thd));
    // SAFETY: rule 6 (NULL, or writable).
    if let Some(before) = unsafe { before.as_mut() } {
        *before = was;
    }
}

/// Sets the THD that a thread serves, and that its memory is charged to.
pub unsafe extern "C" fn set_thread_thd(thread: *mut c_void, thd: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(thread) = unsafe { thread.cast::<thread::Thread>().as_ref() } {
        thread.charged_thd.set(thd);
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_alloc(key: u32, bytes: usize, owner: *mut *mut c_void) -> u32 {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe {
        let counted = memory::memory_alloc(key & !CHARGED, bytes, owner);
        charge(key, counted, bytes, owner)
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_realloc(
    key: u32,
    before: usize,
    bytes: usize,
    owner: *mut *mut c_void,
) -> u32 {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe {
        if let Some(owner) = owner.as_ref() {
            credit(key, before, *owner);
        }
        let counted = memory::memory_realloc(key & !CHARGED, before, bytes, owner);
        charge(key, counted, bytes, owner)
    }
}

/// Memory moves to another thread: one gives it up, the other claims it.
pub unsafe extern "C" fn memory_claim(
    key: u32,
    bytes: usize,
    owner: *mut *mut c_void,
    claims: bool,
) -> u32 {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe {
        if claims {
            let counted = memory::memory_claim(key & !CHARGED, bytes, owner);
            return charge(key, counted, bytes, owner);
        }
        if let Some(owner) = owner.as_ref() {
            credit(key, bytes, *owner);
        }
        memory::memory_claim(key, bytes, owner)
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_free(key: u32, bytes: usize, owner: *mut c_void) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe {
        memory::memory_free(key & !CHARGED, bytes, owner);
        credit(key, bytes, owner);
    }
}
