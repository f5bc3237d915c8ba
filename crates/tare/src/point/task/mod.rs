//! Tasks: futures that a runtime polls, now on one thread and now on another (docs/async.md).
//!
//! ```
//! use tare::task;
//!
//! tare::classes! {
//!     static CONNECTION: Thread = "thread/app/connection";
//!     static GET: Statement = "statement/app/get", enabled;
//! }
//! # async fn get(_: u32) -> u32 { 1 }
//! let session = tare::thread::ThreadSession::new(&CONNECTION);
//! let task = task::scope(session, async {
//!     let statement = task::statement::start(&GET);
//!     let rows = get(42).await;
//!     statement.rows_sent(rows.into());
//! });
//! // tokio::spawn(task);
//! # fn is_send(_: impl Send) {}
//! # is_send(task);
//! ```
//!
//! Rules for what is unsafe here:
//!
//! 1. A future that is pinned with its wrapper is never moved out of it.
//! 2. A wrapper that drops its future itself does so once, in its own `drop`.
//! 3. Only the thread that is a shared session's owner uses what is in it (shared.rs).

mod pool;
mod shared;
pub mod stage;
pub mod statement;
pub(crate) mod wait;

pub use pool::SessionPool;
pub use shared::{SharedScope, SharedSession};

use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::thread::ThreadSession;
use crate::engine::hot::attached;
use crate::engine::task::{Home, TaskParent};
use crate::payload::Payload;

/// Runs a future in a session: the session is the polling thread's during each poll, and while the future
/// is dropped.
pub fn scope<F: Future>(session: ThreadSession, future: F) -> Scope<F> {
    Scope {
        future: ManuallyDrop::new(future),
        session,
    }
}

/// A future that runs in a session: see [`scope`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Scope<F> {
    future: ManuallyDrop<F>,
    session: ThreadSession,
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: rule 1 (the session is not pinned, the future is pinned again).
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: rule 1.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        this.session.run(|| future.poll(context))
    }
}

impl<F> Drop for Scope<F> {
    fn drop(&mut self) {
        // SAFETY: rule 2.
        self.session
            .run(|| unsafe { ManuallyDrop::drop(&mut self.future) });
    }
}

impl<F> fmt::Debug for Scope<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Scope");
        debug
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// Gives a future that takes turns with others of its task (`join!`, `select!`) its own place in the nesting
/// of events: what it begins is nested in the statement that runs now, or in its own.
///
/// ```
/// # async fn read() {}
/// # async fn write() {}
/// # async fn both() {
/// let (read, write) = (tare::task::branch(read()), tare::task::branch(write()));
/// // tokio::join!(read, write);
/// # read.await;
/// # write.await;
/// # }
/// ```
pub fn branch<F: Future>(future: F) -> Branch<F> {
    let place = || attached().map(|local| (Home::of(local), local.current_task()));
    Branch {
        future: ManuallyDrop::new(future),
        place: Payload::new(place),
    }
}

/// A future with its own place in the nesting of events: see [`branch`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Branch<F> {
    future: ManuallyDrop<F>,
    /// Its session, and the innermost statement that runs there for this branch.
    place: Payload<Option<(Home, TaskParent)>>,
}

impl<F> Branch<F> {
    /// Calls `work` with the future in its place.
    #[inline]
    fn run<T>(
        future: &mut ManuallyDrop<F>,
        place: &mut Payload<Option<(Home, TaskParent)>>,
        work: impl FnOnce(&mut ManuallyDrop<F>) -> T,
    ) -> T {
        let _inside = place.as_option_mut().and_then(Inside::enter);
        work(future)
    }
}

/// A branch that runs. Its session has its innermost statement until this is dropped.
struct Inside<'a> {
    place: &'a mut (Home, TaskParent),
    outer: TaskParent,
}

impl<'a> Inside<'a> {
    fn enter(place: &'a mut (Home, TaskParent)) -> Option<Self> {
        let local = attached().filter(|local| place.0.is(local))?;
        let outer = local.task.replace(place.1);
        Some(Self { place, outer })
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if let Some(local) = attached().filter(|local| self.place.0.is(local)) {
            self.place.1 = local.task.replace(self.outer);
        }
    }
}

impl<F: Future> Future for Branch<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: rule 1 (the place is not pinned, the future is pinned again).
        let this = unsafe { self.get_unchecked_mut() };
        Self::run(&mut this.future, &mut this.place, |future| {
            // SAFETY: rule 1.
            unsafe { Pin::new_unchecked(&mut **future) }.poll(context)
        })
    }
}

impl<F> Drop for Branch<F> {
    fn drop(&mut self) {
        Self::run(&mut self.future, &mut self.place, |future| {
            // SAFETY: rule 2.
            unsafe { ManuallyDrop::drop(future) };
        });
    }
}

impl<F> fmt::Debug for Branch<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Branch").finish_non_exhaustive()
    }
}
