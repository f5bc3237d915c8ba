//! The atomics that every other module uses, so that loom can replace them.

#[cfg(not(loom))]
pub use core::sync::atomic::{
    AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence,
};
#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence,
};

/// Adds `n` to a cell that only the calling thread writes.
///
/// On x86-64 this is one `add` to memory without a lock prefix: cheaper than load, add, store, and
/// a signal handler that counts into the same cell cannot fall between the load and the store
/// (an instruction is never interrupted half-way), so no count is lost to signals.
#[inline(always)]
pub fn bump(cell: &AtomicU64, n: u64) {
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    // SAFETY: `cell` is a valid, aligned, writable u64 (it is a reference to an atomic). An
    // aligned 8-byte access is single-copy atomic on x86-64, so concurrent readers see the old
    // or the new value; the caller is the only writer.
    unsafe {
        core::arch::asm!(
            "add qword ptr [{cell}], {n}",
            cell = in(reg) cell.as_ptr(),
            n = in(reg) n,
            options(nostack),
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
    cell.store(
        cell.load(Ordering::Relaxed).wrapping_add(n),
        Ordering::Relaxed,
    );
}

/// [`bump`] of cell `CELL` of a line, without computing its address.
#[inline(always)]
pub fn bump_in<const CELL: usize, const N: usize>(line: &[AtomicU64; N], n: u64) {
    const { assert!(CELL < N) };
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    // SAFETY: as in `bump`; the cell is one of the line's.
    unsafe {
        core::arch::asm!(
            "add qword ptr [{line} + {offset}], {n}",
            line = in(reg) line.as_ptr(),
            offset = const CELL * 8,
            n = in(reg) n,
            options(nostack),
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
    bump(&line[CELL], n);
}

/// Adds to a 32-bit cell that only the calling thread writes; true when it wrapped. One
/// instruction, as in [`bump`] and for the same reason.
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
#[inline(always)]
pub fn add_wraps(cell: &AtomicU32, n: u32) -> bool {
    // SAFETY: as in `bump`, for four bytes.
    unsafe {
        core::arch::asm!(
            "add dword ptr [{cell}], {n:e}",
            "jc {wrapped}",
            cell = in(reg) cell.as_ptr(),
            n = in(reg) n,
            wrapped = label { return true },
            options(nostack),
        );
    }
    false
}

/// Adds to a 32-bit cell that only the calling thread writes; true when it wrapped.
#[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
#[inline(always)]
pub fn add_wraps(cell: &AtomicU32, n: u32) -> bool {
    let (sum, wrapped) = cell.load(Ordering::Relaxed).overflowing_add(n);
    cell.store(sum, Ordering::Relaxed);
    wrapped
}

/// Adds one to a 32-bit cell that only the calling thread writes; true when it wrapped to zero. As
/// [`add_wraps`], with one register fewer.
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
#[inline(always)]
pub fn increment(cell: &AtomicU32) -> bool {
    // SAFETY: as in `bump`, for four bytes.
    unsafe {
        core::arch::asm!(
            "add dword ptr [{cell}], 1",
            "jc {wrapped}",
            cell = in(reg) cell.as_ptr(),
            wrapped = label { return true },
            options(nostack),
        );
    }
    false
}

/// Adds one to a 32-bit cell that only the calling thread writes; true when it wrapped to zero.
#[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
#[inline(always)]
pub fn increment(cell: &AtomicU32) -> bool {
    add_wraps(cell, 1)
}

/// Prefetches the memory of a value that is about to be written, without waiting for it.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    for line in (0..size_of::<T>()).step_by(64) {
        // SAFETY: changes only the contents of caches; processors without the instruction execute it as
        // a NOP.
        unsafe {
            core::arch::asm!(
                "prefetchw [{at}]",
                at = in(reg) core::ptr::from_ref(value).cast::<u8>().add(line),
                options(nostack, preserves_flags),
            );
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
    let _ = value;
}
