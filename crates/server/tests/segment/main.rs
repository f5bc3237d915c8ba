//! The tables of a running Tare, compared with independent counts.

#![cfg(feature = "instrument")]

mod instances;
mod setup;
mod sizes;
mod snapshots;
mod statements;
#[path = "../support/mod.rs"]
mod support;
mod truncate;

use std::sync::{Barrier, Condvar, Mutex};

use tare::{Config, Counter, Operation};
use tare_query::catalog;
use tare_rows::registry;

use support::start;

tare::classes! {
    /// A lock of the test.
    static LOCK_A: Mutex = "wait/synch/mutex/test/LOCK_a";
    static LOCK_RW: RwLock = "wait/synch/rwlock/test/LOCK_rw";
    static FILE: File = "wait/io/file/test/data";
    static TABLE: TableIo = "wait/io/table/test/handler";
    static IDLE: Idle = "idle";
    static STAGE_ONE: Stage = "stage/test/One", progress;
    static STAGE_TWO: Stage = "stage/test/Two";
    static QUERY: Statement = "statement/abstract/Query", mutable;
    static SELECT: Statement = "statement/sql/select";
    static TRX: Transaction = "transaction";
    static MEMORY: Memory = "memory/test/buffer";
    static WORKER: Thread = "thread/test/worker";
}

/// Threads wait here until the test has looked. It is opened when dropped, so that a failing test releases
/// its threads.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

struct GateOpener<'a>(&'a Gate);

impl Gate {
    fn wait(&self) {
        let open = self.open.lock().unwrap();
        drop(self.changed.wait_while(open, |open| !*open).unwrap());
    }
}

impl Drop for GateOpener<'_> {
    fn drop(&mut self) {
        *self.0.open.lock().unwrap() = true;
        self.0.changed.notify_all();
    }
}

/// Runs `work` on `threads` new threads of an account, and `check` when all have done it and still live.
fn with_threads(threads: usize, work: impl Fn(usize) + Sync, check: impl FnOnce()) {
    let (done, leave) = (Barrier::new(threads + 1), Gate::default());
    std::thread::scope(|scope| {
        let thread = |i: usize| {
            let (done, leave, work) = (&done, &leave, &work);
            scope.spawn(move || {
                tare::thread::register(&WORKER);
                tare::thread::set_account("alice", "h1");
                tare::thread::set_processlist_id(100 + i as u64);
                work(i);
                done.wait();
                leave.wait();
            })
        };
        let handles: Vec<_> = (0..threads).map(thread).collect();
        let opens = GateOpener(&leave);
        done.wait();
        check();
        drop(opens);
        // A scope ends before the destructors of its threads have run; joining waits for them.
        handles
            .into_iter()
            .for_each(|handle| handle.join().unwrap());
    });
}

#[test]
fn every_table_answers_with_events() {
    let r = start(Config::everything());
    let mutex = tare::sync::Mutex::new(&LOCK_A, 0);
    with_threads(
        2,
        |_| {
            *mutex.lock() += 1;
            let statement = tare::statement::start(&QUERY);
            statement.text("SELECT 1");
        },
        || {
            for table in registry::all(Default::default()) {
                let name = format!("{}.\"{}\"", table.schema(), table.name());
                let guard = r.catalog.statement();
                let all = r.rows(&format!("SELECT * FROM {name}"));
                assert_eq!(
                    r.number(&format!("SELECT COUNT(*) FROM {name}")),
                    all.len() as i64,
                    "{name}"
                );
                drop(guard);
            }
        },
    );
}

#[test]
fn opening_a_file_names_it() {
    let r = start(Config::everything());
    let mut wait = tare::wait::start(&FILE, Operation::Open);
    let file = tare::file::Instance::open(&FILE, "/tmp/test-opened");
    wait.about_file(&file);
    let running = "SELECT OBJECT_NAME, END_EVENT_ID FROM performance_schema.events_waits_current \
                   WHERE EVENT_NAME = 'wait/io/file/test/data'";
    assert_eq!(r.rows(running), ["/tmp/test-opened NULL"]);
    drop(wait);
    drop(tare::wait::start(&FILE, Operation::Open));
    let history = "SELECT OPERATION, OBJECT_NAME FROM performance_schema.events_waits_history \
                   WHERE EVENT_NAME = 'wait/io/file/test/data' ORDER BY EVENT_ID";
    assert_eq!(r.rows(history), ["open /tmp/test-opened", "open NULL"]);
}

#[test]
fn sums_of_waits_equal_the_waits() {
    let r = start(Config::everything());
    let mutex = tare::sync::Mutex::new(&LOCK_A, 0u64);
    let work = |i: usize| {
        for _ in 0..=i * 10 {
            *mutex.lock() += 1;
        }
        let file = tare::file::Instance::open(&FILE, "/tmp/test-data");
        for n in 1..=3 {
            file.wait(Operation::Read).bytes(n * 100);
        }
        file.wait(Operation::Write).bytes(50);
        drop(file.wait(Operation::Sync));
        drop(tare::table::wait(&TABLE, Operation::Fetch));
    };
    let global = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                  WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a'";
    with_threads(4, work, || {
        assert_eq!(*mutex.lock(), 1 + 11 + 21 + 31);
        // This thread's own lock is among them.
        assert_eq!(r.number(global), 65);
        let by_thread = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name s \
                         JOIN performance_schema.threads t USING (THREAD_ID) \
                         WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a' AND t.PROCESSLIST_ID IS NOT NULL \
                         ORDER BY t.PROCESSLIST_ID";
        assert_eq!(r.rows(by_thread), ["1", "11", "21", "31"]);
        let by_account = "SELECT COALESCE(USER, '-'), COUNT_STAR FROM \
                          performance_schema.events_waits_summary_by_account_by_event_name \
                          WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a' ORDER BY 1";
        assert_eq!(r.rows(by_account), ["- 1", "alice 64"]);
        let file = "SELECT COUNT_STAR, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, COUNT_WRITE, \
                    SUM_NUMBER_OF_BYTES_WRITE, COUNT_MISC, \
                    ABS(SUM_TIMER_WAIT - SUM_TIMER_READ - SUM_TIMER_WRITE - SUM_TIMER_MISC) < 1000 FROM \
                    performance_schema.file_summary_by_event_name WHERE EVENT_NAME LIKE '%test/data'";
        assert_eq!(r.rows(file), ["20 12 2400 4 200 4 1"]);
        let instance = "SELECT FILE_NAME, COUNT_STAR, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, COUNT_MISC FROM \
                        performance_schema.file_summary_by_instance WHERE EVENT_NAME LIKE '%test/data'";
        assert_eq!(r.rows(instance), ["/tmp/test-data 20 12 2400 4"]);
        let instance = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_by_instance \
                        WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a'";
        assert_eq!(r.rows(instance), ["65"]);
        let current = "SELECT EVENT_NAME, OPERATION, END_EVENT_ID IS NOT NULL, ABS(TIMER_WAIT - (TIMER_END - TIMER_START)) < 1000 \
                       FROM performance_schema.events_waits_current WHERE THREAD_ID IN \
                       (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = 103)";
        assert_eq!(r.rows(current), ["wait/io/table/test/handler fetch 1 1"]);
        let history = "SELECT OPERATION, NUMBER_OF_BYTES, OBJECT_NAME, OBJECT_TYPE FROM \
                       performance_schema.events_waits_history WHERE EVENT_NAME = 'wait/io/file/test/data' \
                       AND THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = 102)";
        let read = |n: u64| format!("read {n} /tmp/test-data FILE");
        let end = [
            "write 50 /tmp/test-data FILE".into(),
            "sync NULL /tmp/test-data FILE".into(),
        ];
        let expected: Vec<String> = [read(100), read(200), read(300)]
            .into_iter()
            .chain(end)
            .collect();
        assert_eq!(r.rows(history), expected);
    });
    // The threads have ended; their counts stay.
    assert_eq!(r.number(global), 65);
    let by_thread = "SELECT COUNT(*) FROM performance_schema.events_waits_summary_by_thread_by_event_name \
                     JOIN performance_schema.threads USING (THREAD_ID) WHERE PROCESSLIST_ID IS NOT NULL";
    assert_eq!(r.number(by_thread), 0);
    let long = "SELECT COUNT(*) FROM performance_schema.events_waits_history_long \
                WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    assert_eq!(r.number(long), 4);
}

#[test]
fn a_new_thread_in_an_old_bank_starts_from_zero() {
    let r = start(Config::everything());
    let mutex = tare::sync::Mutex::new(&LOCK_A, ());
    let by_thread = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name \
                     JOIN performance_schema.threads USING (THREAD_ID) \
                     WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a' AND PROCESSLIST_ID = 100";
    let global = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                  WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a'";
    for round in 1..=3 {
        let work = |_| (0..round * 5).for_each(|_| drop(mutex.lock()));
        with_threads(1, work, || {
            assert_eq!(r.number(by_thread), round * 5);
            assert_eq!(r.number(global), (1..=round).map(|n| n * 5).sum::<i64>());
        });
    }
    let banks = r.attached_banks();
    assert!(
        banks <= 3,
        "{banks} banks for one thread at a time and this one"
    );
}

impl support::Running {
    fn attached_banks(&self) -> u32 {
        let shared = self.attached.view().shared();
        shared
            .banks_used
            .0
            .load(std::sync::atomic::Ordering::Relaxed)
    }
}
