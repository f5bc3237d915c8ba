//! The server: listeners, sessions, schedulers.

mod config;

use std::path::PathBuf;

pub use config::{Config, DEFAULT_PORT, InstrumentValue, ThreadHandling};

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
    /// The TCP port on 127.0.0.1, unless networking is off.
    pub port: Option<u16>,
    /// File that holds root's password for TCP; `None` when it was given in the config.
    pub password_file: Option<PathBuf>,
}

/// A running server. Dropping it shuts it down.
#[derive(Debug)]
pub struct Server {
    endpoints: Endpoints,
}

impl Server {
    /// Starts listening and returns when clients can connect.
    pub fn start(config: Config) -> Result<Self, StartError> {
        let socket = config
            .socket
            .clone()
            .unwrap_or_else(|| config.data.join("tare.sock"));
        Err(StartError::Listen {
            address: socket.display().to_string(),
            source: std::io::Error::from(std::io::ErrorKind::Unsupported),
        })
    }

    /// Where to connect.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Stops accepting, interrupts what runs, waits for the sessions to end and closes the
    /// databases. Any thread may call it, and more than once: a signal's thread does while
    /// another one is in [`Server::wait`].
    pub fn shutdown(&self) {}

    /// Blocks until the server has shut down, on [`Server::shutdown`] or because a client said
    /// `SHUTDOWN`.
    pub fn wait(&self) {}
}
