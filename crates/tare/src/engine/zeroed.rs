//! Tables of the engine in the host's memory, of which only the used part takes pages.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::atomic::AtomicPtr;

/// A type that zeroes are a value of.
///
/// # Safety
/// Memory filled with zeroes must be a valid value.
pub unsafe trait Zeroes {}

// SAFETY: zeroes are a null pointer.
unsafe impl<T> Zeroes for AtomicPtr<T> {}

/// This number of zeroes, at least one. The allocator gets them from the system without writing them.
pub fn zeroed<T: Zeroes>(count: usize) -> Box<[T]> {
    assert!(count > 0 && size_of::<T>() > 0);
    let layout = Layout::array::<T>(count).expect("fits into memory");
    // SAFETY: the layout is that of the slice, and not empty. Zeroes are values, by the trait.
    unsafe {
        let memory = alloc_zeroed(layout);
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory.cast(), count))
    }
}
