//! Sampled totals beside what really happened: unbiased, with errors that are as large as they say.
#![cfg(feature = "instrument")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use support::{Coverage, Random, Running, scale, start};
use tare::settings::ByHand;
use tare::transaction::Mode;
use tare::{Class, Config, Counter, Operation, Rule, Sampling};
use tare_layout::governor::{Reason, at as at_decision};
use tare_layout::line::memory as at;
use tare_layout::sampling::{GROUPS, STAGE, Sample, TRANSACTION, WAIT, has_windows};
use tare_layout::shared::Lost;

tare::classes! {
    static W0: MetadataLock = "wait/lock/metadata/sampling/w0";
    static W1: MetadataLock = "wait/lock/metadata/sampling/w1";
    static W2: MetadataLock = "wait/lock/metadata/sampling/w2";
    static W3: MetadataLock = "wait/lock/metadata/sampling/w3";
    static W4: MetadataLock = "wait/lock/metadata/sampling/w4";
    static W5: MetadataLock = "wait/lock/metadata/sampling/w5";
    static W6: MetadataLock = "wait/lock/metadata/sampling/w6";
    static W7: MetadataLock = "wait/lock/metadata/sampling/w7";
    static W8: MetadataLock = "wait/lock/metadata/sampling/w8";
    static W9: MetadataLock = "wait/lock/metadata/sampling/w9";
    static W10: MetadataLock = "wait/lock/metadata/sampling/w10";
    static W11: MetadataLock = "wait/lock/metadata/sampling/w11";
    static W12: MetadataLock = "wait/lock/metadata/sampling/w12";
    static W13: MetadataLock = "wait/lock/metadata/sampling/w13";
    static W14: MetadataLock = "wait/lock/metadata/sampling/w14";
    static W15: MetadataLock = "wait/lock/metadata/sampling/w15";
    static W16: MetadataLock = "wait/lock/metadata/sampling/w16";
    static W17: MetadataLock = "wait/lock/metadata/sampling/w17";
    static W18: MetadataLock = "wait/lock/metadata/sampling/w18";
    static W19: MetadataLock = "wait/lock/metadata/sampling/w19";
    static LOCK: Mutex = "wait/synch/mutex/sampling/LOCK";
    static FILE: File = "wait/io/file/sampling/data";
    static S0: Stage = "stage/sampling/s0";
    static S1: Stage = "stage/sampling/s1";
    static TRX: Transaction = "transaction";
    static QUERY: Statement = "statement/sampling/query";
    static INNER: Statement = "statement/sampling/inner";
    static HEAP: Memory = "memory/sampling/heap";
    static CLIENT: Thread = "thread/sampling/client";
}

/// The waits of a statement, each with so many events.
const WAITS: [&Class; 20] = [
    &W0, &W1, &W2, &W3, &W4, &W5, &W6, &W7, &W8, &W9, &W10, &W11, &W12, &W13, &W14, &W15, &W16,
    &W17, &W18, &W19,
];

/// Of six of them, and none of the others.
fn few(events: [u64; 6]) -> [u64; WAITS.len()] {
    std::array::from_fn(|wait| events.get(wait).copied().unwrap_or(0))
}

fn sampled(rule: Rule, seed: u64) -> Running {
    start(Config {
        sampling: Sampling {
            rules: [rule; GROUPS],
            seed: Some(seed),
        },
        ..Config::everything()
    })
}

const MS: u64 = 1_000_000;

/// Windows by a clock that stands still unless it is told otherwise.
struct Clock {
    windows: ByHand,
    now: u64,
    due: u64,
}

impl Clock {
    fn new() -> Self {
        let mut clock = Self {
            windows: ByHand::begin().expect("nobody else opens windows"),
            now: MS,
            due: 0,
        };
        clock.pass(0);
        clock
    }

    fn pass(&mut self, ns: u64) {
        self.now += ns;
        if self.now >= self.due {
            self.due = self.windows.at(self.now).unwrap_or(u64::MAX);
        }
    }

    /// Until a window is open, or none is.
    fn until(&mut self, is_open: bool) {
        while self.windows.is_open() != is_open {
            self.pass(MS / 10);
        }
    }

    /// Changes N as a reader does.
    fn set(&mut self, tare: &Running, group: usize, rule: Rule) {
        let control = tare.view.control();
        control.set_rule(group, rule);
        tare.recompute();
        self.due = 0;
        self.pass(0);
    }

    /// Of all types that are observed in windows.
    fn set_all(&mut self, tare: &Running, rule: Rule) {
        let in_windows = (0..GROUPS).filter(|group| has_windows(*group));
        in_windows.for_each(|group| self.set(tare, group, rule));
    }
}

fn sample(tare: &Running, class: &Class) -> Sample {
    match tare.class_number(class.name()) {
        Some(class) => Sample::read(&tare.view.sample(class).cells),
        None => Sample::default(),
    }
}

/// COUNT_STAR of an instrument, all lines of its row together.
fn count(tare: &Running, class: &Class) -> u64 {
    if tare.class_number(class.name()).is_none() {
        return 0;
    }
    (0..class.kind().time_lines())
        .map(|i| tare.line(class, i).count)
        .sum()
}

/// N where it does not change.
const N: u32 = 4;
/// What a statement takes, and a window with this N on average.
const STATEMENT_NS: u64 = 4 * MS;
const WINDOW_NS: u64 = 20 * MS;

/// How many events of each wait there are in statement `i` of a run.
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

/// With the period that windows have.
fn periodic(i: usize, _: &mut Random) -> [u64; WAITS.len()] {
    let period = (WINDOW_NS / STATEMENT_NS) as usize;
    std::array::from_fn(|wait| if i % period == wait % period { 5 } else { 1 })
}

/// One statement with these waits, in which time passes.
fn statement(clock: &mut Clock, events: &[u64; WAITS.len()]) {
    let _statement = tare::statement::start(&QUERY);
    tare::stage::set(&S0);
    for (class, n) in WAITS.into_iter().zip(events) {
        for _ in 0..*n {
            drop(tare::wait::start(class, Operation::Lock));
        }
        clock.pass(STATEMENT_NS / WAITS.len() as u64);
    }
    tare::stage::set(&S1);
}

fn check_coverage(seed: u64, load: Load, rule: impl Fn(usize) -> Rule) {
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
            statement(&mut clock, &events);
            exact.iter_mut().zip(events).for_each(|(sum, n)| *sum += n);
            done += 1;
        }
        // Each run is of whole strata.
        clock.set_all(&tare, rule(done));
        for ((exact, now), before) in exact.into_iter().zip(counts()).zip(before) {
            let error = now.1.since(before.1).count_variance.sqrt();
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
    check_coverage(1, constant, |_| Rule::OneIn(N));
}

#[test]
fn intervals_cover_a_bursty_load() {
    check_coverage(2, bursty, |_| Rule::OneIn(N));
}

#[test]
fn intervals_cover_a_load_with_the_period_of_windows() {
    check_coverage(3, periodic, |_| Rule::OneIn(N));
}

#[test]
fn intervals_cover_while_n_changes_all_the_time() {
    check_coverage(4, bursty, |i| match i / 25 % 4 {
        0 => Rule::OneIn(2),
        1 => Rule::OneIn(10),
        2 => Rule::OneIn(3),
        _ => Rule::OneIn(7),
    });
}

#[test]
fn a_load_that_is_slower_in_windows_is_counted_whole() {
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
    // By time alone it would be 16 % too few.
    assert!(off.abs() < 0.03, "{off}");
}

/// How many windows there are in half a minute in which one thread of a client begins so often, and what part of the
/// time they are.
fn windows_while(clock: &mut Clock, thread_every: u64) -> (u32, f64) {
    let (mut opened, mut open) = (0, 0);
    let steps = 30_000 * MS / (MS / 10);
    for i in 0..steps {
        if (i * MS / 10).is_multiple_of(thread_every) {
            drop(tare::thread::Session::new(&CLIENT));
        }
        let was_open = clock.windows.is_open();
        clock.pass(MS / 10);
        let is_open = clock.windows.is_open();
        opened += u32::from(is_open && !was_open);
        open += u64::from(is_open);
    }
    (opened, open as f64 / steps as f64)
}

#[test]
fn windows_are_longer_and_rarer_where_threads_come_and_go() {
    let _tare = sampled(Rule::OneIn(16), 23);
    let mut clock = Clock::new();
    // One in 80 ms, of 5.
    let (few, part) = windows_while(&mut clock, 10 * MS);
    assert!(
        (330..=420).contains(&few) && (part * 16.0 - 1.0).abs() < 0.05,
        "{few}, {part}"
    );
    // One in 640 ms, of 40.
    let (rare, part) = windows_while(&mut clock, 2 * MS);
    assert!(
        (40..=55).contains(&rare) && (part * 16.0 - 1.0).abs() < 0.1,
        "{rare}, {part}"
    );
    // And back.
    let (few, _) = windows_while(&mut clock, 10 * MS);
    assert!((320..=420).contains(&few), "{few}");
}

/// Six standard errors: what is that far off is no accident, whatever the seed.
fn is_near(exact: u64, estimate: u64, error: f64) -> bool {
    (estimate as f64 - exact as f64).abs() <= 6.0 * error
}

#[test]
fn what_is_not_sampled_is_exact() {
    let tare = sampled(Rule::OneIn(5), 11);
    let mut clock = Clock::new();
    let n = 1_000;
    for i in 0..n {
        let outer = tare::statement::start(&QUERY);
        outer.text("SELECT a FROM t");
        outer.rows_sent(2);
        tare::memory::allocated(&HEAP, 100);
        {
            let inner = tare::statement::start(&INNER);
            inner.text("SELECT 1");
            tare::memory::allocated(&HEAP, 10);
        }
        clock.pass(MS);
        if i % 2 == 0 {
            outer.error(1062, "23000", "twice");
        }
        tare::memory::freed(&HEAP, 100);
    }
    for class in [&QUERY, &INNER] {
        assert_eq!(tare.total(class).count, n);
    }
    assert_eq!(tare.total(&QUERY).buckets, n);
    let memory = |cell| tare.cell(&HEAP, 0, cell);
    assert_eq!(
        (memory(at::ALLOC_COUNT), memory(at::FREE_COUNT)),
        (2 * n, n)
    );
    assert_eq!(
        (memory(at::ALLOC_BYTES), memory(at::FREE_BYTES)),
        (110 * n, 100 * n)
    );
    assert_eq!(tare.cell(&QUERY, 1, 1 + Counter::RowsSent as usize), 2 * n);
    for (id, _) in tare.digests() {
        assert_eq!(tare.digest(id).count, n);
    }
    assert_eq!(tare.digests().len(), 2);
}

#[test]
fn an_event_has_the_weight_of_where_it_began() {
    let tare = sampled(Rule::OneIn(4), 12);
    let mut clock = Clock::new();
    clock.until(true);
    let transaction = tare::transaction::start(&TRX, Mode::default());
    let mut wait = tare::wait::start(&FILE, Operation::Read);
    tare::stage::set(&S0);
    wait.bytes(10);
    clock.until(false);
    assert!(!tare::transaction::start(&TRX, Mode::default()).is_recorded());
    assert!(!tare::wait::start(&FILE, Operation::Read).is_running());
    tare::stage::set(&S1);
    clock.set_all(&tare, Rule::OneIn(6));
    clock.until(true);
    drop(wait);
    transaction.commit();
    assert_eq!(count(&tare, &TRX), 4);
    let read = tare.line(&FILE, 0);
    assert_eq!((read.count, read.extra, read.buckets), (4, 40, 4));
    assert_eq!(count(&tare, &S0), 4);
    // It began outside.
    tare::stage::end();
    assert_eq!(count(&tare, &S1), 0);
    drop(tare::wait::start(&FILE, Operation::Read));
    assert_eq!(count(&tare, &FILE), 10);
    clock.set_all(&tare, Rule::Every);
    drop(tare::wait::start(&FILE, Operation::Read));
    assert_eq!(count(&tare, &FILE), 11);
}

#[test]
fn a_stage_that_begins_in_a_window_does_not_begin_where_its_statement_did() {
    let tare = sampled(Rule::OneIn(4), 20);
    let mut clock = Clock::new();
    clock.until(false);
    let statement = tare::statement::start(&QUERY);
    tare::stage::set(&S0);
    std::thread::sleep(std::time::Duration::from_millis(20));
    clock.until(true);
    tare::stage::set(&S1);
    tare::stage::end();
    let stage = tare.total(&S1);
    drop(statement);
    let whole = tare.total(&QUERY);
    assert_eq!((stage.count, whole.count), (4, 1));
    assert!(stage.max < whole.sum, "{stage:?} {whole:?}");
}

#[test]
fn stages_are_shown_and_go_on_across_statements() {
    let tare = sampled(Rule::OneIn(4), 13);
    let mut clock = Clock::new();
    let n = 3_000;
    for _ in 0..n {
        // Between statements a stage begins, which the next one ends.
        tare::stage::set(&S0);
        clock.pass(MS);
        let statement = tare::statement::start(&QUERY);
        tare::stage::set(&S1);
        clock.pass(MS);
        drop(statement);
    }
    for class in [&S0, &S1] {
        let error = sample(&tare, class).count_variance.sqrt();
        assert!(error > 0.0);
        assert!(is_near(n, count(&tare, class), error), "{}", class.name());
    }
}

#[test]
fn each_type_has_a_rate_of_its_own() {
    let tare = sampled(Rule::Every, 14);
    let mut clock = Clock::new();
    clock.set(&tare, WAIT, Rule::OneIn(10));
    clock.set(&tare, TRANSACTION, Rule::OneIn(3));
    let n = 8_000;
    for _ in 0..n {
        drop(tare::transaction::start(&TRX, Mode::default()));
        statement(&mut clock, &few([1, 0, 0, 0, 0, 0]));
    }
    assert_eq!(count(&tare, &S0), n, "stages are all there");
    assert_eq!(tare.view.control().rule(STAGE), Rule::Every);
    for (class, one_in) in [(&W0, 10), (&TRX, 3)] {
        let sample = sample(&tare, class);
        let (share, name) = (
            n as f64 / sample.events as f64 / one_in as f64,
            class.name(),
        );
        assert!((0.7..1.4).contains(&share), "{name} {sample:?}");
        let error = sample.count_variance.sqrt();
        assert!(is_near(n, count(&tare, class), error), "{name} {sample:?}");
    }
}

#[test]
fn locks_and_files_are_sampled_by_instance() {
    let tare = sampled(Rule::OneIn(4), 16);
    let mut clock = Clock::new();
    let lock = tare::sync::Mutex::new(&LOCK, 0u64);
    let n = 4_000;
    for _ in 0..n {
        *lock.lock() += 1;
        let mut wait = tare::wait::start(&FILE, Operation::Write);
        wait.bytes(10);
        clock.pass(MS);
    }
    // Outside of statements one time waits for its histogram.
    drop(tare::statement::start(&QUERY));
    let sampled = sample(&tare, &LOCK);
    assert!(is_near(
        n,
        count(&tare, &LOCK),
        sampled.count_variance.sqrt()
    ));
    let bytes = tare.line(&FILE, 1);
    assert_eq!(
        bytes.extra,
        10 * bytes.count,
        "bytes have their event's weight"
    );
    assert_eq!(bytes.buckets, bytes.count, "so have histograms");
    let id = tare.instances(&LOCK).pop().expect("the lock");
    assert_eq!(tare.instance(id, 0).count, count(&tare, &LOCK));
}

#[test]
fn threads_come_and_go_while_n_changes() {
    let tare = sampled(Rule::OneIn(8), 17);
    let mut clock = Clock::new();
    let (threads, n) = (8, scale(4_000, 100_000));
    // The clients go on for as long as the scheduler keeps this thread from opening windows.
    let enough = AtomicBool::new(false);
    let exact: [u64; 2] = std::thread::scope(|scope| {
        let of_thread = |thread: usize| {
            let enough = &enough;
            move || {
                tare::thread::register(&CLIENT);
                let mut done = [0; 2];
                for i in (0..).take_while(|i| *i < n || !enough.load(Ordering::Relaxed)) {
                    if i % 50 == 0 {
                        tare::thread::set_processlist_id(1 + i as u64);
                        tare::thread::set_account(["ann", "bob"][(i / 50 + thread) % 2], "here");
                    }
                    let _statement = tare::statement::start(&QUERY);
                    drop(tare::wait::start(&W0, Operation::Lock));
                    drop(tare::wait::start(&W2, Operation::Lock));
                    drop(tare::wait::start(&W2, Operation::Lock));
                    done[0] += 1;
                    done[1] += 2;
                }
                done
            }
        };
        let clients: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(of_thread(thread)))
            .collect();
        let mut i = 0;
        while clients.iter().any(|client| !client.is_finished()) {
            let rule = [Rule::OneIn(2), Rule::Every, Rule::OneIn(3)][i / 40 % 3];
            if i % 40 == 0 {
                clock.set_all(&tare, rule);
            }
            clock.pass(4 * MS);
            i += 1;
            let has_counted = i > 120 && count(&tare, &W0) > 0;
            enough.fetch_or(has_counted || i > 100_000, Ordering::Relaxed);
            std::thread::yield_now();
        }
        let done = clients
            .into_iter()
            .map(|client| client.join().expect("a client"));
        done.fold([0; 2], |sum, done| [sum[0] + done[0], sum[1] + done[1]])
    });
    clock.set_all(&tare, Rule::Every);
    assert_eq!(count(&tare, &QUERY), exact[0]);
    for (class, exact) in [(&W0, exact[0]), (&W2, exact[1])] {
        // How much of the load is in a window is the scheduler's business here; what was counted was seen.
        let sample = sample(&tare, class);
        let (estimate, name) = (count(&tare, class), class.name());
        assert!(
            estimate > 0 && sample.weighted <= estimate,
            "{name} {sample:?} {exact}"
        );
    }
    assert_eq!(tare.lost(Lost::Rows), 0);
}

#[test]
fn every_again_is_exact_at_once() {
    let tare = sampled(Rule::OneIn(100), 18);
    let mut clock = Clock::new();
    for _ in 0..500 {
        statement(&mut clock, &few([1; 6]));
    }
    clock.set_all(&tare, Rule::Every);
    let before = count(&tare, &W0);
    for _ in 0..500 {
        statement(&mut clock, &few([1; 6]));
    }
    assert_eq!(count(&tare, &W0) - before, 500);
}

#[test]
fn the_first_statement_starts_the_thread_that_opens_windows() {
    let tare = sampled(Rule::OneIn(16), 21);
    let mut n = 0;
    // As long as it takes, in either way.
    for is_open in [false, true] {
        while tare::wait::start(&FILE, Operation::Read).is_running() != is_open {
            drop(tare::statement::start(&QUERY));
            n += 1;
        }
    }
    assert_eq!(count(&tare, &QUERY), n);
}

#[test]
fn a_budget_sets_n_and_says_why() {
    // So little that any load exceeds it.
    let tare = sampled(Rule::Budget(1), 19);
    let decided = || {
        let lines = tare.view.decisions().iter();
        let first = lines.filter(|line| line.get(at_decision::NUMBER) != 0);
        first.map(|line| line.get(at_decision::WHAT) & 0xff).next()
    };
    let mut n = 0;
    // As long as it takes: the governor has a thread of its own.
    while decided().is_none() {
        for _ in 0..1_000 {
            let _statement = tare::statement::start(&QUERY);
            drop(tare::wait::start(&W0, Operation::Lock));
            n += 1;
        }
    }
    assert_eq!(decided(), Some(Reason::Over as u64));
    let rates = tare.view.control().sampling.iter();
    assert!(rates.map(|n| n.load(Ordering::Relaxed)).max() > Some(1));
    assert_eq!(count(&tare, &QUERY), n);
}
