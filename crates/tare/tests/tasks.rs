//! Tasks on a runtime of many threads: totals are exact whatever becomes of the tasks.
#![cfg(feature = "instrument")]

mod support;

use std::future::{pending, ready};
use std::sync::atomic::Ordering;
use std::time::Duration;

use support::{Random, Running, Tally, everything, scale};
use tare::task::{SessionPool, SharedSession, branch, scope, stage, statement};
use tare::thread::ThreadSession;
use tare::{Counter, Limits, Operation};
use tare_layout::shared::Lost;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Barrier, mpsc};
use tokio::task::yield_now;

tare::classes! {
    static SESSION: Thread = "thread/tasks/session";
    static WORKER: Thread = "thread/tasks/worker";
    static JOB: Statement = "statement/tasks/job";
    static PART: Statement = "statement/tasks/part";
    static STEP: Stage = "stage/tasks/step";
    static LOCK: Mutex = "wait/synch/mutex/tasks/LOCK";
    static READ: Socket = "wait/io/socket/tasks/read";
}

/// A runtime whose threads have slots before sessions can take them all.
fn runtime(tare: &Running, threads: usize) -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_time()
        .on_thread_start(|| tare::thread::register(&WORKER))
        .build()
        .expect("a runtime");
    while live(tare, &WORKER) < threads {
        std::thread::yield_now();
    }
    runtime
}

/// The number of threads and sessions of a class.
fn live(tare: &Running, class: &tare::Class) -> usize {
    let number = tare.class_number(class.name());
    let class_of = |slot: &usize| tare.view.slot(*slot).class.load(Ordering::Relaxed) as usize;
    let slots = tare.live();
    slots
        .iter()
        .filter(|slot| Some(class_of(slot)) == number)
        .count()
}

fn session() -> ThreadSession {
    ThreadSession::new(&SESSION)
}

#[test]
fn guards_and_futures_may_be_sent_and_shared() {
    fn is_send_and_sync<T: Send + Sync>() {}
    fn is_send(_: impl Send) {}
    is_send_and_sync::<statement::Statement>();
    is_send_and_sync::<stage::Stage>();
    is_send(scope(session(), async {
        let statement = statement::start(&JOB);
        let shared = &statement;
        tare::wait::future(&LOCK, Operation::Lock, yield_now()).await;
        shared.rows_sent(1);
    }));
}

#[test]
fn a_statement_lives_across_await_on_any_thread() {
    let tare = everything(Limits::default());
    let runtime = runtime(&tare, 4);
    runtime.block_on(async {
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                tokio::spawn(scope(session(), async move {
                    let statement = statement::start(&JOB);
                    statement.text(&format!("GET {i}"));
                    for _ in 0..10 {
                        yield_now().await;
                        statement.add(Counter::RowsSent, 1);
                    }
                }))
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
    let sum = tare.total(&JOB);
    assert_eq!((sum.count, sum.buckets), (100, 100));
    let digests = tare.digests();
    assert_eq!(digests.len(), 1, "{digests:?}");
    assert_eq!(tare.digest(digests[0].0).count, 100);
    assert_eq!(tare.statements(), 100);
    assert_eq!(rows_sent(&tare, &JOB), 1000);
    assert_eq!(tare.losses(), []);
}

fn rows_sent(tare: &Running, class: &tare::Class) -> u64 {
    let (line, cell) = tare_layout::class::counter_cell(Counter::RowsSent as usize);
    tare.cell(class, line, cell)
}

#[test]
fn a_task_that_is_aborted_is_counted_and_poisons_no_session() {
    let tare = everything(Limits::default());
    let runtime = runtime(&tare, 4);
    runtime.block_on(async {
        for _ in 0..2 {
            let started = std::sync::Arc::new(Barrier::new(101));
            let tasks: Vec<_> = (0..100)
                .map(|i| {
                    let started = started.clone();
                    tokio::spawn(scope(session(), async move {
                        let _job = statement::start(&JOB);
                        let _step = stage::start(&STEP);
                        let _part = statement::start(&PART);
                        started.wait().await;
                        if i % 10 == 0 {
                            tare::wait::future(&LOCK, Operation::Lock, pending::<()>()).await;
                        }
                    }))
                })
                .collect();
            started.wait().await;
            for (i, task) in tasks.into_iter().enumerate() {
                if i % 10 == 0 {
                    task.abort();
                }
                assert_eq!(task.await.is_err(), i % 10 == 0);
            }
        }
    });
    for class in [&JOB, &PART, &STEP] {
        let sum = tare.total(class);
        assert_eq!((sum.count, sum.buckets), (200, 200), "{}", class.name());
    }
    let lock = tare.total(&LOCK);
    // Some were aborted before the poll in which they would have begun to wait.
    assert!(lock.count <= 20 && lock.contended == lock.count && lock.extra == lock.count);
    assert_eq!(tare.losses(), []);
}

/// What the tasks of a test have begun.
struct Tallies {
    jobs: Tally,
    parts: Tally,
    steps: Tally,
    locks: Tally,
    reads: Tally,
    rows: Tally,
}

static TALLIES: Tallies = Tallies {
    jobs: Tally::new(),
    parts: Tally::new(),
    steps: Tally::new(),
    locks: Tally::new(),
    reads: Tally::new(),
    rows: Tally::new(),
};

async fn part(turns: u64) {
    let part = statement::start(&PART);
    TALLIES.parts.add(1);
    part.text("SELECT a FROM t");
    for _ in 0..turns {
        yield_now().await;
    }
    part.add(Counter::RowsSent, turns);
    TALLIES.rows.add(turns);
}

async fn step(turns: u64) {
    let _step = stage::start(&STEP);
    TALLIES.steps.add(1);
    for _ in 0..turns {
        yield_now().await;
    }
}

async fn wait(is_ready: bool) {
    let locked = tare::wait::future(&LOCK, Operation::Lock, async {
        TALLIES.locks.add(1);
        if !is_ready {
            yield_now().await;
        }
    });
    locked.await;
    let received = tare::wait::future(&READ, Operation::Recv, async {
        TALLIES.reads.add(1);
        if !is_ready {
            yield_now().await;
        }
    });
    received.await;
}

/// A task that does this and that, ends guards in any order, and passes some to another task.
async fn job(seed: u64, others: mpsc::UnboundedSender<statement::Statement>) {
    let mut random = Random(seed);
    let mut open = Vec::new();
    for _ in 0..random.below(6) {
        let turns = random.below(3);
        match random.below(9) {
            0 => yield_now().await,
            1 => wait(turns == 0).await,
            2 => step(turns).await,
            3 => {
                let (a, b) = (branch(part(turns)), branch(part(1)));
                tokio::join!(a, b);
            }
            4 => {
                tokio::select! {
                    () = part(turns) => {}
                    () = step(1) => {}
                    () = wait(false) => {}
                }
            }
            5 => {
                let statement = statement::start(&JOB);
                TALLIES.jobs.add(1);
                others
                    .send(statement)
                    .expect("it receives until all have ended");
            }
            6 => {
                open.push(statement::start(&JOB));
                TALLIES.jobs.add(1);
            }
            7 if !open.is_empty() => {
                let i = random.below(open.len() as u64) as usize;
                drop(open.swap_remove(i));
            }
            8 => {
                let late = Duration::from_micros(turns * 20);
                let _ = tokio::time::timeout(late, part(u64::MAX)).await;
            }
            _ => ready(()).await,
        }
    }
}

#[test]
fn totals_are_exact_whatever_becomes_of_tasks() {
    let limits = Limits::default().threads(96);
    let tare = everything(limits);
    let runtime = runtime(&tare, 8);
    let (tasks, batch) = (scale(20_000, 100_000), 250);
    let aborted = runtime.block_on(async {
        let (others, mut received) = mpsc::unbounded_channel();
        // Ends statements of other tasks, now and then in a session.
        let receiver = tokio::spawn(async move {
            let mut parked = Vec::new();
            while let Some(statement) = received.recv().await {
                parked.push(statement);
                if parked.len() == 7 {
                    scope(session(), async { parked.clear() }).await;
                }
            }
        });
        let mut random = Random(45);
        let mut aborted = 0;
        for _ in 0..tasks / batch {
            let mut running = Vec::new();
            for _ in 0..batch {
                let job = job(random.below(u64::MAX) | 1, others.clone());
                running.push(match random.below(4) {
                    0 => tokio::spawn(job),
                    _ => tokio::spawn(scope(session(), job)),
                });
                if random.below(8) == 0 {
                    yield_now().await;
                }
            }
            for task in running {
                if random.below(3) == 0 {
                    task.abort();
                }
                match task.await {
                    Ok(()) => {}
                    Err(error) => {
                        assert!(error.is_cancelled(), "{error}");
                        aborted += 1;
                    }
                }
            }
        }
        drop(others);
        receiver.await.expect("no panic");
        aborted
    });
    drop(runtime);
    assert!(aborted > 0);
    // Sessions for which no slot was left are counted as such. Nothing else is lost.
    assert!(tare.lost(Lost::Threads) > 0);
    let others = [Lost::Threads, Lost::NestedStatements].map(|lost| lost as usize);
    let losses = tare
        .losses()
        .into_iter()
        .filter(|(lost, _)| !others.contains(lost));
    assert_eq!(losses.collect::<Vec<_>>(), []);
    let counts = [
        (&JOB, &TALLIES.jobs),
        (&PART, &TALLIES.parts),
        (&STEP, &TALLIES.steps),
        (&LOCK, &TALLIES.locks),
        (&READ, &TALLIES.reads),
    ];
    for (class, tally) in counts {
        assert_eq!(tare.total(class).count, tally.get(), "{}", class.name());
    }
    assert_eq!(rows_sent(&tare, &PART), TALLIES.rows.get());
    assert_eq!(tare.statements(), TALLIES.jobs.get() + TALLIES.parts.get());
    let lock = tare.total(&LOCK);
    assert!(lock.contended > 0 && lock.contended < lock.count);
    assert_eq!((lock.extra, lock.buckets), (lock.contended, lock.contended));
    // No session is left.
    assert_eq!(live(&tare, &SESSION), 0);
}

fn shared() -> std::sync::Arc<SharedSession> {
    SharedSession::new(session())
}

/// The id of the thread that records what the calling thread does in the session.
fn id_in(session: &std::sync::Arc<SharedSession>) -> u64 {
    assert!(session.enter());
    let id = tare::thread::id();
    session.leave();
    id
}

#[test]
fn shared_sessions_are_left_in_any_order() {
    let tare = everything(Limits::default());
    let own = tare::thread::id();
    let (a, b) = (shared(), shared());
    let ids = (id_in(&a), id_in(&b));
    assert_eq!(tare::thread::id(), own);

    // The outer one first.
    assert!(a.enter() && b.enter());
    a.leave();
    assert_eq!(tare::thread::id(), ids.1);
    // It is free for another thread.
    std::thread::scope(|threads| {
        let other = threads.spawn(|| (id_in(&a), b.enter()));
        assert_eq!(other.join().expect("no panic"), (ids.0, false));
    });
    assert!(a.enter() && a.enter());
    a.leave();
    assert_eq!(tare::thread::id(), ids.0);
    b.leave();
    assert_eq!(tare::thread::id(), ids.0);
    a.leave();
    assert_eq!(tare::thread::id(), own);
    a.leave();
    assert_eq!(tare::thread::id(), own);

    // Inside of it another session restores it: it is not free before that.
    assert!(a.enter());
    let mut c = session();
    let c_id = c.id();
    c.run(|| {
        a.leave();
        assert_eq!(tare::thread::id(), c_id);
    });
    assert_eq!(id_in(&b), ids.1);
    assert_eq!(tare::thread::id(), own);
    // Entered again inside of another one.
    assert!(a.enter() && b.enter() && a.enter());
    assert_eq!(tare::thread::id(), ids.0);
    a.leave();
    assert_eq!(tare::thread::id(), ids.1);
    a.leave();
    b.leave();
    assert_eq!(tare::thread::id(), own);
    // A thread that ends in sessions leaves them.
    let (in_thread, other) = (a.clone(), b.clone());
    let thread = std::thread::spawn(move || in_thread.enter() && other.enter());
    assert!(thread.join().expect("no panic"));
    assert_eq!((id_in(&a), id_in(&b)), ids);
    drop((a, b, c));
    assert_eq!(live(&tare, &SESSION), 0);
    assert_eq!(tare.losses(), []);
}

#[test]
fn threads_enter_and_leave_shared_sessions_at_random() {
    let tare = everything(Limits::default());
    let sessions: Vec<_> = (0..4).map(|_| shared()).collect();
    let rounds = scale(20_000, 1_000_000) as u64;
    let begun: u64 = std::thread::scope(|threads| {
        let workers: Vec<_> = (1..=4)
            .map(|seed| {
                let sessions = &sessions;
                threads.spawn(move || {
                    let own = tare::thread::id();
                    let (mut random, mut begun) = (Random(seed), 0);
                    let (mut entered, mut open) = (Vec::new(), Vec::new());
                    for _ in 0..rounds {
                        let session = &sessions[random.below(4) as usize];
                        match random.below(6) {
                            0 | 1 if session.enter() => entered.push(session),
                            2 if !entered.is_empty() => {
                                let i = random.below(entered.len() as u64) as usize;
                                entered.swap_remove(i).leave();
                            }
                            3 => {
                                let mut inner = ThreadSession::new(&SESSION);
                                inner.run(|| {
                                    if let Some(session) = entered.pop() {
                                        session.leave();
                                    }
                                    // Is left later than this one.
                                    if session.enter() {
                                        entered.push(session);
                                    }
                                    drop(statement::start(&JOB));
                                    begun += 1;
                                })
                            }
                            4 if open.len() < 4 => {
                                open.push(statement::start(&JOB));
                                begun += 1;
                            }
                            5 if open.is_empty() => session.run(|_| {
                                let outer = tare::thread::id();
                                let other = &sessions[random.below(4) as usize];
                                other.run(|_| drop(statement::start(&JOB)));
                                begun += 1;
                                assert_eq!(tare::thread::id(), outer);
                                // Are left after this one.
                                if other.enter() {
                                    entered.push(other);
                                }
                                if let Some(session) = entered.first() {
                                    session.leave();
                                    entered.swap_remove(0);
                                }
                            }),
                            5 => {
                                let statement = open.swap_remove(0);
                                statement.resume();
                                statement.suspend();
                            }
                            _ => {}
                        }
                    }
                    drop(open);
                    for session in entered {
                        session.leave();
                    }
                    // What guards restored is left at the next call.
                    for session in sessions {
                        session.enter();
                        session.leave();
                    }
                    assert_eq!(tare::thread::id(), own);
                    begun
                })
            })
            .collect();
        let begun = workers.into_iter().map(|worker| worker.join());
        begun.map(|begun| begun.expect("no panic")).sum()
    });
    assert_eq!(tare.total(&JOB).count, begun);
    for session in &sessions {
        assert!(session.enter());
        session.leave();
    }
    drop(sessions);
    assert_eq!(live(&tare, &SESSION), 0);
}

#[test]
fn a_pool_has_no_more_sessions_than_run_at_once() {
    static POOL: SessionPool = SessionPool::new(&SESSION, 3);
    assert!(POOL.take().is_none());
    let tare = everything(Limits::default());
    for _ in 0..10 {
        let session = POOL.take().expect("an idle one");
        let task = session.clone().scope(async {
            drop(statement::start(&JOB));
            tare::thread::id()
        });
        let own = tare::thread::id();
        let mut task = std::pin::pin!(task);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let poll = task.as_mut().poll(&mut context);
        assert!(matches!(poll, std::task::Poll::Ready(id) if id != own));
        POOL.give(session);
    }
    assert_eq!(live(&tare, &SESSION), 1);
    let taken: Vec<_> = std::iter::from_fn(|| POOL.take()).collect();
    assert_eq!((taken.len(), live(&tare, &SESSION)), (3, 3));
    assert_eq!(tare.total(&JOB).count, 10);
}
