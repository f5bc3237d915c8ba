//! `tare top`: displays what a server does now, on one screen.

mod average;
mod batch;
mod blockers;
mod changes;
mod draw;
mod drills;
mod errors;
mod executions;
mod grid;
mod idle;
#[cfg(test)]
mod input_tests;
mod keys;
mod kill;
mod last_statements;
mod load;
mod mouse;
mod own;
mod pages;
mod plan;
mod poller;
mod prepared;
mod process_pages;
mod processes;
pub mod reading;
mod recording;
pub mod replay;
mod schema;
mod screen;
#[cfg(test)]
mod screens;
mod sheet;
mod snapshot;
mod source;
mod sparks;
mod states;
mod status_pages;
mod terminal;
#[cfg(test)]
mod tests;
mod theme;
mod transactions;
mod view;
mod window_key;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use signal_hook::low_level::emulate_default_handler;
use tare_reader::ProcessTree;

use crate::config;
use crate::diff;
use crate::exit::{FAILED, Failure};
use crate::observe::ObservedServer;
use crate::sql::Target;
use batch::Batch;
use changes::ComparedHistory;
use pages::PAGES;
use process_pages::PROCESS_PAGES;
use processes::ProcessSampler;
use screen::Server;
use sheet::Sheet;
use source::{Others, Sampler, Source};
use theme::Theme;
use view::Order;

/// Watch a server live: statements, waits, stages, files, tables, locks, threads, memory
///
/// A full-screen view of any performance_schema: of a program that uses Tare (the only one, or
/// --pid), of tare serve, of MySQL 5.6 and later, of MariaDB. Each line shows how long and how
/// often something happened in the last interval. Enter drills down: from a statement to the stages
/// and waits of its last executions, from a thread to its events, from a table to its indexes and
/// locks.
///
/// Each interval sends one query for the page on the screen and one for the bars above it, which
/// show the last minutes; nothing is sent while the display is paused. Its own load is left
/// out. Blocked sessions come first, with their blockers; K and X kill a statement or a session,
/// after confirmation. When the server goes away, the screen says so and waits for it.
///
/// --history displays a history instead of a server; if a server is named, a statement's page has what changed
/// since the history. --pid of a program that does not use Tare displays
/// its threads and the processes below it, from /proc (docs/processes.md).
///
/// Several servers have a tab each. Servers may have names: ~/.config/tare/config.toml.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    /// Servers to watch: names in ~/.config/tare/config.toml, addresses or sockets, as --dsn takes them
    #[arg(value_name = "SERVER", conflicts_with_all = ["dsn", "host", "port", "socket", "defaults_file", "pid", "segment"])]
    servers: Vec<String>,

    #[command(flatten)]
    target: Target,

    #[command(flatten)]
    replay: replay::ReplayOptions,

    /// Length of the interval in seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "3", value_parser = crate::observe::parse_interval)]
    interval: Duration,

    /// The first page [default: statements; threads of a program that does not use Tare]
    #[arg(long, value_name = "PAGE", value_parser = PossibleValuesParser::new(page_names()))]
    page: Option<String>,

    /// Print this many intervals as plain text instead of using the screen
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,

    /// How intervals are printed, without end unless --batch says how many; needs no terminal
    #[arg(long, value_enum)]
    format: Option<PrintFormat>,

    /// Also record the server into this directory, as tare record does
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// Printed: sort rows by this
    #[arg(long, value_enum, default_value = "time")]
    sort: Sort,

    /// Printed: only rows that contain this text
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    filter: String,

    /// Printed: rows per interval
    #[arg(long, value_name = "N", default_value_t = 20)]
    rows: usize,
}

/// The format of printed intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PrintFormat {
    /// Columns, in units for people
    Text,
    /// One object for each interval, on a line of its own: picoseconds, bytes, counts per second
    Json,
}

/// The sort order of printed rows.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Sort {
    /// Time (memory: bytes)
    Time,
    /// Count
    Count,
}

const HELP: &str = "\
Examples:
  tare top                                  the one running program that uses Tare
  tare top --pid 4711 --page waits
  MYSQL_PWD=$(cat secret) tare top --dsn mysql://monitor@db1:3306
  tare top --dsn /run/mysqld/mysqld.sock --batch 1 --page files
  tare top --dsn /run/mysqld/mysqld.sock --format json
  tare top prod1 prod2                      servers that config.toml names, a tab each
  tare top prod1 --record history           what was seen stays, as tare record keeps it
  tare top --history history --at 14:03     what was recorded, from 14:03 UTC on
  tare top prod1 --history history          Enter on a statement: what changed since the hour before

Press ? for the keys. The account needs SELECT on performance_schema.*. To kill, it needs what KILL
needs; with PROCESS it sees who holds row locks on MariaDB and MySQL 5.7, and open transactions, and with
REPLICATION CLIENT (MariaDB: REPLICA MONITOR) replication.

Exit code: 1 when the server does not answer, 3 when there is no segment, or more than one to choose
from.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let pages = match args.servers.is_empty() && args.target.process_without_segment().is_some() {
        true => &PROCESS_PAGES[..],
        false => PAGES,
    };
    let page = find_page(args.page.as_deref(), pages)?;
    let is_printed = args.batch.is_some() || args.format.is_some();
    if !is_printed && !std::io::stdout().is_terminal() {
        let message = "tare top needs a terminal; --batch N prints N intervals without one";
        return Err(Failure::new(FAILED, message));
    }
    let thresholds = config::read()?.top;
    let theme = Theme::new(thresholds, |name| std::env::var(name).ok());
    let is_host_of_history = matches!(args.target.history_host(), Ok(Some(_)));
    let is_watched = !args.servers.is_empty()
        || args.target.is_process()
        || args.target.is_named() && !is_host_of_history;
    if args.replay.is_given() && !is_watched {
        replay(args, page, theme, is_printed)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.replay.is_given() && (is_printed || args.replay.has_time()) {
        let message =
            "a server or a history: --at, --batch and --format with --history need no server";
        return Err(Failure::new(2, message));
    }
    let targets: Vec<(String, Target)> = match &args.servers[..] {
        [] => vec![(args.target.name(), args.target.clone())],
        servers => (servers.iter())
            .map(|server| (name(server, args), args.target.with_server(server)))
            .collect(),
    };
    match (is_printed, &targets[..]) {
        (true, [(_, target)]) => print(args, page, target)?,
        (true, _) => {
            let message = "--batch and --format print one server: name one";
            return Err(Failure::new(2, message));
        }
        (false, _) => watch(args, page, theme, targets)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The name of a server: in config.toml, or else its address without a password.
fn name(server: &str, args: &Args) -> String {
    match config::is_name(server) {
        true => server.to_owned(),
        false => args.target.with_server(server).name(),
    }
}

/// Prints intervals.
fn print(args: &Args, page: &'static Sheet, target: &Target) -> Result<(), Failure> {
    let others = Others::default();
    let sampler = connect(target, &others, true)?;
    let _recordings = {
        let mut recordings = recording::Recordings::default();
        if let Some(directory) = &args.record {
            let recording = recording::Recording {
                target: target.clone(),
                server: config_names(args).next(),
                directory: directory.clone(),
                others,
            };
            recordings.start(recording, |text| eprintln!("tare: {text}"));
            Some(recordings.guard()?)
        } else {
            None
        }
    };
    batch(args, page).run(sampler)
}

/// The options of batch mode.
fn batch(args: &Args, page: &'static Sheet) -> Batch {
    let column = match args.sort {
        Sort::Time => page.by_time(),
        Sort::Count => page.by_count(),
    };
    Batch {
        page,
        count: args.batch,
        every: args.interval,
        order: Order {
            column,
            descending: true,
        },
        filter: args.filter.clone(),
        rows: args.rows,
        is_json: args.format == Some(PrintFormat::Json),
    }
}

/// Connects to a server.
fn connect(target: &Target, others: &Others, is_printed: bool) -> Result<Source, Failure> {
    if let Some(pid) = target.process_without_segment() {
        let tree = ProcessTree::new(pid).map_err(crate::processes::failure)?;
        if is_printed {
            eprintln!("tare: {}", crate::processes::describe(&tree));
        }
        let sampler = ProcessSampler::new(tree, !is_printed);
        return Ok(Source::Processes(Box::new(sampler)));
    }
    let observed = ObservedServer::open(target.clone())?;
    Ok(Source::Live(Box::new(Sampler::new(
        observed,
        Others::clone(others),
    ))))
}

/// Displays or prints a history.
fn replay(
    args: &Args,
    page: &'static Sheet,
    theme: Theme,
    is_printed: bool,
) -> Result<(), Failure> {
    let host = args.target.history_host()?;
    let replay = args.replay.open(host, args.interval)?;
    let history = ComparedHistory::new(replay.place(), String::new());
    let source = Source::Past(Box::new(replay));
    if is_printed {
        return batch(args, page).run(source);
    }
    let server = Server {
        name: source.headline(),
        target: None,
        open: Box::new(|| Err("a history is there already".into())),
        sampler: Some(source),
        record: None,
        history: Some(history),
    };
    emulate_signal(screen::run(vec![server], page, args.interval, theme)?)
}

/// The servers of the command line that are names in config.toml.
fn config_names(args: &Args) -> impl Iterator<Item = String> {
    let names = args.servers.iter().filter(|name| config::is_name(name));
    names.cloned()
}

/// Displays servers.
fn watch(
    args: &Args,
    page: &'static Sheet,
    theme: Theme,
    targets: Vec<(String, Target)>,
) -> Result<(), Failure> {
    let recordings = std::rc::Rc::new(std::cell::RefCell::new(recording::Recordings::default()));
    let is_only = targets.len() == 1;
    let mut servers = Vec::new();
    for (name, target) in targets {
        // Prompt for a password and report a wrong address before the screen is used.
        target.server()?;
        let others = Others::default();
        let opened = {
            let (target, others) = (target.clone(), Others::clone(&others));
            move || connect(&target, &others, false)
        };
        // One of several servers may be unreachable at first.
        let sampler = if is_only { Some(opened()?) } else { None };
        let record = args.record.clone().map(|directory| {
            let recording = recording::Recording {
                server: config::is_name(&name).then(|| name.clone()),
                target: target.clone(),
                directory,
                others,
            };
            let recordings = std::rc::Rc::clone(&recordings);
            Box::new(move |reporter: screen::Reporter| {
                recordings.borrow_mut().start(recording, reporter);
            }) as Box<dyn FnOnce(screen::Reporter)>
        });
        let history = compared_history(args, &name);
        servers.push(Server {
            history,
            name,
            target: Some(target),
            open: Box::new(move || opened().map_err(|failure| failure.message)),
            sampler,
            record,
        });
    }
    let signal = screen::run(servers, page, args.interval, theme)?;
    // Complete the files of recordings first.
    drop(recordings);
    emulate_signal(signal)
}

/// The history of a server on the screen: that of --history, or what --record writes.
fn compared_history(args: &Args, name: &str) -> Option<ComparedHistory> {
    let recorded = || {
        let uname = rustix::system::uname();
        Some(diff::Place {
            directory: args.record.clone()?,
            host: Some(uname.nodename().to_string_lossy().into_owned()),
            server: None,
        })
    };
    let place = args.replay.place().or_else(recorded)?;
    Some(ComparedHistory::new(place, name.to_owned()))
}

fn emulate_signal(signal: Option<i32>) -> Result<(), Failure> {
    match signal {
        None => Ok(()),
        // The parent has to see the signal that ended this process.
        Some(signal) => {
            emulate_default_handler(signal).map_err(|error| Failure::new(FAILED, error))
        }
    }
}

/// The names of all pages.
fn page_names() -> Vec<&'static str> {
    let mut names: Vec<_> = PAGES
        .iter()
        .chain(&PROCESS_PAGES)
        .map(|page| page.name)
        .collect();
    // Both kinds of pages have threads.
    let mut before = std::collections::HashSet::new();
    names.retain(|name| before.insert(*name));
    names
}

/// The page of a name among those that the target has; by default the first.
fn find_page(name: Option<&str>, pages: &'static [Sheet]) -> Result<&'static Sheet, Failure> {
    let Some(name) = name else {
        return Ok(&pages[0]);
    };
    let page = pages.iter().find(|page| page.name == name);
    page.ok_or_else(|| {
        let names: Vec<_> = pages.iter().map(|page| page.name).collect();
        let message = format!("there is no page {name} here, but {}", names.join(", "));
        Failure::new(2, message)
    })
}
