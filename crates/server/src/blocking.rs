//! A worker of the pool that waits for another session is none: it lets another worker run.

use std::cell::RefCell;
use std::sync::Arc;

/// A pool whose workers may wait.
pub trait Waiting {
    /// The calling worker is about to wait.
    fn blocked(self: Arc<Self>);

    /// It runs again.
    fn runs_again(&self);
}

thread_local! {
    /// The pool of a worker's thread.
    static POOL: RefCell<Option<Arc<dyn Waiting>>> = const { RefCell::new(None) };
}

/// Says whose worker the calling thread is.
pub fn serve(pool: Option<Arc<dyn Waiting>>) {
    POOL.with(|own| *own.borrow_mut() = pool);
}

/// While this lives, the thread's pool counts it as blocked and lets another worker run.
pub struct Blocking {
    pool: Option<Arc<dyn Waiting>>,
}

/// Says that the thread is about to wait for another session.
pub fn blocking() -> Blocking {
    let pool = POOL.with(|own| own.borrow().clone());
    if let Some(pool) = &pool {
        pool.clone().blocked();
    }
    Blocking { pool }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.runs_again();
        }
    }
}
