//! TRUNCATE by a reader while the writer goes on.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use support::Running;
use tare::thread::ThreadSession;
use tare_layout::histogram::bucket_of;
use tare_layout::line::{COUNT, MAX, MIN, NO_MIN, SUM, memory};
use tare_layout::{Kind, control, slot};
use tare_reader::events::Table;
use tare_reader::{Events, Scope, Selection, Totals};

tare::classes! {
    static READ: File = "wait/io/file/test/read", enabled;
    static STEP: Stage = "stage/test/step", enabled;
    static HEAP: Memory = "memory/test/heap", enabled;
    static NOTHING: Statement = "statement/test/nothing";
    static WORKER: Thread = "thread/test/worker";
}

fn read() {
    tare::wait::start(&READ, tare::Operation::Read).bytes(3);
}

fn reads(times: u64) {
    (0..times).for_each(|_| read());
}

/// A read that takes at least so long.
fn long_read(at_least: std::time::Duration) {
    let _wait = tare::wait::start(&READ, tare::Operation::Read);
    thread::sleep(at_least);
}

fn count(totals: &Totals, class: usize) -> u64 {
    totals.row(class).map_or(0, |row| row[0][COUNT])
}

/// Ends a statement, so that histograms are complete.
fn settle() {
    drop(tare::statement::start(&NOTHING));
}

/// Counts of [`READ`]: all threads, the account without a user, the calling thread.
fn counts(running: &Running) -> [u64; 3] {
    let (selection, class) = (running.selection(), running.class(READ.name()));
    let banks = running.banks();
    let accounts = banks.accounts(&selection);
    let background = accounts
        .first()
        .and_then(Option::as_ref)
        .expect("it has a bank");
    let (slot, bank) = own_slot(running);
    let own = banks.thread(&selection, slot, bank).expect("we live");
    [
        count(&banks.global(&selection), class),
        count(background, class),
        count(&own, class),
    ]
}

fn own_slot(running: &Running) -> (usize, usize) {
    let (view, id) = (running.segment.view(), tare::thread::id());
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let slot = (0..used)
        .find(|i| view.slot(*i).thread_id.load(Ordering::Relaxed) == id)
        .expect("it has one");
    (slot, view.slot(slot).bank.load(Ordering::Relaxed) as usize)
}

#[test]
fn each_scope_is_truncated_separately() {
    let running = Running::new();
    reads(7);
    assert_eq!(counts(&running), [7, 7, 7]);
    running.truncate(Scope::Account);
    reads(1);
    assert_eq!(counts(&running), [8, 1, 8]);
    running.truncate(Scope::Thread);
    reads(1);
    assert_eq!(counts(&running), [9, 2, 1]);
    running.truncate(Scope::Global);
    assert_eq!(counts(&running), [0, 2, 1]);
    reads(5);
    running.truncate(Scope::Global);
    reads(1);
    assert_eq!(counts(&running), [1, 8, 7]);
}

#[test]
fn only_the_selected_classes_are_truncated() {
    let running = Running::new();
    reads(3);
    tare::stage::set(&STEP);
    tare::stage::end();
    let classes = tare_reader::Classes::read(running.segment.view());
    let stages = Selection::new(&classes, |kind| kind == Kind::Stage);
    running
        .segment
        .truncate_classes(Scope::Global, &stages)
        .expect("truncated");
    let totals = running.global();
    assert_eq!(count(&totals, running.class(READ.name())), 3);
    assert_eq!(count(&totals, running.class(STEP.name())), 0);
}

#[test]
fn truncated_sums_histograms_and_extremes_begin_anew() {
    let running = Running::new();
    let class = running.class(READ.name());
    long_read(std::time::Duration::from_millis(5));
    reads(50);
    settle();
    running.truncate(Scope::Global);

    let row = |running: &Running| running.global().row(class).expect("it fired")[0];
    let nothing = row(&running);
    assert_eq!(
        (nothing[COUNT], nothing[SUM], nothing[MIN], nothing[MAX]),
        (0, 0, NO_MIN, 0)
    );
    let histogram = |running: &Running| {
        running
            .banks()
            .histogram(&running.selection(), class)
            .expect("it fired")
    };
    assert_eq!(histogram(&running).total(), 0);

    // Longer than each short read and shorter than the longest: the extremes of all time stay.
    long_read(std::time::Duration::from_millis(1));
    let one = row(&running);
    assert_eq!(one[COUNT], 1);
    assert!(one[MIN] <= one[SUM] && one[MAX] >= one[SUM], "{one:?}");
    settle();
    let one = row(&running);
    assert_eq!(histogram(&running).total(), 1);
    // The sum is the one event's time, so the bucket is known.
    assert!(
        one[MIN] <= one[SUM] && bucket_of(one[MIN]) == bucket_of(one[SUM]),
        "{one:?}"
    );
    assert!(
        one[MAX] >= one[SUM] && bucket_of(one[MAX]) == bucket_of(one[SUM]),
        "{one:?}"
    );

    // Beyond all earlier times, so exact.
    long_read(std::time::Duration::from_millis(10));
    let two = row(&running);
    let longest = two[SUM] - one[SUM];
    assert_eq!(two[MAX], longest);
    settle();
    assert_eq!(histogram(&running).total(), 2);
}

/// The bank has an earlier thread's extremes, but the present thread's line does not.
#[test]
fn extremes_of_an_earlier_thread_are_truncated() {
    let running = Running::new();
    let class = running.class(READ.name());
    let milliseconds = std::time::Duration::from_millis;
    thread::spawn(move || {
        reads(50);
        long_read(milliseconds(20));
    })
    .join()
    .expect("it ended");
    thread::scope(|scope| {
        scope.spawn(|| {
            long_read(milliseconds(1));
            settle();
            assert_eq!(running.banks().count(), 1, "it counts on in the other's");
            running.truncate(Scope::Global);
            long_read(milliseconds(5));
            settle();
            let row = running.global().row(class).expect("it fired")[0];
            assert_eq!(row[COUNT], 1);
            for extreme in [MIN, MAX] {
                assert_eq!(bucket_of(row[extreme]), bucket_of(row[SUM]), "{row:?}");
            }
        });
    });
}

#[test]
fn memory_in_use_stays_in_use() {
    let running = Running::new();
    let class = running.class(HEAP.name());
    let row = || running.global().row(class).expect("it fired")[0];
    (0..5).for_each(|_| _ = tare::memory::allocated(&HEAP, 100));
    tare::memory::freed(&HEAP, 100);
    running.truncate(Scope::Global);
    let cells = row();
    assert_eq!(
        cells[memory::ALLOC_COUNT..=memory::FREE_BYTES],
        [4, 0, 400, 0]
    );
    assert_eq!(cells[memory::HIGH_COUNT..=memory::HIGH_BYTES], [4, 400]);
    tare::memory::allocated(&HEAP, 1000);
    let cells = row();
    assert_eq!(
        cells[memory::ALLOC_COUNT..=memory::FREE_BYTES],
        [5, 0, 1400, 0]
    );
    assert_eq!(cells[memory::HIGH_BYTES], 1400);
    tare::memory::freed(&HEAP, 1000);
    assert_eq!(
        row()[memory::ALLOC_COUNT..=memory::FREE_BYTES],
        [5, 1, 1400, 1000]
    );
}

#[test]
fn a_thread_that_begins_after_a_truncation_counts_from_zero() {
    let running = Running::new();
    let mut first = ThreadSession::new(&WORKER);
    {
        first.run(|| {
            reads(10);
            running.truncate(Scope::Thread);
            reads(2);
            assert_eq!(counts(&running), [12, 12, 2]);
        })
    }
    drop(first);
    let mut second = ThreadSession::new(&WORKER);
    second.run(|| {
        reads(3);
        assert_eq!(counts(&running), [15, 15, 3]);
        running.truncate(Scope::Thread);
        reads(1);
        assert_eq!(counts(&running), [16, 16, 1]);
    })
}

/// A truncation while banks are merged loses no later event and displays no earlier one.
#[test]
fn truncations_survive_a_merge_of_banks() {
    let running = Running::with_limits(tare::Limits::default().threads(8).accounts(16));
    let class = running.class(READ.name());
    let visit = |round: u64, times: u64| {
        let mut both = [ThreadSession::new(&WORKER), ThreadSession::new(&WORKER)];
        for session in &mut both {
            session.run(|| {
                tare::thread::set_account(&format!("user{}", round % 14), "localhost");
                reads(times);
            })
        }
    };
    let merges = || {
        running
            .segment
            .view()
            .shared()
            .merge_sequence
            .0
            .load(Ordering::Relaxed)
            / 2
    };
    (0..100).for_each(|round| visit(round, 4));
    assert!(merges() > 0, "no banks were merged: the test tests nothing");

    // No merge during the truncation, but after it.
    running.truncate(Scope::Global);
    assert_eq!(count(&running.global(), class), 0);
    let before = merges();
    (0..100).for_each(|round| visit(round, 1));
    assert!(merges() > before);
    assert_eq!(count(&running.global(), class), 200);
    let histogram = running
        .banks()
        .histogram(&running.selection(), class)
        .expect("it fired");
    assert_eq!(histogram.total(), 200);

    // Merges during the truncation.
    let done = AtomicBool::new(false);
    let mut truncations = 0;
    thread::scope(|scope| {
        let load = scope.spawn(|| {
            (0..600).for_each(|round| visit(round, 1));
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            running.truncate(Scope::Global);
            truncations += 1;
            assert!(count(&running.global(), class) <= 1200);
        }
        load.join().expect("no panic");
    });
    assert!(truncations > 0);
    running.truncate(Scope::Global);
    assert_eq!(count(&running.global(), class), 0);
    (0..100).for_each(|round| visit(round, 1));
    assert_eq!(count(&running.global(), class), 200);
}

#[test]
fn files_are_truncated_separately_from_their_class() {
    let running = Running::with_limits(tare::Limits::default().threads(8).accounts(16));
    let file = tare::file::Instance::open(&READ, "/tmp/of-all");
    let visit = |round: u64| {
        let mut both = [ThreadSession::new(&WORKER), ThreadSession::new(&WORKER)];
        for session in &mut both {
            session.run(|| {
                tare::thread::set_account(&format!("user{}", round % 14), "localhost");
                file.wait(tare::Operation::Read).bytes(3);
            })
        }
    };
    let reads = || {
        let threads = tare_reader::threads(running.segment.view());
        let rows = running.banks().instance_rows(&threads);
        running.banks().files(&rows)[0].row[0][COUNT]
    };
    let merges = || {
        running
            .segment
            .view()
            .shared()
            .merge_sequence
            .0
            .load(Ordering::Relaxed)
            / 2
    };
    (0..40).for_each(visit);
    assert_eq!(reads(), 80);
    running
        .segment
        .truncate_instances(tare_reader::Instances::Files)
        .expect("truncated");
    assert_eq!(reads(), 0);
    let before = merges();
    (0..40).for_each(visit);
    assert!(
        merges() > before,
        "no banks were merged: the test tests nothing"
    );
    assert_eq!(reads(), 80);
    assert_eq!(count(&running.global(), running.class(READ.name())), 160);
}

#[test]
fn events_and_digests_are_truncated_in_the_control_page() {
    let running = Running::new();
    let control = || running.segment.view().control();
    let before = running.segment.clock().now().expect("it lives");
    running
        .segment
        .truncate_events(slot::ring::STAGES, control::table::LONG)
        .expect("truncated");
    let cleared: Vec<u64> = control()
        .cleared
        .iter()
        .map(|c| c.load(Ordering::Relaxed))
        .collect();
    for (i, ticks) in cleared.into_iter().enumerate() {
        let ours = i == slot::ring::STAGES * 3 + control::table::LONG;
        assert_eq!(ticks >= before, ours, "{i}");
    }
    running
        .segment
        .truncate_events(4, 0)
        .expect_err("there are four rings");
    let generation = control().digest_generation.load(Ordering::Relaxed);
    running.segment.truncate_digests().expect("truncated");
    assert_eq!(
        control().digest_generation.load(Ordering::Relaxed),
        generation + 1
    );
    assert_eq!(control().truncating.load(Ordering::Relaxed), 0);
}

/// An event that is not timed has no end time to compare with the truncation's.
#[test]
fn events_without_times_are_truncated() {
    let running = Running::with(|config| {
        config.instruments = vec![("%".into(), tare::Setting::Counted)];
    });
    let listed = |table| {
        let threads = tare_reader::threads(running.segment.view());
        let events = Events::new(running.segment.view(), &threads);
        (events.waits(table).len(), events.statements(table).len())
    };
    let events = || {
        drop(tare::statement::start(&NOTHING));
        reads(2);
    };
    events();
    assert_eq!(listed(Table::History), (2, 1));
    assert_eq!(listed(Table::Long), (2, 1));
    let truncate = |ring, table| running.segment.truncate_events(ring, table);
    truncate(slot::ring::WAITS, control::table::LONG).expect("truncated");
    assert_eq!(listed(Table::History), (2, 1));
    assert_eq!(listed(Table::Long), (0, 1));
    events();
    truncate(slot::ring::STATEMENTS, control::table::HISTORY).expect("truncated");
    assert_eq!(listed(Table::History), (4, 0));
    assert_eq!(listed(Table::Long), (2, 2));
}
