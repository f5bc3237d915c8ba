//! The recipes behind `make demo`, `make bench-server` and `make door-bench` in their shortest forms.
//! The tests check what they print and what they leave, not what they measure.

mod support;

use std::process::Stdio;

use serde_json::Value;
use support::weigh::{assert_nothing_left, cells, state, weigh, write_recipe};
use support::{Directory, Process, finish, wait_for};

#[test]
fn the_demo_prints_cost_and_events_and_leaves_only_its_results() {
    let directory = Directory::new("demo");
    let finished = finish(&mut weigh(
        &directory,
        &[
            "demo",
            "--repetitions",
            "2",
            "--turns",
            "2",
            "--output",
            "out",
        ],
    ));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let report = &finished.stdout;
    for words in [
        "\ntare, read-only, 2 connections\n",
        "server CPU/transaction, us",
        "events a second",
        "\nTop waits by time, ",
        "wait/io/socket/",
        "\nTop stages by time, ",
        "stage/sql/",
        "\nTop statements by time, ",
        "statement/com/Execute",
        "\nDifference in server CPU/transaction from everything off, in percent\n",
        "\nWhat it costs, against everything off\nToo few repetitions: 2 of the 4",
        "\nWhere to look next\n",
    ] {
        assert!(report.contains(words), "no {words:?} in:\n{report}");
    }
    assert!(
        !report.contains('\x1b'),
        "no colours without a terminal:\n{report}"
    );
    // "on" counts events and answers questions; "off" does neither, although one process is switched
    // between them.
    for cell in cells(&directory).values() {
        let on = cell["key"]["configuration"] == "everything on and timed";
        let events = cell["events"].as_array().map_or(0, Vec::len);
        assert_eq!(events > 0, on, "{}: {}", cell["key"], cell["events"]);
        assert_eq!(
            cell["asked"].as_array().map_or(0, Vec::len),
            if on { 3 } else { 0 }
        );
    }
    assert_nothing_left(&directory);
}

#[test]
fn an_interrupted_demo_leaves_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let directory = Directory::new("stop");
        let mut running =
            Process::start(weigh(&directory, &["demo", "--output", "out"]).stderr(Stdio::null()));
        wait_for("the servers' directory", || {
            let mut names = directory.names().into_iter();
            names.find(|name| name.starts_with("tare-weigh-"))
        });
        running.signal(signal);
        assert_eq!(running.wait().code(), Some(code));
        assert_nothing_left(&directory);
    }
}

#[test]
fn recipe_memory_measures_start_and_each_connection() {
    let directory = Directory::new("memory");
    let finished = finish(&mut weigh(
        &directory,
        &[
            "memory",
            "--server",
            "tare",
            "--connections",
            "20",
            "--repetitions",
            "1",
            "--output",
            "out",
        ],
    ));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("\nResident memory, tare, idle connections, 20 connections\n"),
        "{}",
        finished.stdout
    );
    assert!(
        finished
            .stdout
            .contains("at start, more than the baseline, MiB"),
        "{}",
        finished.stdout
    );
    let cells = cells(&directory);
    assert_eq!(cells.len(), 3);
    for cell in cells.values() {
        assert_eq!(state(cell), ("done", ""));
        let resident = &cell["resident"];
        let number = |name: &str| resident[name].as_f64();
        assert!(
            number("start") > Some(4096.0) && number("connection") > Some(0.0),
            "{resident}"
        );
        let on = cell["key"]["configuration"] != "off";
        // A segment has a page at least.
        assert_eq!(number("segment_start") > Some(4.0), on, "{resident}");
        assert_eq!(number("segment_connection").is_some(), on, "{resident}");
    }
    assert_nothing_left(&directory);
}

const RECIPE: &str = "\
question = 'q'
baseline = 'off'
measure = 'server_cpu'
per_event = true
connections = [3]
[run]
repetitions = 1
seconds = 1
warm_up = 0
[data]
rows = 100
[[server]]
name = 'tare'
kind = 'tare'
sql = ['CREATE DATABASE IF NOT EXISTS mine', 'CREATE TABLE IF NOT EXISTS mine.t (id INT)', 'DELETE FROM mine.t']
[[configuration]]
name = 'off'
options = ['--performance-schema=OFF']
[[configuration]]
name = 'on'
options = ['--performance-schema-instrument=%=ON']
targets = { alone = 1000.0 }
[[workload]]
name = 'alone'
script = 'oltp_point_select'
connections = [1]
before = ['INSERT INTO mine.t VALUES (7)']
after = ['DELETE FROM mine.t']
[[workload]]
name = 'three'
script = 'oltp_point_select'
[[ask]]
title = 'What stands there'
columns = ['rows', 'sum']
configurations = ['on']
sql = 'SELECT COUNT(*), SUM(id) FROM mine.t'
";

#[test]
fn a_recipe_may_have_statements_questions_targets_and_connections() {
    let directory = Directory::new("taught");
    write_recipe(&directory, RECIPE);
    let finished = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let cells = cells(&directory);
    assert_eq!(cells.len(), 2 * 3);
    for cell in cells.values() {
        let key = &cell["key"];
        assert_eq!(state(cell), ("done", ""), "{key}");
        let is_single = key["workload"] == "alone";
        assert_eq!(key["connections"], if is_single { 1 } else { 3 });
        let rows = &cell["asked"][0]["rows"];
        match (key["configuration"].as_str(), is_single) {
            (Some("off"), _) => assert_eq!(cell["asked"], Value::Null),
            // "alone" has the row while its question runs; `after` deletes it, so "three" finds an
            // empty table.
            (_, true) => assert_eq!(*rows, serde_json::json!([["1", "7"]])),
            (_, false) => assert_eq!(*rows, serde_json::json!([["0", null]])),
        }
    }
    let report = &finished.stdout;
    for words in [
        "\nWhat stands there, tare",
        "NULL",
        "\nTargets, tare, alone, 1 connections\n",
        "1000 %",
        "\nWhat an event cost, tare",
    ] {
        assert!(report.contains(words), "no {words:?} in\n{report}");
    }
    assert_nothing_left(&directory);
}

#[test]
fn a_recipe_that_names_missing_parts_is_refused() {
    let directory = Directory::new("untaught");
    for (right, wrong, words) in [
        (
            "alone = 1000.0",
            "nobody = 1.0",
            "configuration.targets = 'nobody'",
        ),
        (
            "configurations = ['on']",
            "configurations = ['never']",
            "ask.configurations = 'never'",
        ),
        ("connections = [1]", "connections = [0]", "give 1 or more"),
    ] {
        write_recipe(&directory, &RECIPE.replace(right, wrong));
        let finished = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    // A statement that the server refuses fails its cells, with the statement.
    write_recipe(
        &directory,
        &RECIPE.replace(
            "DELETE FROM mine.t']\n[[workload]]",
            "DELETE FROM nowhere.t']\n[[workload]]",
        ),
    );
    let finished = finish(&mut weigh(
        &directory,
        &["./r.toml", "--workload", "alone", "--output", "out"],
    ));
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("failed: the server refused 'DELETE FROM nowhere.t'"),
        "{}",
        finished.stdout
    );
}
