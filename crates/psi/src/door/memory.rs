//! Memory.

use std::ffi::c_void;
use std::ptr;

use engine::{Kind, memory};

use super::keys;

/// The number of the class that a key stands for.
#[inline(always)]
fn class(key: u32) -> Option<u16> {
    let known = keys::packed(key).filter(|known| known.is(Kind::Memory))?;
    Some(known.number())
}

/// The key to free by, 0 = it was not counted.
///
/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_alloc(key: u32, bytes: usize, owner: *mut *mut c_void) -> u32 {
    // SAFETY: the interface.
    unsafe { nobodys(owner) };
    match class(key) {
        Some(class) if memory::was_allocated_as(class, bytes) => key,
        _ => 0,
    }
}

/// Memory belongs to the class alone: whoever frees it, the balance is right.
///
/// # Safety
/// `owner` is NULL or writable.
unsafe fn nobodys(owner: *mut *mut c_void) {
    if !owner.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *owner = ptr::null_mut() };
    }
}

/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_realloc(
    key: u32,
    before: usize,
    bytes: usize,
    owner: *mut *mut c_void,
) -> u32 {
    // SAFETY: the interface.
    unsafe { nobodys(owner) };
    let Some(class) = class(key) else { return 0 };
    memory::freed_as(class, before);
    match memory::was_allocated_as(class, bytes) {
        true => key,
        false => 0,
    }
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn memory_claim(key: u32, _bytes: usize, owner: *mut *mut c_void) -> u32 {
    // SAFETY: the interface.
    unsafe { nobodys(owner) };
    key
}

/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn memory_free(key: u32, bytes: usize, _owner: *mut c_void) {
    if let Some(class) = class(key) {
        memory::freed_as(class, bytes);
    }
}
