//! A class used for another kind: nothing is counted, and no other figures change.
#![cfg(feature = "instrument")]

mod support;

use support::{Segment, Sum, everything};
use tare::{Class, Counter, Kind, Limits, Operation};

tare::classes! {
    static MUTEX: Mutex = "wait/synch/mutex/kinds/LOCK";
    static COND: Cond = "wait/synch/cond/kinds/COND";
    static FILE: File = "wait/io/file/kinds/file";
    static TABLE: TableIo = "wait/io/table/kinds/table";
    static IDLE: Idle = "idle";
    static STAGE: Stage = "stage/kinds/stage";
    static STATEMENT: Statement = "statement/kinds/statement";
    static TRANSACTION: Transaction = "transaction";
    static MEMORY: Memory = "memory/kinds/memory";
    static THREAD: Thread = "thread/kinds/thread";
}

const ALL: [&Class; 10] = [
    &MUTEX,
    &COND,
    &FILE,
    &TABLE,
    &IDLE,
    &STAGE,
    &STATEMENT,
    &TRANSACTION,
    &MEMORY,
    &THREAD,
];

/// One event of each kind, of the right class.
fn right() {
    drop(tare::wait::start(&MUTEX, Operation::Lock));
    drop(tare::wait::start(&COND, Operation::Wait));
    tare::wait::start(&FILE, Operation::Write).bytes(7);
    drop(tare::table::wait(&TABLE, Operation::DeleteRow));
    drop(tare::idle::start(&IDLE));
    let transaction = tare::transaction::start(&TRANSACTION, Default::default());
    let statement = tare::statement::start(&STATEMENT);
    tare::stage::set(&STAGE);
    statement.add(Counter::NoGoodIndexUsed, 1);
    drop(statement);
    transaction.commit();
    tare::memory::allocated(&MEMORY, 10);
    tare::memory::freed(&MEMORY, 10);
}

/// All other calls with ten classes.
fn wrong() {
    for class in ALL {
        let kind = class.kind();
        for operation in (0..=255).filter_map(Operation::from_u8) {
            let is_wait = (kind as u8) <= Kind::Idle as u8;
            if !is_wait || operation.line() >= kind.row_lines() {
                tare::wait::start(class, operation).bytes(u64::MAX / 2);
            }
        }
        if kind != Kind::Statement {
            let statement = tare::statement::start(class);
            for counter in [
                Counter::LockTime,
                Counter::CreatedTmpDiskTables,
                Counter::SortScan,
            ] {
                statement.add(counter, u64::MAX / 3);
            }
            drop(statement);
        }
        if kind != Kind::Transaction {
            let read_only = tare::transaction::Mode {
                read_only: true,
                ..Default::default()
            };
            tare::transaction::start(class, read_only).commit();
        }
        if kind != Kind::Memory {
            tare::memory::freed(class, usize::MAX / 2);
            tare::memory::allocated(class, usize::MAX / 2);
        }
        if kind != Kind::Stage {
            tare::stage::set(class);
            tare::stage::end();
        }
    }
}

/// All lines of a class's row, except times, which differ from run to run.
fn row(tare: &Segment, class: &Class) -> Vec<Sum> {
    let lines = 0..class.kind().row_lines();
    lines.map(|i| tare.line(class, i)).collect()
}

fn count(tare: &Segment, class: &Class) -> u64 {
    let times = |i: &usize| class.kind().is_time_line(*i);
    let lines = (0..class.kind().row_lines()).filter(times);
    lines.map(|i| tare.line(class, i).count).sum()
}

#[test]
fn a_class_of_another_kind_is_not_counted() {
    let tare = everything(Limits::default());
    let timed = [
        &MUTEX,
        &COND,
        &FILE,
        &TABLE,
        &IDLE,
        &STAGE,
        &STATEMENT,
        &TRANSACTION,
    ];
    right();
    assert_eq!(timed.map(|class| count(&tare, class)), [1; 8]);
    let before = timed.map(|class| row(&tare, class));
    wrong();
    assert_eq!(timed.map(|class| row(&tare, class)), before);
    right();
    assert_eq!(timed.map(|class| count(&tare, class)), [2; 8]);
}

/// A statement that is refined to another kind retains its class.
#[test]
fn a_statement_is_refined_to_statements_only() {
    let tare = everything(Limits::default());
    let statement = tare::statement::start(&STATEMENT);
    statement.refine(&MUTEX);
    drop(statement);
    assert_eq!(tare.total(&STATEMENT).count, 1);
    assert_eq!(tare.total(&MUTEX).count, 0);
}
