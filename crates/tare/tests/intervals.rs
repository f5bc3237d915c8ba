//! Sampled totals compared with exact ones: unbiased, with standard errors of the right size.
#![cfg(feature = "instrument")]

mod support;
#[path = "support/windows.rs"]
mod windows;

use support::{Coverage, Random, scale};
use tare::{Class, Operation, Rule};
use windows::{Clock, MS, count, sample, sampled};

tare::classes! {
    static W0: MetadataLock = "wait/lock/metadata/intervals/w0";
    static W1: MetadataLock = "wait/lock/metadata/intervals/w1";
    static W2: MetadataLock = "wait/lock/metadata/intervals/w2";
    static W3: MetadataLock = "wait/lock/metadata/intervals/w3";
    static W4: MetadataLock = "wait/lock/metadata/intervals/w4";
    static W5: MetadataLock = "wait/lock/metadata/intervals/w5";
    static W6: MetadataLock = "wait/lock/metadata/intervals/w6";
    static W7: MetadataLock = "wait/lock/metadata/intervals/w7";
    static W8: MetadataLock = "wait/lock/metadata/intervals/w8";
    static W9: MetadataLock = "wait/lock/metadata/intervals/w9";
    static W10: MetadataLock = "wait/lock/metadata/intervals/w10";
    static W11: MetadataLock = "wait/lock/metadata/intervals/w11";
    static W12: MetadataLock = "wait/lock/metadata/intervals/w12";
    static W13: MetadataLock = "wait/lock/metadata/intervals/w13";
    static W14: MetadataLock = "wait/lock/metadata/intervals/w14";
    static W15: MetadataLock = "wait/lock/metadata/intervals/w15";
    static W16: MetadataLock = "wait/lock/metadata/intervals/w16";
    static W17: MetadataLock = "wait/lock/metadata/intervals/w17";
    static W18: MetadataLock = "wait/lock/metadata/intervals/w18";
    static W19: MetadataLock = "wait/lock/metadata/intervals/w19";
    static S0: Stage = "stage/intervals/s0";
    static S1: Stage = "stage/intervals/s1";
    static QUERY: Statement = "statement/intervals/query";
}

/// The waits of a statement, with the number of events of each.
const WAITS: [&Class; 20] = [
    &W0, &W1, &W2, &W3, &W4, &W5, &W6, &W7, &W8, &W9, &W10, &W11, &W12, &W13, &W14, &W15, &W16,
    &W17, &W18, &W19,
];

/// N while it does not change.
const N: u32 = 4;
/// Duration of a statement, and of a window with this N on average.
const STATEMENT_NS: u64 = 4 * MS;
const WINDOW_NS: u64 = 20 * MS;

/// Number of events of each wait in statement `i` of a run.
type Load = fn(i: usize, random: &mut Random) -> [u64; WAITS.len()];

fn constant(_: usize, _: &mut Random) -> [u64; WAITS.len()] {
    std::array::from_fn(|wait| 1 + wait as u64 % 3)
}

fn bursty(_: usize, random: &mut Random) -> [u64; WAITS.len()] {
    std::array::from_fn(|wait| match random.below(8) {
        0 => 6 + random.below(4 + wait as u64 % 4),
        _ => random.below(2),
    })
}

/// With the period of windows.
fn periodic(i: usize, _: &mut Random) -> [u64; WAITS.len()] {
    let period = (WINDOW_NS / STATEMENT_NS) as usize;
    std::array::from_fn(|wait| if i % period == wait % period { 5 } else { 1 })
}

/// One statement with these waits, of this duration.
fn statement(clock: &mut Clock, events: &[u64; WAITS.len()], ns: u64) {
    let _statement = tare::statement::start(&QUERY);
    tare::stage::set(&S0);
    for (class, n) in WAITS.into_iter().zip(events) {
        for _ in 0..*n {
            drop(tare::wait::start(class, Operation::Lock));
        }
        clock.pass(ns / WAITS.len() as u64);
    }
    tare::stage::set(&S1);
}

/// Duration of statement `i`, in a window or outside.
type Pace = fn(i: usize, is_open: bool) -> u64;

fn even(_: usize, _: bool) -> u64 {
    STATEMENT_NS
}

/// On a machine with neighbours, where observed statements take a quarter longer: for some hundred
/// statements each takes between half and twice the usual time.
fn uneven(i: usize, is_open: bool) -> u64 {
    let seed = (i as u64 / 150 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let phase = Random(seed).below(STATEMENT_NS * 3 / 2);
    let ns = STATEMENT_NS / 2 + phase;
    if is_open { ns * 5 / 4 } else { ns }
}

fn check_coverage(seed: u64, load: Load, pace: Pace, rule: impl Fn(usize) -> Rule) {
    let tare = sampled(rule(0), seed);
    let mut clock = Clock::new();
    let mut random = Random(seed | 1);
    let (runs, statements) = (200, scale(4_000, 16_000));
    let mut waits = Coverage::default();
    let (mut done, mut all, mut estimated) = (0, 0, 0);
    for _ in 0..runs {
        let counts = || WAITS.map(|class| (count(&tare, class), sample(&tare, class)));
        let before = counts();
        let mut exact = [0; WAITS.len()];
        for _ in 0..statements {
            if rule(done) != rule(done.saturating_sub(1)) {
                clock.set_all(&tare, rule(done));
            }
            let events = load(done, &mut random);
            let ns = pace(done, clock.windows.is_open());
            statement(&mut clock, &events, ns);
            exact.iter_mut().zip(events).for_each(|(sum, n)| *sum += n);
            done += 1;
        }
        // Each run has complete strata.
        clock.set_all(&tare, rule(done));
        for ((exact, now), before) in exact.into_iter().zip(counts()).zip(before) {
            let error = now.1.since(before.1).count_error_squared().sqrt();
            waits.add(exact, now.0 - before.0, error);
            all += exact;
            estimated += now.0 - before.0;
        }
    }
    assert_eq!(count(&tare, &QUERY), done as u64, "statements are exact");
    let (percent, off) = (waits.percent(), estimated as f64 / all as f64 - 1.0);
    println!(
        "{percent:.1} % of {}, together {:+.2} % off",
        waits.all,
        100.0 * off
    );
    assert!((92.0..=98.0).contains(&percent), "{percent:.1} %");
    assert_eq!(tare.losses(), []);
}

#[test]
fn intervals_cover_a_constant_load() {
    check_coverage(1, constant, even, |_| Rule::OneIn(N));
}

#[test]
fn intervals_cover_a_bursty_load() {
    check_coverage(2, bursty, even, |_| Rule::OneIn(N));
}

#[test]
fn intervals_cover_a_load_with_the_period_of_windows() {
    check_coverage(3, periodic, even, |_| Rule::OneIn(N));
}

#[test]
fn intervals_cover_while_n_changes_all_the_time() {
    check_coverage(4, bursty, even, |i| match i / 25 % 4 {
        0 => Rule::OneIn(2),
        1 => Rule::OneIn(10),
        2 => Rule::OneIn(3),
        _ => Rule::OneIn(7),
    });
}

#[test]
fn intervals_cover_on_a_machine_with_neighbours() {
    check_coverage(5, constant, uneven, |_| Rule::OneIn(N));
}

#[test]
fn a_load_that_is_slower_in_windows_is_counted_completely() {
    let tare = sampled(Rule::OneIn(N), 22);
    let mut clock = Clock::new();
    let n = scale(400_000, 4_000_000) as u64;
    for _ in 0..n {
        let _statement = tare::statement::start(&QUERY);
        drop(tare::wait::start(&W0, Operation::Lock));
        let is_open = clock.windows.is_open();
        clock.pass(if is_open { 50_000 } else { 40_000 });
    }
    clock.set_all(&tare, Rule::Every);
    let off = count(&tare, &W0) as f64 / n as f64 - 1.0;
    println!("{:+.2} % off", 100.0 * off);
    // An estimate by time only would be 16 % too low.
    assert!(off.abs() < 0.03, "{off}");
}
