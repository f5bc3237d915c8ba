//! The order in which spans are entered, left and closed, Tare starts and stops, and layers are called.

use tare::{Config, Operation};
use tare_reader::events::{Events, Table};
use tare_reader::threads;
use tracing::{Dispatch, info_span};
use tracing_subscriber::prelude::*;

use crate::support::Running;

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/spans/LOCK";
}

#[test]
fn spans_are_entered_left_and_closed_in_any_order() {
    let running = Running::new(tare_tracing::layer());
    let own = tare::thread::id();
    let dispatch = tracing::dispatcher::get_default(Dispatch::clone);
    let (a, b) = (info_span!("a"), info_span!("b"));
    let ids = [&a, &b].map(|span| span.id().expect("enabled"));
    b.follows_from(&a);
    dispatch.enter(&ids[0]);
    let in_a = tare::thread::id();
    dispatch.enter(&ids[1]);
    let in_b = tare::thread::id();
    assert!(in_a != own && in_b != own && in_a != in_b);
    dispatch.exit(&ids[0]);
    assert_eq!(tare::thread::id(), in_b);
    // A span that is entered twice, and left once too often.
    dispatch.enter(&ids[1]);
    dispatch.exit(&ids[1]);
    assert_eq!(tare::thread::id(), in_b);
    dispatch.exit(&ids[1]);
    dispatch.exit(&ids[1]);
    assert_eq!(tare::thread::id(), own);

    // Entered here, left and closed elsewhere.
    dispatch.enter(&ids[0]);
    let a_again = a.clone();
    std::thread::scope(|threads| {
        let (dispatch, id) = (&dispatch, &ids[0]);
        threads.spawn(move || {
            let _default = tracing::dispatcher::set_default(dispatch);
            dispatch.exit(id);
            drop((a, b));
        });
    });
    assert_eq!(running.count("statement/tracing/b"), 1);
    assert_eq!(running.count("statement/tracing/a"), 0);
    assert_eq!(tare::thread::id(), in_a);
    drop(a_again);
    assert_eq!(running.count("statement/tracing/a"), 1);
    dispatch.exit(&ids[0]);
    assert_eq!(running.losses(), []);
}

#[test]
fn a_span_with_an_explicit_parent_does_not_move_the_thread() {
    let running = Running::new(tare_tracing::layer().sessions("connection"));
    let connection = info_span!("connection");
    let a = info_span!(parent: &connection, "a");
    let b = info_span!(parent: &connection, "b");
    let nesting = || {
        drop(tare::wait::start(&LOCK, Operation::Lock));
        let all = threads(running.view());
        let waits = Events::new(running.view(), &all).waits(Table::History);
        let last = waits
            .iter()
            .max_by_key(|wait| wait.head.id)
            .expect("a wait");
        last.head.nesting.map(|(id, _)| id)
    };
    let _a = a.enter();
    let in_a = nesting();
    let step = info_span!(parent: &b, "step");
    assert_eq!(nesting(), in_a);
    let query = info_span!(parent: &b, "query", sql = "SELECT 1");
    assert_eq!(nesting(), in_a);
    assert_ne!(b.in_scope(nesting), in_a);
    drop((step, query));
    assert_eq!(running.losses(), []);
}

#[test]
fn two_layers_record_a_span_once() {
    let mut running = Running::new(tare_tracing::layer());
    running.set_subscriber(
        tracing_subscriber::registry()
            .with(tare_tracing::layer())
            .with(tare_tracing::layer().prefix("second")),
    );
    let request = info_span!("request");
    request.in_scope(|| drop(info_span!("step").entered()));
    drop(request);
    assert_eq!(running.count("statement/tracing/request"), 1);
    assert_eq!(running.count("stage/tracing/step"), 1);
    assert_eq!(running.find("statement/second/request"), None);
    assert_eq!(running.live("thread/tracing/request"), 1);
}

#[test]
fn tare_may_start_and_stop_while_spans_are_open() {
    let layer = || tare_tracing::layer().sessions("connection");
    let mut running = Running::new(layer());
    tare::stop();
    let before = info_span!("connection", user = "alice").entered();
    running.restart(Config::everything());
    {
        let _request = info_span!("request").entered();
        running.restart(Config::everything());
        // It began in the segment before.
        let _inner = info_span!("inner").entered();
    }
    assert_eq!(running.find("statement/tracing/request"), None);
    drop(before);
    let after = info_span!("connection");
    drop(info_span!(parent: &after, "request").entered());
    assert_eq!(running.count("statement/tracing/request"), 1);
    running.restart(Config::everything());
    // The connection goes on in the new segment.
    drop(info_span!(parent: &after, "request").entered());
    assert_eq!(running.count("statement/tracing/request"), 1);
    assert_eq!(running.live("thread/tracing/connection"), 1);
    drop(after);
    assert_eq!(running.live("thread/tracing/connection"), 0);
    tare::thread::id();
    assert_eq!(running.losses(), []);
}
