//! The one module with `unsafe`: mapping segments, and the clocks that the writer reads.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use tare_layout::geometry::{Extent, PAGE, is_reader_writable};
use tare_layout::line::Line;
use tare_layout::{Geometry, View};

/// A mapped segment. Unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: *mut libc::c_void,
    geometry: Geometry,
}

// SAFETY: the mapping is memory that is only accessed through atomics, from any thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps a segment for reading. The caller has checked that `file` is as long as `geometry` says, and
    /// stays so (see `attach`).
    pub fn new(file: &File, geometry: Geometry) -> io::Result<Self> {
        let fd = file.as_raw_fd();
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                geometry.total_bytes,
                libc::PROT_READ,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                fd,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { base, geometry })
    }

    /// Maps a segment, and for writing the regions that a reader may write.
    pub fn writable(file: &File, geometry: Geometry) -> io::Result<Self> {
        let mapping = Self::new(file, geometry)?;
        for (i, extent) in geometry.regions.iter().enumerate() {
            if is_reader_writable(i) {
                mapping.remap_writable(file, extent)?;
            }
        }
        Ok(mapping)
    }

    fn remap_writable(&self, file: &File, extent: &Extent) -> io::Result<()> {
        let bytes = extent.bytes().next_multiple_of(PAGE);
        // SAFETY: regions begin and end on pages, so the range is within our own mapping, which is replaced
        // by the same bytes of the same file.
        let place = unsafe {
            libc::mmap(
                self.base.byte_add(extent.offset),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED,
                file.as_raw_fd(),
                extent.offset as libc::off_t,
            )
        };
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Typed access.
    pub fn view(&self) -> View<'_> {
        // SAFETY: mapped page-aligned for `total_bytes` as long as `self`, which the view borrows.
        // The file is as long and stays so (`new`'s contract). Only views of `writable` are stored through.
        unsafe { View::new(self.base.cast(), self.geometry) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping. No view of it is left, because views borrow `self`.
        unsafe { libc::munmap(self.base, self.geometry.total_bytes) };
    }
}

/// Wakes the writer's thread that sleeps on a word.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: the kernel only uses the address as a key.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Whether the file is sealed against shrinking.
pub(crate) fn is_sealed(file: &File) -> bool {
    // SAFETY: fcntl on an open descriptor; files that know no seals give an error.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & libc::F_SEAL_SHRINK != 0
}

/// A private copy of the first `bytes` of a file, in which only data takes memory.
pub(crate) fn private_copy(from: &File, bytes: usize) -> io::Result<File> {
    // SAFETY: the name is a C string; the result is checked.
    let fd = unsafe { libc::memfd_create(c"tare-reader".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor, which nothing else owns.
    let to = unsafe { File::from_raw_fd(fd) };
    to.set_len(bytes as u64)?;
    let mut buffer = vec![0; 1 << 20];
    let mut at = 0;
    while let Some((start, end)) = next_data(from, at, bytes as u64)? {
        at = start;
        while at < end {
            let want = usize::try_from(end - at)
                .unwrap_or(usize::MAX)
                .min(buffer.len());
            let got = from.read_at(&mut buffer[..want], at)?;
            if got == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "it became shorter while it was read",
                ));
            }
            // A copied file may have its holes filled with zeros.
            for (i, page) in buffer[..got].chunks(PAGE).enumerate() {
                if page.iter().any(|byte| *byte != 0) {
                    to.write_all_at(page, at + (i * PAGE) as u64)?;
                }
            }
            at += got as u64;
        }
    }
    Ok(to)
}

/// The next range of data from `at` on, up to `bytes`.
fn next_data(file: &File, at: u64, bytes: u64) -> io::Result<Option<(u64, u64)>> {
    if at >= bytes {
        return Ok(None);
    }
    let Some(start) = seek(file, at, libc::SEEK_DATA)?.filter(|start| *start < bytes) else {
        return Ok(None);
    };
    let end = seek(file, start, libc::SEEK_HOLE)?
        .unwrap_or(bytes)
        .min(bytes);
    Ok((end > start).then_some((start, end)))
}

fn seek(file: &File, at: u64, whence: libc::c_int) -> io::Result<Option<u64>> {
    // SAFETY: lseek on an open descriptor, whose position is not used.
    let place = unsafe { libc::lseek(file.as_raw_fd(), at as libc::off_t, whence) };
    match u64::try_from(place) {
        Ok(place) => Ok(Some(place)),
        Err(_) => match io::Error::last_os_error() {
            none if none.raw_os_error() == Some(libc::ENXIO) => Ok(None),
            error => Err(error),
        },
    }
}

/// A descriptor of a process, which stays valid when its pid is used again.
pub(crate) fn pidfd(pid: u32) -> Option<OwnedFd> {
    // SAFETY: a system call without pointers; a kernel without it gives an error.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    // SAFETY: a new descriptor, which nothing else owns.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) })
}

/// Whether the process behind a pidfd has ended.
pub(crate) fn has_ended(pidfd: &OwnedFd) -> bool {
    let mut poll = libc::pollfd {
        fd: pidfd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid pollfd, no waiting.
    let ready = unsafe { libc::poll(&mut poll, 1, 0) };
    ready > 0 && poll.revents & libc::POLLIN != 0
}

/// The current time in the ticks of a writer on this machine.
pub(crate) fn ticks(are_cycles: bool) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if are_cycles {
        // SAFETY: every x86-64 processor has the instruction, and the writer, on this machine, uses it.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    let _ = are_cycles;
    monotonic_ns()
}

/// CLOCK_MONOTONIC in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The CPU time of a process, ended threads included.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    // The clock of process 0 is that of this process. Linux has no ids of more than 22 bits.
    let is_id = |pid: &libc::clockid_t| (1..1 << 22).contains(pid);
    let pid = libc::clockid_t::try_from(pid).ok().filter(is_id)?;
    // The clock that clock_getcpuclockid(3) returns for a pid: user and system time.
    let id = (!pid << 3) | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to; a clock that does not exist is an error.
    let status = unsafe { libc::clock_gettime(id, &raw mut time) };
    (status == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// Prefetches a line.
#[inline(always)]
pub(crate) fn prefetch(line: &Line) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint that accesses nothing, about an address that is a valid reference.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(ptr::from_ref(line).cast());
    }
    let _ = line;
}
