//! The word that the server stores for a mutex or a rwlock, in place of a pointer.
//!
//! | bits 60-63 | bits 48-59 | bit 47 | bits 0-46 |
//! |---|---|---|---|
//! | number of its [`Word`] | number of its class | it has an instance | address of its lock word |
//! | 0 | 0 | 0 | address of an [`Object`] |
//!
//! The first form has all that an acquisition of a free lock needs, so no memory of ours is read for it. Only
//! a thread that has to wait looks up the instance, by the address. Mutexes whose word is unknown have an
//! object, and so have all locks with `lock_instances=every`, which counts each acquisition for its instance.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use engine::host_lock::{self, HostLock};
use engine::{Kind, Operation};

use super::by_address::{ByAddress, Insertion};
use super::exchange::{catch_panic, give, take_back};
use super::keys::PackedInstrument;
use crate::interface::word::Word;

pub(super) const WORD_AT: u32 = 60;
pub(super) const CLASS_AT: u32 = 48;
const CLASS_MASK: usize = (1 << (WORD_AT - CLASS_AT)) - 1;
const HAS_INSTANCE: usize = 1 << 47;
/// The bits of a program's addresses.
const ADDRESS_MASK: usize = HAS_INSTANCE - 1;

/// A lock or condition whose data does not fit into a word.
#[derive(Debug)]
pub struct Object {
    at: *const AtomicU32,
    class: u16,
    /// 0 = it has no row.
    instance: u32,
    word: Word,
}

/// The number of locks that have an instance, by number of their class.
static WITH_INSTANCE: [AtomicU32; CLASS_MASK + 1] = [const { AtomicU32::new(0) }; CLASS_MASK + 1];

/// The most locks of a class that get instances: larger classes (InnoDB's page latches) would fill a table
/// that nothing reads. Further locks are counted as lost. All conditions get a row, because there are few.
const MAX_INSTANCES: u32 = 1024;

/// The instance of a new lock, 0 = none. It gets one if its class has not reached the maximum, and is
/// observed. Locks that the server creates before its first client always get one, because their instrument
/// may be enabled later.
fn new_instance(instrument: PackedInstrument, address: usize) -> u32 {
    let class = instrument.number();
    if SERVES.load(Ordering::Relaxed) && !host_lock::is_observed(class) {
        return 0;
    }
    let Some(count) = WITH_INSTANCE.get(usize::from(class)) else {
        return 0;
    };
    if count.load(Ordering::Relaxed) >= MAX_INSTANCES && !instrument.is(Kind::Cond) {
        host_lock::count_lost_instance(class);
        return 0;
    }
    let instance = host_lock::new_instance(class, address);
    if instance != 0 {
        count.fetch_add(1, Ordering::Relaxed);
    }
    instance
}

fn end_instance(class: u16, instance: u32) {
    if instance != 0 {
        if let Some(count) = WITH_INSTANCE.get(usize::from(class)) {
            count.fetch_sub(1, Ordering::Relaxed);
        }
        host_lock::end_instance(instance);
    }
}

/// Whether a client has connected yet.
static SERVES: AtomicBool = AtomicBool::new(false);

/// Notes that a client connects.
pub(super) fn note_client() {
    // Read first, because all threads read this cache line.
    if !SERVES.load(Ordering::Relaxed) {
        SERVES.store(true, Ordering::Relaxed);
    }
}

/// Whether instances count every acquisition (option `lock_instances=every`).
static COUNTS_ALL: AtomicBool = AtomicBool::new(false);

/// Makes instances count every acquisition, and display who holds their locks. Called before any other thread
/// runs.
pub fn count_all_of_instances() {
    COUNTS_ALL.store(true, Ordering::Relaxed);
}

/// Whether an unlock is recorded.
pub fn are_unlocks_counted() -> bool {
    COUNTS_ALL.load(Ordering::Relaxed)
}

/// Creates what the server stores for a lock or a condition.
pub(super) fn new_lock(instrument: PackedInstrument, identity: *const c_void) -> *mut c_void {
    let instance = new_instance(instrument, identity.addr());
    let at = identity.wrapping_byte_add(instrument.word().offset());
    if let Some(tagged) = TaggedWord::new(instrument, at.expose_provenance()) {
        if instance == 0 {
            return tagged.pointer();
        }
        if let Some(tagged) = tagged.with_instance(instance) {
            return tagged.pointer();
        }
    }
    give(Object {
        at: at.cast(),
        class: instrument.number(),
        instance,
        word: instrument.word(),
    })
}

/// Ends a lock that the server destroys.
///
/// # Safety
/// `lock` came from [`new_lock`].
#[inline(always)]
pub(super) unsafe fn end_lock(lock: *mut c_void) {
    match TaggedWord::of(lock) {
        Some(tagged) if !tagged.has_instance() => {}
        // SAFETY: rule 8 (from `new_lock`).
        tagged => unsafe { end_instance_of(lock, tagged) },
    }
}

#[inline(never)]
unsafe fn end_instance_of(lock: *mut c_void, tagged: Option<TaggedWord>) {
    catch_panic((), || {
        let (class, instance) = match tagged {
            Some(tagged) => (tagged.class(), tagged.take_instance()),
            // SAFETY: rule 1; without a word's number it is the address of an object, which is destroyed
            // here.
            None => match unsafe { take_back::<Object>(lock) } {
                Some(object) => (object.class, object.instance),
                None => return,
            },
        };
        end_instance(class, instance);
    });
}

/// The lock's numbers, and the kind and address of its word: for locks that are not [`TaggedWord`], and for
/// waits.
///
/// # Safety
/// `lock` came from [`new_lock`], and is not NULL.
pub(super) unsafe fn resolve(lock: *mut c_void) -> (HostLock, Word, *const AtomicU32) {
    if let Some(tagged) = TaggedWord::of(lock) {
        let lock = HostLock {
            class: tagged.class(),
            instance: tagged.instance(),
            counts_all: false,
        };
        return (lock, tagged.word(), tagged.at());
    }
    // SAFETY: as in `end_lock`.
    let object = unsafe { &*lock.cast::<Object>() };
    let lock = HostLock {
        class: object.class,
        instance: object.instance,
        counts_all: object.instance != 0 && are_unlocks_counted(),
    };
    (lock, object.word.if_verified(), object.at)
}

/// Records an unlock.
///
/// # Safety
/// As [`resolve`], or NULL.
pub(super) unsafe fn unlock(lock: *mut c_void, operation: Operation) {
    if lock.is_null() || TaggedWord::of(lock).is_some() {
        return;
    }
    // SAFETY: as in `end_lock`.
    let instance = unsafe { &*lock.cast::<Object>() }.instance;
    if instance != 0 && are_unlocks_counted() {
        match operation {
            Operation::Lock => host_lock::released(instance, operation),
            _ => host_lock::released_in_any_mode(instance),
        }
    }
}

/// A lock's data in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaggedWord(usize);

impl TaggedWord {
    /// A word without an instance; `None` if the data does not fit.
    fn new(instrument: PackedInstrument, at: usize) -> Option<Self> {
        let (class, word) = (
            usize::from(instrument.number()),
            instrument.word().if_verified(),
        );
        let fits = at <= ADDRESS_MASK && class != 0 && class <= CLASS_MASK;
        // The fast path of a mutex does not check the kind of its word.
        let is_unknown_mutex = word == Word::Unknown && instrument.is(Kind::Mutex);
        if !fits || is_unknown_mutex || are_unlocks_counted() {
            return None;
        }
        Some(Self((word as usize) << WORD_AT | class << CLASS_AT | at))
    }

    fn pointer(self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.0)
    }

    /// The word that the server stored, if it is no object's address.
    #[inline(always)]
    pub fn of(lock: *mut c_void) -> Option<Self> {
        (lock.addr() >> WORD_AT != 0).then_some(Self(lock.addr()))
    }

    #[inline(always)]
    pub fn word(self) -> Word {
        Word::from_u8((self.0 >> WORD_AT) as u8)
    }

    #[inline(always)]
    pub fn class(self) -> u16 {
        (self.0 >> CLASS_AT & CLASS_MASK) as u16
    }

    #[inline(always)]
    pub fn at(self) -> *const AtomicU32 {
        std::ptr::with_exposed_provenance(self.0 & ADDRESS_MASK)
    }

    #[inline(always)]
    fn has_instance(self) -> bool {
        self.0 & HAS_INSTANCE != 0
    }

    /// Its instance, 0 = none.
    fn instance(self) -> u32 {
        let index = match self.has_instance() {
            true => BY_ADDRESS.get(self.0 & ADDRESS_MASK),
            false => None,
        };
        index.map_or(0, host_lock::instance_at)
    }

    /// Adds an instance; `None` if the table of instances is full.
    fn with_instance(self, instance: u32) -> Option<Self> {
        let index = host_lock::index_of(instance);
        match BY_ADDRESS.insert(self.0 & ADDRESS_MASK, index) {
            Insertion::New => {}
            Insertion::InPlaceOf(before) => {
                end_instance(self.class(), host_lock::instance_at(before));
            }
            Insertion::Full => return None,
        }
        Some(Self(self.0 | HAS_INSTANCE))
    }

    /// Removes its instance from the table, and returns it; 0 = none.
    fn take_instance(self) -> u32 {
        let index = BY_ADDRESS.remove(self.0 & ADDRESS_MASK);
        index.map_or(0, host_lock::instance_at)
    }
}

static BY_ADDRESS: ByAddress = ByAddress::new();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_class_and_address_fit_into_a_word() {
        let tagged = TaggedWord(
            (Word::OldInnoDbMutex as usize) << WORD_AT | 0xabc << CLASS_AT | 0x7fff_1234_5678,
        );
        let lock = std::ptr::without_provenance_mut(tagged.0);
        assert_eq!(TaggedWord::of(lock), Some(tagged));
        assert_eq!(tagged.word(), Word::OldInnoDbMutex);
        assert_eq!(tagged.class(), 0xabc);
        assert_eq!(tagged.at().addr(), 0x7fff_1234_5678);
        let object = Box::new(0);
        assert_eq!(TaggedWord::of((&raw const *object).cast_mut().cast()), None);
    }
}
