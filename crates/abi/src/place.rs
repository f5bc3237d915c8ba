//! Objects in the host's memory, of a size that `tare.h` fixes, with a mark that shows whether they are
//! initialised.
//!
//! | mark | means |
//! |---|---|
//! | 0 | no object, or the zeroed memory of one that [initialises itself](SelfInitialising) at its first use |
//! | [`INITIALISING`], and a process's id | a thread of this process initialises it |
//! | [`HostObject::MARK`] | an object |
//! | [`DESTROYED`] | an object was destroyed here |

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::status::Failure;

/// The contents of a `struct { uint64_t opaque[WORDS]; }` of the host.
///
/// The mark is there from the beginning of the object to its end. It is read first and written last.
#[repr(C)]
pub struct Place<T> {
    mark: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

const INITIALISING: u64 = 0x696e_6974 << 32;
const PROCESS: u64 = u32::MAX as u64;
const DESTROYED: u64 = u64::from_le_bytes(*b"taregone");

/// An object that can be in the host's memory.
pub trait HostObject {
    /// Eight letters, which other memory hardly ever has by chance.
    const MARK: u64;
    /// Its name in messages.
    const NAME: &'static str;
}

/// An object that zeroed memory is enough for, such as a static variable of the host.
pub trait SelfInitialising: HostObject {
    /// The object that such memory becomes.
    fn new_unnamed() -> Self;
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
        place.value.get_mut().write(value);
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
        // SAFETY: the mark is there after the value was written, until it is taken.
        Some(unsafe { (*place.value.get()).assume_init_ref() })
    }

    /// The object, or the error that there is none. Zeroed memory becomes one.
    ///
    /// # Safety
    /// As [`Place::get`].
    #[inline]
    pub unsafe fn need<'a>(place: *const Self) -> Result<&'a T, Failure>
    where
        T: SelfInitialising,
    {
        // SAFETY: rule 8 (a struct that stays at its address).
        match unsafe { Self::get(place) } {
            Some(value) => Ok(value),
            // SAFETY: as above.
            None => unsafe { Self::initialise(place) },
        }
    }

    /// Makes an object of zeroed memory. Several threads may do so at the same time.
    ///
    /// # Safety
    /// As [`Place::get`].
    #[cold]
    unsafe fn initialise<'a>(place: *const Self) -> Result<&'a T, Failure>
    where
        T: SelfInitialising,
    {
        // SAFETY: rule 8 (NULL, or a struct that stays at its address).
        let Some(place) = (unsafe { place.as_ref() }) else {
            return Err(Failure::null(T::NAME));
        };
        let own = INITIALISING | u64::from(std::process::id());
        let mut vacant = 0;
        loop {
            // Acquire: pairs with the release below, so that the value is read after it was written.
            let taken =
                place
                    .mark
                    .compare_exchange(vacant, own, Ordering::Acquire, Ordering::Acquire);
            match taken {
                Ok(_) => {
                    // SAFETY: the mark excludes all other threads until the next line.
                    unsafe { (*place.value.get()).write(T::new_unnamed()) };
                    place.mark.store(T::MARK, Ordering::Release);
                }
                Err(mark) if mark == T::MARK => {}
                Err(mark) if mark == own => {
                    std::thread::yield_now();
                    vacant = 0;
                    continue;
                }
                // The process was forked meanwhile, and this one has no such thread.
                Err(mark) if mark & !PROCESS == INITIALISING => {
                    vacant = mark;
                    continue;
                }
                Err(_) => return Err(missing_error::<T>()),
            }
            // SAFETY: the mark is there, so the value was written.
            return Ok(unsafe { (*place.value.get()).assume_init_ref() });
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
            last(place.value.get_mut().assume_init_mut());
            place.value.get_mut().assume_init_drop();
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
        Some(unsafe { place.value.get_mut().assume_init_read() })
    }

    /// Drops the object. From then on the place is not taken for zeroed memory.
    ///
    /// # Safety
    /// As [`Place::take`].
    pub unsafe fn destroy(place: *mut Self) {
        // SAFETY: rule 8 (a struct of the calling thread).
        if let Some(value) = unsafe { Self::take(place) } {
            drop(value);
            // SAFETY: not NULL, because it had an object.
            unsafe { *(*place).mark.get_mut() = DESTROYED };
        }
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
fn missing_error<T: HostObject>() -> Failure {
    Failure::invalid(format!(
        "the {} was not initialised, or has been destroyed",
        T::NAME
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicU32;

    use super::*;

    struct Counter(AtomicU32);

    impl HostObject for Counter {
        const MARK: u64 = 1;
        const NAME: &'static str = "counter";
    }

    impl SelfInitialising for Counter {
        fn new_unnamed() -> Self {
            Self(AtomicU32::new(7))
        }
    }

    fn with_mark(mark: u64) -> Place<Counter> {
        Place {
            mark: AtomicU64::new(mark),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    fn value(place: &Place<Counter>) -> Option<&Counter> {
        // SAFETY: a reference.
        unsafe { Place::need(place) }.ok()
    }

    // SAFETY: its value is atomic, and written before the mark shows it.
    unsafe impl Sync for Place<Counter> {}

    #[test]
    fn threads_that_use_zeroed_memory_first_share_one_object() {
        for _ in 0..200 {
            let (place, together) = (with_mark(0), Barrier::new(4));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        together.wait();
                        value(&place).unwrap().0.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            assert_eq!(value(&place).unwrap().0.load(Ordering::Relaxed), 7 + 4);
        }
    }

    #[test]
    fn what_a_forked_process_began_to_initialise_is_initialised() {
        let place = with_mark(INITIALISING | u64::from(std::process::id() ^ 1));
        assert_eq!(value(&place).unwrap().0.load(Ordering::Relaxed), 7);
    }

    #[test]
    fn other_memory_is_no_object() {
        assert!(value(&with_mark(DESTROYED)).is_none());
        assert!(value(&with_mark(0x5a5a_5a5a_5a5a_5a5a)).is_none());
        let mut place = with_mark(0);
        assert!(value(&place).is_some());
        // SAFETY: a reference that nobody else has.
        unsafe { Place::destroy(&raw mut place) };
        assert!(value(&place).is_none());
    }
}
