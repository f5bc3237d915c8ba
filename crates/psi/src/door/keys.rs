//! Keys: the numbers by which the server names its instruments.

use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::{Class, Kind, host_lock};

use super::exchange::{c_text, quiet};
use super::word::Word;
use crate::series::{Info, Interface, Registration, flag};

/// Keys that may be given: more than any server registers, its plugins included.
const KEYS: usize = 8192;
/// MySQL's limit of an instrument's name.
const LONGEST: usize = 128;

/// What a key stands for. Lives for ever.
#[derive(Debug)]
pub struct Known {
    /// The class.
    pub class: &'static Class,
    /// Its number in the segment.
    pub number: u16,
    /// How a lock of this class is seen to be free.
    pub word: Word,
    /// How many of its objects have an instance of their own.
    pub instances: AtomicU32,
}

static TABLE: [AtomicPtr<Known>; KEYS] = [const { AtomicPtr::new(ptr::null_mut()) }; KEYS];

/// Of each key that is a stage's what a change of stages needs: bits 0-15 the class's number, bit 16 that it is
/// one, bit 17 that it reports its progress. In a sixteenth of the memory of what the others lead to.
static STAGES: [AtomicU32; KEYS] = [const { AtomicU32::new(0) }; KEYS];

/// A stage, as a change of stages needs it.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Its class's number.
    pub number: u16,
    /// It reports its progress.
    pub has_progress: bool,
}

/// The stage that a key stands for.
#[inline(always)]
pub fn stage(key: u32) -> Option<Stage> {
    let packed = STAGES.get(key as usize)?.load(Ordering::Relaxed);
    (packed >> 16 != 0).then_some(Stage {
        number: packed as u16,
        has_progress: packed >> 17 != 0,
    })
}

struct Names {
    by_name: HashMap<(u8, String), u32>,
    next: u32,
}

static NAMES: Mutex<Option<Names>> = Mutex::new(None);

/// What a key stands for; 0 and numbers that were never given stand for nothing.
#[inline]
pub fn get(key: u32) -> Option<&'static Known> {
    let cell = TABLE.get(key as usize)?;
    // SAFETY: null, or leaked by `register` and whole before it was stored.
    unsafe { cell.load(Ordering::Acquire).as_ref() }
}

/// The same, if it is of this kind.
#[inline]
pub fn of_kind(key: u32, kind: Kind) -> Option<&'static Known> {
    get(key).filter(|known| known.class.kind() == kind)
}

/// The key of an instrument; of one that is known by this name already, the same.
pub fn register<S: Interface>(kind: Kind, name: &str, info: &Registration) -> u32 {
    if name.len() > LONGEST || !name.starts_with(kind.prefix()) {
        return 0;
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_with(|| Names {
        by_name: HashMap::new(),
        next: 1,
    });
    if let Some(key) = names.by_name.get(&(kind as u8, name.to_owned())) {
        return *key;
    }
    if names.next as usize == KEYS {
        return 0;
    }
    let leaked: &'static str = String::leak(name.to_owned());
    let documentation: &'static str = String::leak(info.documentation.clone());
    let mut class = Class::new(kind, leaked, documentation).volatile(info.volatility);
    if info.flags & flag::SINGLETON != 0 {
        class = class.singleton();
    }
    if info.flags & flag::MUTABLE != 0 && kind == Kind::Statement {
        class = class.mutable();
    }
    if info.flags & flag::USER != 0 {
        class = class.user();
    }
    if info.flags & flag::PROGRESS != 0 {
        class = class.progress();
    }
    if info.flags & flag::GLOBAL_STATISTICS != 0 {
        class = class.global_statistics();
    }
    class = match S::is_enabled(kind, name, info.flags) {
        true => class.enabled(),
        false => class.disabled().untimed(),
    };
    let class: &'static Class = Box::leak(Box::new(class));
    let number = host_lock::class_number(class);
    let known = Box::leak(Box::new(Known {
        class,
        number,
        word: S::word(kind, name),
        instances: AtomicU32::new(0),
    }));
    let key = names.next;
    if kind == Kind::Stage {
        let has_progress = u32::from(info.flags & flag::PROGRESS != 0);
        let packed = has_progress << 17 | 1 << 16 | u32::from(number);
        STAGES[key as usize].store(packed, Ordering::Relaxed);
    }
    TABLE[key as usize].store(known, Ordering::Release);
    names.next += 1;
    names.by_name.insert((kind as u8, name.to_owned()), key);
    key
}

/// Registers `count` instruments of a kind and gives the server their keys.
///
/// # Safety
/// The interface.
unsafe fn register_all<S: Interface>(
    kind: Kind,
    category: *const c_char,
    infos: impl Iterator<Item = *mut S::Info>,
) {
    // SAFETY: the interface: a C string.
    let category = unsafe { c_text(category) };
    for info in infos {
        // SAFETY: the interface: an info of this series.
        let info = unsafe { &mut *info };
        // SAFETY: the interface: C strings or NULL.
        let (name, mut registration) = unsafe { (c_text(info.name()), info.registration()) };
        registration.flags = S::flags(kind, registration.flags);
        let kind = match kind {
            Kind::RwLock if registration.flags & flag::SX != 0 => Kind::SxLock,
            other => other,
        };
        let full = format!("{}{category}/{name}", kind.prefix());
        let key = register::<S>(kind, &full, &registration);
        // SAFETY: the interface: where the key goes is writable.
        unsafe { info.set_key(kind, key) };
    }
}

/// `register_*` of infos that lie one behind the other.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn register_row<S: Interface, const KIND: u8>(
    category: *const c_char,
    infos: *mut S::Info,
    count: c_int,
) {
    quiet((), || {
        let Some(kind) = Kind::from_u8(KIND) else {
            return;
        };
        // SAFETY: the interface: `count` of them.
        let all = (0..count.max(0) as usize).map(|i| unsafe { infos.add(i) });
        // SAFETY: the interface.
        unsafe { register_all::<S>(kind, category, all) };
    });
}

/// `register_stage`: the infos are named by a row of pointers.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn register_stage<S: Interface>(
    category: *const c_char,
    infos: *const *mut S::Info,
    count: c_int,
) {
    quiet((), || {
        // SAFETY: the interface: `count` of them.
        let all = (0..count.max(0) as usize).map(|i| unsafe { *infos.add(i) });
        // SAFETY: the interface.
        unsafe { register_all::<S>(Kind::Stage, category, all) };
    });
}
