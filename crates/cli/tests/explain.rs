//! `tare explain` on servers, and its prediction against a measurement.

mod support;

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use support::server::{Server, Work, mysql};
use support::{CommandResult, Directory, finish, host};
use tare_lab::stats::compare::{Baseline, Moment, logs};
use tare_lab::stats::interval::Interval;
use tare_lab::stats::starts::Coverage;

fn explain(dsn: &Path, seconds: &str) -> CommandResult {
    let directory = Directory::new("explain");
    let dsn = dsn.to_str().expect("UTF-8");
    let finished = finish(&mut directory.tare(["explain", "-i", seconds, "--dsn", dsn]));
    assert_eq!(
        (finished.code, finished.stderr.as_str()),
        (Some(0), ""),
        "{finished:?}"
    );
    finished
}

/// The line of the report that begins like this.
fn line<'a>(finished: &'a CommandResult, begin: &str) -> &'a str {
    let line = finished.stdout.lines().find(|line| line.starts_with(begin));
    line.unwrap_or_else(|| panic!("no {begin:?} in {}", finished.stdout))
}

/// The instrumentation's share of the server's CPU, in percent.
fn percent(finished: &CommandResult) -> f64 {
    let line = line(finished, "instrumentation  ");
    let percent = line
        .split(" of CPU, ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    percent
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("no percent in {line:?}"))
}

fn assert_complete_report(finished: &CommandResult) {
    assert!(
        line(finished, "server's CPU ").contains("% of one CPU"),
        "{finished:?}"
    );
    // No upper bound: unit costs are measured before the interval, and while other tests run, their sum can
    // exceed the CPU time of an idle server.
    assert!(percent(finished) >= 0.0, "{finished:?}");
    let table: Vec<&str> = finished
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("Instruments with the highest cost"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .collect();
    assert!(
        table.len() >= 2 && table.len() <= 11,
        "heads and up to ten instruments: {finished:?}"
    );
    for saving in [
        "Counting these instead of timing them",
        "Counting everything",
        "Switching these off",
        "Switching everything off",
    ] {
        line(finished, saving);
    }
}

/// Executes the UPDATE statements that the report proposes.
fn run_proposed_updates(finished: &CommandResult, conn: &mut Conn) {
    let proposed: Vec<&str> = finished
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  UPDATE"))
        .collect();
    assert!(proposed.len() >= 4, "{finished:?}");
    for update in proposed {
        conn.query_drop(format!("UPDATE{}", update.trim_end_matches(';')))
            .unwrap_or_else(|error| panic!("{update}: {error}"));
    }
}

#[test]
fn tare_serve_is_explained_and_its_sql_switches_everything_off() {
    let server = Server::tare(&["--performance-schema-instrument=%=ON"]);
    let mut conn = server.connect();
    let _work = Work::start(server.socket());
    let finished = explain(server.socket(), "0.5");
    assert_complete_report(&finished);
    assert!(percent(&finished) > 0.0, "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("Cost of one event in ns, measured here"),
        "{finished:?}"
    );
    run_proposed_updates(&finished, &mut conn);
    let on: u64 = conn.query_first("SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE TIMED = 'YES' AND NAME NOT LIKE 'memory/%'").expect("answered").expect("a row");
    assert_eq!(on, 0);
}

#[test]
fn mariadb_is_explained() {
    let server = Server::mariadb(&[
        "--performance-schema=ON",
        "--performance-schema-instrument=stage/%=ON",
    ]);
    let mut conn = server.connect();
    let _work = Work::start(server.socket());
    let finished = explain(server.socket(), "0.5");
    assert_complete_report(&finished);
    assert!(
        finished
            .stdout
            .contains("constants measured on MariaDB 10.11"),
        "{finished:?}"
    );
    run_proposed_updates(&finished, &mut conn);
}

/// `scripts/servers run 5.7 cargo test -p tare-cli --test explain -- --ignored`
#[test]
#[ignore = "needs a MySQL: make test-long"]
fn mysql_is_explained() {
    let socket = mysql();
    let _work = Work::start(&socket);
    let finished = explain(&socket, "0.5");
    assert_complete_report(&finished);
    assert!(percent(&finished) > 0.0, "{finished:?}");
}

#[test]
fn a_program_is_explained_by_its_pid() {
    let directory = Directory::new("pid");
    let host = host::start(&directory);
    let finished =
        finish(&mut directory.tare(["explain", "-i", "0.2", "--pid", &host.pid().to_string()]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    line(&finished, "server's CPU ");
}

/// Configurations: name, and the updates that set them.
const CONFIGURATIONS: [(&str, &[&str]); 5] = [
    ("off", &["setup_instruments SET ENABLED = 'NO'"]),
    (
        "counted",
        &[
            "setup_instruments SET ENABLED = 'YES'",
            "setup_instruments SET TIMED = 'NO' WHERE NAME NOT LIKE 'memory/%'",
        ],
    ),
    (
        "timed",
        &[
            "setup_instruments SET ENABLED = 'YES'",
            "setup_instruments SET TIMED = 'YES' WHERE NAME NOT LIKE 'memory/%'",
        ],
    ),
    (
        "statements and stages",
        &[
            "setup_instruments SET ENABLED = 'NO'",
            "setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'st%'",
        ],
    ),
    (
        "waits",
        &[
            "setup_instruments SET ENABLED = 'NO'",
            "setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/%'",
        ],
    ),
];

fn configure(conn: &mut Conn, updates: &[&str]) {
    for update in updates {
        conn.query_drop(format!("UPDATE performance_schema.{update}"))
            .expect("configured");
    }
}

fn work_once(conn: &mut Conn) {
    let _: Option<i64> = conn
        .query_first("SELECT n FROM shop.stock WHERE id = 1")
        .expect("selected");
}

/// CPU seconds of a statement in each of these configurations, the median of its turns. Configurations take
/// turns, so that other load on the machine affects all of them.
fn measure_cpu(
    server: &Server,
    work: &mut Conn,
    order: &[usize],
    turns: usize,
    statements: u32,
) -> Vec<f64> {
    let cpu = || tare_lab::proc::cpu(server.pid()).expect("it runs").seconds;
    let mut conn = server.connect();
    let mut cells = vec![Vec::new(); order.len()];
    for turn in 0..turns {
        for at in 0..order.len() {
            // Each configuration comes first once, and after each neighbour, so that drift affects all alike.
            let place = (at + turn) % order.len();
            let cell = match turn % 2 {
                0 => place,
                _ => order.len() - 1 - place,
            };
            configure(&mut conn, CONFIGURATIONS[order[cell]].1);
            // Warm-up: the first executions after a switch are not measured.
            for _ in 0..statements / 10 {
                work_once(work);
            }
            let before = cpu();
            for _ in 0..statements {
                work_once(work);
            }
            cells[cell].push((cpu() - before) / f64::from(statements));
        }
    }
    for cell in &mut cells {
        cell.sort_by(f64::total_cmp);
    }
    cells.iter().map(|cell| cell[cell.len() / 2]).collect()
}

/// Pins this thread and its children to one processor. A statement that wakes a thread on another processor
/// takes 7 to 20 µs more, depending on other load; on one processor its time is constant.
fn pin_to_one_processor() {
    let thread = std::fs::read_link("/proc/thread-self").expect("procfs");
    let thread = thread.file_name().expect("a number").to_owned();
    let last = std::thread::available_parallelism().map_or(1, usize::from) - 1;
    let pinned = std::process::Command::new("taskset")
        .args(["--pid", "--cpu-list", &last.to_string()])
        .arg(thread)
        .output()
        .expect("taskset starts");
    if !pinned.status.success() {
        println!(
            "not on one processor: {}",
            String::from_utf8_lossy(&pinned.stderr).trim()
        );
    }
}

/// The cost that `tare explain` predicts while only this client works, in percent of the CPU without
/// instrumentation.
fn predict(server: &Server, work: &mut Conn, seconds: &str) -> (f64, CommandResult) {
    let done = std::sync::atomic::AtomicBool::new(false);
    let finished = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                work_once(work);
            }
        });
        let finished = explain(server.socket(), seconds);
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        finished
    });
    let share = percent(&finished);
    (100.0 * share / (100.0 - share), finished)
}

/// The error that docs/overhead.md allows a prediction, in percentage points.
const MAX_ERROR_POINTS: f64 = 1.5;

/// Measures five configurations, predicts them, and prints both (`--nocapture`).
#[test]
#[ignore = "needs a quiet machine: make test-long"]
fn the_prediction_agrees_with_a_measurement() {
    const REPETITIONS: u32 = 12;
    const TURNS: usize = 25;
    const STATEMENTS: u32 = 1_000;
    pin_to_one_processor();
    let server = Server::tare(&[]);
    let mut conn = server.connect();
    let mut work = server.connect();
    work.query_drop("CREATE DATABASE shop").expect("a database");
    work.query_drop("CREATE TABLE shop.stock (id INT PRIMARY KEY, n INT)")
        .expect("a table");
    work.query_drop("INSERT INTO shop.stock VALUES (1, 0)")
        .expect("a row");
    // "off" again, at the end, is the A/A control.
    let order: Vec<usize> = (0..CONFIGURATIONS.len()).chain([0]).collect();
    let mut measured = vec![Vec::new(); order.len()];
    let mut predicted = vec![Vec::new(); CONFIGURATIONS.len()];
    for repetition in 0..REPETITIONS {
        let cells = measure_cpu(&server, &mut work, &order, TURNS, STATEMENTS);
        for (of, cell) in measured.iter_mut().zip(cells) {
            let moment = Moment {
                repetition,
                turn: 0,
            };
            of.push((moment, cell));
        }
        for (cell, (_, updates)) in CONFIGURATIONS.iter().enumerate().skip(1) {
            configure(&mut conn, updates);
            let (percent, finished) = predict(&server, &mut work, "0.5");
            predicted[cell].push(percent);
            if repetition == 0 {
                println!("{}", finished.stdout);
            }
        }
    }
    let baseline = Baseline::of(&measured[0], &measured[CONFIGURATIONS.len()]);
    let mut rng = Default::default();
    let micros = measured[0].iter().map(|(_, seconds)| 1e6 * seconds);
    println!(
        "off: {:.2} µs of CPU a statement",
        tare_lab::stats::mean(&micros.collect::<Vec<_>>())
    );
    if let Some(control) = baseline.control(Coverage::FixedSize) {
        println!("off again: {}", format_interval(&control));
    }
    for (cell, (name, _)) in CONFIGURATIONS.iter().enumerate().skip(1) {
        let compared = baseline.compare(&logs(&measured[cell]), None, true, Coverage::FixedSize);
        let measured = compared.expect("measured").percent;
        let predicted = Interval::of(&predicted[cell], &mut rng);
        println!(
            "{name}: predicted {}, measured {}; error {:+.2} points",
            format_interval(&predicted),
            format_interval(&measured),
            predicted.mean - measured.mean
        );
        let (low, high) = (
            measured.low.expect("an interval") - MAX_ERROR_POINTS,
            measured.high.expect("an interval") + MAX_ERROR_POINTS,
        );
        assert!((low..=high).contains(&predicted.mean), "{name}");
    }
}

/// A mean in percent, with its interval if there is one.
fn format_interval(interval: &Interval) -> String {
    match (interval.low, interval.high) {
        (Some(low), Some(high)) => format!("{:+.2} % [{low:+.2}, {high:+.2}]", interval.mean),
        _ => format!("{:+.2} %", interval.mean),
    }
}

#[test]
fn sampled_events_are_estimates() {
    let server = Server::tare(&["--performance-schema-instrument=%=ON", "--sampling", "1/4"]);
    let _work = Work::start(server.socket());
    let finished = explain(server.socket(), "1");
    assert_complete_report(&finished);
    let sampled = line(&finished, "sampled  ");
    assert!(sampled.contains(" 1/4: events are estimates"), "{sampled}");
}
