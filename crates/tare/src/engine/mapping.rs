//! The memory behind a segment: a sealed memfd, or a file.

use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;

use super::bus_errors::{GuardedFile, MAX_FILES};
use super::descriptor::Descriptor;
use super::system;
use crate::segment_file::check_segment_path;

/// A mapped segment.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
    file: Descriptor,
    /// Of a segment in a file.
    guarded: Option<&'static GuardedFile>,
}

// SAFETY: the mapping is memory that any thread may access through atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Address ranges of segments that ended. A thread that was interrupted inside a point by a signal
/// handler that stopped Tare may still store into one, so they stay mapped for a while.
static RETIRED: Mutex<Vec<Retired>> = Mutex::new(Vec::new());

/// First byte, length, and the file.
type Retired = (usize, usize, Option<&'static GuardedFile>);

/// Address ranges of all segments that are mapped.
static MAPPED: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());

/// Address ranges of all segments that are mapped, also of those that ended.
pub fn mapped_ranges() -> Vec<Range<usize>> {
    MAPPED.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

/// How many retired ranges stay mapped: they take address space only, their pages are freed at once.
const MAX_RETIRED: usize = 64;

// Others have ended, and threads still use them.
const _: () = assert!(MAX_FILES >= 2 * MAX_RETIRED);

impl Mapping {
    /// A segment in anonymous memory that others open through /proc/PID/fd. It is sealed: no other
    /// process can change its size.
    pub fn memory(bytes: usize) -> io::Result<Self> {
        Self::of_descriptor(system::new_memory_file(), bytes, system::seal)
    }

    /// A segment in a file that only its owner may open. The segment of another run is replaced, and no other
    /// file. `end_recording` is called, in a signal handler, when the file gets no more space.
    pub fn file(path: &Path, bytes: usize, end_recording: fn()) -> io::Result<Self> {
        check_segment_path(path)?;
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let name = CString::new(path.as_os_str().as_bytes())?;
        let flags =
            libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        // SAFETY: the name is a C string; a failure is a negative number, checked below.
        let fd = unsafe { libc::open(name.as_ptr(), flags, 0o600) };
        let mapping = Self::of_descriptor(fd, bytes, |_| {}).and_then(|mut mapping| {
            mapping.guarded = Some(GuardedFile::new(mapping.base, bytes, path, end_recording)?);
            Ok(mapping)
        });
        if mapping.is_err() && fd >= 0 {
            // What was not mapped is no segment, and the next run would refuse to replace it.
            let _ = std::fs::remove_file(path);
        }
        mapping
    }

    /// `finish` is called as soon as the file has its size.
    fn of_descriptor(
        fd: libc::c_int,
        bytes: usize,
        finish: impl FnOnce(libc::c_int),
    ) -> io::Result<Self> {
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the caller has just opened `fd` and passes on its ownership.
        let file = Descriptor::new(unsafe { OwnedFd::from_raw_fd(fd) })?;
        let fd = file.number();
        grow(fd, bytes)?;
        finish(fd);
        // SAFETY: a new mapping at an address that the kernel chooses; NORESERVE because nearly all of it is
        // never touched. After mlockall(MCL_FUTURE) pages that can be accessed would get memory at once.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_NONE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                fd,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range just mapped.
        let is_accessible = unsafe {
            libc::munlock(base, bytes);
            libc::mprotect(base, bytes, protection) == 0
        };
        if !is_accessible {
            let error = io::Error::last_os_error();
            // SAFETY: the range just mapped, which nobody uses.
            unsafe { libc::munmap(base, bytes) };
            return Err(error);
        }
        // SAFETY: the range just mapped.
        unsafe { system::leave_out_of_dumps(base, bytes) };
        let start = base as usize;
        let mut mapped = MAPPED.lock().unwrap_or_else(|e| e.into_inner());
        mapped.push(start..start + bytes);
        Ok(Self {
            base: base.cast(),
            bytes,
            file,
            guarded: None,
        })
    }

    /// The first byte.
    pub fn base(&self) -> *const u8 {
        self.base
    }

    /// The descriptor, through which the same process can attach as a reader.
    pub fn descriptor(&self) -> &Descriptor {
        &self.file
    }

    /// Whether a page of the file could not be written.
    pub fn is_incomplete(&self) -> bool {
        self.guarded.is_some_and(GuardedFile::is_incomplete)
    }

    /// The engine that records into it stops.
    pub fn end(&self) {
        if let Some(file) = self.guarded {
            file.end();
        }
    }

    /// Returns the pages of an ended memory segment to the system. (A file keeps them, to be read
    /// later.)
    pub fn discard(&self) {
        // SAFETY: the range that `of_descriptor` mapped. What is stored into it from now on is of no use.
        unsafe { system::free_mapped_pages(self.base.cast(), self.bytes) };
    }
}

/// Sets the size of a file. Beyond RLIMIT_FSIZE the kernel would end the process with SIGXFSZ: the soft
/// limit is raised meanwhile, as far as the hard one allows.
fn grow(fd: libc::c_int, bytes: usize) -> io::Result<()> {
    let mut before = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: getrlimit writes into a local.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut before) };
    let short = before.rlim_cur < bytes as libc::rlim_t;
    if short && before.rlim_max < bytes as libc::rlim_t {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "RLIMIT_FSIZE (`ulimit -f`) allows files of {} bytes",
                before.rlim_max
            ),
        ));
    }
    if short {
        let raised = libc::rlimit {
            rlim_cur: before.rlim_max,
            rlim_max: before.rlim_max,
        };
        // SAFETY: setrlimit reads a local. A failure is detected below.
        if unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const raised) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: a descriptor that the caller owns.
    let grown = match unsafe { libc::ftruncate(fd, bytes as libc::off_t) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    if short {
        // SAFETY: as above; the previous limit is allowed.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const before) };
    }
    grown
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let mut retired = RETIRED.lock().unwrap_or_else(|e| e.into_inner());
        retired.push((self.base as usize, self.bytes, self.guarded));
        if retired.len() > MAX_RETIRED {
            let (base, bytes, guarded) = retired.remove(0);
            let mut mapped = MAPPED.lock().unwrap_or_else(|e| e.into_inner());
            mapped.retain(|range| range.start != base);
            // SAFETY: a range that `of_descriptor` mapped; 64 later segments have ended since.
            unsafe { libc::munmap(base as *mut libc::c_void, bytes) };
            if let Some(file) = guarded {
                file.release();
            }
        }
    }
}
