//! Metadata locks.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use engine::metadata::{self, MetadataLock};
use engine::wait::{self, Wait};
use engine::{Class, LockDuration, LockStatus, LockType, Operation};

use super::exchange::{NONE, catch_panic, end_wait, give, lend_wait, source, take_back};
use super::lock_cache::{CACHED_LOCKS, LockRecord};
use super::thread;
use crate::interface::Interface;

static CLASS: OnceLock<&'static Class> = OnceLock::new();

/// Sets the class of metadata locks.
pub fn set_class(class: &'static Class) {
    let _ = CLASS.set(class);
}

/// What the server stores for a lock that it creates at the level `active`: it has neither name nor data, but
/// the server reports only the waits for a lock that has something.
static UNNAMED: u64 = 0;

fn unnamed() -> *mut c_void {
    (&raw const UNNAMED).cast_mut().cast()
}

/// [`create_metadata_lock`] at the level `active`, of every release.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn create_unnamed_lock() -> *mut c_void {
    unnamed()
}

/// The data of a lock, if it has any.
///
/// # Safety
/// `lock` is NULL, or an object that is not destroyed.
unsafe fn record_at<'a>(lock: *mut c_void) -> Option<&'a mut LockRecord> {
    match lock == unnamed() {
        true => None,
        // SAFETY: rule 8 (NULL, or an object that is not destroyed).
        false => unsafe { lock.cast::<LockRecord>().as_mut() },
    }
}

/// The same of a lock that the server destroys.
///
/// # Safety
/// As [`record_at`], and it is not used any more.
unsafe fn take_record(lock: *mut c_void) -> Option<Box<LockRecord>> {
    match lock == unnamed() {
        true => None,
        // SAFETY: rule 8 (NULL, or an object that is destroyed here).
        false => unsafe { take_back::<LockRecord>(lock) },
    }
}

/// Takes the cached lock of the same object.
#[unsafe(link_section = "tare_hot")]
fn take_cached(key: &[u8]) -> Option<Box<LockRecord>> {
    let thread = thread::current()?;
    // SAFETY: only this thread uses it, and nothing below re-enters this module.
    let cache = unsafe { &mut *thread.metadata.get() };
    let at = cache.iter().position(|metadata| *metadata.key == *key)?;
    Some(cache.swap_remove(at))
}

/// Puts a lock into the cache, or frees it if the thread has none.
#[unsafe(link_section = "tare_hot")]
fn put_into_cache(mut metadata: Box<LockRecord>) {
    metadata.lock.released();
    let Some(thread) = thread::current() else {
        return;
    };
    // SAFETY: as above; dropping a lock calls the engine, not this module.
    let cache = unsafe { &mut *thread.metadata.get() };
    if cache.len() == CACHED_LOCKS {
        cache.swap_remove(0);
    }
    cache.push(metadata);
}

const _: () = assert!(size_of::<Wait>() <= 48);

/// The server's statuses, by number.
const STATUSES: [LockStatus; 7] = [
    LockStatus::Pending,
    LockStatus::Granted,
    LockStatus::Victim,
    LockStatus::Timeout,
    LockStatus::Killed,
    LockStatus::PreAcquireNotify,
    LockStatus::PostReleaseNotify,
];

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn create_metadata_lock<S: Interface>(
    _identity: *mut c_void,
    key: *const c_void,
    kind: c_int,
    duration: c_int,
    status: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    let Some(class) = CLASS.get() else {
        return NONE;
    };
    // Most servers never have the instrument on: then nothing is read, and nothing allocated.
    if !metadata::are_recorded(class) {
        return NONE;
    }
    catch_panic(NONE, || {
        // The server's numbers are Tare's less one.
        let kind = u8::try_from(kind + 1).ok().and_then(LockType::from_u8);
        let duration = u8::try_from(duration + 1)
            .ok()
            .and_then(LockDuration::from_u8);
        let (Some(kind), Some(duration), Some(&status)) =
            (kind, duration, STATUSES.get(status as usize))
        else {
            return NONE;
        };
        // SAFETY: rules 4 and 5 (a key of this release, and a C string).
        let (bytes, source) = unsafe { (S::FIELDS.metadata_bytes(key), source(file, line)) };
        if let Some(mut metadata) = take_cached(bytes) {
            metadata.lock.source(source);
            metadata.kind = kind;
            metadata.duration = duration;
            metadata.status = status;
            metadata.lock.publish(kind, duration, status);
            return Box::into_raw(metadata).cast();
        }
        // SAFETY: rule 5 (laid out as the release declares).
        let Some((on, schema, name)) = (unsafe { S::FIELDS.metadata_key(key) }) else {
            return NONE;
        };
        let mut lock = MetadataLock::new(class, on, &schema, &name);
        lock.source(source);
        lock.publish(kind, duration, status);
        give(LockRecord {
            lock,
            kind,
            duration,
            status,
            key: bytes.into(),
        })
    })
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_metadata_lock_status(lock: *mut c_void, status: c_int) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let Some(metadata) = (unsafe { record_at(lock) }) else {
        return;
    };
    if let Some(&status) = STATUSES.get(status as usize) {
        metadata.status = status;
        metadata.republish();
    }
}

pub unsafe extern "C" fn set_metadata_lock_duration(lock: *mut c_void, duration: c_int) {
    // SAFETY: as above.
    let metadata = unsafe { record_at(lock) };
    let duration = u8::try_from(duration + 1)
        .ok()
        .and_then(LockDuration::from_u8);
    if let (Some(metadata), Some(duration)) = (metadata, duration) {
        metadata.duration = duration;
        metadata.republish();
    }
}

pub unsafe extern "C" fn set_metadata_lock_type(lock: *mut c_void, kind: c_int) {
    // SAFETY: as above.
    let metadata = unsafe { record_at(lock) };
    let kind = u8::try_from(kind + 1).ok().and_then(LockType::from_u8);
    if let (Some(metadata), Some(kind)) = (metadata, kind) {
        metadata.kind = kind;
        metadata.republish();
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn destroy_metadata_lock(lock: *mut c_void) {
    catch_panic((), || {
        // SAFETY: rule 1 (the object is destroyed here).
        if let Some(metadata) = unsafe { take_record(lock) } {
            put_into_cache(metadata);
        }
    });
}

pub unsafe extern "C" fn start_metadata_wait(
    state: *mut c_void,
    lock: *mut c_void,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: as above.
    let metadata = unsafe { record_at(lock) };
    let Some(class) = CLASS.get().filter(|_| !lock.is_null()) else {
        return NONE;
    };
    // SAFETY: rules 3 and 4 (48 bytes, and `file` is a C string).
    unsafe {
        lend_wait(state, || {
            let source = source(file, line);
            match metadata {
                Some(lock) => lock.lock.wait_at(lock.kind, lock.duration, source),
                None => wait::start_at(class, Operation::MetadataLock, source),
            }
        })
    }
}

pub unsafe extern "C" fn end_metadata_wait(locker: *mut c_void, _failed: c_int) {
    if !locker.is_null() {
        // SAFETY: rule 2 (the event ends here).
        unsafe { end_wait(locker, |_| {}) };
    }
}
