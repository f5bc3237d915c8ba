//! `tare explain`: computes the cost of a server's instrumentation, instrument by instrument.

mod benchmark;
mod calibrate;
mod database;
mod json;
mod report;
mod sample;
mod stock;
mod stored_run;
mod unit;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tare_layout::control::CONSUMERS;
use tare_reader::process;

use crate::exit::{FAILED, Failure};
use crate::observe::sampling::Sampling;
use crate::observe::{ObservedServer, Product, text};
use crate::output::Cell;
use crate::sql::Target;
use benchmark::Setup;
use calibrate::Host;
use report::Report;
use sample::Consumers;

/// Compute what instrumentation costs a running server, and what would save it
///
/// Counts the events of each instrument for an interval and multiplies them by the cost of one
/// event: its clock reads, as measured on this machine, and its counting. Prints the sum as CPU
/// time and as a share of the server's CPU, the ten instruments with the highest cost relative to
/// the time that they measure, and what counting instead of timing, another timer, or switching off
/// would save, each with its SQL. Changes nothing.
///
/// tare explain computes; tare weigh measures.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Instead of a running server: the directory of a run of `tare weigh explain`. Compares the predicted
    /// cost of its events with the measured one
    #[arg(long = "weighed", value_name = "DIR")]
    stored_run: Option<PathBuf>,

    /// Length of the interval in seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = crate::observe::parse_interval)]
    interval: Duration,

    /// How it is printed
    #[arg(
        long,
        value_enum,
        default_value = "text",
        conflicts_with = "stored_run"
    )]
    format: Format,
}

/// The format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Lines for people
    Text,
    /// One object
    Json,
}

const HELP: &str = "\
Examples:
  tare explain                                the one running program that uses Tare
  tare explain --pid 4711 -i 30 --format json
  tare explain --weighed weigh/explain-2026-11-22-224100
  MYSQL_PWD=$(cat secret) tare explain --dsn mysql://monitor@127.0.0.1:3306

On another machine than the server's, costs are in CPU seconds only, without the share. For Tare's
engine the cost of one event is measured here, in a second before the interval; for stock servers
it is a constant from docs/results.

Exit code: 1 when the server does not answer, 3 when there is no segment, or more than one to choose
from.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(directory) = &args.stored_run {
        let text = stored_run::compare(directory)?;
        let _ = std::io::stdout().write_all(text.as_bytes());
        return Ok(ExitCode::SUCCESS);
    }
    let report = measure(&args.target, args.interval)?;
    let text = match args.format {
        Format::Text => report.text(),
        Format::Json => format!("{:#}\n", report.json()),
    };
    // A closed pipe is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// Counts the events of an interval and computes what they cost.
pub fn measure(target: &Target, interval: Duration) -> Result<Report, Failure> {
    let mut observed = ObservedServer::open(target.clone())?;
    if let Some(reason) = observed.about.explain_empty_page() {
        return Err(Failure::new(FAILED, reason));
    }
    if !observed.about.was_live {
        return Err(Failure::new(
            FAILED,
            "the program has ended: tare.cost_by_event_name has what its instruments cost",
        ));
    }
    let setup = match observed.about.product {
        Product::Tare => Some(read_setup(&mut observed)?),
        _ => None,
    };
    let mut host = Host::measure(setup.as_ref());
    let process = observed.find_process()?;
    if process.is_err() {
        // The server runs elsewhere, so use its own figures about timers.
        host.read_ns = calibrate::read_ns(&observed.rows(calibrate::TIMERS)?);
    }
    let (timers, timers_change) = sample::read_timers(&mut observed)?;
    let cpu = |pid: &Result<u32, String>| match pid {
        Ok(pid) => process::cpu_seconds(*pid).ok_or_else(|| "its process has ended".to_owned()),
        Err(why) => Err(why.clone()),
    };
    let is_tare = observed.about.product == Product::Tare;
    let texts = |observed: &mut ObservedServer| match is_tare {
        true => sample::count_texts_read(observed),
        false => Ok(0.0),
    };
    let texts_before = texts(&mut observed)?;
    let questions_before = sample::read_questions(&mut observed)?;
    let before = sample::read_meters(&mut observed)?;
    let sampling = Sampling::query(&mut observed)?;
    let (began, cpu_before) = (Instant::now(), cpu(&process));
    std::thread::sleep(interval);
    let (seconds, cpu_after) = (began.elapsed().as_secs_f64(), cpu(&process));
    let after = sample::read_meters(&mut observed)?;
    let questions = sample::read_questions(&mut observed)?;
    let questions = (questions.zip(questions_before)).map(|(after, before)| after - before);
    let texts = texts(&mut observed)? - texts_before;
    let text_bytes = match is_tare {
        true => sample::mean_text_bytes(&mut observed)?,
        false => 0.0,
    };
    let mut meters = sample::growth(&before, &after);
    let statements = sample::statements(&meters, questions);
    // The benchmark of Tare's engine ran with the server's consumers.
    let consumers = match is_tare {
        true => Consumers::default(),
        false => Consumers::query(&mut observed)?,
    };
    sample::price(
        &mut meters,
        &observed.about,
        &host,
        &timers,
        statements,
        &consumers,
    );
    let source = match is_tare {
        true => host.units.summary(),
        false => stock::source(&observed.about),
    };
    Ok(Report {
        headline: format!("{} ({})", observed.about.name, observed.about.server()),
        seconds,
        cpu: cpu_before.and_then(|before| Ok(cpu_after? - before)),
        meters,
        questions,
        texts,
        texts_ns: host.units.texts_ns(texts, text_bytes),
        timers,
        timers_change,
        host,
        source,
        sampling: sampling.is_on().then(|| sampling.summary()),
        histories: consumers.histories().map(str::to_owned).collect(),
    })
}

/// Reads the consumers of the server's engine.
fn read_setup(observed: &mut ObservedServer) -> Result<Setup, Failure> {
    let rows = observed.rows("SELECT NAME, ENABLED FROM performance_schema.setup_consumers")?;
    let consumer = |row: &Vec<Cell>| {
        let name = text(row.first()?)?;
        // A server of another version may have other consumers.
        let exists_here = CONSUMERS.contains(&name.as_str());
        exists_here.then_some((name, text(row.get(1)?)? == "YES"))
    };
    Ok(Setup {
        consumers: rows.iter().filter_map(consumer).collect(),
    })
}
