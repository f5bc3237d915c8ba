//! Reading while threads write, begin and end: no total decreases, no event is counted twice, and totals are
//! exact once the load has stopped.

mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use support::Running;
use tare::thread::ThreadSession;
use tare_layout::line::{COUNT, EXTRA, MAX, SUM};
use tare_reader::{Banks, Selection, Totals};

tare::classes! {
    static READ: File = "wait/io/file/test/read", enabled;
    static LOCK: MetadataLock = "wait/lock/metadata/test/lock", enabled;
    static STEP: Stage = "stage/test/step", enabled;
    static QUERY: Statement = "statement/test/query";
    static WORKER: Thread = "thread/test/worker";
    static HEAP: Memory = "memory/test/heap", enabled;
}

/// Work whose counts are known: one of everything, with three bytes read.
fn work() {
    let statement = tare::statement::start(&QUERY);
    statement.text("SELECT c FROM t WHERE id = 42");
    tare::stage::set(&STEP);
    let file = tare::file::Instance::open(&READ, "/tmp/of-all");
    file.wait(tare::Operation::Write).bytes(5);
    drop(file);
    tare::wait::start(&READ, tare::Operation::Read).bytes(3);
    drop(tare::wait::start(&LOCK, tare::Operation::MetadataLock));
    tare::memory::allocated(&HEAP, 10);
    tare::memory::freed(&HEAP, 4);
    statement.rows_sent(2);
}

/// Count, sum and bytes of every class never fall from one reading to the next.
fn assert_forward(before: &Totals, after: &Totals) {
    for (class, old) in before.rows() {
        let new = after.row(class).expect("a class that fired stays");
        for (old, new) in old.iter().zip(new) {
            for cell in [COUNT, SUM, EXTRA, MAX] {
                assert!(
                    new[cell] >= old[cell],
                    "class {class}, cell {cell}: {} after {}",
                    new[cell],
                    old[cell]
                );
            }
        }
    }
}

/// Reads totals until the load is done, and checks that they only grow. Returns the number of readings.
fn watch(running: &Running, selection: &Selection, done: &AtomicBool) -> u64 {
    let mut before = running.banks().global(selection);
    let mut readings = 0;
    while !done.load(Ordering::Acquire) {
        let after = running.banks().global(selection);
        assert_forward(&before, &after);
        before = after;
        readings += 1;
    }
    readings
}

/// Checks the counts of all threads against the number of times that [`work`] ran.
fn assert_exact(running: &Running, times: u64) {
    let totals = running.global();
    let row = |name| totals.row(running.class(name)).expect("it fired");
    assert_eq!(row("wait/io/file/test/read")[0][COUNT], times);
    assert_eq!(row("wait/io/file/test/read")[0][EXTRA], 3 * times);
    assert_eq!(row("wait/io/file/test/read")[1][EXTRA], 5 * times);
    assert_eq!(row("wait/lock/metadata/test/lock")[0][COUNT], times);
    assert_eq!(row("stage/test/step")[0][COUNT], times);
    assert_eq!(row("statement/test/query")[0][COUNT], times);
    let (line, cell) = tare_layout::class::counter_cell(tare::Counter::RowsSent as usize);
    assert_eq!(row("statement/test/query")[line][cell], 2 * times);
    assert_eq!(
        row("memory/test/heap")[0][1..=4],
        [times, times, 10 * times, 4 * times]
    );
    let histograms = running.banks().histograms(&running.selection());
    for name in [
        "wait/lock/metadata/test/lock",
        "stage/test/step",
        "statement/test/query",
    ] {
        let histogram = histograms[running.class(name)].as_ref().expect("it fired");
        assert_eq!(histogram.total(), times, "{name}");
    }
    // By digest and by file: rows of threads, and shared ones where banks were merged.
    let digests = running.banks().digests();
    let count = |digest: &tare_reader::Digest| (digest.row[0][COUNT], digest.histogram.total());
    assert_eq!(
        digests.iter().map(count).collect::<Vec<_>>(),
        [(times, times)]
    );
    let threads = tare_reader::threads(running.segment.view());
    let instances = running.banks().instance_rows(&threads);
    let files = running.banks().files(&instances);
    assert_eq!(files.len(), 1);
    assert_eq!(
        (files[0].row[1][COUNT], files[0].row[1][EXTRA]),
        (times, 5 * times)
    );
    // The same sums by account.
    let mut sum = Totals::new(&running.selection());
    for account in running
        .banks()
        .accounts(&running.selection())
        .iter()
        .flatten()
    {
        sum.add(account);
    }
    for (class, row) in totals.rows() {
        assert_eq!(sum.row(class).expect("some account has it"), row);
    }
}

fn lost(running: &Running) -> Vec<u64> {
    let lost = &running.segment.view().shared().lost;
    lost.iter().map(|n| n.load(Ordering::Relaxed)).collect()
}

#[test]
fn totals_never_decrease_and_end_exact_while_64_threads_write() {
    const THREADS: u64 = 64;
    const TIMES: u64 = 2_000;
    let running = Running::new();
    let selection = running.selection();
    let done = AtomicBool::new(false);
    let readings = thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&running, &selection, &done));
        let writers: Vec<_> = (0..THREADS)
            .map(|_| {
                tare::thread::spawn(&WORKER, || (0..TIMES).for_each(|_| work())).expect("a thread")
            })
            .collect();
        writers
            .into_iter()
            .for_each(|writer| writer.join().expect("no panic"));
        done.store(true, Ordering::Release);
        reader.join().expect("totals only grow")
    });
    assert!(readings > 0);
    assert_exact(&running, THREADS * TIMES);
    assert!(
        lost(&running).iter().all(|n| *n == 0),
        "{:?}",
        lost(&running)
    );
}

#[test]
fn ten_thousand_short_threads_leave_no_slot_and_lose_no_event() {
    const THREADS: u64 = 10_000;
    const AT_ONCE: u64 = 8;
    let running = Running::new();
    let selection = running.selection();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&running, &selection, &done));
        let makers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                thread::spawn(|| {
                    for _ in 0..THREADS / AT_ONCE {
                        let short = tare::thread::spawn(&WORKER, work).expect("a thread");
                        short.join().expect("no panic");
                    }
                })
            })
            .collect();
        makers
            .into_iter()
            .for_each(|maker| maker.join().expect("no panic"));
        done.store(true, Ordering::Release);
        reader.join().expect("totals only grow")
    });
    assert_exact(&running, THREADS);
    let shared = running.segment.view().shared();
    let slots = shared.slots_used.0.load(Ordering::Relaxed);
    assert!(
        u64::from(slots) <= 4 * AT_ONCE,
        "{slots} slots for {AT_ONCE} threads at a time"
    );
    assert!(shared.banks_used.0.load(Ordering::Relaxed) <= slots);
    assert!(
        lost(&running).iter().all(|n| *n == 0),
        "{:?}",
        lost(&running)
    );
}

#[test]
fn ten_thousand_live_threads_each_have_their_counts() {
    const THREADS: usize = 10_000;
    let running = Running::new();
    let selection = running.selection();
    let mut sessions: Vec<ThreadSession> =
        (0..THREADS).map(|_| ThreadSession::new(&WORKER)).collect();
    for (i, session) in sessions.iter_mut().enumerate() {
        session.run(|| {
            (0..i % 5).for_each(|_| work());
        })
    }
    let done: u64 = (0..THREADS).map(|i| (i % 5) as u64).sum();
    assert_exact(&running, done);

    let (view, class) = (
        running.segment.view(),
        running.class("statement/test/query"),
    );
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let mut counts = [0; 5];
    for slot in 0..used {
        let bank = view.slot(slot).bank.load(Ordering::Relaxed) as usize;
        if view.slot(slot).state.load(Ordering::Acquire) == tare_layout::slot::LIVE {
            let totals = running
                .banks()
                .thread(&selection, slot, bank)
                .expect("it lives");
            counts[totals.row(class).map_or(0, |row| row[0][COUNT]) as usize] += 1;
        }
    }
    let fifth = THREADS / 5;
    assert_eq!(counts[1..], [fifth; 4]);
    assert!(
        lost(&running).iter().all(|n| *n == 0),
        "{:?}",
        lost(&running)
    );
}

/// More accounts than banks, so that free banks of other accounts are merged again and again.
#[test]
fn merging_banks_neither_loses_nor_doubles() {
    const ROUNDS: u64 = 400;
    let running = Running::with_limits(tare::Limits::default().threads(12).accounts(16));
    let selection = running.selection();
    let done = AtomicBool::new(false);
    let times = Arc::new(AtomicU64::new(0));
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&running, &selection, &done));
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                let times = times.clone();
                thread::spawn(move || {
                    for round in 0..ROUNDS {
                        // Two sessions of one account at a time, so that it ends with two banks.
                        let user = format!("user{}", (round * 3 + worker) % 14);
                        let mut both = [ThreadSession::new(&WORKER), ThreadSession::new(&WORKER)];
                        for session in &mut both {
                            session.run(|| {
                                tare::thread::set_account(&user, "localhost");
                                work();
                                times.fetch_add(1, Ordering::Relaxed);
                            })
                        }
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .for_each(|worker| worker.join().expect("no panic"));
        done.store(true, Ordering::Release);
        reader.join().expect("totals only grow")
    });
    let merges = running
        .segment
        .view()
        .shared()
        .merge_sequence
        .0
        .load(Ordering::Relaxed)
        / 2;
    assert!(merges > 0, "no banks were merged: the test tests nothing");
    assert_exact(&running, times.load(Ordering::Relaxed));
    assert!(
        lost(&running).iter().all(|n| *n == 0),
        "{:?}",
        lost(&running)
    );
}

/// Slot and bank of the live worker.
fn live_worker(running: &Running) -> (usize, usize) {
    let (view, worker) = (running.segment.view(), running.class("thread/test/worker"));
    let slot = (0..view.shared().slots_used.0.load(Ordering::Acquire) as usize)
        .filter(|i| view.slot(*i).state.load(Ordering::Acquire) == tare_layout::slot::LIVE)
        .find(|i| view.slot(*i).class.load(Ordering::Relaxed) == worker as u32)
        .expect("it lives");
    let bank = view.slot(slot).bank.load(Ordering::Relaxed) as usize;
    (slot, bank)
}

/// A thread's figures are its own, though its bank has those of earlier threads.
#[test]
fn a_threads_counts_begin_at_zero_in_a_reused_bank() {
    let running = Running::new();
    let selection = running.selection();
    tare::thread::spawn(&WORKER, || (0..100).for_each(|_| work()))
        .expect("a thread")
        .join()
        .expect("no panic");
    let (worked, looked) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let thread = tare::thread::spawn(&WORKER, {
        let (worked, looked) = (worked.clone(), looked.clone());
        move || {
            work();
            worked.wait();
            looked.wait();
        }
    })
    .expect("a thread");
    worked.wait();
    let view = running.segment.view();
    let (slot, bank) = live_worker(&running);
    assert!(
        view.bank(bank).base_used.load(Ordering::Relaxed) > 1,
        "a new bank: tests nothing"
    );
    let totals = running
        .banks()
        .thread(&selection, slot, bank)
        .expect("it lives");
    for (class, row) in totals.rows() {
        assert!(row[0][COUNT] <= 1, "class {class}: {row:?}");
    }
    let query = totals
        .row(running.class("statement/test/query"))
        .expect("it ran");
    let heap = totals
        .row(running.class("memory/test/heap"))
        .expect("it ran");
    // No more allocations were in use than before the thread began, so only the allocations in use now (0)
    // are known of their high mark; 10 bytes were a new high mark.
    assert_eq!(heap[0][1..=6], [1, 1, 10, 4, 0, 10]);
    assert_eq!(
        query[0][SUM], query[0][MAX],
        "one statement: its time is the longest"
    );
    looked.wait();
    thread.join().expect("no panic");
    assert!(
        running.banks().thread(&selection, slot, bank).is_none(),
        "it has gone"
    );
    assert_exact(&running, 101);
    let _ = Banks::new(view, false).global(&selection);
}

/// The same if earlier threads counted in other rows, and in more than the process lists.
#[test]
fn a_threads_counts_exclude_earlier_threads_of_its_bank() {
    const MANY: usize = 300;
    let running = Running::new();
    let classes: &'static [tare::Class] = (0..MANY)
        .map(|i| {
            let name = format!("wait/lock/metadata/test/many{i}");
            tare::Class::new(tare::Kind::MetadataLock, name.leak(), "").enabled()
        })
        .collect::<Vec<_>>()
        .leak();
    // Threads, classes and counts: the second thread does not use some rows of the first.
    let all: Vec<usize> = (0..MANY).collect();
    let turns = [
        (all.clone(), 5),
        (vec![0, 7, 299], 1),
        (all, 2),
        (vec![299], 3),
    ];
    let (mut expected, mut banks) = (vec![0; MANY], Vec::new());
    for (which, times) in turns {
        let (worked, looked) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let mut own = vec![0; MANY];
        which.iter().for_each(|&i| own[i] = times);
        let thread = tare::thread::spawn(&WORKER, {
            let (worked, looked) = (worked.clone(), looked.clone());
            move || {
                for &i in which.iter().cycle().take(which.len() * times as usize) {
                    let class = &classes[i];
                    drop(tare::wait::start(class, tare::Operation::MetadataLock));
                }
                worked.wait();
                looked.wait();
            }
        })
        .expect("a thread");
        worked.wait();
        let (slot, bank) = live_worker(&running);
        banks.push(bank);
        let selection = running.selection();
        let count = |totals: &Totals, i: usize| {
            let row = totals.row(running.class(classes[i].name()));
            row.map_or(0, |row| row[0][COUNT])
        };
        let thread_totals = running.banks().thread(&selection, slot, bank);
        let thread_totals = thread_totals.expect("it lives");
        let total = running.banks().global(&selection);
        for i in 0..MANY {
            expected[i] += own[i];
            assert_eq!(count(&thread_totals, i), own[i], "of the thread, class {i}");
            assert_eq!(count(&total, i), expected[i], "of all, class {i}");
        }
        looked.wait();
        thread.join().expect("no panic");
    }
    assert!(
        banks.iter().all(|bank| *bank == banks[0]),
        "other banks: tests nothing"
    );
}
