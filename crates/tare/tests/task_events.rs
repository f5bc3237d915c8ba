//! Events of tasks: nesting, records, histories, and what readers see while tasks are not polled.
#![cfg(feature = "instrument")]

mod support;

use std::future::{Future, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use support::{Segment, everything, start};
use tare::task::{branch, scope, stage, statement};
use tare::thread::ThreadSession;
use tare::{Config, Limits, LockTiming, Operation};
use tare_layout::control::Timer;
use tare_layout::event::{self, Nesting, Packed, word};
use tare_layout::seqlock::Record;
use tare_layout::shared::Lost;
use tare_layout::slot::{STATEMENT_DEPTH, TASK_STATEMENTS, TASK_WAIT_BIT};

tare::classes! {
    static SESSION: Thread = "thread/events/session";
    static OUTER: Statement = "statement/events/outer";
    static INNER: Statement = "statement/events/inner";
    static STEP: Stage = "stage/events/step";
    static LOCK: Mutex = "wait/synch/mutex/events/LOCK";
    static TRANSACTION: Transaction = "transaction";
}

/// Polls once.
fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls until it is ready.
fn finish<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    loop {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return output;
        }
    }
}

/// Is ready at the second poll.
fn turn() -> impl Future<Output = ()> {
    let mut is_first = true;
    poll_fn(move |_| match std::mem::take(&mut is_first) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
}

/// Polls both until both are ready, as `join!` does.
async fn join(a: impl Future<Output = ()>, b: impl Future<Output = ()>) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let mut ready = [false; 2];
    poll_fn(|context| {
        ready[0] = ready[0] || a.as_mut().poll(context).is_ready();
        ready[1] = ready[1] || b.as_mut().poll(context).is_ready();
        match ready {
            [true, true] => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
}

fn session() -> (ThreadSession, u64) {
    let session = ThreadSession::new(&SESSION);
    let id = session.id();
    (session, id)
}

/// The events of a ring by id: class and parent.
fn nestings<const N: usize>(ring: &[Record<N>]) -> Vec<(u64, usize, (u64, Nesting))> {
    let mut all: Vec<[u64; N]> = ring.iter().filter_map(Record::read).collect();
    all.sort_by_key(|words| words[word::ID]);
    let nesting = |words: [u64; N]| {
        let packed = Packed::unpack(words[word::PACKED]);
        assert!(packed.span != 0 && words[word::END] >= words[word::START]);
        let parent = (words[word::NESTING_ID], Nesting::from_u8(packed.nesting));
        (words[word::ID], usize::from(packed.class), parent)
    };
    all.into_iter().map(nesting).collect()
}

/// The ids of statements that tasks run in a slot.
fn current(tare: &Segment, slot: usize) -> Vec<u64> {
    let used = tare.view.slot(slot).task_records.load(Ordering::Relaxed);
    let records = tare.view.statements(slot).iter().enumerate();
    let used = records.filter(|(i, _)| used & 1 << i != 0);
    used.filter_map(|(_, record)| Some(record.read()?[word::ID]))
        .collect()
}

async fn inner(turns: usize) {
    let _inner = statement::start(&INNER);
    for _ in 0..turns {
        turn().await;
    }
    tare::wait::future(&LOCK, Operation::Lock, turn()).await;
}

#[test]
fn branches_nest_in_what_ran_when_they_were_created() {
    let tare = everything(Limits::default());
    let (session, id) = session();
    let slot = tare.slot_of(id);
    let mut task = pin!(scope(session, async {
        let _outer = statement::start(&OUTER);
        join(branch(inner(2)), branch(inner(1))).await;
        drop(statement::start(&INNER));
        pending::<()>().await;
    }));
    for _ in 0..6 {
        assert!(poll(task.as_mut()).is_pending());
    }
    let statements = nestings(tare.view.ring_statements(slot));
    let in_outer = (1, Nesting::Statement);
    let number = tare.number(&INNER);
    let ids: Vec<u64> = statements.iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, [2, 3, 6]);
    assert!(
        statements
            .iter()
            .all(|(_, class, parent)| (*class, *parent) == (number, in_outer))
    );
    // Each wait is nested in the statement of its own branch, whose record was the later one.
    let waits = nestings(tare.view.ring_waits(slot));
    let parents: Vec<_> = waits
        .iter()
        .map(|(id, _, parent)| (*id, parent.0))
        .collect();
    assert_eq!(parents, [(4, 3), (5, 2)]);
    assert_eq!(current(&tare, slot), [1]);
    assert_eq!(tare.losses(), []);
}

#[test]
fn statements_that_end_in_any_order_leave_no_wrong_parent() {
    let tare = everything(Limits::default());
    let (session, id) = session();
    let slot = tare.slot_of(id);
    let mut task = pin!(scope(session, async {
        let first = statement::start(&OUTER);
        let second = statement::start(&INNER);
        let third = statement::start(&INNER);
        turn().await;
        drop(second);
        drop(third);
        drop(statement::start(&INNER)); // in the first
        drop(first);
        drop(statement::start(&INNER)); // in none
        pending::<()>().await;
    }));
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!(current(&tare, slot).len(), 3);
    assert!(poll(task.as_mut()).is_pending());
    let statements = nestings(tare.view.ring_statements(slot));
    let parents: Vec<_> = statements
        .iter()
        .map(|(id, _, parent)| (*id, *parent))
        .collect();
    let in_statement = |id| (id, Nesting::Statement);
    assert_eq!(
        parents,
        [
            (1, (0, Nesting::None)),
            (2, in_statement(1)),
            (3, in_statement(2)),
            (4, in_statement(1)),
            (5, (0, Nesting::None)),
        ]
    );
    assert_eq!(current(&tare, slot), []);
}

#[test]
fn synchronous_events_nest_in_the_statement_of_their_task() {
    let tare = everything(Limits::default());
    let (session, id) = session();
    let slot = tare.slot_of(id);
    let mut task = pin!(scope(session, async {
        let _outer = statement::start(&OUTER);
        turn().await;
        let inner = tare::statement::start(&INNER);
        drop(tare::wait::start(&LOCK, Operation::Lock));
        drop(inner);
        let transaction = tare::transaction::start(&TRANSACTION, Default::default());
        turn().await;
        transaction.commit();
        let _step = stage::start(&STEP);
        drop(tare::wait::start(&LOCK, Operation::Lock));
    }));
    finish(task.as_mut());
    let level = |statement: &Record<32>| {
        let words = statement.read()?;
        Some((words[word::ID], Packed::unpack(words[word::PACKED]).level))
    };
    let ring = tare.view.ring_statements(slot);
    let mut levels: Vec<_> = ring.iter().filter_map(level).collect();
    levels.sort();
    assert_eq!(levels, [(1, 0), (2, 1)]);
    let number = tare.number(&INNER);
    assert_eq!(nestings(ring)[1], (2, number, (1, Nesting::Statement)));
    let waits = nestings(tare.view.ring_waits(slot));
    assert_eq!(waits[0].2, (2, Nesting::Statement));
    assert_eq!(waits[1].2, (1, Nesting::Statement));
    let stages = nestings(tare.view.ring_stages(slot));
    assert_eq!(stages[0].2, (1, Nesting::Statement));
    assert_eq!(tare.total(&TRANSACTION).count, 1);
    assert_eq!(tare.losses(), []);
}

#[test]
fn a_statement_is_current_while_its_task_is_not_polled() {
    let tare = everything(Limits::default());
    let (session, id) = session();
    let slot = tare.slot_of(id);
    let mut task = pin!(scope(session, async {
        let outer = statement::start(&OUTER);
        outer.text("GET a");
        let _step = stage::start(&STEP);
        tare::wait::future(&LOCK, Operation::Lock, turn()).await;
        outer.error(1234, "HY000", "no a");
    }));
    let in_slot = tare.view.slot(slot);
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!(in_slot.os_id.load(Ordering::Relaxed), 0);
    assert_eq!(current(&tare, slot), [1]);
    let stage = || in_slot.activity.stage.load(Ordering::Relaxed) as usize;
    assert_eq!(stage(), tare.number(&STEP));
    assert!(in_slot.current_stage.read().is_some());
    let waits = in_slot.task_records.load(Ordering::Relaxed) >> TASK_WAIT_BIT;
    let wait = in_slot.waits[waits.ilog2() as usize]
        .read()
        .expect("current");
    assert_eq!(
        usize::from(Packed::unpack(wait[word::PACKED]).class),
        tare.number(&LOCK)
    );
    // The task's thread has no event.
    assert_eq!(tare::thread::event().1, 1);
    finish(task.as_mut());
    assert_eq!(
        (in_slot.task_records.load(Ordering::Relaxed), stage()),
        (0, 0)
    );
    assert!(in_slot.current_stage.read().is_none());
    let ended = tare.view.ring_statements(slot)[0].read().expect("stored");
    assert_eq!(ended[event::statement::ERROR] as u32, 1234);
    assert_eq!(
        event::statement::text_bytes(ended[event::statement::TEXT_AND_PROGRAM]),
        5
    );
    assert_ne!(ended[event::statement::DIGEST], 0);
    assert_eq!(tare.losses(), []);
}

#[test]
fn a_future_that_is_dropped_ends_its_events_in_its_session() {
    let tare = everything(Limits::default());
    let (session, id) = session();
    let slot = tare.slot_of(id);
    let mut task = Box::pin(scope(session, async {
        let _outer = statement::start(&OUTER);
        let _step = stage::start(&STEP);
        tare::wait::future(&LOCK, Operation::Lock, pending::<()>()).await;
    }));
    assert!(poll(task.as_mut()).is_pending());
    std::thread::scope(|threads| {
        threads.spawn(move || drop(task));
    });
    let pushed: Vec<u64> = (tare.view.slot(slot).pushed.iter())
        .map(|pushed| pushed.load(Ordering::Relaxed))
        .collect();
    assert_eq!(pushed, [1, 1, 1, 0]);
    for class in [&OUTER, &STEP, &LOCK] {
        assert_eq!((tare.total(class).count, tare.total(class).buckets), (1, 1));
    }
    assert_eq!(tare.losses(), []);
}

#[test]
fn events_that_end_outside_of_their_session_are_counted_and_leave_it() {
    let tare = everything(Limits::default());
    let (session, id) = session();
    let slot = tare.slot_of(id);
    let mut task = Box::pin(scope(session, async {
        let outer = statement::start(&OUTER);
        let step = stage::start(&STEP);
        (outer, step)
    }));
    let Poll::Ready((outer, step)) = poll(task.as_mut()) else {
        panic!("it does not wait");
    };
    assert_eq!(current(&tare, slot), [1]);
    std::thread::scope(|threads| {
        threads.spawn(move || {
            outer.text("SELECT 1");
            drop(outer);
            drop(step);
        });
    });
    assert_eq!(current(&tare, slot), []);
    assert!(tare.view.slot(slot).current_stage.read().is_none());
    assert_eq!((tare.total(&OUTER).count, tare.total(&STEP).count), (1, 1));
    assert_eq!(tare.digests().len(), 1);
    drop(task);
    // Another session has the slot now: what the first began does not touch it.
    let mut first = Box::pin(scope(ThreadSession::new(&SESSION), async {
        statement::start(&OUTER)
    }));
    let Poll::Ready(outer) = poll(first.as_mut()) else {
        panic!("it does not wait");
    };
    drop(first);
    let (session, id) = self::session();
    assert_eq!(tare.slot_of(id), slot);
    let mut second = pin!(scope(session, async {
        let _inner = statement::start(&INNER);
        pending::<()>().await;
    }));
    assert!(poll(second.as_mut()).is_pending());
    drop(outer);
    assert_eq!(current(&tare, slot), [1]);
    assert_eq!((tare.total(&OUTER).count, tare.losses()), (2, vec![]));
}

#[test]
fn more_statements_than_records_are_counted() {
    let tare = everything(Limits::default());
    let (session, id) = session();
    let slot = tare.slot_of(id);
    let mut task = pin!(scope(session, async {
        let _open = [(); TASK_STATEMENTS + 2].map(|()| statement::start(&INNER));
        turn().await;
        // Synchronous statements have records of their own.
        let _nested =
            [(); STATEMENT_DEPTH - TASK_STATEMENTS].map(|()| tare::statement::start(&OUTER));
    }));
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!(current(&tare, slot).len(), TASK_STATEMENTS);
    finish(task.as_mut());
    assert_eq!(tare.total(&INNER).count, TASK_STATEMENTS as u64 + 2);
    assert_eq!(
        tare.total(&OUTER).count,
        (STATEMENT_DEPTH - TASK_STATEMENTS) as u64
    );
    let pushed =
        tare.view.slot(slot).pushed[tare_layout::slot::ring::STATEMENTS].load(Ordering::Relaxed);
    assert_eq!(pushed, STATEMENT_DEPTH as u64);
    assert_eq!(tare.losses(), [(Lost::NestedStatements as usize, 2)]);
}

#[test]
fn a_future_that_is_ready_at_once_is_counted_without_a_clock() {
    let tare = everything(Limits::default());
    let mut at_once = pin!(tare::wait::future(&LOCK, Operation::Lock, ready(7)));
    assert_eq!(poll(at_once.as_mut()), Poll::Ready(7));
    let sum = tare.total(&LOCK);
    assert_eq!(
        (sum.count, sum.contended, sum.extra, sum.buckets),
        (1, 0, 0, 0)
    );
    let mut later = pin!(tare::wait::future(&LOCK, Operation::Lock, turn()));
    assert!(poll(later.as_mut()).is_pending());
    assert_eq!(tare.total(&LOCK).count, 1);
    finish(later.as_mut());
    let sum = tare.total(&LOCK);
    assert_eq!(
        (sum.count, sum.contended, sum.extra, sum.buckets),
        (2, 1, 1, 1)
    );
    // One that was never polled did not wait.
    drop(tare::wait::future(&LOCK, Operation::Lock, turn()));
    assert_eq!(tare.total(&LOCK).count, 2);
    // An operation that rows of the class do not count.
    let mut other = pin!(tare::wait::future(&LOCK, Operation::DeleteRow, ready(())));
    finish(other.as_mut());
    assert_eq!(tare.total(&LOCK).count, 2);
}

#[test]
fn every_lock_is_timed_on_request() {
    let tare = start(Config::everything().lock_timing(LockTiming::Every));
    let mut at_once = pin!(tare::wait::future(&LOCK, Operation::Lock, ready(())));
    finish(at_once.as_mut());
    let mut later = pin!(tare::wait::future(&LOCK, Operation::Lock, turn()));
    finish(later.as_mut());
    let sum = tare.total(&LOCK);
    assert_eq!(
        (sum.count, sum.contended, sum.extra, sum.buckets),
        (2, 1, 2, 2)
    );
}

#[test]
fn a_task_has_no_cpu_clock() {
    let tare = everything(Limits::default());
    let timers = &tare.view.control().timers;
    for timer in timers {
        timer.store(Timer::ThreadCpu as u8, Ordering::SeqCst);
    }
    tare.recompute();
    let mut task = pin!(scope(ThreadSession::new(&SESSION), async {
        let _outer = statement::start(&OUTER);
        let _step = stage::start(&STEP);
        tare::wait::future(&LOCK, Operation::Lock, turn()).await;
    }));
    finish(task.as_mut());
    for class in [&OUTER, &STEP, &LOCK] {
        let sum = tare.total(class);
        assert_eq!((sum.count, sum.sum, sum.buckets), (1, 0, 0));
    }
    assert_eq!(tare.losses(), []);
}

#[test]
fn what_began_before_tare_was_started_again_is_not_counted() {
    let tare = everything(Limits::default());
    let mut task = pin!(scope(ThreadSession::new(&SESSION), async {
        let outer = statement::start(&OUTER);
        let step = stage::start(&STEP);
        tare::wait::future(&LOCK, Operation::Lock, turn()).await;
        drop((outer, step));
        drop(statement::start(&INNER));
    }));
    assert!(poll(task.as_mut()).is_pending());
    tare::stop();
    tare::start(Config::everything()).expect("starts again");
    let again = Segment::of_this_process();
    finish(task.as_mut());
    assert_eq!(again.total(&INNER).count, 1);
    for class in [&OUTER, &STEP, &LOCK] {
        assert!(
            again
                .class_number(class.name())
                .is_none_or(|_| again.total(class).count == 0)
        );
    }
    assert_eq!(again.losses(), []);
    drop(tare);
}

#[test]
fn what_begins_is_nested_in_the_statement_that_was_resumed() {
    let tare = everything(Limits::default());
    let (mut session, id) = session();
    let slot = tare.slot_of(id);
    session.run(|| {
        let outer = statement::start(&OUTER);
        let first = statement::start(&INNER);
        first.suspend();
        let second = statement::start(&INNER);
        first.resume();
        drop(stage::start(&STEP));
        // Not the one that was resumed last: nothing changes.
        second.suspend();
        drop(stage::start(&STEP));
        first.suspend();
        drop(stage::start(&STEP));
        drop(second);
        drop(first);
        // It has ended.
        outer.resume();
        drop(outer);
        drop(stage::start(&STEP));
        let parents = |all: Vec<(u64, usize, (u64, Nesting))>| -> Vec<_> {
            all.into_iter()
                .map(|(id, _, parent)| (id, parent.0))
                .collect()
        };
        let statements = parents(nestings(tare.view.ring_statements(slot)));
        assert_eq!(statements, [(1, 0), (2, 1), (3, 1)]);
        let stages = parents(nestings(tare.view.ring_stages(slot)));
        assert_eq!(stages, [(4, 2), (5, 2), (6, 1), (7, 0)]);
    });
}
