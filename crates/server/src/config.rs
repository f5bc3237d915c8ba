//! The options of `tare serve`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::machine;
use tare_mysql::series::Series;

/// The default port: MySQL's 3306 plus one, so that both can run on one machine.
pub const DEFAULT_PORT: u16 = 3307;

/// The smallest defaults of the limits on the memory of sessions: what a few statements need.
const MIN_SESSION_LIMIT_BYTES: u64 = 64 << 20;
const MIN_TOTAL_LIMIT_BYTES: u64 = 256 << 20;

/// The configuration of a server. [`Config::new`] gives the defaults.
#[derive(Debug, Clone)]
pub struct Config {
    /// Directory that holds the databases (`NAME.db`), the socket and the passwords. Created
    /// (mode 0700) when it does not exist.
    pub data: PathBuf,
    /// Unix socket; `None` is `DATA/tare.sock`.
    pub socket: Option<PathBuf>,
    /// Address that TCP listens on; by default 127.0.0.1.
    pub bind_address: IpAddr,
    /// TCP port; `None` is [`DEFAULT_PORT`], 0 is any free one (see
    /// [`Endpoints::port`](super::Endpoints::port) for which).
    pub port: Option<u16>,
    /// Do not listen on TCP at all.
    pub skip_networking: bool,
    /// Whether to offer TLS on TCP and on the socket.
    pub ssl: bool,
    /// The server's certificate and its chain, in PEM; needs `ssl_key`. `None` is
    /// `DATA/server-cert.pem`, which the first start creates.
    pub ssl_cert: Option<PathBuf>,
    /// Its private key, in PEM.
    pub ssl_key: Option<PathBuf>,
    /// Whether to refuse clients that connect by TCP without TLS (error 3159).
    pub require_secure_transport: bool,
    /// Password of user `root`. `None` is the one in `DATA/password`, which the first start generates
    /// (mode 0600).
    pub password: Option<String>,
    /// Password of user `monitor`, who may only read system schemas. `None` is the one in
    /// `DATA/monitor-password`, which the first start generates.
    pub monitor_password: Option<String>,
    /// The MySQL whose tables and version the server presents.
    pub series: Series,
    /// Which threads run the statements.
    pub thread_handling: ThreadHandling,
    /// Worker threads of [`ThreadHandling::PoolOfThreads`]; 0 is one per CPU.
    pub thread_pool_size: usize,
    /// Connections beyond this many are refused with error 1040.
    pub max_connections: usize,
    /// Largest packet a client may send or receive, in bytes (error 1153 beyond it).
    pub max_allowed_packet: usize,
    /// Statements are interrupted after this long (error 3024); zero is no limit.
    pub max_execution_time: Duration,
    /// Memory that one statement may take, in bytes (error 1041 beyond it); 0 is no limit.
    pub max_statement_memory: u64,
    /// Memory that one session may hold, in bytes (error 4082 beyond it).
    pub connection_memory_limit: u64,
    /// Memory that all sessions together may hold, in bytes (error 4081 beyond it).
    pub global_connection_memory_limit: u64,
    /// Most rows one result may have (error 1104 beyond it); 0 is no limit.
    pub max_result_rows: u64,
    /// Most bytes one result may have (error 1104 beyond it); 0 is no limit.
    pub max_result_bytes: u64,
    /// How long a statement waits for another session's transaction (error 1205).
    pub lock_wait_timeout: Duration,
    /// Start the server's own instrumentation.
    pub performance_schema: bool,
    /// Instruments to set at start, in order: name pattern (SQL `%` and `_`) and value.
    pub instruments: Vec<(String, InstrumentValue)>,
    /// Consumers to switch at start: name as in `setup_consumers`, and whether it is on.
    pub consumers: Vec<(String, bool)>,
    /// MySQL's max_digest_length: 0 computes no digests. Any other value has no effect: digests are of
    /// complete statements.
    pub max_digest_length: Option<usize>,
    /// MySQL's performance_schema_show_processlist: SHOW PROCESSLIST is empty if Performance Schema is off.
    pub show_processlist: bool,
    /// MySQL's sizes of Performance Schema, by name (`digests_size`, `max_mutex_classes`, ...) as
    /// [`tare::Config::option`] takes them.
    pub sizes: Vec<(String, String)>,
    /// File that holds the server's segment; `None` is a memfd.
    pub segment: Option<PathBuf>,
    /// Answer from this segment of another program, running or saved, instead of the server's own, as
    /// `tare serve --attach` does. Best with `performance_schema` off.
    pub attach: Option<Arc<tare_reader::Segment>>,
    /// Asks the attached process, if it is a server, for its SHOW GLOBAL STATUS.
    pub attached_status: Option<StatusSource>,
    /// Whether to attach to the next process of the same program when the attached one ends.
    pub follow: bool,
}

impl Config {
    /// The defaults, for a data directory.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            socket: None,
            bind_address: Ipv4Addr::LOCALHOST.into(),
            port: None,
            skip_networking: false,
            ssl: true,
            ssl_cert: None,
            ssl_key: None,
            require_secure_transport: false,
            password: None,
            monitor_password: None,
            series: Series::default(),
            thread_handling: ThreadHandling::default(),
            thread_pool_size: 0,
            max_connections: 2000,
            max_allowed_packet: 64 << 20,
            max_digest_length: None,
            show_processlist: false,
            max_execution_time: Duration::ZERO,
            max_statement_memory: tare_mysql::memory::DEFAULT_BYTES,
            connection_memory_limit: (machine::memory_bytes() / 16).max(MIN_SESSION_LIMIT_BYTES),
            global_connection_memory_limit: (machine::memory_bytes() / 4)
                .max(MIN_TOTAL_LIMIT_BYTES),
            max_result_rows: 0,
            max_result_bytes: 1 << 30,
            lock_wait_timeout: Duration::from_secs(50),
            performance_schema: true,
            instruments: Vec::new(),
            consumers: Vec::new(),
            sizes: Vec::new(),
            segment: None,
            attach: None,
            attached_status: None,
            follow: false,
        }
    }
}

/// What answers SHOW GLOBAL STATUS of a process, by its id. `None` if that may not be asked.
#[derive(Clone)]
pub struct StatusSource(pub Arc<ReadStatus>);

/// Names and values of the status variables of a process; `None`: it does not answer.
pub type ReadStatus = dyn Fn(u32) -> Option<Vec<(String, String)>> + Send + Sync;

impl fmt::Debug for StatusSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StatusSource")
    }
}

/// MySQL's `thread_handling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThreadHandling {
    /// A thread for each connection, for as long as it lives.
    #[default]
    OneThreadPerConnection,
    /// A few threads run the statements of all connections.
    PoolOfThreads,
}

impl FromStr for ThreadHandling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "one-thread-per-connection" => Ok(Self::OneThreadPerConnection),
            "pool-of-threads" => Ok(Self::PoolOfThreads),
            _ => Err(format!(
                "'{text}' is no way to handle threads: give one-thread-per-connection or pool-of-threads"
            )),
        }
    }
}

impl fmt::Display for ThreadHandling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneThreadPerConnection => "one-thread-per-connection",
            Self::PoolOfThreads => "pool-of-threads",
        })
    }
}

/// The value half of `--performance-schema-instrument='PATTERN=VALUE'`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstrumentValue {
    /// Not counted and not timed.
    Off,
    /// Counted, not timed.
    Counted,
    /// Counted and timed.
    On,
}

impl FromStr for InstrumentValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "on" | "true" | "1" | "yes" => Ok(Self::On),
            "off" | "false" | "0" | "no" => Ok(Self::Off),
            "counted" => Ok(Self::Counted),
            _ => Err(format!(
                "'{text}' is no value of an instrument: give ON, OFF or COUNTED"
            )),
        }
    }
}
