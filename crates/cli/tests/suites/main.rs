//! MySQL 9.7's own tests of Performance Schema and of schema sys, run by its mysqltest and compared with the
//! recorded results. `scripts/suites` fetches them.
//!
//! Tests run on `tare serve`. Those in `door.txt` are about a part of mysqld: their load runs on a
//! MySQL 9.7 with Tare's engine, and their reads on Tare's tables of that server.
//!
//! All tests of MariaDB 10.11's own suite run through the door.
//!
//! Every eligible test passes, or is in `open.tsv` (MariaDB's in `open-mariadb.tsv`) with its class and
//! the reason. A listed test that passes is an error, so the lists only shrink.
//!
//! ```text
//! TARE_SUITES_ONLY=ddl_     only tests whose name, SUITE.TEST, contains this
//! TARE_SUITES_ON=door       the tests of open.tsv and door.txt, through the door
//! TARE_SUITES_ON=stock      on the server that they were written for, to test this runner
//! ```
//!
//! mysqltest's output for failed and skipped tests is in target/suites/logs.

mod cases;
mod flavor;
mod list;
mod needs;
mod options;
mod program;
mod relay;
mod route;
mod run;
#[path = "../support/servers.rs"]
mod servers;
#[path = "../support/mod.rs"]
mod support;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cases::Case;
use flavor::Flavor;
use needs::Need;
use run::{Host, Outcome};

/// The host that TARE_SUITES_ON sets for all tests.
fn wanted_host() -> Option<Host> {
    match std::env::var("TARE_SUITES_ON").as_deref() {
        Ok("stock") => Some(Host::Stock),
        Ok("door") => Some(Host::Door),
        Ok(other) => panic!("TARE_SUITES_ON is stock or door, or not set; it is {other}"),
        Err(_) => None,
    }
}

/// The path of a list.
fn list_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/suites")
        .join(name)
}

/// The eligible tests of all suites, and the number of others by their need.
fn eligible(
    flavor: &Flavor,
    home: &Path,
    wanted: impl Fn(&Case) -> bool,
) -> (Vec<Case>, BTreeMap<Need, usize>) {
    let mut needs = BTreeMap::new();
    let mut run = Vec::new();
    let all = flavor
        .suites
        .iter()
        .flat_map(|suite| cases::list(home, suite));
    for case in all.filter(|case| wanted(case)) {
        match needs::find(&case) {
            Some(need) => *needs.entry(need).or_default() += 1,
            None => run.push(case),
        }
    }
    (run, needs)
}

/// Runs the tests, as many at a time as there are processors.
fn run_all(
    flavor: &Flavor,
    host: impl Fn(&Case) -> Host + Sync,
    home: &Path,
    cases: &[Case],
) -> BTreeMap<String, Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let host = host(case);
                    let outcome = run::run(flavor, host, home, case);
                    write_log(&log_directory(flavor, host), case, &outcome);
                    outcomes
                        .lock()
                        .expect("no worker panicked")
                        .insert(case.key(), outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("no worker panicked")
}

/// Creates the folder for mysqltest's output.
fn log_directory(flavor: &Flavor, host: Host) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/suites/logs");
    let directory = root.join(flavor.logs).join(format!("{host:?}"));
    std::fs::create_dir_all(&directory).expect("a folder for logs");
    directory
}

fn write_log(directory: &Path, case: &Case, outcome: &Outcome) {
    let path = |end: &str| directory.join(format!("{}.{end}", case.key()));
    for end in ["failed", "skipped"] {
        let _ = std::fs::remove_file(path(end));
    }
    let (end, output) = match outcome {
        Outcome::Passed => return,
        Outcome::Failed(output) => ("failed", output),
        Outcome::Skipped(output) => ("skipped", output),
    };
    std::fs::write(path(end), output).expect("a log is written");
}

/// Runs a server's suites and compares the outcomes with the lists.
fn check(flavor: &Flavor) {
    let only = std::env::var("TARE_SUITES_ONLY").unwrap_or_default();
    let home = cases::home(flavor.version.name());
    let wanted_host = wanted_host();
    let open = list::read_open(&list_path(flavor.open));
    let door = flavor
        .door
        .map_or_else(BTreeSet::new, |list| list::read_door(&list_path(list)));
    let (cases, needs) = eligible(flavor, &home, |case| {
        let key = case.key();
        let is_the_doors = flavor.door.is_none() || open.contains_key(&key) || door.contains(&key);
        key.contains(&only) && (wanted_host != Some(Host::Door) || is_the_doors)
    });
    let host = |case: &Case| match wanted_host {
        Some(host) => host,
        None if door.contains(&case.key()) => Host::Door,
        None => flavor.host(),
    };
    let outcomes = run_all(flavor, host, &home, &cases);
    let passed = |on: Host| {
        let passed = cases
            .iter()
            .filter(|case| outcomes[&case.key()] == Outcome::Passed);
        passed.filter(|case| host(case) == on).count()
    };
    let left_out: usize = needs.values().sum();
    let mut summary = format!("{} tests, of which {left_out} need", cases.len() + left_out);
    for (need, count) in &needs {
        let _ = write!(summary, " {need} ({count}),");
    }
    let all = [Host::Tare, Host::Door, Host::Stock].map(|on| (on, passed(on)));
    let sum: usize = all.iter().map(|(_, passed)| passed).sum();
    println!(
        "{summary} and {} are eligible; {sum} pass ({:.1} %): {all:?}",
        cases.len(),
        100.0 * sum as f64 / cases.len().max(1) as f64
    );
    if wanted_host.is_some() {
        return;
    }
    let complaints = complaints(&cases, &outcomes, &open, &door);
    assert!(
        complaints.is_empty(),
        "{complaints}mysqltest's output is in {}",
        log_directory(flavor, flavor.host()).display()
    );
}

/// Outcomes that contradict the lists.
fn complaints(
    cases: &[Case],
    outcomes: &BTreeMap<String, Outcome>,
    list: &BTreeMap<String, String>,
    door: &BTreeSet<String>,
) -> String {
    let mut complaints = String::new();
    let all = std::env::var_os("TARE_SUITES_ONLY").is_none();
    for key in list
        .keys()
        .chain(door)
        .filter(|key| all && !outcomes.contains_key(*key))
    {
        let _ = writeln!(complaints, "{key} is listed but no eligible test");
    }
    for case in cases {
        let key = case.key();
        let complaint = match (&outcomes[&key], list.get(&key)) {
            (Outcome::Passed, Some(_)) => "passes but is listed as open".to_owned(),
            (Outcome::Passed, None) | (_, Some(_)) => continue,
            (Outcome::Failed(output) | Outcome::Skipped(output), None) => {
                let end: Vec<&str> = output.lines().rev().take(12).collect();
                let end: Vec<&str> = end.into_iter().rev().collect();
                format!("does not pass and is not listed:\n{}", end.join("\n"))
            }
        };
        let _ = writeln!(complaints, "{key} {complaint}");
    }
    complaints
}

#[test]
#[ignore = "takes some ten minutes, and fetches the suites: make test-long runs it"]
fn mysqls_own_tests_pass_or_are_listed() {
    check(&flavor::MYSQL);
}

#[test]
#[ignore = "takes some ten minutes, and fetches the suite: make test-long runs it"]
fn mariadbs_own_tests_pass_or_are_listed() {
    check(&flavor::MARIADB);
}
