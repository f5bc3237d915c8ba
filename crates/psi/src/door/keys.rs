//! Keys: the server's numbers of its instruments.

use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::class::READERS_FIRST;
use engine::{Class, Kind, host_lock};

use super::exchange::catch_panic;
use super::frequent::{FREQUENT_NUMBERS, is_frequent};
use crate::interface::text::c_text;
use crate::interface::word::Word;
use crate::interface::{Info, Interface, Registration, flag};

/// The number of keys: more than any server with its plugins registers.
pub(super) const KEYS: usize = 8192;
/// MySQL's limit of an instrument's name.
const MAX_NAME_BYTES: usize = 128;

/// The instrument of a key. It lives for ever.
#[derive(Debug)]
pub struct Instrument {
    /// The class. A zero byte follows its name.
    pub class: &'static Class,
    /// The verb that the digest of a prepared statement begins with, if the class prepares, executes or
    /// deallocates one.
    pub verb: &'static str,
}

static TABLE: [AtomicPtr<Instrument>; KEYS] = [const { AtomicPtr::new(ptr::null_mut()) }; KEYS];

/// Each key's instrument in a word, in a sixteenth of the memory of [`TABLE`]'s instruments. 0 = the key was
/// never given.
static PACKED: [AtomicU32; KEYS] = [const { AtomicU32::new(0) }; KEYS];

/// The data of an instrument that locks, memory and statements need.
///
/// | bits 0-15 | bits 16-20 | bits 21-24 | bit 25 |
/// |---|---|---|---|
/// | number of its class | its kind, never 0 | [`Word`] of its locks | it is limited |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedInstrument(u32);

impl PackedInstrument {
    fn new(kind: Kind, number: u16, word: Word, flags: u32) -> Self {
        let has = |flag| u32::from(flags & flag != 0);
        Self(
            u32::from(number)
                | u32::from(kind as u8) << 16
                | u32::from(word as u8) << 21
                | has(flag::LIMITED) << 25,
        )
    }

    /// The number of its class in the segment.
    #[inline(always)]
    pub fn number(self) -> u16 {
        self.0 as u16
    }

    /// Whether its class is of this kind.
    #[inline(always)]
    pub fn is(self, kind: Kind) -> bool {
        self.0 >> 16 & 31 == u32::from(kind as u8)
    }

    /// The lock word of its class.
    #[inline(always)]
    pub fn word(self) -> Word {
        Word::from_u8((self.0 >> 21 & 15) as u8)
    }

    /// Whether memory of its class counts for a connection's limit.
    #[inline(always)]
    pub fn is_limited(self) -> bool {
        self.0 >> 25 & 1 != 0
    }
}

/// A key's instrument in a word.
#[inline(always)]
pub fn packed(key: u32) -> Option<PackedInstrument> {
    let packed = PACKED.get(key as usize)?.load(Ordering::Relaxed);
    (packed != 0).then_some(PackedInstrument(packed))
}

/// The stage of each key. Bits 0-14: the number of its class, 0 = no stage; bit 15: it reports its progress.
/// A separate array, so that a server's stages are in a few cache lines.
static STAGES: [AtomicU16; KEYS] = [const { AtomicU16::new(0) }; KEYS];
const PROGRESS: u16 = 1 << 15;
const _: () = assert!(CLASSES <= PROGRESS as usize);

#[inline(always)]
fn stage_word(key: u32) -> u16 {
    STAGES
        .get(key as usize)
        .map_or(0, |word| word.load(Ordering::Relaxed))
}

/// The class number of a key's stage, 0 = it has none.
#[inline(always)]
pub fn stage(key: u32) -> u16 {
    stage_word(key) & !PROGRESS
}

/// Whether a key's stage reports its progress.
#[inline(always)]
pub fn has_progress(key: u32) -> bool {
    stage_word(key) & PROGRESS != 0
}

/// The class number of a key's stage if it reports no progress, like nearly all: one comparison checks both.
#[inline(always)]
pub fn plain_stage(key: u32) -> Option<u16> {
    let word = stage_word(key);
    (word as i16 > 0).then_some(word)
}

/// Keys by class number, 0 = none.
static KEY_OF: [AtomicU16; CLASSES] = [const { AtomicU16::new(0) }; CLASSES];
/// More classes than the segment has.
const CLASSES: usize = 4096;

/// The instrument of a class number.
pub fn by_number(number: u16) -> Option<&'static Instrument> {
    let key = KEY_OF.get(usize::from(number))?.load(Ordering::Relaxed);
    get(u32::from(key))
}

struct Names {
    by_name: HashMap<(u8, String), u32>,
    next: u32,
    /// The next key that is reserved for [frequent](super::frequent) instruments.
    next_frequent: u32,
}

impl Names {
    fn new() -> Self {
        Self {
            by_name: HashMap::new(),
            next: FREQUENT_NUMBERS as u32 + 1,
            next_frequent: 1,
        }
    }

    /// A free key, if there is one left.
    fn new_key(&mut self, is_frequent: bool) -> Option<u32> {
        let next = match is_frequent && self.next_frequent as usize <= FREQUENT_NUMBERS {
            true => &mut self.next_frequent,
            false => &mut self.next,
        };
        let key = *next;
        *next += u32::from((key as usize) < KEYS);
        ((key as usize) < KEYS).then_some(key)
    }
}

static NAMES: Mutex<Option<Names>> = Mutex::new(None);

/// A key's instrument; `None` for 0 and keys that were never given.
#[inline]
pub fn get(key: u32) -> Option<&'static Instrument> {
    let cell = TABLE.get(key as usize)?;
    // SAFETY: null, or leaked by `register`, and complete before it was stored.
    unsafe { cell.load(Ordering::Acquire).as_ref() }
}

/// A key's instrument if it is of this kind.
#[inline]
pub fn of_kind(key: u32, kind: Kind) -> Option<&'static Instrument> {
    get(key).filter(|instrument| instrument.class.kind() == kind)
}

/// The verb of a class of statements that prepares, executes or deallocates a prepared statement.
fn verb_of(name: &str) -> &'static str {
    match name {
        "statement/com/Prepare" | "statement/sql/prepare_sql" => "PREPARE",
        "statement/com/Execute" | "statement/sql/execute_sql" => "EXECUTE",
        "statement/com/Close stmt" | "statement/sql/dealloc_sql" => "DEALLOCATE",
        _ => "",
    }
}

/// Registers an instrument and returns its key: the same key if the name is registered already.
pub fn register<S: Interface>(kind: Kind, name: &str, info: &Registration) -> u32 {
    if name.len() > MAX_NAME_BYTES || !kind.owns(name) {
        return 0;
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_with(Names::new);
    if let Some(key) = names.by_name.get(&(kind as u8, name.to_owned())) {
        return *key;
    }
    let is_frequent = is_frequent(name);
    let Some(key) = names.new_key(is_frequent) else {
        return 0;
    };
    // With a C string's end after the name.
    let leaked: &'static str = &String::leak(format!("{name}\0"))[..name.len()];
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
    if is_frequent {
        class = class.frequent();
    }
    class = match S::is_enabled(kind, name, info.flags) {
        true => class.enabled(),
        false => class.disabled().untimed(),
    };
    let class: &'static Class = Box::leak(Box::new(class));
    let number = host_lock::class_number(class);
    let verb = verb_of(name);
    let instrument = Box::leak(Box::new(Instrument { class, verb }));
    let word = S::word(kind, name);
    let packed = PackedInstrument::new(kind, number, word, info.flags);
    PACKED[key as usize].store(packed.0, Ordering::Relaxed);
    if kind == Kind::Stage {
        let progress = PROGRESS * u16::from(info.flags & flag::PROGRESS != 0);
        STAGES[key as usize].store(number | progress, Ordering::Relaxed);
    }
    if let Some(cell) = KEY_OF.get(usize::from(number)).filter(|_| number != 0) {
        cell.store(key as u16, Ordering::Relaxed);
    }
    TABLE[key as usize].store(instrument, Ordering::Release);
    names.by_name.insert((kind as u8, name.to_owned()), key);
    key
}

/// Registers `count` instruments of a kind and gives the server their keys.
unsafe fn register_all<S: Interface>(
    kind: Kind,
    category: *const c_char,
    infos: impl Iterator<Item = *mut S::Info>,
) {
    // SAFETY: rule 4 (a C string).
    let category = unsafe { c_text(category) };
    for info in infos {
        // SAFETY: rule 5 (an info of this release).
        let info = unsafe { &mut *info };
        // SAFETY: rule 5 (the info has C strings or NULL).
        let (name, mut registration) = unsafe { (c_text(info.name()), info.registration()) };
        registration.flags = S::flags(kind, registration.flags);
        let kind = match kind {
            Kind::RwLock if registration.flags & flag::SX != 0 => Kind::SxLock,
            other => other,
        };
        let prefix = match kind {
            Kind::RwLock if registration.flags & flag::READERS_FIRST != 0 => READERS_FIRST,
            kind => kind.prefix(),
        };
        let full = format!("{prefix}{category}/{name}");
        let key = register::<S>(kind, &full, &registration);
        // SAFETY: rule 5 (the info has the address of its key).
        unsafe { info.set_key(kind, key) };
    }
}

/// `register_*` of an array of infos.
pub unsafe extern "C" fn register_row<S: Interface, const KIND: u8>(
    category: *const c_char,
    infos: *mut S::Info,
    count: c_int,
) {
    catch_panic((), || {
        let Some(kind) = Kind::from_u8(KIND) else {
            return;
        };
        // SAFETY: rule 5 (a list of `count` infos).
        let all = (0..count.max(0) as usize).map(|i| unsafe { infos.add(i) });
        // SAFETY: rule 8 (the arguments are passed on).
        unsafe { register_all::<S>(kind, category, all) };
    });
}

/// `register_stage` of an array of pointers to infos.
pub unsafe extern "C" fn register_stage<S: Interface>(
    category: *const c_char,
    infos: *const *mut S::Info,
    count: c_int,
) {
    catch_panic((), || {
        // SAFETY: rule 5 (a list of `count` infos).
        let all = (0..count.max(0) as usize).map(|i| unsafe { *infos.add(i) });
        // SAFETY: rule 8 (the arguments are passed on).
        unsafe { register_all::<S>(Kind::Stage, category, all) };
    });
}
