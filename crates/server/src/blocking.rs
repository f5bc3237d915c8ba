//! Notifies a pool of threads that one of its workers waits for another session, so that the pool lets another
//! worker run.

use std::cell::RefCell;
use std::sync::Arc;

/// A pool whose workers may block.
pub trait BlockablePool {
    /// The calling worker is about to block.
    fn worker_blocks(self: Arc<Self>);

    /// The calling worker runs again.
    fn worker_resumes(&self);
}

thread_local! {
    /// The pool of a worker's thread.
    static POOL: RefCell<Option<Arc<dyn BlockablePool>>> = const { RefCell::new(None) };
}

/// Sets the pool that the calling thread is a worker of.
pub fn set_pool_of_thread(pool: Option<Arc<dyn BlockablePool>>) {
    POOL.with(|own| *own.borrow_mut() = pool);
}

/// The thread's pool counts it as blocked until this is dropped.
pub struct Blocking {
    pool: Option<Arc<dyn BlockablePool>>,
}

/// Reports that the thread is about to wait for another session.
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
