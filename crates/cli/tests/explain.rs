//! `tare explain` on servers, and its prediction beside a measurement.

mod support;

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;
use support::server::{Server, Work, mysql};
use support::{Directory, Finished, finish, host};
use tare_lab::stats::compare::{Baseline, Moment, logs};
use tare_lab::stats::interval::Interval;
use tare_lab::stats::starts::Claim;

fn explain(dsn: &Path, seconds: &str) -> Finished {
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

/// The line that begins like this.
fn line<'a>(finished: &'a Finished, begin: &str) -> &'a str {
    let found = finished.stdout.lines().find(|line| line.starts_with(begin));
    found.unwrap_or_else(|| panic!("no {begin:?} in {}", finished.stdout))
}

/// Instrumentation's percent of the server's CPU.
fn percent(finished: &Finished) -> f64 {
    let line = line(finished, "instrumentation  ");
    let percent = line
        .split(" of CPU, ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    percent
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("no percent in {line:?}"))
}

fn has_its_shape(finished: &Finished) {
    assert!(
        line(finished, "server's CPU ").contains("% of one CPU"),
        "{finished:?}"
    );
    // How much of a server that does next to nothing it is hangs on the hour: unit costs are measured before, and beside
    // other tests the sum can be more than the server took.
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

/// The statements that it proposes are ones that the server takes.
fn its_sql_works(finished: &Finished, conn: &mut Conn) {
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
    has_its_shape(&finished);
    assert!(percent(&finished) > 0.0, "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("Cost of one event in ns, measured here"),
        "{finished:?}"
    );
    its_sql_works(&finished, &mut conn);
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
    has_its_shape(&finished);
    assert!(
        finished
            .stdout
            .contains("constants measured on MariaDB 10.11"),
        "{finished:?}"
    );
    its_sql_works(&finished, &mut conn);
}

/// `scripts/servers run 5.7 cargo test -p tare-cli --test explain -- --ignored`
#[test]
#[ignore = "needs a MySQL: make test-long"]
fn mysql_is_explained() {
    let socket = mysql();
    let _work = Work::start(&socket);
    let finished = explain(&socket, "0.5");
    has_its_shape(&finished);
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

/// A configuration: its name, and the updates that make it.
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

/// CPU of a statement in each of these configurations: they take turns within a repetition, so often that what the machine
/// does besides hits all alike, and a turn that was disturbed is not the median of its cell.
fn weigh(
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
            // Each begins once, and comes behind each of its neighbours: what drifts, or is left behind, hits all alike.
            let place = (at + turn) % order.len();
            let cell = match turn % 2 {
                0 => place,
                _ => order.len() - 1 - place,
            };
            configure(&mut conn, CONFIGURATIONS[order[cell]].1);
            // What a configuration meets for the first time is not its cost.
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

/// Keeps this thread, and what it starts, on one processor. Between two of them each statement wakes the other one, which takes
/// 7 or 20 µs depending on what else the machine does; on one, a statement takes the same all the time.
fn stay_on_one_processor() {
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

/// What `tare explain` says while this work goes on, and no other: percent of the CPU without instrumentation.
fn predict(server: &Server, work: &mut Conn, seconds: &str) -> (f64, Finished) {
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
    let of_all = percent(&finished);
    (100.0 * of_all / (100.0 - of_all), finished)
}

/// Weighs five configurations and compares with what is computed. The errors are printed (`--nocapture`); a test asserts
/// on no time, so what is asserted is that each was predicted and measured.
#[test]
fn the_prediction_stands_beside_a_measurement() {
    let is_long = std::env::var_os("TARE_TEST_LONG").is_some();
    let (repetitions, turns, statements, seconds) = match is_long {
        true => (12, 25, 1_000, "0.5"),
        false => (1, 1, 100, "0.3"),
    };
    stay_on_one_processor();
    let server = Server::tare(&[]);
    let mut conn = server.connect();
    let mut work = server.connect();
    work.query_drop("CREATE DATABASE shop").expect("a database");
    work.query_drop("CREATE TABLE shop.stock (id INT PRIMARY KEY, n INT)")
        .expect("a table");
    work.query_drop("INSERT INTO shop.stock VALUES (1, 0)")
        .expect("a row");
    // Off once more is the A/A pair.
    let order: Vec<usize> = (0..CONFIGURATIONS.len()).chain([0]).collect();
    let mut measured = vec![Vec::new(); order.len()];
    let mut predicted = vec![Vec::new(); CONFIGURATIONS.len()];
    for repetition in 0..repetitions {
        let cells = weigh(&server, &mut work, &order, turns, statements);
        for (of, cell) in measured.iter_mut().zip(cells) {
            let moment = Moment {
                repetition,
                turn: 0,
            };
            of.push((moment, cell));
        }
        for (cell, (_, updates)) in CONFIGURATIONS.iter().enumerate().skip(1) {
            configure(&mut conn, updates);
            let (percent, finished) = predict(&server, &mut work, seconds);
            predicted[cell].push(percent);
            if is_long && repetition == 0 {
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
    if let Some(control) = baseline.control(Claim::Fixed) {
        println!("off again: {}", between(&control));
    }
    for (cell, (name, _)) in CONFIGURATIONS.iter().enumerate().skip(1) {
        let compared = baseline.compare(&logs(&measured[cell]), None, true, Claim::Fixed);
        let measured = compared.expect("measured").percent;
        let predicted = Interval::of(&predicted[cell], &mut rng);
        println!(
            "{name}: predicted {}, measured {}; error {:+.2} points",
            between(&predicted),
            between(&measured),
            predicted.mean - measured.mean
        );
        assert!(
            predicted.mean.is_finite() && measured.mean.is_finite(),
            "{name}"
        );
    }
}

/// A figure in percent, with its interval where there is one.
fn between(interval: &Interval) -> String {
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
    has_its_shape(&finished);
    let sampled = line(&finished, "sampled  ");
    assert!(sampled.contains(" 1/4: events are estimates"), "{sampled}");
}
