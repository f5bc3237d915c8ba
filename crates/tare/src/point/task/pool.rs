//! Sessions for work that belongs to no connection: as many as run at once.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shared::SharedSession;
use crate::class::Class;
use crate::engine::is_running;
use crate::lock::PlainMutex;
use crate::payload::Payload;
use crate::point::thread;

/// Lists of idle sessions: a thread prefers its own.
const LISTS: usize = 16;

/// The number of the next list that a thread gets.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static LIST: usize = NEXT.fetch_add(1, Ordering::Relaxed) % LISTS;
}

/// Sessions that are taken for a request, and given back for the next one.
///
/// ```
/// tare::classes! { static REQUEST: Thread = "thread/app/request"; }
/// static POOL: tare::task::SessionPool = tare::task::SessionPool::new(&REQUEST, 1_000);
/// if let Some(session) = POOL.take() {
///     // The request runs.
///     POOL.give(session);
/// }
/// ```
pub struct SessionPool(Payload<Pool>);

struct Pool {
    class: &'static Class,
    limit: usize,
    created: AtomicUsize,
    idle: [PlainMutex<Vec<Arc<SharedSession>>>; LISTS],
}

impl SessionPool {
    /// A pool without sessions, of which it creates up to `limit`, of this class.
    pub const fn new(class: &'static Class, limit: usize) -> Self {
        Self(Payload::of(Pool {
            class,
            limit,
            created: AtomicUsize::new(0),
            idle: [const { PlainMutex::new(Vec::new()) }; LISTS],
        }))
    }

    /// Takes a session that is idle, or a new one. `None`: the limit is reached, or Tare does not record.
    pub fn take(&self) -> Option<Arc<SharedSession>> {
        let pool = self.0.get().filter(|_| is_running())?;
        // The thread gets a slot before sessions can take all.
        thread::id();
        let own = LIST.try_with(|list| *list).unwrap_or(0);
        let lists = (0..LISTS).map(|i| &pool.idle[(own + i) % LISTS]);
        let mut idle = lists.filter_map(|list| list.try_lock()?.pop());
        idle.next().or_else(|| pool.create())
    }

    /// Gives back a session, so that another request can have it.
    pub fn give(&self, session: Arc<SharedSession>) {
        if let Some(pool) = self.0.get() {
            let own = LIST.try_with(|list| *list).unwrap_or(0);
            pool.idle[own].lock().push(session);
        }
    }
}

impl Pool {
    #[cold]
    fn create(&self) -> Option<Arc<SharedSession>> {
        let below = |created: usize| (created < self.limit).then_some(created + 1);
        self.created
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, below)
            .ok()?;
        Some(SharedSession::of_client(self.class))
    }
}

impl fmt::Debug for SessionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("SessionPool");
        if let Some(pool) = self.0.get() {
            debug
                .field("class", &pool.class.name())
                .field("limit", &pool.limit)
                .field("created", &pool.created.load(Ordering::Relaxed));
        }
        debug.finish_non_exhaustive()
    }
}
