//! The reports of a run with known costs.

mod support;

use std::collections::BTreeSet;

use tare_lab::analysis::Analysis;
use tare_lab::cell::{Cpu, Outcome};
use tare_lab::counters::Counts;
use tare_lab::recipe::Measure;
use tare_lab::report;
use tare_lab::report::picture::{Picture, Tone};
use tare_lab::stats::compare::Verdict;
use tare_lab::stats::phase::Phase;
use tare_lab::stopping_rule::{StopReason, StoppingRule, Until};

#[test]
fn costs_are_measured_and_equal_cells_do_not_differ() {
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
                // One interval in twenty may miss by a little.
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
fn unstable_cells_are_marked_and_have_no_verdict() {
    let (plan, results) = support::run();
    let analysis = Analysis::of(&plan, &results);
    let unstable: BTreeSet<(String, u32)> = (analysis.rows.iter())
        .filter(|row| row.unstable.is_some())
        .map(|row| (row.key.label(), row.key.connections))
        .collect();
    let expected = [("off".to_owned(), 256), ("timed".to_owned(), 64)];
    assert_eq!(unstable, expected.into_iter().collect());
    let picture = Picture::of(&plan, &analysis).expect("comparisons");
    for line in &picture.lines {
        let key = (line.row.key.label(), line.row.key.connections);
        let quoted = line.tone != Tone::Unquoted;
        assert_eq!(quoted, !unstable.contains(&key), "{}", line.label);
    }
    assert_eq!(analysis.failures.len(), 1);
    let terminal = report::render_terminal(&plan, &analysis);
    for words in [
        "off *",
        "* unstable",
        "1 cell failed: the server was killed by signal 9",
        "Two cells that are the same",
    ] {
        assert!(terminal.contains(words), "no {words:?} in\n{terminal}");
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

#[test]
fn three_sentences_state_differences_limits_and_trust() {
    let (plan, results) = support::run();
    let analysis = Analysis::of(&plan, &results);
    let sentences = report::sentences(&plan, &analysis);
    assert_eq!(sentences.len(), 3);
    // Timed differs at five numbers of connections, off at five; two rows are unstable.
    assert!(
        sentences[0].starts_with("10 of 16 comparisons show a difference in server CPU/transaction from baseline: from +2"),
        "{}",
        sentences[0]
    );
    assert!(
        sentences[0].contains(": timed) to +") && sentences[0].ends_with(": off)."),
        "{}",
        sentences[0]
    );
    assert!(
        sentences[1].starts_with(
            "6 are not distinguishable from baseline; what could hide there is below "
        ),
        "{}",
        sentences[1]
    );
    assert!(
        sentences[2].contains("(A/A, 7 repetitions of 30 s); left out: 2 unstable comparisons, 1 cell without figures."),
        "{}",
        sentences[2]
    );
}

#[test]
fn fewer_than_four_repetitions_have_no_interval_and_one_comparison_has_its_own_sentence() {
    let (mut plan, results) = support::run();
    let few: Vec<_> = (results.iter())
        .filter(|result| result.cell.repetition <= 3)
        .cloned()
        .collect();
    let sentences = report::sentences(&plan, &Analysis::of(&plan, &few));
    assert!(
        sentences[0].starts_with("Too few repetitions: 3 of the 4"),
        "{sentences:?}"
    );

    let (off, timed) = (plan.recipe.clone(), plan.recipe.clone());
    let mut only = |mut recipe: tare_lab::recipe::Recipe, name: &str| {
        recipe.connections = vec![8];
        recipe
            .configurations
            .retain(|each| ["baseline", name].contains(&each.name.as_str()));
        plan.recipe = recipe;
        report::sentences(&plan, &Analysis::of(&plan, &results))
    };
    let timed = only(timed, "timed");
    assert!(
        timed[0].starts_with("timed raises server CPU/transaction by ")
            && timed[0].ends_with("] against baseline."),
        "{timed:?}"
    );
    assert!(
        timed[1].starts_with("In transactions/s, timed differs from baseline by -1"),
        "{timed:?}"
    );
    let same = only(off, "disabled");
    assert!(
        same[0].starts_with("server CPU/transaction of disabled does not differ significantly from baseline: any difference is below "),
        "{same:?}"
    );
}

#[test]
fn the_terminal_draws_every_comparison() {
    let (plan, results) = support::run();
    let terminal = report::render_terminal(&plan, &Analysis::of(&plan, &results));
    let lines: Vec<&str> = terminal
        .lines()
        .skip_while(|line| !line.starts_with("Difference in "))
        .collect();
    let of = |name: &str| {
        let line = lines
            .iter()
            .find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("no {name} in\n{terminal}"))
    };
    let column = |line: &str, mark: char| line.chars().position(|c| c == mark);
    let (timed, off, same, unstable) = (
        of("8: timed "),
        of("8: off "),
        of("8: disabled "),
        of("256: off *"),
    );
    // A difference of a fifth is farther right than one of a twentieth; no difference is around zero.
    assert!(
        column(timed, '\u{25cf}') > column(off, '\u{25cf}'),
        "{terminal}"
    );
    let zero = column(timed, '\u{2502}').expect("zero");
    assert!(column(off, '\u{25cf}') > Some(zero), "{terminal}");
    assert!(
        column(same, '\u{25cb}').expect("a dot").abs_diff(zero) <= 2,
        "{terminal}"
    );
    assert!(
        unstable.contains('?') && same.contains("not distinguishable, < "),
        "{terminal}"
    );
    assert!(
        timed.contains('\u{2591}')
            && lines[0] == "Difference in server CPU/transaction from baseline, in percent"
    );
    // The axes of all lines begin in the same column, so the values are aligned.
    assert!(terminal.lines().last().is_some_and(|line| !line.is_empty()));
}

#[test]
fn the_page_and_the_terminal_print_the_confidence_of_the_intervals() {
    let (mut plan, results) = support::run();
    let ended = |ended| {
        let until = Until {
            seconds: Some(60.0),
            ..Until::default()
        };
        let mut stopping_rule = StoppingRule::new(until);
        stopping_rule.ended = ended;
        Some(stopping_rule)
    };
    for (stopping_rule, confidence, note) in [
        (None, "95 %", None),
        (
            ended(Some(StopReason::Time)),
            "96 %",
            Some("the time is over"),
        ),
        (ended(None), "99 %", Some("99 % at every look")),
    ] {
        plan.stopping_rule = stopping_rule;
        let analysis = Analysis::of(&plan, &results);
        let terminal = report::render_terminal(&plan, &analysis);
        let page = report::page::render_page(&plan, &results, &analysis);
        assert!(
            terminal.contains(&format!("{confidence} interval")),
            "{terminal}"
        );
        assert!(page.contains(&format!("in percent, with {confidence} intervals")));
        for other in ["95 %", "96 %", "99 %"] {
            let mentions = |text: &str| text.contains(&format!("{other} interval"));
            assert!(
                other == confidence || !(mentions(&terminal) || mentions(&page)),
                "{other}"
            );
        }
        if let Some(note) = note {
            assert!(terminal.contains(note) && page.contains(note), "{note}");
        }
    }
}

#[test]
fn processor_counts_are_compared_per_transaction() {
    let (plan, mut results) = support::run();
    let cost = |name: &str| {
        let line = support::COSTS.iter().find(|(label, _)| *label == name);
        line.map_or(1.0, |(_, cost)| *cost)
    };
    for result in &mut results {
        let more = cost(&result.cell.key.configuration);
        if let Outcome::Done(measured) = &mut result.outcome {
            let of = |each: f64| each * more * measured.transactions;
            measured.counts = Some(Counts {
                instructions: of(2e5),
                cycles: of(1e5),
                cache_misses: of(40.0),
                tlb_misses: of(8.0),
            });
        }
    }
    let analysis = Analysis::of(&plan, &results);
    for row in analysis.rows.iter().filter(|row| row.done > 1) {
        let more = cost(&row.key.configuration);
        for (measure, each) in [
            (Measure::Instructions, 2e5),
            (Measure::Cycles, 1e5),
            (Measure::CacheMisses, 40.0),
            (Measure::TlbMisses, 8.0),
        ] {
            let mean = row.values[&measure].mean;
            assert!(
                (mean / (each * more) - 1.0).abs() < 1e-9,
                "{measure:?}: {mean}"
            );
            if let Some(comparison) = row.comparisons.get(&measure) {
                let percent = 100.0 * (more - 1.0);
                assert!(
                    (comparison.percent.mean - percent).abs() < 1e-6,
                    "{measure:?}"
                );
            }
        }
    }
    let terminal = report::render_terminal(&plan, &analysis);
    assert!(terminal.contains("instructions/transaction"), "{terminal}");
}

#[test]
fn the_report_states_what_other_programs_used() {
    let (mut plan, mut results) = support::run();
    plan.machine.cpus = 2;
    for result in &mut results {
        if let Outcome::Done(measured) = &mut result.outcome {
            // Both processors were busy; server and load used half of one.
            measured.machine.user = 60.0;
            measured.machine.system = 40.0;
            let half = 0.5 * measured.seconds;
            measured.generator.seconds = 0.2 * half;
            measured.server = Some(Cpu {
                seconds: 0.8 * half,
                ..Cpu::default()
            });
        }
    }
    let analysis = Analysis::of(&plan, &results);
    let others = analysis.hour.others.expect("known");
    assert!((others - 75.0).abs() < 1e-6, "{others}");
    let terminal = report::render_terminal(&plan, &analysis);
    assert!(
        terminal
            .contains("The hour was busy: other programs took 75 % of the machine's processors"),
        "{terminal}"
    );
}
