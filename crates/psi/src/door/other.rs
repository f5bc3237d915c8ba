//! Calls that ask for nothing that Tare has.

use std::ffi::c_int;

/// Nothing is done: query ids, plugins that are unloaded, InnoDB's own locks (asked for by the server's own
/// tables), what happens to sessions (told to those who registered for it; nobody can), signals of conditions, XA states,
/// when a thread's command began (`PROCESSLIST_TIME` runs from the command that was said last), its state (the stage's name).
///
/// Never inlined: it is known by its address ([`super::does_nothing`]), and of a function this small the compiler would
/// make several, one for each part that it compiles.
///
/// # Safety
/// The interface.
#[inline(never)]
pub unsafe extern "C" fn ignore() {}

/// Done, with nothing to be done: resource groups are the server's, Tare only would show them. A
/// registration for what happens to sessions gets no number.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn done() -> c_int {
    0
}

/// There is none: attributes of a thread, a registration to be ended.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn none() -> c_int {
    1
}
