//! Exact windows: every event is counted until the window ends, and then the rules from before apply.
#![cfg(feature = "instrument")]

mod support;
#[path = "support/windows.rs"]
mod windows;

use std::sync::atomic::Ordering;

use support::Running;
use tare::{Operation, Rule};
use tare_layout::control::{MAX_EXACT_WINDOW_NS, effective};
use tare_layout::sampling::{GROUPS, WAIT};
use windows::{Clock, MS, count, sampled};

tare::classes! {
    static W: MetadataLock = "wait/lock/metadata/exact/w";
    static S: Stage = "stage/exact/s";
    static QUERY: Statement = "statement/exact/query";
}

/// A statement with a wait and a stage, and how often each was counted.
fn statement(tare: &Running) -> [u64; 3] {
    let before = [count(tare, &W), count(tare, &S), count(tare, &QUERY)];
    let running = tare::statement::start(&QUERY);
    tare::stage::set(&S);
    drop(tare::wait::start(&W, Operation::Lock));
    drop(running);
    let now = [count(tare, &W), count(tare, &S), count(tare, &QUERY)];
    std::array::from_fn(|i| now[i] - before[i])
}

/// At the level active over sampling of everything.
fn active() -> (Running, Clock) {
    let tare = sampled(Rule::OneIn(4), 7);
    let mut clock = Clock::new();
    statement(&tare);
    clock.set(&tare, WAIT, Rule::Active);
    assert_eq!(statement(&tare), [0; 3]);
    (tare, clock)
}

fn open(tare: &Running, clock: &mut Clock, length: u64) -> u64 {
    let control = tare.view.control();
    let until = clock.now() + length;
    assert!(control.open_exact_window(until));
    assert!(!control.open_exact_window(until + 1), "there is one");
    tare.recompute();
    clock.follow();
    until
}

fn rules(tare: &Running) -> Vec<Rule> {
    let control = tare.view.control();
    (0..GROUPS).map(|group| control.rule(group)).collect()
}

#[test]
fn the_program_ends_a_window_whose_reader_does_not() {
    let (tare, mut clock) = active();
    open(&tare, &mut clock, 50 * MS);
    assert_eq!(rules(&tare), [Rule::Every; GROUPS]);
    for _ in 0..100 {
        assert_eq!(statement(&tare), [1; 3]);
    }
    clock.pass(49 * MS);
    assert_eq!(statement(&tare), [1; 3]);
    clock.pass(MS);
    assert_eq!(rules(&tare), [Rule::Active; GROUPS]);
    assert_eq!(statement(&tare), [0; 3]);
}

#[test]
fn its_owner_ends_a_window_early() {
    let (tare, mut clock) = active();
    let until = open(&tare, &mut clock, 50 * MS);
    let control = tare.view.control();
    assert!(!control.end_exact_window(until + 1), "another's");
    assert!(control.end_exact_window(until));
    assert!(!control.end_exact_window(until), "it has ended");
    // A reader that is killed here has announced nothing. The program wakes at the window's end.
    clock.pass(50 * MS);
    assert_eq!(statement(&tare), [0; 3]);
    assert_eq!(rules(&tare), [Rule::Active; GROUPS]);
}

#[test]
fn a_window_that_is_too_long_ends_at_once() {
    let (tare, mut clock) = active();
    open(&tare, &mut clock, MAX_EXACT_WINDOW_NS + 1);
    assert_eq!(rules(&tare), [Rule::Active; GROUPS]);
    assert_eq!(statement(&tare), [0; 3]);
}

/// In a window each event counts for one, so the bits that say otherwise are cleared. They are set again.
#[test]
fn a_rule_ends_a_window_and_other_types_are_sampled_again() {
    let (tare, mut clock) = active();
    open(&tare, &mut clock, 50 * MS);
    let control = tare.view.control();
    assert_eq!(control.weighed.load(Ordering::SeqCst), 0);
    clock.set(&tare, WAIT, Rule::Every);
    assert!(!control.has_exact_window());
    let one_in = Rule::OneIn(4);
    assert_eq!(rules(&tare), [Rule::Every, one_in, one_in, one_in]);
    let stage = tare.number(&S);
    let bits = tare.view.controls().effective[stage].load(Ordering::Relaxed);
    assert_ne!(bits & effective::WEIGHED, 0);
    clock.pass(50 * MS);
    assert_eq!(rules(&tare), [Rule::Every, one_in, one_in, one_in]);
    let mut stages = 0;
    for _ in 0..4_000 {
        let [wait, stage, statement] = statement(&tare);
        assert_eq!((wait, statement), (1, 1));
        stages += stage;
        clock.pass(MS);
    }
    assert!((2_500..=5_500).contains(&stages), "{stages}");
}
