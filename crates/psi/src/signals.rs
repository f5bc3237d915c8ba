//! The server's action for SIGBUS, behind which Tare has its own while its segment is in a file, and the signals
//! that its threads block.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{sigaction as Action, sighandler_t, sigset_t};

/// A function of the C library.
struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

static SIGACTION: Next = Next::new(c"sigaction");
static SIGNAL: Next = Next::new(c"signal");
static PTHREAD_SIGMASK: Next = Next::new(c"pthread_sigmask");
static SIGPROCMASK: Next = Next::new(c"sigprocmask");

impl Next {
    const fn new(name: &'static CStr) -> Self {
        let address = AtomicPtr::new(std::ptr::null_mut());
        Self { name, address }
    }

    /// Its address; NULL = there is none.
    fn find(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if !address.is_null() {
            return address;
        }
        // SAFETY: a C string.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(address, Ordering::Relaxed);
        address
    }

    /// Sets a mask.
    ///
    /// # Safety
    /// As for `sigprocmask`, which it is, or `pthread_sigmask`.
    unsafe fn set_mask(&self, how: c_int, new: *const sigset_t, previous: *mut sigset_t) -> c_int {
        type Function = unsafe extern "C" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int;
        // SAFETY: NULL, or the C library's function of this name, which it declares so.
        let next = unsafe { std::mem::transmute::<*mut c_void, Option<Function>>(self.find()) };
        let next = |new| match next {
            // SAFETY: the server's arguments, but for the set, which is valid.
            Some(next) => unsafe { next(how, new, previous) },
            None => libc::ENOSYS,
        };
        // SAFETY: the caller promises it.
        unsafe { engine::host_mask(how, new, next) }
    }
}

/// Finds the C library's functions. Called before `main`: a signal handler may call ours later.
pub fn find_all() {
    for next in [&SIGACTION, &SIGNAL, &PTHREAD_SIGMASK, &SIGPROCMASK] {
        next.find();
    }
}

/// In place of the C library's function.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const Action,
    previous: *mut Action,
) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
    let next = |new| {
        // SAFETY: NULL, or the C library's function of this name, which it declares so.
        let next =
            unsafe { std::mem::transmute::<*mut c_void, Option<Function>>(SIGACTION.find()) };
        // SAFETY: the server's arguments, but for the action, which is NULL or valid.
        next.map_or(-1, |next| unsafe { next(signal, new, previous) })
    };
    // SAFETY: the server's arguments are passed on.
    unsafe { engine::host_sigaction(signal, new, previous, next) }
}

/// In place of the C library's function.
///
/// # Safety
/// As the C library's: none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    type Function = unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t;
    let next = || {
        // SAFETY: NULL, or the C library's function of this name, which it declares so.
        let next = unsafe { std::mem::transmute::<*mut c_void, Option<Function>>(SIGNAL.find()) };
        // SAFETY: the function has no preconditions.
        next.map_or(libc::SIG_ERR, |next| unsafe { next(number, handler) })
    };
    engine::host_signal(number, handler, next)
}

/// In place of the C library's function.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(
    how: c_int,
    new: *const sigset_t,
    previous: *mut sigset_t,
) -> c_int {
    // SAFETY: the server's arguments are passed on.
    unsafe { PTHREAD_SIGMASK.set_mask(how, new, previous) }
}

/// In place of the C library's function.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(
    how: c_int,
    new: *const sigset_t,
    previous: *mut sigset_t,
) -> c_int {
    // SAFETY: the server's arguments are passed on.
    unsafe { SIGPROCMASK.set_mask(how, new, previous) }
}
