//! SQLite's files, each operation a wait: a VFS that passes each call on to the default one.

mod file;

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_vfs};
use tare::{Class, Operation};

use self::file::File;
use super::points::{SQLITE_DB, SQLITE_JOURNAL, SQLITE_SHM, SQLITE_TEMP, SQLITE_WAL};

const NAME: &CStr = c"tare";

/// Makes the instrumented VFS the default one.
pub fn register() {
    // SAFETY: SQLite gets a VFS that lives for the rest of the process (leaked), whose
    // methods are here and in `file`; the default VFS it refers to does too.
    unsafe {
        let real = ffi::sqlite3_vfs_find(ptr::null());
        if real.is_null() {
            return;
        }
        // All methods that do not touch files are the real VFS's own. They get `vfs` as their first
        // argument; the unix VFS reads its pAppData, so that field is copied.
        let mut vfs = *real;
        vfs.zName = NAME.as_ptr();
        vfs.pNext = ptr::null_mut();
        vfs.szOsFile = (*real).szOsFile + size_of::<File>() as c_int;
        vfs.xOpen = Some(open);
        vfs.xDelete = Some(delete);
        vfs.xAccess = Some(access);
        ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 1);
    }
}

fn real_vfs() -> *mut sqlite3_vfs {
    // SAFETY: the unix VFS is always registered, under this name.
    unsafe { ffi::sqlite3_vfs_find(c"unix".as_ptr()) }
}

fn class_of(flags: c_int) -> &'static Class {
    match flags {
        f if f & ffi::SQLITE_OPEN_MAIN_DB != 0 => &SQLITE_DB,
        f if f & ffi::SQLITE_OPEN_WAL != 0 => &SQLITE_WAL,
        f if f & (ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL) != 0 => {
            &SQLITE_JOURNAL
        }
        _ => &SQLITE_TEMP,
    }
}

/// Files opened, and temporary files opened. Opening is rare, and slow.
static OPENED: AtomicU64 = AtomicU64::new(0);
static OPENED_TEMPORARY: AtomicU64 = AtomicU64::new(0);
const TEMPORARY: c_int = ffi::SQLITE_OPEN_TEMP_DB
    | ffi::SQLITE_OPEN_TRANSIENT_DB
    | ffi::SQLITE_OPEN_TEMP_JOURNAL
    | ffi::SQLITE_OPEN_SUBJOURNAL;

/// Files that SQLite has opened.
pub fn opened_files() -> u64 {
    OPENED.load(Ordering::Relaxed)
}

/// Temporary files that SQLite has opened.
pub fn temporary_files() -> u64 {
    OPENED_TEMPORARY.load(Ordering::Relaxed)
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let path = if name.is_null() {
        "(temporary)".into()
    } else {
        // SAFETY: SQLite passes null or a C string.
        unsafe { CStr::from_ptr(name) }.to_string_lossy()
    };
    let class = class_of(flags);
    OPENED.fetch_add(1, Ordering::Relaxed);
    if flags & TEMPORARY != 0 {
        OPENED_TEMPORARY.fetch_add(1, Ordering::Relaxed);
    }
    let vfs = real_vfs();
    // SAFETY: `file` has space for szOsFile bytes, the `File` first; writing it initializes it. The
    // real VFS gets the space behind it, and initializes that.
    unsafe {
        file.cast::<File>().write(File::new(flags));
        let point = tare::file::Instance::open(class, &path);
        let rc = {
            let _waits = point.wait(Operation::Open);
            match (*vfs).xOpen {
                Some(open) => open(vfs, name, file::real(file), flags, out),
                None => ffi::SQLITE_CANTOPEN,
            }
        };
        if rc == ffi::SQLITE_OK {
            let index = (flags & ffi::SQLITE_OPEN_MAIN_DB != 0)
                .then(|| tare::file::Instance::open(&SQLITE_SHM, &format!("{path}-shm")));
            file::set_methods(file, point, index);
            return rc;
        }
        match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => ffi::SQLITE_FULL,
            _ => rc,
        }
    }
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    let vfs = real_vfs();
    // SAFETY: SQLite passes a C string.
    let path = unsafe { CStr::from_ptr(name) }.to_bytes();
    let class = if path.ends_with(b"-wal") {
        &SQLITE_WAL
    } else if path.ends_with(b"-journal") {
        &SQLITE_JOURNAL
    } else {
        &SQLITE_TEMP
    };
    let _wait = tare::wait::start(class, Operation::Delete);
    // SAFETY: the arguments are passed on as they came.
    unsafe {
        (*vfs)
            .xDelete
            .map_or(ffi::SQLITE_IOERR, |delete| delete(vfs, name, sync))
    }
}

unsafe extern "C" fn access(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let vfs = real_vfs();
    // SAFETY: the arguments are passed on as they came.
    unsafe {
        (*vfs)
            .xAccess
            .map_or(ffi::SQLITE_IOERR, |access| access(vfs, name, flags, out))
    }
}
