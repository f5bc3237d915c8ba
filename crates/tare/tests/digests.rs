//! The table of digests when it is full, and with more digests than a bank's index has entries.
#![cfg(feature = "instrument")]

mod support;

use std::sync::atomic::Ordering;

use support::everything;
use tare::{Class, Kind, Limits};
use tare_layout::shared::Lost;

tare::classes! {
    static QUERY: Statement = "statement/digests/query";
}

#[test]
fn a_full_digest_table_evicts_the_least_recently_used_to_all_else() {
    let limits = Limits::default().digests(5);
    let tare = everything(limits);
    let run = |text: &str| tare::statement::start(&QUERY).text(text);
    let columns = |columns: &str| {
        for column in columns.chars() {
            run(&format!("SELECT {column} FROM t"));
        }
    };
    let counts = || {
        let mut counts: Vec<(String, u64)> = tare
            .digests()
            .into_iter()
            .map(|(id, text)| (text.replace(" FROM `t`", ""), tare.digest(id).count))
            .collect();
        counts.sort();
        counts
    };
    let expected = |counts: &[(&str, u64)]| -> Vec<(String, u64)> {
        let text = |(column, n): &(&str, u64)| (format!("SELECT `{column}`"), *n);
        counts.iter().map(text).collect()
    };
    columns("abcdabcd");
    assert_eq!(
        counts(),
        expected(&[("a", 2), ("b", 2), ("c", 2), ("d", 2)])
    );
    assert_eq!(tare.losses(), []);
    // b is the least recently used one.
    columns("acdae");
    assert_eq!(
        counts(),
        expected(&[("a", 4), ("c", 3), ("d", 3), ("e", 1)])
    );
    assert_eq!(tare.digest(0).count, 2);
    // It comes again, gets the number of c, and counts from zero.
    columns("bb");
    assert_eq!(
        counts(),
        expected(&[("a", 4), ("b", 2), ("d", 3), ("e", 1)])
    );
    assert_eq!(tare.digest(0).count, 5);
    for _ in 0..3 {
        columns("abcdefg");
    }
    assert_eq!(
        counts(),
        expected(&[("d", 1), ("e", 1), ("f", 1), ("g", 1)])
    );
    // Nothing is lost: the counts of evicted digests are in "all else", including times and buckets.
    let all: u64 = (0..5).map(|id| tare.digest(id).count).sum();
    assert_eq!(all, tare.total(&QUERY).count);
    assert_eq!((0..5).map(|id| tare.digest(id).buckets).sum::<u64>(), all);
    assert_eq!(tare.statements(), all);
    let evicted = tare.lost(Lost::DigestsEvicted);
    assert_eq!(tare.losses(), [(Lost::DigestsEvicted as usize, evicted)]);
    assert!(evicted >= 20, "{evicted}");
    // A running statement whose digest is evicted before it ends is counted as "all else".
    let rest = tare.digest(0).count;
    let running = tare::statement::start(&QUERY);
    running.text("SELECT x FROM t");
    columns("hijkl");
    let evicted_while = tare.digest(0).count - rest;
    drop(running);
    assert_eq!(tare.digest(0).count, rest + evicted_while + 1);

    // After TRUNCATE a running statement belongs to no digest.
    let running = tare::statement::start(&QUERY);
    running.text("SELECT a FROM t");
    let generation = &tare.view.control().digest_generation;
    generation.fetch_add(1, Ordering::SeqCst);
    run("SELECT z FROM t");
    drop(running);
    let digests = tare.digests();
    assert_eq!(digests.len(), 1);
    assert!(digests[0].1.contains('z'), "{digests:?}");
    assert_eq!(tare.digest(digests[0].0).count, 1);
    assert_eq!(tare.digest(0).count, 1);
    assert_eq!(tare.lost(Lost::Digests), 0);
    run("SELECT a FROM t");
    assert_eq!(tare.digests().len(), 2);
}

/// MySQL's size includes the row of "all else": with 1 there is no other.
#[test]
fn a_digest_table_of_one_row_has_all_else() {
    let limits = Limits::default().digests(1);
    let tare = everything(limits);
    let run = |text: &str| tare::statement::start(&QUERY).text(text);
    ["SELECT a", "SELECT b", "SELECT a"]
        .into_iter()
        .for_each(run);
    assert_eq!(tare.digests(), []);
    assert_eq!(tare.digest(0).count, 3);
    let generation = &tare.view.control().digest_generation;
    generation.fetch_add(1, Ordering::SeqCst);
    ["SELECT a", "SELECT b"].into_iter().for_each(run);
    assert_eq!(tare.digest(0).count, 2);
    assert_eq!(tare.lost(Lost::Digests), 5);
}

#[test]
fn digests_beyond_a_banks_index_are_counted_exactly() {
    let tare = everything(Limits::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    for i in 0..100 {
                        let query = tare::statement::start(&QUERY);
                        query.text(&format!("SELECT c{i} FROM t"));
                    }
                }
            });
        }
    });
    let digests = tare.digests();
    assert_eq!(digests.len(), 100);
    for (id, text) in digests {
        let sum = tare.digest(id);
        assert_eq!(sum.count, 20, "{text}");
        assert!(sum.min.is_some_and(|min| min <= sum.max));
    }
    assert_eq!(tare.losses(), []);
}

#[test]
fn statements_of_another_language_are_grouped_by_their_shapes() {
    let tare = everything(Limits::default());
    for key in ["a", "b"] {
        let statement = tare::statement::start(&QUERY);
        statement.text_only(&format!("get {key}"));
        statement.shape("get ?");
    }
    tare::statement::start(&QUERY).shape("flush_all");
    let task = tare::task::statement::start(&QUERY);
    task.shape("get ?");
    drop(task);
    let counts = tare.digests().into_iter();
    let mut counts: Vec<_> = counts
        .map(|(id, text)| (text, tare.digest(id).count))
        .collect();
    counts.sort();
    assert_eq!(counts, [("flush_all".into(), 1), ("get ?".into(), 3)]);
    assert_eq!(tare.losses(), []);
}

#[test]
fn a_name_of_run_time_has_one_class() {
    let find = |name: &str| Class::find_or_create(Kind::Statement, name, "", Class::enabled);
    let before = find("statement/digests/before").unwrap();
    let tare = everything(Limits::default());
    // The class of a name that was there when Tare started is registered without an event.
    assert_eq!(tare.total(before).count, 0);
    let names = ["before", "after", "before"].map(|name| format!("statement/digests/{name}"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for name in &names {
                    drop(tare::statement::start(find(name).unwrap()));
                }
            });
        }
    });
    let after = find("statement/digests/after").unwrap();
    assert!(std::ptr::eq(before, find(before.name()).unwrap()));
    assert_eq!(tare.total(before).count, 8);
    assert_eq!(tare.total(after).count, 4);
    for name in [
        "stage/digests/other",
        &format!("statement/{}", "x".repeat(128)),
    ] {
        let error = find(name).unwrap_err().to_string();
        assert!(error.contains("must begin with \"statement/\""), "{error}");
    }
}
