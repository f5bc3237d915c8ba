//! The places of the program's code that take locks and wait for conditions, and the class of each.
//!
//! A class has the name of the function that calls the C library: `wait/synch/mutex/PROGRAM/function+0x1f`.
//! The part behind `+` is the distance of the place to which the call returns.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use engine::{Class, Kind};
use tare_image::{Functions, MAX_FUNCTION_BYTES, Place};

use crate::names::classes;

/// The most places of the program that get a class of their own. The others of a kind share a class.
pub const MAX_CLASSES: usize = 512;
/// Places of the table, a power of two.
const SLOTS: usize = 4096;
/// The most places that the table has. The others are not looked up.
const MAX_SITES: usize = SLOTS / 4 * 3;

/// What is taken or waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Lock {
    Mutex,
    Rwlock,
    Cond,
}

impl Lock {
    const fn kind(self) -> Kind {
        match self {
            Self::Mutex => Kind::Mutex,
            Self::Rwlock => Kind::RwLock,
            Self::Cond => Kind::Cond,
        }
    }

    const fn documentation(self) -> &'static str {
        match self {
            Self::Mutex => "Mutexes that this place of the program's code takes.",
            Self::Rwlock => "Read-write locks that this place of the program's code takes.",
            Self::Cond => "Conditions that this place of the program's code waits for.",
        }
    }
}

/// A place of the program's code.
struct Site {
    /// The return address times four, plus the kind of lock; 0 = unused.
    key: AtomicUsize,
    class: AtomicPtr<Class>,
}

static SITES: [Site; SLOTS] = [const {
    Site {
        key: AtomicUsize::new(0),
        class: AtomicPtr::new(std::ptr::null_mut()),
    }
}; SLOTS];

/// Whether the table has [`MAX_SITES`].
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// What creates classes.
#[derive(Default)]
struct Creator {
    functions: Option<Functions>,
    sites: usize,
    classes: usize,
}

static CREATOR: OnceLock<Mutex<Creator>> = OnceLock::new();

/// Reads the names of the program's functions, which may not be readable later.
pub fn open() {
    let functions = Functions::of(Path::new("/proc/self/exe"));
    let _ = CREATOR.set(Mutex::new(Creator {
        functions,
        ..Creator::default()
    }));
}

/// The key of a place. Addresses of a process have 47 bits.
#[inline(always)]
fn key_of(lock: Lock, return_address: usize) -> usize {
    return_address << 2 | lock as usize
}

/// The slot in which the search for a key begins.
#[inline(always)]
fn first_slot(key: usize) -> usize {
    // Fibonacci hashing: the golden ratio of 2^64, and the upper bits of the product.
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - SLOTS.ilog2())) % SLOTS
}

/// The class of a place that was there before.
#[inline(always)]
pub fn existing(lock: Lock, return_address: usize) -> Option<&'static Class> {
    let key = key_of(lock, return_address);
    let mut slot = first_slot(key);
    loop {
        // Acquire: pairs with the release in `resolve`.
        match SITES[slot].key.load(Ordering::Acquire) {
            0 => return None,
            other if other == key => {
                // SAFETY: NULL, or a class, which lives as long as the process.
                return unsafe { SITES[slot].class.load(Ordering::Relaxed).as_ref() };
            }
            _ => slot = (slot + 1) % SLOTS,
        }
    }
}

/// The class of a place. Called inside of Tare only: it allocates.
pub fn class(lock: Lock, return_address: usize) -> Option<&'static Class> {
    existing(lock, return_address).or_else(|| resolve(lock, return_address))
}

/// Creates the class of a place.
#[cold]
fn resolve(lock: Lock, return_address: usize) -> Option<&'static Class> {
    let program = classes()?.program();
    if IS_FULL.load(Ordering::Relaxed) {
        return other(lock, program);
    }
    let creator = CREATOR.get()?.lock();
    let mut creator = creator.unwrap_or_else(PoisonError::into_inner);
    // Another thread may have been here since.
    if let Some(class) = existing(lock, return_address) {
        return Some(class);
    }
    let class = match creator.classes < MAX_CLASSES {
        true => {
            creator.classes += 1;
            create(lock, program, &creator.name_of(return_address))
        }
        false => other(lock, program),
    }?;
    let key = key_of(lock, return_address);
    let mut slot = first_slot(key);
    while SITES[slot].key.load(Ordering::Relaxed) != 0 {
        slot = (slot + 1) % SLOTS;
    }
    let place = std::ptr::from_ref(class).cast_mut();
    SITES[slot].class.store(place, Ordering::Relaxed);
    SITES[slot].key.store(key, Ordering::Release);
    creator.sites += 1;
    if creator.sites == MAX_SITES {
        IS_FULL.store(true, Ordering::Relaxed);
    }
    Some(class)
}

/// The class of all places that have none of their own.
fn other(lock: Lock, program: &str) -> Option<&'static Class> {
    static OTHERS: [OnceLock<Option<&'static Class>>; 3] = [const { OnceLock::new() }; 3];
    *OTHERS[lock as usize].get_or_init(|| create(lock, program, "other"))
}

fn create(lock: Lock, program: &str, place: &str) -> Option<&'static Class> {
    let name = format!("{}{program}/{place}", lock.kind().prefix());
    Class::find_or_create(lock.kind(), &name, lock.documentation(), Class::enabled).ok()
}

impl Creator {
    /// The last part of the name of a place's instrument.
    fn name_of(&self, return_address: usize) -> String {
        let Some(functions) = &self.functions else {
            return format!("{return_address:#x}");
        };
        // SAFETY: reads the auxiliary vector.
        let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
        name(&functions.return_place(headers, return_address as u64))
    }
}

/// `function+0x1f`, or `0x1234`: the address in the program's file.
fn name(place: &Place) -> String {
    let sign = |byte: u8| byte.is_ascii_graphic() && byte != b'/';
    match place.function {
        Some((function, distance))
            if function.len() <= MAX_FUNCTION_BYTES && function.bytes().all(sign) =>
        {
            let mut name = format!("{function}+{distance:#x}");
            if place.is_ambiguous {
                let _ = write!(name, "@{:#x}", place.address);
            }
            name
        }
        _ => format!("{:#x}", place.address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identify_sites() {
        let mut place = Place {
            address: 0x1234,
            function: Some(("item_lock", 0x1f)),
            is_ambiguous: false,
        };
        assert_eq!(name(&place), "item_lock+0x1f");
        place.is_ambiguous = true;
        assert_eq!(name(&place), "item_lock+0x1f@0x1234");
        let long = "x".repeat(MAX_FUNCTION_BYTES + 1);
        for function in [Some((&*long, 1)), Some(("a/b", 1)), None] {
            assert_eq!(name(&Place { function, ..place }), "0x1234");
        }
    }

    #[test]
    fn the_longest_name_is_an_instruments() {
        let (function, program) = ("x".repeat(MAX_FUNCTION_BYTES), "p".repeat(32));
        let place = Place {
            address: 0x7fff_ffff_ffff,
            function: Some((&function, 0xffff_ffff)),
            is_ambiguous: true,
        };
        for lock in [Lock::Mutex, Lock::Rwlock, Lock::Cond] {
            assert!(create(lock, &program, &name(&place)).is_some());
        }
    }

    #[test]
    fn the_table_finds_each_place_and_has_a_limit() {
        crate::names::create("program", None);
        let _ = CREATOR.set(Mutex::default());
        let address = |number: usize| 0x5555_5555_0000 + number * 5;
        let class_of = |number| class(Lock::Mutex, address(number)).expect("a class");
        for number in 0..MAX_SITES + 10 {
            let name = class_of(number).name();
            let expected = match number < MAX_CLASSES {
                true => format!("wait/synch/mutex/program/{:#x}", address(number)),
                false => "wait/synch/mutex/program/other".to_owned(),
            };
            assert_eq!(name, expected);
        }
        for number in 0..MAX_SITES + 10 {
            let is_there = existing(Lock::Mutex, address(number)).is_some();
            assert_eq!(is_there, number < MAX_SITES, "{number}");
            assert!(std::ptr::eq(class_of(number), class_of(number)));
        }
        // The same place with another kind of lock is another one.
        assert!(existing(Lock::Cond, address(0)).is_none());
        let other = class(Lock::Cond, address(0)).expect("a class");
        assert_eq!(other.name(), "wait/synch/cond/program/other");
    }
}
