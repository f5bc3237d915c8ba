//! The session that a thread has entered: its local is the thread's meanwhile.

use std::ptr;

use super::HOT;
use crate::engine::local::Local;

/// A thread's local before it entered a session, and its generation.
pub(crate) type Before = (*const Local, u32);

/// Makes a session's local the thread's. Returns the previous one, for [`leave_session`].
pub(crate) fn enter_session(session: *const Local, key: u64) -> Before {
    HOT.with(|hot| {
        let before = (hot.local.get(), hot.generation.get());
        if hot.sessions.get() == 0 {
            hot.own.set(before.0);
        }
        hot.sessions.set(hot.sessions.get() + 1);
        hot.set_local(session);
        hot.generation.set((key >> 32) as u32);
        before
    })
}

/// The calling thread's own local, while it has entered a session; `None`: it has none that records now.
#[cfg(feature = "door")]
#[inline(always)]
pub(crate) fn own_local<'a>() -> Option<&'a Local> {
    HOT.with(|hot| {
        if hot.sessions.get() == 0 {
            return None;
        }
        // SAFETY: null, or the thread's local, which outlives its sessions.
        let own = unsafe { hot.own.get().as_ref() }?;
        let generation = crate::engine::running::NOW
            .generation
            .load(std::sync::atomic::Ordering::Relaxed);
        (own.key >> 32 == u64::from(generation)).then_some(own)
    })
}

/// Whether the calling thread has entered a session.
#[inline(always)]
pub(crate) fn is_in_session() -> bool {
    HOT.with(|hot| hot.sessions.get() != 0)
}

/// Makes a session's local the thread's until another is, or [`no_session`]: for threads that have no
/// local of their own.
pub(crate) fn stay_in_session(session: *const Local, key: u64) {
    HOT.with(|hot| {
        hot.set_local(session);
        hot.generation.set((key >> 32) as u32);
    });
}

/// Undoes [`stay_in_session`].
pub(crate) fn no_session() {
    HOT.with(|hot| {
        hot.generation.set(0);
        hot.set_local(ptr::null());
    });
}

/// Undoes [`enter_session`]. False: the thread is in no session, because it was forked in this one. What was
/// the thread's before is its parent's.
pub(crate) fn leave_session((local, generation): Before) -> bool {
    HOT.with(|hot| {
        let sessions = hot.sessions.get();
        if sessions != 0 {
            hot.set_local(local);
            hot.generation.set(generation);
            hot.sessions.set(sessions - 1);
        }
        sessions != 0
    })
}

/// How many sessions the calling thread has entered, one inside the other.
#[inline(always)]
pub(crate) fn session_depth() -> u32 {
    HOT.with(|hot| hot.sessions.get())
}

/// Leaves a session that is not the thread's now: one inside of which the thread has entered another one, or
/// one outside of which it has left another one.
pub(crate) fn leave_outer_session() {
    HOT.with(|hot| hot.sessions.set(hot.sessions.get().saturating_sub(1)));
}

/// Whether this is the calling thread's local.
pub(crate) fn is_local(local: *const Local) -> bool {
    HOT.with(|hot| ptr::eq(hot.local.get(), local))
}
