//! The guarded files, and the replacement of a page.

use std::ffi::{CString, c_void};
use std::io;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

use tare_layout::header::{Header, STOPPED};

use super::action;
use super::lock::SpinLock;

/// The most files that are guarded at once.
pub const MAX_FILES: usize = 128;

/// The files that are guarded.
static FILES: [AtomicPtr<GuardedFile>; MAX_FILES] =
    [const { AtomicPtr::new(ptr::null_mut()) }; MAX_FILES];

/// A mapped file. It is never freed, because a handler may read it at any time.
#[derive(Debug)]
pub struct GuardedFile {
    start: usize,
    bytes: usize,
    page_bytes: usize,
    /// A bit for each page that has been replaced, eight to a byte.
    replaced: *const AtomicU8,
    /// Held while a page is replaced.
    replacing: SpinLock,
    /// Whether a page has been replaced.
    is_incomplete: AtomicBool,
    /// Whether the engine that records writes into this file.
    is_current: AtomicBool,
    /// Ends recording.
    end_recording: fn(),
    /// What standard error is told at the first page.
    message: CString,
}

// SAFETY: `replaced` has atomics only.
unsafe impl Sync for GuardedFile {}

impl GuardedFile {
    /// Guards the mapping of a file until [`release`](Self::release). `end_recording` is called in the handler,
    /// if the engine that records writes into this file.
    ///
    /// # Errors
    /// No memory, too many files, or the kernel refuses the handler. Nothing is guarded then.
    pub fn new(
        base: *mut u8,
        bytes: usize,
        path: &Path,
        end_recording: fn(),
    ) -> io::Result<&'static Self> {
        action::install()?;
        // SAFETY: no preconditions.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let message = format!(
            "tare: cannot write to {}: its file system is full, or the file was changed; recording ends\n",
            path.display()
        );
        let message = CString::new(message)?;
        let file: &'static Self = Box::leak(Box::new(Self {
            start: base as usize,
            bytes,
            page_bytes,
            replaced: map_memory(bits(bytes, page_bytes))?.cast(),
            replacing: SpinLock::new(),
            is_incomplete: AtomicBool::new(false),
            is_current: AtomicBool::new(true),
            end_recording,
            message,
        }));
        let entry = ptr::from_ref(file).cast_mut();
        let is_taken = FILES.iter().any(|place| {
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            place
                .compare_exchange(ptr::null_mut(), entry, release, relaxed)
                .is_ok()
        });
        match is_taken {
            true => Ok(file),
            false => Err(io::Error::other("too many segments in files")),
        }
    }

    /// Whether a page could not be written: what the file has is incomplete.
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete.load(Ordering::Relaxed)
    }

    /// The engine stops. Threads may still write.
    pub fn end(&self) {
        self.is_current.store(false, Ordering::Relaxed);
    }

    /// Nobody accesses the mapping any longer.
    pub fn release(&'static self) {
        let entry = ptr::from_ref(self).cast_mut();
        for place in &FILES {
            let relaxed = Ordering::Relaxed;
            let _ = place.compare_exchange(entry, ptr::null_mut(), relaxed, relaxed);
        }
        // SAFETY: mapped by `new`, and of no use without the mapping.
        unsafe {
            libc::munmap(
                self.replaced.cast_mut().cast(),
                bits(self.bytes, self.page_bytes),
            )
        };
    }

    /// Puts memory in place of a page that cannot be written, once: another thread may have done so meanwhile.
    fn replace_page(&self, address: usize) -> bool {
        let number = (address - self.start) / self.page_bytes;
        // SAFETY: `new` mapped a bit for each page.
        let replaced = unsafe { &*self.replaced.add(number / 8) };
        let bit = 1 << (number % 8);
        self.replacing.with(|| {
            let is_replaced = replaced.load(Ordering::Relaxed) & bit != 0
                || self.put_memory(self.start + number * self.page_bytes);
            if is_replaced {
                replaced.fetch_or(bit, Ordering::Relaxed);
            }
            is_replaced
        })
    }

    fn put_memory(&self, page: usize) -> bool {
        let Ok(memory) = map_memory(self.page_bytes) else {
            return false;
        };
        let part = |start: *mut c_void| libc::iovec {
            iov_base: start,
            iov_len: self.page_bytes,
        };
        let (to, from) = (part(memory), part(page as *mut c_void));
        // What the page had, if it can be read. The kernel reports what cannot instead of a signal.
        // SAFETY: writes into the memory just mapped.
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: a page of the mapping, whose accesses from now on are to memory with the same content.
        let moved = unsafe {
            libc::mremap(
                memory,
                self.page_bytes,
                self.page_bytes,
                flags,
                page as *mut c_void,
            )
        };
        moved != libc::MAP_FAILED
    }

    /// The file is incomplete from here on: ends recording into it.
    fn report(&self) {
        if self.is_incomplete.swap(true, Ordering::Relaxed) {
            return;
        }
        let stopped = STOPPED;
        let part = |start: usize| libc::iovec {
            iov_base: start as *mut c_void,
            iov_len: size_of_val(&stopped),
        };
        let from = part(&raw const stopped as usize);
        let to = part(self.start + std::mem::offset_of!(Header, state));
        // Not a store, which could be refused like the present one.
        // SAFETY: reads a local, and writes the header's state, which is an atomic that any process may set.
        unsafe { libc::process_vm_writev(libc::getpid(), &raw const from, 1, &raw const to, 1, 0) };
        if self.is_current.load(Ordering::Relaxed) {
            (self.end_recording)();
        }
        let message = self.message.as_bytes();
        // SAFETY: reads the message.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
    }
}

/// Whether an access to this address failed because a file did not get the page, which is replaced now.
///
/// For the handler: it calls only what a handler may call.
pub fn replace(address: usize) -> bool {
    let files = FILES.iter().filter_map(|file| {
        // SAFETY: null, or leaked by `new`.
        unsafe { file.load(Ordering::Acquire).as_ref() }
    });
    for file in files {
        if (file.start..file.start + file.bytes).contains(&address) {
            let is_replaced = file.replace_page(address);
            file.report();
            return is_replaced;
        }
    }
    false
}

/// How many bytes have a bit for each page of a mapping.
fn bits(bytes: usize, page_bytes: usize) -> usize {
    bytes.div_ceil(page_bytes).div_ceil(8)
}

/// Memory of zeroes, which is taken when it is written.
fn map_memory(bytes: usize) -> io::Result<*mut c_void> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let memory = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    match memory == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok(memory),
    }
}
