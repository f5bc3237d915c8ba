//! `tare querystat`: prints throughput while it runs, and a report of latencies at the end.

mod clock;
mod follow;
mod histogram;
mod report;
mod switches;
mod totals;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{FAILED, Failure};
use crate::observe::{ObservedServer, Product, QueryError, format, sampling};
use crate::sql::Target;
use follow::EnabledConsumers;
use watch::Watch;

/// Print statements per second, then their latencies and what pre-empted them
///
/// Prints the number of statements in each interval until Ctrl-C. Then prints the mean latency, a
/// histogram in powers of two, query cache hits and misses (MariaDB), and the latencies of
/// statements whose thread was pre-empted against the others, with the commands that pre-empted
/// them.
///
/// On Tare's engine the figures cover every statement. On other servers they come from
/// events_statements_history_long, read before it wraps; missed statements are counted and
/// reported.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Length of the interval in seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "3", value_parser = crate::observe::parse_interval)]
    interval: Duration,

    /// Stop after this many seconds, as Ctrl-C does
    #[arg(long, value_name = "SECONDS", value_parser = crate::observe::parse_interval)]
    r#for: Option<Duration>,

    /// Enable the consumers of events_statements_history_long for this run, if they are off
    #[arg(long)]
    switch_on: bool,
}

const HELP: &str = "\
Examples:
  tare querystat                              the one running program that uses Tare
  tare querystat --dsn /run/mysqld/mysqld.sock --switch-on
  MYSQL_PWD=$(cat secret) tare querystat -i 1 --for 60 --dsn mysql://monitor@127.0.0.1:3306

Pre-emption can be observed on the server's own machine, by root or with the capability cap_perfmon
(or with kernel.perf_event_paranoid at 0 or below). The account needs SELECT on
performance_schema.*; --switch-on also needs UPDATE.

Exit code: 1 when the server does not answer or goes away, 3 when there is no segment, or more than
one to choose from.";

/// The shortest and the longest pause between reads of the history, which must neither be a load nor wrap.
const READ_PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    // Before anything is switched on, so that a signal only ends the loop.
    let stop = watch_signals()
        .map_err(|error| Failure::new(FAILED, format!("cannot watch for signals: {error}")))?;
    let mut observed = ObservedServer::open(args.target.clone())?;
    if let Some(reason) = observed.about.explain_empty_page() {
        return Err(Failure::new(FAILED, reason));
    }
    if !observed.about.was_live {
        return Err(Failure::new(
            FAILED,
            "the program has ended: there is no throughput to watch; tare top shows its totals",
        ));
    }
    let switched = if args.switch_on {
        Some(EnabledConsumers::switch_on(&mut observed)?)
    } else {
        None
    };
    let headline = format!("{} ({})", observed.about.name, observed.about.server());
    let mut watch = match Watch::start(observed) {
        Ok(watch) => watch,
        Err(error) => {
            // The watch has dropped the connection, so restore the consumers on another one.
            if let (Some(switched), Ok(mut again)) =
                (switched, ObservedServer::open(args.target.clone()))
            {
                let _ = switched.restore(&mut again);
            }
            return Err(error.into());
        }
    };
    print(&format!(
        "tare querystat  {headline}; Ctrl-C stops and prints a summary\n"
    ));
    let ended = run(args, &mut watch, &stop);
    if let Some(switched) = switched
        && let Err(error) = switched.restore(&mut watch.observed)
    {
        eprintln!("tare: the consumers of events_statements_history_long stay on: {error}");
    }
    let advice = advice(&watch);
    let mut report = watch.report();
    report.advice = advice;
    print(&report.text());
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// Prints intervals until the end.
fn run(args: &Args, watch: &mut Watch, stop: &Receiver<()>) -> Result<(), QueryError> {
    let began = Instant::now();
    let end = args.r#for.map(|length| began + length);
    let mut due = began + args.interval;
    let mut pause = READ_PAUSES.1;
    let mut read = began;
    loop {
        let now = Instant::now();
        let next = due.min(end.unwrap_or(due));
        let wait = next.saturating_duration_since(now);
        let wait = if watch.follows() {
            wait.min(READ_PAUSES.0)
        } else {
            wait
        };
        let stopped = !matches!(stop.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
        watch.read_switches();
        let now = Instant::now();
        let over = stopped || end.is_some_and(|end| now >= end);
        if now >= due || over {
            if !watch.observed.is_live()? {
                return Err(QueryError::Lost("the program has ended".into()));
            }
            let (sum, seconds) = watch.interval()?;
            let mean = if sum.count > 0 {
                format::time(sum.sum_ps / sum.count as f64)
            } else {
                "-".to_owned()
            };
            let rate = format::count(sum.count as f64 / seconds.max(1e-3));
            let is_open = print(&format!(
                "{}  {rate:>10} statements/s  mean {mean}\n",
                time_of_day()
            ));
            due = now + args.interval;
            if !is_open {
                return Ok(());
            }
        }
        if over || now >= read + pause {
            pause = if watch.follow()? {
                pause / 2
            } else {
                pause * 2
            }
            .clamp(READ_PAUSES.0, READ_PAUSES.1);
            read = now;
        }
        if over {
            return Ok(());
        }
    }
}

/// How to get more figures.
fn advice(watch: &Watch) -> Option<String> {
    if watch.follows() {
        return None;
    }
    let latencies = if watch.observed.about.product == Product::Tare {
        ""
    } else {
        "a histogram of latencies, "
    };
    let change = match watch.is_active {
        true => format!("end the level active: {}", sampling::COUNT_EVERY),
        false => "use --switch-on, or run \
             UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('events_statements_current', 'events_statements_history_long')"
            .to_owned(),
    };
    Some(format!(
        "For {latencies}hits and misses, and pre-emption, statements must be followed one by one: {change}"
    ))
}

/// Prints a text; false if the output is closed.
fn print(text: &str) -> bool {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .is_ok()
}

/// The time of day in UTC.
fn time_of_day() -> String {
    let seconds = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
        % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

fn watch_signals() -> io::Result<Receiver<()>> {
    let (sender, stop) = channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if sender.send(()).is_err() {
                return;
            }
        }
    });
    Ok(stop)
}
