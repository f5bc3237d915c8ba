//! Every event is counted once, on any thread and whenever threads come and go.
#![cfg(feature = "instrument")]

mod support;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use support::{Random, Tally, everything, scale, start};
use tare::sync::{Mutex, RwLock};
use tare::{Config, Limits, Operation, Setting};
use tare_layout::shared::Lost;

tare::classes! {
    static LOCK_A: Mutex = "wait/synch/mutex/counts/LOCK_a";
    static LOCK_R: RwLock = "wait/synch/rwlock/counts/LOCK_r";
    static READ: File = "wait/io/file/counts/data";
    static CLIENT: Socket = "wait/io/socket/counts/client";
    static EVENT: MetadataLock = "wait/lock/metadata/counts/event";
    static STAGE_A: Stage = "stage/counts/a";
    static STAGE_B: Stage = "stage/counts/b";
    static QUERY: Statement = "statement/counts/query";
    static WORKER: Thread = "thread/counts/worker";
}

/// The load of one thread: every kind of event, `n` times.
fn work(lock: &Mutex<u64>, rwlock: &RwLock<u64>, n: usize, bytes: &Tally) {
    for i in 0..n {
        let statement = tare::statement::start(&QUERY);
        tare::stage::set(&STAGE_A);
        *lock.lock() += 1;
        if i % 4 == 0 {
            *rwlock.write() += 1;
        } else {
            assert!(*rwlock.read() < u64::MAX);
        }
        tare::stage::set(&STAGE_B);
        let mut wait = tare::wait::start(&READ, Operation::Read);
        wait.bytes(i as u64);
        bytes.add(i as u64);
        drop(wait);
        statement.rows_sent(3);
    }
}

fn check_load(config: Config, timed: bool) {
    let tare = start(config);
    let (threads, n) = (64, scale(200, 20_000));
    let (lock, rwlock) = (Mutex::new(&LOCK_A, 0), RwLock::new(&LOCK_R, 0));
    let (bytes, ready) = (Tally::new(), Barrier::new(threads));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                ready.wait();
                work(&lock, &rwlock, n, &bytes);
            });
        }
    });
    let all = (threads * n) as u64;
    assert_eq!(*lock.lock(), all);
    assert_eq!(tare.losses(), []);
    assert_eq!(tare.total(&LOCK_A).count, all + 1);
    assert_eq!(tare.total(&LOCK_R).count, all);
    for class in [&STAGE_A, &STAGE_B, &QUERY, &READ] {
        let total = tare.total(class);
        assert_eq!(total.count, all, "{}", class.name());
        if timed {
            assert_eq!(total.buckets, all, "{}", class.name());
            assert!(total.min.is_some_and(|min| min <= total.max) && total.sum >= total.max);
        } else {
            assert_eq!((total.buckets, total.sum, total.min), (0, 0, None));
        }
    }
    assert_eq!(tare.total(&READ).extra, bytes.get());
    // RowsSent is counter 4: cell 5 of the row's second line.
    assert_eq!(tare.cell(&QUERY, 1, 5), 3 * all);
    for (class, total) in [
        (&LOCK_A, tare.total(&LOCK_A)),
        (&LOCK_R, tare.total(&LOCK_R)),
    ] {
        assert!(total.contended <= total.count);
        let ids = tare.instances(class);
        assert_eq!(ids.len(), 1, "one instance of {}", class.name());
        let instance = tare.instance(ids[0], 0);
        assert_eq!(instance.count, total.count);
        assert_eq!(instance.contended, total.contended);
        assert_eq!(instance.sum, total.sum);
        assert_eq!(tare.held(ids[0]), []);
    }
}

#[test]
fn sixty_four_threads_count_exactly_when_everything_is_on() {
    check_load(Config::everything(), true);
}

#[test]
fn sixty_four_threads_count_exactly_when_every_lock_is_timed() {
    let every = Config::everything().lock_timing(tare::LockTiming::Every);
    check_load(every, true);
}

#[test]
fn sixty_four_threads_count_exactly_when_nothing_is_timed() {
    let counted = Config::default().instruments([("%", Setting::Counted)]);
    check_load(counted, false);
}

#[test]
fn an_instance_counts_into_its_own_row_only() {
    let tare = start(Config::everything());
    let socket = tare::socket::Instance::new(&CLIENT, 3);
    // Rows are created in the order of first use: the lock's after the socket's.
    drop(socket.wait(Operation::Recv));
    let lock = Mutex::new(&LOCK_A, 0);
    *lock.lock() += 1;
    for _ in 0..100 {
        drop(socket.wait(Operation::Send));
    }
    assert_eq!([0, 1, 2].map(|i| tare.line(&CLIENT, i).count), [1, 100, 0]);
    assert_eq!(tare.total(&LOCK_A).count, 1);
    let socket = tare.sockets(&CLIENT)[0];
    assert_eq!(
        [0, 1, 2].map(|i| tare.instance(socket, i).count),
        [1, 100, 0]
    );
    assert_eq!(tare.instance(tare.instances(&LOCK_A)[0], 0).count, 1);
}

#[test]
fn ten_thousand_short_threads_leave_nothing_behind() {
    let tare = everything(Limits::default());
    let (rounds, at_once) = (scale(625, 12_500), 16);
    for _ in 0..rounds {
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
                    drop(tare::wait::start(&READ, Operation::Write));
                });
            }
        });
    }
    // A scope ends when its closures have; the threads' destructors may still run.
    wait_until(|| tare.live().is_empty());
    let all = (rounds * at_once) as u64;
    assert_eq!(tare.losses(), []);
    assert_eq!(tare.total(&EVENT).count, all);
    assert_eq!(tare.line(&READ, 1).count, all);
    let ids = tare.view.shared().next_thread_id.0.load(Ordering::Relaxed);
    assert_eq!(ids, all + 1, "each thread had an id of its own");
    // Threads of one round may meet those of the round before that have not ended.
    assert!(tare.slots() <= 2 * at_once, "{} slots", tare.slots());
    assert!(tare.banks() <= 2 * at_once, "{} banks", tare.banks());
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    // One minute, to fail rather than hang; the wait takes milliseconds.
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never came to be");
}

/// A thread with a small stack: two thousand of them should fit anywhere.
fn small_thread(body: impl FnOnce() + Send + 'static) -> std::thread::JoinHandle<()> {
    std::thread::Builder::new()
        .stack_size(64 * 1024)
        .spawn(body)
        .expect("a thread")
}

#[test]
fn two_thousand_live_threads_come_and_go_in_any_order() {
    let tare = everything(Limits::default());
    let threads = 2_000;
    let mut senders = Vec::new();
    let mut handles = Vec::new();
    let (ready_sender, ready) = std::sync::mpsc::channel();
    for _ in 0..threads {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let ready_sender = ready_sender.clone();
        handles.push(Some(small_thread(move || {
            tare::thread::register(&WORKER);
            drop(tare::wait::start(&EVENT, Operation::MetadataLock));
            ready_sender.send(()).expect("the test listens");
            assert!(receiver.recv().is_ok());
            drop(tare::wait::start(&EVENT, Operation::MetadataLock));
        })));
        senders.push(Some(sender));
    }
    for _ in 0..threads {
        ready.recv().expect("a thread is ready");
    }
    assert_eq!(tare.live().len(), threads);
    assert_eq!(tare.total(&EVENT).count, threads as u64);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut order: Vec<usize> = (0..threads).collect();
    for i in (1..threads).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    for i in order {
        let sender = senders[i].take().expect("once each");
        sender.send(()).expect("the thread listens");
        if i % 3 == 0 {
            let handle = handles[i].take().expect("once each");
            handle.join().expect("no panic");
        }
    }
    for handle in handles.into_iter().flatten() {
        handle.join().expect("no panic");
    }
    wait_until(|| tare.live().is_empty());
    assert_eq!(tare.losses(), []);
    assert_eq!(tare.total(&EVENT).count, 2 * threads as u64);
    // All slots and banks are free for the next threads.
    let (slots, banks) = (tare.slots(), tare.banks());
    std::thread::scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|| drop(tare::wait::start(&EVENT, Operation::MetadataLock)));
        }
    });
    assert_eq!((tare.slots(), tare.banks()), (slots, banks));
    assert_eq!(tare.total(&EVENT).count, 2 * threads as u64 + 200);
}

#[test]
fn threads_beyond_the_limit_run_and_each_of_their_events_is_counted_as_lost() {
    let limits = Limits::default().threads(8);
    let tare = everything(limits);
    let (threads, n) = (20, 1_000);
    let (all_began, all_done) = (Barrier::new(threads), Barrier::new(threads));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                drop(tare::wait::start(&EVENT, Operation::MetadataLock));
                all_began.wait();
                for _ in 1..n {
                    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
                }
                all_done.wait();
            });
        }
    });
    let lost = (threads - 8) as u64;
    assert_eq!(tare.total(&EVENT).count, 8 * n);
    assert_eq!(tare.lost(Lost::ThreadEvents), lost * n);
    assert_eq!(tare.lost(Lost::Threads), lost, "each thread once");
    // There is a free slot again: a new thread is recorded.
    wait_until(|| tare.live().is_empty());
    std::thread::scope(|scope| {
        scope.spawn(|| drop(tare::wait::start(&EVENT, Operation::MetadataLock)));
    });
    assert_eq!(tare.total(&EVENT).count, 8 * n + 1);
}

#[test]
fn a_thread_without_a_slot_gets_one_after_a_restart() {
    let limits = Limits::default().threads(4);
    let tare = everything(limits);
    let (full, restarted) = (Barrier::new(6), Barrier::new(6));
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                drop(tare::wait::start(&EVENT, Operation::MetadataLock));
                full.wait();
                restarted.wait();
                drop(tare::wait::start(&EVENT, Operation::MetadataLock));
            });
        }
        full.wait();
        assert_eq!(tare.lost(Lost::Threads), 1);
        tare::stop();
        tare::start(Config::everything()).expect("Tare starts");
        restarted.wait();
    });
    let second = support::Segment::of_this_process();
    assert_eq!(second.total(&EVENT).count, 5);
    assert_eq!(second.losses(), []);
}

#[test]
fn start_and_stop_at_any_moment_under_load() {
    /// Ends the load, also when an assertion fails.
    struct Ending<'a>(&'a AtomicBool);
    impl Drop for Ending<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let cycles = scale(100, 2_000);
    let exclusive = support::exclusive();
    tare::stop();
    let (stop, done) = (AtomicBool::new(false), Tally::new());
    let lock = Mutex::new(&LOCK_A, 0);
    let rwlock = RwLock::new(&LOCK_R, 0);
    let limits = Limits::default()
        .threads(64)
        .accounts(8)
        .digests(64)
        .history_long(64);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let bytes = Tally::new();
                while !stop.load(Ordering::Relaxed) {
                    work(&lock, &rwlock, 16, &bytes);
                    let statement = tare::statement::start(&QUERY);
                    statement.text("SELECT 1");
                    tare::thread::set_account("somebody", "somewhere");
                    let mode = tare::transaction::Mode::default();
                    tare::transaction::start(&QUERY_TRANSACTION, mode).commit();
                    done.add(17);
                }
            });
        }
        let _ending = Ending(&stop);
        for cycle in 0..cycles {
            let config = Config::everything().limits(limits);
            tare::start(config).expect("Tare starts");
            assert!(tare::is_running());
            let segment = support::Segment::of_this_process();
            let before = done.get();
            while cycle % 4 == 0 && done.get() < before + 50 {
                std::thread::yield_now();
            }
            tare::stop();
            assert!(!tare::is_running());
            // Without a thread in it, a segment in memory is unmapped when it is stopped; with one,
            // when that thread has seen the next start.
            let is_there = segment.view.header().magic.load(Ordering::Acquire) != 0;
            assert!(is_there || cycle % 4 != 0);
            if is_there {
                check_consistent(&segment);
            }
        }
    });
    drop(exclusive);
}

tare::classes! {
    static QUERY_TRANSACTION: Transaction = "transaction";
}

/// Checks a stopped segment, in which the stop may have interrupted points: each row is a sum of
/// complete events, except for one per running thread.
fn check_consistent(segment: &support::Segment) {
    let threads = segment.slots() as u64;
    assert!(threads <= 4);
    for class in [&STAGE_A, &STAGE_B, &QUERY] {
        let total = segment.total(class);
        assert!(total.count.abs_diff(total.buckets) <= threads, "{total:?}");
        assert!(total.sum >= total.max);
    }
    let (a, b) = (segment.total(&STAGE_A).count, segment.total(&STAGE_B).count);
    // A stage that ran when Tare stopped is in neither.
    assert!(a.abs_diff(b) <= 2 * threads, "{a} and {b} stages");
    let losses = segment.losses();
    assert!(losses.is_empty(), "{losses:?}");
}

#[test]
fn events_of_classes_beyond_the_limit_are_counted_as_lost() {
    let limits = Limits::default().classes(16);
    let tare = everything(limits);
    let classes: Vec<&'static tare::Class> = (0..20)
        .map(|i| {
            let name = format!("wait/lock/metadata/counts/many{i}").into_boxed_str();
            let class = tare::Class::new(tare::Kind::MetadataLock, Box::leak(name), "");
            &*Box::leak(Box::new(class))
        })
        .collect();
    for _ in 0..3 {
        for class in &classes {
            drop(tare::wait::start(class, Operation::MetadataLock));
        }
    }
    let registered = classes.iter().filter_map(|c| tare.class_number(c.name()));
    let registered = registered.count() as u64;
    // Number 0 is no class.
    let used = tare.view.shared().classes_used.0.load(Ordering::Relaxed);
    assert_eq!(used, 16);
    assert_eq!(tare.view.class(0).kind.load(Ordering::Relaxed), 0);
    assert!(tare.lost(Lost::Classes) >= 20 - registered);
    assert_eq!(tare.lost(Lost::ClassEvents), 3 * (20 - registered));
    let counted: u64 = classes
        .iter()
        .filter(|c| tare.class_number(c.name()).is_some())
        .map(|c| tare.total(c).count)
        .sum();
    assert_eq!(counted, 3 * registered);
}
