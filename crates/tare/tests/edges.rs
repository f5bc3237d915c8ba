//! Adjacent events share the clock read at their edge, and other events do not.
#![cfg(feature = "instrument")]

mod support;

use support::{Segment, everything};
use tare::{Limits, Operation};
use tare_layout::event::{self, word};
use tare_layout::seqlock::Record;

tare::classes! {
    static CLIENT: Socket = "wait/io/socket/edges/client";
    static EVENT: MetadataLock = "wait/lock/metadata/edges/event";
    static IDLE: Idle = "idle";
    static QUERY: Statement = "statement/edges/query";
    static TRANSACTION: Transaction = "transaction";
}

/// The last record of a ring.
fn last<const N: usize>(ring: &[Record<N>]) -> [u64; N] {
    let all = ring.iter().filter_map(Record::read);
    all.max_by_key(|words| words[word::ID]).expect("an event")
}

fn slot(segment: &Segment) -> usize {
    segment.slot_of(tare::thread::id())
}

#[test]
fn a_send_begins_where_its_statement_ended_and_idle_time_where_the_send_ended() {
    let tare = everything(Limits::default());
    let client = tare::socket::Instance::new(&CLIENT, 3);
    drop(tare::statement::start(&QUERY));
    drop(client.follow(Operation::Send));
    let slot = slot(&tare);
    let statement = last(tare.view.ring_statements(slot));
    let sent = last(tare.view.ring_waits(slot));
    assert_eq!(sent[word::START], statement[word::END]);
    assert!(sent[word::END] > sent[word::START]);
    drop(tare::idle::start(&IDLE));
    assert_eq!(
        last(tare.view.ring_waits(slot))[word::START],
        sent[word::END]
    );
}

#[test]
fn a_send_after_another_event_reads_the_clock() {
    let tare = everything(Limits::default());
    let client = tare::socket::Instance::new(&CLIENT, 3);
    drop(tare::statement::start(&QUERY));
    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
    let slot = slot(&tare);
    let between = last(tare.view.ring_waits(slot));
    drop(client.follow(Operation::Send));
    assert!(last(tare.view.ring_waits(slot))[word::START] > between[word::END]);
    // A wait that is not declared to follow reads the clock.
    drop(tare::statement::start(&QUERY));
    drop(client.wait(Operation::Send));
    let statement = last(tare.view.ring_statements(slot));
    assert!(last(tare.view.ring_waits(slot))[word::START] > statement[word::END]);
}

/// If idle times are not recorded, the client's time does not count for the next statement.
#[test]
fn a_statement_begins_only_where_an_idle_time_ended() {
    let tare = everything(Limits::default());
    let client = tare::socket::Instance::new(&CLIENT, 3);
    drop(tare::idle::start(&IDLE));
    let slot = slot(&tare);
    let idle = last(tare.view.ring_waits(slot));
    drop(tare::statement::start(&QUERY));
    let first = last(tare.view.ring_statements(slot));
    assert_eq!(first[word::START], idle[word::END]);
    drop(tare::statement::start(&QUERY));
    let second = last(tare.view.ring_statements(slot));
    assert!(second[word::START] > first[word::END]);
    drop(client.follow(Operation::Send));
    let sent = last(tare.view.ring_waits(slot));
    drop(tare::statement::start(&QUERY));
    let third = last(tare.view.ring_statements(slot));
    assert!(third[word::START] > sent[word::END]);
    // A nested one also has a beginning of its own.
    drop(tare::idle::start(&IDLE));
    let _outer = tare::statement::start(&QUERY);
    drop(tare::statement::start(&QUERY));
    let inner = last(tare.view.ring_statements(slot));
    assert!(inner[word::START] > last(tare.view.ring_waits(slot))[word::END]);
}

#[test]
fn a_statement_begins_when_its_request_arrived() {
    let tare = everything(Limits::default());
    drop(tare::statement::start(&QUERY));
    let slot = slot(&tare);
    let since = tare::idle::now();
    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
    drop(tare::statement::start_since(&QUERY, since));
    assert_eq!(last(tare.view.ring_statements(slot))[word::START], since);
    // The next one does not.
    let between = last(tare.view.ring_waits(slot));
    drop(tare::statement::start(&QUERY));
    assert!(last(tare.view.ring_statements(slot))[word::START] > between[word::END]);
}

#[test]
fn an_autocommit_transaction_lasts_and_fails_with_its_statement() {
    let tare = everything(Limits::default());
    for fails in [false, true] {
        let outer = tare::statement::start(&QUERY);
        let statement = tare::statement::start(&QUERY);
        let transaction = tare::transaction::of_statement(&TRANSACTION, Default::default());
        statement.rows_sent(1);
        // The guard does not decide it.
        match fails {
            true => transaction.commit(),
            false => transaction.rollback(),
        }
        if fails {
            statement.error(1062, "23000", "Duplicate entry");
        }
        drop(statement);
        let slot = slot(&tare);
        let inner = last(tare.view.ring_statements(slot));
        drop(outer);
        let transaction = last(tare.view.ring_transactions(slot));
        assert_eq!(transaction[word::START], inner[word::START]);
        assert_eq!(transaction[word::END], inner[word::END]);
        let state = match fails {
            true => event::transaction::ROLLED_BACK,
            false => event::transaction::COMMITTED,
        };
        assert_eq!(transaction[event::transaction::STATE] & 0xff, state);
        assert_ne!(
            transaction[event::transaction::STATE] & event::transaction::AUTOCOMMIT,
            0
        );
    }
    assert_eq!(tare.total(&TRANSACTION).count, 2);
}

#[test]
fn a_transaction_without_a_recorded_statement_is_its_guard() {
    let tare = everything(Limits::default());
    tare.set_instrument(&QUERY, false, false);
    for commits in [true, false] {
        let statement = tare::statement::start(&QUERY);
        let transaction = tare::transaction::of_statement(&TRANSACTION, Default::default());
        drop(statement);
        if commits {
            transaction.commit();
        } else {
            drop(transaction);
        }
        let slot = slot(&tare);
        let transaction = last(tare.view.ring_transactions(slot));
        let state = match commits {
            true => event::transaction::COMMITTED,
            false => event::transaction::ROLLED_BACK,
        };
        assert_eq!(transaction[event::transaction::STATE] & 0xff, state);
    }
    assert_eq!(tare.total(&TRANSACTION).count, 2);
    assert_eq!(tare.total(&QUERY).count, 0);
}

#[test]
fn a_transaction_is_timed_where_its_statement_is_not() {
    let tare = everything(Limits::default());
    tare.set_instrument(&QUERY, true, false);
    let statement = tare::statement::start(&QUERY);
    drop(tare::transaction::of_statement(
        &TRANSACTION,
        Default::default(),
    ));
    drop(statement);
    let transaction = last(tare.view.ring_transactions(slot(&tare)));
    assert!(transaction[word::START] > 0 && transaction[word::END] > transaction[word::START]);
    assert_eq!(last(tare.view.ring_statements(slot(&tare)))[word::START], 0);
}
