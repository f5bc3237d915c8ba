//! Sessions that are entered and left by calls instead of a guard: by whichever thread comes, and in any
//! order.
//!
//! A shared session has an owner: the thread that has entered it. Only the owner uses the session's slot,
//! and another thread does not get into the session meanwhile. Each thread has a stack of the shared
//! sessions that it has entered. A session on it is not dropped, so that what was entered inside of it can
//! be left later than it.

use std::cell::{RefCell, UnsafeCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tare_layout::slot::Slot;

use crate::class::Class;
use crate::engine::hot;
use crate::engine::local::Local;
use crate::payload::IS_COMPILED_IN;
use crate::point::thread::{self, Session, ThreadSession};

/// A session that one thread at a time has entered, for hosts that report that work for a client continues
/// and pauses, and not in which order.
///
/// ```
/// use tare::task::SharedSession;
/// use tare::thread::ThreadSession;
///
/// tare::classes! { static CONNECTION: Thread = "thread/app/connection"; }
/// let session = SharedSession::new(ThreadSession::new(&CONNECTION));
/// if session.enter() {
///     // Events are this session's.
///     session.leave();
/// }
/// ```
pub struct SharedSession {
    session: UnsafeCell<ThreadSession>,
    /// The thread that has entered it. 0 = none.
    owner: AtomicUsize,
    /// How often the owner has entered it: by [`SharedSession::run`], and on its stack. Only the owner uses
    /// it.
    entries: AtomicU32,
}

// SAFETY: rule 3 (the owner is one thread, and a session may be sent between threads).
unsafe impl Sync for SharedSession {}

/// A shared session that a thread has entered.
struct Entry {
    session: Arc<SharedSession>,
    local: *const Local,
    /// What was the thread's before.
    before: hot::Before,
    slot: &'static Slot,
    /// How many sessions the thread had entered then, with this one.
    depth: u32,
    /// How often it was entered without another one in between. 0: it was left while the thread was in a
    /// session inside of it, whose guard restores this one.
    count: u32,
}

/// The shared sessions that a thread has entered, the innermost last.
struct Stack(Vec<Entry>);

thread_local! {
    static STACK: RefCell<Stack> = const { RefCell::new(Stack(Vec::new())) };
    /// Its address is the thread's, as an owner.
    static ADDRESS: u8 = const { 0 };
}

/// The calling thread, as an owner.
#[inline(always)]
fn this_thread() -> usize {
    ADDRESS.with(|address| ptr::from_ref(address).addr())
}

impl SharedSession {
    /// A session that no thread has entered.
    pub fn new(session: ThreadSession) -> Arc<Self> {
        Arc::new(Self {
            session: UnsafeCell::new(session),
            owner: AtomicUsize::new(0),
            entries: AtomicU32::new(0),
        })
    }

    /// A session of a client, which has a number (`PROCESSLIST_ID`) that no other session of a client has.
    pub fn of_client(class: &'static Class) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // The thread gets a slot before sessions can take all.
        thread::id();
        let session = ThreadSession::new(class);
        if IS_COMPILED_IN {
            session.set_processlist_id(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        Self::new(session)
    }

    /// Makes the session the calling thread's, until the thread leaves it as often as it has entered it.
    /// False: another thread has entered it, or it has no slot; nothing was done.
    pub fn enter(self: &Arc<Self>) -> bool {
        if !IS_COMPILED_IN {
            return false;
        }
        STACK
            .try_with(|cell| match cell.try_borrow_mut() {
                Ok(mut stack) => stack.enter(self),
                Err(_) => false,
            })
            .unwrap_or(false)
    }

    /// Leaves the session. False: the calling thread has not entered it.
    pub fn leave(&self) -> bool {
        if !IS_COMPILED_IN {
            return false;
        }
        let left = STACK.try_with(|cell| match cell.try_borrow_mut() {
            Ok(mut stack) => stack.leave(self),
            Err(_) => false,
        });
        left.unwrap_or(false)
    }

    /// Calls `work` in the session, and passes whether it is in it: not if another thread has entered the
    /// session, or if the session has no slot.
    #[inline]
    pub fn run<T>(&self, work: impl FnOnce(bool) -> T) -> T {
        /// The session is left when this is dropped.
        struct Inside<'a>(&'a SharedSession, hot::Before, &'static Slot);
        impl Drop for Inside<'_> {
            fn drop(&mut self) {
                let Self(session, before, slot) = *self;
                hot::leave_session(before);
                session.release(slot);
            }
        }
        if !IS_COMPILED_IN {
            return work(false);
        }
        if self.owner.load(Ordering::Relaxed) == this_thread() {
            // SAFETY: rule 3 (this thread is the owner).
            let session = unsafe { &*self.session.get() }.session();
            if session.is_some_and(|session| hot::is_local(session.local())) {
                return work(true);
            }
        }
        let Some((_, before, slot)) = self.enter_slot() else {
            return work(false);
        };
        let _inside = Inside(self, before, slot);
        work(true)
    }

    /// Makes the session's slot the calling thread's, if no other thread is the owner. Returns its local, and
    /// what was the thread's before.
    #[inline(always)]
    fn enter_slot(&self) -> Option<(*const Local, hot::Before, &'static Slot)> {
        let (thread, owner) = (this_thread(), self.owner.load(Ordering::Relaxed));
        let is_new = owner != thread;
        if is_new {
            if owner != 0 {
                return None;
            }
            self.owner
                .compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed)
                .ok()?;
        }
        // An owner that is in no session was forked in this one.
        if is_new || !hot::is_in_session() {
            // SAFETY: rule 3 (this thread is the owner, and does not come back to the slot).
            unsafe { &mut *self.session.get() }
                .session_mut()?
                .renew_if_stale();
        }
        // SAFETY: rule 3 (this thread is the owner).
        let session = unsafe { &*self.session.get() }.session()?;
        let Some((before, slot)) = session.enter_slot() else {
            if is_new {
                self.owner.store(0, Ordering::Release);
            }
            return None;
        };
        let entries = self.entries.load(Ordering::Relaxed);
        self.entries.store(entries + 1, Ordering::Relaxed);
        Some((session.local(), before, slot))
    }

    /// One entry of the owner has ended: after the last one, another thread may enter the session.
    #[inline(always)]
    fn release(&self, slot: &Slot) {
        let entries = self.entries.load(Ordering::Relaxed).saturating_sub(1);
        self.entries.store(entries, Ordering::Relaxed);
        if entries == 0 {
            // SAFETY: rule 3 (this thread is the owner).
            let session = unsafe { &*self.session.get() }.session();
            if session.is_some_and(Session::is_current) {
                slot.os_id.store(0, Ordering::Relaxed);
            }
            self.owner.store(0, Ordering::Release);
        }
    }

    /// Runs a future in the session: it is entered at each poll, and to drop the future. A poll while another
    /// thread has entered the session is outside of it.
    pub fn scope<F: Future>(self: Arc<Self>, future: F) -> SharedScope<F> {
        SharedScope {
            future: ManuallyDrop::new(future),
            session: self,
        }
    }
}

impl fmt::Debug for SharedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = self.owner.load(Ordering::Relaxed);
        f.debug_struct("SharedSession")
            .field("is_entered", &(owner != 0))
            .finish_non_exhaustive()
    }
}

impl Stack {
    fn enter(&mut self, session: &Arc<SharedSession>) -> bool {
        if !self.0.is_empty() {
            self.leave_innermost();
        }
        if let Some(last) = self.0.last_mut()
            && Arc::ptr_eq(&last.session, session)
            && hot::is_local(last.local)
        {
            last.count += 1;
            return true;
        }
        let Some((local, before, slot)) = session.enter_slot() else {
            return false;
        };
        self.0.push(Entry {
            session: Arc::clone(session),
            local,
            before,
            slot,
            depth: hot::session_depth(),
            count: 1,
        });
        true
    }

    fn leave(&mut self, session: &SharedSession) -> bool {
        if let Some(last) = self.0.last_mut()
            && ptr::eq(&*last.session, session)
            && last.count > 1
        {
            last.count -= 1;
            return true;
        }
        let is_its = |entry: &Entry| ptr::eq(&*entry.session, session) && entry.count != 0;
        let Some(at) = self.0.iter().rposition(is_its) else {
            return false;
        };
        self.0[at].count -= 1;
        if self.0[at].count != 0 {
            return true;
        }
        let local = self.0[at].local;
        let inner = self.0.get(at + 1);
        if inner.is_none_or(|inner| !ptr::eq(inner.before.0, local)) {
            self.leave_innermost();
            return true;
        }
        // The session that was entered next inside of it is a shared one, too: it restores what this one
        // would.
        let entry = self.0.remove(at);
        self.0[at].before = entry.before;
        for inner in &mut self.0[at..] {
            inner.depth -= 1;
        }
        hot::leave_outer_session();
        entry.session.release(entry.slot);
        true
    }

    /// Ends the entries that were left and are the innermost, and those that were cut off: a guard outside
    /// of them has restored what was the thread's before.
    fn leave_innermost(&mut self) {
        while let Some(last) = self.0.last() {
            let depth = hot::session_depth();
            let (is_cut_off, is_left) =
                (last.depth > depth, last.count == 0 && last.depth == depth);
            if !is_cut_off && !is_left {
                return;
            }
            // If it is not the thread's, the thread ends and has no slot any more.
            match is_left && hot::is_local(last.local) {
                true => drop(hot::leave_session(last.before)),
                false => hot::leave_outer_session(),
            }
            if let Some(entry) = self.0.pop() {
                entry.session.release(entry.slot);
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        for entry in &mut self.0 {
            entry.count = 0;
        }
        self.leave_innermost();
        // A guard inside of them was leaked: the thread may still use their slots.
        self.0.drain(..).for_each(std::mem::forget);
    }
}

/// A future that runs in a shared session: see [`SharedSession::scope`].
#[must_use = "futures do nothing unless they are polled"]
pub struct SharedScope<F> {
    future: ManuallyDrop<F>,
    session: Arc<SharedSession>,
}

/// A session that is left when this is dropped, if it was entered.
struct Inside<'a>(Option<&'a SharedSession>);

impl<'a> Inside<'a> {
    fn enter(session: &'a Arc<SharedSession>) -> Self {
        Self(session.enter().then_some(session))
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.0 {
            session.leave();
        }
    }
}

impl<F: Future> Future for SharedScope<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: rule 1 (the session is not pinned, the future is pinned again).
        let this = unsafe { self.get_unchecked_mut() };
        let _inside = Inside::enter(&this.session);
        // SAFETY: rule 1.
        unsafe { Pin::new_unchecked(&mut *this.future) }.poll(context)
    }
}

impl<F> Drop for SharedScope<F> {
    fn drop(&mut self) {
        let _inside = Inside::enter(&self.session);
        // SAFETY: rule 2.
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }
}

impl<F> fmt::Debug for SharedScope<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedScope")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}
