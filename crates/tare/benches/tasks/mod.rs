//! The paths of tasks (docs/async.md), apart from the others, whose code would be compiled differently beside
//! them.

use std::cell::RefCell;
use std::future::{Future, pending, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use tare::Operation;
use tare::thread::ThreadSession;

use crate::paths::{Objects, TEXT};

tare::classes! {
    static SESSION: Thread = "thread/bench/session";
    static WAIT: MetadataLock = "wait/lock/metadata/bench/wait";
    static TASK: Statement = "statement/bench/task";
}

thread_local! {
    static ENTERED: RefCell<ThreadSession> = RefCell::new(ThreadSession::new(&SESSION));
    static PENDING: RefCell<Pin<Box<dyn Future<Output = ()>>>> =
        RefCell::new(Box::pin(tare::task::scope(ThreadSession::new(&SESSION), pending())));
}

/// A poll of a task that is not ready: its session is entered and left.
pub fn poll(_: &Objects, n: usize) {
    PENDING.with_borrow_mut(|task| {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..n {
            let _ = black_box(task.as_mut().poll(&mut context));
        }
    });
}

/// As the statement of a thread: it begins, gets its text, and ends with digest and histograms.
pub fn statement(_: &Objects, n: usize) {
    ENTERED.with_borrow_mut(|session| {
        session.run(|| {
            for _ in 0..n {
                let statement = tare::task::statement::start(&TASK);
                statement.text(black_box(TEXT));
                statement.rows_examined(1);
                statement.rows_sent(1);
            }
        })
    });
}

/// A future that is counted as a wait and is ready at once.
pub fn wait(_: &Objects, n: usize) {
    ENTERED.with_borrow_mut(|session| {
        session.run(|| {
            let mut context = Context::from_waker(Waker::noop());
            for i in 0..n {
                let wait = pin!(tare::wait::future(&WAIT, Operation::MetadataLock, ready(i)));
                let _ = black_box(wait.poll(&mut context));
            }
        })
    });
}
