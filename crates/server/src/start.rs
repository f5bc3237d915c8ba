//! Starts a server: the data directory, the recording and the sockets.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tare::Kind;
use tare_layout::sizes;
use tare_mysql::error::names::ERRORS;
use tare_mysql::series::Series;

use super::accounts::Accounts;
use super::activity::Activity;
use super::certificate;
use super::config::{Config, DEFAULT_PORT, InstrumentValue};
use super::host_cache::HostCache;
use super::listen::Listeners;
use super::observed::Observed;
use super::shared::{Counters, Shared};
use super::stop::Stop;
use super::variables::Globals;
use tare_mysql::memory::TotalMemory;
use tare_query::schema::DEFINITIONS;
use tare_rows::telemetry::{self, Telemetry};
use tare_store::Databases;
use tare_store::log::{self, Priority};

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A file or directory of the data directory could not be created or read.
    #[error("{path}: {source}; the server needs its data directory to itself, writable")]
    Data {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Another server runs on the same data directory.
    #[error("{path} is in use by another server; stop it, or give another --data")]
    InUse {
        /// The data directory.
        path: PathBuf,
    },
    /// The certificate or its key cannot be used.
    #[error(
        "{path}: {source}; give another --ssl-cert and --ssl-key, remove server-cert.pem and server-key.pem \
         from the data directory to have new ones created, or start without TLS with --ssl=OFF"
    )]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// The socket or port could not be listened on.
    #[error(
        "cannot listen on {address}: {source}; is another server there? give another --socket or --port"
    )]
    Listen {
        /// The socket's path or the TCP address.
        address: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}; are the limits on processes (ulimit -u) too low?")]
    Thread(#[source] std::io::Error),
}

/// The addresses that clients connect to.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// The Unix socket.
    pub socket: PathBuf,
    /// The TCP address, unless networking is off.
    pub tcp: Option<SocketAddr>,
    /// The TCP port.
    pub port: Option<u16>,
    /// File that holds root's password for TCP; `None` when it was given in the config.
    pub password_file: Option<PathBuf>,
}

/// The parts of a server before its threads run.
pub struct Parts {
    /// The lock of the data directory, held while the server uses it.
    pub lock: fs::File,
    /// The state that sessions share.
    pub shared: Arc<Shared>,
    /// The sockets.
    pub listeners: Listeners,
    /// The addresses that clients connect to.
    pub endpoints: Endpoints,
}

/// Locks the data directory, starts the recording and opens the sockets.
pub fn prepare(mut config: Config) -> Result<Parts, StartError> {
    let lock = lock_data(&config)?;
    let (version, pid) = (config.series.version(), std::process::id());
    let text = format!("tare serve {version} starts as process {pid}");
    log::record(Priority::System, "Server", text);
    tare_store::sqlite::configure();
    let own = start_recording(&config);
    // If the recording could not be started, the variable performance_schema is OFF.
    config.performance_schema &= own.is_some();
    let observed = Arc::new(match config.attach.clone() {
        Some(segment) => Observed::attached(segment),
        None => Observed::own(own),
    });
    let data = |(path, source)| StartError::Data { path, source };
    let accounts = Accounts::load(&config).map_err(data)?;
    let certificate = config
        .ssl
        .then(|| certificate::load(&config))
        .transpose()
        .map_err(|(path, source)| StartError::Certificate { path, source })?;
    let socket = config
        .socket
        .clone()
        .unwrap_or_else(|| config.data.join("tare.sock"));
    let tcp = || SocketAddr::new(config.bind_address, config.port.unwrap_or(DEFAULT_PORT));
    let tcp = (!config.skip_networking).then(tcp);
    let stop = Stop::new().map_err(StartError::Thread)?;
    let listeners = Listeners::bind(&socket, tcp, stop.clone())?;
    let tcp = listeners.tcp();
    let globals = Globals::new(
        &config,
        &socket.display().to_string(),
        tcp.map_or(0, |tcp| tcp.port()),
        observed.clone(),
    );
    if let Some(certificate) = &certificate {
        globals.set_tls(certificate);
    }
    let endpoints = Endpoints {
        socket,
        tcp,
        port: tcp.map(|tcp| tcp.port()),
        password_file: accounts.password_file(),
    };
    let shared = Arc::new(Shared {
        databases: Arc::new(Databases::new(config.data.clone(), DEFINITIONS)),
        registry: Arc::default(),
        keeper: Arc::default(),
        globals: Arc::new(globals),
        accounts,
        tls: certificate
            .as_ref()
            .map(|certificate| certificate.tls.clone()),
        tls_status: certificate.map(|certificate| certificate.status),
        counters: Counters::default(),
        memory: Arc::new(TotalMemory::new(config.global_connection_memory_limit)),
        hosts: HostCache::default(),
        telemetry: Telemetry::with_sizes(&config.sizes),
        started: Instant::now(),
        activity: Activity::new(observed.clone(), config.series.has_9_7_digests()),
        observed,
        stopping: AtomicBool::new(false),
        stop,
        config,
    });
    log_endpoints(&endpoints);
    Ok(Parts {
        lock,
        shared,
        listeners,
        endpoints,
    })
}

/// Creates the data directory if necessary, and locks it.
fn lock_data(config: &Config) -> Result<fs::File, StartError> {
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
            return Err(StartError::InUse {
                path: config.data.clone(),
            });
        }
        Err(fs::TryLockError::Error(source)) => {
            return Err(StartError::Data {
                path: lock_path,
                source,
            });
        }
    }
    Ok(lock)
}

fn log_and_print(priority: Priority, text: String) {
    log::write(priority, "Server", text);
}

/// Logs the addresses, which `tare serve` prints.
fn log_endpoints(endpoints: &Endpoints) {
    let log_line = |text: String| log::record(Priority::System, "Server", text);
    log_line(format!("Listening on {}", endpoints.socket.display()));
    if let Some(tcp) = endpoints.tcp {
        log_line(format!("Listening on {tcp}"));
    }
}

/// The defaults of `performance_schema_max_..._classes` of this series; this server has fewer classes.
fn class_limits(series: Series) -> Vec<(Kind, usize)> {
    let of = |of_8_0, of_9_7, of_mariadb| match series {
        Series::V8_0 => of_8_0,
        Series::V9_7 => of_9_7,
        Series::Mariadb => of_mariadb,
    };
    vec![
        (Kind::Cond, of(100, 150, 90)),
        (Kind::File, 80),
        (Kind::Memory, of(450, 470, 320)),
        (Kind::Mutex, of(300, 350, 210)),
        (Kind::RwLock, of(60, 100, 50)),
        (Kind::Socket, 10),
        (Kind::Stage, of(175, 175, 160)),
        (Kind::Statement, of(218, 234, 222)),
        (Kind::Thread, of(100, 100, 50)),
    ]
}

/// The warning about a max_digest_length other than 0.
const MAX_DIGEST_LENGTH_NOTE: &str = "max_digest_length is not 0: digests are of complete statements here, up to the \
    bytes of text that performance_schema_max_digest_length stores";

/// Starts the recording of the server itself. If that fails, the server still serves, and logs why it
/// does not record.
fn start_recording(config: &Config) -> Option<Arc<tare_reader::Segment>> {
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
    let instruments = config.instruments.iter();
    let mut wanted = tare::Config::default()
        .instruments(instruments.map(|(pattern, value)| (pattern, setting(*value))))
        .consumers(config.consumers.clone())
        .digests_retain_positions(config.series.has_9_7_digests());
    wanted.segment.clone_from(&config.segment);
    wanted.class_limits = class_limits(config.series);
    let engines = |(name, _): &&(String, String)| !telemetry::size_options().any(|of| of == name);
    for (name, value) in config.sizes.iter().filter(engines) {
        if let Err(error) = wanted.option(name, value) {
            log_and_print(Priority::Warning, format!("{error}; the default stays"));
        }
    }
    match config.max_digest_length {
        // There are no digests, even if Performance Schema has a size for them.
        Some(0) => {
            let others = |(size, _): &(usize, u64)| *size != sizes::DIGEST_LENGTH;
            wanted.requested_sizes.retain(others);
            wanted.requested_sizes.push((sizes::DIGEST_LENGTH, 0));
        }
        Some(_) => log_and_print(Priority::Warning, MAX_DIGEST_LENGTH_NOTE.to_owned()),
        None => {}
    }
    let started = tare::start(wanted);
    match started {
        // Another server of this process has started it: both are recorded in one segment.
        Ok(()) | Err(tare::StartError::Running) => tare::watch_settings(),
        Err(tare::StartError::NotCompiledIn) => return None,
        Err(error) => {
            log_and_print(
                Priority::Error,
                format!("performance_schema is off: {error}"),
            );
            return None;
        }
    }
    let segment = tare::descriptor()
        .map_err(|e| e.to_string())
        .and_then(|descriptor| tare_reader::Segment::own(descriptor).map_err(|e| e.to_string()));
    match segment {
        Ok(segment) => Some(Arc::new(segment)),
        Err(error) => {
            log_and_print(
                Priority::Error,
                format!("performance_schema records, and cannot be read here: {error}"),
            );
            None
        }
    }
}
