//! Threads of Tare's own.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::panic::AssertUnwindSafe;

use super::{hot, system};

/// Runs `work` on a thread of Tare's own, which receives no signals of the host and is invisible to
/// readers. It is created without std, which first allocates memory on a new thread, and so would give
/// it a slot. False if the system starts no thread.
pub(super) fn start(name: &'static CStr, work: impl FnOnce() + Send + 'static) -> bool {
    /// Enough for the thread-local storage of a large host, and for the host's functions that the
    /// thread calls.
    const STACK_BYTES: usize = 1024 * 1024;
    let work: Box<Work> = Box::new((name, Box::new(work)));
    let work = Box::into_raw(work);
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: all pointers are to valid places; `all` and `attributes` are initialised before they are
    // used. A new thread inherits the creator's mask, which is restored afterwards. `run` gets the
    // argument that it expects.
    let is_started = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK_BYTES);
        libc::pthread_attr_setdetachstate(attributes.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
        let error =
            libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run, work.cast());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        error == 0
    };
    // Without the thread, a reader's changes take effect only in flags, as everywhere else.
    if !is_started {
        // SAFETY: from `into_raw` above; the thread that would own it does not exist.
        drop(unsafe { Box::from_raw(work) });
    }
    is_started
}

/// A thread's name and what it does.
type Work = (&'static CStr, Box<dyn FnOnce() + Send>);

extern "C" fn run(work: *mut c_void) -> *mut c_void {
    hot::exclude_thread();
    // SAFETY: `start` created it for this thread only.
    let (name, work) = unsafe { *Box::from_raw(work.cast::<Work>()) };
    system::set_thread_name(name);
    // A panic ends only this thread.
    let _ = std::panic::catch_unwind(AssertUnwindSafe(work));
    std::ptr::null_mut()
}
