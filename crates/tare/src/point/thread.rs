//! Threads, and sessions that move between threads.

use std::io;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use tare_layout::slot::{Command, LIVE, Slot};

use crate::class::Class;
use crate::engine::hot::{self, local, local_of_statements};
use crate::engine::local::Local;
use crate::engine::running::{NOW, engine, pinned};
use crate::engine::{active, clock};
use crate::modes::builder;
pub use crate::modes::{ConnectionType, Truncation};
use crate::payload::{IS_COMPILED_IN, Payload};
pub use crate::point::attributes::{
    forget_longest_attributes, set_attributes, set_sent_attributes,
};

/// Starts a thread of this class (`thread/...`), named after it.
///
/// # Errors
/// The system cannot start a thread.
pub fn spawn<F, T>(class: &'static Class, body: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let parent = id();
    builder(class).spawn(move || {
        hot::prepare(class, parent);
        body()
    })
}

/// Gives the calling thread this class, if [`spawn`] did not start it.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn register(class: &'static Class) {
    hot::prepare(class, 0);
}

/// Gives the calling thread this class. `parent` is the [`id`] of the thread that started it.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn register_child(class: &'static Class, parent: u64) {
    hot::prepare(class, parent);
}

/// Returns the calling thread's (or its session's) `THREAD_ID`; 0 = Tare does not record it.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn id() -> u64 {
    local().map_or(0, |local| local.slot.thread_id.load(Ordering::Relaxed))
}

/// The thread's id and that of its next event, by which MySQL says when a thread did something; both 0 when
/// Tare does not record.
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn event() -> (u64, u64) {
    local().map_or((0, 0), |local| {
        let thread = local.slot.thread_id.load(Ordering::Relaxed);
        (thread, local.upcoming_event_id())
    })
}

/// The id of the thread that serves this connection, 0 = none: for hosts that called
/// [`record_sessions_only`].
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn of_processlist(processlist_id: u64) -> u64 {
    let Some(engine) = pinned().filter(|_| processlist_id != 0) else {
        return 0;
    };
    let view = &engine.view;
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let slots = (0..used.min(view.geometry().limits.threads)).map(|i| view.slot(i));
    let serves = |slot: &&tare_layout::slot::Slot| {
        slot.state.load(Ordering::Acquire) == LIVE
            && slot.processlist_id.load(Ordering::Relaxed) == processlist_id
    };
    slots
        .into_iter()
        .find(serves)
        .map_or(0, |slot| slot.thread_id.load(Ordering::Relaxed))
}

/// From this call on, until the process ends, threads record only in sessions: for hosts that report
/// which thread serves which session. Events outside of sessions are lost, and are added to the counts
/// of lost events now and then; memory is counted. If an engine records now, it is retained until the
/// process ends.
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn record_sessions_only() {
    if IS_COMPILED_IN {
        hot::record_sessions_only();
    }
}

/// Leaves the calling thread's session, after [`ThreadSession::stay`].
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn leave_session() {
    if IS_COMPILED_IN {
        hot::no_session();
    }
}

/// Sets the account of the connection that the thread serves. Earlier events count for the earlier
/// account. `setup_actors` decides whether it is instrumented from now on.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_account(user: &str, host: &str) {
    if let Some(local) = local() {
        local.change_account(local.engine.account(user, host));
        let is_client = !user.is_empty() || !host.is_empty();
        if is_client {
            let (instrumented, history) = local.engine.actor(user, host);
            local.instrument(instrumented, history);
        }
    }
}

/// Sets `PROCESSLIST_ID`, the connection's number, as KILL takes it.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_processlist_id(id: u64) {
    if let Some(local) = local() {
        local.slot.processlist_id.store(id, Ordering::Relaxed);
    }
}

/// Sets the default schema; empty = none.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_db(name: &str) {
    if let Some(local) = local() {
        let number = local.engine.schema_number(name);
        local.schema.set(number);
        local.slot.schema.store(number, Ordering::Relaxed);
    }
}

/// Sets the client's command. Restarts `PROCESSLIST_TIME`.
#[inline]
pub fn set_command(command: Command) {
    // At the level `active` readers conclude the command from the statement.
    if !IS_COMPILED_IN || active::is_on() {
        return;
    }
    if let Some(local) = local_of_statements() {
        // The column is in seconds: a recent clock read is precise enough.
        local.forget_stale_edges();
        let in_statement = local.statements.get() != 0;
        let since = match local.edge.get() {
            0 if in_statement => local.stage_began(),
            edge => edge,
        };
        let since = match since {
            0 => clock::now(),
            since => since,
        };
        local.slot.command.store(command as u32, Ordering::Relaxed);
        local.slot.command_since.store(since, Ordering::Relaxed);
    }
}

/// Sets `PROCESSLIST_STATE`, if it differs from the stage's name; empty = the stage's name.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_state(text: &str) {
    if let Some(local) = local() {
        local.has_texts.set(true);
        local.slot.state_text.set(text);
    }
}

/// Sets `PROCESSLIST_INFO`, if it differs from the statement's text; empty = the statement's text.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_info(text: &str) {
    if let Some(local) = local() {
        local.has_texts.set(true);
        local.slot.info.set(text);
    }
}

/// Sets the `traceparent` of the client's request, as W3C's Trace Context defines it; empty = none. It applies to the
/// statements that begin in the calling thread or session until it is set again. A text that cannot be valid is ignored.
/// Statements whose text has a comment with a `traceparent` belong to the trace of that comment.
///
/// ```
/// tare::thread::set_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
/// ```
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_traceparent(text: &str) {
    if let Some(local) = local() {
        local.has_texts.set(true);
        let place = local.engine.view.traceparent(local.slot_number());
        place.set(traceparent_of(text).as_bytes());
    }
}

/// The part of a text that a slot stores. Later versions of the format may have more after a dash.
fn traceparent_of(text: &str) -> &str {
    match text.as_bytes().get(TRACEPARENT_BYTES) {
        None if text.len() == TRACEPARENT_BYTES => text,
        Some(b'-') if !text.starts_with("00") => text.get(..TRACEPARENT_BYTES).unwrap_or(""),
        _ => "",
    }
}

/// Bytes of a `traceparent` of version 00.
const TRACEPARENT_BYTES: usize = 55;

/// Sets how the client is connected.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_connection_type(connection: ConnectionType) {
    if let Some(local) = local() {
        local
            .slot
            .connection_type
            .store(connection as u32, Ordering::Relaxed);
    }
}

/// A pointer that the host stores for the calling thread, null at first. It is stored next to the data
/// that every event reads. A thread-local of the host's library would need a call into the dynamic linker.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn of_host() -> *mut () {
    match IS_COMPILED_IN {
        true => hot::of_host(),
        false => std::ptr::null_mut(),
    }
}

/// See [`of_host`].
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn set_of_host(place: *mut ()) {
    if IS_COMPILED_IN {
        hot::set_of_host(place);
    }
}

/// The calling thread's id in the operating system, 0 when instrumentation is not compiled in.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn os_id() -> u64 {
    match IS_COMPILED_IN {
        true => hot::os_thread_id(),
        false => 0,
    }
}

/// Sets the thread's id in the operating system, if it is not the calling thread's own.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_os_id(id: u64) {
    if let Some(local) = local() {
        local.slot.os_id.store(id, Ordering::Relaxed);
    }
}

/// The calling thread works for the session that it has entered, also when it has left it, until it serves another
/// one or none: for hosts whose threads serve many sessions in turn and enter them only for moments. A reader then
/// knows for whom the others wait. `since`: when the thread's last poll returned ([`crate::idle::now`]).
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline]
pub fn serve_session(since: u64) {
    if let Some(session) = local_of_statements()
        && let Some(thread) = hot::own_local()
    {
        let id = session.slot.thread_id.load(Ordering::Relaxed);
        let line = &thread.slot.activity;
        line.served_since.store(since, Ordering::Relaxed);
        // A reader of this session reads no earlier time.
        line.served.store(id, Ordering::Release);
    }
}

/// The calling thread, outside of any session, serves no session any more ([`serve_session`]).
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline]
pub fn serve_none() {
    if let Some(local) = hot::attached() {
        local.slot.activity.served.store(0, Ordering::Relaxed);
    }
}

/// A thread of performance_schema that is not bound to a thread of the system: a client's session in a
/// thread pool.
///
/// ```
/// tare::classes! { static CONNECTION: Thread = "thread/app/connection"; }
/// let mut session = tare::thread::ThreadSession::new(&CONNECTION);
/// session.run(|| tare::thread::set_account("alice", "localhost")); // of the session
/// ```
#[derive(Debug)]
pub struct ThreadSession(Payload<Session>);

#[derive(Debug)]
pub(super) struct Session {
    class: &'static Class,
    local: *mut Local,
    /// The generation in which the session got no slot because all were in use, 0 = none.
    lost_under: u32,
}

// SAFETY: only the thread that runs in the session uses the local, and `run` takes the session exclusively.
unsafe impl Send for Session {}

impl ThreadSession {
    /// Creates a session. It is recorded as soon as Tare records.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn new(class: &'static Class) -> Self {
        Self(Payload::new(|| {
            let mut session = Session {
                class,
                local: std::ptr::null_mut(),
                lost_under: 0,
            };
            session.renew();
            session
        }))
    }

    /// A session for a thread that another one creates; `parent` is the other's [`id`].
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn with_parent(class: &'static Class, parent: u64) -> Self {
        let session = Self::new(class);
        if let Some(slot) = session.slot() {
            slot.parent_id.store(parent, Ordering::Relaxed);
        }
        session
    }

    /// Makes the session the calling thread's, until the thread enters another session or calls
    /// [`leave_session`]: for hosts that called [`record_sessions_only`]. Does nothing if the session got no
    /// slot.
    ///
    /// # Safety
    /// The session is neither moved into another thread's nor dropped before the thread has left it.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub unsafe fn stay(&self) {
        let Some(session) = self.0.get() else {
            return;
        };
        match session.owned() {
            Some(local) => hot::stay_in_session(session.local, local.key),
            None => hot::no_session(),
        }
    }

    /// Announces that its account will be set ([`set_account`]) before its thread does anything else.
    /// Events until then count for that account, and are not visible before.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn await_account(&self) {
        if let Some(local) = self.0.get().and_then(Session::owned) {
            local.await_account();
        }
    }

    fn slot(&self) -> Option<&'static Slot> {
        self.0
            .get()
            .and_then(Session::owned)
            .map(|local| local.slot)
    }

    /// Returns its `THREAD_ID`; 0 = it is not recorded.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn id(&self) -> u64 {
        self.slot()
            .map_or(0, |slot| slot.thread_id.load(Ordering::Relaxed))
    }

    /// As [`set_processlist_id`], from any thread.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn set_processlist_id(&self, id: u64) {
        if let Some(slot) = self.slot() {
            slot.processlist_id.store(id, Ordering::Relaxed);
        }
    }

    /// As [`set_os_id`], from any thread.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn set_os_id(&self, id: u64) {
        if let Some(slot) = self.slot() {
            slot.os_id.store(id, Ordering::Relaxed);
        }
    }

    /// Calls `work` in the session: it is the calling thread's meanwhile, and has the thread's number in the
    /// operating system.
    #[inline]
    pub fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
        /// The session is left when this is dropped.
        struct Inside(hot::Before, &'static Slot);
        impl Drop for Inside {
            #[inline]
            fn drop(&mut self) {
                if hot::leave_session(self.0) {
                    // No thread of the system works for it now.
                    self.1.os_id.store(0, Ordering::Relaxed);
                }
            }
        }
        let Some(session) = self.0.get_mut() else {
            return work();
        };
        session.renew_if_stale();
        let _inside = (session.enter_slot()).map(|(before, slot)| Inside(before, slot));
        work()
    }

    /// Its slot; `None`: instrumentation is not compiled in.
    #[inline(always)]
    pub(super) fn session(&self) -> Option<&Session> {
        self.0.get()
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(super) fn session_mut(&mut self) -> Option<&mut Session> {
        self.0.get_mut()
    }
}

impl Session {
    /// Its local; `None`: it has no slot.
    #[inline(always)]
    fn owned(&self) -> Option<&Local> {
        // SAFETY: null, or made by `renew` and owned by the session.
        unsafe { self.local.as_ref() }
    }

    /// Takes a slot, if Tare records into a segment in which the session has none.
    #[inline(always)]
    pub(super) fn renew_if_stale(&mut self) {
        if !self.is_current() {
            self.renew();
        }
    }

    /// Whether it has a slot in the segment that this process records into now.
    #[inline(always)]
    pub(super) fn is_current(&self) -> bool {
        self.generation() == u64::from(NOW.generation.load(Ordering::Relaxed))
    }

    /// Makes the session's slot the calling thread's. `None`: it has none.
    #[inline(always)]
    pub(super) fn enter_slot(&self) -> Option<(hot::Before, &'static Slot)> {
        self.owned().map(|local| {
            let os_id = hot::os_thread_id();
            local.slot.os_id.store(os_id, Ordering::Relaxed);
            (hot::enter_session(self.local, local.key), local.slot)
        })
    }

    /// Its local; null = it has none.
    pub(super) fn local(&self) -> *const Local {
        self.local
    }

    fn generation(&self) -> u64 {
        self.owned().map_or(0, |local| local.key >> 32)
    }

    /// Takes a slot in the segment that records now, in place of one in an earlier segment.
    #[cold]
    fn renew(&mut self) {
        self.leave();
        let parent = id();
        let _busy = hot::busy();
        if let Some(engine) = engine(NOW.generation.load(Ordering::Relaxed)) {
            match Local::take_slot(&engine, self.class, parent, 0) {
                Some(local) => self.local = local,
                None if self.lost_under == engine.generation() => {}
                None => {
                    self.lost_under = engine.generation();
                    engine.lose_thread();
                }
            }
        }
    }

    fn leave(&mut self) {
        let local = std::mem::replace(&mut self.local, std::ptr::null_mut());
        if !local.is_null() {
            // SAFETY: created by `renew`. No thread is in the session, because `run` borrows it.
            unsafe { Local::leave(local) };
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.leave();
    }
}
