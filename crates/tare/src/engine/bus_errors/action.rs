//! The process's action for SIGBUS: Tare's handler, which passes on to the host's action what is not an error
//! of a segment.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::lock::SpinLock;
use super::pages;

/// The host's action, as `sigaction` has it.
struct HostAction {
    lock: SpinLock,
    /// Whether the handler is installed. Until then the kernel has the host's action.
    is_installed: AtomicBool,
    action: UnsafeCell<MaybeUninit<libc::sigaction>>,
}

// SAFETY: `action` is accessed under the lock only.
unsafe impl Sync for HostAction {}

static HOST: HostAction = HostAction {
    lock: SpinLock::new(),
    is_installed: AtomicBool::new(false),
    action: UnsafeCell::new(MaybeUninit::zeroed()),
};

impl HostAction {
    /// Calls `body` with the host's action. All signals of the thread are blocked.
    fn with<T>(&self, body: impl FnOnce(&mut libc::sigaction) -> T) -> T {
        self.lock.with(|| {
            // SAFETY: under the lock. Zeroes are an action, SIG_DFL.
            body(unsafe { (*self.action.get()).assume_init_mut() })
        })
    }
}

/// Installs the handler, once.
///
/// # Errors
/// The kernel refuses it.
pub fn install() -> io::Result<()> {
    let _blocked = BlockedSignals::all();
    HOST.with(|host| {
        if HOST.is_installed.load(Ordering::Relaxed) {
            return Ok(());
        }
        // SAFETY: a C string.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"sigaction".as_ptr()) };
        NEXT.store(next, Ordering::Relaxed);
        set(None, Some(host))?;
        set(Some(&handling(host)), None)?;
        HOST.is_installed.store(true, Ordering::Relaxed);
        Ok(())
    })
}

/// For a library that is preloaded and exports `sigaction`: the host's call of it. While Tare has a handler,
/// the host gets and sets the action behind the handler, as if there were none, and no other handler runs with
/// SIGBUS blocked ([`host_mask`]). `next`: calls the C library's function with this action.
///
/// # Safety
/// As for `sigaction`: the pointers are NULL or valid.
pub unsafe fn host_sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    previous: *mut libc::sigaction,
    next: impl FnOnce(*const libc::sigaction) -> c_int,
) -> c_int {
    if !HOST.is_installed.load(Ordering::Relaxed) {
        return next(new);
    }
    // SAFETY: the caller promises it.
    let new = unsafe { new.as_ref() };
    if signal != libc::SIGBUS {
        let without = new.map(|new| {
            let mut action = *new;
            action.sa_mask = without_bus_errors(&new.sa_mask);
            action
        });
        return next(without.as_ref().map_or(ptr::null(), ptr::from_ref));
    }
    match replace_host_action(new) {
        Ok(action) => {
            // SAFETY: the caller promises it.
            if let Some(previous) = unsafe { previous.as_mut() } {
                *previous = action;
            }
            0
        }
        Err(_) => -1,
    }
}

/// The same for `signal`.
pub fn host_signal(
    signal: c_int,
    handler: libc::sighandler_t,
    next: impl FnOnce() -> libc::sighandler_t,
) -> libc::sighandler_t {
    if signal != libc::SIGBUS || !HOST.is_installed.load(Ordering::Relaxed) {
        return next();
    }
    // SAFETY: zeroes are an action.
    let mut new: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    new.sa_sigaction = handler;
    new.sa_flags = libc::SA_RESTART;
    // SAFETY: adds to a set of ours.
    unsafe { libc::sigaddset(&raw mut new.sa_mask, signal) };
    replace_host_action(Some(&new)).map_or(libc::SIG_ERR, |previous| previous.sa_sigaction)
}

/// The same for `sigprocmask` and `pthread_sigmask`: no thread blocks the signal, because the kernel ends a
/// process whose thread blocks the signal of an error. `next`: calls the C library's function with this set.
///
/// # Safety
/// As for `sigprocmask`: the pointer is NULL or valid.
pub unsafe fn host_mask(
    how: c_int,
    new: *const libc::sigset_t,
    next: impl FnOnce(*const libc::sigset_t) -> c_int,
) -> c_int {
    // SAFETY: the caller promises it.
    match unsafe { new.as_ref() } {
        // A handler may unblock its own signal.
        Some(new) if how != libc::SIG_UNBLOCK && HOST.is_installed.load(Ordering::Relaxed) => {
            next(ptr::from_ref(&without_bus_errors(new)))
        }
        _ => next(new),
    }
}

/// A set without the signal.
fn without_bus_errors(set: &libc::sigset_t) -> libc::sigset_t {
    let mut without = *set;
    // SAFETY: a set of ours.
    unsafe { libc::sigdelset(&raw mut without, libc::SIGBUS) };
    without
}

/// Sets the host's action, and returns the previous one.
fn replace_host_action(new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let _blocked = BlockedSignals::all();
    HOST.with(|host| {
        let previous = *host;
        if let Some(new) = new {
            set(Some(&handling(new)), None)?;
            *host = *new;
        }
        Ok(previous)
    })
}

/// Tare's action, for a host with this one.
fn handling(host: &libc::sigaction) -> libc::sigaction {
    let mut action = *host;
    let handler: Handler = handle;
    action.sa_sigaction = handler as usize;
    // The stack is the one on which the host's handler expects to run.
    action.sa_flags = libc::SA_SIGINFO | host.sa_flags & (libc::SA_ONSTACK | libc::SA_RESTART);
    // SAFETY: fills a set of ours.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    action
}

type Handler = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The handler. All signals are blocked.
unsafe extern "C-unwind" fn handle(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the kernel passes a description, and the thread has an errno.
    let (is_error, address, errno) = unsafe {
        let is_error = (*info).si_code > 0;
        (
            is_error,
            (*info).si_addr() as usize,
            *libc::__errno_location(),
        )
    };
    let is_ours = is_error && pages::replace(address);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    if !is_ours {
        // SAFETY: what the kernel has passed.
        unsafe { pass_on(signal, info, context, is_error) };
    }
}

/// Does what the host's action says.
///
/// # Safety
/// The arguments are the handler's.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, is_error: bool) {
    let action = HOST.with(|host| {
        let action = *host;
        if action.sa_flags & libc::SA_RESETHAND != 0 {
            host.sa_sigaction = libc::SIG_DFL;
        }
        action
    });
    match action.sa_sigaction {
        libc::SIG_IGN if !is_error => {}
        // The kernel does not let a process ignore an error.
        libc::SIG_DFL | libc::SIG_IGN => end_by_default(signal, is_error),
        handler => {
            // SAFETY: the kernel passes the context that was interrupted.
            let mut mask = unsafe { (*context.cast::<libc::ucontext_t>()).uc_sigmask };
            for number in 1..=LAST_SIGNAL {
                let is_own = number == signal && action.sa_flags & libc::SA_NODEFER == 0;
                // SAFETY: sets that are valid.
                unsafe {
                    if is_own || libc::sigismember(&raw const action.sa_mask, number) == 1 {
                        libc::sigaddset(&raw mut mask, number);
                    }
                }
            }
            set_mask(&mask, None);
            // SAFETY: the host has set the handler for such calls: with one argument or with three.
            unsafe {
                if action.sa_flags & libc::SA_SIGINFO != 0 {
                    std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
                } else {
                    type Plain = unsafe extern "C-unwind" fn(c_int);
                    std::mem::transmute::<usize, Plain>(handler)(signal);
                }
            }
        }
    }
}

/// Ends the process as without a handler, when the handler returns: an error occurs again.
fn end_by_default(signal: c_int, is_error: bool) {
    // SAFETY: zeroes are an action, SIG_DFL.
    let default = unsafe { MaybeUninit::zeroed().assume_init() };
    let _ = set(Some(&default), None);
    if !is_error {
        // SAFETY: sends a signal, which is blocked until then, to the calling thread.
        unsafe { libc::raise(signal) };
    }
}

/// The last signal's number.
const LAST_SIGNAL: c_int = 64;

/// The function `sigaction` after the one that a preloaded library exports; null = there is none.
static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Sets the kernel's action, or returns it.
fn set(new: Option<&libc::sigaction>, previous: Option<&mut libc::sigaction>) -> io::Result<()> {
    type Function =
        unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    // SAFETY: NULL, or the C library's function of this name, which has this type.
    let next: Option<Function> = unsafe { std::mem::transmute(NEXT.load(Ordering::Relaxed)) };
    let new = new.map_or(ptr::null(), ptr::from_ref);
    let previous = previous.map_or(ptr::null_mut(), ptr::from_mut);
    // SAFETY: NULL, or valid for the call.
    match unsafe { next.unwrap_or(libc::sigaction)(libc::SIGBUS, new, previous) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// All signals of the thread are blocked until this is dropped.
struct BlockedSignals(libc::sigset_t);

impl BlockedSignals {
    fn all() -> Self {
        let mut sets = [MaybeUninit::<libc::sigset_t>::zeroed(); 2];
        let [all, previous] = &mut sets;
        // SAFETY: both are ours. Zeroes are an empty set.
        let (all, mut previous) = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            (all.assume_init(), previous.assume_init())
        };
        set_mask(&all, Some(&mut previous));
        Self(previous)
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        set_mask(&self.0, None);
    }
}

/// Sets the signals that the calling thread blocks. A preloaded library has the C library's function for this
/// replaced, see [`host_mask`].
fn set_mask(mask: &libc::sigset_t, previous: Option<&mut libc::sigset_t>) {
    /// How many bytes of a set Linux uses.
    const BYTES: usize = LAST_SIGNAL as usize / 8;
    let previous = previous.map_or(ptr::null_mut(), ptr::from_mut);
    // SAFETY: sets that are valid for the call, which does not fail.
    unsafe {
        let how = libc::SIG_SETMASK;
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            how,
            ptr::from_ref(mask),
            previous,
            BYTES,
        )
    };
}
