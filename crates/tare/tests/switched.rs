//! A time that a thread has stored counts for no event that begins after a setting was changed, or after
//! something that was not recorded.
#![cfg(feature = "instrument")]

mod support;

use std::sync::atomic::Ordering;

use support::{Running, everything};
use tare::table::{Classes, Table};
use tare::thread::ThreadSession;
use tare::{Class, Limits, Operation};
use tare_layout::control::{GLOBAL, THREAD, thread_mask};
use tare_layout::event::word;
use tare_layout::seqlock::Record;
use tare_layout::slot::Command;

tare::classes! {
    static CLIENT: Socket = "wait/io/socket/switched/client";
    static IDLE: Idle = "idle";
    static QUERY: Statement = "statement/switched/query";
    static PING: Statement = "statement/switched/ping";
    static STAGE: Stage = "stage/switched/one";
    static UNSEEN: Stage = "stage/switched/unseen";
    static TRANSACTION: Transaction = "transaction";
    static ROWS: TableIo = "wait/io/table/switched/handler";
    static TABLE_LOCKS: TableLock = "wait/lock/table/switched/handler";
    static MARK: MetadataLock = "wait/lock/metadata/switched/mark";
    static MARKER: Thread = "thread/switched/marker";
}

/// What a reader can switch off and on.
#[derive(Clone, Copy, Debug)]
enum Setting {
    Instruments,
    Global,
    Thread,
}

const SETTINGS: [Setting; 3] = [Setting::Instruments, Setting::Global, Setting::Thread];

const INSTRUMENTS: [&Class; 8] = [
    &CLIENT,
    &IDLE,
    &QUERY,
    &PING,
    &STAGE,
    &UNSEEN,
    &TRANSACTION,
    &TABLE_LOCKS,
];

impl Setting {
    fn set(self, tare: &Running, on: bool) {
        let control = tare.view.control();
        match self {
            Self::Instruments => {
                for class in INSTRUMENTS {
                    tare.set_instrument(class, on, on);
                }
            }
            Self::Global => {
                match on {
                    true => control.consumers.fetch_or(GLOBAL, Ordering::SeqCst),
                    false => control.consumers.fetch_and(!GLOBAL, Ordering::SeqCst),
                };
                tare.recompute();
            }
            Self::Thread => {
                control.announce_change();
                let mask = &tare.view.thread_masks()[slot(tare)];
                mask.store(thread_mask(on, on, GLOBAL | THREAD), Ordering::SeqCst);
            }
        }
    }

    fn switch_off_and_on(self, tare: &Running) {
        self.set(tare, false);
        self.set(tare, true);
    }
}

fn slot(tare: &Running) -> usize {
    tare.slot_of(tare::thread::id())
}

/// Tare, which has registered all classes: that is a change, too.
fn running() -> Running {
    let tare = everything(Limits::default());
    for class in INSTRUMENTS {
        tare.set_instrument(class, true, true);
    }
    now(&tare);
    tare
}

/// The last record of a ring.
fn last<const N: usize>(ring: &[Record<N>]) -> [u64; N] {
    let all = ring.iter().filter_map(Record::read);
    all.max_by_key(|words| words[word::ID]).expect("an event")
}

/// Now: when an event of another session ended.
fn now(tare: &Running) -> u64 {
    let mut marker = ThreadSession::new(&MARKER);
    marker.run(|| {
        drop(tare::wait::start(&MARK, Operation::MetadataLock));
        last(tare.view.ring_waits(slot(tare)))[word::END]
    })
}

fn start_of_last_wait(tare: &Running) -> u64 {
    last(tare.view.ring_waits(slot(tare)))[word::START]
}

/// Runs `before`, switches off and on, and runs `after`, which returns when its event began.
fn check<T>(name: &str, before: impl Fn(&Running) -> T, after: impl Fn(&Running, T) -> u64) {
    for setting in SETTINGS {
        let tare = running();
        let state = before(&tare);
        setting.switch_off_and_on(&tare);
        let resumed = now(&tare);
        let start = after(&tare, state);
        assert!(
            start > resumed,
            "{name}, {setting:?}: {start}, resumed at {resumed}"
        );
        tare::stage::end();
    }
}

#[test]
fn a_statement_does_not_begin_where_an_idle_time_ended_before_a_switch() {
    check(
        "statement",
        |_| drop(tare::idle::start(&IDLE)),
        |tare, ()| {
            drop(tare::statement::start(&QUERY));
            last(tare.view.ring_statements(slot(tare)))[word::START]
        },
    );
}

#[test]
fn a_statement_does_not_begin_when_its_request_arrived_before_a_switch() {
    check(
        "request",
        |_| tare::idle::now(),
        |tare, since| {
            drop(tare::statement::start_since(&QUERY, since));
            last(tare.view.ring_statements(slot(tare)))[word::START]
        },
    );
}

#[test]
fn a_stage_does_not_begin_where_its_statement_began_before_a_switch() {
    check(
        "stage",
        |_| tare::statement::start(&QUERY),
        |tare, statement| {
            tare::stage::set(&STAGE);
            drop(statement);
            last(tare.view.ring_stages(slot(tare)))[word::START]
        },
    );
}

#[test]
fn an_idle_time_does_not_begin_where_an_event_ended_before_a_switch() {
    let befores: [fn(&Running); 2] = [
        |_| drop(tare::statement::start(&QUERY)),
        |_| drop(tare::idle::start(&IDLE)),
    ];
    for before in befores {
        check("idle", before, |tare, ()| {
            drop(tare::idle::start(&IDLE));
            start_of_last_wait(tare)
        });
    }
}

#[test]
fn a_send_does_not_begin_where_a_statement_ended_before_a_switch() {
    check(
        "send",
        |_| {
            let client = tare::socket::Instance::new(&CLIENT, 3);
            drop(tare::statement::start(&QUERY));
            client
        },
        |tare, client| {
            drop(client.follow(Operation::Send));
            start_of_last_wait(tare)
        },
    );
}

#[test]
fn a_transaction_does_not_begin_where_its_statement_began_before_a_switch() {
    check(
        "transaction",
        |_| tare::statement::start(&QUERY),
        |tare, statement| {
            drop(tare::transaction::of_statement(
                &TRANSACTION,
                Default::default(),
            ));
            drop(statement);
            last(tare.view.ring_transactions(slot(tare)))[word::START]
        },
    );
}

#[test]
fn a_nested_statement_does_not_begin_where_an_event_ended_before_a_switch() {
    check(
        "nested statement",
        |_| {
            let outer = tare::statement::start(&QUERY);
            drop(tare::idle::start(&IDLE));
            outer
        },
        |tare, outer| {
            drop(tare::statement::start(&QUERY));
            let inner = last(tare.view.ring_statements(slot(tare)));
            drop(outer);
            inner[word::START]
        },
    );
}

#[test]
fn a_table_is_not_read_from_where_a_stage_began_before_a_switch() {
    let classes = Classes {
        io: &ROWS,
        lock: &TABLE_LOCKS,
    };
    check(
        "table io",
        |_| {
            let statement = tare::statement::start(&QUERY);
            tare::stage::set(&STAGE);
            (
                Table::new(classes, "test", "t", &["PRIMARY"]).open(),
                statement,
            )
        },
        |tare, (table, statement)| {
            // The stage is checked once before: it does not become a shared one by that.
            tare::thread::set_command(Command::Query);
            drop(table.io_in_stage(Operation::Fetch, None));
            drop(statement);
            start_of_last_wait(tare)
        },
    );
}

#[test]
fn a_command_did_not_begin_where_an_event_ended_before_a_switch() {
    check(
        "command",
        |_| drop(tare::statement::start(&QUERY)),
        |tare, ()| {
            tare::thread::set_command(Command::Query);
            let slot = tare.view.slot(slot(tare));
            slot.command_since.load(Ordering::Relaxed)
        },
    );
}

/// An open event is not cut by a switch: its beginning and its end are reported.
#[test]
fn events_that_last_over_a_switch_have_their_time() {
    for setting in SETTINGS {
        let tare = running();
        let statement = tare::statement::start(&QUERY);
        tare::stage::set(&STAGE);
        let transaction = tare::transaction::start(&TRANSACTION, Default::default());
        let idle = tare::idle::start(&IDLE);
        let before = now(&tare);
        setting.switch_off_and_on(&tare);
        let after = now(&tare);
        drop(idle);
        let slot = slot(&tare);
        let wait = last(tare.view.ring_waits(slot));
        transaction.commit();
        drop(statement);
        let stage = last(tare.view.ring_stages(slot));
        let statement = last(tare.view.ring_statements(slot));
        let transaction = last(tare.view.ring_transactions(slot));
        for (start, end) in [
            (wait[word::START], wait[word::END]),
            (stage[word::START], stage[word::END]),
            (statement[word::START], statement[word::END]),
            (transaction[word::START], transaction[word::END]),
        ] {
            assert!(start < before && after < end, "{setting:?}");
        }
    }
}

/// A statement that is off ends what was before it: nothing else begins there.
#[test]
fn nothing_begins_before_a_statement_that_is_off() {
    let tare = running();
    tare.set_instrument(&PING, false, false);
    drop(tare::idle::start(&IDLE));
    drop(tare::statement::start(&PING));
    let between = now(&tare);
    drop(tare::statement::start(&QUERY));
    assert!(last(tare.view.ring_statements(slot(&tare)))[word::START] > between);
    drop(tare::statement::start(&PING));
    let between = now(&tare);
    tare::stage::set(&STAGE);
    tare::stage::end();
    assert!(last(tare.view.ring_stages(slot(&tare)))[word::START] > between);
    drop(tare::statement::start(&QUERY));
    drop(tare::statement::start(&PING));
    let between = now(&tare);
    drop(tare::idle::start(&IDLE));
    assert!(start_of_last_wait(&tare) > between);
}

/// All that a client did between is off.
#[test]
fn an_idle_time_does_not_begin_where_one_before_it_ended() {
    let tare = running();
    drop(tare::idle::start(&IDLE));
    let between = now(&tare);
    drop(tare::idle::start(&IDLE));
    assert!(start_of_last_wait(&tare) > between);
}

#[test]
fn a_send_in_a_statement_does_not_begin_where_the_statement_did() {
    let tare = running();
    let client = tare::socket::Instance::new(&CLIENT, 3);
    let statement = tare::statement::start(&QUERY);
    let between = now(&tare);
    drop(client.follow(Operation::Send));
    drop(statement);
    assert!(start_of_last_wait(&tare) > between);
}

#[test]
fn a_stage_does_not_begin_where_one_that_is_off_did() {
    let tare = running();
    tare.set_instrument(&UNSEEN, false, false);
    let statement = tare::statement::start(&QUERY);
    tare::stage::set(&UNSEEN);
    let between = now(&tare);
    tare::stage::set(&STAGE);
    drop(statement);
    assert!(last(tare.view.ring_stages(slot(&tare)))[word::START] > between);
}

#[test]
fn a_stage_outside_of_statements_does_not_begin_where_one_ended() {
    let tare = running();
    drop(tare::statement::start(&QUERY));
    let between = now(&tare);
    tare::stage::set(&STAGE);
    tare::stage::end();
    assert!(last(tare.view.ring_stages(slot(&tare)))[word::START] > between);
}

/// The session's stage is discarded, whichever thread serves the session now.
#[test]
fn a_stage_whose_end_was_not_reported_is_discarded_once() {
    let tare = running();
    let mut sessions = [ThreadSession::new(&MARKER), ThreadSession::new(&MARKER)];
    for session in &mut sessions {
        session.run(|| {
            tare::stage::forget_missed(1);
            tare::stage::set(&STAGE);
        })
    }
    for session in &mut sessions {
        session.run(|| {
            tare::stage::forget_missed(2);
            tare::stage::end();
            assert_eq!(tare.total(&STAGE).count, 0);
        })
    }
    for session in &mut sessions {
        session.run(|| {
            tare::stage::set(&STAGE);
            tare::stage::forget_missed(2);
            tare::stage::end();
        })
    }
    assert_eq!(tare.total(&STAGE).count, 2);
}
