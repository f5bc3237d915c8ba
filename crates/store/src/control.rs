//! What stops a running statement: KILL, a time limit, a client that has disconnected.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, InterruptHandle};
use tare::sync::PlainMutex;
use tare_mysql::error::SqlError;
use tare_mysql::interrupt::StopSignal;

use super::client::Client;

/// What can stop a running statement from outside.
pub struct Control {
    killed: AtomicBool,
    kill_query: AtomicBool,
    gone: AtomicBool,
    timed_out: AtomicBool,
    /// Milliseconds since `born`; 0 is none.
    deadline: AtomicU64,
    /// The time limit behind the deadline, in milliseconds; 0 is none.
    limit: AtomicU64,
    born: Instant,
    looked: AtomicU64,
    client: Arc<dyn Client>,
    /// A statement runs.
    works: AtomicBool,
    /// Connections to SQLite that it may run on.
    connections: PlainMutex<Vec<InterruptHandle>>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl Control {
    /// The control of statements that run for a client.
    pub fn new(client: Arc<dyn Client>) -> Self {
        Self {
            killed: AtomicBool::new(false),
            kill_query: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            timed_out: AtomicBool::new(false),
            deadline: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            born: Instant::now(),
            looked: AtomicU64::new(0),
            client,
            works: AtomicBool::new(false),
            connections: PlainMutex::new(Vec::new()),
        }
    }

    /// Adds a connection that statements run on.
    pub fn add_connection(&self, connection: &Connection) {
        let handle = connection.get_interrupt_handle();
        self.connections.lock().push(handle);
    }

    /// KILL CONNECTION of another session: as [`Control::kill`], but the client gets no answer.
    pub fn disconnect(&self) {
        self.kill();
        self.client.disconnect();
    }

    /// Interrupts the statement that runs, and ends the session once the client has its answer.
    pub fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
        self.interrupt();
        self.client.hang_up();
    }

    /// KILL QUERY: interrupts the statement that runs.
    pub fn kill_query(&self) {
        self.kill_query.store(true, Ordering::Relaxed);
        self.interrupt();
    }

    /// Stops SQLite at its next step. The next statement that begins resets that.
    fn interrupt(&self) {
        if !self.is_working() {
            return;
        }
        for connection in &*self.connections.lock() {
            connection.interrupt();
        }
    }

    /// Whether there is a statement that others may [end](Control::interrupt_if_due).
    #[inline]
    pub fn set_working(&self, works: bool) {
        self.works.store(works, Ordering::Relaxed);
    }

    /// Whether a statement runs.
    pub fn is_working(&self) -> bool {
        self.works.load(Ordering::Relaxed)
    }

    /// Interrupts the statement that runs, where it must end. Any thread may call it.
    pub fn interrupt_if_due(&self) {
        if self.must_stop() {
            self.interrupt();
        }
    }

    /// Whether the session must end.
    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Whether the client has disconnected, as the last check found.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Whether a check has found that the statement must stop.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.kill_query.load(Ordering::Relaxed) || self.timed_out.load(Ordering::Relaxed)
    }

    /// Resets KILL QUERY and the time limit at a new command. To be called before the process list has the
    /// new one.
    #[inline]
    pub fn reset(&self) {
        if self.is_interrupted() {
            self.kill_query.store(false, Ordering::Relaxed);
            self.timed_out.store(false, Ordering::Relaxed);
        }
    }

    /// Sets the time limit of the statement, once its text is parsed. The limit counts from the statement's
    /// arrival, if that one was assumed then.
    #[inline]
    pub fn begin(&self, at_most: Duration) {
        if !at_most.is_zero() {
            let limit = (at_most.as_millis() as u64).max(1);
            if self.limit.swap(limit, Ordering::Relaxed) != limit {
                let now = self.born.elapsed().as_millis() as u64;
                self.deadline.store(now + limit, Ordering::Relaxed);
            }
        } else if self.deadline.load(Ordering::Relaxed) != 0 {
            self.deadline.store(0, Ordering::Relaxed);
            self.limit.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the statement must stop. Called while SQLite runs and while a session waits.
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
        // Twenty times a second at most: it may be a system call.
        if now >= self.looked.load(Ordering::Relaxed) + 50 {
            self.looked.store(now, Ordering::Relaxed);
            if self.client.has_gone() {
                self.gone.store(true, Ordering::Relaxed);
                return true;
            }
        }
        false
    }

    /// Begins a statement that may run for `at_most`; zero is no limit.
    #[inline]
    pub fn start(&self, at_most: Duration) {
        self.limit.store(0, Ordering::Relaxed);
        self.begin(at_most);
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

impl StopSignal for Control {
    fn must_stop(&self) -> bool {
        self.must_stop()
    }

    fn interruption(&self) -> SqlError {
        self.interruption()
    }
}
