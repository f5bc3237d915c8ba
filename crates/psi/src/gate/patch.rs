//! Writing: a jump of 14 bytes over each entry, or a return where nothing would happen.
//!
//! Before `main` there is one thread, and it is here, so nobody runs through what is written. Pages stay
//! executable all along: if one of them cannot be made writable, nothing has been written yet, and if one cannot be made
//! read-only again, it works nevertheless.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::io;

use super::places::{Places, ROOM, Target};

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// A policy of the system, most likely.
    #[error("the system does not let the server's code be changed ({0})")]
    Refused(io::Error),
}

/// `jmp *0(%rip)`: to the address in the eight bytes that follow.
const JUMP: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];

/// `ret`.
const RETURN: [u8; 1] = [0xc3];

/// Writes all or nothing: to where `does_nothing` says so, a return.
pub fn write(places: &Places, does_nothing: impl Fn(*const ()) -> bool) -> Result<(), PatchError> {
    let pages = pages(&places.targets);
    for (done, &page) in pages.iter().enumerate() {
        if let Err(error) = protect(page, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) {
            for &page in pages.iter().take(done) {
                let _ = protect(page, libc::PROT_READ | libc::PROT_EXEC);
            }
            return Err(PatchError::Refused(error));
        }
    }
    for target in &places.targets {
        let jump = jump(target.function);
        let code = match does_nothing(target.function) {
            true => &RETURN[..],
            false => &jump,
        };
        // SAFETY: places has checked that a function of at least `ROOM` bytes begins there, and its pages
        // are writable now. No thread runs through it: there is only this one.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), target.address as *mut u8, code.len())
        };
    }
    for &page in &pages {
        let _ = protect(page, libc::PROT_READ | libc::PROT_EXEC);
    }
    Ok(())
}

fn jump(function: *const ()) -> [u8; JUMP.len() + 8] {
    const { assert!(JUMP.len() + 8 <= ROOM) };
    let mut code = [0; JUMP.len() + 8];
    code[..JUMP.len()].copy_from_slice(&JUMP);
    code[JUMP.len()..].copy_from_slice(&(function as u64).to_le_bytes());
    code
}

/// The pages that hold entries.
fn pages(targets: &[Target]) -> BTreeSet<usize> {
    let size = page_size();
    targets
        .iter()
        .flat_map(|target| {
            let first = target.address as usize;
            [first & !(size - 1), (first + ROOM - 1) & !(size - 1)]
        })
        .collect()
}

fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

fn protect(page: usize, protection: i32) -> io::Result<()> {
    // SAFETY: the page is one of the program's code, and stays readable and executable.
    let done = unsafe { libc::mprotect(page as *mut c_void, page_size(), protection) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
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
    fn a_written_jump_arrives() {
        let size = page_size();
        // A page of returns, executable and not writable, as a program's code is.
        // SAFETY: a new private mapping, filled before it is made code.
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
        let places = |at| Places {
            targets: vec![target(at)],
        };
        write(&places(32), |_| false).expect("written");
        call(page + 32);
        assert_eq!(CALLED.get(), 1);
        call(page + 16);
        call(page + 32 + ROOM as u64);
        assert_eq!(CALLED.get(), 1, "the neighbours are as they were");
        write(&places(32), |function| function == ours as *const ()).expect("written");
        call(page + 32);
        assert_eq!(CALLED.get(), 1, "what does nothing is not called");
    }

    #[test]
    fn what_cannot_be_written_is_an_error_and_changes_nothing() {
        let places = Places {
            // Nothing is mapped at the beginning of the address space.
            targets: vec![Target::for_test(0x1000, ours as *const ())],
        };
        assert!(matches!(
            write(&places, |_| false),
            Err(PatchError::Refused(_))
        ));
    }
}
