//! The cost of events, as ratios to one `rdtsc` and to one addition of a loop, both measured in the
//! same run.
//!
//! The clock read does not detect a busy machine: with a neighbour on the same core it does not change,
//! while every path takes half as long again. The loop of additions does. The ratio of its median to
//! its fastest round classifies the run as quiet or busy; in a busy run the ratios to `rdtsc` are too
//! high, and instruction counts (`--bench instructions`) decide what has changed.
//!
//! `cargo bench -p tare --bench engine` writes target/bench/engine.json: for each figure the median and
//! the quartiles over all rounds in ns, and the ratios of its median to `rdtsc`'s and to `addition`'s.
//! Rounds of all figures alternate, so that a change of the processor's speed affects them alike.
//! Nothing is subtracted: `floor`, `lock_plain`, `statement_plain` and `connect_off` are there for
//! that.
//!
//! The figures with `_64` are CPU time of an event with 64 threads at once, those with `_1` the same
//! with one: they must not differ. Names of figures as arguments restrict a run to these, which then
//! writes nothing.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Barrier;

use tare::Class;
use tare::sync::Mutex;

mod paths;
mod tasks;

use paths::{
    Body, Objects, State, event, floor, lock, lock_plain, stage, statement, statement_full,
    statement_plain, table,
};

tare::classes! {
    static CONNECTION: Thread = "thread/bench/connection";
}

/// The locks that a connection's thread takes, each of a class of its own.
macro_rules! touched {
    ($($number:literal)*) => {
        [$({
            static CLASS: Class = Class::new(
                tare::Kind::Mutex,
                concat!("wait/synch/mutex/bench/", $number),
                "",
            );
            Mutex::new(&CLASS, 0)
        }),*]
    };
}

static TOUCHED: [Mutex<u64>; 40] = touched!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
    20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39
);

/// Starts Tare in this state.
fn enter(state: State) {
    tare::stop();
    if let Some(config) = state.config() {
        tare::start(config).expect("a segment for the benchmark");
    }
}

fn rdtsc(_: &Objects, n: usize) {
    for _ in 0..n {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has the instruction.
        black_box(unsafe { core::arch::x86_64::_rdtsc() });
    }
}

fn addition(_: &Objects, n: usize) {
    let mut sum = 0u64;
    for addend in 0..n as u64 {
        sum = black_box(sum + addend);
    }
    black_box(sum);
}

/// The limit of the loop of additions (median, relative to its fastest round) for a quiet run. Quiet
/// runs have 1.00 to 1.05, one with a busy neighbour on the same core 1.9.
const QUIET: f64 = 1.15;

/// The median of the loop of additions, relative to its fastest round.
fn business(additions: &[f64]) -> f64 {
    let fastest = additions.iter().copied().fold(f64::INFINITY, f64::min);
    spread(additions.to_vec()).1 / fastest
}

fn connect(_: &Objects, n: usize) {
    for _ in 0..n {
        let thread = tare::thread::spawn(&CONNECTION, || {
            for lock in &TOUCHED {
                *lock.lock() += 1;
            }
        });
        thread.expect("a thread").join().expect("no panic");
    }
}

/// A figure: its name, Tare's state, the measured function, and its repetitions in a round.
const FIGURES: [(&str, State, Body, usize); 26] = [
    ("rdtsc", State::Disabled, rdtsc, 20_000),
    ("addition", State::Disabled, addition, 20_000),
    ("floor", State::Disabled, floor, 20_000),
    ("disabled", State::Disabled, event, 20_000),
    ("off", State::Off, event, 20_000),
    ("counted", State::Counted, event, 20_000),
    ("lock_plain", State::Disabled, lock_plain, 20_000),
    ("lock_counted", State::Counted, lock, 20_000),
    ("lock_contended_mode", State::Timed, lock, 20_000),
    ("lock_every", State::Every, lock, 20_000),
    ("stage", State::Timed, stage, 20_000),
    ("stage_kept", State::Recorded, stage, 20_000),
    ("stage_off", State::Off, stage, 20_000),
    ("stage_counted", State::Counted, stage, 20_000),
    ("event_timed", State::Timed, event, 20_000),
    ("table", State::Timed, table, 10_000),
    // The end of a statement cannot be measured without its beginning and text: an upper bound.
    ("statement_end", State::Timed, statement, 10_000),
    ("task_poll", State::Timed, tasks::poll, 20_000),
    ("task_wait", State::Timed, tasks::wait, 20_000),
    ("task_statement", State::Timed, tasks::statement, 10_000),
    ("statement_plain", State::Disabled, statement_plain, 500),
    ("statement_full", State::Timed, statement_full, 500),
    ("statement_full_kept", State::Recorded, statement_full, 500),
    ("connect", State::Timed, connect, 200),
    ("connect_off", State::Off, connect, 200),
    ("connect_disabled", State::Disabled, connect, 200),
];

/// Figures taken with one and with 64 threads.
const SCALED: [(&str, State, Body, usize); 6] = [
    ("counted", State::Counted, event, 100_000),
    ("lock_contended_mode", State::Timed, lock, 100_000),
    ("lock_every", State::Every, lock, 50_000),
    ("stage", State::Timed, stage, 50_000),
    ("statement_full", State::Timed, statement_full, 2_000),
    (
        "statement_full_kept",
        State::Recorded,
        statement_full,
        2_000,
    ),
];

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a valid timespec to write to.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// After this number of events the rings of history_long have wrapped once, and every page exists.
const WARM_UP: usize = 12_000;

fn time(body: Body, objects: &Objects, n: usize, warm_up: usize) -> f64 {
    body(objects, warm_up);
    let before = clock_ns(libc::CLOCK_MONOTONIC);
    body(objects, n);
    (clock_ns(libc::CLOCK_MONOTONIC) - before) as f64 / n as f64
}

/// CPU time of the process for one connection: starts of threads depend on the scheduler, their CPU
/// time depends on it less.
fn process_time(body: Body, objects: &Objects, n: usize) -> f64 {
    body(objects, n);
    let before = clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
    body(objects, n);
    (clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID) - before) as f64 / n as f64
}

fn warm_up(name: &str, n: usize) -> usize {
    match name {
        "stage_kept" | "statement_full_kept" => WARM_UP,
        _ => n / 10 + 1,
    }
}

/// CPU time of one event, with this many threads at once.
fn cpu_time(body: Body, n: usize, threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let total: u64 = std::thread::scope(|scope| {
        let work = || {
            let objects = Objects::new();
            body(&objects, (WARM_UP / threads).max(n / 10));
            barrier.wait();
            let before = clock_ns(libc::CLOCK_THREAD_CPUTIME_ID);
            body(&objects, n);
            clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) - before
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|t| t.join().expect("no panic"))
            .sum()
    });
    total as f64 / (n * threads) as f64
}

/// Median and quartiles.
fn spread(mut samples: Vec<f64>) -> (f64, f64, f64) {
    samples.sort_by(f64::total_cmp);
    let at = |q: f64| samples[((samples.len() - 1) as f64 * q) as usize];
    (at(0.25), at(0.5), at(0.75))
}

fn main() {
    // `cargo test --benches` runs every bench once to see that it works.
    let quick = std::env::args().any(|a| a == "--test" || a == "--quick");
    let (rounds, scaled_rounds) = if quick { (3, 1) } else { (60, 9) };
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let objects = Objects::new();
    let mut samples: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for round in 0..rounds {
        let mut figures: Vec<_> = FIGURES.into_iter().filter(|f| is_wanted(f.0)).collect();
        // Forwards and backwards: the after-effects of a figure (pages to free, a core that slept) must
        // not always meet the same neighbour.
        if round % 2 == 1 {
            figures.reverse();
        }
        for (name, state, body, n) in figures {
            enter(state);
            let one = match name {
                "connect" | "connect_off" | "connect_disabled" => process_time(body, &objects, n),
                _ => time(body, &objects, n, warm_up(name, n)),
            };
            samples.entry(name.into()).or_default().push(one);
        }
    }
    for _ in 0..scaled_rounds {
        for (name, state, body, n) in SCALED.into_iter().filter(|_| wanted.is_empty()) {
            for threads in [1, 64] {
                enter(state);
                let n = if threads == 1 { n * 4 } else { n / 4 };
                let one = cpu_time(body, n, threads);
                samples
                    .entry(format!("{name}_{threads}"))
                    .or_default()
                    .push(one);
            }
        }
    }
    tare::stop();
    let medians: BTreeMap<&str, f64> = samples
        .iter()
        .map(|(name, s)| (name.as_str(), spread(s.clone()).1))
        .collect();
    let rdtsc = medians.get("rdtsc").copied().unwrap_or(f64::NAN);
    let of_addition = medians.get("addition").copied().unwrap_or(f64::NAN);
    let mut report = serde_json::Map::new();
    if let Some(additions) = samples.get("addition") {
        let business = business(additions);
        let hour = if business > QUIET { "busy" } else { "quiet" };
        println!(
            "a {hour} hour: an addition took {business:.2} times what it took in the fastest round"
        );
        if business > QUIET {
            println!(
                "ratios to rdtsc are too high by about that; instruction counts decide what changed:"
            );
            println!("    cargo bench -p tare --bench instructions");
        }
        println!();
        let hour = serde_json::json!({ "name": hour, "addition_to_fastest": business });
        report.insert("hour".into(), hour);
    }
    for (name, all) in &samples {
        let (low, median, high) = spread(all.clone());
        let (ratio, additions) = (median / rdtsc, median / of_addition);
        println!(
            "{name:28} {median:10.2} ns  [{low:9.2} .. {high:9.2}]  {ratio:8.2} rdtsc  {additions:9.2} additions"
        );
        let figure = serde_json::json!({
            "median_ns": median, "quartile1_ns": low, "quartile3_ns": high, "rdtsc": ratio,
            "additions": additions, "rounds": all.len(),
        });
        report.insert(name.clone(), figure);
    }
    println!();
    if !wanted.is_empty() {
        return;
    }
    for (label, of, floor, target) in [
        ("disabled - floor", "disabled", "floor", 0.10),
        ("counted - floor", "counted", "floor", 0.30),
        (
            "lock_contended_mode - lock_plain",
            "lock_contended_mode",
            "lock_plain",
            0.35,
        ),
        ("lock_every - lock_plain", "lock_every", "lock_plain", 2.6),
        ("stage - floor", "stage", "floor", 1.5),
        ("statement_end - floor", "statement_end", "floor", 25.0),
        (
            "statement_full - statement_plain",
            "statement_full",
            "statement_plain",
            45.0,
        ),
        ("connect - connect_off", "connect", "connect_off", 150.0),
        (
            "connect - connect_disabled",
            "connect",
            "connect_disabled",
            150.0,
        ),
    ] {
        // Round by round: a temporary slowdown affects neighbouring figures alike.
        let differences = samples[of]
            .iter()
            .zip(&samples[floor])
            .map(|(a, b)| a - b)
            .collect();
        let difference = spread(differences).1;
        let (ratio, additions) = (difference / rdtsc, difference / of_addition);
        println!("{label:36} {ratio:8.2} rdtsc  (to reach: {target})  {additions:8.2} additions");
        report.insert(
            label.into(),
            serde_json::json!({ "rdtsc": ratio, "additions": additions, "to_reach": target }),
        );
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    std::fs::create_dir_all(&path).expect("target/bench");
    let text = serde_json::to_string_pretty(&report).expect("figures as JSON");
    std::fs::write(path.join("engine.json"), text + "\n").expect("target/bench/engine.json");
}
