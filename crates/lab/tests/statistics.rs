//! The statistics on known distributions. Fixed seeds make them deterministic.

use fastrand::Rng;
use tare_lab::stats::compare::{Baseline, Moment, Value, Verdict, logs};
use tare_lab::stats::interval::Interval;
use tare_lab::stats::starts::Coverage;

const RUNS: usize = 2_000;

/// Runs without a difference: enough to estimate a rate of 5 % within 0.3 points (two standard errors).
const ALARM_RUNS: usize = 20_000;
const ALARMS: f64 = 5.3;

/// Fewer resamples than a real run has, which suffices for counting.
const RESAMPLES: usize = 999;

fn normal(rng: &mut Rng) -> f64 {
    // Box-Muller.
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.f64()).ln()
}

type Draw = fn(&mut Rng) -> f64;

/// The coverage of the true mean, zero, in percent.
fn coverage(draw: Draw, size: usize, rng: &mut Rng) -> f64 {
    let covered = (0..RUNS).filter(|_| {
        let sample: Vec<f64> = (0..size).map(|_| draw(rng)).collect();
        let interval = Interval::with(&sample, RESAMPLES, rng);
        let (low, high) = (
            interval.low.expect("enough"),
            interval.high.expect("enough"),
        );
        low <= 0.0 && 0.0 <= high
    });
    100.0 * covered.count() as f64 / RUNS as f64
}

#[test]
fn the_95_percent_interval_covers_93_to_97_percent() {
    // Logarithms of ratios of equal cells are symmetric; the weight of their tails is not known.
    let distributions: [(&str, Draw); 3] = [
        ("normal", normal),
        ("logistic", |rng| {
            let part = rng.f64().clamp(1e-9, 1.0 - 1e-9);
            (part / (1.0 - part)).ln()
        }),
        ("a ratio of gamma times", |rng| {
            let time = |rng: &mut Rng| -> f64 { (0..50).map(|_| exponential(rng)).sum() };
            (time(rng) / time(rng)).ln()
        }),
    ];
    let mut rng = Rng::with_seed(20261121);
    for (name, draw) in distributions {
        for size in [5, 7, 12] {
            let covered = coverage(draw, size, &mut rng);
            println!("{name}, {size} repetitions: {covered:.2} %");
            assert!(
                (93.0..=97.0).contains(&covered),
                "{name}, {size}: {covered} %"
            );
        }
    }
}

#[test]
fn an_interval_of_a_wrong_width_is_detected() {
    // The percentile interval does not pass the test above.
    let mut rng = Rng::with_seed(5);
    let covered = (0..RUNS).filter(|_| {
        let sample: Vec<f64> = (0..5).map(|_| normal(&mut rng)).collect();
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| (0..5).map(|_| sample[rng.usize(..5)]).sum::<f64>() / 5.0)
            .collect();
        means.sort_by(f64::total_cmp);
        means[RESAMPLES / 40] <= 0.0 && 0.0 <= means[RESAMPLES - 1 - RESAMPLES / 40]
    });
    let covered = 100.0 * covered.count() as f64 / RUNS as f64;
    assert!(covered < 90.0, "{covered} %");
}

/// Cells of one configuration: a process for each repetition, on a machine that drifts between turns.
fn cells(level: f64, drift: &[Vec<f64>], rng: &mut Rng) -> Vec<Value> {
    let mut values = Vec::new();
    for (repetition, turns) in (1..).zip(drift) {
        let process = 0.01 * normal(rng);
        for (turn, drift) in (0..).zip(turns) {
            let moment = Moment { repetition, turn };
            let log = process + drift + 0.02 * normal(rng);
            values.push((moment, level * log.exp()));
        }
    }
    values
}

/// The percent of runs in which a configuration with `effect` times the baseline's cost is called
/// different.
fn called(effect: f64, repetitions: usize, turns: usize, runs: usize, rng: &mut Rng) -> f64 {
    let different = (0..runs).filter(|_| {
        let drift: Vec<Vec<f64>> = (0..repetitions)
            .map(|_| (0..turns).map(|_| 0.1 * normal(rng)).collect())
            .collect();
        let baseline = Baseline::of(&cells(1000.0, &drift, rng), &cells(1000.0, &drift, rng));
        let values = logs(&cells(1000.0 * effect, &drift, rng));
        let control = baseline.control(Coverage::FixedSize);
        let comparison = baseline
            .compare(&values, control.as_ref(), true, Coverage::FixedSize)
            .expect("pairs");
        assert_eq!(comparison.pairs, repetitions);
        comparison.verdict == Verdict::Different
    });
    100.0 * different.count() as f64 / runs as f64
}

#[test]
fn equal_cells_differ_in_at_most_5_percent_of_runs() {
    let mut rng = Rng::with_seed(70018);
    // Turns of one process are not independent, because they share its memory layout.
    for (repetitions, turns) in [(4, 1), (7, 1), (4, 20)] {
        let rate = called(1.0, repetitions, turns, ALARM_RUNS, &mut rng);
        println!("{repetitions} repetitions of {turns} turns: {rate:.2} %");
        assert!(
            rate <= ALARMS,
            "{repetitions} repetitions of {turns} turns: {rate} %"
        );
    }
}

#[test]
fn a_real_difference_is_detected() {
    let mut rng = Rng::with_seed(2011);
    for (effect, repetitions, turns) in [(0.9, 7, 1), (0.92, 4, 20)] {
        let rate = called(effect, repetitions, turns, RUNS, &mut rng);
        assert!(
            rate >= 95.0,
            "{repetitions} repetitions of {turns} turns: {rate} %"
        );
    }
}

#[test]
fn disturbed_turns_are_trimmed() {
    let mut rng = Rng::with_seed(150);
    let drift = vec![vec![0.0; 20]; 4];
    let (first, again) = (cells(1.0, &drift, &mut rng), cells(1.0, &drift, &mut rng));
    let mut values = first.clone();
    for (moment, value) in &mut values {
        if moment.turn == moment.repetition {
            *value *= 30.0;
        }
    }
    let comparison = Baseline::of(&first, &again)
        .compare(&logs(&values), None, true, Coverage::FixedSize)
        .expect("pairs");
    assert!(
        comparison.percent.mean.abs() < 2.0,
        "{}",
        comparison.words()
    );
}
