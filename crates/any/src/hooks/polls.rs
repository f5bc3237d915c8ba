//! Waiting for something to do, and sleeping.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;

use engine::wait::{self, Wait};
use engine::{Operation, idle};
use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

use super::hooks;
use crate::calls::{observe, set_woken};
use crate::descriptors::Descriptor;
use crate::names::classes;
use crate::start;

/// Runs a poll. `may_wait`: whether its time limit is above zero.
#[inline(always)]
fn poll_with<T>(may_wait: bool, call: impl FnOnce() -> T) -> T {
    let waiting = match may_wait {
        true => begin_idle(),
        false => None,
    };
    let result = call();
    observe(|| {
        drop(waiting.map(ManuallyDrop::into_inner));
        set_woken(idle::now());
    });
    result
}

thread_local! {
    /// Connections whose commands may have ended without a reply. Without a destructor, so that it can be
    /// used at any time in a thread's life: its memory is not freed.
    static QUIET: RefCell<ManuallyDrop<Vec<&'static Descriptor>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// When the thread polls again, the commands of this connection have ended.
pub(super) fn end_quiet_later(connection: &'static Descriptor) {
    QUIET.with_borrow_mut(|quiet| {
        if !quiet.iter().any(|other| std::ptr::eq(*other, connection)) {
            quiet.push(connection);
        }
    });
}

/// Ends the commands that have ended without a reply.
fn end_quiet() {
    let is_still_quiet = |connection: &mut &'static Descriptor| {
        let mut object = connection.lock();
        let client = object.as_mut().and_then(|object| object.client());
        client.is_some_and(|client| {
            client.in_session(|commands| {
                commands.end_quiet();
                commands.is_quiet()
            })
        })
    };
    QUIET.with_borrow_mut(|quiet| quiet.retain_mut(is_still_quiet));
}

fn begin_idle() -> Option<ManuallyDrop<Wait>> {
    observe(|| {
        start::is_serving();
        end_quiet();
        Some(ManuallyDrop::new(idle::start(classes()?.idle)))
    })?
}

/// Runs a sleep.
#[inline(always)]
fn sleep_with<T>(call: impl FnOnce() -> T) -> T {
    let sleeping = observe(|| {
        let class = classes()?.sleep;
        Some(ManuallyDrop::new(wait::start(class, Operation::TimedWait)))
    });
    let result = call();
    if let Some(Some(sleeping)) = sleeping {
        observe(|| drop(ManuallyDrop::into_inner(sleeping)));
    }
    result
}

/// Whether a time limit is above zero; NULL = there is none.
///
/// # Safety
/// NULL, or readable.
unsafe fn is_long(timeout: *const timespec) -> bool {
    // SAFETY: the caller's promise.
    unsafe { timeout.as_ref() }.is_none_or(|time| time.tv_sec != 0 || time.tv_nsec != 0)
}

hooks! {
    fn epoll_wait(fd: c_int, events: *mut epoll_event, count: c_int, timeout: c_int) -> c_int {
        |call| poll_with(timeout != 0, call)
    }
    fn epoll_pwait(
        fd: c_int, events: *mut epoll_event, count: c_int, timeout: c_int, mask: *const sigset_t
    ) -> c_int {
        |call| poll_with(timeout != 0, call)
    }
    fn epoll_pwait2(
        fd: c_int, events: *mut epoll_event, count: c_int, timeout: *const timespec,
        mask: *const sigset_t
    ) -> c_int {
        // SAFETY: rule 2 (NULL, or a time).
        |call| poll_with(unsafe { is_long(timeout) }, call)
    }
    fn poll(list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
        |call| poll_with(timeout != 0, call)
    }
    fn __poll_chk(list: *mut pollfd, count: nfds_t, timeout: c_int, size: usize) -> c_int {
        |call| poll_with(timeout != 0, call)
    }
    fn ppoll(list: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int {
        // SAFETY: rule 2 (NULL, or a time).
        |call| poll_with(unsafe { is_long(timeout) }, call)
    }
    fn __ppoll_chk(
        list: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t, size: usize
    ) -> c_int {
        // SAFETY: rule 2 (NULL, or a time).
        |call| poll_with(unsafe { is_long(timeout) }, call)
    }
    fn select(
        count: c_int, read: *mut fd_set, write: *mut fd_set, failed: *mut fd_set, timeout: *mut timeval
    ) -> c_int {
        |call| {
            // SAFETY: rule 2 (NULL, or a time).
            let time = unsafe { timeout.as_ref() };
            poll_with(time.is_none_or(|time| time.tv_sec != 0 || time.tv_usec != 0), call)
        }
    }
    fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, failed: *mut fd_set,
        timeout: *const timespec, mask: *const sigset_t
    ) -> c_int {
        // SAFETY: rule 2 (NULL, or a time).
        |call| poll_with(unsafe { is_long(timeout) }, call)
    }
    fn nanosleep(time: *const timespec, rest: *mut timespec) -> c_int { |call| sleep_with(call) }
    fn clock_nanosleep(clock: c_int, flags: c_int, time: *const timespec, rest: *mut timespec) -> c_int {
        |call| sleep_with(call)
    }
    fn usleep(time: u32) -> c_int { |call| sleep_with(call) }
    fn sleep(seconds: u32) -> u32 { |call| sleep_with(call) }
}
