//! The index of places in the host's source, and the text of a place: see [`super::sources`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_char};
use std::panic::Location;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::source::SOURCES;

use crate::source::{ADDRESS_BITS, Source};

/// Entries of the index: twice as many as there can be places.
const ENTRIES: usize = 1 << ENTRY_BITS;
const ENTRY_BITS: u32 = (2 * SOURCES).ilog2();
/// Entries in use at most: beyond that a search would be long.
pub(super) const MAX_USED_ENTRIES: usize = ENTRIES / 4 * 3;

/// In an entry's value: the text at the address is compared.
pub(super) const COMPARED: u64 = 1;

/// A place, and its number.
pub(crate) struct Entry {
    /// The [`Source`], 0 = free; stored last.
    pub(super) key: AtomicU64,
    /// The number from bit [`THREAD_BITS`](tare_layout::source::THREAD_BITS) on, as in events; and
    /// [`COMPARED`].
    pub(super) value: AtomicU64,
}

/// The index. Its pages are created when they are written.
pub(super) struct Sources {
    entries: *mut Entry,
    /// Entries in use. Serialises the creation of entries.
    pub(super) used: Mutex<usize>,
}

// SAFETY: the entries are atomics, allocated by `new` and freed by `drop`.
unsafe impl Send for Sources {}
// SAFETY: as above.
unsafe impl Sync for Sources {}

const LAYOUT: Layout = Layout::new::<[Entry; ENTRIES]>();

/// The index of threads if there was no memory for one. It stays empty.
static EMPTY: [Entry; ENTRIES] = [const {
    Entry {
        key: AtomicU64::new(0),
        value: AtomicU64::new(0),
    }
}; ENTRIES];

impl Sources {
    pub fn new() -> Self {
        // The system's allocator directly: the host's may be one that counts through Tare.
        // SAFETY: the layout is not of size zero; NULL is checked.
        let entries = unsafe { System.alloc_zeroed(LAYOUT) }.cast();
        Self {
            entries,
            used: Mutex::new(0),
        }
    }

    /// The first of as many entries as [`place_of`] distinguishes.
    pub fn first(&self) -> *const Entry {
        match self.entries.is_null() {
            true => EMPTY.as_ptr(),
            false => self.entries,
        }
    }

    fn all(&self) -> &[Entry] {
        match self.entries.is_null() {
            true => &[],
            // SAFETY: allocated as this array of zeroes, which are valid entries; only `drop` frees it.
            false => unsafe { std::slice::from_raw_parts(self.entries, ENTRIES) },
        }
    }

    /// The value of a place's entry, or the free entry for it; `None` if there is none. `is_same`
    /// compares the text of an entry that needs it.
    pub fn find(
        &self,
        source: Source,
        is_same: impl Fn(u64) -> bool,
    ) -> Result<u64, Option<&Entry>> {
        let (entries, from) = (self.all(), place_of(source.0));
        for i in 0..entries.len() {
            let entry = &entries[(from + i) % ENTRIES];
            // Acquire: as in `Local::source`.
            match entry.key.load(Ordering::Acquire) {
                0 => return Err(Some(entry)),
                key if key == source.0 => {
                    let value = entry.value.load(Ordering::Relaxed);
                    if value & COMPARED == 0 || is_same(value) {
                        return Ok(value);
                    }
                }
                _ => {}
            }
        }
        Err(None)
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        if !self.entries.is_null() {
            // SAFETY: allocated by `new` with the same layout; only this engine has it.
            unsafe { System.dealloc(self.entries.cast(), LAYOUT) };
        }
    }
}

/// The entry at which the search for a place begins.
#[inline(always)]
pub(super) const fn place_of(key: u64) -> usize {
    // Fibonacci hashing (Knuth 1973, 6.4): multiplied by 2^64 over the golden ratio, the highest bits.
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - ENTRY_BITS)) as usize
}

/// The text at the address of a place.
pub(super) struct Text<'a> {
    pub file: std::borrow::Cow<'a, str>,
    pub line: u32,
    /// It exists as long as the process.
    pub is_fixed: bool,
}

impl Text<'_> {
    pub fn of(source: Source) -> Option<Self> {
        let address = (source.0 & ((1 << ADDRESS_BITS) - 1)) as usize;
        if address == 0 {
            return None;
        }
        let line = (source.0 >> ADDRESS_BITS) as u32;
        if line == 0 {
            // SAFETY: without a line it was created from a `&'static Location` (`Source::of`).
            let location =
                unsafe { &*std::ptr::with_exposed_provenance::<Location<'static>>(address) };
            return Some(Self {
                file: location.file().into(),
                line: location.line(),
                is_fixed: is_of_program(address, |_| true),
            });
        }
        // SAFETY: a C string until the event has begun, as the caller of `Source::of_c` promised.
        let file = unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance::<c_char>(address)) };
        Some(Self {
            file: file.to_string_lossy(),
            line,
            // These are never written.
            is_fixed: is_of_program(address, |flags| flags & WRITABLE == 0),
        })
    }
}

/// The flag of a segment that is writable: ELF's PF_W.
const WRITABLE: u32 = 2;

/// Whether an address is in the program's own image, in a segment with such flags: libraries come and
/// go, the image stays.
#[cfg(target_os = "linux")]
fn is_of_program(address: usize, flags: impl Fn(u32) -> bool) -> bool {
    // SAFETY: getauxval has no preconditions.
    let (at, count) = unsafe {
        (
            libc::getauxval(libc::AT_PHDR) as usize,
            libc::getauxval(libc::AT_PHNUM) as usize,
        )
    };
    if at == 0 {
        return false;
    }
    // SAFETY: the kernel gives the address and number of the program's own headers, which stay there.
    let headers = unsafe {
        let first = std::ptr::with_exposed_provenance::<libc::Elf64_Phdr>(at);
        std::slice::from_raw_parts(first, count)
    };
    let own = headers.iter().find(|header| header.p_type == libc::PT_PHDR);
    let Some(base) = own.map(|header| at.wrapping_sub(header.p_vaddr as usize)) else {
        return false;
    };
    headers.iter().any(|header| {
        let from = base.wrapping_add(header.p_vaddr as usize);
        let is_within = address.wrapping_sub(from) < header.p_memsz as usize;
        header.p_type == libc::PT_LOAD && flags(header.p_flags) && is_within
    })
}

/// The program's image is unknown: every text is compared.
#[cfg(not(target_os = "linux"))]
fn is_of_program(_: usize, _: impl Fn(u32) -> bool) -> bool {
    false
}
