//! Threads of servers that name them for the system: ps, top and debuggers display the name that the server
//! registers for each kind of thread, with a number if there are several.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::{ptr, slice};

use engine::Kind;

use super::exchange::catch_panic;
use super::keys::{self, KEYS};
use super::thread::{self, Routine, SystemName, Thread};
use crate::interface::text::c_text;
use crate::interface::{Interface, Registration};

/// The info of a thread's instrument: its name for the system comes before the flags.
#[repr(C)]
#[derive(Debug)]
pub struct NamedInfo {
    key: *mut u32,
    name: *const c_char,
    system_name: *const c_char,
    flags: u32,
    volatility: u32,
    documentation: *const c_char,
}

const _: () = assert!(size_of::<NamedInfo>() == 40);

/// The server's flags: there is one such thread; threads are numbered in their order; threads have no number.
const SINGLETON: u32 = 1;
const COUNTED: u32 = 1 << 10;
const UNNUMBERED: u32 = 1 << 11;

/// The name of a key's threads. It lives for ever.
struct Naming {
    name: String,
    flags: u32,
    /// The threads that were numbered until now.
    count: AtomicU32,
}

static NAMINGS: [AtomicPtr<Naming>; KEYS] = [const { AtomicPtr::new(ptr::null_mut()) }; KEYS];

/// The name of a new thread; empty = its name does not change.
fn next_name(key: u32, number: u32) -> SystemName {
    let mut name = SystemName::default();
    let Some(place) = NAMINGS.get(key as usize) else {
        return name;
    };
    // SAFETY: null, or leaked by `register_thread`.
    let Some(naming) = (unsafe { place.load(Ordering::Acquire).as_ref() }) else {
        return name;
    };
    let number = match naming.flags {
        flags if flags & (SINGLETON | UNNUMBERED) != 0 => String::new(),
        flags if flags & COUNTED != 0 => {
            format!("-{}", naming.count.fetch_add(1, Ordering::Relaxed) + 1)
        }
        _ => format!("-{number}"),
    };
    let capacity = name.len() - 1;
    let text = naming.name.bytes().chain(number.bytes());
    for (into, byte) in name[..capacity].iter_mut().zip(text) {
        *into = byte;
    }
    name
}

pub unsafe extern "C" fn register_thread<S: Interface>(
    category: *const c_char,
    infos: *mut NamedInfo,
    count: c_int,
) {
    catch_panic((), || {
        if infos.is_null() {
            return;
        }
        // SAFETY: rules 4 and 5 (`count` infos, and a C string).
        let (category, infos) = unsafe {
            let infos = slice::from_raw_parts_mut(infos, count.max(0) as usize);
            (c_text(category), infos)
        };
        for info in infos {
            // SAFETY: rule 5 (the info has C strings or NULL).
            let (name, system_name, documentation) = unsafe {
                let name = c_text(info.name);
                (name, c_text(info.system_name), c_text(info.documentation))
            };
            let registration = Registration {
                flags: S::flags(Kind::Thread, info.flags),
                volatility: info.volatility,
                documentation: documentation.into_owned(),
            };
            let full = format!("{}{category}/{name}", Kind::Thread.prefix());
            let key = keys::register::<S>(Kind::Thread, &full, &registration);
            // SAFETY: rule 5 (the info has the address of its key).
            if let Some(place) = unsafe { info.key.as_mut() } {
                *place = key;
            }
            if let Some(place) = NAMINGS.get(key as usize).filter(|_| key != 0) {
                let naming = Box::leak(Box::new(Naming {
                    name: system_name.into_owned(),
                    flags: info.flags,
                    count: AtomicU32::new(0),
                }));
                place.store(naming, Ordering::Release);
            }
        }
    });
}

pub unsafe extern "C" fn spawn_thread(
    key: u32,
    number: u32,
    handle: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let name = catch_panic(SystemName::default(), || next_name(key, number));
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { thread::spawn_named(key, name, handle, attributes, routine, argument) }
}

pub unsafe extern "C" fn new_thread(
    key: u32,
    number: u32,
    identity: *const c_void,
    processlist_id: u64,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    let thread = unsafe { thread::new_thread(key, identity, processlist_id) };
    // SAFETY: NULL or just created, and not shared yet.
    if let Some(thread) = unsafe { thread.cast::<Thread>().as_ref() } {
        thread.name.set(catch_panic(SystemName::default(), || {
            next_name(key, number)
        }));
    }
    thread
}

pub unsafe extern "C" fn set_thread(thread: *mut c_void) {
    // SAFETY: rules 1 and 8 (the thread is not destroyed).
    unsafe {
        thread::set_thread(thread);
        if let Some(thread) = thread.cast::<Thread>().as_ref() {
            thread::set_system_name(&thread.name.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_numbers_where_there_are_several() {
        let name = |key, number| {
            let name = next_name(key, number);
            let length = name.iter().position(|byte| *byte == 0).expect("a zero");
            String::from_utf8_lossy(&name[..length]).into_owned()
        };
        for (key, flags) in [
            (8001, SINGLETON),
            (8002, COUNTED),
            (8003, UNNUMBERED),
            (8004, 0),
        ] {
            let naming = Naming {
                name: "ib_io_a_long_name".into(),
                flags,
                count: AtomicU32::new(0),
            };
            NAMINGS[key].store(Box::leak(Box::new(naming)), Ordering::Release);
        }
        assert_eq!(name(8001, 7), "ib_io_a_long_na");
        assert_eq!(name(8003, 7), "ib_io_a_long_na");
        assert_eq!(name(8000, 7), "");
        let short = Naming {
            name: "ib_io".into(),
            flags: COUNTED,
            count: AtomicU32::new(0),
        };
        NAMINGS[8002].store(Box::leak(Box::new(short)), Ordering::Release);
        assert_eq!(
            (name(8002, 7), name(8002, 7)),
            ("ib_io-1".into(), "ib_io-2".into())
        );
    }
}
