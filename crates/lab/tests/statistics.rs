//! The statistics against distributions whose truth is known. Seeded: they find the same each time.

use fastrand::Rng;
use tare_lab::stats::compare::{Baseline, Value, Verdict};
use tare_lab::stats::interval::Interval;

const RUNS: usize = 2_000;

/// Fewer than a real run takes, which is enough for counting.
const RESAMPLES: usize = 999;

fn normal(rng: &mut Rng) -> f64 {
    // Box-Muller.
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.f64()).ln()
}

type Draw = fn(&mut Rng) -> f64;

/// How often, in percent, the interval covers the true mean, which is zero.
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
    // Logarithms of ratios of two cells alike are symmetric; how heavy their tails are is not known.
    let known: [(&str, Draw); 3] = [
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
    for (name, draw) in known {
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
fn an_interval_of_a_wrong_width_would_be_seen() {
    // What the test above is worth: the percentile interval does not pass it.
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

/// Cells of one configuration: a machine that drifts, and noise of its own.
fn cells(level: f64, drift: &[f64], noise: f64, rng: &mut Rng) -> Vec<Value> {
    let value =
        |(at, drift): (usize, &f64)| (at as u32, level * (drift + noise * normal(rng)).exp());
    drift.iter().enumerate().map(value).collect()
}

/// In how many percent of runs a configuration that is `effect` times the baseline is called different.
fn called(effect: f64, repetitions: usize, rng: &mut Rng) -> f64 {
    let different = (0..RUNS).filter(|_| {
        let drift: Vec<f64> = (0..repetitions).map(|_| 0.1 * normal(rng)).collect();
        let baseline = Baseline {
            first: cells(1000.0, &drift, 0.02, rng),
            again: cells(1000.0, &drift, 0.02, rng),
        };
        let values = cells(1000.0 * effect, &drift, 0.02, rng);
        let floor = baseline.control(rng).as_ref().map(Baseline::floor);
        let comparison = baseline.compare(&values, floor, true, rng).expect("pairs");
        comparison.verdict == Verdict::Different
    });
    100.0 * different.count() as f64 / RUNS as f64
}

#[test]
fn a_a_finds_a_difference_in_at_most_5_percent() {
    let mut rng = Rng::with_seed(70018);
    for repetitions in [4, 7] {
        let found = called(1.0, repetitions, &mut rng);
        println!("{repetitions} repetitions: {found:.2} %");
        assert!(found <= 5.0, "{repetitions} repetitions: {found} %");
    }
}

#[test]
fn a_difference_that_is_there_is_found() {
    let mut rng = Rng::with_seed(2011);
    let found = called(0.9, 7, &mut rng);
    assert!(found >= 95.0, "{found} %");
}
