//! `tare live`: displays what sessions do in a browser.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tare_history::Past;
use tare_live::{Compare, DiffRequest, Live, Watched};

use crate::diff;
use crate::exact::{self, ExactOptions};
use crate::exit::{FAILED, Failure};
use crate::metrics_source;
use crate::observe::ObservedServer;
use crate::option_values::{parse_duration, parse_rate};
use crate::processes;
use crate::record::{check_consumers, check_sampling};
use crate::sql::Target;

/// Show in a browser what a server's sessions do, now and before
///
/// Serves one page: average active sessions over time by what they wait for, the statements, waits,
/// users, hosts, schemas, files and tables behind them, who blocks whom, and what Tare costs. Click
/// to filter, drag to select time. For a program that uses Tare, or a server behind tare run, it reads
/// shared memory, and the server executes nothing. It queries any other server (--dsn) in SQL, one
/// statement for each moment. Of a program that does not use Tare (--pid) it displays the threads.
///
/// Open the printed address: it has a token, without which every request is refused. The page changes
/// nothing, but for exact windows with --allow-exact, and needs nothing from the network.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Address to serve on; port 0 takes a free one. Beyond this machine, whoever sees the traffic sees
    /// the token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9151")]
    listen: SocketAddr,

    /// Show what tare record has written here, too; only that if no server is named
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,

    /// How much of the history: 30m, 24h
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1h", requires = "history")]
    past: Duration,

    /// Only the history of this host
    #[arg(long, value_name = "NAME", requires = "history")]
    host_name: Option<String>,

    /// Only the history of this server
    #[arg(long, value_name = "NAME", requires = "history")]
    server: Option<String>,

    /// Samples per second [default: 10; with --dsn 1]
    #[arg(long, value_name = "N", value_parser = parse_rate)]
    rate: Option<f64>,

    /// Give the page a button that counts every event for ten seconds, for a program at the level active.
    /// Whoever has the token can press it
    #[arg(long, help_heading = "Exact windows")]
    allow_exact: bool,

    #[command(flatten)]
    exact: ExactOptions,
}

const HELP: &str = "\
Examples:
  tare live
  tare live --pid 4711
  tare live --dsn /run/mysqld/mysqld.sock --listen 127.0.0.1:0
  tare live --history /var/lib/tare/history --past 24h --host-name db1
  tare live --pid 4711 --exact-when 'active_sessions > 2 * cpus for 5s' --exact-for 10s --budget 1%

SIGTERM and SIGINT end it. From another machine: ssh -L 9151:127.0.0.1:9151 HOST";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(FAILED, error);
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|error| failed(&error))?;
    let mut live = Live::new();
    if let Some(directory) = &args.history {
        read_history(args, directory.clone(), &live)?;
        live = live.with_comparisons(comparisons(args, directory.clone()));
    }
    let is_named = args.target.is_named();
    let target = match args.history.is_none() || is_named {
        true => {
            // Report problems here, and not in the page.
            for line in check(args)? {
                eprintln!("tare: {line}");
            }
            let usual = if args.target.is_segment() { 10.0 } else { 1.0 };
            Some(Watched {
                open: metrics_source::reopening(args.target.clone(), Some(args.exact.clone())),
                rate: args.rate.unwrap_or(usual),
                may_open_windows: args.allow_exact,
                log: Box::new(|line| eprintln!("tare: {line}")),
            })
        }
        false => {
            exact::check_none(window_option(args))?;
            None
        }
    };
    let listen = args.listen;
    let running = live.start(listen, target).map_err(|error| {
        let advice = "give another address with --listen";
        Failure::new(
            FAILED,
            format!("cannot listen on {listen}: {error}; {advice}"),
        )
    })?;
    println!("Open {}", running.url);
    signals.forever().next();
    running.stop();
    Ok(ExitCode::SUCCESS)
}

/// The option that needs exact windows, if one was given.
fn window_option(args: &Args) -> Option<&'static str> {
    args.exact
        .option()
        .or(args.allow_exact.then_some("--allow-exact"))
}

/// Checks that the target can be sampled, and that it can have exact windows if an option needs them. Returns
/// remarks.
fn check(args: &Args) -> Result<Vec<String>, Failure> {
    let (target, option) = (&args.target, window_option(args));
    exact::check_segment(option, target)?;
    if let Some(source) = metrics_source::process_source(target)? {
        exact::check_none(option)?;
        return Ok(vec![processes::describe(source.tree())]);
    }
    let mut observed = ObservedServer::open(target.clone())?;
    let mut source = metrics_source::source(target, None)?;
    check_sampling(&mut *source)?;
    let mut remarks: Vec<String> = check_consumers(&mut observed)?.into_iter().collect();
    if let (Some(_), Some(segment)) = (option, source.attached()) {
        segment.writable().map_err(|why| exact::cannot_open(&why))?;
        args.exact.windows(target, &*source)?;
        remarks.extend(exact::warning(segment));
    }
    Ok(remarks)
}

/// Compares windows of the history of the host and the server that are selected.
fn comparisons(args: &Args, directory: PathBuf) -> Compare {
    let (host, server) = (args.host_name.clone(), args.server.clone());
    Box::new(move |request| {
        let request = DiffRequest {
            host: host.clone().or_else(|| request.host.clone()),
            server: server.clone().or_else(|| request.server.clone()),
            ..request.clone()
        };
        diff::compare_for_page(&directory, &request)
    })
}

/// Reads the end of a history.
fn read_history(args: &Args, directory: PathBuf, live: &Live) -> Result<(), Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis() as i64;
    let past = Past {
        from: now - args.past.as_millis() as i64,
        to: now,
        host: args.host_name.clone(),
        server: args.server.clone(),
        directory,
    };
    let rows = live
        .past(&past)
        .map_err(|error| Failure::new(FAILED, format!("the history cannot be read: {error}")))?;
    let directory = past.directory.display();
    match rows {
        0 => eprintln!(
            "tare: {directory} has no samples of this time; --past 24h includes older ones"
        ),
        rows => eprintln!("tare: {rows} samples of {directory}"),
    }
    Ok(())
}
