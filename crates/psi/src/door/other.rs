//! Calls about what Tare does not record.

use std::ffi::c_int;

/// Does nothing, for calls about: query ids, plugins that are unloaded, InnoDB's own locks (which the
/// server's own tables read), notifications of sessions (no component can register for them), signals of
/// conditions, XA states, the time at which a thread's command began (`PROCESSLIST_TIME` counts from the
/// newest command), and its state (the stage's name).
///
/// Never inlined: [`super::does_nothing`] recognises it by its address, and of a function this small the
/// compiler would make several copies, one for each unit of code generation.
#[inline(never)]
pub unsafe extern "C" fn ignore() {}

/// Reports success: resource groups are the server's, and a registration for notifications gets no number.
pub unsafe extern "C" fn done() -> c_int {
    0
}

/// Reports that there is none: attributes of a thread, a registration to be removed.
pub unsafe extern "C" fn none() -> c_int {
    1
}
