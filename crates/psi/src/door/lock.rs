//! What the server keeps for a mutex or a rwlock: a word of ours, in place of a pointer.
//!
//! | bits 60-63 | bits 48-59 | bit 47 | bits 0-46 |
//! |---|---|---|---|
//! | number of its [`Word`] | number of its class | it has an instance | where its word is |
//! | 0 | 0 | 0 | address of an [`Object`] |
//!
//! The first kind says all that an acquisition of a free lock needs, so that nothing of ours is read for it. Only
//! who has to wait looks for the instance, by the address. Mutexes whose word is not known have an object, and all
//! locks have with `lock_instances=every`, where each acquisition is the instance's business.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use foldhash::HashMap;

use engine::host_lock::{self, HostLock};
use engine::{Kind, Operation};

use super::exchange::{give, take_back};
use super::keys::Known;
use super::word::Word;

const WORD_AT: u32 = 60;
const CLASS_AT: u32 = 48;
const CLASS_MASK: usize = (1 << (WORD_AT - CLASS_AT)) - 1;
const HAS_INSTANCE: usize = 1 << 47;
/// Addresses of a program have no more bits than these 47.
const ADDRESS_MASK: usize = HAS_INSTANCE - 1;

/// A lock, or a condition, of which more is kept than fits into a word.
#[derive(Debug)]
pub struct Object {
    pub(super) at: *const AtomicU32,
    pub(super) instance: Instance,
}

/// One of a class's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    pub known: &'static Known,
    /// 0 = it has no row.
    pub id: u32,
}

impl Instance {
    /// One more of the class; it gets a row if it is one of the first.
    pub fn new(known: &'static Known, address: usize) -> Self {
        let number = known.instances.fetch_add(1, Ordering::Relaxed);
        let id = match number < INSTANCES || known.class.kind() == Kind::Cond {
            true => host_lock::new_instance(known.class, address),
            false => {
                host_lock::instance_lost(known.number);
                0
            }
        };
        Self { known, id }
    }

    fn end(self) {
        self.known.instances.fetch_sub(1, Ordering::Relaxed);
        if self.id != 0 {
            host_lock::end_instance(self.id);
        }
    }
}

/// Locks of a class that have instances: classes with more (InnoDB's page latches) would fill a table that
/// nobody reads. What has none is counted as lost. Conditions all have: each has a box of its own anyway, and there are few.
const INSTANCES: u32 = 256;

/// Whether instances count every acquisition: option `lock_instances=every`.
static COUNTS_ALL: AtomicBool = AtomicBool::new(false);

/// Instances count every acquisition from here on, and show who holds their locks. Before any thread runs.
pub fn count_all_of_instances() {
    COUNTS_ALL.store(true, Ordering::Relaxed);
}

/// Whether anything is done when a lock is let go.
pub fn are_unlocks_counted() -> bool {
    COUNTS_ALL.load(Ordering::Relaxed)
}

/// What the server keeps for a lock.
pub(super) fn new_lock(known: &'static Known, identity: *const c_void) -> *mut c_void {
    let instance = Instance::new(known, identity.addr());
    let at = identity.wrapping_byte_add(known.word.offset());
    match Tagged::new(known, at.expose_provenance(), instance.id != 0) {
        Some(tagged) => {
            match instance.id {
                0 => instance.end(),
                _ => tagged.keep(instance),
            }
            std::ptr::without_provenance_mut(tagged.0)
        }
        None => give(Object {
            at: at.cast(),
            instance,
        }),
    }
}

/// A lock is gone.
///
/// # Safety
/// `lock` came from [`new_lock`], or is a condition's object.
pub(super) unsafe fn end_lock(lock: *mut c_void) {
    let instance = match Tagged::of(lock) {
        Some(tagged) => tagged.forget(),
        // SAFETY: without a word's number it is the address of an object, and the server is done with it.
        None => unsafe { take_back::<Object>(lock) }.map(|object| object.instance),
    };
    if let Some(instance) = instance {
        instance.end();
    }
}

/// The lock's numbers, and where its word is of what kind: for what is not [`Tagged`], or has to wait.
///
/// # Safety
/// `lock` came from [`new_lock`], and is not NULL.
pub(super) unsafe fn resolve(lock: *mut c_void) -> (HostLock, Word, *const AtomicU32) {
    if let Some(tagged) = Tagged::of(lock) {
        let lock = HostLock {
            class: tagged.class(),
            instance: tagged.instance().map_or(0, |instance| instance.id),
            counts_all: false,
        };
        return (lock, tagged.word(), tagged.at());
    }
    // SAFETY: as in `end_lock`.
    let object = unsafe { &*lock.cast::<Object>() };
    let Instance { known, id } = object.instance;
    let lock = HostLock {
        class: known.number,
        instance: id,
        counts_all: id != 0 && are_unlocks_counted(),
    };
    (lock, known.word.if_known(), object.at)
}

/// A lock is let go.
///
/// # Safety
/// As [`resolve`], or NULL.
pub(super) unsafe fn unlock(lock: *mut c_void, operation: Operation) {
    if lock.is_null() || Tagged::of(lock).is_some() {
        return;
    }
    // SAFETY: as in `end_lock`.
    let instance = unsafe { &*lock.cast::<Object>() }.instance.id;
    if instance != 0 && are_unlocks_counted() {
        match operation {
            Operation::Lock => host_lock::released(instance, operation),
            _ => host_lock::released_somehow(instance),
        }
    }
}

/// All that is known of a lock, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tagged(usize);

impl Tagged {
    fn new(known: &Known, at: usize, has_instance: bool) -> Option<Self> {
        let (class, word) = (usize::from(known.number), known.word.if_known());
        let fits = at <= ADDRESS_MASK && class != 0 && class <= CLASS_MASK;
        // A mutex's word is looked at without a question what it is.
        let is_unknown_mutex = word == Word::Unknown && known.class.kind() == Kind::Mutex;
        if !fits || is_unknown_mutex || are_unlocks_counted() {
            return None;
        }
        let has_instance = if has_instance { HAS_INSTANCE } else { 0 };
        Some(Self(
            (word as usize) << WORD_AT | class << CLASS_AT | has_instance | at,
        ))
    }

    /// Of what the server kept, if that is no object.
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

    fn instance(self) -> Option<Instance> {
        self.with_instances(|instances, at| instances.get(&at).copied())
    }

    fn keep(self, instance: Instance) {
        let before = self.with_instances(|instances, at| instances.insert(at, instance));
        // The server took another's memory for it without a word.
        if let Some(before) = before {
            before.end();
        }
    }

    /// Its instance, which is nobody's now.
    fn forget(self) -> Option<Instance> {
        self.with_instances(|instances, at| instances.remove(&at))
    }

    /// Calls `work` with the instances among which its own is, if it has one.
    fn with_instances(
        self,
        work: impl FnOnce(&mut HashMap<usize, Instance>, usize) -> Option<Instance>,
    ) -> Option<Instance> {
        if self.0 & HAS_INSTANCE == 0 {
            return None;
        }
        let at = self.0 & ADDRESS_MASK;
        // Locks lie in structures of hundreds of bytes.
        let part = &BY_ADDRESS[at / 64 % PARTS];
        work(&mut part.lock().unwrap_or_else(PoisonError::into_inner), at)
    }
}

/// So many that threads that wait at once do not wait for one another here, too.
const PARTS: usize = 64;

/// Instances by where the lock's word is.
static BY_ADDRESS: LazyLock<[Mutex<HashMap<usize, Instance>>; PARTS]> =
    LazyLock::new(|| std::array::from_fn(|_| Mutex::default()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_room_for_all() {
        let tagged = Tagged(
            (Word::OldInnoDbMutex as usize) << WORD_AT | 0xabc << CLASS_AT | 0x7fff_1234_5678,
        );
        let lock = std::ptr::without_provenance_mut(tagged.0);
        assert_eq!(Tagged::of(lock), Some(tagged));
        assert_eq!(tagged.word(), Word::OldInnoDbMutex);
        assert_eq!(tagged.class(), 0xabc);
        assert_eq!(tagged.at().addr(), 0x7fff_1234_5678);
        let object = Box::new(0);
        assert_eq!(Tagged::of((&raw const *object).cast_mut().cast()), None);
    }
}
