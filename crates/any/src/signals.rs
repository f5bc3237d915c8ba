//! The program's action for SIGBUS, behind which Tare has its own while its segment is in a file, and the
//! signals that its threads block.

use std::ffi::c_int;

use libc::{sigaction as Action, sighandler_t, sigset_t};

use crate::hooks::hooks;
use crate::real::real;

type SetAction = unsafe extern "C-unwind" fn(c_int, *const Action, *mut Action) -> c_int;
type SetMask = unsafe extern "C-unwind" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int;

hooks! {
    fn signal, bsd_signal, ssignal(number: c_int, handler: sighandler_t) -> sighandler_t {
        |call| engine::host_signal(number, handler, call)
    }
}

// These pass on another set than the program's argument, so they are no hooks.

/// In place of the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    new: *const Action,
    previous: *mut Action,
) -> c_int {
    let real = real!(sigaction: SetAction);
    // SAFETY: rule 2, with the action that replaces the program's.
    unsafe { engine::host_sigaction(signal, new, previous, |new| real(signal, new, previous)) }
}

/// In place of the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_sigmask(
    how: c_int,
    new: *const sigset_t,
    previous: *mut sigset_t,
) -> c_int {
    let real = real!(pthread_sigmask: SetMask);
    // SAFETY: rule 2, with the set that replaces the program's.
    unsafe { engine::host_mask(how, new, |new| real(how, new, previous)) }
}

/// In place of the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigprocmask(
    how: c_int,
    new: *const sigset_t,
    previous: *mut sigset_t,
) -> c_int {
    let real = real!(sigprocmask: SetMask);
    // SAFETY: as above.
    unsafe { engine::host_mask(how, new, |new| real(how, new, previous)) }
}
