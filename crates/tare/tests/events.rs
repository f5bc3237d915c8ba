//! Single events: current, history, history_long, nesting, texts; and settings that change
//! while they run.
#![cfg(feature = "instrument")]

mod support;

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::Ordering;

use support::{Segment, everything, start};
use tare::metadata::MetadataLock;
use tare::{Config, Limits, LockDuration, LockStatus, LockType, Namespace, Operation, Setting};
use tare_layout::control::{
    DIGESTS, EVERY, GLOBAL, THREAD, Timer, is_instrumented, mask_under, thread_mask,
};
use tare_layout::event::{self, Nesting, Packed, statement, word};
use tare_layout::seqlock::Record;
use tare_layout::shared::Lost;
use tare_layout::slot::ring;
use tare_layout::source::split;

tare::classes! {
    static EVENT: MetadataLock = "wait/lock/metadata/events/event";
    static OUTER: TableIo = "wait/io/table/events/handler";
    static LOCK: Mutex = "wait/synch/mutex/events/LOCK";
    static STAGE_A: Stage = "stage/events/a";
    static STAGE_B: Stage = "stage/events/b", progress;
    static QUERY: Statement = "statement/events/query";
    static ABSTRACT: Statement = "statement/abstract/events", mutable;
    static TRANSACTION: Transaction = "transaction";
    static MDL: MetadataLock = "wait/lock/metadata/events/mdl";
}

fn event() {
    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
}

/// The records of a ring, oldest first by event id.
fn records<const N: usize>(ring: &[Record<N>]) -> Vec<[u64; N]> {
    let mut all: Vec<[u64; N]> = ring.iter().filter_map(Record::read).collect();
    all.sort_by_key(|words| words[word::ID]);
    all
}

fn my_slot(segment: &Segment) -> usize {
    segment.slot_of(tare::thread::id())
}

#[test]
fn history_has_the_last_events_of_each_type() {
    let limits = Limits::default().history(5);
    let tare = everything(limits);
    for i in 0..12 {
        let transaction = tare::transaction::start(&TRANSACTION, Default::default());
        let query = tare::statement::start(&QUERY);
        tare::stage::set(&STAGE_A);
        event();
        tare::stage::set(&STAGE_B);
        tare::stage::progress(i, 12);
        drop(query);
        if i % 2 == 0 {
            transaction.commit();
        }
    }
    let slot = my_slot(&tare);
    let view = &tare.view;
    let pushed: Vec<u64> = (0..ring::RINGS)
        .map(|r| view.slot(slot).pushed[r].load(Ordering::Relaxed))
        .collect();
    assert_eq!(pushed, [12, 24, 12, 12]);
    let (waits, stages) = (
        records(view.ring_waits(slot)),
        records(view.ring_stages(slot)),
    );
    let (queries, transactions) = (
        records(view.ring_statements(slot)),
        records(view.ring_transactions(slot)),
    );
    let lengths = [waits.len(), stages.len(), queries.len(), transactions.len()];
    assert_eq!(lengths, [5; 4]);
    // Each of the last five rounds has six ids: transaction, statement, stage, wait, stage.
    let newest = view.slot(slot).event_id.load(Ordering::Relaxed);
    assert_eq!(newest, 12 * 5);
    for (k, round) in (7..12).enumerate() {
        let first = round * 5 + 1;
        assert_eq!(transactions[k][word::ID], first);
        assert_eq!(queries[k][word::ID], first + 1);
        assert_eq!(waits[k][word::ID], first + 3);
        assert_eq!(queries[k][word::NESTING_ID], first);
        assert_eq!(waits[k][word::NESTING_ID], first + 2);
        let nested = Packed::unpack(waits[k][word::PACKED]);
        assert_eq!(Nesting::from_u8(nested.nesting), Nesting::Stage);
        assert_eq!(usize::from(nested.class), tare.number(&EVENT));
        let state = transactions[k][event::transaction::STATE] & 0xff;
        let committed = round % 2 == 0;
        let expected = if committed {
            event::transaction::COMMITTED
        } else {
            event::transaction::ROLLED_BACK
        };
        assert_eq!(state, expected);
        for ended in [&waits[k][..6], &queries[k][..6], &transactions[k][..6]] {
            assert!(ended[word::END] >= ended[word::START] && ended[word::START] > 0);
        }
    }
    let last = stages[4];
    assert_eq!(last[word::NESTING_ID], 11 * 5 + 2);
    assert_eq!(
        (last[event::stage::COMPLETED], last[event::stage::ESTIMATED]),
        (11, 12)
    );
    assert_eq!(tare.losses(), []);
}

/// A statement is nested in the open transaction, and a transaction in the statement that began it.
#[test]
fn transactions_nest_in_the_statement_that_begins_them() {
    let tare = everything(Limits::default());
    let query = tare::statement::start(&QUERY);
    let transaction = tare::transaction::start(&TRANSACTION, Default::default());
    drop(query);
    drop(tare::statement::start(&QUERY));
    transaction.commit();
    tare::transaction::start(&TRANSACTION, Default::default()).commit();
    let slot = my_slot(&tare);
    let nesting = |words: &[u64]| {
        let packed = event::Packed::unpack(words[word::PACKED]);
        (words[word::NESTING_ID], Nesting::from_u8(packed.nesting))
    };
    let transactions = records(tare.view.ring_transactions(slot));
    let statements = records(tare.view.ring_statements(slot));
    let first = (statements[0][word::ID], transactions[0][word::ID]);
    assert_eq!(nesting(&statements[0]), (0, Nesting::None));
    assert_eq!(nesting(&transactions[0]), (first.0, Nesting::Statement));
    assert_eq!(nesting(&statements[1]), (first.1, Nesting::Transaction));
    assert_eq!(nesting(&transactions[1]), (0, Nesting::None));
}

#[test]
fn waits_nest_three_deep_and_deeper_ones_are_counted() {
    let tare = everything(Limits::default());
    let slot = my_slot(&tare);
    let one = tare::table::wait(&OUTER, Operation::Fetch);
    let two = tare::wait::start(&EVENT, Operation::MetadataLock);
    let three = tare::wait::start(&EVENT, Operation::MetadataLock);
    assert_eq!(tare.view.slot(slot).wait_depth.load(Ordering::Relaxed), 3);
    let four = tare::wait::start(&EVENT, Operation::MetadataLock);
    let waits: Vec<_> = tare
        .view
        .slot(slot)
        .waits
        .iter()
        .map(|w| w.read())
        .collect();
    let outer = waits[0].expect("a wait");
    let inner = waits[2].expect("a wait");
    assert_eq!(inner[word::NESTING_ID], waits[1].expect("a wait")[word::ID]);
    assert_eq!(outer[word::END], 0);
    for wait in [four, three, two, one] {
        drop(wait);
    }
    assert_eq!(tare.view.slot(slot).wait_depth.load(Ordering::Relaxed), 0);
    assert_eq!(tare.total(&EVENT).count, 3);
    assert_eq!(tare.total(&OUTER).count, 1);
    assert_eq!(tare.losses(), [(Lost::NestedWaits as usize, 1)]);
}

#[test]
fn statements_nest_ten_deep_and_deeper_ones_are_counted_as_lost() {
    let tare = everything(Limits::default());
    let mut open: Vec<_> = (0..13).map(|_| tare::statement::start(&QUERY)).collect();
    let slot = my_slot(&tare);
    let depth = &tare.view.slot(slot).statement_depth;
    assert_eq!(depth.load(Ordering::Relaxed), 10);
    assert!(open[9].is_recorded() && !open[10].is_recorded());
    for (level, record) in tare.view.statements(slot).iter().enumerate() {
        let words = record.read().expect("a statement");
        assert_eq!(
            usize::from(Packed::unpack(words[word::PACKED]).level),
            level
        );
        assert_eq!(words[word::NESTING_ID], level as u64);
    }
    while let Some(statement) = open.pop() {
        statement.rows_sent(1);
    }
    assert_eq!(depth.load(Ordering::Relaxed), 0);
    assert_eq!(tare.total(&QUERY).count, 10);
    assert_eq!(tare.cell(&QUERY, 1, 5), 10);
    assert_eq!(tare.losses(), [(Lost::NestedStatements as usize, 3)]);
}

/// Reads a statement's text from its thread's ring, as a reader does.
fn text_of(segment: &Segment, slot: usize, words: &[u64; 32]) -> Option<String> {
    let ring = segment.view.text_ring(slot);
    let (at, length) = (
        words[statement::TEXT_AT],
        statement::text_bytes(words[statement::TEXT_AND_PROGRAM]),
    );
    let now = segment.view.slot(slot).text_at.load(Ordering::Acquire);
    if now - at > ring.len() as u64 * 8 {
        return None;
    }
    let bytes: Vec<u8> = (0..length.div_ceil(8))
        .flat_map(|i| {
            let word = &ring[(at as usize / 8 + i) & (ring.len() - 1)];
            word.load(Ordering::Relaxed).to_le_bytes()
        })
        .take(length)
        .collect();
    Some(String::from_utf8(bytes).expect("UTF-8"))
}

#[test]
fn texts_wrap_around_their_ring_and_the_last_ones_are_complete() {
    let limits = Limits::default()
        .text_ring_bytes(1024)
        .sql_text_bytes(256)
        .history(16);
    let tare = everything(limits);
    let text = |i: usize| format!("SELECT {i} /* {} */", "é".repeat(i % 140));
    for i in 0..200 {
        let query = tare::statement::start(&QUERY);
        query.text(&text(i));
    }
    let slot = my_slot(&tare);
    let stored = records(tare.view.ring_statements(slot));
    assert_eq!(stored.len(), 16);
    let mut complete = 0;
    for (words, i) in stored.iter().zip(184..200) {
        let expected = text(i);
        let cut = tare_layout::name::floor_boundary(&expected, 256);
        let truncated = words[statement::TEXT_AND_PROGRAM] & statement::TRUNCATED != 0;
        assert_eq!(truncated, cut < expected.len());
        if let Some(text) = text_of(&tare, slot, words) {
            assert_eq!(text, expected[..cut]);
            complete += 1;
        } else {
            assert_eq!(complete, 0, "a text went before an older one");
        }
    }
    assert!(
        complete >= 3,
        "a ring of 1024 bytes holds {complete} of at most 256"
    );
    // In history_long every text is complete.
    let mut long = 0;
    for i in 0..200 {
        let Some(words) = tare.view.long_statement(i).read() else {
            continue;
        };
        let mut bytes = vec![0; statement::text_bytes(words[statement::TEXT_AND_PROGRAM])];
        tare_layout::name::load_bytes(tare.view.long_text(i), &mut bytes);
        let expected = text(words[word::ID] as usize - 1);
        let cut = tare_layout::name::floor_boundary(&expected, 256);
        assert_eq!(bytes, expected.as_bytes()[..cut]);
        long += 1;
    }
    assert_eq!(long, 200);
}

#[test]
fn a_text_as_long_as_allowed_fits_its_ring() {
    let limits = Limits::default().text_ring_bytes(1024).sql_text_bytes(5000);
    let tare = everything(limits);
    let text: String = (0..1_000).map(|i| format!("{i:05}")).collect();
    let query = tare::statement::start(&QUERY);
    query.text(&text);
    let slot = my_slot(&tare);
    let words = tare.view.statements(slot)[0].read().expect("a statement");
    assert_eq!(text_of(&tare, slot, &words).as_deref(), Some(&*text));
    drop(query);
}

/// Threads that began together and then only wait, as a server's background threads do, hold adjacent
/// chunks. A thread that reaches them continues behind them.
#[test]
fn history_long_has_the_newest_events_while_other_threads_wait() {
    let limits = Limits::default().history_long(1600);
    let tare = everything(limits);
    let threads = 60;
    let (began, ended) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    let missing = std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                event();
                began.wait();
                ended.wait();
            });
        }
        began.wait();
        // Several times around the ring: there is space for 1,100 besides the events of the others.
        for _ in 0..6000 {
            event();
        }
        let newest = tare
            .view
            .slot(my_slot(&tare))
            .event_id
            .load(Ordering::Relaxed);
        let stored: BTreeSet<u64> = records(tare.view.long_waits())
            .into_iter()
            .filter(|words| split(words[word::THREAD]).0 == tare::thread::id())
            .map(|words| words[word::ID])
            .collect();
        let missing: Vec<u64> = (newest - 1000..=newest)
            .filter(|id| !stored.contains(id))
            .collect();
        ended.wait();
        missing
    });
    assert!(missing.is_empty(), "{missing:?}");
}

/// With fewer chunks than threads each thread still has its last events.
#[test]
fn history_long_has_complete_events_of_more_threads_than_chunks() {
    let limits = Limits::default().history_long(16);
    let tare = everything(limits);
    let threads = 12;
    let (began, ended) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                began.wait();
                for _ in 0..100 {
                    event();
                    tare::stage::set(&STAGE_A);
                }
                tare::stage::end();
                ended.wait();
                ended.wait();
            });
        }
        began.wait();
        ended.wait();
        let mut observed = BTreeSet::new();
        for words in tare.view.long_waits().iter().filter_map(Record::read) {
            assert!(words[word::END] >= words[word::START]);
            let packed = Packed::unpack(words[word::PACKED]);
            assert_eq!(usize::from(packed.class), tare.number(&EVENT));
            let fresh = observed.insert((split(words[word::THREAD]).0, words[word::ID]));
            assert!(fresh, "an event is there twice");
        }
        // Each thread's newest wait: two ids per iteration, minus the stage after it.
        let newest = observed.iter().filter(|(_, id)| *id == 199).count();
        assert_eq!(newest, threads);
        ended.wait();
    });
    assert_eq!(tare.total(&EVENT).count, 1200);
    assert_eq!(tare.losses(), []);
}

#[test]
fn a_statement_is_counted_under_its_refined_class() {
    let tare = everything(Limits::default());
    let query = tare::statement::start(&ABSTRACT);
    query.refine(&QUERY);
    query.error(1064, "42000", "no");
    drop(query);
    assert_eq!(tare.total(&ABSTRACT).count, 0);
    assert_eq!(tare.total(&QUERY).count, 1);
    let slot = my_slot(&tare);
    let words = records(tare.view.ring_statements(slot))[0];
    assert_eq!(words[statement::ERROR] as u32, 1064);
    assert_eq!(&words[statement::SQLSTATE].to_le_bytes()[..5], b"42000");
    assert!(tare.class_number("error/1064").is_some());
}

#[test]
fn counted_reads_no_clock_and_off_counts_nothing() {
    let tare = start(Config::everything().instruments(vec![
        ("%", Setting::Counted),
        (STAGE_B.name(), Setting::Off),
    ]));
    event();
    tare::stage::set(&STAGE_A);
    tare::stage::set(&STAGE_B);
    tare::stage::set(&STAGE_A);
    tare::stage::end();
    let total = tare.total(&EVENT);
    assert_eq!(
        (total.count, total.sum, total.buckets, total.min),
        (1, 0, 0, None)
    );
    assert_eq!(tare.total(&STAGE_A).count, 2);
    assert_eq!(tare.total(&STAGE_B).count, 0);
    let slot = my_slot(&tare);
    let waits = records(tare.view.ring_waits(slot));
    assert_eq!((waits[0][word::START], waits[0][word::END]), (0, 0));
}

#[test]
fn settings_take_effect_at_once() {
    let tare = everything(Limits::default());
    let lock = tare::sync::Mutex::new(&LOCK, ());
    event();
    tare.set_instrument(&EVENT, false, true);
    event();
    assert_eq!(tare.total(&EVENT).count, 1);
    tare.set_instrument(&EVENT, true, false);
    event();
    let total = tare.total(&EVENT);
    assert_eq!(total.count, 2);
    // A running wait ends by the settings with which it began.
    tare.set_instrument(&EVENT, true, true);
    let running = tare::wait::start(&EVENT, Operation::MetadataLock);
    tare.set_instrument(&EVENT, false, false);
    drop(running);
    assert_eq!(tare.total(&EVENT).count, 3);
    tare.set_instrument(&EVENT, true, true);

    drop(lock.lock());
    assert_eq!(
        tare.total(&LOCK).extra,
        0,
        "nobody waited, nothing was timed"
    );
    let control = tare.view.control();
    control.lock_timing.store(EVERY, Ordering::SeqCst);
    tare.recompute();
    drop(lock.lock());
    assert_eq!((tare.total(&LOCK).count, tare.total(&LOCK).extra), (2, 1));

    let before = control.consumers.load(Ordering::SeqCst);
    control.consumers.store(before & !DIGESTS, Ordering::SeqCst);
    tare.recompute();
    tare::statement::start(&QUERY).text("SELECT 1");
    assert_eq!(tare.digests(), []);
    control.consumers.store(before & !GLOBAL, Ordering::SeqCst);
    tare.recompute();
    event();
    drop(lock.lock());
    assert_eq!((tare.total(&EVENT).count, tare.total(&LOCK).count), (3, 2));
    control.consumers.store(before, Ordering::SeqCst);
    tare.recompute();
    event();
    assert_eq!(tare.total(&EVENT).count, 4);

    // threads.INSTRUMENTED = NO
    let mask = &tare.view.thread_masks()[my_slot(&tare)];
    mask.store(0, Ordering::SeqCst);
    event();
    assert_eq!(tare.total(&EVENT).count, 4);
    mask.store(0xff, Ordering::SeqCst);
    event();
    assert_eq!(tare.total(&EVENT).count, 5);

    // Without thread_instrumentation every thread is counted, and still shows whether it is
    // instrumented.
    let without = control.consumers.load(Ordering::SeqCst) & !THREAD;
    let masked = thread_mask(false, true, without);
    assert!(!is_instrumented(masked) && is_instrumented(0xff));
    assert_eq!(
        mask_under(masked, without | THREAD),
        thread_mask(false, true, THREAD)
    );
    mask.store(masked, Ordering::SeqCst);
    event();
    assert_eq!(tare.total(&EVENT).count, 6);
    mask.store(0xff, Ordering::SeqCst);
    assert_eq!(tare.losses(), []);
}

#[test]
fn timers_can_be_changed_between_two_stages() {
    let tare = everything(Limits::default());
    let timers = &tare.view.control().timers;
    let stage_timer = &timers[tare_layout::class::EventType::Stage as usize];
    let all = [
        Timer::Nanosecond,
        Timer::Cycle,
        Timer::Microsecond,
        Timer::Cycle,
        Timer::Millisecond,
    ];
    for (i, timer) in all.into_iter().enumerate() {
        tare::stage::set(if i % 2 == 0 { &STAGE_A } else { &STAGE_B });
        stage_timer.store(timer as u8, Ordering::SeqCst);
        tare.recompute();
    }
    tare::stage::end();
    let hour = 3_600 * tare.view.header().ticks_per_second.load(Ordering::Relaxed);
    let (a, b) = (tare.total(&STAGE_A), tare.total(&STAGE_B));
    assert_eq!(a.count + b.count, all.len() as u64);
    // A coarse clock may lag behind the clock by which an event began; nothing else is lost.
    let coarse = Lost::ClockBackwards as usize;
    assert!(tare.losses().iter().all(|(what, _)| *what == coarse));
    // Not a difference of the zeros of two clocks.
    assert!(a.max < hour && b.max < hour, "{a:?} {b:?}");
    // And TIMER_START is comparable with other times in the segment.
    let start = tare.view.header().start_ticks.load(Ordering::Relaxed);
    for words in records(tare.view.ring_stages(my_slot(&tare))) {
        assert!(words[word::START].abs_diff(start) < hour, "{words:?}");
    }
}

#[test]
fn a_metadata_lock_belongs_to_its_first_event_when_its_status_changes() {
    let tare = everything(Limits::default());
    let mut lock = MetadataLock::new(&MDL, Namespace::Table, "shop", "orders");
    let (kind, duration) = (LockType::SharedRead, LockDuration::Transaction);
    let status = || {
        let entry = tare.view.metadata_lock(0);
        let state = tare_layout::object::MetadataLock::unpack(entry.state.load(Ordering::Relaxed));
        let (_, _, _, status) = state.expect("it is shown");
        (status, entry.owner_event.load(Ordering::Relaxed))
    };
    event();
    lock.publish(kind, duration, LockStatus::Pending);
    assert_eq!(status(), (LockStatus::Pending, 2));
    event();
    lock.republish(kind, duration, LockStatus::Granted);
    assert_eq!(status(), (LockStatus::Granted, 2));
    // A lock that was not published before is published now.
    let mut other = MetadataLock::new(&MDL, Namespace::Table, "shop", "customers");
    other.republish(kind, duration, LockStatus::Granted);
    let entry = tare.view.metadata_lock(1);
    assert_eq!(entry.owner_event.load(Ordering::Relaxed), 3);
}
