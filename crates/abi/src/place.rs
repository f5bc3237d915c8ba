//! Objects in the host's memory, of a size that `tare.h` fixes, with a mark that shows whether they are
//! initialised.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::status::Failure;

/// The contents of a `struct { uint64_t opaque[WORDS]; }` of the host.
///
/// The mark is there from the beginning of the object to its end. It is read first and written last.
#[repr(C)]
pub struct Place<T> {
    mark: AtomicU64,
    value: MaybeUninit<T>,
}

/// An object that can be in the host's memory.
pub trait HostObject {
    /// Eight letters, which other memory hardly ever has by chance.
    const MARK: u64;
    /// Its name in messages.
    const NAME: &'static str;
}

/// Asserts at compile time that the object fits the host's struct of `words` words.
pub const fn assert_fits<T>(words: usize) {
    assert!(size_of::<Place<T>>() <= words * 8 && align_of::<Place<T>>() <= 8);
}

impl<T: HostObject> Place<T> {
    /// Writes an object, and ignores the earlier contents.
    ///
    /// # Safety
    /// `place` is NULL or the host's struct, which no other thread uses now.
    #[inline]
    pub unsafe fn put(place: *mut Self, value: T) {
        if place.is_null() {
            return;
        }
        // SAFETY: not NULL, and only the caller uses it; both fields take any bytes.
        let place = unsafe { &mut *place };
        place.value.write(value);
        place.mark.store(T::MARK, Ordering::Release);
    }

    /// The object, if there is one.
    ///
    /// # Safety
    /// `place` is NULL or the host's struct, which stays where it is and is not ended for `'a`.
    #[inline]
    pub unsafe fn get<'a>(place: *const Self) -> Option<&'a T> {
        // SAFETY: rule 8 (NULL, or the host's struct).
        let place = unsafe { place.as_ref() }?;
        if place.mark.load(Ordering::Acquire) != T::MARK {
            return None;
        }
        // SAFETY: the mark is there after `put` has written the value, until it is taken.
        Some(unsafe { place.value.assume_init_ref() })
    }

    /// The object, or the error that there is none.
    ///
    /// # Safety
    /// As [`Place::get`].
    #[inline]
    pub unsafe fn need<'a>(place: *const Self) -> Result<&'a T, Failure> {
        // SAFETY: rule 8 (a struct that stays at its address).
        match unsafe { Self::get(place) } {
            Some(value) => Ok(value),
            None => Err(missing_error::<T>(place.is_null())),
        }
    }

    /// Drops the object in place, after a last change. A second call finds none.
    ///
    /// # Safety
    /// `place` is NULL or the host's struct, which no other thread uses now.
    #[inline]
    pub unsafe fn end(place: *mut Self, last: impl FnOnce(&mut T)) {
        // SAFETY: NULL or valid and the caller's alone.
        let Some(place) = (unsafe { place.as_mut() }) else {
            return;
        };
        if *place.mark.get_mut() != T::MARK {
            return;
        }
        *place.mark.get_mut() = 0;
        // SAFETY: as in `get`; the mark is gone, so that the value is dropped once.
        unsafe {
            last(place.value.assume_init_mut());
            place.value.assume_init_drop();
        }
    }

    /// Takes the object out. A second call finds none.
    ///
    /// # Safety
    /// `place` is NULL or the host's struct, which no other thread uses now.
    #[inline]
    pub unsafe fn take(place: *mut Self) -> Option<T> {
        // SAFETY: NULL or valid and the caller's alone.
        let place = unsafe { place.as_mut() }?;
        if *place.mark.get_mut() != T::MARK {
            return None;
        }
        *place.mark.get_mut() = 0;
        // SAFETY: as in `get`; the mark is gone, so that the value is read out once.
        Some(unsafe { place.value.assume_init_read() })
    }

    /// Marks the place as empty, and ignores the earlier contents.
    ///
    /// # Safety
    /// As [`Place::put`].
    #[inline]
    pub unsafe fn clear(place: *mut Self) {
        // SAFETY: NULL or valid and the caller's alone.
        if let Some(place) = unsafe { place.as_mut() } {
            *place.mark.get_mut() = 0;
        }
    }
}

#[cold]
fn missing_error<T: HostObject>(null: bool) -> Failure {
    if null {
        return Failure::null(T::NAME);
    }
    Failure::invalid(format!(
        "the {} was not initialised, or has been destroyed",
        T::NAME
    ))
}
