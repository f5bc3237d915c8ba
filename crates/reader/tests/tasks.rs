//! What a reader sees of tasks while no thread polls them.

mod support;

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use support::Running;
use tare::task::{scope, statement};
use tare::thread::ThreadSession;
use tare::{Operation, Rule};
use tare_layout::control::host::FOLLOWS;
use tare_layout::line::COUNT;
use tare_layout::sampling::GROUPS;
use tare_reader::events::{Events, Table};
use tare_reader::scheduler::{Scheduler, State};
use tare_reader::{ActiveThread, active_threads, threads};

tare::classes! {
    static SESSION: Thread = "thread/tasks/session";
    static GET: Statement = "statement/tasks/get";
    static PART: Statement = "statement/tasks/part";
    static LOCK: Mutex = "wait/synch/mutex/tasks/LOCK";
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A statement that waits for ever, and one inside.
async fn work() {
    let get = statement::start(&GET);
    get.text("GET a");
    let _part = statement::start(&PART);
    tare::wait::future(&LOCK, Operation::Lock, pending::<()>()).await;
}

/// The active thread, if there is one.
fn active(running: &Running) -> Option<ActiveThread> {
    let mut active = active_threads(running.segment.view()).active;
    assert!(active.len() <= 1, "{active:?}");
    active.pop()
}

#[test]
fn a_task_that_waits_is_visible() {
    let running = Running::new();
    let session = ThreadSession::new(&SESSION);
    let id = session.id();
    let mut task = Box::pin(scope(session, work()));
    assert!(poll(task.as_mut()).is_pending());

    let view = running.segment.view();
    let threads = threads(view);
    let thread = threads.iter().find(|thread| thread.id == id).expect("live");
    assert_eq!((thread.os_id, thread.info.as_deref()), (0, Some("GET a")));
    let events = Events::new(view, &threads);
    let mut statements = events.statements(Table::Current);
    statements.sort_by_key(|statement| statement.head.id);
    let (get, part) = (running.class(GET.name()), running.class(PART.name()));
    let classes: Vec<_> = statements.iter().map(|one| one.head.class).collect();
    assert_eq!(classes, [get, part]);
    assert_eq!(statements[0].text.as_deref(), Some("GET a"));
    assert_eq!(
        statements[1].head.nesting.map(|(id, _)| id),
        Some(statements[0].head.id)
    );
    assert_eq!(statements[1].head.level, 1);
    let waits = events.waits(Table::Current);
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0].head.class, running.class(LOCK.name()));

    let thread = active(&running).expect("it runs a statement");
    assert_eq!(thread.id, id);
    assert_eq!(thread.statement.expect("runs").head.class, part);
    assert_eq!(thread.wait.expect("waits").operation, Some(Operation::Lock));

    drop(task);
    assert!(active(&running).is_none());
    assert!(
        Events::new(view, &tare_reader::threads(view))
            .statements(Table::Current)
            .is_empty()
    );
}

#[test]
fn a_task_is_visible_at_the_level_active() {
    let running = Running::with(|config| {
        config.sampling.rules = [Rule::Active; GROUPS];
        config.limits.threads = 64;
    });
    tare::watch_settings();
    let control = running.segment.view().control();
    while control.host.load(Ordering::SeqCst) & FOLLOWS == 0 {
        std::thread::yield_now();
    }
    let follows = running.segment.set_sampling(0, Rule::Active);
    follows.expect("the host follows");

    let session = ThreadSession::new(&SESSION);
    let id = session.id();
    let mut task = Box::pin(scope(session, work()));
    assert!(poll(task.as_mut()).is_pending());
    let thread = active(&running).expect("it runs a statement");
    assert_eq!(thread.id, id);
    let mut scheduler = Scheduler::new(std::process::id());
    let mut state = |mut thread: ActiveThread| {
        scheduler.begin_moment();
        scheduler.observe(running.segment.view(), &mut thread).state
    };
    assert_eq!(state(thread.clone()), State::Waiting);
    let statement = thread.statement.expect("the outermost one");
    assert_eq!(statement.head.class, running.class(GET.name()));
    assert_eq!(statement.text.as_deref(), Some("GET a"));
    let wait = thread.wait.expect("waits");
    assert_eq!(wait.head.class, running.class(LOCK.name()));
    assert_eq!(wait.operation, Some(Operation::Lock));
    drop(task);
    assert!(active(&running).is_none());

    // Statements that end outside of their session.
    let mut task = pin!(scope(ThreadSession::new(&SESSION), async {
        statement::start(&GET)
    }));
    let Poll::Ready(statement) = poll(task.as_mut()) else {
        panic!("it does not wait");
    };
    // No thread polls it, and it is in no wait.
    assert_eq!(active(&running).map(&mut state), Some(State::Blocked));
    drop(statement);
    assert!(active(&running).is_none());
    let totals = running.global();
    let row = totals.row(running.class("statement/tare/active"));
    assert_eq!(row.map(|row| row[0][COUNT]), Some(3));
}
