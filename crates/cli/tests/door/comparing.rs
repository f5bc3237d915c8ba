//! Compares the counts of two engines, except for what differs by design.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::checks::CHECKS;
use crate::counts::run_script;
use crate::servers::{Engine, Version};
use crate::steps;

const DIFFERENCES: &str = include_str!("differences.tsv");

/// A permitted difference.
struct Difference {
    check: String,
    what: String,
    /// The largest difference in percent; `None` permits any.
    percent: Option<f64>,
}

/// The permitted differences of one server. Fields of a line: servers, check, what (a LIKE pattern), how much
/// ("any" or a percentage), reason.
fn permitted_differences(version: Version) -> Vec<Difference> {
    let lines = DIFFERENCES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [servers, check, what, much, reason] = fields[..] else {
                panic!("door/differences.tsv: {line:?} has not five fields");
            };
            assert!(reason.len() > 10, "{line:?} gives no reason");
            assert!(
                CHECKS.iter().any(|listed| listed.name == check),
                "{line:?}: there is no check {check:?}"
            );
            let percent =
                (much != "any").then(|| much.trim_end_matches('%').parse().expect("a percentage"));
            (servers == "all" || servers.split(' ').any(|each| each == version.name())).then(|| {
                Difference {
                    check: check.to_owned(),
                    what: what.to_owned(),
                    percent,
                }
            })
        })
        .collect()
}

/// SQL's LIKE without `_`.
fn like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('%') {
        None => text == pattern,
        Some((start, rest)) => {
            let Some(text) = text.strip_prefix(start) else {
                return false;
            };
            (0..=text.len()).any(|at| text.is_char_boundary(at) && like(&text[at..], rest))
        }
    }
}

/// How often both engines run before a difference fails the test. A background thread makes a
/// difference in one run; an engine that counts wrongly differs in all of them, to the same side.
const ROUNDS: usize = 3;

/// A difference in one round: both counts as text, and whether Tare's is the larger one.
struct Observation {
    counts: String,
    side: Option<Ordering>,
}

/// Differences that all rounds so far have, each with its observations.
type Differences = BTreeMap<String, Vec<Observation>>;

/// The earlier differences that `next` has too, with Tare on the same side.
fn intersect(earlier: Differences, mut next: Differences) -> Differences {
    let in_both = earlier.into_iter().filter_map(|(what, mut observations)| {
        let added = next.remove(&what)?;
        let same_side =
            (added.iter().zip(&observations)).all(|(now, before)| now.side == before.side);
        observations.extend(added);
        same_side.then_some((what, observations))
    });
    in_both.collect()
}

/// Fails if the engines differ in each of `ROUNDS` rounds.
pub fn compare(version: Version) {
    if version.is_left_out() {
        return;
    }
    let permitted = permitted_differences(version);
    let mut differences = run_round(version, &permitted);
    for _ in 1..ROUNDS {
        if differences.is_empty() {
            return;
        }
        differences = intersect(differences, run_round(version, &permitted));
    }
    let report: Vec<String> = differences
        .iter()
        .map(|(what, observations)| {
            let each: Vec<_> = observations
                .iter()
                .map(|each| each.counts.as_str())
                .collect();
            format!(
                "{what}	{}
",
                each.join("; ")
            )
        })
        .collect();
    assert!(
        report.is_empty(),
        "{version}: not as the server's own engine counts\n{}",
        report.concat()
    );
}

/// Runs the script with both engines and returns the differences.
fn run_round(version: Version, permitted: &[Difference]) -> Differences {
    let (outcomes, stock) = run_script(version, Engine::Stock);
    let (outcomes_of_tare, tare) = run_script(version, Engine::Tare);
    assert!(
        outcomes.len() >= steps::length()
            && outcomes
                .iter()
                .filter(|each| each.starts_with("error"))
                .count()
                > 10
    );
    assert_eq!(
        outcomes, outcomes_of_tare,
        "the server answers otherwise with Tare's engine"
    );
    let mut report = Differences::new();
    let every: BTreeSet<_> = stock.keys().chain(tare.keys()).collect();
    for key in every {
        let (check, what) = key;
        let (a, b) = (
            stock.get(key).copied().unwrap_or(0.0),
            tare.get(key).copied().unwrap_or(0.0),
        );
        let mut by_design = permitted.iter().filter(|each| each.check == *check);
        let percent = match by_design.find(|each| like(what, &each.what)) {
            Some(each) => each.percent,
            None => CHECKS
                .iter()
                .find(|each| each.name == *check)
                .map(|each| each.percent),
        };
        if percent.is_some_and(|percent| (a - b).abs() > a.max(b) * percent / 100.0) {
            let observation = Observation {
                counts: format!("stock {a} Tare {b}"),
                side: b.partial_cmp(&a),
            };
            report.insert(format!("{check}\t{what}"), vec![observation]);
        }
    }
    // A line of differences.tsv that matches nothing has to be removed.
    for each in permitted {
        if !stock
            .keys()
            .chain(tare.keys())
            .any(|(_, what)| like(what, &each.what))
        {
            let observation = Observation {
                counts: "listed, but matches nothing".into(),
                side: None,
            };
            report.insert(format!("{}\t{}", each.check, each.what), vec![observation]);
        }
    }
    report
}

#[test]
fn percent_signs_match_any_text() {
    assert!(like("wait/synch/mutex", "wait/%/mutex") && like("a", "%") && !like("ab", "b%"));
}
