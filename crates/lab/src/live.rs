//! Recipe own with --dsn: a running server under its own load. Its instruments are switched in windows
//! in random order; the windows are the cells of a matrix.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tare_client::{Dsn, process};

use crate::cell::{self, Latency, Measurement, Outcome, Switches};
use crate::connection::Connection;
use crate::error::CellError;
use crate::events;
use crate::interrupt::Interrupt;
use crate::load::output::percentile;
use crate::proc;
use crate::progress::Progress;
use crate::recipe::{Configuration, Data, Kind, Load, Measure, Recipe, Run, Server, Workload};
use crate::restore::SavedSettings;
use crate::run::RunSummary;
use crate::store::{Plan, Store};

/// Options of the windows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Live {
    /// The run ends when the latency of a window exceeds that of the first window by this factor.
    pub stop_above: f64,
    /// The statement whose latency is measured.
    pub probe: String,
}

/// Below this latency a probe is never too slow: a busy machine's scheduler can delay one thread so long.
const LEAST_LIMIT_MS: f64 = 20.0;

/// The time between a switch and its window, in which earlier statements end.
const SETTLE_TIME: Duration = Duration::from_millis(300);

/// How often the probe is sent.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);

/// How often the number of running statements is read: it costs the server more than a probe.
const STATUS_INTERVAL: Duration = Duration::from_millis(200);

/// The recipe of such a run.
pub fn recipe(dsn: &Dsn, window: u32, repetitions: u32) -> Recipe {
    let update = |what: &str| format!("UPDATE performance_schema.{what}");
    let configuration = |name: &str, sql: Vec<String>| Configuration {
        name: name.into(),
        sql,
        ..Configuration::default()
    };
    Recipe {
        question: format!("What does instrumentation cost on {}, under its own load?", dsn),
        about: "A transaction is a statement of any client. The mean latency is that of all statements, by Little's law \
                (statements that run at a time / statements a second); 95 and 99 % are those of a probe statement."
            .into(),
        reference: None,
        baseline: Some("off".into()),
        relative_to: None,
        per_event: false,
        answers: None,
        next: String::new(),
        questions: Vec::new(),
        show_events: Vec::new(),
        measure: Measure::ServerCpu,
        connections: vec![1],
        run: Run {
            repetitions,
            seconds: window,
            warm_up: 0,
            restart: false,
            ..Run::default()
        },
        data: Data::default(),
        quick: crate::recipe::Quick::default(),
        servers: vec![Server {
            name: dsn.to_string(),
            kind: Kind::Dsn,
            version: None,
            program: None,
            dsn: Some(dsn.to_string()),
            command: Vec::new(),
            options: Vec::new(),
            sql: Vec::new(),
        }],
        configurations: vec![
            configuration(AS_IT_IS, Vec::new()),
            configuration("off", vec![update("setup_instruments SET ENABLED = 'NO', TIMED = 'NO'")]),
            configuration(
                "on and timed",
                vec![
                    update("setup_instruments SET ENABLED = 'YES', TIMED = 'YES'"),
                    update(
                        "setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('global_instrumentation', \
                         'thread_instrumentation')",
                    ),
                ],
            ),
        ],
        workloads: vec![Workload {
            name: "its own load".into(),
            load: Load::Command,
            command: vec!["(runs already)".into()],
            ..Workload::default()
        }],
    }
}

const AS_IT_IS: &str = "as it is";

/// Runs the windows that have no result yet. The settings are always restored.
///
/// # Errors
/// The server does not answer, or its settings cannot be saved; nothing was changed then.
pub fn run(
    plan: &Plan,
    live: &Live,
    store: &mut Store,
    results: &mut Vec<cell::Result>,
    dsn: &Dsn,
    interrupt: &Interrupt,
) -> Result<RunSummary, String> {
    let mut connection = Connection::connect_with_tls(&dsn.address)?;
    events::exclude_own_connection(&mut connection);
    let pid = process::find(&dsn.address, || connection.value("SELECT @@pid_file"));
    let saved = SavedSettings::read(dsn, &mut connection)?;
    results.retain(|result| result.outcome.measured().is_some());
    let done: Vec<u32> = results.iter().map(|result| result.cell.number).collect();
    let mut progress = Progress::new(plan.cells.len(), done.len());
    let mut finished = RunSummary::default();
    let mut first = None;
    for cell in plan
        .cells
        .iter()
        .filter(|cell| !done.contains(&cell.number))
    {
        progress.set_message(&cell.key.label());
        let configuration = plan
            .recipe
            .servers
            .first()
            .and_then(|server| plan.recipe.configuration(server, &cell.key.configuration));
        let sql = configuration
            .map(|each| each.sql.as_slice())
            .unwrap_or_default();
        let mut one = || -> Result<Measurement, CellError> {
            saved.apply(&mut connection).map_err(CellError::failed)?;
            for statement in sql {
                connection.query(statement).map_err(CellError::failed)?;
            }
            measure_window(
                &mut connection,
                pid,
                plan.recipe.run.seconds,
                &live.probe,
                interrupt,
            )
        };
        let outcome = match one() {
            Ok(measured) => Outcome::Done(Box::new(measured)),
            Err(CellError::Interrupted) => break,
            Err(error) => {
                finished.failed += 1;
                // The connection itself may have failed.
                connection =
                    Connection::connect_with_tls(&dsn.address).unwrap_or(Connection::Absent);
                Outcome::Failed {
                    reason: error.to_string(),
                }
            }
        };
        progress.cell(cell, &outcome);
        let latency = outcome
            .measured()
            .and_then(|measured| Some(measured.latency.as_ref()?.p95_ms));
        let result = cell::Result {
            cell: cell.clone(),
            outcome,
        };
        store.save(&result, None);
        results.push(result);
        if let Some(latency) = latency {
            let limit = (*first.get_or_insert(latency) * live.stop_above).max(LEAST_LIMIT_MS);
            if latency > limit {
                eprintln!(
                    "tare: stopped: the probe took {latency:.2} ms (95 %), more than {limit:.2} ms"
                );
                finished.failed += 1;
                break;
            }
        }
    }
    drop(connection);
    saved.restore_or_report();
    progress.finish();
    finished.signal = interrupt.signal();
    Ok(finished)
}

fn measure_window(
    connection: &mut Connection,
    pid: Option<u32>,
    seconds: u32,
    probe: &str,
    interrupt: &Interrupt,
) -> Result<Measurement, CellError> {
    interrupt.wait(SETTLE_TIME, || Ok(None::<()>))?;
    let before = events::read_totals(connection);
    let (machine, cpu, switched) = (proc::machine(), pid.and_then(proc::cpu), switches(pid));
    let statements = query_status(connection, "Questions")?;
    let start = Instant::now();
    let (mut probes, mut running, mut last_read) = (Vec::new(), Vec::new(), Instant::now());
    let mut own = 1.0;
    while start.elapsed() < Duration::from_secs(seconds.into()) {
        interrupt.check()?;
        let sent = Instant::now();
        connection
            .query(probe)
            .map_err(CellError::at("the probe"))?;
        probes.push(sent.elapsed().as_secs_f64() * 1e3);
        own += 1.0;
        if last_read.elapsed() >= STATUS_INTERVAL {
            last_read = Instant::now();
            // This connection is one of them.
            running.push((query_status(connection, "Threads_running")? - 1.0).max(0.0));
            own += 1.0;
        }
        std::thread::sleep(PROBE_INTERVAL.saturating_sub(sent.elapsed()));
    }
    let elapsed = start.elapsed().as_secs_f64();
    let statements = query_status(connection, "Questions")? - statements - own;
    let cpu_after = pid.and_then(proc::cpu);
    let machine = proc::machine() - machine;
    let switched_after = switches(pid);
    let events = events::difference(&before, &events::read_totals(connection));
    let rate = statements / elapsed;
    probes.sort_by(f64::total_cmp);
    let histogram: Vec<(f64, u64)> = probes.iter().map(|&ms| (ms, 1)).collect();
    Ok(Measurement {
        seconds: elapsed,
        transactions: statements.max(0.0),
        queries: statements.max(0.0),
        latency: Some(Latency {
            // An idle server has no latency.
            mean_ms: Some(1e3 * crate::stats::mean(&running) / rate)
                .filter(|ms| ms.is_finite())
                .unwrap_or(0.0),
            p95_ms: percentile(&histogram, 0.95),
            p99_ms: percentile(&histogram, 0.99),
            max_ms: probes.last().copied().unwrap_or(0.0),
            histogram: Vec::new(),
        }),
        server: cpu.zip(cpu_after).map(|(before, after)| after - before),
        machine: machine.split(),
        switches: Switches {
            machine: machine.switches,
            server_voluntary: switched_after.0.saturating_sub(switched.0),
            server_involuntary: switched_after.1.saturating_sub(switched.1),
            generator: 0,
        },
        events,
        ..Measurement::default()
    })
}

fn switches(pid: Option<u32>) -> (u64, u64) {
    let all = pid.map(proc::switches).unwrap_or_default();
    all.values()
        .fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1))
}

fn query_status(connection: &mut Connection, name: &str) -> Result<f64, CellError> {
    let rows = connection
        .query(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))
        .map_err(CellError::at(name))?;
    let value = rows
        .first()
        .and_then(|row| row.get(1)?.as_ref()?.parse().ok());
    value.ok_or_else(|| CellError::failed(format!("the server has no status variable {name}")))
}
