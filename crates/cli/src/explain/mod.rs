//! `tare explain`: what instrumentation costs a server now, instrument by instrument, by arithmetic.

mod calibrate;
mod database;
mod rehearsal;
mod report;
mod sample;
mod stock;
mod unit;
mod weighed;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tare_client::process;
use tare_layout::control::CONSUMERS;

use crate::exit::{FAILED, Failure};
use crate::observe::sampling::Sampling;
use crate::observe::{ObservedServer, Product, text};
use crate::output::Cell;
use crate::sql::Target;
use calibrate::Host;
use rehearsal::Setup;
use report::Seen;
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

    /// Instead of a running server: the directory of a run of `tare weigh explain`. Predicts what its events cost,
    /// beside what it measured
    #[arg(long, value_name = "DIR")]
    weighed: Option<PathBuf>,

    /// Length of the interval in seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = crate::observe::parse_interval)]
    interval: Duration,
}

const HELP: &str = "\
Examples:
  tare explain                                the one running program that uses Tare
  tare explain --pid 4711 -i 30
  tare explain --weighed weigh/explain-2026-11-22-224100
  MYSQL_PWD=$(cat secret) tare explain --dsn mysql://monitor@127.0.0.1:3306

On another machine than the server's, costs are in CPU seconds only, without the share. For Tare's
engine the cost of one event is measured here, in a second before the interval; for stock servers
it is a constant from docs/results.

Exit code: 1 when the server does not answer, 3 when there is no segment, or more than one to choose
from.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(directory) = &args.weighed {
        let text = weighed::compare(directory)?;
        let _ = std::io::stdout().write_all(text.as_bytes());
        return Ok(ExitCode::SUCCESS);
    }
    let mut observed = ObservedServer::open(args.target.clone())?;
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
        Product::Tare => Some(setup(&mut observed)?),
        _ => None,
    };
    let mut host = Host::measure(setup.as_ref());
    let process = observed.find_process()?;
    if process.is_err() {
        // Elsewhere the server's own word on its timers is all there is.
        host.read_ns = calibrate::read_ns(&observed.rows(calibrate::TIMERS)?);
    }
    let (timers, timers_change) = sample::timers(&mut observed)?;
    let cpu = |pid: &Result<u32, String>| match pid {
        Ok(pid) => process::cpu_seconds(*pid).ok_or_else(|| "its process has ended".to_owned()),
        Err(why) => Err(why.clone()),
    };
    let is_tare = observed.about.product == Product::Tare;
    let texts = |observed: &mut ObservedServer| match is_tare {
        true => sample::texts_read(observed),
        false => Ok(0.0),
    };
    let texts_before = texts(&mut observed)?;
    let questions_before = sample::questions(&mut observed)?;
    let before = sample::take(&mut observed)?;
    let sampling = Sampling::query(&mut observed)?;
    let (began, cpu_before) = (Instant::now(), cpu(&process));
    std::thread::sleep(args.interval);
    let (seconds, cpu_after) = (began.elapsed().as_secs_f64(), cpu(&process));
    let after = sample::take(&mut observed)?;
    let questions = sample::questions(&mut observed)?;
    let questions = (questions.zip(questions_before)).map(|(after, before)| after - before);
    let texts = texts(&mut observed)? - texts_before;
    let text_bytes = match is_tare {
        true => sample::text_bytes(&mut observed)?,
        false => 0.0,
    };
    let mut meters = sample::between(&before, &after);
    let statements = sample::statements(&meters, questions);
    // What Tare's engine keeps was rehearsed with its consumers.
    let consumers = match is_tare {
        true => Consumers::default(),
        false => Consumers::ask(&mut observed)?,
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
    let seen = Seen {
        headline: format!("{} ({})", observed.about.name, observed.about.server()),
        seconds,
        cpu: cpu_before.and_then(|before| Ok(cpu_after? - before)),
        meters,
        questions,
        texts,
        texts_ns: host.units.texts(texts, text_bytes),
        timers,
        timers_change,
        host,
        source,
        sampling: sampling.is_on().then(|| sampling.summary()),
        histories: consumers.histories().map(str::to_owned).collect(),
    };
    // Nobody reading it is no failure of ours.
    let _ = std::io::stdout().write_all(seen.text().as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// How the server's engine is set.
fn setup(observed: &mut ObservedServer) -> Result<Setup, Failure> {
    let rows = observed.rows("SELECT NAME, ENABLED FROM performance_schema.setup_consumers")?;
    let consumer = |row: &Vec<Cell>| {
        let name = text(row.first()?)?;
        // A server of another version may have consumers that this one does not know.
        let is_known = CONSUMERS.contains(&name.as_str());
        is_known.then_some((name, text(row.get(1)?)? == "YES"))
    };
    Ok(Setup {
        consumers: rows.iter().filter_map(consumer).collect(),
    })
}
