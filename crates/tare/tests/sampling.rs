//! Which events are sampled, and which are exact.
#![cfg(feature = "instrument")]

mod support;
#[path = "support/windows.rs"]
mod windows;

use std::sync::atomic::{AtomicBool, Ordering};

use support::scale;
use tare::transaction::Mode;
use tare::{Class, Counter, Operation, Rule};
use tare_layout::control::effective;
use tare_layout::governor::{Reason, at as at_decision};
use tare_layout::line::memory as at;
use tare_layout::sampling::{STAGE, TRANSACTION, WAIT};
use tare_layout::shared::Lost;
use windows::{Clock, MS, count, sample, sampled};

tare::classes! {
    static W0: MetadataLock = "wait/lock/metadata/sampling/w0";
    static W1: MetadataLock = "wait/lock/metadata/sampling/w1";
    static W2: MetadataLock = "wait/lock/metadata/sampling/w2";
    static W3: MetadataLock = "wait/lock/metadata/sampling/w3";
    static W4: MetadataLock = "wait/lock/metadata/sampling/w4";
    static W5: MetadataLock = "wait/lock/metadata/sampling/w5";
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

/// The waits of a statement.
const WAITS: [&Class; 6] = [&W0, &W1, &W2, &W3, &W4, &W5];

/// One statement with one of each of these waits, each of some duration.
fn statement(clock: &mut Clock, waits: &[&Class]) {
    let _statement = tare::statement::start(&QUERY);
    tare::stage::set(&S0);
    for class in waits {
        drop(tare::wait::start(class, Operation::Lock));
        clock.pass(4 * MS / waits.len() as u64);
    }
    tare::stage::set(&S1);
}

/// Number of windows in half a minute in which one thread of a client begins at this interval, and
/// their part of the time.
fn windows_while(clock: &mut Clock, thread_every: u64) -> (u32, f64) {
    let (mut opened, mut open) = (0, 0);
    let steps = 30_000 * MS / (MS / 10);
    for i in 0..steps {
        if (i * MS / 10).is_multiple_of(thread_every) {
            drop(tare::thread::ThreadSession::new(&CLIENT));
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

/// Six standard errors: a larger deviation is no accident, whatever the seed.
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
fn an_event_has_the_weight_of_its_start() {
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
    // It began outside of a window.
    tare::stage::end();
    assert_eq!(count(&tare, &S1), 0);
    drop(tare::wait::start(&FILE, Operation::Read));
    assert_eq!(count(&tare, &FILE), 10);
    clock.set_all(&tare, Rule::Every);
    drop(tare::wait::start(&FILE, Operation::Read));
    assert_eq!(count(&tare, &FILE), 11);
}

#[test]
fn events_check_no_weight_once_sampling_has_ended() {
    let tare = sampled(Rule::OneIn(4), 24);
    let mut clock = Clock::new();
    let is_weighed = |class: &Class| {
        let number = tare.class_number(class.name()).expect("a number");
        let bits = tare.view.controls().effective[number].load(Ordering::Relaxed);
        bits & effective::WEIGHED != 0
    };
    clock.until(true);
    let wait = tare::wait::start(&FILE, Operation::Read);
    tare::stage::set(&S0);
    assert!(is_weighed(&FILE) && is_weighed(&S0));
    clock.set(&tare, WAIT, Rule::Every);
    assert!(!is_weighed(&FILE) && is_weighed(&S0));
    clock.set_all(&tare, Rule::Every);
    assert!(!is_weighed(&S0));
    // They began when each stood for four.
    drop(wait);
    tare::stage::end();
    assert_eq!((count(&tare, &FILE), count(&tare, &S0)), (4, 4));
    drop(tare::wait::start(&FILE, Operation::Read));
    tare::stage::set(&S0);
    tare::stage::end();
    assert_eq!((count(&tare, &FILE), count(&tare, &S0)), (5, 5));
    // The governor may change N at any time.
    clock.set_all(&tare, Rule::Budget(100_000));
    assert!(is_weighed(&FILE) && is_weighed(&S0));
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
    let statement = tare.total(&QUERY);
    assert_eq!((stage.count, statement.count), (4, 1));
    assert!(stage.max < statement.sum, "{stage:?} {statement:?}");
}

#[test]
fn stages_are_visible_and_continue_across_statements() {
    let tare = sampled(Rule::OneIn(4), 13);
    let mut clock = Clock::new();
    let n = 3_000;
    for _ in 0..n {
        // A stage that begins between statements is ended by the next one.
        tare::stage::set(&S0);
        clock.pass(MS);
        let statement = tare::statement::start(&QUERY);
        tare::stage::set(&S1);
        clock.pass(MS);
        drop(statement);
    }
    for class in [&S0, &S1] {
        let error = sample(&tare, class).count_error_squared().sqrt();
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
        statement(&mut clock, &[&W0]);
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
        let error = sample.count_error_squared().sqrt();
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
    // Outside of statements one time is deferred.
    drop(tare::statement::start(&QUERY));
    let sampled = sample(&tare, &LOCK);
    assert!(is_near(
        n,
        count(&tare, &LOCK),
        sampled.count_error_squared().sqrt()
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
    // The clients continue while the scheduler keeps this thread from opening windows.
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
        // The scheduler decides how much of the load is in a window; the counts were observed.
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
fn counts_are_exact_as_soon_as_sampling_ends() {
    let tare = sampled(Rule::OneIn(100), 18);
    let mut clock = Clock::new();
    for _ in 0..500 {
        statement(&mut clock, &WAITS);
    }
    clock.set_all(&tare, Rule::Every);
    let before = count(&tare, &W0);
    for _ in 0..500 {
        statement(&mut clock, &WAITS);
    }
    assert_eq!(count(&tare, &W0) - before, 500);
}

#[test]
fn the_first_statement_starts_the_thread_that_opens_windows() {
    let tare = sampled(Rule::OneIn(16), 21);
    let mut n = 0;
    // For as long as it takes, in both directions.
    for is_open in [false, true] {
        while tare::wait::start(&FILE, Operation::Read).is_running() != is_open {
            drop(tare::statement::start(&QUERY));
            n += 1;
        }
    }
    assert_eq!(count(&tare, &QUERY), n);
}

#[test]
fn a_budget_sets_n_and_records_the_reason() {
    // A budget so small that any load exceeds it.
    let tare = sampled(Rule::Budget(1), 19);
    let decided = || {
        let lines = tare.view.decisions().iter();
        let first = lines.filter(|line| line.get(at_decision::NUMBER) != 0);
        first.map(|line| line.get(at_decision::WHAT) & 0xff).next()
    };
    let mut n = 0;
    // For as long as it takes: the governor has a thread of its own.
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
