//! Overwrites each entry with a jump, or with a return where our function would do nothing.
//!
//! A jump reads its target's address from memory. All addresses are in one page near the server's code:
//! behind the jumps they would take an entry of the TLB for each page of entries (in a point select of 5.7
//! some fifty misses of its first level: docs/overhead.md). Where the system gives no such page, they are
//! behind the jumps.
//!
//! Before `main` this is the only thread, so no thread runs the code that is overwritten. Pages stay
//! executable all the time. If a page cannot be made writable, nothing has been written yet. If a page cannot
//! be made read-only again, the server still works.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::io;

use super::pages::{page_size, protect};
use super::rules::{Returns, rule};
use super::switch::Switch;
use super::targets::{TARGET_BYTES, Target};

/// Why no entry was overwritten.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// Most likely a policy of the system.
    #[error("the system does not let the server's code be changed ({0})")]
    Refused(io::Error),
}

/// `jmp *distance(%rip)`: jumps to the address that is stored so many bytes behind the instruction.
const JUMP: [u8; 2] = [0xff, 0x25];
const JUMP_BYTES: usize = JUMP.len() + size_of::<i32>();

/// `ret`.
const RETURN: u8 = 0xc3;

/// Overwrites all targets or none: with a return where `does_nothing` is true. Returns the switches of those
/// with a rule.
pub fn write(
    targets: &[Target],
    does_nothing: impl Fn(*const ()) -> bool,
) -> Result<Vec<Switch>, PatchError> {
    let pages = pages_of(targets);
    for (done, &page) in pages.iter().enumerate() {
        if let Err(error) = protect(page, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) {
            for &page in pages.iter().take(done) {
                let _ = protect(page, libc::PROT_READ | libc::PROT_EXEC);
            }
            return Err(PatchError::Refused(error));
        }
    }
    let addresses = Addresses::near(targets);
    let mut switches = Vec::new();
    for (i, target) in targets.iter().enumerate() {
        let code = match does_nothing(target.function) {
            true => vec![RETURN],
            false => {
                switches.extend(addresses.switch(i, *target));
                addresses.jump(i, *target)
            }
        };
        // SAFETY: `find_targets` has checked that a function of at least `TARGET_BYTES` bytes begins there,
        // and its pages are writable now. No thread runs through it: there is only this one.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), target.address as *mut u8, code.len())
        };
    }
    for &page in &pages {
        let _ = protect(page, libc::PROT_READ | libc::PROT_EXEC);
    }
    Ok(switches)
}

/// The table that jumps read their targets' addresses from.
struct Addresses {
    /// In the order of targets; 0 = behind the jump.
    table: usize,
}

impl Addresses {
    /// Pages with the functions' addresses that all targets reach, if the system gives them.
    fn near(targets: &[Target]) -> Self {
        let size = page_size();
        let bytes = (targets.len() * POINTER).next_multiple_of(size);
        let code = targets.iter().map(|target| target.address as usize);
        let (Some(lowest), Some(highest)) = (code.clone().min(), code.max()) else {
            return Self { table: 0 };
        };
        // Below the program, because its heap grows above it.
        let reached = highest.saturating_sub(MAX_DISTANCE);
        let table = (1..MAX_TRIES)
            .map_while(|i| (lowest & !(TRY_DISTANCE - 1)).checked_sub(i * TRY_DISTANCE))
            .take_while(|at| *at >= TRY_DISTANCE && *at > reached)
            .find_map(|at| map_at(at, bytes))
            .unwrap_or(0);
        if table != 0 {
            for (i, target) in targets.iter().enumerate() {
                // SAFETY: within the pages just mapped, which hold an address for each target.
                unsafe { (table as *mut *const ()).add(i).write(target.function) };
            }
            for page in (table..table + bytes).step_by(size) {
                let _ = protect(page, libc::PROT_READ);
            }
        }
        Self { table }
    }

    /// The code that leads from target `i` to its function.
    fn jump(&self, i: usize, target: Target) -> Vec<u8> {
        const { assert!(JUMP_BYTES + POINTER <= TARGET_BYTES) };
        let distance = match self.table {
            0 => 0,
            table => (table + i * POINTER).wrapping_sub(target.address as usize + JUMP_BYTES),
        };
        let mut code = JUMP.to_vec();
        // `near` has checked that it fits.
        code.extend((distance as i32).to_le_bytes());
        match self.table {
            0 => code.extend((target.function as u64).to_le_bytes()),
            _ => code.extend(
                rule(target.name)
                    .map_or(Returns::Zero, |rule| rule.returns)
                    .code(),
            ),
        }
        code
    }

    /// The switch that leads the calls of target `i` to the return behind its jump and back, if it has a
    /// rule.
    fn switch(&self, i: usize, target: Target) -> Option<Switch> {
        let rule = rule(target.name).filter(|_| self.table != 0)?;
        let behind_jump = target.address as usize + JUMP_BYTES;
        let cell = self.table + i * POINTER;
        Some(Switch::new(rule, cell, target.function, behind_jump))
    }
}

const POINTER: usize = size_of::<*const ()>();
/// The largest distance in bytes between a jump and its address: 31 bits, less a margin of 64 KiB.
const MAX_DISTANCE: usize = i32::MAX as usize - (1 << 16);
/// The distance of the addresses at which pages are tried; the system gives none below the first.
const TRY_DISTANCE: usize = 1 << 16;
const MAX_TRIES: usize = 1 << 14;

/// Maps writable memory at an address where nothing is mapped yet.
fn map_at(address: usize, bytes: usize) -> Option<usize> {
    // SAFETY: a new private mapping, in place of no other.
    let page = unsafe {
        libc::mmap(
            address as *mut c_void,
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return None;
    }
    if page as usize != address {
        // A system that does not know the flag takes the address for a hint.
        // SAFETY: the mapping just created.
        unsafe { libc::munmap(page, bytes) };
        return None;
    }
    Some(address)
}

/// The pages that hold entries.
fn pages_of(targets: &[Target]) -> BTreeSet<usize> {
    let size = page_size();
    targets
        .iter()
        .flat_map(|target| {
            let first = target.address as usize;
            [
                first & !(size - 1),
                (first + TARGET_BYTES - 1) & !(size - 1),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local!(static CALLED: Cell<u32> = const { Cell::new(0) });

    extern "C" fn ours() {
        CALLED.set(CALLED.get() + 1);
    }

    #[test]
    fn a_jump_leads_to_its_function() {
        let size = page_size();
        // A page of returns, executable and not writable, as a program's code is.
        // SAFETY: a new private mapping, filled before it becomes executable.
        let page = unsafe {
            let page = libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(page, libc::MAP_FAILED);
            page.cast::<u8>().write_bytes(0xc3, size);
            assert_eq!(
                libc::mprotect(page, size, libc::PROT_READ | libc::PROT_EXEC),
                0
            );
            page as u64
        };
        // SAFETY: the page holds functions that return at once, at any address.
        let call = |at: u64| unsafe { std::mem::transmute::<u64, extern "C" fn()>(at)() };
        call(page + 32);
        assert_eq!(CALLED.get(), 0);
        let target = |at| Target::for_test(page + at, ours as *const ());
        write(&[target(32)], |_| false).expect("written");
        call(page + 32);
        assert_eq!(CALLED.get(), 1);
        call(page + 16);
        call(page + 32 + TARGET_BYTES as u64);
        assert_eq!(CALLED.get(), 1, "the neighbours are as they were");
        write(&[target(32)], |function| function == ours as *const ()).expect("written");
        call(page + 32);
        assert_eq!(
            CALLED.get(),
            1,
            "a function that does nothing is not called"
        );

        // Where no page is near.
        let far = Addresses { table: 0 }.jump(0, target(64));
        protect(page as usize, libc::PROT_READ | libc::PROT_WRITE).expect("our own page");
        // SAFETY: our own page, in which no thread runs.
        unsafe { std::ptr::copy_nonoverlapping(far.as_ptr(), (page + 64) as *mut u8, far.len()) };
        protect(page as usize, libc::PROT_READ | libc::PROT_EXEC).expect("our own page");
        call(page + 64);
        assert_eq!(CALLED.get(), 2);
    }

    #[test]
    fn a_page_that_cannot_be_written_is_an_error() {
        // Nothing is mapped at the beginning of the address space.
        let target = Target::for_test(0x1000, ours as *const ());
        assert!(matches!(
            write(&[target], |_| false),
            Err(PatchError::Refused(_))
        ));
    }
}
