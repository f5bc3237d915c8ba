//! `tare diff`: what changed between two windows of a history, with intervals. docs/diff.md describes it.

mod blocking;
mod comparison;
mod locks;
mod plans;
mod recording;
mod report;
mod rows;
mod statement;
mod window;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use comparison::Comparison;
pub use recording::Place;
use recording::{Recording, find_server};
use report::Report;
pub use statement::{compare_statement, read_changes, select_server};
use tare_live::{DiffReport, DiffRequest};
pub use window::Start;
use window::{DAY_MS, Window};

use crate::exit::Failure;

/// Of a control day at least this part of the compared time must be recorded.
const MIN_COVERAGE: f64 = 0.9;

/// The most control days, unless --control says otherwise.
const CONTROL_DAYS: i64 = 7;

/// The statements of the text, unless --rows says otherwise.
const ROWS: usize = 10;

/// Compare two time windows of a recording: what changed, by how much, and what it costs
#[derive(clap::Args, Debug)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory that tare record has written
    #[arg(long, value_name = "DIR")]
    pub history: PathBuf,

    /// Compare it with this later one. Without --before and --after, all of both is compared
    #[arg(long, value_name = "DIR")]
    pub with: Option<PathBuf>,

    /// The earlier window: a time and a length, as '2026-11-22 14:03/30m' in UTC; 14:03/30m is the last 14:03,
    /// 2h/30m was 2 hours ago. Without a length it is an hour
    #[arg(long, value_name = "TIME/LENGTH", value_parser = Start::parse)]
    pub before: Option<Start>,

    /// The later window
    #[arg(long, value_name = "TIME/LENGTH", value_parser = Start::parse)]
    pub after: Option<Start>,

    /// Compare equal lengths before and after this time, at most the length, an hour by default
    #[arg(long, value_name = "TIME/LENGTH", value_parser = Start::parse, conflicts_with_all = ["before", "after", "with"])]
    pub deploy: Option<Start>,

    /// Only this host
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,

    /// Only this server
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// Subtract what changes between the same hours on up to so many days before; 0: do not
    #[arg(long, value_name = "DAYS", default_value_t = CONTROL_DAYS, value_parser = clap::value_parser!(i64).range(0..=90))]
    pub control: i64,

    /// How many statements, and how many locks, are printed as text
    #[arg(long, value_name = "N", default_value_t = ROWS)]
    pub rows: usize,

    /// How it is printed
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// The format of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for people: what changed
    Text,
    /// One object, with all statements
    Json,
}

const HELP: &str = "\
Examples:
  tare diff --history /var/lib/tare/history --deploy '2026-11-27 14:00'
  tare diff --history DIR --before '2026-11-27 10:00/1h' --after '2026-11-27 14:00/1h'
  tare diff --history yesterday --with today --format json

All intervals together hold with 95 %. Whatever is printed as a change has one that excludes zero.

Exit code: 1 when the windows cannot be compared; the message says why.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let report = compare(args)?;
    match args.format {
        Format::Text => println!("{}", report.text(args.rows)),
        Format::Json => println!("{:#}", report.json(usize::MAX, usize::MAX)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares the windows of the options.
pub fn compare(args: &Args) -> Result<Report, Failure> {
    let place = |directory: &PathBuf| Place {
        directory: directory.clone(),
        host: args.host.clone(),
        server: args.server.clone(),
    };
    let first = place(&args.history);
    let second = place(args.with.as_ref().unwrap_or(&args.history));
    let (before, after) = windows(args, &first, &second)?;
    let days = if args.with.is_some() { 0 } else { args.control };
    let comparison = compare_windows((&first, before), (&second, after), days)?;
    let (before, after) = (&comparison.before, &comparison.after);
    let damaged: BTreeSet<&String> = before.damaged.iter().chain(&after.damaged).collect();
    for line in damaged {
        eprintln!("tare: left out because it is damaged: {line}");
    }
    report(comparison, &[&first, &second])
}

/// Compares windows that the page of tare live names.
///
/// # Errors
/// Why they cannot be compared.
pub fn compare_for_page(directory: &Path, request: &DiffRequest) -> Result<DiffReport, String> {
    let place = Place {
        directory: directory.to_owned(),
        host: request.host.clone(),
        server: request.server.clone(),
    };
    let [before, after] = [&request.before, &request.after].map(|text| Start::parse(text));
    let (before, after) = (before?.window(), after?.window());
    if before.overlaps(after) {
        return Err("the windows overlap".to_owned());
    }
    let compared = compare_windows((&place, before), (&place, after), CONTROL_DAYS);
    let compared = compared.and_then(|comparison| {
        let report = report(comparison, &[&place])?;
        Ok(report.for_people(request.rows.unwrap_or(ROWS)))
    });
    compared.map_err(|failure| failure.message)
}

/// Reads and checks two windows, and the same hours of so many days before.
fn compare_windows(
    (first, before): (&Place, Window),
    (second, after): (&Place, Window),
    days: i64,
) -> Result<Comparison, Failure> {
    let comparison = Comparison {
        before: Recording::read(first, before)?,
        after: Recording::read(second, after)?,
        controls: controls(first, before, after, days),
    };
    comparison.check()?;
    Ok(comparison)
}

fn report(comparison: Comparison, histories: &[&Place]) -> Result<Report, Failure> {
    let mut texts = BTreeMap::new();
    for recording in [&comparison.before, &comparison.after] {
        texts.extend(recording.blocking.texts.clone());
    }
    for place in histories {
        texts.extend(recording::read_texts(place)?);
    }
    let (total, statements) = comparison.run();
    let [first, second] = [histories.first(), histories.last()];
    let plans = match (first, second) {
        (Some(first), Some(second)) => plans::read(
            (first, &comparison.before),
            (second, &comparison.after),
            None,
        )?,
        _ => plans::Plans::new(),
    };
    Ok(Report {
        plans,
        total,
        statements,
        blocking: comparison.compare_blocking(),
        texts,
        comparison,
    })
}

/// The windows of the options.
fn windows(args: &Args, first: &Place, second: &Place) -> Result<(Window, Window), Failure> {
    let wrong = |message: &str| Err(Failure::new(2, message));
    if let Some(deploy) = args.deploy {
        let near = Window {
            from: deploy.at.saturating_sub(deploy.length),
            to: deploy.at.saturating_add(deploy.length),
        };
        let (before, after) = deploy.around(recorded(first, near)?);
        return match before.from < before.to {
            true => Ok((before, after)),
            false => Err(recording::refuse(
                near,
                "nothing was recorded before or after the time of --deploy",
            )),
        };
    }
    let window = |start: Option<Start>, place| match start {
        Some(start) => Ok(start.window()),
        None => recorded(place, Window::ALL),
    };
    match (args.before, args.after, &args.with) {
        (None, _, None) | (_, None, None) => {
            wrong("give --before and --after, or --deploy, or another directory with --with")
        }
        (before, after, with) => {
            let (before, after) = (window(before, first)?, window(after, second)?);
            match with.is_none() && before.overlaps(after) {
                true => wrong("--before and --after overlap"),
                false => Ok((before, after)),
            }
        }
    }
}

/// From the first to the last time in a window that was recorded.
fn recorded(place: &Place, within: Window) -> Result<Window, Failure> {
    let (_, readings) = find_server(place, within, &mut Vec::new())?;
    Ok(readings.within(within))
}

/// Whether a change may be due to the hour of the day.
fn needs_control(before: Window, after: Window) -> bool {
    (after.from - before.from) % DAY_MS != 0
}

/// The same windows on days before, if most of them was recorded. The same hours of two days need none.
fn controls(
    place: &Place,
    before: Window,
    after: Window,
    days: i64,
) -> Vec<(Recording, Recording)> {
    if !needs_control(before, after) {
        return Vec::new();
    }
    let read = |window: Window| {
        let is_other = !window.overlaps(before) && !window.overlaps(after);
        let recording = is_other
            .then(|| Recording::read(place, window).ok())
            .flatten()?;
        (recording.seconds() >= MIN_COVERAGE * window.seconds()).then_some(recording)
    };
    let pair = |day| {
        Some((
            read(before.days_earlier(day))?,
            read(after.days_earlier(day))?,
        ))
    };
    (1..=days).filter_map(pair).collect()
}
