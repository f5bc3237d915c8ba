//! Waiting for something to do or for a semaphore, and sleeping.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;

use engine::{Class, Operation, idle, periods, statement, wait};
use libc::{epoll_event, fd_set, nfds_t, pollfd, sem_t, sigset_t, timespec, timeval};

use super::hooks;
use crate::backend::{Waiting, begin_wait};
use crate::calls::observe;
use crate::client;
use crate::descriptors::Descriptor;
use crate::names::{Classes, classes, is_session};
use crate::{nginx, start, turn};

/// Runs a poll. `may_wait`: whether its time limit is above zero.
#[inline(always)]
fn poll_with<T>(may_wait: bool, call: impl FnOnce() -> T) -> T {
    poll_by(turn::Poll::Other, may_wait, call)
}

/// The same by epoll.
#[inline(always)]
fn epoll_with<T>(may_wait: bool, call: impl FnOnce() -> T) -> T {
    poll_by(turn::Poll::Epoll, may_wait, call)
}

#[inline(always)]
fn poll_by<T>(poll: turn::Poll, may_wait: bool, call: impl FnOnce() -> T) -> T {
    if may_wait {
        start::begin_serving();
    }
    if periods::active_kinds().is_none() {
        return call();
    }
    let waiting = match may_wait {
        true => begin_idle(poll),
        false => None,
    };
    let result = call();
    observe(|| {
        if let Some(waiting) = waiting {
            ManuallyDrop::into_inner(waiting).end();
        }
        turn::begin(poll, idle::now());
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

fn begin_idle(poll: turn::Poll) -> Option<ManuallyDrop<Waiting>> {
    observe(|| {
        if periods::follow().is_none() {
            return None;
        }
        end_quiet();
        turn::end(poll);
        nginx::update_role();
        client::settle();
        // The thread waits for its client to read.
        if is_session() && statement::is_open() {
            return None;
        }
        let class = classes()?.idle;
        let waiting = begin_wait(Operation::Wait, || idle::start(class));
        Some(ManuallyDrop::new(waiting))
    })?
}

/// Runs a call that waits, under the class that `class` returns.
#[inline(always)]
fn wait_with<T>(
    class: impl FnOnce(&Classes) -> &'static Class,
    operation: Operation,
    call: impl FnOnce() -> T,
) -> T {
    if periods::active_kinds().is_none() {
        return call();
    }
    let waiting = observe(|| {
        let class = class(classes()?);
        let waiting = begin_wait(operation, || wait::start(class, operation));
        Some(ManuallyDrop::new(waiting))
    });
    let result = call();
    if let Some(Some(waiting)) = waiting {
        observe(|| ManuallyDrop::into_inner(waiting).end());
    }
    result
}

/// Runs a sleep.
#[inline(always)]
fn sleep_with<T>(call: impl FnOnce() -> T) -> T {
    wait_with(|classes| classes.sleep, Operation::TimedWait, call)
}

/// Runs a call that takes a semaphore. It is recorded only if the semaphore is taken now, so that the call
/// waits.
#[inline(always)]
fn take_semaphore(
    semaphore: *mut sem_t,
    operation: Operation,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if periods::active_kinds().is_none() {
        return call();
    }
    let mut value = 0;
    // SAFETY: rule 2 (a semaphore).
    let is_read = unsafe { libc::sem_getvalue(semaphore, &mut value) } == 0;
    match is_read && value > 0 {
        true => call(),
        false => wait_with(|classes| classes.semaphore, operation, call),
    }
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
        |call| epoll_with(timeout != 0, call)
    }
    fn epoll_pwait(
        fd: c_int, events: *mut epoll_event, count: c_int, timeout: c_int, mask: *const sigset_t
    ) -> c_int {
        |call| epoll_with(timeout != 0, call)
    }
    fn epoll_pwait2(
        fd: c_int, events: *mut epoll_event, count: c_int, timeout: *const timespec,
        mask: *const sigset_t
    ) -> c_int {
        // SAFETY: rule 2 (NULL, or a time).
        |call| epoll_with(unsafe { is_long(timeout) }, call)
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
            match time {
                // The way to sleep of programs that are older than nanosleep.
                Some(_) if count == 0 => sleep_with(call),
                time => poll_with(time.is_none_or(|time| time.tv_sec != 0 || time.tv_usec != 0), call),
            }
        }
    }
    fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, failed: *mut fd_set,
        timeout: *const timespec, mask: *const sigset_t
    ) -> c_int {
        // SAFETY: rule 2 (NULL, or a time).
        |call| poll_with(unsafe { is_long(timeout) }, call)
    }
    fn sigsuspend(mask: *const sigset_t) -> c_int { |call| poll_with(true, call) }
    fn nanosleep(time: *const timespec, rest: *mut timespec) -> c_int { |call| sleep_with(call) }
    fn clock_nanosleep(clock: c_int, flags: c_int, time: *const timespec, rest: *mut timespec) -> c_int {
        |call| sleep_with(call)
    }
    fn usleep(time: u32) -> c_int { |call| sleep_with(call) }
    fn sleep(seconds: u32) -> u32 { |call| sleep_with(call) }
    fn sem_wait(semaphore: *mut sem_t) -> c_int {
        |call| take_semaphore(semaphore, Operation::Wait, call)
    }
    fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
        |call| take_semaphore(semaphore, Operation::TimedWait, call)
    }
    fn sem_clockwait(semaphore: *mut sem_t, clock: c_int, until: *const timespec) -> c_int {
        |call| take_semaphore(semaphore, Operation::TimedWait, call)
    }
}
