//! `tare serve`: starts the server, and stops it at a signal.

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tare::Rule;
use tare_server::{
    Config, DEFAULT_PORT, InstrumentValue, Series, Server, StatusSource, ThreadHandling,
};

use crate::exit::{FAILED, Failure};
#[cfg(feature = "tools")]
use crate::metrics_source::{self, MetricsOptions};
use crate::observe::status::AttachedStatus;
use crate::serve_options::{ConsumerOptions, SizeOptions, boolean, bytes, instrument, sampling};
use crate::sql::local;

tare::classes! {
    /// Waits for SIGTERM and SIGINT, under MySQL's name.
    static SIGNAL_HANDLER: Thread = "thread/sql/signal_handler";
    /// The process's first thread: starts the server and waits for its end.
    static STARTER: Thread = "thread/tare/starter";
}

/// Run a small MySQL-protocol server, instrumented throughout
///
/// The databases are SQLite files in DIR. Any MySQL client connects. The schemas
/// performance_schema, sys and tare answer about this server, and about other programs on this
/// machine that use Tare.
///
/// On the Unix socket, the user that runs the server is root and needs no password. TCP is bound to
/// 127.0.0.1 and always needs one. Root's password is generated at the first start and written to
/// DIR/password, which only you can read.
#[derive(clap::Args)]
#[command(after_help = HELP, args_override_self = true)]
pub struct Args {
    /// Read options from a file like my.cnf: its groups [mysqld], [server] and [tare]. Options on the
    /// command line override the file
    #[arg(long, value_name = "PATH")]
    defaults_file: Option<PathBuf>,

    /// Directory of the databases; created (mode 0700) if it does not exist
    #[arg(long, value_name = "DIR", alias = "datadir")]
    data: PathBuf,

    /// Unix socket to listen on [default: DIR/tare.sock]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Address that TCP listens on
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into())]
    bind_address: IpAddr,

    /// TCP port; 0 takes a free one and prints it
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PORT)]
    port: u16,

    /// Listen on the Unix socket only
    #[arg(long, conflicts_with = "port")]
    skip_networking: bool,

    /// Offer TLS, with a certificate that is created in DIR at the first start
    #[arg(
        long, value_name = "ON|OFF", value_parser = boolean, default_value = "ON",
        num_args = 0..=1, require_equals = true, default_missing_value = "ON",
        action = clap::ArgAction::Set, help_heading = "TLS"
    )]
    ssl: bool,

    /// Certificate of the server in PEM, and those that it is signed by [default: DIR/server-cert.pem]
    #[arg(long, value_name = "FILE", requires = "ssl_key", help_heading = "TLS")]
    ssl_cert: Option<PathBuf>,

    /// Its private key in PEM [default: DIR/server-key.pem]
    #[arg(long, value_name = "FILE", requires = "ssl_cert", help_heading = "TLS")]
    ssl_key: Option<PathBuf>,

    /// Refuse clients that come by TCP and do not encrypt (error 3159)
    #[arg(
        long, value_name = "ON|OFF", value_parser = boolean, default_value = "OFF",
        num_args = 0..=1, require_equals = true, default_missing_value = "ON",
        action = clap::ArgAction::Set, help_heading = "TLS"
    )]
    require_secure_transport: bool,

    /// File whose first line is root's password for TCP [default: DIR/password, generated]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// The server whose tables and version clients see: 9.7 or 8.0 of MySQL, or mariadb
    #[arg(long = "as", value_name = "SERIES", default_value_t)]
    series: Series,

    /// Which threads run statements: one-thread-per-connection or pool-of-threads
    #[arg(long, value_name = "HOW", default_value_t)]
    thread_handling: ThreadHandling,

    /// Threads of pool-of-threads; 0 is one per CPU
    #[arg(long, value_name = "N", default_value_t = 0)]
    thread_pool_size: usize,

    /// Largest number of connections; more are refused (error 1040)
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = at_least_one)]
    max_connections: usize,

    /// Largest packet, in bytes or with K, M or G (error 1153 beyond it)
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = bytes)]
    max_allowed_packet: usize,

    /// Interrupt statements that run longer than this many milliseconds (error 3024); 0 never does
    #[arg(long, value_name = "MS", default_value_t = 0)]
    max_execution_time: u64,

    /// Memory that one statement may take, in bytes or with K, M or G (error 1041 beyond it); 0 is no
    /// limit
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = bytes)]
    max_statement_memory: usize,

    /// Memory that one session may hold, in bytes or with K, M or G: it ends with error 4082 beyond it
    /// [default: a sixteenth of the machine's]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    connection_memory_limit: Option<usize>,

    /// Memory that all sessions may hold: one that needs more ends with error 4081 [default: a quarter of the
    /// machine's]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    global_connection_memory_limit: Option<usize>,

    /// Answer about the program with this process id, not about the server itself
    #[arg(long, value_name = "PID", group = "attach")]
    attach_pid: Option<u32>,

    /// Answer about the segment in this file: a running program's, or one that tare run saved
    #[arg(long, value_name = "PATH", group = "attach")]
    attach_segment: Option<PathBuf>,

    /// When the attached program ends, attach to the next process that runs it
    #[arg(long, requires = "attach")]
    follow: bool,

    /// Keep the server's own segment in this file, not in anonymous memory
    #[arg(long, value_name = "PATH")]
    segment: Option<PathBuf>,

    /// Instrument the server; OFF starts it without a segment
    #[arg(
        long, value_name = "ON|OFF", value_parser = boolean, default_value = "ON",
        num_args = 0..=1, require_equals = true, default_missing_value = "ON",
        action = clap::ArgAction::Set, help_heading = "Performance Schema"
    )]
    performance_schema: bool,

    /// Set the matching instruments to ON, OFF or COUNTED; may be repeated
    #[arg(
        long, value_name = "PATTERN=VALUE", value_parser = instrument,
        help_heading = "Performance Schema"
    )]
    performance_schema_instrument: Vec<(String, InstrumentValue)>,

    /// SHOW PROCESSLIST reads Performance Schema, and is empty if that is off
    #[arg(
        long, value_name = "ON|OFF", value_parser = boolean, default_value = "OFF",
        num_args = 0..=1, require_equals = true, default_missing_value = "ON",
        action = clap::ArgAction::Set, help_heading = "Performance Schema"
    )]
    performance_schema_show_processlist: bool,

    /// 0 computes no digests of statements; any other number computes them from the complete statement
    #[arg(
        long = "max-digest-length",
        value_name = "BYTES",
        help_heading = "Performance Schema"
    )]
    digest_length: Option<usize>,

    /// Sample events: every, 1/N (what happens in windows of time that are an N-th of it), "budget P %" or
    /// active (keep what each thread does now, and count statements only)
    #[arg(
        long, value_name = "RULE", value_parser = sampling, help_heading = "Performance Schema"
    )]
    sampling: Option<Rule>,

    #[cfg(feature = "tools")]
    #[command(flatten)]
    metrics: MetricsOptions,

    #[command(flatten)]
    consumers: ConsumerOptions,

    #[command(flatten)]
    sizes: SizeOptions,
}

const HELP: &str = "\
Examples:
  tare serve --data /tmp/tare
  tare serve --data /tmp/tare --port 0 --thread-handling=pool-of-threads
  tare serve --data /tmp/tare --performance-schema-instrument='wait/synch/%=COUNTED' \\
             --performance-schema-consumer-events-waits-current=ON

  mariadb --socket /tmp/tare/tare.sock performance_schema \\
          -e 'SELECT * FROM sys.waits_global_by_latency LIMIT 10'

  tare serve --defaults-file=/etc/tare.cnf --data /tmp/tare --performance-schema-digests-size=200

SIGTERM and SIGINT stop the server cleanly; a second one ends it at once.";

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "give a number above 0".into())
}

pub fn main(args: Args) -> Result<ExitCode, Failure> {
    // Before the server starts, so that no signal is lost.
    let signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| Failure::new(FAILED, format!("cannot watch for signals: {error}")))?;
    #[cfg(feature = "tools")]
    let metrics = args.metrics.clone();
    let config = config(args)?;
    let server = Arc::new(Server::start(config).map_err(|error| Failure::new(FAILED, error))?);
    // The segment exists from here on.
    tare::thread::register(&STARTER);
    announce(&server);
    #[cfg(feature = "tools")]
    {
        // Weak, because the server has to end with this function.
        let server = Arc::downgrade(&server);
        let segment = move || server.upgrade().and_then(|server| server.segment());
        metrics.start(
            Box::new(move || metrics_source::open_segment(segment())),
            None,
        )?;
    }
    stop_on_signal(signals, Arc::clone(&server))?;
    server.wait();
    Ok(ExitCode::SUCCESS)
}

fn config(args: Args) -> Result<Config, Failure> {
    let password = match &args.password_file {
        Some(path) => Some(first_line(path)?),
        None => None,
    };
    let mut config = Config::new(args.data);
    config.socket = args.socket;
    config.bind_address = args.bind_address;
    config.port = Some(args.port);
    config.skip_networking = args.skip_networking;
    config.ssl = args.ssl;
    config.ssl_cert = args.ssl_cert;
    config.ssl_key = args.ssl_key;
    config.require_secure_transport = args.require_secure_transport;
    config.password = password;
    config.series = args.series;
    config.thread_handling = args.thread_handling;
    config.thread_pool_size = args.thread_pool_size;
    config.max_connections = args.max_connections;
    config.max_allowed_packet = args.max_allowed_packet;
    config.max_execution_time = Duration::from_millis(args.max_execution_time);
    config.max_statement_memory = args.max_statement_memory as u64;
    for (limit, option) in [
        (
            &mut config.connection_memory_limit,
            args.connection_memory_limit,
        ),
        (
            &mut config.global_connection_memory_limit,
            args.global_connection_memory_limit,
        ),
    ] {
        *limit = option.map_or(*limit, |bytes| bytes as u64);
    }
    config.performance_schema = args.performance_schema;
    config.instruments = args.performance_schema_instrument;
    config.show_processlist = args.performance_schema_show_processlist;
    config.max_digest_length = args.digest_length;
    config.consumers = args.consumers.0;
    config.sizes = args.sizes.0;
    if let Some(rule) = args.sampling {
        config.sizes.push(("sampling".into(), rule.to_string()));
    }
    if let Some(path) = &args.segment {
        tare::check_segment_path(path)
            .map_err(|error| Failure::new(FAILED, format!("--segment: {error}")))?;
    }
    config.segment = args.segment;
    config.follow = args.follow;
    if args.attach_pid.is_some() || args.attach_segment.is_some() {
        let target = local::target(args.attach_pid, args.attach_segment.as_deref());
        config.attach = Some(Arc::new(local::attach(target)?));
        let status = AttachedStatus::default();
        config.attached_status = Some(StatusSource(Arc::new(move |pid| status.read(pid))));
    }
    Ok(config)
}

fn first_line(path: &PathBuf) -> Result<String, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::new(FAILED, format!("{}: {error}", path.display())))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(Failure::new(
            FAILED,
            format!(
                "{}: its first line is empty; write the password there",
                path.display()
            ),
        )),
    }
}

/// Prints the addresses. Scripts wait for these lines. A closed pipe is ignored.
fn announce(server: &Server) {
    let endpoints = server.endpoints();
    let socket = endpoints.socket.display();
    let mut lines = format!("Listening on {socket}\n");
    if let Some(tcp) = endpoints.tcp {
        lines += &format!("Listening on {tcp}\n");
    }
    lines += &format!("Connect with: mariadb --socket {socket}\n");
    if let (Some(tcp), Some(file)) = (endpoints.tcp, &endpoints.password_file) {
        let (file, host, port) = (file.display(), tcp.ip(), tcp.port());
        lines +=
            &format!("          or: mariadb -h {host} -P {port} -u root -p\"$(cat {file})\"\n");
    }
    let mut stdout = std::io::stdout().lock();
    let _ = stdout
        .write_all(lines.as_bytes())
        .and_then(|()| stdout.flush());
}

fn stop_on_signal(mut signals: Signals, server: Arc<Server>) -> Result<(), Failure> {
    let stop = move || {
        let mut is_stopping = false;
        for signal in signals.forever() {
            if is_stopping {
                // The shell's code for a program that this signal ended.
                std::process::exit(128 + signal);
            }
            is_stopping = true;
            eprintln!("tare: stopping");
            let server = Arc::clone(&server);
            // This runs in another thread, so that the main thread can receive a second signal.
            std::thread::spawn(move || server.shutdown());
        }
    };
    tare::thread::spawn(&SIGNAL_HANDLER, stop)
        .map(drop)
        .map_err(|error| Failure::new(FAILED, format!("cannot start a thread: {error}")))
}
