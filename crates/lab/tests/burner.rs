//! Real runs with a server whose cost is built in: they run, switch configurations, stop by themselves
//! and continue. The short ones assert no figure, because the machine may be busy. The ignored one
//! asserts how often intervals hold the built-in cost, and writes target/bench/scale.json.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use support::Directory;
use tare_lab::analysis::Analysis;
use tare_lab::cell;
use tare_lab::interrupt::Interrupt;
use tare_lab::recipe::{Measure, Recipe};
use tare_lab::run::Runner;
use tare_lab::server::Binaries;
use tare_lab::stats::compare::Verdict;
use tare_lab::stats::interval::Interval;
use tare_lab::stats::starts::{Coverage, LEAST_STARTS};
use tare_lab::stopping_rule::{StopReason, StoppingRule, Until};
use tare_lab::store::{Plan, Store};

const RECIPE: &str = include_str!("../examples/burner.toml");

/// The example next to the test's program; cargo builds examples before it runs tests.
fn burner() -> PathBuf {
    let own = std::env::current_exe().expect("a program");
    let target = own
        .parent()
        .and_then(Path::parent)
        .expect("target/debug/deps");
    let burner = target.join("examples/burner");
    if !burner.exists() {
        // `cargo test --test burner` does not.
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "-p", "tare-lab", "--example", "burner"])
            .status();
        assert!(built.expect("cargo").success());
    }
    burner
}

/// The recipe with the example's path and little work, because tests are not optimised.
fn plan(change: impl Fn(&str) -> String, until: Option<Until>) -> Plan {
    let burner = burner();
    let text = RECIPE.replace(
        "target/release/examples/burner",
        burner.to_str().expect("a path"),
    );
    let text = text.replace(
        "\"{socket}\"]\n\n[[conf",
        "\"{socket}\", \"--work\", \"20000\"]\n\n[[conf",
    );
    let text = text.replace("turn_ms = 30", "turn_ms = 20");
    assert!(text.contains("--work") && text.contains("turn_ms = 20"));
    let mut recipe = Recipe::parse("burner", &change(&text)).expect("right");
    if until.is_some() {
        recipe.run.repetitions = 1;
    }
    Plan {
        stopping_rule: until.map(StoppingRule::new),
        ..Plan::new("burner", recipe, 7)
    }
}

/// Allows one run at a time, because a process has one directory for its servers.
static ONE: Mutex<()> = Mutex::new(());

fn run(plan: Plan, store: Store, results: Vec<cell::Result>) -> (Plan, Vec<cell::Result>) {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let binaries = Binaries::locate("/nowhere/tare".into(), None, Err("none".into()));
    let interrupt = Interrupt::default();
    let mut runner =
        Runner::new(plan, store, results, &binaries, None, &interrupt).expect("a directory");
    let finished = runner.run();
    let (plan, _, results) = runner.into_parts();
    let failures: Vec<_> = results
        .iter()
        .filter(|result| result.outcome.measured().is_none())
        .collect();
    assert_eq!((finished.failed, finished.skipped), (0, 0), "{failures:?}");
    (plan, results)
}

const STARTS: u32 = LEAST_STARTS as u32;

/// A target that ends a run at the least number of starts.
const WIDE: Until = Until {
    percent: Some(1000.0),
    seconds: None,
};

#[test]
fn one_process_is_switched_until_intervals_are_narrow_and_resumes() {
    let directory = Directory::new("burner");
    let path = directory.path().join("run");
    let plan = plan(str::to_owned, Some(WIDE));
    let store = Store::create(&path, &plan).expect("new");
    let (_, results) = run(plan, store, Vec::new());
    let (store, mut plan, stored) = Store::open(&path).expect("whole");
    assert_eq!(
        (stored.len(), plan.cells.len()),
        (results.len(), results.len())
    );
    let stopping_rule = plan.stopping_rule.clone().expect("one");
    assert_eq!(
        (stopping_rule.ended, plan.coverage()),
        (Some(StopReason::Narrow), Coverage::Stopped)
    );
    assert_eq!(plan.cells.last().expect("some").repetition, STARTS);
    for result in &stored {
        let measured = result.outcome.measured().expect("figures");
        assert!(measured.lead_ms.expect("known") >= 20.0);
        assert!(!measured.turns.is_empty() && measured.server.is_some());
        assert!(measured.turns.iter().all(|turn| turn.probe_ns > 0.0));
        assert!(measured.latency.as_ref().expect("counted").mean_ms > 0.0);
    }
    let next = stopping_rule.groups.values().next().expect("one load");
    assert!(next.costs.is_some() && next.components.is_some() && next.turns.is_some());
    // After an interruption within the last start, only that start is measured again.
    let last = |result: &&cell::Result| result.cell.repetition == STARTS;
    let lost = stored.iter().filter(last).count();
    let earlier: Vec<cell::Result> = (stored.iter())
        .filter(|result| !last(result))
        .cloned()
        .collect();
    plan.stopping_rule.as_mut().expect("one").ended = None;
    assert_eq!(plan.coverage(), Coverage::Anytime);
    let (plan, again) = run(plan, store, earlier.clone());
    assert_eq!(
        plan.stopping_rule.expect("one").ended,
        Some(StopReason::Narrow)
    );
    assert_eq!(again.len(), earlier.len() + lost);
    let turns = |results: &[cell::Result]| {
        results[0]
            .outcome
            .measured()
            .map(|measured| measured.transactions)
    };
    assert_eq!(turns(&again), turns(&earlier), "what was there is kept");
}

#[test]
fn without_switching_each_configuration_has_its_own_process() {
    let directory = Directory::new("burner-apart");
    let path = directory.path().join("run");
    let until = Until {
        percent: Some(1e-6),
        seconds: Some(3.0),
    };
    let apart = |text: &str| text.replace("turn_ms = 20", "turn_ms = 20\nswitch = false");
    let plan = plan(apart, Some(until));
    let store = Store::create(&path, &plan).expect("new");
    let (plan, results) = run(plan, store, Vec::new());
    let stopping_rule = plan.stopping_rule.expect("one");
    assert_eq!(stopping_rule.ended, Some(StopReason::Time));
    assert!(stopping_rule.spent >= 3.0);
    assert_eq!(results.len(), plan.cells.len());
}

#[test]
fn a_configuration_with_its_own_process_has_its_own_baseline() {
    let directory = Directory::new("burner-mixed");
    let path = directory.path().join("run");
    let with_sidecar = |text: &str| {
        let first = text.rfind("[[configuration]]").expect("one");
        let own =
            text[first..].replacen("switch = ", "environment = { OWN = \"1\" }\nswitch = ", 1);
        let own = own.replacen("name = \"", "name = \"own, ", 1);
        text.replace(
            "[[workload]]",
            &format!(
                "{}\n[[workload]]",
                own.split("[[workload]]").next().expect("text")
            ),
        )
    };
    let mut plan = plan(with_sidecar, None);
    plan.recipe.run.repetitions = 4;
    plan.recipe.run.turns = 6;
    plan.cells = plan.recipe.plan(7);
    let names: Vec<String> = plan.recipe.keys().iter().map(|key| key.label()).collect();
    assert!(
        names.iter().any(|name| name.starts_with("own, ")),
        "{names:?}"
    );
    let store = Store::create(&path, &plan).expect("new");
    let (plan, results) = run(plan, store, Vec::new());
    let analysis = tare_lab::analysis::Analysis::of(&plan, &results);
    for row in analysis.rows.iter().filter(|row| !row.key.again) {
        let comparison = row.comparisons.get(&plan.recipe.measure);
        let Some(comparison) = comparison else {
            assert_eq!(Some(&row.key.configuration), plan.recipe.baseline.as_ref());
            continue;
        };
        // The A/A pair is two processes, which is no control for the shared one.
        let own = row.key.configuration.starts_with("own, ");
        assert_eq!(
            comparison.floor_percent.is_some(),
            own,
            "{}",
            row.key.label()
        );
        assert_eq!(comparison.pairs, 4);
        // Of six turns in a start, those without a transaction are not compared, as a busy machine may
        // cause.
        assert!(
            (12..=24).contains(&comparison.turns),
            "{}",
            comparison.turns
        );
    }
}

/// A shell command that writes a line every 5 ms.
fn ticking(file: &Path) -> String {
    format!("while sleep 0.005; do echo >> {}; done", file.display())
}

#[test]
fn sidecars_run_in_their_own_configuration_and_end_with_the_run() {
    let directory = Directory::new("burner-beside");
    let path = directory.path().join("run");
    let file = directory.path().join("ticks");
    let lines = || std::fs::read(&file).map_or(0, |bytes| bytes.len());
    let with_sidecar = |text: &str| {
        let last = text.rfind("switch = ").expect("one");
        format!(
            "{}beside = ['{}']\n{}",
            &text[..last],
            ticking(&file),
            &text[last..]
        )
    };
    let mut plan = plan(with_sidecar, None);
    plan.recipe.run.turns = 4;
    plan.cells = plan.recipe.plan(7);
    let store = Store::create(&path, &plan).expect("new");
    let (_, results) = run(plan, store, Vec::new());
    assert_eq!(results.len(), 4 * 3);
    let all = lines();
    assert!(all > 0, "it ran");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(lines(), all, "it has ended");
}

#[test]
fn a_sidecar_that_ends_fails_its_cells_with_its_last_output() {
    let directory = Directory::new("burner-beside-ends");
    let path = directory.path().join("run");
    let with_sidecar = |text: &str| {
        let last = text.rfind("switch = ").expect("one");
        let command = "echo no such server >&2; exit 3";
        format!("{}beside = ['{command}']\n{}", &text[..last], &text[last..])
    };
    let mut plan = plan(with_sidecar, None);
    plan.recipe.run.repetitions = 1;
    plan.cells = plan.recipe.plan(7);
    let store = Store::create(&path, &plan).expect("new");
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let binaries = Binaries::locate("/nowhere/tare".into(), None, Err("none".into()));
    let interrupt = Interrupt::default();
    let mut runner =
        Runner::new(plan, store, Vec::new(), &binaries, None, &interrupt).expect("a directory");
    let finished = runner.run();
    let (_, _, results) = runner.into_parts();
    assert_eq!(finished.failed, results.len());
    let outcome = format!("{:?}", results[0].outcome);
    assert!(
        outcome.contains("ended with exit code 3: no such server"),
        "{outcome}"
    );
}

/// The configurations of the hundred runs, and their built-in costs in percent.
const COSTS: [(&str, f64); 4] = [
    ("0 % more", 0.0),
    ("0.5 %", 0.5),
    ("1 %", 1.0),
    ("5 %", 5.0),
];

/// The tolerated number of errors at this error rate: four standard deviations above the mean.
fn tolerated(part: f64, runs: u64) -> usize {
    let mean = part * runs as f64;
    (mean + 4.0 * mean.sqrt()).ceil() as usize
}

#[test]
#[ignore = "100 real runs take an hour; make test-long. TARE_SCALE_RUNS=10 takes ten"]
fn intervals_of_a_hundred_real_runs_hold_the_built_in_cost() {
    let runs: u64 =
        std::env::var("TARE_SCALE_RUNS").map_or(100, |runs| runs.parse().expect("a number"));
    let until = Until {
        percent: Some(1.0),
        seconds: Some(180.0),
    };
    let more: String = (COSTS.iter())
        .map(|(name, percent)| {
            let burner = burner();
            let burner = burner.display();
            format!("[[configuration]]\nname = \"{name}\"\nswitch = [\"{burner} set {{socket}} {percent}\"]\n\n")
        })
        .collect();
    let with_all = |text: &str| {
        // An optimised server does its usual work.
        let text = if cfg!(debug_assertions) {
            text.to_owned()
        } else {
            text.replace("20000", "600000")
        };
        let text = text.replace("turn_ms = 20", "turn_ms = 30");
        text.replace("[[workload]]", &format!("{more}[[workload]]"))
    };
    let mut comparisons = std::collections::BTreeMap::new();
    for seed in 1..=runs {
        let directory = Directory::new("burner-hundred");
        let plan = Plan {
            seed,
            ..plan(with_all, Some(until))
        };
        let store = Store::create(&directory.path().join("run"), &plan).expect("new");
        let (plan, results) = run(plan, store, Vec::new());
        let analysis = Analysis::of(&plan, &results);
        for row in &analysis.rows {
            if let Some(comparison) = row.comparisons.get(&Measure::ServerCpu) {
                let of_row: &mut Vec<_> = comparisons.entry(row.key.label()).or_default();
                of_row.push((
                    comparison.percent,
                    comparison.verdict,
                    plan.stopping_rule.clone().expect("one").spent,
                ));
            }
        }
    }
    let truth = |label: &str| match label {
        "2 %" => 2.0,
        _ => COSTS
            .iter()
            .find(|(name, _)| *name == label)
            .map_or(0.0, |(_, percent)| *percent),
    };
    let (mut figures, mut failures) = (serde_json::Map::new(), Vec::new());
    for (label, all) in &comparisons {
        let truth = truth(label);
        let within = |percent: &Interval| percent.low <= Some(truth) && Some(truth) <= percent.high;
        let covered = all.iter().filter(|(percent, ..)| within(percent)).count();
        let different = all
            .iter()
            .filter(|(_, verdict, _)| *verdict == Verdict::Different)
            .count();
        println!("{label}: {covered} of {runs} within the interval, {different} called different");
        let wrong = match truth {
            0.0 => different,
            // A cost near the resolution of a run may or may not be detected.
            truth if truth < 2.0 => 0,
            _ => all.len() - different,
        };
        let missed = all.len() - covered;
        if missed > tolerated(0.04, runs) || wrong > tolerated(0.05, runs) {
            failures.push(format!(
                "{label}: {missed} missed, {wrong} wrong verdicts of {runs}"
            ));
        }
        let intervals: Vec<_> = (all.iter())
            .map(|(percent, _, seconds)| {
                serde_json::json!([percent.mean, percent.low, percent.high, seconds])
            })
            .collect();
        figures.insert(
            label.clone(),
            serde_json::json!({
                "truth": truth, "runs": runs, "within": covered, "called_different": different,
                "mean_low_high_seconds": intervals,
            }),
        );
    }
    let text = serde_json::to_string_pretty(&figures).expect("figures");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    std::fs::create_dir_all(&path).expect("target/bench");
    std::fs::write(path.join("scale.json"), text + "\n").expect("written");
    assert!(failures.is_empty(), "{failures:?}");
}
