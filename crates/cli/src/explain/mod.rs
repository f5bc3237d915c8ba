//! `tare explain`: what instrumentation costs a server now, instrument by instrument, by arithmetic.

mod calibrate;
mod report;
mod sample;
mod stock;

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::exit::{FAILED, Failure};
use crate::observe::{Kind, Observed, text};
use crate::sql::Target;
use calibrate::Host;
use report::Seen;

/// Explain what instrumentation costs a running server, and what would save it
///
/// Counts for an interval the events of each instrument, and multiplies them by what one costs: its clock reads by
/// what a read of the timer was measured to cost here, and its counting. Says that as CPU and as a share of the
/// server's CPU, lists the ten instruments that cost most for what they tell, and what would be saved by counting
/// instead of timing, by another timer, by switching off, each with the SQL that does it. Nothing is changed.
///
/// tare weigh measures what this computes.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Length of the interval in seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = crate::observe::interval)]
    interval: Duration,
}

const HELP: &str = "\
Examples:
  tare explain                                the one running program that uses Tare
  tare explain --pid 4711 -i 30
  MYSQL_PWD=$(cat secret) tare explain --dsn mysql://monitor@127.0.0.1:3306

The server's CPU is read on its own machine; elsewhere costs are told in CPU seconds alone. Costs of one event: on
Tare's engine measured here, in a second before the interval; of stock servers constants, which docs/results has.

Exit code: 1 when the server cannot be asked, 3 when there is no segment to look at, or more than one.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let mut observed = Observed::open(args.target.clone())?;
    if let Some(reason) = observed.about.silent() {
        return Err(Failure::new(FAILED, reason));
    }
    if !observed.about.was_live {
        return Err(Failure::new(
            FAILED,
            "the program has ended: tare.cost_by_event_name has what its instruments cost",
        ));
    }
    let mut host = Host::measure();
    let process = observed.process()?;
    if process.is_err() {
        // Elsewhere the server's own word on its timers is all there is.
        let rows = observed.rows("SELECT TIMER_NAME, TIMER_FREQUENCY, TIMER_OVERHEAD FROM performance_schema.performance_timers")?;
        host.read_ns = calibrate::read_ns(&rows);
    }
    let (timers, timers_change) = sample::timers(&mut observed)?;
    let cpu = |pid: &Result<u32, String>| match pid {
        Ok(pid) => tare_lab::proc::cpu(*pid)
            .map(|cpu| cpu.seconds)
            .ok_or_else(|| "its process has ended".to_owned()),
        Err(why) => Err(why.clone()),
    };
    let before = sample::take(&mut observed, &host, &timers)?;
    let (began, cpu_before) = (Instant::now(), cpu(&process));
    std::thread::sleep(args.interval);
    let (seconds, cpu_after) = (began.elapsed().as_secs_f64(), cpu(&process));
    let after = sample::take(&mut observed, &host, &timers)?;
    let histories = observed.rows(
        "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' AND NAME LIKE 'events%history%'",
    )?;
    let source = match (observed.about.kind, host.factors) {
        (Kind::Tare, Some(factors)) => format!(
            "An event beside its clock reads, measured here by documented: waits {:.2}, free locks {:.2}, stages {:.2}, statements {:.2}.",
            factors.wait, factors.lock, factors.stage, factors.statement
        ),
        (Kind::Tare, None) => {
            "Unit costs beside the clock: as documented (docs/results/2026-11-21-engine.json)."
                .to_owned()
        }
        _ => stock::source(&observed.about),
    };
    let seen = Seen {
        headline: format!("{} ({})", observed.about.name, observed.about.server()),
        seconds,
        cpu: cpu_before.and_then(|before| Ok(cpu_after? - before)),
        meters: sample::between(&before, &after),
        timers,
        timers_change,
        host,
        source,
        histories: histories
            .iter()
            .filter_map(|row| text(row.first()?))
            .collect(),
    };
    // Nobody reading it is no failure of ours.
    let _ = std::io::stdout().write_all(seen.text().as_bytes());
    Ok(ExitCode::SUCCESS)
}
