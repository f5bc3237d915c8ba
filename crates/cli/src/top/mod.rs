//! `tare top`: what a server does now, on one screen.

mod batch;
mod draw;
mod drills;
mod errors;
mod executions;
mod idle;
mod keys;
mod own;
mod pages;
mod screen;
mod sheet;
mod snapshot;
mod source;
mod terminal;
#[cfg(test)]
mod tests;
mod view;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::PossibleValuesParser;

use crate::exit::{FAILED, Failure};
use crate::observe::Observed;
use crate::sql::Target;
use batch::Batch;
use pages::PAGES;
use sheet::Sheet;
use source::Sampler;
use view::Order;

/// Watch a server live: statements, waits, stages, files, tables, locks, threads, memory
///
/// A full-screen view of any performance_schema: of a program that uses Tare (the only one, or
/// --pid), of tare serve, of MySQL 5.6 and later, of MariaDB. Each line shows how long and how
/// often something happened in the last interval. Enter drills down: from a statement to the stages
/// and waits of its last executions, from a thread to its events, from a table to its indexes and
/// locks.
///
/// Each interval sends one query, for the page on the screen; nothing is sent while the display is
/// paused. What tare top causes itself is left out. Tables and locks that somebody waits for stand
/// first. When the server goes away, the screen says so and waits for it.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Length of the interval in seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "3", value_parser = crate::observe::interval)]
    interval: Duration,

    /// The first page
    #[arg(long, value_name = "PAGE", default_value = "statements", value_parser = PossibleValuesParser::new(PAGES.iter().map(|page| page.name)))]
    page: String,

    /// Print this many intervals as plain text instead of using the screen
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,

    /// With --batch: how rows are printed
    #[arg(long, value_enum, default_value = "text", requires = "batch")]
    format: Form,

    /// With --batch: sort rows by this
    #[arg(long, value_enum, default_value = "time", requires = "batch")]
    sort: Sort,

    /// With --batch: only rows that contain this text
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        requires = "batch"
    )]
    filter: String,

    /// With --batch: rows per interval
    #[arg(long, value_name = "N", default_value_t = 20, requires = "batch")]
    rows: usize,
}

/// What `--batch` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Columns, in units for people
    Text,
    /// One object for each interval, on a line of its own: picoseconds, bytes, counts per second
    Json,
}

/// What `--batch` sorts by.
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
  tare top --dsn /run/mysqld/mysqld.sock --batch 10 --format json

Press ? for the keys. The account needs SELECT on performance_schema.* and nothing else.

Exit code: 1 when the server does not answer, 3 when there is no segment, or more than one to choose
from.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let page = page(&args.page);
    if args.batch.is_none() && !std::io::stdout().is_terminal() {
        let message = "tare top needs a terminal; --batch N prints N intervals without one";
        return Err(Failure::new(FAILED, message));
    }
    let sampler = Sampler::new(Observed::open(args.target.clone())?);
    match args.batch {
        Some(count) => {
            let column = match args.sort {
                Sort::Time => page.by_time(),
                Sort::Count => page.by_count(),
            };
            let batch = Batch {
                page,
                count,
                every: args.interval,
                order: Order {
                    column,
                    descending: true,
                },
                filter: args.filter.clone(),
                rows: args.rows,
                is_json: args.format == Form::Json,
            };
            batch.run(sampler)?;
        }
        None => screen::run(sampler, page, args.interval)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn page(name: &str) -> &'static Sheet {
    PAGES
        .iter()
        .find(|page| page.name == name)
        .unwrap_or(&PAGES[0])
}
