//! `tare weigh compare` on stored results with known differences.

mod support;

use std::path::Path;

use serde_json::{Value, json};
use support::python::validate;
use support::{CommandResult, Directory, finish};

/// A stored run of two configurations in directory `name`. `cost` is the CPU per transaction of
/// `configuration` in microseconds, and `speed` the machine's factor on all times.
struct StoredRun<'a> {
    name: &'a str,
    repetitions: u32,
    cost: f64,
    speed: f64,
    processor: &'a str,
    configuration: &'a str,
}

impl Default for StoredRun<'_> {
    fn default() -> Self {
        Self {
            name: "a",
            repetitions: 8,
            cost: 100.0,
            speed: 1.0,
            processor: "one",
            configuration: "timed",
        }
    }
}

impl StoredRun<'_> {
    fn write(&self, directory: &Directory) {
        let cells = directory.path().join(self.name).join("cells");
        std::fs::create_dir_all(&cells).expect("made");
        let mut order = Vec::new();
        for repetition in 1..=self.repetitions {
            for (configuration, again) in
                [("off", false), ("off", true), (self.configuration, false)]
            {
                let number = order.len() as u32 + 1;
                let key = json!({ "server": "tare", "workload": "w", "connections": 2, "configuration": configuration, "again": again });
                let cell = json!({ "number": number, "repetition": repetition, "key": key });
                let own = if configuration == "off" {
                    90.0
                } else {
                    self.cost
                };
                // Noise of half a percent, different in each cell.
                let wobble = 1.0
                    + 0.005 * f64::from((number * 7919 + repetition * 104_729) % 11) / 5.0
                    - 0.005;
                self.write_cell(&cells, &cell, own * self.speed * wobble);
                order.push(cell);
            }
        }
        let plan = json!({
            "name": "test", "quick": false, "seed": 1, "rates": {}, "cells": order,
            "machine": {
                "processor": self.processor, "cpus": 2, "memory_mib": 1, "kernel": "6", "clock_source": "tsc", "clock_ns": 25.0,
                "guest": true, "load": 0.0, "noise": { "p95_percent": 1.0, "worst_percent": 2.0 }, "sysbench": "", "started": "2026-11-22 10:00:00"
            },
            "recipe": {
                "question": "q", "baseline": "off", "measure": "server_cpu", "connections": [2],
                "run": { "repetitions": self.repetitions }, "server": [{ "name": "tare", "kind": "tare" }],
                "configuration": [{ "name": "off" }, { "name": self.configuration }],
                "workload": [{ "name": "w", "script": "oltp_point_select" }]
            }
        });
        let text = serde_json::to_vec(&plan).expect("JSON");
        std::fs::write(directory.path().join(self.name).join("plan.json"), text).expect("written");
    }

    fn write_cell(&self, cells: &Path, cell: &Value, cpu_us: f64) {
        let turns: Vec<Value> = (0..4)
            .map(|_| json!({ "seconds": 0.15, "transactions": 1000.0, "server": cpu_us / 1e3, "generator": 0.01, "latency_mean_ms": 0.2 }))
            .collect();
        let zero = json!({ "seconds": 0.0, "user": 0.0, "system": 0.0 });
        let mut all = json!({
            "state": "done", "seconds": 0.6, "transactions": 4000.0, "queries": 4000.0, "errors": 0, "each_second": [], "latency": null,
            "server": { "seconds": 4.0 * cpu_us / 1e3, "user": 0.0, "system": 0.0 }, "generator": zero,
            "machine": { "user": 0.0, "system": 0.0, "idle": 0.0, "stolen": 0.0 },
            "switches": { "machine": 0, "server_voluntary": 0, "server_involuntary": 0, "generator": 0 },
            "memory": [], "figure": null, "rate": null, "events": [], "turns": turns
        });
        let members = all.as_object_mut().expect("an object");
        members.extend(cell.as_object().expect("an object").clone());
        let file = cells.join(format!(
            "{:04}.json",
            cell["number"].as_u64().expect("a number")
        ));
        std::fs::write(file, serde_json::to_vec(&all).expect("JSON")).expect("written");
    }
}

fn compare(directory: &Directory, arguments: &[&str]) -> CommandResult {
    let words = ["weigh", "compare", "a", "b"]
        .into_iter()
        .chain(arguments.iter().copied());
    finish(&mut directory.tare(words))
}

fn write_runs(first: StoredRun, second: StoredRun) -> Directory {
    let directory = Directory::new("compare");
    first.write(&directory);
    StoredRun {
        name: "b",
        ..second
    }
    .write(&directory);
    directory
}

#[test]
fn a_worse_run_has_code_1_and_is_named() {
    let directory = write_runs(
        StoredRun::default(),
        StoredRun {
            cost: 106.0,
            ..StoredRun::default()
        },
    );
    let finished = compare(&directory, &[]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let output = &finished.stdout;
    assert!(output.contains("The second run is worse by more than 2 % in 1 of 2 comparisons; most in tare, timed, w, 2"), "{output}");
    assert!(
        output.contains("worse by more than 2 %\n") && output.contains("not worse\n"),
        "{output}"
    );
    assert!(
        output.contains("The runs were not interleaved") && !output.contains('\x1b'),
        "{output}"
    );
    // With a larger tolerance.
    assert_eq!(compare(&directory, &["--worse", "8%"]).code, Some(0));
    // Better is not worse.
    let better = finish(&mut directory.tare(["weigh", "compare", "b", "a"]));
    assert_eq!(better.code, Some(0), "{better:?}");
    assert!(
        better.stdout.contains(
            "No evidence that the second run is worse by more than 2 %: of 2 comparisons, 2 are not"
        ),
        "{}",
        better.stdout
    );
}

#[test]
fn a_difference_within_the_interval_is_undecided() {
    let directory = write_runs(
        StoredRun::default(),
        StoredRun {
            cost: 102.0,
            ..StoredRun::default()
        },
    );
    let finished = compare(&directory, &["--format", "json"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let all: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    validate("weigh-compare", std::slice::from_ref(&all));
    assert_eq!(all["worse"], false);
    assert_eq!(
        (&all["first"]["directory"], &all["first"]["recipe"]),
        (&"a".into(), &"test".into())
    );
    let timed = &all["comparisons"]["cells"][0];
    assert_eq!(
        (&timed["configuration"], &timed["verdict"]),
        (&"timed".into(), &"cannot_tell".into())
    );
    let (low, high) = (
        timed["percent"]["low"].as_f64(),
        timed["percent"]["high"].as_f64(),
    );
    assert!(low < Some(2.0) && Some(2.0) < high, "{timed}");
    assert_eq!(timed["repetitions"], json!([8, 8]));
    assert!(
        all["sentences"]
            .as_array()
            .expect("sentences")
            .iter()
            .any(|line| line
                .as_str()
                .is_some_and(|line| line.contains("inconclusive")))
    );
}

#[test]
fn a_slower_machine_cancels_out_with_option_same() {
    let slower = StoredRun {
        speed: 1.2,
        ..StoredRun::default()
    };
    let directory = write_runs(StoredRun::default(), slower);
    assert_eq!(
        compare(&directory, &[]).code,
        Some(1),
        "a fifth more of everything"
    );
    let finished = compare(&directory, &["--same", "off"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stdout.contains("over off, in percent")
            && !finished.stdout.contains("interleaved"),
        "{}",
        finished.stdout
    );
    // The build is slower, too.
    let directory = write_runs(
        StoredRun::default(),
        StoredRun {
            speed: 1.2,
            cost: 106.0,
            ..StoredRun::default()
        },
    );
    assert_eq!(compare(&directory, &["--same", "off"]).code, Some(1));
}

#[test]
fn too_few_repetitions_are_undecided() {
    let worse = StoredRun {
        cost: 150.0,
        ..StoredRun::default()
    };
    let few = write_runs(
        StoredRun {
            repetitions: 3,
            ..StoredRun::default()
        },
        StoredRun {
            cost: 150.0,
            ..StoredRun::default()
        },
    );
    let finished = compare(&few, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("Inconclusive (2): 3 and 8 repetitions, 4 are needed."),
        "{}",
        finished.stdout
    );
    let elsewhere = write_runs(
        StoredRun::default(),
        StoredRun {
            processor: "another",
            ..worse
        },
    );
    let finished = compare(&elsewhere, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("Inconclusive (2): the runs are of different machines."),
        "{}",
        finished.stdout
    );
}

#[test]
fn incomparable_runs_have_code_2() {
    let directory = write_runs(
        StoredRun::default(),
        StoredRun {
            configuration: "other",
            ..StoredRun::default()
        },
    );
    let finished = compare(&directory, &[]);
    assert_eq!(finished.code, Some(0), "off is in both: {finished:?}");
    assert!(
        finished.stdout.contains(
            "In only one of the runs: tare, timed, w, 2 connections; tare, other, w, 2 connections."
        ),
        "{}",
        finished.stdout
    );
    for (arguments, words) in [
        (&["--same", "off"][..], "no cell in common"),
        (
            &["--same", "timed"],
            "the second run has no such configuration; there are off, other",
        ),
        (&["--worse", "much"], "give a percentage"),
        (&["--measure", "speed"], "there are throughput, server_cpu"),
        (&["--measure", "latency_99"], "no cell in common"),
    ] {
        let finished = compare(&directory, arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:?}");
        assert!(
            finished.stderr.contains(words),
            "{arguments:?}: {}",
            finished.stderr
        );
    }
    let nothing = finish(&mut directory.tare(["weigh", "compare", "a", "c"]));
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    let one = finish(&mut directory.tare(["weigh", "compare", "a"]));
    assert_eq!(one.code, Some(2), "{one:?}");
}
