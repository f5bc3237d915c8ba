//! `tare live`: displays what sessions do in a browser.

mod past;
mod targets;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tare_live::{Live, LiveServer, Watched};

use crate::exact::{self, ExactOptions};
use crate::exit::{FAILED, Failure};
use crate::metrics_source;
use crate::observe::ObservedServer;
use crate::option_values::{parse_duration, parse_rate};
use crate::processes;
use crate::record::{check_consumers, check_sampling};
use targets::{NamedTarget, Targets};

/// Show in a browser what servers' sessions do, now and before
///
/// Serves one page: average active sessions over time by what they wait for, the statements, waits,
/// users, hosts, schemas, files and tables behind them, who blocks whom, and what Tare costs. Click
/// to filter, drag to select time. For a program that uses Tare, or a server behind tare run, it reads
/// shared memory, and the server executes nothing. It queries any other server (--dsn) in SQL, one
/// statement for each moment. Of a program that does not use Tare (--pid) it displays the threads.
///
/// SERVER, --dsn and --pid may be repeated, and a history may have several servers. A row at the top then has
/// each server with its active sessions, whether one is blocked, and whether it answers. A click selects it.
///
/// Open the printed address: it has a token, without which every request is refused. The page changes
/// nothing, but for exact windows with --allow-exact, and needs nothing from the network.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    targets: Targets,

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

    /// Samples of each server per second [default: 10; with --dsn 1]
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
  tare live prod1 prod2                     servers that config.toml names, on one page
  tare live --pid 4711 --dsn mysql://monitor@db2:3306
  tare live --history /var/lib/tare/history --past 24h --host-name db1
  tare live --pid 4711 --exact-when 'active_sessions > 2 * cpus for 5s' --exact-for 10s --budget 1%

SIGTERM and SIGINT end it. From another machine: ssh -L 9151:127.0.0.1:9151 HOST";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(FAILED, error);
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|error| failed(&error))?;
    let past = match &args.history {
        Some(directory) => past::read(args, directory)?,
        None => Vec::new(),
    };
    let mut servers = match args.history.is_none() || args.targets.is_named() {
        true => targets(args)?,
        false => {
            exact::check_none(window_option(args))?;
            Vec::new()
        }
    };
    past::add(&mut servers, past);
    if servers.is_empty() {
        servers.push(LiveServer::new("history".to_owned()));
    }
    let mut live = Live::new(servers);
    if let Some(directory) = &args.history {
        live = live.with_comparisons(
            past::comparisons(args, directory.clone()),
            past::statement_comparisons(args, directory.clone()),
        );
    }
    let listen = args.listen;
    let running = live.start(listen).map_err(|error| {
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

/// The servers of the command line.
fn targets(args: &Args) -> Result<Vec<LiveServer>, Failure> {
    let all = args.targets.all()?;
    // Exact windows need shared memory, which one of several targets may have.
    let has_segment = all.iter().any(|named| named.target.is_segment());
    if let (false, Some(first)) = (has_segment, all.first()) {
        exact::check_segment(window_option(args), &first.target)?;
    }
    let is_only = all.len() == 1;
    for named in all.iter().filter(|_| !is_only) {
        // Prompt for a password and report a wrong address before others are waited for.
        named.target.server()?;
    }
    // Report problems here, and not in the page.
    let checks = thread::scope(|scope| {
        let running: Vec<_> = (all.iter())
            .map(|named| scope.spawn(|| check(args, named, is_only)))
            .collect();
        let results = running.into_iter().map(|one| one.join());
        results.collect::<Result<Vec<_>, _>>()
    });
    let checks = checks.map_err(|_| Failure::new(FAILED, "a check of a target has failed"))?;
    let mut servers = Vec::new();
    for (named, remarks) in all.iter().zip(checks) {
        for line in remarks? {
            eprintln!("tare: {line}");
        }
        servers.push(server(args, named, is_only));
    }
    Ok(servers)
}

/// A server that is sampled.
fn server(args: &Args, named: &NamedTarget, is_only: bool) -> LiveServer {
    let target = &named.target;
    let usual = if target.is_segment() { 10.0 } else { 1.0 };
    let prefix = if is_only {
        String::new()
    } else {
        format!("{}: ", named.title())
    };
    let watched = Watched {
        open: metrics_source::reopening(
            target.clone(),
            target.is_segment().then(|| args.exact.clone()),
        ),
        rate: args.rate.unwrap_or(usual),
        may_open_windows: args.allow_exact && target.is_segment(),
        log: Box::new(move |line| eprintln!("tare: {prefix}{line}")),
    };
    let server = match &named.name {
        Some(name) => LiveServer::named(name.clone(), target.name()),
        None => LiveServer::new(target.name()),
    };
    server.with_target(watched)
}

/// Checks that a target can be sampled, and that it can have exact windows if an option needs them. Returns
/// remarks. One of several servers may be unreachable at first.
fn check(args: &Args, named: &NamedTarget, is_only: bool) -> Result<Vec<String>, Failure> {
    let target = &named.target;
    let option = window_option(args).filter(|_| target.is_segment());
    if let Some(source) = metrics_source::process_source(target)? {
        if is_only {
            exact::check_none(option)?;
        }
        return Ok(vec![processes::describe(source.tree())]);
    }
    let opened = ObservedServer::open(target.clone());
    let mut observed = match opened {
        Err(failure) if !is_only && !target.is_segment() => {
            let (title, why) = (named.title(), failure.message);
            return Ok(vec![format!("{title} does not answer: {why}")]);
        }
        opened => opened?,
    };
    let mut source = metrics_source::source(target, None)?;
    check_sampling(&mut *source)?;
    let mut remarks: Vec<String> = check_consumers(&mut observed)?.into_iter().collect();
    if let (Some(_), Some(segment)) = (option, source.attached()) {
        segment.writable().map_err(|why| exact::cannot_open(&why))?;
        args.exact.windows(target, &*source)?;
        remarks.extend(exact::warning(segment));
    }
    if !is_only {
        let title = named.title();
        remarks = remarks
            .iter()
            .map(|line| format!("{title}: {line}"))
            .collect();
    }
    Ok(remarks)
}
