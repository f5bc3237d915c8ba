//! Memory.
//!
//! The server stores the key that it gets for each allocation, and passes it back when it frees the memory.
//! So the key encodes how the allocation was counted:
//!
//! | bits 0-12 | bits 13-28 | bit 31 |
//! |---|---|---|
//! | the key of its class | 0: as one; 1: it was not counted; otherwise as so many | it was [charged](super::limited) |
//!
//! 0 = it was not counted.

use std::ffi::c_void;
use std::ptr;

use engine::{Kind, memory};

use super::keys::{self, KEYS};

const WEIGHT_AT: u32 = KEYS.trailing_zeros();
const WEIGHTS: u32 = 0xffff;
/// In place of a weight.
const UNCOUNTED: u32 = 1;
const _: () = assert!(KEYS.is_power_of_two() && WEIGHT_AT + WEIGHTS.trailing_ones() <= 31);

/// The class's key in a key that the server stored.
#[inline(always)]
pub(super) fn class_key(key: u32) -> u32 {
    key & (KEYS as u32 - 1)
}

/// The number of allocations that an allocation was counted as.
#[inline(always)]
fn weight(key: u32) -> u16 {
    match key >> WEIGHT_AT & WEIGHTS {
        0 => 1,
        UNCOUNTED => 0,
        weight => weight as u16,
    }
}

/// The key of memory that was not counted, but has a key all the same.
pub(super) fn uncounted(key: u32) -> u32 {
    class_key(key) | UNCOUNTED << WEIGHT_AT
}

/// The number of a key's class.
#[inline(always)]
fn class(key: u32) -> Option<u16> {
    let instrument =
        keys::packed(class_key(key)).filter(|instrument| instrument.is(Kind::Memory))?;
    Some(instrument.number())
}

/// Counts an allocation: the key to free it by, 0 = it was not counted.
#[inline(always)]
fn count(key: u32, bytes: usize) -> u32 {
    let Some(class) = class(key) else { return 0 };
    match memory::try_allocate_fast(class, bytes) {
        Some(0) => 0,
        Some(_) => class_key(key),
        None => count_slow(class, key, bytes),
    }
}

/// A separate function, so that the callers save no registers for it.
#[inline(never)]
#[unsafe(link_section = "tare_hot")]
extern "C" fn count_slow(class: u16, key: u32, bytes: usize) -> u32 {
    match memory::allocated_as(class, bytes) {
        0 => 0,
        1 => class_key(key),
        weight => class_key(key) | u32::from(weight) << WEIGHT_AT,
    }
}

/// The key to free by, 0 = it was not counted.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_alloc(key: u32, bytes: usize, owner: *mut *mut c_void) -> u32 {
    // SAFETY: rule 6 (NULL, or writable).
    unsafe { clear_owner(owner) };
    count(key, bytes)
}

/// Clears the owner: memory belongs only to its class, so the balance is correct whichever thread frees it.
///
/// # Safety
/// `owner` is NULL or writable.
#[inline(always)]
unsafe fn clear_owner(owner: *mut *mut c_void) {
    if !owner.is_null() {
        // SAFETY: rule 8 (writable).
        unsafe { *owner = ptr::null_mut() };
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_realloc(
    key: u32,
    before: usize,
    bytes: usize,
    owner: *mut *mut c_void,
) -> u32 {
    // SAFETY: rule 6 (NULL, or writable).
    unsafe { clear_owner(owner) };
    free(key, before);
    count(key, bytes)
}

pub unsafe extern "C" fn memory_claim(key: u32, _bytes: usize, owner: *mut *mut c_void) -> u32 {
    // SAFETY: rule 6 (NULL, or writable).
    unsafe { clear_owner(owner) };
    key
}

#[inline(always)]
fn free(key: u32, bytes: usize) {
    // Most allocations that sampling leaves out end here.
    if key == 0 {
        return;
    }
    let Some(class) = class(key) else { return };
    let weight = weight(key);
    if weight != 1 || !memory::try_free_fast(class, bytes) {
        free_slow(class, bytes, weight);
    }
}

/// A separate function, as [`count_slow`].
#[inline(never)]
#[unsafe(link_section = "tare_hot")]
extern "C" fn free_slow(class: u16, bytes: usize, weight: u16) {
    memory::freed_as(class, bytes, weight);
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_free(key: u32, bytes: usize, _owner: *mut c_void) {
    free(key, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_class_and_weight() {
        let key = KEYS as u32 - 1;
        assert_eq!((class_key(key), weight(key)), (key, 1));
        let counted = key | u32::from(u16::MAX) << WEIGHT_AT;
        assert_eq!((class_key(counted), weight(counted)), (key, u16::MAX));
        assert_eq!(
            (class_key(uncounted(counted)), weight(uncounted(counted))),
            (key, 0)
        );
    }
}
