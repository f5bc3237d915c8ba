//! Sampled totals beside what really happened: unbiased, with errors that are as large as they say.
#![cfg(feature = "instrument")]

mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use support::{Random, Running, scale, start};
use tare::transaction::{Isolation, Mode};
use tare::{Class, Config, Counter, Operation, Rule, Sampling};
use tare_layout::governor::{Reason, at as at_decision};
use tare_layout::line::memory as at;
use tare_layout::sampling::{GROUPS, STATEMENT, Sample, WAIT};
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

/// Tables: a statement on each has a digest of its own.
const TABLES: [&str; 20] = [
    "t00", "t01", "t02", "t03", "t04", "t05", "t06", "t07", "t08", "t09", "t10", "t11", "t12",
    "t13", "t14", "t15", "t16", "t17", "t18", "t19",
];

fn text(table: &str) -> String {
    format!("SELECT a FROM {table}")
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
            // By length, a statement would be in or out as the machine is busy.
            slow_ms: 0,
            seed: Some(seed),
        },
        ..Config::everything()
    })
}

/// Changes N as a reader does.
fn set(tare: &Running, group: usize, rule: Rule) {
    let control = tare.view.control();
    let was_sampling = control.is_sampling();
    control.set_rule(group, rule);
    if control.is_sampling() != was_sampling {
        tare.recompute();
    }
}

fn set_all(tare: &Running, rule: Rule) {
    (0..GROUPS).for_each(|group| set(tare, group, rule));
}

fn sample(tare: &Running, class: &Class) -> Sample {
    let Some(class) = tare.class_number(class.name()) else {
        return Sample::default();
    };
    let stripes = tare.view.samples(class).iter();
    stripes.fold(Sample::default(), |sum, line| {
        sum.plus(Sample::read(&line.cells))
    })
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

/// Count and sample of a digest, by its text.
fn digest(tare: &Running, text: &str) -> (u64, Sample) {
    let all = tare.digests();
    let found = all.iter().find(|(_, known)| known.contains(text));
    found.map_or((0, Sample::default()), |(id, _)| {
        let sample = Sample::read(&tare.view.digest(*id as usize).sampled);
        (tare.digest(*id).count, sample)
    })
}

/// N where it does not change.
const N: u32 = 4;

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

/// With the period that N has.
fn periodic(i: usize, _: &mut Random) -> [u64; WAITS.len()] {
    std::array::from_fn(|wait| {
        if i % N as usize == wait % N as usize {
            5
        } else {
            1
        }
    })
}

/// One statement with these waits; what was counted beside the engine.
fn statement(i: usize, events: &[u64; WAITS.len()]) {
    let statement = tare::statement::start(&QUERY);
    statement.text(&text(TABLES[i % TABLES.len()]));
    tare::stage::set(&S0);
    for (class, n) in WAITS.into_iter().zip(events) {
        for _ in 0..*n {
            drop(tare::wait::start(class, Operation::Lock));
        }
    }
    tare::stage::set(&S1);
}

/// In how many of so many intervals what happened lies.
#[derive(Default)]
struct Coverage {
    inside: usize,
    all: usize,
}

impl Coverage {
    fn add(&mut self, exact: u64, estimate: u64, error: f64) {
        self.all += 1;
        self.inside += usize::from((estimate as f64 - exact as f64).abs() <= 1.96 * error);
    }

    fn percent(&self) -> f64 {
        100.0 * self.inside as f64 / self.all as f64
    }
}

fn check_coverage(seed: u64, load: Load, rule: impl Fn(usize) -> Rule) {
    let tare = sampled(rule(0), seed);
    let mut random = Random(seed | 1);
    let (runs, statements) = (200, scale(3_200, 16_000));
    let (mut waits, mut digests) = (Coverage::default(), Coverage::default());
    let mut done = 0;
    for _ in 0..runs {
        let counts = || WAITS.map(|class| (count(&tare, class), sample(&tare, class)));
        let of_digests = || TABLES.map(|table| digest(&tare, table));
        let (before, digests_before) = (counts(), of_digests());
        let mut exact = [0; WAITS.len()];
        for _ in 0..statements {
            if rule(done) != rule(done.saturating_sub(1)) {
                set_all(&tare, rule(done));
            }
            let events = load(done, &mut random);
            statement(done, &events);
            exact.iter_mut().zip(events).for_each(|(sum, n)| *sum += n);
            done += 1;
        }
        for ((exact, now), before) in exact.into_iter().zip(counts()).zip(before) {
            let error = now.1.since(before.1).count_variance.sqrt();
            waits.add(exact, now.0 - before.0, error);
        }
        for (now, before) in of_digests().into_iter().zip(digests_before) {
            let error = now.1.since(before.1).count_variance.sqrt();
            let exact = statements / TABLES.len();
            digests.add(exact as u64, now.0 - before.0, error);
        }
    }
    assert_eq!(count(&tare, &QUERY), done as u64, "statements are exact");
    for (of, coverage) in [("waits", &waits), ("digests", &digests)] {
        let percent = coverage.percent();
        println!("{of}: {percent:.1} % of {}", coverage.all);
        assert!((92.0..=98.0).contains(&percent), "{of}: {percent:.1} %");
    }
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
fn intervals_cover_a_load_with_the_period_of_n() {
    check_coverage(3, periodic, |_| Rule::OneIn(N));
}

#[test]
fn intervals_cover_while_n_changes_all_the_time() {
    check_coverage(4, bursty, |i| match i / 5 % 4 {
        0 => Rule::OneIn(2),
        1 => Rule::OneIn(10),
        2 => Rule::OneIn(3),
        _ => Rule::OneIn(7),
    });
}

/// Six standard errors: what is that far off is no accident, whatever the seed.
fn is_near(exact: u64, estimate: u64, error: f64) -> bool {
    (estimate as f64 - exact as f64).abs() <= 6.0 * error
}

#[test]
fn what_is_not_sampled_is_exact() {
    let tare = sampled(Rule::OneIn(5), 11);
    let n = 1_000;
    for i in 0..n {
        let outer = tare::statement::start(&QUERY);
        outer.rows_sent(2);
        tare::memory::allocated(&HEAP, 100);
        {
            let inner = tare::statement::start(&INNER);
            inner.text("SELECT 1");
            tare::memory::allocated(&HEAP, 10);
        }
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
    let (inner, sample) = digest(&tare, "SELECT ?");
    assert!(is_near(n, inner, sample.count_variance.sqrt()), "{inner}");
}

#[test]
fn an_event_has_the_weight_of_where_it_began() {
    let tare = sampled(Rule::OneIn(4), 12);
    let mode = Mode {
        isolation: Isolation::Serializable,
        ..Mode::default()
    };
    let n = 3_000;
    let trx = || tare.total(&TRX).count;
    for i in 0..n {
        // In statement 1, ending in statement 3, with N changed between.
        let first = tare::statement::start(&QUERY);
        let transaction = tare::transaction::start(&TRX, mode);
        let wait = tare::wait::start(&FILE, Operation::Read);
        drop(first);
        set_all(
            &tare,
            if i % 2 == 0 {
                Rule::OneIn(3)
            } else {
                Rule::OneIn(6)
            },
        );
        let second = tare::statement::start(&QUERY);
        drop(wait);
        drop(second);
        let third = tare::statement::start(&QUERY);
        transaction.commit();
        drop(third);
    }
    assert_eq!(count(&tare, &QUERY), 3 * n);
    let sample_of = |class| sample(&tare, class);
    for (class, estimate) in [(&TRX, trx()), (&FILE, count(&tare, &FILE))] {
        let error = sample_of(class).count_variance.sqrt();
        assert!(
            error > 0.0 && is_near(n, estimate, error),
            "{} {estimate}",
            class.name()
        );
        let sample = sample_of(class);
        assert_eq!(sample.weighted, estimate);
    }
}

#[test]
fn stages_go_on_across_statements() {
    let tare = sampled(Rule::OneIn(4), 13);
    let n = 3_000;
    for _ in 0..n {
        // Between statements a stage begins, which the next one ends.
        tare::stage::set(&S0);
        let statement = tare::statement::start(&QUERY);
        tare::stage::set(&S1);
        drop(statement);
    }
    for class in [&S0, &S1] {
        let error = sample(&tare, class).count_variance.sqrt();
        assert!(is_near(n, count(&tare, class), error), "{}", class.name());
    }
}

#[test]
fn each_type_has_a_rate_of_its_own() {
    let tare = sampled(Rule::Every, 14);
    set(&tare, WAIT, Rule::OneIn(10));
    set(&tare, STATEMENT, Rule::OneIn(3));
    let n = 4_000;
    for i in 0..n {
        statement(i, &few([1, 0, 0, 0, 0, 0]));
    }
    assert_eq!(count(&tare, &S0), n as u64, "stages are all there");
    let waits = sample(&tare, &W0);
    assert!((200..700).contains(&waits.clusters), "{waits:?}");
    assert!(is_near(
        n as u64,
        count(&tare, &W0),
        waits.count_variance.sqrt()
    ));
    let (seen, of_digest) = digest(&tare, TABLES[0]);
    assert!((30..110).contains(&of_digest.clusters), "{of_digest:?}");
    assert!(is_near(
        n as u64 / 20,
        seen,
        of_digest.count_variance.sqrt()
    ));
}

#[test]
fn a_slow_statement_is_always_kept() {
    let tare = start(Config {
        sampling: Sampling {
            rules: [Rule::OneIn(60_000); GROUPS],
            slow_ms: 1,
            seed: Some(15),
        },
        ..Config::everything()
    });
    let long = "SELECT 'x' FROM slow_one WHERE a IN (1, 2, 3)";
    for _ in 0..5 {
        let statement = tare::statement::start(&QUERY);
        statement.text(long);
        statement.rows_sent(7);
        // A sleep may be longer than asked for, and never shorter.
        std::thread::sleep(Duration::from_millis(2));
    }
    let (seen, sample) = digest(&tare, "slow_one");
    assert_eq!((seen, sample.events, sample.weighted), (5, 5, 5));
    assert_eq!(sample.count_variance, 0.0);
}

#[test]
fn locks_and_files_are_sampled_by_instance() {
    let tare = sampled(Rule::OneIn(4), 16);
    let lock = tare::sync::Mutex::new(&LOCK, 0u64);
    let n = 2_000;
    for _ in 0..n {
        let _statement = tare::statement::start(&QUERY);
        *lock.lock() += 1;
        let mut wait = tare::wait::start(&FILE, Operation::Write);
        wait.bytes(10);
    }
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
    let (threads, n) = (8, scale(400, 10_000));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                tare::thread::register(&CLIENT);
                for i in 0..n {
                    if i % 50 == 0 {
                        tare::thread::set_processlist_id(1 + i as u64);
                        tare::thread::set_account(["ann", "bob"][(i / 50 + thread) % 2], "here");
                    }
                    statement(i, &few([1, 0, 2, 0, 0, 0]));
                    drop(tare::wait::start(&W5, Operation::Lock));
                }
            });
        }
        for i in 0..200 {
            set_all(&tare, [Rule::OneIn(2), Rule::Every, Rule::OneIn(32)][i % 3]);
            std::thread::yield_now();
        }
    });
    let all = (threads * n) as u64;
    assert_eq!(count(&tare, &QUERY), all);
    for (class, exact) in [(&W0, all), (&W2, 2 * all), (&W5, all)] {
        let error = sample(&tare, class).count_variance.sqrt();
        assert!(
            is_near(exact, count(&tare, class), error),
            "{}: {} for {exact}, give or take {error}",
            class.name(),
            count(&tare, class)
        );
    }
    assert_eq!(tare.lost(Lost::Rows), 0);
}

#[test]
fn every_again_is_exact_at_once() {
    let tare = sampled(Rule::OneIn(100), 18);
    for i in 0..500 {
        statement(i, &few([1; 6]));
    }
    set_all(&tare, Rule::Every);
    let before = count(&tare, &W0);
    for i in 0..500 {
        statement(i, &few([1; 6]));
    }
    assert_eq!(count(&tare, &W0) - before, 500);
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
            statement(n, &few([5; 6]));
            n += 1;
        }
    }
    assert_eq!(decided(), Some(Reason::Over as u64));
    let rates = tare.view.control().sampling.iter();
    assert!(rates.map(|n| n.load(Ordering::Relaxed)).max() > Some(1));
    assert_eq!(count(&tare, &QUERY), n as u64);
}
