//! Files: by name, with operation and bytes.
//!
//! A `PSI_file` is an open file. Descriptors lead to theirs through a table, as in the server.

use std::ffi::{c_char, c_int, c_void};
use std::path::{Component, Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use engine::file::Instance;
use engine::wait::Wait;
use engine::{Kind, Operation, wait};

use super::exchange::{NONE, catch_panic, end, give, lend, source, take_back};
use super::keys::{self, Instrument};
use crate::interface::text::c_text;

/// What the server stores for an open file.
#[derive(Debug)]
struct File {
    instance: Instance,
}

/// The number of descriptors that are tracked: servers open no more by default.
const DESCRIPTORS: usize = 1 << 16;

/// The file of each descriptor.
static OPEN: [AtomicPtr<File>; DESCRIPTORS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; DESCRIPTORS];

/// The data of an operation until its end, in the state of 72 bytes that the server lends.
struct Locker {
    wait: Option<Wait>,
    on: On,
    /// The key of the class of a file that is named; 0 = the file is open.
    key: u32,
    operation: Operation,
}

/// The file of an operation.
union On {
    file: *mut File,
    name: *const c_char,
}

impl Locker {
    /// The open file; null = the file is named.
    fn file(&self) -> *mut File {
        match self.key {
            // SAFETY: without a key the locker has a file.
            0 => unsafe { self.on.file },
            _ => ptr::null_mut(),
        }
    }

    /// The class and the name of a file that is not open.
    fn named(&self) -> Option<(&'static Instrument, *const c_char)> {
        // SAFETY: with a key the locker has a name.
        (self.key != 0).then(|| Some((keys::get(self.key)?, unsafe { self.on.name })))?
    }
}

const _: () = assert!(size_of::<Locker>() <= 72);

/// The interface's operations, by number.
const OPERATIONS: [Operation; 17] = [
    Operation::Create,
    Operation::Create,
    Operation::Open,
    Operation::Open,
    Operation::Close,
    Operation::Close,
    Operation::Read,
    Operation::Write,
    Operation::Seek,
    Operation::Tell,
    Operation::Flush,
    Operation::Stat,
    Operation::FStat,
    Operation::ChangeSize,
    Operation::Delete,
    Operation::Rename,
    Operation::Sync,
];

/// The absolute path of a file that the server names, without `.` and `..`.
fn full_path(name: &str) -> String {
    let mut path = PathBuf::new();
    let given = Path::new(name);
    if given.is_relative() {
        path = std::env::current_dir().unwrap_or_default();
    }
    for part in given.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = path.pop(),
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}

fn new_file(instrument: &'static Instrument, name: &str) -> *mut File {
    give(File {
        instance: Instance::open(instrument.class, &full_path(name)),
    })
    .cast()
}

fn slot(descriptor: c_int) -> Option<&'static AtomicPtr<File>> {
    OPEN.get(usize::try_from(descriptor).ok()?)
}

unsafe fn bind(descriptor: c_int, file: *mut File) {
    let Some(slot) = slot(descriptor) else {
        // SAFETY: the file was not shared yet.
        drop(unsafe { take_back::<File>(file.cast()) });
        return;
    };
    let before = slot.swap(file, Ordering::AcqRel);
    // The server closed it by a call that is not instrumented, so the number is free.
    // SAFETY: the table has only files of `new_file`, each once.
    drop(unsafe { take_back::<File>(before.cast()) });
}

pub unsafe extern "C" fn create_file(key: u32, name: *const c_char, descriptor: c_int) {
    catch_panic((), || {
        if let Some(instrument) = keys::of_kind(key, Kind::File)
            && descriptor >= 0
        {
            // SAFETY: rules 1 and 4 (a new file, and a C string).
            unsafe { bind(descriptor, new_file(instrument, &c_text(name))) };
        }
    });
}

pub unsafe extern "C" fn get_thread_file_name_locker(
    state: *mut c_void,
    key: u32,
    operation: c_int,
    name: *const c_char,
    _identity: *const c_void,
) -> *mut c_void {
    let Some(&operation) = OPERATIONS.get(operation as usize) else {
        return NONE;
    };
    if keys::of_kind(key, Kind::File).is_none() {
        return NONE;
    }
    let locker = Locker {
        wait: None,
        on: On { name },
        key,
        operation,
    };
    // SAFETY: rule 3 (72 bytes).
    unsafe { lend(state, locker) }
}

unsafe fn lend_file_locker(state: *mut c_void, file: *mut File, operation: c_int) -> *mut c_void {
    let Some(&operation) = OPERATIONS.get(operation as usize) else {
        return NONE;
    };
    if file.is_null() {
        return NONE;
    }
    let locker = Locker {
        wait: None,
        on: On { file },
        key: 0,
        operation,
    };
    // SAFETY: rule 3 (72 bytes).
    unsafe { lend(state, locker) }
}

pub unsafe extern "C" fn get_thread_file_stream_locker(
    state: *mut c_void,
    file: *mut c_void,
    operation: c_int,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { lend_file_locker(state, file.cast(), operation) }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn get_thread_file_descriptor_locker(
    state: *mut c_void,
    descriptor: c_int,
    operation: c_int,
) -> *mut c_void {
    let Some(slot) = slot(descriptor) else {
        return NONE;
    };
    let closes = matches!(OPERATIONS.get(operation as usize), Some(Operation::Close));
    let file = match closes {
        // From now on the number may belong to another file.
        true => slot.swap(ptr::null_mut(), Ordering::AcqRel),
        false => slot.load(Ordering::Acquire),
    };
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { lend_file_locker(state, file, operation) }
}

/// # Safety
/// `locker` came from one of the functions above, `file` as [`source`].
unsafe fn start_wait(locker: *mut c_void, file: *const c_char, line: u32) {
    if locker.is_null() {
        return;
    }
    // SAFETY: rule 8 (a locker of this file, which has not ended).
    let locker = unsafe { &mut *locker.cast::<Locker>() };
    // SAFETY: rule 4 (`file` is a C string).
    let source = unsafe { source(file, line) };
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    locker.wait = match (unsafe { locker.file().as_ref() }, locker.named()) {
        (Some(file), _) => Some(file.instance.wait_at(locker.operation, source)),
        (None, Some((instrument, _))) => {
            Some(wait::start_at(instrument.class, locker.operation, source))
        }
        (None, None) => None,
    };
}

pub unsafe extern "C" fn start_file_open_wait(locker: *mut c_void, file: *const c_char, line: u32) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { start_wait(locker, file, line) };
}

pub unsafe extern "C" fn start_file_close_wait(
    locker: *mut c_void,
    file: *const c_char,
    line: u32,
) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { start_wait(locker, file, line) };
}

pub unsafe extern "C" fn start_file_rename_wait(
    locker: *mut c_void,
    _bytes: usize,
    _from: *const c_char,
    _to: *const c_char,
    file: *const c_char,
    line: u32,
) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { start_wait(locker, file, line) };
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_file_wait(
    locker: *mut c_void,
    _bytes: usize,
    file: *const c_char,
    line: u32,
) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { start_wait(locker, file, line) };
}

/// Ends the opening of a file by name. If it succeeded, the wait counts for the file.
unsafe fn end_open(locker: *mut c_void, is_open: bool, name: *const c_char) -> *mut File {
    if locker.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: rule 2 (the event ends here).
    let mut locker = unsafe { end::<Locker>(locker) };
    let Some((instrument, given)) = locker.named().filter(|_| is_open) else {
        return ptr::null_mut();
    };
    catch_panic(ptr::null_mut(), || {
        let name = if name.is_null() { given } else { name };
        // SAFETY: rule 4 (a C string).
        let file = new_file(instrument, &unsafe { c_text(name) });
        // SAFETY: just created.
        if let (Some(file), Some(wait)) = (unsafe { file.as_ref() }, &mut locker.wait) {
            wait.about_file(&file.instance);
        }
        file
    })
}

pub unsafe extern "C" fn end_file_open_wait(
    locker: *mut c_void,
    result: *mut c_void,
) -> *mut c_void {
    // SAFETY: rule 2 (the event ends here).
    unsafe { end_open(locker, !result.is_null(), ptr::null()) }.cast()
}

pub unsafe extern "C" fn end_file_open_wait_and_bind_to_descriptor(
    locker: *mut c_void,
    descriptor: c_int,
) {
    // SAFETY: rules 2 and 4 (the event ends here).
    unsafe {
        let file = end_open(locker, descriptor >= 0, ptr::null());
        if !file.is_null() {
            bind(descriptor, file);
        }
    }
}

pub unsafe extern "C" fn end_temp_file_open_wait_and_bind_to_descriptor(
    locker: *mut c_void,
    descriptor: c_int,
    name: *const c_char,
) {
    // SAFETY: rules 2 and 4 (the event ends here).
    unsafe {
        let file = end_open(locker, descriptor >= 0, name);
        if !file.is_null() {
            bind(descriptor, file);
        }
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_file_wait(locker: *mut c_void, bytes: usize) {
    if locker.is_null() {
        return;
    }
    // SAFETY: rule 2 (the event ends here).
    let mut locker = unsafe { end::<Locker>(locker) };
    // A change of size reports the new size.
    let has_bytes = matches!(
        locker.operation,
        Operation::Read | Operation::Write | Operation::ChangeSize
    );
    if let Some(wait) = &mut locker.wait
        && has_bytes
        && bytes != usize::MAX
    {
        wait.bytes(bytes as u64);
    }
    // SAFETY: as above.
    unsafe { apply_to_named_file(&mut locker, true) };
}

/// Counts an operation by name for the file of this name.
unsafe fn apply_to_named_file(locker: &mut Locker, succeeded: bool) {
    let Some((instrument, name)) = locker.named() else {
        return;
    };
    if name.is_null() || !succeeded {
        return;
    }
    catch_panic((), || {
        // SAFETY: rule 4 (a C string).
        let name = full_path(&unsafe { c_text(name) });
        match locker.operation {
            Operation::Delete => Instance::deleted(instrument.class, &name),
            // 5.6 reports neither the old nor the new name, so only the class counts it.
            Operation::Rename => {}
            _ => {
                let instance = Instance::open(instrument.class, &name);
                if let Some(wait) = &mut locker.wait {
                    wait.about_file(&instance);
                }
                // The wait ends while its file exists.
                locker.wait = None;
            }
        }
    });
}

pub unsafe extern "C" fn end_file_close_wait(locker: *mut c_void, failed: c_int) {
    if locker.is_null() {
        return;
    }
    // SAFETY: rule 2 (the event ends here).
    let mut locker = unsafe { end::<Locker>(locker) };
    // SAFETY: as above.
    unsafe { apply_to_named_file(&mut locker, failed == 0) };
    let (file, closes) = (locker.file(), locker.operation == Operation::Close);
    drop(locker);
    if closes {
        // The descriptor is closed even if the system reported an error.
        // SAFETY: rule 1 (the object is destroyed here).
        drop(catch_panic(None, || unsafe {
            take_back::<File>(file.cast())
        }));
    }
}

pub unsafe extern "C" fn end_file_rename_wait(
    locker: *mut c_void,
    from: *const c_char,
    to: *const c_char,
    failed: c_int,
) {
    if locker.is_null() {
        return;
    }
    // SAFETY: rule 2 (the event ends here).
    let locker = unsafe { end::<Locker>(locker) };
    let Some((instrument, _)) = locker.named().filter(|_| failed == 0) else {
        return;
    };
    catch_panic((), || {
        // SAFETY: rule 4 (C strings).
        let (from, to) = unsafe { (full_path(&c_text(from)), full_path(&c_text(to))) };
        Instance::renamed(instrument.class, &from, &to);
    });
}
