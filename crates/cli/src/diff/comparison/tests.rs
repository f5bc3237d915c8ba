//! Simulated hours: false alarms, and which slowdowns are found.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::super::locks::Blocking;
use super::super::window::Window;
use super::*;
use crate::statistics::MAX_BATCHES;

/// Readings of growth in an hour, which are more than batches.
const READINGS: usize = 120;
const READING_SECONDS: f64 = 30.0;

/// Calls of the statements in an hour. The one that gets slower has 5,000.
const CALLS: [f64; 20] = [
    40.0, 60.0, 90.0, 130.0, 200.0, 300.0, 450.0, 700.0, 1e3, 1.5e3, 2.2e3, 3.3e3, 5e3, 7.5e3,
    11e3, 17e3, 25e3, 37e3, 50e3, 50e3,
];
const SLOWER: usize = 12;

/// Statements that run in one minute or in two of an hour, as of a timer; the last one also runs at other times, but
/// seldom: calls in each of these minutes, the minutes, and calls in all others.
const TIMERS: [(f64, &[usize], f64); 3] = [
    (60.0, &[7], 0.0),
    (500.0, &[10, 40], 0.0),
    (2_000.0, &[25], 12.0),
];

/// The mean calls of a statement in a reading: the timers follow the others.
fn usual_calls(number: usize, reading: usize) -> f64 {
    let Some(calls) = CALLS.get(number) else {
        let (calls, minutes, others) = TIMERS[number - CALLS.len()];
        return match minutes.contains(&(reading / 2)) {
            true => calls / 2.0,
            false => others / READINGS as f64,
        };
    };
    calls / READINGS as f64
}

/// The time per call, in seconds, and its spread: the standard deviation of its logarithm.
const SECONDS_PER_CALL: f64 = 0.01;
const SPREAD: f64 = 0.7;

fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.f64()).cos()
}

fn poisson(mean: f64, rng: &mut Rng) -> f64 {
    if mean > 50.0 {
        return (mean + mean.sqrt() * normal(rng)).round().max(0.0);
    }
    let (mut count, mut product) = (0, rng.f64());
    while product > (-mean).exp() {
        count += 1;
        product *= rng.f64();
    }
    f64::from(count)
}

/// The sum of the times of so many calls.
fn time(calls: f64, rng: &mut Rng) -> f64 {
    if calls < 20.0 {
        let call = |_| SECONDS_PER_CALL * (SPREAD * normal(rng) - SPREAD * SPREAD / 2.0).exp();
        return (0..calls as u32).map(call).sum();
    }
    let variation = (SPREAD * SPREAD).exp_m1().sqrt();
    SECONDS_PER_CALL * (calls + calls.sqrt() * variation * normal(rng))
}

/// A series that lasts for about a minute, with a standard deviation of 1.
struct Lasting(f64);

impl Lasting {
    fn new(rng: &mut Rng) -> Self {
        Self(normal(rng))
    }

    fn next(&mut self, rng: &mut Rng) -> f64 {
        let part = (-READING_SECONDS / 60.0).exp();
        self.0 = part * self.0 + (1.0 - part * part).sqrt() * normal(rng);
        self.0
    }
}

/// What differs from an hour as all others.
#[derive(Clone, Copy)]
struct Load {
    /// The time of each call of statement [`SLOWER`].
    slowdown: f64,
    /// The calls of all statements.
    calls: f64,
}

const USUAL: Load = Load {
    slowdown: 1.0,
    calls: 1.0,
};

fn key(number: usize) -> StatementKey {
    (Some("shop".to_owned()), format!("{number:064}"))
}

/// An hour. The speed of the machine and the calls of each statement vary, for minutes.
fn hour(load: Load, rng: &mut Rng) -> Recording {
    let mut recording = Recording {
        window: Window {
            from: 0,
            to: 3_600_000,
        },
        host: "db1".to_owned(),
        server: "shop".to_owned(),
        counted_seconds: vec![3600.0 / MAX_BATCHES as f64; MAX_BATCHES],
        sampled_seconds: vec![3600.0 / MAX_BATCHES as f64; MAX_BATCHES],
        total: Statement::new(MAX_BATCHES),
        statements: BTreeMap::new(),
        blocking: Blocking::default(),
        damaged: Vec::new(),
    };
    let mut machine = Lasting::new(rng);
    let speeds: Vec<f64> = (0..READINGS)
        .map(|_| (0.02 * machine.next(rng)).exp())
        .collect();
    for number in 0..CALLS.len() + TIMERS.len() {
        let mut statement = Statement::new(MAX_BATCHES);
        let mut clients = Lasting::new(rng);
        let mut sampled = vec![0.0; MAX_BATCHES];
        for (reading, speed) in speeds.iter().enumerate() {
            let calls = usual_calls(number, reading) * load.calls;
            let calls = poisson(calls * (0.1 * clients.next(rng)).exp(), rng);
            let slowdown = if number == SLOWER { load.slowdown } else { 1.0 };
            let seconds = time(calls, rng) * speed * slowdown;
            let sums = Sums {
                calls,
                seconds,
                rows: poisson(10.0 * calls, rng),
                errors: poisson(0.001 * calls, rng),
            };
            let batch = reading * MAX_BATCHES / READINGS;
            for counted in [&mut statement.counted, &mut recording.total.counted] {
                let to = &mut counted[batch];
                to.calls += sums.calls;
                to.seconds += sums.seconds;
                to.rows += sums.rows;
                to.errors += sums.errors;
            }
            // One moment per second.
            sampled[batch] += poisson(seconds, rng);
        }
        statement.sampled.insert("on cpu".to_owned(), sampled);
        recording.statements.insert(key(number), statement);
    }
    recording
}

fn compare(before: Load, after: Load, rng: &mut Rng) -> (Subject, Vec<Subject>) {
    let comparison = Comparison {
        before: hour(before, rng),
        after: hour(after, rng),
        controls: Vec::new(),
    };
    comparison.check().expect("comparable");
    comparison.run()
}

#[test]
fn equal_hours_have_false_alarms_in_at_most_5_percent() {
    let mut rng = Rng::with_seed(46);
    let alarms = (0..200).filter(|_| {
        let (total, statements) = compare(USUAL, USUAL, &mut rng);
        assert_eq!(statements.len(), CALLS.len() + TIMERS.len());
        total.is_changed() || statements.iter().any(Subject::is_changed)
    });
    let alarms = alarms.count();
    println!("{alarms} of 200");
    assert!(alarms <= 10, "{alarms} of 200");
}

#[test]
fn a_slowdown_by_10_percent_of_5000_calls_is_reported() {
    let mut rng = Rng::with_seed(47);
    let slower = Load {
        slowdown: 1.1,
        ..USUAL
    };
    let detected = (0..100).filter(|_| {
        let (_, statements) = compare(USUAL, slower, &mut rng);
        let mut statements = statements.iter();
        let slower = statements.find(|subject| subject.key == Some(key(SLOWER)));
        let time = slower.expect("compared").figures[2];
        time.is_changed() && time.change.is_some_and(|change| change.value > 0.0)
    });
    let detected = detected.count();
    println!("{detected} of 100");
    assert!(detected >= 95, "{detected} of 100");
}

#[test]
fn a_statement_of_one_window_is_new_or_vanished_and_adds_its_time() {
    let mut rng = Rng::with_seed(48);
    let mut comparison = Comparison {
        before: hour(USUAL, &mut rng),
        after: hour(USUAL, &mut rng),
        controls: Vec::new(),
    };
    comparison.before.statements.remove(&key(19));
    comparison.after.statements.remove(&key(18));
    let (_, statements) = comparison.run();
    let of = |number| {
        let mut all = statements.iter();
        all.find(|subject| subject.key == Some(key(number)))
            .expect("compared")
    };
    let (new, vanished) = (of(19), of(18));
    assert_eq!(
        (new.presence, vanished.presence),
        (Presence::New, Presence::Vanished)
    );
    // 50,000 calls of 10 ms each.
    assert!((new.added.value - 500.0).abs() < 30.0, "{new:?}");
    assert!((vanished.added.value + 500.0).abs() < 30.0, "{vanished:?}");
    assert!(new.added.low > 0.0 && vanished.added.high < 0.0);
    assert_eq!(new.figures[2].change, None, "nothing to compare with");
    // In the order of what they add or save, the activity with the rest.
    assert!(
        statements[..2]
            .iter()
            .all(|subject| subject.presence != Presence::Both)
    );
    assert!(new.activities[0].1.is_changed());
}

#[test]
fn calls_of_a_few_minutes_have_no_interval_by_call_and_raise_no_alarm() {
    let mut rng = Rng::with_seed(51);
    for _ in 0..100 {
        let (_, statements) = compare(USUAL, USUAL, &mut rng);
        for number in CALLS.len()..CALLS.len() + TIMERS.len() {
            let mut all = statements.iter();
            let timer = all.find(|subject| subject.key == Some(key(number)));
            let timer = timer.expect("compared");
            let has_interval = timer.figures.map(|figure| figure.change.is_some());
            assert_eq!(has_interval, [true, true, false, false, false], "{number}");
            assert!(!timer.is_changed(), "{timer:?}");
        }
    }
}

#[test]
fn a_control_day_without_an_interval_is_not_used() {
    let mut rng = Rng::with_seed(52);
    let mut comparison = Comparison {
        before: hour(USUAL, &mut rng),
        after: hour(USUAL, &mut rng),
        controls: Vec::new(),
    };
    let mut day = hour(USUAL, &mut rng);
    let timer = day.statements[&key(CALLS.len())].clone();
    day.statements.insert(key(SLOWER), timer);
    day.statements.remove(&key(19));
    comparison.controls = vec![
        (day.clone(), hour(USUAL, &mut rng)),
        (hour(USUAL, &mut rng), hour(USUAL, &mut rng)),
    ];
    let days = |comparison: &Comparison, number: usize| {
        let (_, statements) = comparison.run();
        let mut all = statements.iter();
        let subject = all.find(|subject| subject.key == Some(key(number)));
        subject
            .expect("compared")
            .figures
            .map(|figure| figure.control_days)
    };
    assert_eq!(days(&comparison, 0), [2; 5]);
    assert_eq!(days(&comparison, SLOWER), [2, 2, 1, 1, 1], "in one minute");
    assert_eq!(days(&comparison, 19), [2, 1, 1, 1, 1], "not at all");
    comparison.controls.pop();
    assert_eq!(days(&comparison, SLOWER), [1, 1, 0, 0, 0]);
}

#[test]
fn what_happens_each_day_is_no_change() {
    let mut rng = Rng::with_seed(49);
    let busy = Load {
        calls: 1.5,
        ..USUAL
    };
    let mut comparison = Comparison {
        before: hour(USUAL, &mut rng),
        after: hour(
            Load {
                slowdown: 1.3,
                ..busy
            },
            &mut rng,
        ),
        controls: Vec::new(),
    };
    let changed = |comparison: &Comparison, measure: usize| {
        let (_, statements) = comparison.run();
        let changed = statements
            .iter()
            .filter(|subject| subject.figures[measure].is_changed());
        changed
            .filter_map(|subject| subject.key.clone())
            .collect::<Vec<_>>()
    };
    assert!(changed(&comparison, 1).len() >= CALLS.len() / 2);
    assert_eq!(changed(&comparison, 2), [key(SLOWER)]);
    let mut day = || (hour(USUAL, &mut rng), hour(busy, &mut rng));
    comparison.controls = vec![day(), day(), day()];
    assert_eq!(changed(&comparison, 1), []);
    assert_eq!(changed(&comparison, 2), [key(SLOWER)]);
}

#[test]
fn one_statement_with_control_days_has_false_alarms_in_at_most_5_percent() {
    let mut rng = Rng::with_seed(53);
    let busy = Load {
        calls: 1.5,
        ..USUAL
    };
    let mut alarms = 0;
    for number in 0..60 {
        let mut day = || (hour(USUAL, &mut rng), hour(busy, &mut rng));
        let (before, after) = day();
        let mut comparison = Comparison {
            before,
            after,
            controls: vec![day(), day()],
        };
        let (_, digest) = key(number % CALLS.len());
        let (before, after) = (&mut comparison.before, &mut comparison.after);
        let controls = comparison.controls.iter_mut();
        let controls = controls.flat_map(|(before, after)| [before, after]);
        for recording in controls.chain([before, after]) {
            assert!(recording.set_total(&digest));
        }
        alarms += usize::from(comparison.run_total().is_changed());
        // Without them, there are half as many calls more.
        comparison.controls.clear();
        let total = comparison.run_total();
        assert!(
            total.figures[1].is_changed() || total.figures[1].before < 1.0,
            "{total:?}"
        );
    }
    println!("{alarms} of 60");
    assert!(alarms <= 3, "{alarms} of 60");
}

#[test]
fn too_little_and_other_digests_are_refused() {
    let mut rng = Rng::with_seed(50);
    let recording = hour(USUAL, &mut rng);
    let check = |before: Recording, after: Recording| {
        let controls = Vec::new();
        let checked = Comparison {
            before,
            after,
            controls,
        }
        .check();
        checked
            .err()
            .map(|failure| failure.message)
            .unwrap_or_default()
    };
    assert_eq!(check(recording.clone(), recording.clone()), "");
    let mut short = recording.clone();
    short.counted_seconds[MIN_BATCHES - 1..].fill(0.0);
    assert!(check(short, recording.clone()).contains("read at 5 times"));
    let mut other = recording.clone();
    other.statements = BTreeMap::from([((None, "0".repeat(32)), recording.total.clone())]);
    assert!(check(recording.clone(), other).contains("another version"));
    let mut idle = recording.clone();
    idle.statements.clear();
    assert!(check(idle.clone(), idle.clone()).contains("by digest"));
    assert_eq!(check(idle, recording), "", "all statements are new");
}
