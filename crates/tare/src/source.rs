//! The place in the host's source where an event began: column SOURCE.

use std::ffi::c_char;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bits of an address.
pub(crate) const ADDRESS_BITS: u32 = 48;

/// The largest line number that fits.
const LAST_LINE: u32 = (1 << (u64::BITS - ADDRESS_BITS)) - 1;

/// A place in the host's source: a file and a line. It is one word, which costs nothing unless the
/// event is stored.
///
/// | bits 48-63 | bits 0-47 |
/// |---|---|
/// | 0 | address of a [`Location`], 0 = unknown |
/// | the line | address of the file's name, which ends with a zero byte |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub(crate) u64);

/// See [`Source::only_in_c`].
static ONLY_IN_C: AtomicBool = AtomicBool::new(false);

impl Source {
    /// Unknown: SOURCE is NULL.
    pub const UNKNOWN: Self = Self(0);

    /// From here on places in Rust count as unknown: the host is in C, and all of them would be places
    /// in its wrapper.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    pub fn only_in_c() {
        ONLY_IN_C.store(true, Ordering::Relaxed);
    }

    /// Whether it is a place in Rust, and those count as unknown.
    pub(crate) fn is_none_of_hosts(self) -> bool {
        self.0 >> ADDRESS_BITS == 0 && ONLY_IN_C.load(Ordering::Relaxed)
    }

    /// The caller's place.
    #[inline(always)]
    #[track_caller]
    pub fn here() -> Self {
        Self::of(Location::caller())
    }

    /// A place in a program in Rust.
    #[inline(always)]
    pub fn of(location: &'static Location<'static>) -> Self {
        Self(std::ptr::from_ref(location).expose_provenance() as u64)
    }

    /// A place as `__FILE__` and `__LINE__` give it. Line 0 and lines above 65,535 count as unknown.
    ///
    /// # Safety
    /// `file` is NULL or a C string that is valid until the event has begun.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn of_c(file: *const c_char, line: u32) -> Self {
        match line {
            1..=LAST_LINE => {
                Self(file.expose_provenance() as u64 | u64::from(line) << ADDRESS_BITS)
            }
            _ => Self::UNKNOWN,
        }
    }
}
