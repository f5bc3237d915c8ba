//! What stops a statement that runs: KILL, a time limit, a client that has gone.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tare_mysql::error::SqlError;

/// Whom statements run for.
pub trait Client: fmt::Debug + Send + Sync {
    /// Whether it has gone: nobody waits for the rows. Must not block.
    fn has_gone(&self) -> bool;

    /// Nothing more is read from it: whoever waits for its next command sees the end.
    fn hang_up(&self);
}

/// What can stop a running statement from outside.
#[derive(Debug)]
pub struct Control {
    killed: AtomicBool,
    kill_query: AtomicBool,
    gone: AtomicBool,
    timed_out: AtomicBool,
    /// Milliseconds since `born`; 0 is none.
    deadline: AtomicU64,
    born: Instant,
    looked: AtomicU64,
    client: Arc<dyn Client>,
}

impl Control {
    /// For statements that run for a client.
    pub fn new(client: Arc<dyn Client>) -> Self {
        Self {
            killed: AtomicBool::new(false),
            kill_query: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            timed_out: AtomicBool::new(false),
            deadline: AtomicU64::new(0),
            born: Instant::now(),
            looked: AtomicU64::new(0),
            client,
        }
    }

    /// KILL CONNECTION: what runs is interrupted, and the session ends.
    pub fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
        self.client.hang_up();
    }

    /// KILL QUERY: what runs is interrupted.
    pub fn kill_query(&self) {
        self.kill_query.store(true, Ordering::Relaxed);
    }

    /// Whether the session must end.
    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Whether the client was found to have vanished.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// A command has come: what was meant for the one before is forgotten. To be called before the
    /// process list shows the new one.
    #[inline]
    pub fn forget(&self) {
        if self.kill_query.load(Ordering::Relaxed) || self.timed_out.load(Ordering::Relaxed) {
            self.kill_query.store(false, Ordering::Relaxed);
            self.timed_out.store(false, Ordering::Relaxed);
        }
    }

    /// A statement begins.
    #[inline]
    pub fn begin(&self, at_most: Duration) {
        if !at_most.is_zero() {
            let now = self.born.elapsed() + at_most;
            self.deadline
                .store(now.as_millis() as u64, Ordering::Relaxed);
        } else if self.deadline.load(Ordering::Relaxed) != 0 {
            self.deadline.store(0, Ordering::Relaxed);
        }
    }

    /// Whether what runs must stop. Asked while SQLite works and while a session waits.
    pub fn must_stop(&self) -> bool {
        if self.is_killed() || self.kill_query.load(Ordering::Relaxed) || self.is_gone() {
            return true;
        }
        let now = self.born.elapsed().as_millis() as u64;
        let deadline = self.deadline.load(Ordering::Relaxed);
        if deadline != 0 && now > deadline {
            self.timed_out.store(true, Ordering::Relaxed);
            return true;
        }
        // Twenty times a second, not each time: that may be a system call.
        if now >= self.looked.load(Ordering::Relaxed) + 50 {
            self.looked.store(now, Ordering::Relaxed);
            if self.client.has_gone() {
                self.gone.store(true, Ordering::Relaxed);
                return true;
            }
        }
        false
    }

    /// The error for a statement that was interrupted.
    pub fn interruption(&self) -> SqlError {
        if self.timed_out.load(Ordering::Relaxed) {
            SqlError::new(
                3024,
                "Query execution was interrupted, maximum statement execution time exceeded",
            )
        } else {
            SqlError::interrupted()
        }
    }
}
