//! The classes of PostgreSQL's wait events. A wait event is a word: its class in bits 24 to 31, and its
//! number in the class in bits 0 to 15. The numbers differ between versions, so the running server returns
//! the names.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use engine::{Class, Kind};

use crate::exports::exported;
use crate::names::{Classes, classes, create_enabled};

/// Classes of wait events, by their numbers.
const LWLOCK: u8 = 0x01;
const LOCK: u8 = 0x03;
const BUFFER_PIN: u8 = 0x04;
const ACTIVITY: u8 = 0x05;
const CLIENT: u8 = 0x06;
const EXTENSION: u8 = 0x07;
const IPC: u8 = 0x08;
const TIMEOUT: u8 = 0x09;
const IO: u8 = 0x0a;
const CLASSES: usize = IO as usize + 1;

/// Wait events of a class that have an instrument of their own. PostgreSQL 15 has 78 locks in the class with
/// the most events; extensions add locks.
const EVENTS: usize = 256;
/// The longest part of an instrument's name that is an event's.
const MAX_EVENT_BYTES: usize = 64;

/// The class of each wait event that has one; NULL = it was not looked up yet.
static EVENT_CLASSES: [[AtomicPtr<Class>; EVENTS]; CLASSES] =
    [const { [const { AtomicPtr::new(ptr::null_mut()) }; EVENTS] }; CLASSES];

/// The class of waits for the client's next message.
static CLIENT_READ: AtomicPtr<Class> = AtomicPtr::new(ptr::null_mut());

/// Whether waits of this class are for the client's next message: between two statements the session is idle.
pub fn is_client_read(class: &Class) -> bool {
    ptr::eq(class, CLIENT_READ.load(Ordering::Relaxed))
}

/// How waits of a class of wait events are recorded, and the first part of their instruments' names.
fn kind_of(class: u8) -> Option<(Kind, &'static str, &'static str)> {
    Some(match class {
        LWLOCK => (
            Kind::RwLock,
            "synch/rwlock",
            "Waits for a lock of PostgreSQL's memory (LWLock).",
        ),
        LOCK => (
            Kind::MetadataLock,
            "lock/metadata",
            "Waits for a lock of the lock manager (Lock).",
        ),
        BUFFER_PIN => (
            Kind::Cond,
            "synch/cond",
            "Waits for a buffer that another process uses (BufferPin).",
        ),
        CLIENT => (
            Kind::Socket,
            "io/socket",
            "Waits for the peer of a connection (Client).",
        ),
        EXTENSION => (
            Kind::Cond,
            "synch/cond",
            "Waits of an extension (Extension).",
        ),
        IPC => (Kind::Cond, "synch/cond", "Waits for another process (IPC)."),
        TIMEOUT => (Kind::Cond, "synch/cond", "Waits for a time (Timeout)."),
        IO => (Kind::File, "io/file", "Calls on files (IO)."),
        _ => return None,
    })
}

const fn class_of(word: u32) -> u8 {
    (word >> 24) as u8
}

/// Where the class of a wait event is stored; `None`: it has none of its own.
fn entry(word: u32) -> Option<&'static AtomicPtr<Class>> {
    EVENT_CLASSES
        .get(usize::from(class_of(word)))?
        .get(usize::from(word as u16))
}

/// Its wait events.
pub struct Events {
    /// `my_wait_event_info`: where the word of the present wait event is; 0 there = none.
    word: *const *const u32,
    /// `pgstat_get_wait_event`: a wait event's name.
    name: unsafe extern "C-unwind" fn(u32) -> *const c_char,
}

impl Events {
    /// PostgreSQL's variables, if it exports them.
    pub fn find() -> Option<Self> {
        let word = exported(c"my_wait_event_info")?.cast_const().cast();
        let name = exported(c"pgstat_get_wait_event")?;
        // SAFETY: rule 1 (a function of this type).
        let name = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn(u32) -> *const c_char>(
                name,
            )
        };
        Some(Self { word, name })
    }

    /// The class of the wait event in which the calling process is.
    #[inline(always)]
    pub fn current(&self) -> Option<&'static Class> {
        // SAFETY: rule 2 (both are readable).
        match unsafe { self.word.read_volatile().read_volatile() } {
            0 => None,
            word => self.class(word),
        }
    }

    /// Registers the wait events that need no memory of the server's, so that setup_instruments lists them
    /// before they occur. Names of LWLocks do, in some versions.
    pub fn register(&self, classes: &Classes) {
        for class in [LOCK, BUFFER_PIN, CLIENT, IPC, TIMEOUT, IO] {
            for number in 0..EVENTS as u32 {
                if let Some(class) = self.resolve(classes, u32::from(class) << 24 | number) {
                    class.register();
                }
            }
        }
    }

    /// The class of a wait event.
    #[inline]
    fn class(&self, word: u32) -> Option<&'static Class> {
        // SAFETY: NULL, or a class, which lives as long as the process.
        match unsafe { entry(word)?.load(Ordering::Acquire).as_ref() } {
            None => self.resolve(classes()?, word),
            class => class,
        }
    }

    /// Finds the class of a wait event by the name that the server returns.
    #[cold]
    fn resolve(&self, classes: &Classes, word: u32) -> Option<&'static Class> {
        let entry = entry(word)?;
        let class = match class_of(word) {
            ACTIVITY => classes.idle,
            number => {
                let (kind, group, documentation) = kind_of(number)?;
                let event = self.name_of(word)?;
                let name = format!("wait/{group}/{}/{event}", classes.program());
                let class = create_enabled(kind, name, documentation);
                if (number, &*event) == (CLIENT, "ClientRead") {
                    CLIENT_READ.store(ptr::from_ref(class).cast_mut(), Ordering::Relaxed);
                }
                class
            }
        };
        entry.store(ptr::from_ref(class).cast_mut(), Ordering::Release);
        Some(class)
    }

    /// The name of a wait event; `None`: the server knows no event of this number.
    fn name_of(&self, word: u32) -> Option<String> {
        // The server finds names that extensions gave only with a lock, and with a check that may fail.
        if class_of(word) == EXTENSION {
            return Some("Extension".to_owned());
        }
        // SAFETY: rule 1; the function returns constants, or the name of a lock that exists.
        let name = unsafe { (self.name)(word) };
        if name.is_null() {
            return None;
        }
        // SAFETY: rule 3.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        clean(&name)
    }
}

/// A name as part of an instrument's name. `None`: it is the server's text for a number that has no event.
fn clean(name: &str) -> Option<String> {
    if name.is_empty() || name == "unknown wait event" || name.starts_with(['?', '<']) {
        return None;
    }
    let sign = |char: char| match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | ':' | ' ' => char,
        _ => '_',
    };
    Some(name.chars().take(MAX_EVENT_BYTES).map(sign).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_for_numbers_without_an_event_are_no_names() {
        for text in ["unknown wait event", "???", "<unassigned:0>", ""] {
            assert_eq!(clean(text), None, "{text}");
        }
        assert_eq!(clean("WALWrite").as_deref(), Some("WALWrite"));
        assert_eq!(clean("my/lock").as_deref(), Some("my_lock"));
        assert_eq!(clean(&"x".repeat(99)), Some("x".repeat(MAX_EVENT_BYTES)));
    }
}
