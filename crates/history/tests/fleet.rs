//! The queries of docs/fleet.md in real engines over a small generated fleet.

#[path = "../examples/fleet/day.rs"]
mod day;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use day::{
    BLOCKED, DEPLOYED, DEPLOYMENT, Day, FILES, NEW, ROW_BLOCKED, SLOW_AT_FIRST, SPINS_UNTIL,
    STATEMENTS, WAITS, digest, host,
};
use serde_json::{Value, json};
use tare_history::ROW_LOCK_WAIT;
use tare_reader::scheduler::State;

const HOSTS: usize = 4;
const DAY: Day = Day {
    hosts: HOSTS,
    moments: 60,
    growth: 10,
    days: 1,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The answers of an engine by query. `python` is below target.
fn answers(engine: &str, python: &str) -> BTreeMap<String, Vec<Value>> {
    let history = std::env::temp_dir().join(format!("tare-fleet-{engine}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&history);
    DAY.write(&history).expect("a history");
    let output = Command::new(root().join("target").join(python))
        .arg(root().join("crates/history/tests/fleet/ask.py"))
        .arg(engine)
        .arg(&history)
        .arg(root().join("docs/fleet"))
        .output()
        .expect("python, as make deps installs it");
    let _ = fs::remove_dir_all(&history);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{engine}: {stderr}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let answers = lines.map(|line| {
        let answer: Value = serde_json::from_str(line).expect("JSON");
        let rows = answer["rows"].as_array().expect("rows").clone();
        (answer["name"].as_str().expect("a name").to_owned(), rows)
    });
    answers.collect()
}

/// Hours that all hosts recorded, together.
fn hours(of: impl Fn(u64) -> bool) -> f64 {
    let all = (0..HOSTS).flat_map(|number| (0..24).map(move |hour| (number, hour)));
    all.filter(|(number, hour)| of(*hour) && DAY.records(*number, *hour))
        .count() as f64
}

fn rounded(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (x * scale).round() / scale
}

/// Calls and seconds of a statement in the whole fleet.
fn total(statement: usize) -> (u64, f64) {
    let (mut calls, mut seconds) = (0, 0.0);
    for number in 0..HOSTS {
        for hour in (0..24).filter(|hour| DAY.records(number, *hour)) {
            let of_hour = DAY.calls(statement, hour) * 60;
            calls += of_hour;
            seconds += (of_hour * DAY.call_ns(number, statement, hour)) as f64 / 1e9;
        }
    }
    (calls, seconds)
}

fn expected() -> BTreeMap<&'static str, Vec<Value>> {
    let mut expected = BTreeMap::new();
    let of_statement = |statement: usize| {
        let (calls, seconds) = total(statement);
        let text = STATEMENTS[statement].0;
        json!([digest(statement), text, calls, rounded(seconds, 3)])
    };
    let mut top: Vec<usize> = (0..STATEMENTS.len()).collect();
    top.sort_by(|a, b| total(*b).1.total_cmp(&total(*a).1).then(a.cmp(b)));
    expected.insert("01-top-sql", top.into_iter().map(of_statement).collect());

    let after: Vec<(u64, u64)> = (0..HOSTS)
        .flat_map(|number| (DEPLOYMENT..24).map(move |hour| (number, hour)))
        .map(|(number, hour)| {
            let calls = |statement| DAY.calls(statement, hour) * 60;
            let slow = calls(DEPLOYED) * DAY.call_ns(number, DEPLOYED, hour);
            (slow, calls(NEW) * DAY.call_ns(number, NEW, hour))
        })
        .collect();
    let seconds = |ns: u64| ns as f64 / 1e9;
    let slow_seconds = seconds(after.iter().map(|(slow, _)| slow).sum());
    let new_seconds = seconds(after.iter().map(|(_, new)| new).sum());
    let calls = |statement: usize| {
        let hours = (HOSTS as u64) * (24 - DEPLOYMENT);
        hours * 60 * STATEMENTS[statement].1
    };
    let ms = |statement: usize| STATEMENTS[statement].2 as f64 / 1e6;
    // Two thirds of the time of what became three times as slow are added.
    let added = rounded(slow_seconds * 2.0 / 3.0, 1);
    let slower = json!([
        digest(DEPLOYED),
        "slower",
        ms(DEPLOYED),
        ms(DEPLOYED) * 3.0,
        calls(DEPLOYED),
        added
    ]);
    let new = json!([
        digest(NEW),
        "new",
        null,
        ms(NEW),
        calls(NEW),
        rounded(new_seconds, 1)
    ]);
    expected.insert("02-deployment", vec![slower, new]);

    let blocked = |number: usize| {
        let row = |blocker: u64, state: &str, holds: usize, kind: &str| {
            json!([
                host(number),
                blocker,
                "batch",
                state,
                digest(holds),
                "app",
                digest(1),
                kind,
                "orders",
                3600.0
            ])
        };
        [
            row(1, "running", 7, "metadata"),
            row(9, "sleeping", 3, "row"),
        ]
    };
    expected.insert("03-blockers", (0..HOSTS).flat_map(blocked).collect());

    let ns = STATEMENTS[SLOW_AT_FIRST].2 as f64 / 1e6;
    let slow = json!([host(0), digest(SLOW_AT_FIRST), ns * 5.0, ns, 5.0]);
    expected.insert("04-hosts-that-differ", vec![slow]);

    let cost = |number: usize| {
        let hours = (0..24).filter(|hour| DAY.records(number, *hour)).count() as f64;
        let seconds = Day::cost_ns(number) as f64 / 1e9 * 60.0 * hours;
        json!([
            host(number),
            rounded(seconds, 1),
            rounded(0.1 * (1 + number % 3) as f64, 3)
        ])
    };
    expected.insert("05-cost", [2, 1, 0, 3].into_iter().map(cost).collect());

    let active = |hour: u64| {
        let recording = (0..HOSTS)
            .filter(|number| DAY.records(*number, hour))
            .count();
        json!([hour, 4.0 * recording as f64])
    };
    expected.insert("06-active-sessions", (0..24).map(active).collect());

    // Of four threads, one has no state, one waits, one is in each state for some hours, and one spins at first.
    let all = hours(|_| true);
    let in_state = |state: State| hours(|hour| day::state(hour) == Some(state));
    let spins = hours(|hour| hour < SPINS_UNTIL);
    let mut waits = [
        (
            "unknown",
            all + in_state(State::Unknown) + hours(|hour| day::state(hour).is_none()),
        ),
        (State::OnCpu.name(), spins + in_state(State::OnCpu)),
        (State::WaitingForCpu.name(), in_state(State::WaitingForCpu)),
        (State::Blocked.name(), in_state(State::Blocked)),
        (WAITS[0].0, all),
        (WAITS[1].0, all - spins),
        (WAITS[2].0, hours(|hour| hour == BLOCKED)),
        (ROW_LOCK_WAIT, hours(|hour| hour == ROW_BLOCKED)),
    ];
    waits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let percent = |hours: f64| rounded(25.0 * hours / all, 1);
    let waits = waits.map(|(activity, hours)| json!([activity, percent(hours)]));
    expected.insert("07-waits", waits.to_vec());

    let recorded = |number: usize| (0..24).filter(|h| DAY.records(number, *h)).count() as u64;
    let mut errors: Vec<Value> = (0..HOSTS)
        .map(|number| json!(["ER_NO_SUCH_TABLE", host(number), 600 * recorded(number)]))
        .collect();
    errors.push(json!(["ER_LOCK_DEADLOCK", host(0), 60 * 24]));
    expected.insert("08-errors", errors);

    let file = |(name, read, written): (&str, u64, u64)| {
        let mb = |bytes: u64| rounded(bytes as f64 * 60.0 * all / 1e6, 1);
        json!([name, mb(read), mb(written), HOSTS])
    };
    expected.insert("09-files", FILES.into_iter().map(file).collect());

    let mut scans: Vec<Value> = (0..STATEMENTS.len())
        .filter(|statement| STATEMENTS[*statement].4 > 0)
        .map(|statement| {
            let (calls, (_, _, _, examined, sent)) = (total(statement).0, STATEMENTS[statement]);
            let times = rounded(examined as f64 / sent as f64, 1);
            json!([digest(statement), calls * examined, calls * sent, times])
        })
        .collect();
    let times = |row: &Value| row[3].as_f64().expect("a number");
    scans.sort_by(|a, b| times(b).total_cmp(&times(a)));
    expected.insert("10-scans", scans);

    let user = |user: &str, threads: f64| json!([user, rounded(threads * all, 2), HOSTS]);
    let users = vec![user("app", 2.0), user("batch", 1.0), user("report", 1.0)];
    expected.insert("11-users", users);
    expected.insert("12-gaps", vec![json!([host(HOSTS - 1), 23, 23.0])]);
    expected
}

/// Compares numbers as numbers, and texts as texts.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64(), a.as_array(), b.as_array()) {
        (Some(a), Some(b), ..) => (a - b).abs() <= 1e-9 * b.abs().max(1.0),
        (_, _, Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => a == b,
    }
}

fn check(engine: &str, python: &str) {
    let answers = answers(engine, python);
    let expected = expected();
    let names = |of: Vec<&str>| of.join(" ");
    assert_eq!(
        names(answers.keys().map(String::as_str).collect()),
        names(expected.keys().copied().collect()),
        "{engine}"
    );
    for (name, rows) in expected {
        let answer = Value::Array(answers[name].clone());
        let rows = Value::Array(rows);
        assert!(
            same(&answer, &rows),
            "{engine}, {name}:\n{answer:#}\nand not\n{rows:#}"
        );
    }
}

#[test]
fn duckdb_answers_every_question() {
    check("duckdb", "venv/bin/python");
}

#[test]
#[ignore = "chDB is too large to install for make test; make test-long does"]
fn chdb_answers_every_question() {
    check("chdb", "clients/long/fleet/bin/python");
}

/// A cluster of two workers in separate processes.
#[test]
#[ignore = "Spark is too large to install for make test; make test-long does"]
fn spark_answers_every_question() {
    check("spark", "clients/long/fleet/bin/python");
}

#[test]
fn the_document_has_each_question_as_it_is_tested() {
    let document = fs::read_to_string(root().join("docs/fleet.md")).expect("docs/fleet.md");
    for entry in fs::read_dir(root().join("docs/fleet")).expect("docs/fleet") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("UTF-8");
        assert!(
            document.contains(&format!("(fleet/{name})")),
            "docs/fleet.md lacks {name}"
        );
    }
}
