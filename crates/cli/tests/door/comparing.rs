//! Whether two engines count the same, but for what differs by design.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::checks::CHECKS;
use crate::counts::counts;
use crate::servers::{Engine, Version};
use crate::steps;

const DIFFERENCES: &str = include_str!("differences.tsv");

/// What may differ.
struct Difference {
    check: String,
    what: String,
    /// Percent, or nothing if it may be anything.
    percent: Option<f64>,
}

/// Those of one server. A line: servers, check, what (with % for anything), how much ("any" or a percentage),
/// reason.
fn differences(version: Version) -> Vec<Difference> {
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
                CHECKS.iter().any(|known| known.name == check),
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

/// SQL's LIKE, with % alone.
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

/// How often both engines are run before a difference counts. A background thread that comes in between
/// makes a difference in one run; what an engine counts otherwise is there in all of them, on the same side.
const ROUNDS: usize = 3;

/// How a round found something to differ, and on which side Tare was.
struct Seen {
    how: String,
    side: Option<Ordering>,
}

/// The differences of a round, and those of the rounds before it that it has, too.
type Found = BTreeMap<String, Vec<Seen>>;

/// Differences that each round has had so far and `next` has, too, with Tare on the same side.
fn lasting(earlier: Found, mut next: Found) -> Found {
    let in_both = earlier.into_iter().filter_map(|(what, mut seen)| {
        let found = next.remove(&what)?;
        let same_side = (found.iter().zip(&seen)).all(|(now, before)| now.side == before.side);
        // What each round found, so that chance can be told from a rule.
        seen.extend(found);
        same_side.then_some((what, seen))
    });
    in_both.collect()
}

pub fn compare(version: Version) {
    if version.is_left_out() {
        return;
    }
    let known = differences(version);
    let mut found = round(version, &known);
    for _ in 1..ROUNDS {
        if found.is_empty() {
            return;
        }
        found = lasting(found, round(version, &known));
    }
    let report: Vec<String> = found
        .iter()
        .map(|(what, seen)| {
            let each: Vec<_> = seen.iter().map(|each| each.how.as_str()).collect();
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

/// Runs the script with both engines and gives what differs.
fn round(version: Version, known: &[Difference]) -> Found {
    let (did, stock) = counts(version, Engine::Stock);
    let (did_too, tare) = counts(version, Engine::Tare);
    assert!(
        did.len() >= steps::length()
            && did.iter().filter(|each| each.starts_with("error")).count() > 10
    );
    assert_eq!(
        did, did_too,
        "the server answers otherwise with Tare's engine"
    );
    let mut report = Found::new();
    let every: BTreeSet<_> = stock.keys().chain(tare.keys()).collect();
    for key in every {
        let (check, what) = key;
        let (a, b) = (
            stock.get(key).copied().unwrap_or(0.0),
            tare.get(key).copied().unwrap_or(0.0),
        );
        let mut by_design = known.iter().filter(|each| each.check == *check);
        let percent = match by_design.find(|each| like(what, &each.what)) {
            Some(each) => each.percent,
            None => CHECKS
                .iter()
                .find(|each| each.name == *check)
                .map(|each| each.percent),
        };
        if percent.is_some_and(|percent| (a - b).abs() > a.max(b) * percent / 100.0) {
            let seen = Seen {
                how: format!("stock {a} Tare {b}"),
                side: b.partial_cmp(&a),
            };
            report.insert(format!("{check}\t{what}"), vec![seen]);
        }
    }
    // A line about something that no server has any more is to go. Not every run has every event,
    // but each has all instruments.
    for each in known {
        if !stock
            .keys()
            .chain(tare.keys())
            .any(|(_, what)| like(what, &each.what))
        {
            let seen = Seen {
                how: "listed, and not there".into(),
                side: None,
            };
            report.insert(format!("{}\t{}", each.check, each.what), vec![seen]);
        }
    }
    report
}

#[test]
fn patterns_are_of_percent_signs() {
    assert!(like("wait/synch/mutex", "wait/%/mutex") && like("a", "%") && !like("ab", "b%"));
}
