//! SQLite's operations on an open file: each call goes on to the real file's method, some as waits.

use std::os::raw::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods};
use tare::Operation;

use crate::metrics;

/// An open file: SQLite's header, Tare's fields, and behind them the real VFS's file.
#[repr(C)]
pub(super) struct File {
    base: sqlite3_file,
    point: Option<tare::file::Instance>,
    kind: FileKind,
    /// The write-ahead log's index belongs to the database's file.
    shm: Option<tare::file::Instance>,
}

/// What a file is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Database,
    Log,
    Other,
}

impl File {
    /// A file that is about to be opened with these flags.
    pub(super) fn new(flags: c_int) -> Self {
        Self {
            base: sqlite3_file {
                pMethods: ptr::null(),
            },
            point: None,
            kind: match flags {
                f if f & ffi::SQLITE_OPEN_MAIN_DB != 0 => FileKind::Database,
                f if f & ffi::SQLITE_OPEN_WAL != 0 => FileKind::Log,
                _ => FileKind::Other,
            },
            shm: None,
        }
    }
}

/// Sets the methods below for a file that the real VFS has opened. `index` is that of its write-ahead log.
///
/// # Safety
/// `file` is a [`File`] that was written, with the real file, open, behind it.
pub(super) unsafe fn set_methods(
    file: *mut sqlite3_file,
    point: tare::file::Instance,
    index: Option<tare::file::Instance>,
) {
    metrics::FILE_NUM_OPEN_FILES.set(OPEN.fetch_add(1, Ordering::Relaxed) + 1);
    // SAFETY: the `File` was written (see above); nothing else has a pointer to it yet.
    unsafe {
        let ours = file.cast::<File>();
        (*ours).point = Some(point);
        (*ours).shm = index;
        (*ours).base.pMethods = match methods(file).iVersion {
            1 => &METHODS_1,
            2 => &METHODS_2,
            _ => &METHODS_3,
        };
    }
}

/// How many files are open.
static OPEN: AtomicI64 = AtomicI64::new(0);

/// Bytes of a WAL frame's header (SQLite's file format, 4.1), which is written by itself.
const FRAME_HEADER: c_int = 24;

/// # Safety
/// `file` was opened by the VFS and not closed.
unsafe fn file_kind(file: *mut sqlite3_file) -> FileKind {
    // SAFETY: the `File` is open (see above).
    unsafe { (*file.cast::<File>()).kind }
}

/// The real file behind ours.
///
/// # Safety
/// `file` was opened by the VFS.
pub(super) unsafe fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite allocates szOsFile bytes: a `File`, and after it the real one.
    unsafe { file.cast::<File>().add(1).cast() }
}

/// # Safety
/// `file` was opened by the VFS.
unsafe fn methods<'a>(file: *mut sqlite3_file) -> &'a sqlite3_io_methods {
    // SAFETY: the real file's methods were set by its own open, and are static.
    unsafe { &*(*real(file)).pMethods }
}

/// # Safety
/// `file` was opened by the VFS and not closed.
unsafe fn wait(file: *mut sqlite3_file, operation: Operation) -> Option<tare::wait::Wait> {
    // SAFETY: the `File` is open (see above), and unchanged while it is.
    let file = unsafe { &*file.cast::<File>() };
    file.point.as_ref().map(|p| p.wait(operation))
}

/// # Safety
/// As for [`wait`].
unsafe fn shm_wait(file: *mut sqlite3_file, operation: Operation) -> Option<tare::wait::Wait> {
    // SAFETY: as in `wait`.
    let file = unsafe { &*file.cast::<File>() };
    file.shm.as_ref().map(|p| p.wait(operation))
}

const fn table(version: c_int) -> sqlite3_io_methods {
    sqlite3_io_methods {
        iVersion: version,
        xClose: Some(close),
        xRead: Some(read),
        xWrite: Some(write),
        xTruncate: Some(truncate),
        xSync: Some(sync),
        xFileSize: Some(file_size),
        xLock: Some(lock),
        xUnlock: Some(unlock),
        xCheckReservedLock: Some(check_reserved_lock),
        xFileControl: Some(file_control),
        xSectorSize: Some(sector_size),
        xDeviceCharacteristics: Some(device_characteristics),
        xShmMap: Some(shm_map),
        xShmLock: Some(shm_lock),
        xShmBarrier: Some(shm_barrier),
        xShmUnmap: Some(shm_unmap),
        xFetch: Some(fetch),
        xUnfetch: Some(unfetch),
    }
}

static METHODS_1: sqlite3_io_methods = table(1);
static METHODS_2: sqlite3_io_methods = table(2);
static METHODS_3: sqlite3_io_methods = table(3);

/// Passes a call on to the real file's method of that name; SQLite calls only those that the
/// version of the methods has, and the real file has the same version.
macro_rules! pass {
    ($file:ident.$method:ident($($argument:expr),*)) => {
        // SAFETY: `$file` was opened by the VFS and is not closed, or SQLite would not call; the
        // arguments are passed on as they came, with the real file in place of ours.
        unsafe {
            match methods($file).$method {
                Some(method) => method(real($file), $($argument),*),
                None => ffi::SQLITE_IOERR,
            }
        }
    };
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let rc = {
        // SAFETY: the file is open until this returns (all `wait`s below too).
        let _waits = unsafe { wait(file, Operation::Close) };
        pass!(file.xClose())
    };
    // SAFETY: SQLite closes a file once, and does not use it after.
    unsafe {
        let ours = file.cast::<File>();
        metrics::FILE_NUM_OPEN_FILES.set(OPEN.fetch_sub(1, Ordering::Relaxed) - 1);
        (*ours).point = None;
        (*ours).shm = None;
        (*ours).base.pMethods = ptr::null();
    }
    rc
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    to: *mut c_void,
    n: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: see `close`.
    let mut waits = unsafe { wait(file, Operation::Read) };
    let rc = pass!(file.xRead(to, n, at));
    // SAFETY: see `close`.
    if unsafe { file_kind(file) } == FileKind::Database {
        metrics::OS_DATA_READS.add(1);
        metrics::BUFFER_PAGES_READ.add(1);
        metrics::BUFFER_DATA_READS.add(n as u64);
    }
    if let Some(waits) = &mut waits {
        waits.bytes(n as u64);
    }
    rc
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    n: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: see `close`.
    let mut waits = unsafe { wait(file, Operation::Write) };
    let rc = pass!(file.xWrite(from, n, at));
    // SAFETY: see `close`.
    match unsafe { file_kind(file) } {
        FileKind::Database => {
            metrics::OS_DATA_WRITES.add(1);
            metrics::BUFFER_PAGES_WRITTEN.add(1);
            metrics::BUFFER_DATA_WRITTEN.add(n as u64);
        }
        FileKind::Log => {
            metrics::LOG_WRITES.add(1);
            metrics::OS_LOG_BYTES_WRITTEN.add(n as u64);
            if n == FRAME_HEADER {
                metrics::LOG_WRITE_REQUESTS.add(1);
            }
        }
        FileKind::Other => metrics::OS_TEMP_WRITES.add(1),
    }
    if let Some(waits) = &mut waits {
        waits.bytes(n as u64);
    }
    rc
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: see `close`.
    let _waits = unsafe { wait(file, Operation::ChangeSize) };
    pass!(file.xTruncate(size))
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: see `close`.
    let _waits = unsafe { wait(file, Operation::Sync) };
    // SAFETY: see `close`.
    match unsafe { file_kind(file) } {
        FileKind::Database => metrics::OS_DATA_FSYNCS.add(1),
        FileKind::Log => metrics::OS_LOG_FSYNCS.add(1),
        FileKind::Other => {}
    }
    pass!(file.xSync(flags))
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    // No wait: the kernel has an open file's size in memory. With an empty log SQLite reads it at each
    // statement.
    pass!(file.xFileSize(size))
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: see `close`.
    let _waits = unsafe { wait(file, Operation::FileLock) };
    pass!(file.xLock(level))
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file.xUnlock(level))
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    pass!(file.xCheckReservedLock(out))
}

unsafe extern "C" fn file_control(
    file: *mut sqlite3_file,
    op: c_int,
    argument: *mut c_void,
) -> c_int {
    if op == ffi::SQLITE_FCNTL_CKPT_DONE {
        metrics::LOG_CHECKPOINTS.add(1);
    }
    pass!(file.xFileControl(op, argument))
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    pass!(file.xSectorSize())
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    pass!(file.xDeviceCharacteristics())
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    pass!(file.xShmMap(page, size, extend, out))
}

unsafe extern "C" fn shm_lock(
    file: *mut sqlite3_file,
    offset: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    // A reader's lock is a number in memory unless it is the first; a writer or a checkpoint waits
    // for others. Unlocking takes too little time to be worth a clock read.
    let waits = ffi::SQLITE_SHM_LOCK | ffi::SQLITE_SHM_EXCLUSIVE;
    if flags & waits == waits {
        return shm_lock_exclusive(file, offset, n, flags);
    }
    pass!(file.xShmLock(offset, n, flags))
}

#[cold]
#[inline(never)]
fn shm_lock_exclusive(file: *mut sqlite3_file, offset: c_int, n: c_int, flags: c_int) -> c_int {
    // SAFETY: see `close`.
    let _waits = unsafe { shm_wait(file, Operation::FileLock) };
    pass!(file.xShmLock(offset, n, flags))
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: as in `pass!`.
    unsafe {
        if let Some(barrier) = methods(file).xShmBarrier {
            barrier(real(file));
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    pass!(file.xShmUnmap(delete))
}

unsafe extern "C" fn fetch(
    file: *mut sqlite3_file,
    at: sqlite3_int64,
    n: c_int,
    out: *mut *mut c_void,
) -> c_int {
    pass!(file.xFetch(at, n, out))
}

unsafe extern "C" fn unfetch(
    file: *mut sqlite3_file,
    at: sqlite3_int64,
    page: *mut c_void,
) -> c_int {
    pass!(file.xUnfetch(at, page))
}
