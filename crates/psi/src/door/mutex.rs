//! Mutexes.
//!
//! What the server keeps for a mutex is one word:
//!
//! | bits 48-63 | bits 0-47 | means |
//! |---|---|---|
//! | number of its class | its address | it has no instance of its own; nothing is allocated |
//! | 0 | address of an [`Object`] | it has one |
//!
//! Whether it is free is seen in its first byte, the lowest of a word: 0 in a free `pthread_mutex_t` of
//! glibc, and in InnoDB's own. (Those of 5.6 have nothing but this byte, and not as the first: their address is
//! that of the byte.) [`super::rwlock::self_check`] makes sure of the former when the library is loaded.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use engine::host_lock::{self, Lock, Taking};
use engine::{Kind, Operation};

use super::keys::{self, Known, NONE};
use super::rwlock::{Word, are_known};
use super::{end, give, lend, quiet, take_back};

/// Addresses of the lower half have no more bits than these.
const ADDRESS_BITS: u32 = 48;

/// A lock with an instance of its own.
#[derive(Debug)]
pub struct Object {
    pub(super) at: *const AtomicU32,
    pub(super) known: &'static Known,
    pub(super) instance: u32,
    /// The class's number.
    pub(super) class: u16,
    /// Whether the instance counts every acquisition.
    pub(super) counts_all: bool,
}

/// Locks of a class that have instances: classes with more (InnoDB's page latches) would fill a table that
/// nobody reads. What has none is counted as lost.
const INSTANCES: u32 = 256;

/// Whether instances count every acquisition: option `lock_instances=every`.
static COUNTS_ALL: AtomicBool = AtomicBool::new(false);

/// Instances count every acquisition from here on, and show who holds their locks. Before any thread runs.
pub fn count_all_of_instances() {
    COUNTS_ALL.store(true, Ordering::Relaxed);
}

/// What the server keeps for a lock.
pub(super) fn new_lock(known: &'static Known, identity: *const c_void) -> *mut c_void {
    let number = known.instances.fetch_add(1, Ordering::Relaxed);
    let wants_one = number < INSTANCES;
    let at = identity.wrapping_byte_add(known.word.offset());
    let address = at.addr();
    if !wants_one && address >> ADDRESS_BITS == 0 && known.number != 0 {
        known.instances.fetch_sub(1, Ordering::Relaxed);
        host_lock::instance_lost(known.number);
        return std::ptr::without_provenance_mut(
            usize::from(known.number) << ADDRESS_BITS | address,
        );
    }
    let instance = match wants_one {
        true => host_lock::new_instance(known.class, identity.addr()),
        false => {
            host_lock::instance_lost(known.number);
            0
        }
    };
    give(Object {
        at: at.cast(),
        known,
        instance,
        class: known.number,
        counts_all: instance != 0 && COUNTS_ALL.load(Ordering::Relaxed),
    })
}

/// A lock is gone.
///
/// # Safety
/// `lock` came from [`new_lock`].
pub(super) unsafe fn end_lock(lock: *mut c_void) {
    if lock.is_null() || lock.addr() >> ADDRESS_BITS != 0 {
        return;
    }
    // SAFETY: without a class number it is the address of an object, and the server is done with it.
    if let Some(object) = unsafe { take_back::<Object>(lock) } {
        object.known.instances.fetch_sub(1, Ordering::Relaxed);
        if object.instance != 0 {
            host_lock::end_instance(object.instance);
        }
    }
}

/// The lock's numbers, and where it lies.
///
/// # Safety
/// `lock` came from [`new_lock`], and is not NULL.
#[inline(always)]
pub(super) unsafe fn resolve(lock: *mut c_void) -> (Lock, *const AtomicU32) {
    let class = (lock.addr() >> ADDRESS_BITS) as u16;
    if class != 0 {
        let address = lock.addr() & ((1 << ADDRESS_BITS) - 1);
        let lock = Lock {
            class,
            instance: 0,
            counts_all: false,
        };
        return (lock, std::ptr::with_exposed_provenance(address));
    }
    // SAFETY: as in `end_lock`.
    let object = unsafe { &*lock.cast::<Object>() };
    let numbers = Lock {
        class: object.class,
        instance: object.instance,
        counts_all: object.counts_all,
    };
    (numbers, object.at)
}

/// # Safety
/// `at` is where a mutex has its word.
#[inline(always)]
pub(super) unsafe fn is_mutex_free(at: *const AtomicU32) -> bool {
    // SAFETY: the caller's promise. Values are 0, 1 and 2.
    unsafe { &*at.cast::<AtomicU8>() }.load(Ordering::Relaxed) == 0
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn init_mutex(key: u32, identity: *const c_void) -> *mut c_void {
    quiet(NONE, || match keys::of_kind(key, Kind::Mutex) {
        Some(known) => new_lock(known, identity),
        None => NONE,
    })
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn destroy_mutex(mutex: *mut c_void) {
    // SAFETY: the interface.
    quiet((), || unsafe { end_lock(mutex) });
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn start_mutex_wait(
    state: *mut c_void,
    mutex: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    if mutex.is_null() {
        return NONE;
    }
    // SAFETY: the interface.
    let (lock, at) = unsafe { resolve(mutex) };
    // SAFETY: the interface: the mutex lives.
    let is_free = || are_known(Word::Mutex) && unsafe { is_mutex_free(at) };
    if !lock.counts_all && host_lock::is_counted_free(lock.class, is_free) {
        return NONE;
    }
    // SAFETY: the interface. As its last act, with the arguments that it got: nothing is saved above.
    unsafe { start_mutex_wait_slow(state, mutex, operation, file, line) }
}

/// # Safety
/// The interface.
#[inline(never)]
unsafe extern "C" fn start_mutex_wait_slow(
    state: *mut c_void,
    mutex: *mut c_void,
    operation: c_int,
    _file: *const c_char,
    _line: u32,
) -> *mut c_void {
    // SAFETY: the interface.
    let (lock, at) = unsafe { resolve(mutex) };
    // A try waits for nobody.
    let is_try = operation != 0;
    let taking = host_lock::take(lock, OPERATIONS[usize::from(is_try)], || {
        // SAFETY: the interface: the mutex lives.
        is_try || are_known(Word::Mutex) && unsafe { is_mutex_free(at) }
    });
    match taking {
        // SAFETY: the interface: 48 bytes.
        Some(taking) => unsafe { lend(state, taking) },
        None => NONE,
    }
}

const OPERATIONS: [Operation; 2] = [Operation::Lock, Operation::TryLock];
const _: () = assert!(size_of::<Taking>() <= 48);

/// # Safety
/// The interface.
pub unsafe extern "C" fn end_mutex_wait(locker: *mut c_void, failed: c_int) {
    if !locker.is_null() {
        // SAFETY: the interface.
        unsafe { end::<Taking>(locker) }.end(failed == 0);
    }
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn unlock_mutex(mutex: *mut c_void) {
    // SAFETY: the interface.
    unsafe { unlock(mutex, Operation::Lock) };
}

/// # Safety
/// As [`resolve`], or NULL.
#[inline(always)]
pub(super) unsafe fn unlock(lock: *mut c_void, operation: Operation) {
    if !COUNTS_ALL.load(Ordering::Relaxed) {
        return;
    }
    if !lock.is_null() && lock.addr() >> ADDRESS_BITS == 0 {
        // SAFETY: as in `end_lock`.
        let object = unsafe { &*lock.cast::<Object>() };
        if object.instance != 0 {
            match operation {
                Operation::Lock => host_lock::released(object.instance, operation),
                _ => host_lock::released_somehow(object.instance),
            }
        }
    }
}
