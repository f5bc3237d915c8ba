//! `tare record`: records what sessions do over time, in files.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use tare_history::{
    EndReason, Event, ExactWindows, Follower, Options, PlanReader, Query, Recorder, Retention,
    Sampling, Source,
};
use tare_live::Figures;

use crate::exact::{self, ExactOptions};
use crate::exit::{FAILED, Failure};
use crate::metrics_source::{self, MetricsOptions, SessionClient};
use crate::observe::{self, ObservedServer, QueryError};
use crate::option_values::{parse_duration, parse_rate, parse_size};
use crate::otlp::{OtlpOptions, SpanExporter};
use crate::plans::{PlanMode, PlanThread};
use crate::processes;
use crate::sql::Target;

/// Record what a server's sessions do, in Parquet files
///
/// Samples all threads at jittered moments and records what the active ones run and wait for. Every
/// ten seconds it also records the growth of digests, waits, files, tables, users, errors, memory and
/// status variables. For a program that uses Tare, or a server behind tare run, it reads shared
/// memory, and the server executes nothing. It queries any other server (--dsn) in SQL, one statement
/// for each moment, and prints the cost of that. Of a program that does not use Tare (--pid) it records
/// the threads, with states, CPU and system calls (docs/processes.md).
///
/// Complete files appear in DIR/TABLE/date=/hour=/host=/, where DuckDB reads them as tables;
/// docs/history.md describes them. A kill loses at most ten seconds, and the next tare record with
/// this directory and host moves the rest to its place.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Directory of the history, created if it is missing; several hosts may share one
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Samples per second [default: 10; with --dsn 1]
    #[arg(long, value_name = "N", value_parser = parse_rate)]
    rate: Option<f64>,

    /// The server's name in the files [default: its program's or product's name]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,

    /// This host's name in the files [default: the host's name]
    #[arg(long, value_name = "NAME")]
    host_name: Option<String>,

    /// End after so long: 30s, 10m, 2h
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,

    /// Store an example and the plan (EXPLAIN FORMAT=JSON) of statements of a MySQL or MariaDB server, at most six per
    /// minute, on a connection of its own that gives up after a second. Texts in them are masked (docs/plans.md)
    #[arg(long, value_name = "WHICH", default_value = "changed")]
    plans: PlanMode,

    /// Interval between writes; a kill loses at most the rows of one interval
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    write_every: Duration,

    /// Publish files at this interval
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m")]
    settle_every: Duration,

    /// Remove hours of this host that are older: 12h, 7d [default: none]
    #[arg(long = "keep", value_name = "TIME", value_parser = parse_duration)]
    max_age: Option<Duration>,

    /// Remove the oldest hours of this host beyond so much: 500M, 10G [default: none]
    #[arg(long = "keep-size", value_name = "SIZE", value_parser = parse_size)]
    max_bytes: Option<u64>,

    #[command(flatten)]
    exact: ExactOptions,

    #[command(flatten)]
    otlp: OtlpOptions,

    #[command(flatten)]
    metrics: MetricsOptions,

    /// Print every ten seconds how many rows were written, and the cost of sampling
    #[arg(short, long)]
    verbose: bool,
}

const HELP: &str = "\
Examples:
  tare record --dir /var/lib/tare/history
  tare record --pid 4711 --rate 100 --keep 7d --keep-size 10G --dir history
  tare record --dsn /run/mysqld/mysqld.sock --dir history --for 10m
  tare record --dir history --exact-when 'active_sessions > 2 * cpus for 5s' --exact-for 10s --budget 1%
  duckdb -c \"SELECT wait, SUM(seconds) FROM 'history/samples/**/*.parquet' GROUP BY wait\"

A server that stops is waited for, unless it was named by --pid.

Exit code: 1 when the process of --pid has gone or a file cannot be written; what was written before stays.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(FAILED, error);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|e| failed(&e))?;
    }
    // A limit of the file size is an error of the write then, as a full disk is.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(|e| failed(&e))?;
    args.exact.rule(&args.target)?;
    let mut connection = Connection::open(args)?;
    let is_segment = args.target.is_segment();
    let figures = Arc::new(Figures::default());
    (args.metrics).start(
        metrics_source::reopening(args.target.clone(), None),
        Some(Arc::clone(&figures)),
    )?;
    let began = Instant::now();
    let mut options = connection.options(args);
    let what = format!(
        "recording {} as {}, {} moments a second, in {}",
        args.target.name(),
        options.server,
        options.rate,
        args.dir.display()
    );
    let mut spans = Spans(args.otlp.exporter(&options.server, &options.host)?);
    let mut is_first = true;
    loop {
        let unwritten = |error: tare_history::Error| {
            let message =
                format!("recording has stopped: {error}. The files written before are complete");
            Failure::new(FAILED, message)
        };
        let recorder = match is_first {
            // Nothing was recorded yet.
            true => Recorder::start(options.clone(), &stop).map_err(|e| failed(&e))?,
            false => Recorder::start(options.clone(), &stop).map_err(unwritten)?,
        };
        if is_first {
            eprintln!("tare: {what}");
        }
        for line in &connection.warnings {
            eprintln!("tare: {line}");
        }
        let mut exemplars = &*figures;
        let recorder = recorder
            .with_windows(connection.windows.take())
            .with_plans(connection.plans.take())
            .with_followers(followers(args, &mut exemplars, &mut spans));
        let ended = recorder.record(
            &mut *connection.source,
            connection
                .client
                .as_mut()
                .map(|client| client as &mut dyn Query),
            &mut |event| match event {
                Event::Refused(kind, why) if is_first => {
                    eprintln!("tare: growth of kind {kind} is not recorded: {why}")
                }
                Event::Unread(why) if is_first => eprintln!("tare: status is not complete: {why}"),
                Event::Refused(..) | Event::Unread(_) => {}
                Event::Window(line) | Event::Plan(line) | Event::Follower(line) => {
                    eprintln!("tare: {line}")
                }
                Event::Written(sampling) => {
                    figures.add(&sampling);
                    if args.verbose || (is_first && !is_segment) {
                        eprintln!("tare: {}", cost(&sampling, is_segment));
                    }
                    is_first = false;
                }
            },
        );
        match ended.map_err(unwritten)? {
            EndReason::Stopped => return Ok(ExitCode::SUCCESS),
            // The id of a process does not come back.
            EndReason::Lost(why) if args.target.is_process() => {
                let directory = args.dir.display();
                let message = format!("recording has ended: {why}. All samples are in {directory}");
                return Err(Failure::new(FAILED, message));
            }
            EndReason::Lost(why) => {
                is_first = false;
                spans.0.iter_mut().for_each(SpanExporter::end_statements);
                let left = || {
                    args.duration
                        .map(|most| most.saturating_sub(began.elapsed()))
                };
                match wait_for_server(args, &stop, &left, why) {
                    Some(again) => connection = again,
                    None => return Ok(ExitCode::SUCCESS),
                }
                // A recorder that has no time left would record all the same.
                options.duration = left().map(|left| left.max(MIN_DURATION));
                eprintln!("tare: recording again");
            }
        }
    }
}

/// What passes on the recorder's moments: metrics and spans, if they are wanted.
fn followers<'a>(
    args: &Args,
    exemplars: &'a mut &Figures,
    spans: &'a mut Spans,
) -> Vec<&'a mut dyn Follower> {
    let exemplars = args.metrics.is_given().then_some(exemplars);
    let exemplars = exemplars.map(|exemplars| exemplars as &mut dyn Follower);
    let spans = spans.0.as_mut().map(|spans| spans as &mut dyn Follower);
    exemplars.into_iter().chain(spans).collect()
}

/// Sends the last spans when recording ends, and prints how many were lost.
struct Spans(Option<SpanExporter>);

impl Drop for Spans {
    fn drop(&mut self) {
        if let Some(line) = self.0.take().and_then(SpanExporter::finish) {
            eprintln!("tare: {line}");
        }
    }
}

/// The pause between attempts to connect.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The interval at which a waiting recorder checks whether it was stopped.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The least time of a recording that goes on.
const MIN_DURATION: Duration = Duration::from_millis(1);

/// Waits until the server is back. `None` if the recorder was stopped, or its time is over.
fn wait_for_server(
    args: &Args,
    stop: &AtomicBool,
    left: &dyn Fn() -> Option<Duration>,
    mut why: String,
) -> Option<Connection> {
    eprintln!("tare: recording waits for the server: {why}");
    loop {
        let next = Instant::now() + RETRY_PAUSE;
        while Instant::now() < next {
            if stop.load(Ordering::Relaxed) || left().is_some_and(|left| left.is_zero()) {
                return None;
            }
            std::thread::sleep(STOP_POLL_INTERVAL);
        }
        match Connection::open(args) {
            Ok(connection) => return Some(connection),
            // The same reason is not repeated for an hour.
            Err(failure) if failure.message == why => {}
            Err(failure) => {
                why = failure.message;
                eprintln!("tare: recording waits for the server: {why}");
            }
        }
    }
}

/// An open server, segment or process.
struct Connection {
    source: Box<dyn Source>,
    /// `None` for a process without a segment.
    client: Option<SessionClient>,
    server: String,
    windows: Option<ExactWindows>,
    plans: Option<Box<dyn PlanReader>>,
    warnings: Vec<String>,
}

impl Connection {
    /// Opens the target, and checks that it can be sampled.
    fn open(args: &Args) -> Result<Self, Failure> {
        if let Some(source) = metrics_source::process_source(&args.target)? {
            exact::check_none(args.exact.option())?;
            let mut warnings = vec![processes::describe(source.tree())];
            warnings.extend(source.unknown_states());
            let (_, program) = source.tree().root();
            return Ok(Self {
                server: args.server.clone().unwrap_or_else(|| program.to_owned()),
                source: Box::new(source),
                client: None,
                windows: None,
                plans: None,
                warnings,
            });
        }
        let mut observed = ObservedServer::open(args.target.clone())?;
        let server = match &args.server {
            Some(name) => name.clone(),
            None => server_name(&mut observed)?,
        };
        let mut warnings: Vec<String> = check_consumers(&mut observed)?.into_iter().collect();
        let mut source = metrics_source::source(&args.target, None)?;
        check_sampling(&mut *source)?;
        warnings.extend(
            source
                .unknown_states()
                .map(|why| format!("{UNKNOWN_STATES}: {why}")),
        );
        let windows = args.exact.windows(&args.target, &*source)?;
        let windows = windows.map(|(windows, warning)| {
            warnings.extend(warning);
            windows
        });
        let segment = source.attached().cloned();
        let plans = PlanThread::start(args.plans, &args.target, &observed, segment);
        Ok(Self {
            source,
            windows,
            plans: plans.map(|plans| Box::new(plans) as Box<dyn PlanReader>),
            client: Some(SessionClient(observed.into_session())),
            server,
            warnings,
        })
    }

    fn options(&self, args: &Args) -> Options {
        let uname = rustix::system::uname();
        let is_segment = args.target.is_segment();
        Options {
            directory: args.dir.clone(),
            host: match &args.host_name {
                Some(host) => host.clone(),
                None => uname.nodename().to_string_lossy().into_owned(),
            },
            server: self.server.clone(),
            rate: args.rate.unwrap_or(if is_segment { 10.0 } else { 1.0 }),
            write_every: args.write_every,
            settle_every: args.settle_every,
            duration: args.duration,
            retention: Retention {
                age: args.max_age,
                bytes: args.max_bytes,
            },
        }
    }
}

/// The message that states are unknown, before the reason.
const UNKNOWN_STATES: &str = "whether a session without a wait is on a CPU is not recorded";

/// Fails if the account may not sample.
pub fn check_sampling(source: &mut dyn Source) -> Result<(), Failure> {
    match source.read_moment() {
        Ok(_) => Ok(()),
        Err(tare_history::QueryError::Refused(why)) => Err(Failure::new(
            FAILED,
            format!("sessions cannot be sampled: {why}"),
        )),
        Err(tare_history::QueryError::Lost(why)) => Err(Failure::new(FAILED, why)),
    }
}

/// The server's default name in a history: the program that writes the segment, or product and version.
pub fn server_name(observed: &mut ObservedServer) -> Result<String, Failure> {
    let program = match observed.about.is_segment {
        true => observed.text("SELECT program FROM tare.segments")?,
        false => None,
    };
    Ok(program.unwrap_or_else(|| observed.about.server()))
}

/// A warning about consumers that are off and that samples need. Fails if the server records nothing at all.
pub fn check_consumers(observed: &mut ObservedServer) -> Result<Option<String>, Failure> {
    if let Some(reason) = observed.about.explain_empty_page() {
        return Err(Failure::new(FAILED, reason));
    }
    let is_active = observe::sampling::Sampling::query(observed)?.is_active();
    let off = tare_history::consumers_off_sql(is_active);
    let rows = match observed.rows(&off) {
        Ok(rows) => rows,
        // Without this privilege, sampling fails with a message.
        Err(QueryError::Refused(_)) => return Ok(None),
        Err(QueryError::Lost(why)) => return Err(Failure::new(FAILED, why)),
    };
    let names: Vec<_> = (rows.iter())
        .filter_map(|row| observe::text(row.first()?))
        .collect();
    Ok((!names.is_empty()).then(|| {
        let switch_on = tare_history::consumers_on_sql(&names);
        format!("samples are incomplete, because these consumers are off: {switch_on}")
    }))
}

/// The cost of sampling in a line.
fn cost(sampling: &Sampling, is_segment: bool) -> String {
    let each = sampling.took.as_secs_f64() / sampling.moments.max(1) as f64;
    let share = 100.0 * sampling.took.as_secs_f64() / sampling.within.as_secs_f64().max(1e-9);
    let who = match is_segment {
        true => "this process; the server does nothing for it",
        false => "the server, which answers them",
    };
    format!(
        "{} moments, {} samples; a moment took {:.0} us, together {share:.2} % of one processor of {who}",
        sampling.moments,
        sampling.samples,
        each * 1e6,
    )
}
