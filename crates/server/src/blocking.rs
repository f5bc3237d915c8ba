//! A worker of the pool that waits for another session is none: it lets another worker run.

use std::cell::RefCell;
use std::sync::Arc;

/// A pool whose workers may wait.
pub trait BlockablePool {
    /// The calling worker is about to wait.
    fn worker_blocks(self: Arc<Self>);

    /// It runs again.
    fn worker_resumes(&self);
}

thread_local! {
    /// The pool of a worker's thread.
    static POOL: RefCell<Option<Arc<dyn BlockablePool>>> = const { RefCell::new(None) };
}

/// Says whose worker the calling thread is.
pub fn set_pool_of_thread(pool: Option<Arc<dyn BlockablePool>>) {
    POOL.with(|own| *own.borrow_mut() = pool);
}

/// While this lives, the thread's pool counts it as blocked and lets another worker run.
pub struct Blocking {
    pool: Option<Arc<dyn BlockablePool>>,
}

/// Says that the thread is about to wait for another session.
pub fn mark_blocked() -> Blocking {
    let pool = POOL.with(|own| own.borrow().clone());
    if let Some(pool) = &pool {
        pool.clone().worker_blocks();
    }
    Blocking { pool }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.worker_resumes();
        }
    }
}
