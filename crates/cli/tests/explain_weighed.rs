//! `tare explain --weighed`: the predicted cost of events next to the cost that a stored run measured.

mod support;

use support::{Directory, finish};
use tare_lab::cell::{self, Answer, Cpu, Measurement, Outcome};
use tare_lab::events::Event;
use tare_lab::matrix::Cell;
use tare_lab::recipe::Recipe;
use tare_lab::store::{Plan, Store};

const RECIPE: &str = r#"
question = "?"
about = "?"
baseline = "off"
measure = "server_cpu"
connections = [1]

[run]
repetitions = 4

[[server]]
name = "mysql"
kind = "mysql"
version = "5.7"

[[configuration]]
name = "off"

[[configuration]]
name = "counted"

[[workload]]
name = "w"
script = "oltp_read_only"
"#;

/// A transaction of one statement takes 10 µs, and counting ten waits of one instrument 0.2 µs more.
fn measured(cell: &Cell, has_questions: bool) -> Measurement {
    let counts = cell.key.configuration == "counted";
    let micros = if counts { 10.2 } else { 10.0 };
    let transactions = 1e4;
    let answer = |title: &str, rows: &[&str]| Answer {
        title: title.into(),
        rows: rows.iter().map(|&row| vec![Some(row.to_owned())]).collect(),
    };
    let waits = Event {
        kind: "wait".into(),
        name: "wait/synch/mutex/sql/LOCK_a".into(),
        count: 100_000,
        sum_ps: 0,
    };
    Measurement {
        seconds: 1.0,
        transactions,
        queries: transactions,
        server: Some(Cpu {
            seconds: micros * transactions / 1e6,
            ..Cpu::default()
        }),
        events: if counts { vec![waits] } else { Vec::new() },
        answers: match has_questions {
            true => vec![
                answer("Version", &["5.7.22-log"]),
                answer(
                    "Consumers",
                    &["global_instrumentation", "thread_instrumentation"],
                ),
            ],
            false => Vec::new(),
        },
        ..Measurement::default()
    }
}

/// Stores a run in this directory.
fn store_run(directory: &Directory, has_questions: bool) {
    let recipe = Recipe::parse("mine", RECIPE).expect("a recipe");
    let plan = Plan::new("mine", recipe, 1);
    let mut store = Store::create(&directory.path().join("run"), &plan).expect("a directory");
    for cell in &plan.cells {
        let outcome = Outcome::Done(Box::new(measured(cell, has_questions)));
        let cell = cell.clone();
        store.save(&cell::Result { cell, outcome }, None);
    }
}

#[test]
fn a_stored_run_is_predicted_and_compared() {
    let directory = Directory::new("explain-weighed");
    store_run(&directory, true);
    let finished = finish(&mut directory.tare(["explain", "--weighed", "run"]));
    assert_eq!(
        (finished.code, finished.stderr.as_str()),
        (Some(0), ""),
        "{finished:?}"
    );
    let line = (finished.stdout.lines())
        .find(|line| line.contains("mysql, counted, w, 1 connections"))
        .unwrap_or_else(|| panic!("{finished:?}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    // 0.2 of 10 µs in each repetition.
    assert_eq!(words[2..6], ["+2.0", "%", "+2.0", "+2.0"], "{line}");
    let predicted: f64 = words[0].parse().expect("percent");
    let error: f64 = words[6].parse().expect("points");
    assert!(predicted > 0.0, "ten waits cost something: {line}");
    assert!((predicted - 2.0 - error).abs() < 0.11, "{line}");
    assert!(
        finished
            .stdout
            .contains("of 1 predictions are within 1.5 points."),
        "{finished:?}"
    );
    assert!(
        finished.stdout.contains(
            "mysql: Unit costs apart from clock reads: constants measured on MySQL 5.7.22"
        ),
        "{finished:?}"
    );
}

#[test]
fn a_run_without_the_needed_questions_is_refused() {
    let directory = Directory::new("explain-unasked");
    store_run(&directory, false);
    let finished = finish(&mut directory.tare(["explain", "--weighed", "run"]));
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished.stderr.contains("nothing to predict in run: the recipe has to ask stock servers for 'Version' and 'Consumers'"),
        "{finished:?}"
    );
}
