//! `tare weigh` with turns: several servers run, and their loads pause in turn. The measured figures
//! are not checked.

mod support;

use std::process::Stdio;

use serde_json::Value;
use support::weigh::{assert_nothing_left, cells, state, weigh, write_recipe};
use support::{Directory, Process, finish, wait_for};

const TURNS: u64 = 4;

fn recipe_text() -> String {
    format!(
        "\
question = 'q'
baseline = 'off'
connections = [2, 6]
[run]
repetitions = 1
turns = {TURNS}
turn_ms = 60
warm_up = 0
[data]
rows = 100
[[server]]
name = 'tare'
kind = 'tare'
[[configuration]]
name = 'off'
options = ['--performance-schema=OFF']
[[configuration]]
name = 'on'
options = ['--performance-schema-instrument=%=ON']
[[configuration]]
name = 'few'
options = ['--max-connections=4']
[[workload]]
name = 'point'
script = 'oltp_point_select'
[[workload]]
name = 'reconnect'
script = 'reconnect'
"
    )
}

/// The process of this directory whose command line contains this.
fn process(directory: &Directory, text: &str) -> Option<i32> {
    let within = format!("{}/", directory.path().display());
    let entries = std::fs::read_dir("/proc").expect("mounted").flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&within) && line.contains(text)
    })
}

fn assert_figures(cell: &Value) {
    let key = &cell["key"];
    assert_eq!(state(cell), ("done", ""), "{key}");
    let turns = cell["turns"].as_array().expect("turns");
    assert_eq!(turns.len() as u64, TURNS, "{key}");
    let number = |cell: &Value, name: &str| cell[name].as_f64().expect("a number");
    let sum = |name: &str| turns.iter().map(|turn| number(turn, name)).sum::<f64>();
    assert!(sum("transactions") > 0.0 && sum("transactions") == number(cell, "transactions"));
    assert!(
        (sum("server") - number(&cell["server"], "seconds")).abs() < 1e-6,
        "{key}"
    );
    assert!(number(cell, "seconds") >= TURNS as f64 * 0.06, "{key}");
    assert!(number(cell, "queries") > 0.0, "{key}: {cell}");
    let latency = &cell["latency"];
    assert!(number(latency, "mean_ms") > 0.0, "{key}");
    assert!(
        number(latency, "p99_ms") >= number(latency, "p95_ms"),
        "{key}"
    );
    // Pauses, which are longer than a turn, do not count as latency.
    assert!(number(latency, "mean_ms") < 60.0, "{key}: {latency}");
    assert!(number(&cell["switches"], "server_voluntary") > 0.0, "{key}");
    let events = cell["events"].as_array().expect("a list");
    assert_eq!(!events.is_empty(), key["configuration"] != "off", "{key}");
}

#[test]
fn configurations_take_turns_and_a_failure_does_not_affect_the_others() {
    let directory = Directory::new("turns");
    write_recipe(&directory, &recipe_text());
    let finished = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let cells = cells(&directory);
    assert_eq!(cells.len(), 2 * 2 * 4);
    for cell in cells.values() {
        let key = &cell["key"];
        let (state, reason) = state(cell);
        if key["configuration"] != "few" || state == "done" {
            assert_figures(cell);
            // While it reconnects, a load may have more connections than threads.
            assert!(
                key["configuration"] != "few" || key["connections"] == 2,
                "{key}"
            );
        } else {
            let reason = reason.to_lowercase();
            assert!(
                reason.contains("1040") || reason.contains("too many connections"),
                "{key}: {reason}"
            );
        }
    }
    assert_nothing_left(&directory);
}

#[test]
fn ctrl_c_ends_paused_loads_and_resume_measures_their_cells_together() {
    let directory = Directory::new("turns-resume");
    write_recipe(
        &directory,
        &recipe_text().replace(
            "name = 'few'\noptions = ['--max-connections=4']",
            "name = 'more'",
        ),
    );
    let mut running =
        Process::start(weigh(&directory, &["./r.toml", "--output", "out"]).stderr(Stdio::null()));
    wait_for("the second load's turns", || {
        let first = directory.path().join("out/cells/0004.json").exists();
        first.then(|| process(&directory, "counted.lua")).flatten()
    });
    running.signal("INT");
    assert_eq!(running.wait().code(), Some(130));
    assert_nothing_left(&directory);
    let before = cells(&directory);
    assert!(
        before.len() >= 4 && before.len().is_multiple_of(4),
        "{}",
        before.len()
    );
    // A cell without figures is repeated together with those that it took turns with.
    let lost = directory.path().join("out/cells/0002.json");
    std::fs::remove_file(lost).expect("it was there");
    let finished = finish(&mut weigh(&directory, &["--resume", "out"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let after = cells(&directory);
    assert_eq!(after.len(), 2 * 2 * 4);
    after.values().for_each(assert_figures);
    for number in 1..=4 {
        assert_ne!(
            before[&number]["turns"], after[&number]["turns"],
            "{number}"
        );
    }
    assert_nothing_left(&directory);
}

#[test]
fn a_server_that_dies_in_a_turn_fails_only_its_cells() {
    let directory = Directory::new("turns-death");
    let text = recipe_text().replace(
        "name = 'few'\noptions = ['--max-connections=4']",
        "name = 'few'\noptions = ['--max-connections=99']",
    );
    write_recipe(
        &directory,
        &text.replace(&format!("turns = {TURNS}"), "turns = 40"),
    );
    let mut running =
        Process::start(weigh(&directory, &["./r.toml", "--output", "out"]).stderr(Stdio::null()));
    wait_for("turns", || process(&directory, "counted.lua"));
    let server = wait_for("the server", || process(&directory, "--max-connections=99"));
    let server = rustix::process::Pid::from_raw(server).expect("a process");
    rustix::process::kill_process(server, rustix::process::Signal::KILL).expect("killed");
    assert_eq!(running.wait().code(), Some(1));
    let cells = cells(&directory);
    assert_eq!(cells.len(), 2 * 2 * 4);
    for cell in cells.values() {
        let (state, reason) = state(cell);
        if cell["key"]["configuration"] == "few" {
            assert_eq!(state, "failed");
            assert!(
                reason.contains("the server was killed by signal 9"),
                "{reason}"
            );
        } else {
            assert_eq!((state, reason), ("done", ""));
        }
    }
    assert_nothing_left(&directory);
}

/// Two configurations of one process, one with a process of its own, and workloads with a rate.
const SHARED: &str = "\
question = 'q'
baseline = 'off'
connections = [2]
[run]
repetitions = 1
turns = 6
turn_ms = 100
warm_up = 0
[data]
rows = 100
[[server]]
name = 'tare'
kind = 'tare'
[[configuration]]
name = 'disabled'
options = ['--performance-schema=OFF']
[[configuration]]
name = 'off'
options = ['--performance-schema=ON']
sql = [\"UPDATE performance_schema.setup_instruments SET ENABLED = 'NO', TIMED = 'NO'\"]
[[configuration]]
name = 'on'
options = ['--performance-schema=ON']
sql = [\"UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'\"]
[[workload]]
name = 'flat out'
script = 'oltp_point_select'
[[workload]]
name = 'at half'
script = 'oltp_point_select'
rate = '50 % of peak'
[[workload]]
name = 'at forty'
script = 'oltp_point_select'
rate = 40
[[ask]]
title = 'How it is set'
columns = ['enabled']
configurations = ['off', 'on']
sql = \"SELECT DISTINCT ENABLED FROM performance_schema.setup_instruments WHERE NAME LIKE 'statement/sql/%'\"
";

#[test]
fn one_process_serves_two_configurations_and_rates_are_equal() {
    let directory = Directory::new("turns-shared");
    write_recipe(&directory, SHARED);
    let finished = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let plan = std::fs::read_to_string(directory.path().join("out/plan.json")).expect("written");
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    let peak = plan["rates"]["tare/at half/2"].as_f64().expect("found");
    let cells = cells(&directory);
    assert_eq!(cells.len(), 3 * 4);
    for cell in cells.values() {
        let key = &cell["key"];
        assert_eq!(state(cell), ("done", ""), "{key}");
        let configuration = key["configuration"].as_str();
        let events = cell["events"].as_array().map_or(0, Vec::len);
        // At a low rate, an `idle` event may last from a turn with instruments on into one with
        // instruments off.
        let paced = key["workload"] != "flat out";
        let on = configuration == Some("on");
        assert!(
            (events > 0) == on || (paced && !on),
            "{key}: {}",
            cell["events"]
        );
        let expected = match configuration {
            Some("on") => serde_json::json!([["YES"]]),
            Some("off") => serde_json::json!([["NO"]]),
            _ => Value::Null,
        };
        assert_eq!(cell["asked"][0]["rows"], expected, "{key}");
        let number = |name: &str| cell[name].as_f64().expect("a number");
        match key["workload"].as_str() {
            Some("flat out") => assert_eq!(cell["rate"], Value::Null),
            Some("at half") => assert!((number("rate") - peak / 2.0).abs() < 1e-6 * peak, "{key}"),
            _ => {
                // A slow machine may do less. The rate is an upper limit.
                assert_eq!(cell["rate"].as_f64(), Some(40.0));
                let most = 40.0 * (4.0 * number("seconds") + 1.0);
                assert!(
                    number("transactions") < most,
                    "{key}: {}",
                    number("transactions")
                );
            }
        }
    }
    assert_nothing_left(&directory);
}
