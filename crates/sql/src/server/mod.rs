//! The server: listeners, sessions, schedulers.

mod auth;
mod call;
mod catalog;
mod config;
mod connect;
mod ddl;
mod host_cache;
mod listen;
pub mod metrics;
pub mod points;
mod prepared;
mod query;
mod registry;
mod scheduler;
mod schema;
mod session;
mod shared;
mod show;
pub mod socket;
pub mod state;
pub mod status;
mod tables;
pub mod variables;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use tare_mysql::error::names::ERRORS;

use crate::storage::Databases;
use crate::storage::sync::{Condvar, Mutex};
pub use config::{Config, DEFAULT_PORT, InstrumentValue, ThreadHandling};
pub(crate) use query::{wire_of, wire_type};
pub(crate) use schema::SystemSchema;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A file or directory of the data directory could not be made or read.
    #[error("{path}: {source}; the server needs its data directory to itself, writable")]
    Data {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another server runs on the same data directory.
    #[error("{path} is in use by another server; stop it, or give another --data")]
    InUse {
        /// The data directory.
        path: PathBuf,
    },
    /// The socket or port could not be listened on.
    #[error(
        "cannot listen on {address}: {source}; is another server there? give another --socket or --port"
    )]
    Listen {
        /// The socket's path or the TCP address.
        address: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}; are the limits on processes (ulimit -u) too low?")]
    Thread(#[source] std::io::Error),
}

/// Where to connect.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// The Unix socket.
    pub socket: PathBuf,
    /// The TCP address, unless networking is off.
    pub tcp: Option<SocketAddr>,
    /// Its port.
    pub port: Option<u16>,
    /// File that holds root's password for TCP; `None` when it was given in the config.
    pub password_file: Option<PathBuf>,
}

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
        let data = |path: PathBuf| move |source| StartError::Data { path, source };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&config.data)
            .map_err(data(config.data.clone()))?;
        let lock_path = config.data.join("tare.lock");
        let lock = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(data(lock_path.clone()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(StartError::InUse { path: config.data });
            }
            Err(fs::TryLockError::Error(source)) => {
                return Err(StartError::Data {
                    path: lock_path,
                    source,
                });
            }
        }
        crate::storage::sqlite::configure();
        let own = record(&config);
        let segment = config.attach.clone().or(own);
        let accounts = auth::Accounts::load(&config).map_err(data(config.data.join("password")))?;
        let socket = config
            .socket
            .clone()
            .unwrap_or_else(|| config.data.join("tare.sock"));
        let tcp = || SocketAddr::new(config.bind_address, config.port.unwrap_or(DEFAULT_PORT));
        let tcp = (!config.skip_networking).then(tcp);
        let stop = listen::Stop::new().map_err(StartError::Thread)?;
        let listeners = listen::Listeners::bind(&socket, tcp, stop.clone())?;
        let tcp = listeners.tcp();
        let globals = variables::Globals::new(
            &config,
            &socket.display().to_string(),
            tcp.map_or(0, |tcp| tcp.port()),
        );
        let endpoints = Endpoints {
            socket,
            tcp,
            port: tcp.map(|tcp| tcp.port()),
            password_file: accounts.password_file.clone(),
        };
        let shared = Arc::new(shared::Shared {
            databases: Arc::new(Databases::new(config.data.clone())),
            registry: Arc::default(),
            globals: Arc::new(globals),
            accounts,
            counters: shared::Counters::default(),
            hosts: host_cache::HostCache::default(),
            started: Instant::now(),
            segment,
            stopping: AtomicBool::new(false),
            stop,
            config,
        });
        let scheduler = scheduler::Scheduler::start(&shared).map_err(StartError::Thread)?;
        let ended = Arc::new((
            Mutex::new(&points::LOCK_ENDED, false),
            Condvar::new(&points::COND_ENDED),
        ));
        let (own, told) = (shared.clone(), ended.clone());
        let acceptor = std::thread::Builder::new()
            .name("main".into())
            .spawn(move || {
                tare::thread::register(&points::THREAD_MAIN);
                crate::storage::metrics::settle();
                listeners.run(&scheduler);
                own.stopping.store(true, Ordering::Release);
                own.registry.kill_all();
                scheduler.join(&own);
                drop(lock);
                *told.0.lock() = true;
                told.1.notify_all();
            })
            .map_err(StartError::Thread)?;
        Ok(Self {
            endpoints,
            shared,
            acceptor: Mutex::new(&points::LOCK_ENDED, Some(acceptor)),
            ended,
        })
    }

    /// Where to connect.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Stops accepting, interrupts what runs, waits for the sessions to end and closes the
    /// databases. Any thread may call it, and more than once: a signal's thread does while
    /// another one is in [`Server::wait`].
    pub fn shutdown(&self) {
        self.shared.stop.request();
        self.wait();
        let acceptor = self.acceptor.lock().take();
        if let Some(acceptor) = acceptor {
            // It has told that it has ended; a panic in it has nobody left to harm.
            let _ = acceptor.join();
        }
    }

    /// Blocks until the server has shut down, on [`Server::shutdown`] or because a client said
    /// `SHUTDOWN`.
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

/// Starts the recording of the server itself. Without it the server serves all the same, and says
/// why it does not record.
fn record(config: &Config) -> Option<Arc<tare_reader::Segment>> {
    if !config.performance_schema {
        return None;
    }
    let setting = |value: InstrumentValue| match value {
        InstrumentValue::Off => tare::Setting::Off,
        InstrumentValue::Counted => tare::Setting::Counted,
        InstrumentValue::On => tare::Setting::On,
    };
    for (number, name, state) in ERRORS {
        tare::error::define(u32::from(*number), name, state);
    }
    let mut wanted = tare::Config {
        segment: config.segment.clone(),
        instruments: config
            .instruments
            .iter()
            .map(|(p, v)| (p.clone(), setting(*v)))
            .collect(),
        consumers: config.consumers.clone(),
        ..tare::Config::default()
    };
    for (name, value) in &config.sizes {
        if let Err(error) = wanted.option(name, value) {
            eprintln!("{error}; the default stays");
        }
    }
    let started = tare::start(wanted);
    match started {
        // Another server of this process has started it: both show in one segment.
        Ok(()) | Err(tare::StartError::Running) => {}
        Err(tare::StartError::NotCompiledIn) => return None,
        Err(error) => {
            eprintln!("performance_schema is off: {error}");
            return None;
        }
    }
    let segment = tare::descriptor()
        .map_err(|e| e.to_string())
        .and_then(|descriptor| tare_reader::Segment::own(descriptor).map_err(|e| e.to_string()));
    match segment {
        Ok(segment) => Some(Arc::new(segment)),
        Err(error) => {
            eprintln!("performance_schema records, and cannot be read here: {error}");
            None
        }
    }
}

/// Fills a buffer with random bytes from the system.
///
/// # Panics
/// Where the system has none to give, which Linux never says of a process that runs.
pub fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system has random bytes");
}
