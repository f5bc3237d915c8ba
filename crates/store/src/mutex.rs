//! SQLite's mutexes: Tare's, each under its own name.

use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use lock_api::RawMutex as _;
use rusqlite::ffi;
use tare::sync::RawMutex;

tare::classes! {
    /// Any of SQLite's mutexes that lives with an object.
    static FAST: Mutex = "wait/synch/mutex/sqlite/fast";
    /// A connection's mutex.
    static RECURSIVE: Mutex = "wait/synch/mutex/sqlite/recursive";
    /// SQLite's start and stop, and its global lists.
    static MAIN: Mutex = "wait/synch/mutex/sqlite/main";
    /// The memory allocator.
    static MEM: Mutex = "wait/synch/mutex/sqlite/mem";
    /// The list of shared b-trees.
    static OPEN: Mutex = "wait/synch/mutex/sqlite/open";
    /// The random number generator.
    static PRNG: Mutex = "wait/synch/mutex/sqlite/prng";
    /// The page caches' list of least recently used pages.
    static LRU: Mutex = "wait/synch/mutex/sqlite/lru";
    /// The page cache's memory.
    static PMEM: Mutex = "wait/synch/mutex/sqlite/pmem";
    /// For applications.
    static APP1: Mutex = "wait/synch/mutex/sqlite/app1";
    /// For applications.
    static APP2: Mutex = "wait/synch/mutex/sqlite/app2";
    /// For applications.
    static APP3: Mutex = "wait/synch/mutex/sqlite/app3";
    /// The list of open files.
    static VFS1: Mutex = "wait/synch/mutex/sqlite/vfs1";
    /// For file layers.
    static VFS2: Mutex = "wait/synch/mutex/sqlite/vfs2";
    /// For file layers.
    static VFS3: Mutex = "wait/synch/mutex/sqlite/vfs3";
}

/// What a `sqlite3_mutex*` points to.
#[derive(Debug)]
struct Mutex {
    raw: RawMutex,
    /// The thread that holds it ([`thread_number`]), 0 is none. Only the holder stores its own number.
    owner: AtomicUsize,
    /// How often the holder has entered; only it reads or writes this.
    depth: AtomicU32,
    recursive: bool,
}

impl Mutex {
    const fn new(class: &'static tare::Class, recursive: bool) -> Self {
        Self {
            raw: RawMutex::new(class),
            owner: AtomicUsize::new(0),
            depth: AtomicU32::new(0),
            recursive,
        }
    }
}

/// SQLITE_MUTEX_STATIC_MAIN (2) to SQLITE_MUTEX_STATIC_VFS3 (13).
static STATIC: [Mutex; 12] = [
    Mutex::new(&MAIN, false),
    Mutex::new(&MEM, false),
    Mutex::new(&OPEN, false),
    Mutex::new(&PRNG, false),
    Mutex::new(&LRU, false),
    Mutex::new(&PMEM, false),
    Mutex::new(&APP1, false),
    Mutex::new(&APP2, false),
    Mutex::new(&APP3, false),
    Mutex::new(&VFS1, false),
    Mutex::new(&VFS2, false),
    Mutex::new(&VFS3, false),
];

/// A number of the calling thread that no other living thread has.
fn thread_number() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// For SQLITE_CONFIG_MUTEX.
pub fn methods() -> *const ffi::sqlite3_mutex_methods {
    static METHODS: ffi::sqlite3_mutex_methods = ffi::sqlite3_mutex_methods {
        xMutexInit: Some(init),
        xMutexEnd: Some(init),
        xMutexAlloc: Some(alloc),
        xMutexFree: Some(free),
        xMutexEnter: Some(enter),
        xMutexTry: Some(try_enter),
        xMutexLeave: Some(leave),
        xMutexHeld: Some(held),
        xMutexNotheld: Some(not_held),
    };
    &METHODS
}

unsafe extern "C" fn init() -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn alloc(kind: c_int) -> *mut ffi::sqlite3_mutex {
    let mutex = match kind {
        ffi::SQLITE_MUTEX_FAST => Box::into_raw(Box::new(Mutex::new(&FAST, false))).cast_const(),
        ffi::SQLITE_MUTEX_RECURSIVE => {
            Box::into_raw(Box::new(Mutex::new(&RECURSIVE, true))).cast_const()
        }
        n => match usize::try_from(n - 2).ok().and_then(|i| STATIC.get(i)) {
            Some(mutex) => std::ptr::from_ref(mutex),
            None => std::ptr::null(),
        },
    };
    mutex.cast_mut().cast::<c_void>().cast()
}

unsafe extern "C" fn free(mutex: *mut ffi::sqlite3_mutex) {
    // SAFETY: SQLite frees what `alloc` returned as FAST or RECURSIVE, a box, once; never a static.
    drop(unsafe { Box::from_raw(mutex.cast::<Mutex>()) });
}

/// # Safety
/// `mutex` came from `alloc` and was not freed.
unsafe fn mutex_ref<'a>(mutex: *mut ffi::sqlite3_mutex) -> &'a Mutex {
    // SAFETY: `alloc` returned it and it is not freed (see above); a `Mutex` is only ever shared.
    unsafe { &*mutex.cast::<Mutex>() }
}

fn try_reenter(mutex: &Mutex) -> bool {
    // The owner can only be this thread if this thread has stored it: Relaxed is enough.
    let mine = mutex.recursive && mutex.owner.load(Ordering::Relaxed) == thread_number();
    if mine {
        mutex
            .depth
            .store(mutex.depth.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
    mine
}

fn set_owner(mutex: &Mutex) {
    mutex.owner.store(thread_number(), Ordering::Relaxed);
    mutex.depth.store(1, Ordering::Relaxed);
}

unsafe extern "C" fn enter(mutex: *mut ffi::sqlite3_mutex) {
    // SAFETY: SQLite enters mutexes that it has allocated and not freed.
    let mutex = unsafe { mutex_ref(mutex) };
    if !try_reenter(mutex) {
        mutex.raw.lock();
        set_owner(mutex);
    }
}

unsafe extern "C" fn try_enter(mutex: *mut ffi::sqlite3_mutex) -> c_int {
    // SAFETY: as in `enter`.
    let mutex = unsafe { mutex_ref(mutex) };
    if try_reenter(mutex) {
        return ffi::SQLITE_OK;
    }
    if !mutex.raw.try_lock() {
        return ffi::SQLITE_BUSY;
    }
    set_owner(mutex);
    ffi::SQLITE_OK
}

unsafe extern "C" fn leave(mutex: *mut ffi::sqlite3_mutex) {
    // SAFETY: as in `enter`.
    let mutex = unsafe { mutex_ref(mutex) };
    let depth = mutex.depth.load(Ordering::Relaxed) - 1;
    mutex.depth.store(depth, Ordering::Relaxed);
    if depth == 0 {
        mutex.owner.store(0, Ordering::Relaxed);
        // SAFETY: SQLite unlocks a mutex on the thread that has locked it.
        unsafe { mutex.raw.unlock() };
    }
}

unsafe extern "C" fn held(mutex: *mut ffi::sqlite3_mutex) -> c_int {
    // SAFETY: as in `enter`; SQLite calls it in assertions only.
    c_int::from(
        mutex.is_null()
            || unsafe { mutex_ref(mutex) }.owner.load(Ordering::Relaxed) == thread_number(),
    )
}

unsafe extern "C" fn not_held(mutex: *mut ffi::sqlite3_mutex) -> c_int {
    // SAFETY: as in `held`.
    c_int::from(
        mutex.is_null()
            || unsafe { mutex_ref(mutex) }.owner.load(Ordering::Relaxed) != thread_number(),
    )
}
