//! Threads of Tare's own.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::panic::AssertUnwindSafe;

use super::hot;

/// Runs `work` on a thread of its own that no signal of the host's comes to, and that readers do not see: it is made
/// without std, which takes memory on a new thread before anything else, and so would give it a slot.
pub(super) fn start(name: &'static CStr, work: impl FnOnce() + Send + 'static) {
    /// With room for the thread-local storage of a large host, and for what it calls of the host's.
    const STACK: usize = 1024 * 1024;
    let work: Box<Work> = Box::new((name, Box::new(work)));
    let work = Box::into_raw(work);
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: all of these are places for one; `all` and `attributes` are filled before they are used. A thread inherits
    // the mask of the one that makes it, which gets its own back. `run` is given what it expects.
    let is_made = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK);
        libc::pthread_attr_setdetachstate(attributes.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
        let error =
            libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run, work.cast());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        error == 0
    };
    // Without it a setting that a reader changes takes effect in flags alone, as everywhere else.
    if !is_made {
        // SAFETY: from `into_raw` above, and nobody else has it.
        drop(unsafe { Box::from_raw(work) });
    }
}

/// A thread's name and what it does.
type Work = (&'static CStr, Box<dyn FnOnce() + Send>);

extern "C" fn run(work: *mut c_void) -> *mut c_void {
    hot::keep_out();
    // SAFETY: `start` made it for this thread alone; a name has at most 15 bytes, or the thread has none.
    let (name, work) = unsafe { *Box::from_raw(work.cast::<Work>()) };
    // SAFETY: the calling thread's.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
    // A panic ends this thread and nothing else.
    let _ = std::panic::catch_unwind(AssertUnwindSafe(work));
    std::ptr::null_mut()
}
