//! The server behind `tare serve`: listeners, schedulers, sessions and their statements.
//!
//! [`Server::start`] serves a [`Config`].

mod accounts;
mod activity;
mod answer;
mod blocking;
mod call;
mod certificate;
mod command;
mod config;
mod context;
mod ddl;
mod errors;
mod execute;
mod host_cache;
mod instruments;
mod keeper;
mod listen;
mod login;
mod machine;
mod metrics;
mod observed;
mod points;
mod random;
mod registry;
mod runner;
mod scheduler;
mod session;
mod set;
mod shared;
mod show;
mod socket;
mod source;
mod start;
mod state;
mod status;
mod stop;
mod tls_sessions;
mod transaction;
pub mod variables;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use tare::sync::{Condvar, Mutex};
use tare_reader::Segment;

pub use config::{Config, DEFAULT_PORT, InstrumentValue, StatusSource, ThreadHandling};
pub use start::{Endpoints, StartError};
pub use tare_mysql::series::Series;

/// A running server. Dropping it shuts it down.
#[derive(Debug)]
pub struct Server {
    endpoints: Endpoints,
    shared: Arc<shared::Shared>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
    ended: Arc<(Mutex<bool>, Condvar)>,
}

impl Server {
    /// Starts listening and returns when clients can connect.
    pub fn start(config: Config) -> Result<Self, StartError> {
        let start::Parts {
            lock,
            shared,
            listeners,
            endpoints,
        } = start::prepare(config)?;
        let scheduler = scheduler::Scheduler::start(&shared).map_err(StartError::Thread)?;
        let ended = Arc::new((
            Mutex::new(&points::LOCK_ENDED, false),
            Condvar::new(&points::COND_ENDED),
        ));
        let (own, signal) = (shared.clone(), ended.clone());
        if shared.observed.is_attached() {
            let own = shared.clone();
            std::thread::Builder::new()
                .name("attach_watch".into())
                .spawn(move || observed::watch(&own))
                .map_err(StartError::Thread)?;
            shared.activity.0.begin().map_err(StartError::Thread)?;
        }
        shared.keeper.start().map_err(StartError::Thread)?;
        let acceptor = std::thread::Builder::new()
            .name("main".into())
            .spawn(move || {
                tare::thread::register(&points::THREAD_MAIN);
                tare_store::metrics::publish_constants();
                listeners.run(&scheduler);
                own.stopping.store(true, Ordering::Release);
                own.registry.kill_all();
                scheduler.join(&own);
                drop(lock);
                *signal.0.lock() = true;
                signal.1.notify_all();
            })
            .map_err(StartError::Thread)?;
        Ok(Self {
            endpoints,
            shared,
            acceptor: Mutex::new(&points::LOCK_ENDED, Some(acceptor)),
            ended,
        })
    }

    /// The addresses that clients connect to.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// The segment that the system schemas read now: the server's own, or that of the attached process.
    /// `None` if the server is not instrumented.
    pub fn segment(&self) -> Option<Arc<Segment>> {
        self.shared.observed.segment()
    }

    /// Stops accepting, interrupts what runs, waits for the sessions to end and closes the
    /// databases. Any thread may call it, and more than once: a signal's thread does while
    /// another one is in [`Server::wait`].
    pub fn shutdown(&self) {
        self.shared.stop.request();
        self.wait();
        let acceptor = self.acceptor.lock().take();
        if let Some(acceptor) = acceptor {
            // The thread has signalled its end, so a later panic does no harm.
            let _ = acceptor.join();
        }
    }

    /// Blocks until the server has shut down, by [`Server::shutdown`] or a client's `SHUTDOWN`.
    pub fn wait(&self) {
        let mut ended = self.ended.0.lock();
        while !*ended {
            self.ended.1.wait(&mut ended);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown();
    }
}
