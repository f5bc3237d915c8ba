//! What a run whose truth is known is said to show.

mod support;

use std::collections::BTreeSet;

use tare_lab::analysis::Analysis;
use tare_lab::recipe::Measure;
use tare_lab::report;
use tare_lab::stats::compare::Verdict;
use tare_lab::stats::phase::Phase;

#[test]
fn costs_are_found_and_sameness_is_not_called_a_difference() {
    let (plan, results) = support::run();
    let analysis = Analysis::of(&plan, &results);
    assert_eq!(analysis.rows.len(), 6 * 5);
    for row in analysis.rows.iter().filter(|row| row.unstable.is_none()) {
        let Some(comparison) = row.comparisons.get(&Measure::ServerCpu) else {
            assert_eq!(row.key.label(), "baseline");
            continue;
        };
        let cost = support::COSTS
            .iter()
            .find(|(name, _)| *name == row.key.configuration)
            .expect("known")
            .1;
        let (low, high) = (
            comparison.percent.low.expect("seven"),
            comparison.percent.high.expect("seven"),
        );
        let percent = 100.0 * (cost - 1.0);
        match cost > 1.0 {
            true => {
                assert_eq!(
                    comparison.verdict,
                    Verdict::Different,
                    "{}",
                    row.key.title()
                );
                // Within the interval, or next to it: one in twenty may miss.
                assert!(
                    low - 1.0 < percent && percent < high + 1.0,
                    "{}: {}",
                    row.key.title(),
                    comparison.words()
                );
            }
            false => {
                assert_eq!(
                    comparison.verdict,
                    Verdict::NotDistinguishable,
                    "{}",
                    row.key.title()
                );
                assert!(
                    comparison
                        .words()
                        .starts_with("not distinguishable (below "),
                    "{}",
                    comparison.words()
                );
            }
        }
    }
}

#[test]
fn what_is_unstable_is_marked_and_not_concluded_from() {
    let (plan, results) = support::run();
    let analysis = Analysis::of(&plan, &results);
    let unstable: BTreeSet<(String, u32)> = (analysis.rows.iter())
        .filter(|row| row.unstable.is_some())
        .map(|row| (row.key.label(), row.key.connections))
        .collect();
    let expected = [("off".to_owned(), 256), ("timed".to_owned(), 64)];
    assert_eq!(unstable, expected.into_iter().collect());
    let conclusion = |name: &str| {
        let mut lines = analysis.conclusions.iter();
        lines
            .find(|line| line.contains(&format!(", {name}: ")))
            .unwrap_or_else(|| panic!("{:?}", analysis.conclusions))
    };
    assert!(conclusion("disabled").contains("not distinguishable from baseline (below "));
    let off = conclusion("off");
    assert!(
        off.contains("at 64 connections") && !off.contains("at 256 connections"),
        "{off}"
    );
    let timed = conclusion("timed");
    assert!(
        timed.contains("at 256 connections") && !timed.contains("at 64 connections"),
        "{timed}"
    );
    assert_eq!(analysis.troubles.len(), 1);
    let shown = report::terminal(&plan, &analysis);
    for words in [
        "off *",
        "* unstable",
        "1 cell failed: the server was killed by signal 9",
        "A/A floor",
    ] {
        assert!(shown.contains(words), "no {words:?} in\n{shown}");
    }
}

#[test]
fn phases_and_load_are_named() {
    let (plan, results) = support::run();
    let analysis = Analysis::of(&plan, &results);
    let phases = |name: &str| -> Vec<Phase> {
        analysis
            .rows
            .iter()
            .filter(|row| row.key.label() == name)
            .filter_map(|row| row.phase)
            .collect()
    };
    use Phase::{Degradation, Peak, RampUp};
    assert_eq!(
        phases("baseline"),
        [RampUp, RampUp, Peak, Peak, Degradation, Degradation]
    );
    let row = &analysis.rows[0];
    assert_eq!(row.load.len(), 1);
    assert!(
        (row.load[0].per_statement - 59.0 / 16.0).abs() < 0.01,
        "{:?}",
        row.load
    );
}

#[test]
fn fewer_than_four_repetitions_have_no_interval() {
    let (plan, results) = support::run();
    let few: Vec<_> = results
        .into_iter()
        .filter(|result| result.cell.repetition <= 3)
        .collect();
    let analysis = Analysis::of(&plan, &few);
    let row = analysis
        .rows
        .iter()
        .find(|row| row.key.configuration == "timed" && row.key.connections == 1)
        .expect("there");
    let comparison = &row.comparisons[&Measure::ServerCpu];
    assert_eq!(
        (comparison.verdict, comparison.percent.low),
        (Verdict::TooFew, None)
    );
    assert!(
        comparison
            .words()
            .contains("without an interval: 3 of 4 repetitions"),
        "{}",
        comparison.words()
    );
}
