//! Instructions of events: counted by callgrind, and compared with the recorded counts in
//! `instructions.tsv`.
//!
//! `cargo bench -p tare --bench instructions` (which `make test` does) runs itself under valgrind,
//! prints the counts and fails if one differs from the recorded one by more than 1 % and more than one
//! instruction. Counts do not depend on the machine, but on the compiler: they are recorded by the
//! compiler's version and the architecture. For a compiler without recorded counts generous bounds
//! apply; to record its counts: `cargo bench -p tare --bench instructions -- --record`.
//!
//! Without the feature `instrument` it shows that points compile to nothing: an event takes no more
//! instructions than an empty loop, and a lock no more than a plain one.
//!
//! The same for memory: pages of code and data, and lines of data, that a path touches when all of them
//! are cold (see `touched`). These may be somewhat above the recorded ones: see `tolerance`.
//!
//! Each path runs n and 2n times; the difference is the cost of n, without set-up and tear-down. Only
//! the function `tare_measured` switches collection on.
#![cfg_attr(not(feature = "instrument"), allow(dead_code))]

use std::fmt::Write as _;
use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tare_layout::geometry::{LIMITS, Limits};
use tare_layout::primitive::Ordering;
use tare_layout::{Geometry, Kind, View};

mod paths;
#[cfg(feature = "instrument")]
mod tasks;
mod touched;

#[cfg(not(feature = "instrument"))]
use paths::floor_text;
use paths::{Body, Objects, State, event, floor, lock, lock_plain, stage, statement, table};
#[cfg(feature = "instrument")]
use paths::{statement_full, statement_plain};

tare::metrics! {
    /// Counted.
    static METRIC: Counter = "bench_metric", "bench", enabled;
    /// Not counted.
    static METRIC_OFF: Counter = "bench_metric_off", "bench";
}

fn metric_off(_: &Objects, n: usize) {
    for _ in 0..n {
        black_box(&METRIC_OFF).add(1);
    }
}

fn metric(_: &Objects, n: usize) {
    for _ in 0..n {
        black_box(&METRIC).add(1);
    }
}

tare::classes! {
    /// Allocated memory.
    static HEAP: Memory = "memory/bench/heap";
}

/// An allocation, and its free.
fn memory(_: &Objects, n: usize) {
    for _ in 0..n {
        let class = black_box(&HEAP);
        tare::memory::allocated(class, 64);
        tare::memory::freed(class, 64);
    }
}

/// A path: its name, Tare's state, the function, and its bound for a compiler without recorded counts:
/// half as much again as with rustc 1.95.
struct Figure(&'static str, State, Body, u64);

#[cfg(feature = "instrument")]
const FIGURES: [Figure; 40] = [
    Figure("floor", State::Disabled, floor, 8),
    Figure("disabled", State::Disabled, event, 12),
    Figure("off", State::Off, event, 40),
    Figure("off_watched", State::Watched, event, 12),
    Figure("event_active", State::Active, event, 230),
    Figure("counted", State::Counted, event, 70),
    Figure("event_timed", State::Timed, event, 330),
    Figure("lock_plain", State::Disabled, lock_plain, 30),
    Figure("lock_disabled", State::Disabled, lock, 45),
    Figure("lock_off", State::Off, lock, 84),
    Figure("lock_off_watched", State::Watched, lock, 60),
    Figure("lock_active", State::Active, lock, 70),
    Figure("lock_counted", State::Counted, lock, 170),
    Figure("lock_contended_mode", State::Timed, lock, 170),
    Figure("lock_every", State::Every, lock, 390),
    Figure("metric_disabled", State::Disabled, metric, 12),
    Figure("metric_off", State::Off, metric_off, 30),
    Figure("metric", State::Off, metric, 35),
    Figure("memory_disabled", State::Disabled, memory, 24),
    Figure("memory_off", State::Off, memory, 75),
    Figure("memory_off_watched", State::Watched, memory, 24),
    Figure("memory", State::Counted, memory, 150),
    Figure("stage", State::Timed, stage, 230),
    Figure("stage_active", State::Active, stage, 62),
    Figure("table_off", State::Off, table, 240),
    Figure("table", State::Timed, table, 1_000),
    Figure("table_kept", State::Recorded, table, 1_300),
    Figure("statement_off_watched", State::Watched, statement, 120),
    Figure("statement", State::Timed, statement, 1_800),
    Figure("statement_active", State::Active, statement, 730),
    Figure("task_poll_disabled", State::Disabled, tasks::poll, 40),
    Figure("task_poll", State::Timed, tasks::poll, 110),
    Figure("task_wait", State::Timed, tasks::wait, 170),
    Figure("task_statement", State::Timed, tasks::statement, 1_950),
    Figure("statement_plain", State::Disabled, statement_plain, 1_800),
    Figure("statement_full", State::Timed, statement_full, 15_600),
    Figure("statement_sampled", State::Sampled, statement, 1_700),
    Figure(
        "statement_full_sampled",
        State::Sampled,
        statement_full,
        9_000,
    ),
    Figure(
        "statement_full_observed",
        State::Observed,
        statement_full,
        16_500,
    ),
    Figure(
        "statement_full_kept",
        State::Recorded,
        statement_full,
        18_500,
    ),
];

/// Without instrumentation: each of these must be no more than the one named before it in [`NOTHING`].
#[cfg(not(feature = "instrument"))]
const FIGURES: [Figure; 10] = [
    Figure("floor", State::Disabled, floor, 8),
    Figure("event", State::Disabled, event, 8),
    Figure("stage", State::Disabled, stage, 8),
    Figure("floor_text", State::Disabled, floor_text, 8),
    Figure("memory", State::Disabled, memory, 8),
    Figure("metric", State::Disabled, metric, 8),
    Figure("statement", State::Disabled, statement, 8),
    Figure("table", State::Disabled, table, 8),
    Figure("lock_plain", State::Disabled, lock_plain, 30),
    Figure("lock", State::Disabled, lock, 30),
];

/// Paths that must not take one instruction more than others when nothing is compiled in.
#[cfg(not(feature = "instrument"))]
const NOTHING: [(&str, &str); 7] = [
    ("event", "floor"),
    ("stage", "floor"),
    ("memory", "floor_text"),
    ("metric", "floor_text"),
    ("statement", "floor_text"),
    ("table", "floor_text"),
    ("lock", "lock_plain"),
];

/// Compares paths that are not compiled in with empty ones.
#[cfg(not(feature = "instrument"))]
fn compare(counts: &[f64], touched: &Touched) -> ExitCode {
    let place = |name: &str| FIGURES.iter().position(|f| f.0 == name);
    let count = |name: &str| place(name).map_or(f64::NAN, |i| counts[i]);
    println!("instructions of one event, not compiled in");
    for (Figure(name, ..), count) in FIGURES.iter().zip(counts) {
        println!("{name:24}{count:10.2}");
    }
    let mut is_nothing = true;
    for (name, plain) in NOTHING {
        if count(name) > count(plain) {
            eprintln!("instructions: without instrumentation {name} takes more than {plain}");
            is_nothing = false;
        }
        for (what, counts) in touched {
            let of = |name| place(name).map_or(f64::NAN, |i| counts[i] as f64);
            if of(name) > of(plain) + TOLERANCE {
                eprintln!(
                    "instructions: without instrumentation {name} touches more {what} than {plain}"
                );
                is_nothing = false;
            }
        }
    }
    match is_nothing {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Runs of a path; a multiple of the events in a chunk of history_long and of the history ring.
const N: usize = 800;

/// The function in which callgrind collects.
#[inline(never)]
#[unsafe(no_mangle)]
fn tare_measured(body: Body, objects: &Objects, n: usize) {
    body(objects, n);
}

fn enter(state: State) {
    tare::stop();
    let Some(config) = state.config() else { return };
    // Address space is scarce under valgrind, and each start takes a segment's.
    let limits = Limits::default().threads(16).accounts(4);
    tare::start(config.limits(limits)).expect("a segment");
    with_view(trust_the_counter);
    if matches!(state, State::Watched | State::Active) {
        tare::watch_settings();
        with_view(wait_for_followed);
    }
    #[cfg(feature = "instrument")]
    if matches!(state, State::Sampled | State::Observed) {
        // From here on the clock of windows does not advance.
        let mut windows =
            tare::settings::ManualWindows::begin().expect("nobody else opens windows");
        let mut now = 0;
        while {
            now = windows.at(now).expect("windows");
            windows.is_open() != matches!(state, State::Observed)
        } {}
        std::mem::forget(windows);
    }
}

/// Waits until points know the active kinds.
fn wait_for_followed(view: View<'_>) {
    let control = view.control();
    control.changes.store(1, Ordering::SeqCst);
    while control.followed.load(Ordering::SeqCst) != 1 {
        // SAFETY: wakes the thread that sleeps on the word; the kernel only uses the address as a key.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                control.changes.as_ptr(),
                libc::FUTEX_WAKE,
                i32::MAX,
            )
        };
        std::thread::yield_now();
    }
}

/// Under valgrind the processor may not declare its counter trustworthy, and the clock would be a
/// system call, whose count is of no interest.
fn trust_the_counter(view: View<'_>) {
    view.control().no_cycles.store(0, Ordering::SeqCst);
    view.controls()
        .recompute(|i| Kind::from_u8(view.class(i).kind.load(Ordering::Acquire) as u8));
}

/// The segment, mapped as a reader does.
fn with_view(work: impl FnOnce(View<'_>)) {
    let file = tare::descriptor().expect("a segment");
    let map = |bytes: usize| {
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        assert_ne!(base, libc::MAP_FAILED);
        base
    };
    let head = map(4096);
    // SAFETY: the header is the first page of a live segment.
    let header = unsafe { &*head.cast::<tare_layout::header::Header>() };
    let values: [u64; LIMITS] = std::array::from_fn(|i| header.limits[i].load(Ordering::Relaxed));
    let geometry = Geometry::new(Limits::from_array(values).expect("possible limits"));
    let base = map(geometry.total_bytes);
    // SAFETY: the complete mapping, until the end of this function.
    let view = unsafe { View::new(base.cast_const().cast(), geometry) };
    work(view);
    // SAFETY: our own mappings, no longer used.
    unsafe {
        libc::munmap(base, geometry.total_bytes);
        libc::munmap(head, 4096);
    }
}

/// Runs every path, for callgrind to count.
fn measure() {
    let objects = Objects::new();
    for Figure(_, state, body, _) in FIGURES {
        enter(state);
        body(&objects, 4 * N);
        tare_measured(body, &objects, N);
        tare_measured(body, &objects, 2 * N);
    }
    tare::stop();
}

/// Runs every path once, with all memory cold.
fn measure_touched() {
    let objects = Objects::new();
    for Figure(_, state, body, _) in FIGURES {
        enter(state);
        body(&objects, 4 * N);
        touched::evict();
        tare_measured(body, &objects, 1);
    }
    tare::stop();
}

/// Instructions of each path, as callgrind counts them.
fn counts() -> Result<Vec<f64>, String> {
    let totals = callgrind(&[], "--measured", 2 * FIGURES.len())?;
    let totals: Vec<u64> = totals.iter().map(|part| part.of(&["Ir"])).collect();
    Ok(totals
        .chunks(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / N as f64)
        .collect())
}

/// Pages and lines that each path touches, beyond the loop that runs it: the maximum of several runs if
/// it is to be recorded, because addresses differ from run to run.
fn touched_by(measure: &touched::Measure) -> Result<Vec<u64>, String> {
    let mut most = touched_once(measure)?;
    for _ in 1..if is_update() { UPDATE_RUNS } else { 1 } {
        let more = touched_once(measure)?;
        most = most.iter().zip(&more).map(|(a, b)| *a.max(b)).collect();
    }
    Ok(most)
}

const UPDATE_RUNS: usize = 6;

fn is_update() -> bool {
    std::env::args().any(|a| a == "--record")
}

fn touched_once(measure: &touched::Measure) -> Result<Vec<u64>, String> {
    let parts = callgrind(measure.options, "--touched", FIGURES.len())?;
    let all: Vec<u64> = parts.iter().map(|part| part.of(measure.events)).collect();
    let floor = all.first().copied().unwrap_or(0);
    Ok(all.iter().map(|n| n.saturating_sub(floor)).collect())
}

/// Runs this program under callgrind. Returns the counts of each call of `tare_measured`.
fn callgrind(options: &[&str], argument: &str, parts: usize) -> Result<Vec<Totals>, String> {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let out = folder.join("out");
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .args([
            "--toggle-collect=tare_measured",
            "--dump-after=tare_measured",
        ])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .args(options)
        .arg(program)
        .arg(argument)
        .output()
        .map_err(|e| format!("cannot run valgrind ({e}); `make deps` installs it"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let totals = (1..=parts)
        .map(|part| Totals::read(&folder.join(format!("out.{part}"))))
        .collect();
    let _ = std::fs::remove_dir_all(&folder);
    totals
}

/// The names of events in one of callgrind's files, and their counts.
struct Totals(Vec<(String, u64)>);

impl Totals {
    fn read(path: &PathBuf) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let line = |start| text.lines().find_map(|line| line.strip_prefix(start));
        let (Some(names), Some(totals)) = (line("events: "), line("totals: ")) else {
            return Err(format!("{}: no totals", path.display()));
        };
        let numbers = totals.split_whitespace().map(|n| n.parse().unwrap_or(0));
        let names = names.split_whitespace().map(str::to_owned);
        Ok(Self(names.zip(numbers).collect()))
    }

    fn of(&self, events: &[&str]) -> u64 {
        let wanted = self
            .0
            .iter()
            .filter(|(name, _)| events.contains(&name.as_str()));
        wanted.map(|(_, n)| n).sum()
    }
}

/// The key of recorded counts: compiler and architecture.
fn key() -> String {
    let version = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()))
        .arg("-V")
        .output()
        .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
        .unwrap_or_default();
    format!("{version}, {}", std::env::consts::ARCH)
}

fn budget_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.tsv")
}

/// The recorded count of a path under a key.
fn budget(text: &str, key: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| {
        let mut fields = line.split('\t');
        let same = fields.next() == Some(key) && fields.next() == Some(name);
        same.then(|| fields.next()?.parse().ok())?
    })
}

fn record(text: &str, key: &str, counts: &[f64], touched: &Touched) -> std::io::Result<()> {
    let mut new = String::new();
    for line in text.lines().filter(|l| l.split('\t').next() != Some(key)) {
        let _ = writeln!(new, "{line}");
    }
    for (Figure(name, ..), count) in FIGURES.iter().zip(counts) {
        let _ = writeln!(new, "{key}\t{name}\t{count:.2}");
    }
    for (what, counts) in touched {
        for (Figure(name, ..), count) in FIGURES.iter().zip(counts) {
            let _ = writeln!(new, "{key}\t{name}, {what}\t{count}");
        }
    }
    std::fs::write(budget_path(), new)
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("--measured") => {
            measure();
            return ExitCode::SUCCESS;
        }
        Some("--touched") => {
            measure_touched();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let all_touched = || {
        let of = |measure: &touched::Measure| Ok((measure.name, touched_by(measure)?));
        touched::MEASURES
            .iter()
            .map(of)
            .collect::<Result<Touched, String>>()
    };
    match counts().and_then(|counts| Ok((counts, all_touched()?))) {
        Ok((counts, touched)) => compare(&counts, &touched),
        Err(why) => {
            eprintln!("instructions: {why}");
            ExitCode::FAILURE
        }
    }
}

/// A kind of touched memory, with the count of each path.
type Touched = Vec<(&'static str, Vec<u64>)>;

/// Pages or lines above the expected number that are tolerated, because the stack may be elsewhere.
const TOLERANCE: f64 = 2.0;

/// The tolerance above recorded counts. Pages of code may double: the linker places functions
/// differently after each change anywhere. Lines may be one in ten more: the durations of a path's
/// parts decide which lines of their histograms they touch, and on a busy machine these are more (56 to
/// 59, 63 to 68, and 120 to 124, in runs of one build).
#[cfg(feature = "instrument")]
fn tolerance(what: &str, budget: f64) -> f64 {
    match what {
        "code pages" => budget.max(TOLERANCE),
        "data lines" => TOLERANCE.max(budget / 10.0),
        _ => TOLERANCE,
    }
}

/// Prints what paths touch. Returns how many touch more than the recorded count.
#[cfg(feature = "instrument")]
fn compare_touched(text: &str, key: &str, touched: &Touched) -> usize {
    let mut wrong = 0;
    println!(
        "{:24}{}",
        "touched when cold",
        touched
            .iter()
            .map(|t| format!("{:>12}", t.0))
            .collect::<String>()
    );
    for (i, Figure(name, ..)) in FIGURES.iter().enumerate() {
        let mut verdict = String::new();
        print!("{name:24}");
        for (what, counts) in touched {
            print!("{:12}", counts[i]);
            if let Some(budget) = budget(text, key, &format!("{name}, {what}"))
                && counts[i] as f64 > budget + tolerance(what, budget)
            {
                verdict = format!("{what}: more than the {budget} recorded");
                wrong += 1;
            }
        }
        println!("  {verdict}");
    }
    wrong
}

/// Compares the counts with the recorded ones, or records them.
#[cfg(feature = "instrument")]
fn compare(counts: &[f64], touched: &Touched) -> ExitCode {
    let key = key();
    let text = std::fs::read_to_string(budget_path()).unwrap_or_default();
    if is_update() {
        return match record(&text, &key, counts, touched) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("instructions: {}: {why}", budget_path().display());
                ExitCode::FAILURE
            }
        };
    }
    let mut wrong = 0;
    let mut unknown = false;
    println!("instructions of one event, {key}");
    for (Figure(name, _, _, bound), count) in FIGURES.iter().zip(counts) {
        let (verdict, is_wrong) = match budget(&text, &key, name) {
            Some(budget) if (count - budget).abs() > f64::max(1.0, budget * 0.01) => {
                (format!("differs from the {budget:.2} recorded"), true)
            }
            Some(_) => (String::new(), false),
            None => {
                unknown = true;
                let is_above = *count > *bound as f64;
                let what = if is_above { "above" } else { "within" };
                (
                    format!("{what} the bound of {bound} for any compiler"),
                    is_above,
                )
            }
        };
        wrong += usize::from(is_wrong);
        println!("{name:24}{count:10.2}  {verdict}");
    }
    wrong += compare_touched(&text, &key, touched);
    let how = "cargo bench -p tare --bench instructions -- --record";
    if unknown {
        println!(
            "No counts are recorded for this compiler and architecture; to record these: {how}"
        );
    }
    if wrong == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!("instructions: {wrong} differ. If that is intended, record the new ones: {how}");
    ExitCode::FAILURE
}
