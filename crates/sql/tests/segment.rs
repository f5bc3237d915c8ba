//! The tables over a running engine: what they show is what was done, counted independently.

#![cfg(feature = "instrument")]

mod support;

use std::sync::{Barrier, Condvar, Mutex};

use support::start;
use tare::{Config, Counter, Operation};
use tare_sql::catalog::{self, MySqlError};

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

/// Where threads wait until the test has looked: opened when it is dropped, so that a test that fails
/// lets its threads go.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

struct Opens<'a>(&'a Gate);

impl Gate {
    fn wait(&self) {
        let open = self.open.lock().unwrap();
        drop(self.changed.wait_while(open, |open| !*open).unwrap());
    }
}

impl Drop for Opens<'_> {
    fn drop(&mut self) {
        *self.0.open.lock().unwrap() = true;
        self.0.changed.notify_all();
    }
}

/// Runs `work` on `threads` new threads of an account and, when all have done it and still live,
/// `check` on this one.
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
        let opens = Opens(&leave);
        done.wait();
        check();
        drop(opens);
        // A scope ends before its threads' destructors have run; joining waits for them.
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
            for table in catalog::tables() {
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
fn waits_sum_to_what_was_done() {
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
    // The threads have gone; what they did has not.
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

#[test]
fn statements_keep_text_digest_rows_and_errors() {
    let r = start(Config::everything());
    let work = |i: usize| {
        tare::thread::set_db("shop");
        for n in 0..5 {
            let statement = tare::statement::start(&QUERY);
            statement.text(&format!("SELECT c FROM t WHERE id = {}", i * 10 + n));
            statement.refine(&SELECT);
            tare::stage::set(&STAGE_ONE);
            tare::stage::progress(1, 3);
            tare::stage::set(&STAGE_TWO);
            statement.rows_sent(2);
            statement.rows_examined(7);
            statement.add(Counter::SelectScan, 1);
            if n == 4 {
                statement.error(1146, "42S02", "Table 'shop.t' doesn't exist");
            }
        }
    };
    with_threads(2, work, || {
        let global = "SELECT EVENT_NAME, COUNT_STAR, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_SELECT_SCAN, \
                      SUM_ERRORS, SUM_NO_INDEX_USED, MIN_TIMER_WAIT <= AVG_TIMER_WAIT, \
                      AVG_TIMER_WAIT <= MAX_TIMER_WAIT FROM \
                      performance_schema.events_statements_summary_global_by_event_name \
                      WHERE COUNT_STAR > 0";
        assert_eq!(r.rows(global), ["statement/sql/select 10 20 70 10 2 0 1 1"]);
        let history = "SELECT SQL_TEXT, CURRENT_SCHEMA, ROWS_SENT, MYSQL_ERRNO, RETURNED_SQLSTATE, MESSAGE_TEXT, \
                       DIGEST_TEXT FROM performance_schema.events_statements_history \
                       WHERE SQL_TEXT LIKE '%= 1_' ORDER BY EVENT_ID";
        let rows = r.rows(history);
        assert_eq!(rows.len(), 5);
        let digest = "SELECT `c` FROM `t` WHERE `id` = ?";
        assert_eq!(
            rows[0],
            format!("SELECT c FROM t WHERE id = 10 shop 2 0 00000 NULL {digest}")
        );
        assert_eq!(
            rows[4],
            format!(
                "SELECT c FROM t WHERE id = 14 shop 2 1146 42S02 Table 'shop.t' doesn't exist {digest}"
            )
        );
        let long = "SELECT COUNT(*), COUNT(SQL_TEXT), COUNT(DISTINCT DIGEST) FROM \
                    performance_schema.events_statements_history_long";
        assert_eq!(r.rows(long), ["10 10 1"]);
        let by_digest = "SELECT SCHEMA_NAME, LENGTH(DIGEST), DIGEST_TEXT, COUNT_STAR, SUM_ROWS_SENT, SUM_ERRORS, \
                         QUANTILE_95 <= QUANTILE_99, QUANTILE_95 >= 10000000, \
                         QUERY_SAMPLE_TEXT LIKE 'SELECT c FROM t WHERE id = %', \
                         FIRST_SEEN > '2026', LAST_SEEN >= FIRST_SEEN \
                         FROM performance_schema.events_statements_summary_by_digest";
        assert_eq!(
            r.rows(by_digest),
            [format!("shop 64 {digest} 10 20 2 1 1 1 1 1")]
        );
        let stages = "SELECT EVENT_NAME, COUNT_STAR FROM \
                      performance_schema.events_stages_summary_global_by_event_name WHERE COUNT_STAR > 0 \
                      ORDER BY 1";
        assert_eq!(r.rows(stages), ["stage/test/One 10", "stage/test/Two 10"]);
        let nested = "SELECT COUNT(*) FROM performance_schema.events_stages_history g \
                      JOIN performance_schema.events_statements_history s USING (THREAD_ID) \
                      WHERE g.NESTING_EVENT_ID = s.EVENT_ID AND g.NESTING_EVENT_TYPE = 'STATEMENT' \
                      AND g.TIMER_START >= s.TIMER_START AND g.TIMER_END <= s.TIMER_END \
                      AND g.EVENT_ID <= s.END_EVENT_ID";
        assert_eq!(r.number(nested), 20);
        let work = "SELECT DISTINCT WORK_COMPLETED, WORK_ESTIMATED FROM performance_schema.events_stages_history \
                    WHERE EVENT_NAME = 'stage/test/One'";
        assert_eq!(r.rows(work), ["1 3"]);
    });
}

#[test]
fn a_running_statement_shows_in_current_and_threads() {
    let r = start(Config::everything());
    let (inside, leave) = (Barrier::new(2), Gate::default());
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            tare::thread::register(&WORKER);
            tare::thread::set_account("bob", "h2");
            tare::thread::set_processlist_id(7);
            tare::thread::set_db("shop");
            tare::thread::set_command(tare::Command::Query);
            tare::thread::set_connection_type(tare::thread::ConnectionType::TcpIp);
            let statement = tare::statement::start(&SELECT);
            statement.text("SELECT SLEEP(1)");
            tare::stage::set(&STAGE_ONE);
            inside.wait();
            leave.wait();
        });
        let opens = Opens(&leave);
        inside.wait();
        let threads = "SELECT NAME, TYPE, PROCESSLIST_USER, PROCESSLIST_HOST, PROCESSLIST_DB, \
                       PROCESSLIST_COMMAND, PROCESSLIST_STATE, PROCESSLIST_INFO, INSTRUMENTED, HISTORY, \
                       CONNECTION_TYPE, THREAD_OS_ID > 0 FROM performance_schema.threads WHERE PROCESSLIST_ID = 7";
        let expected =
            "thread/test/worker FOREGROUND bob h2 shop Query One SELECT SLEEP(1) YES YES TCP/IP 1";
        assert_eq!(r.rows(threads), [expected]);
        let current = "SELECT SQL_TEXT, END_EVENT_ID, TIMER_WAIT > 0, ABS(TIMER_WAIT - (TIMER_END - TIMER_START)) < 1000, MYSQL_ERRNO \
                       FROM performance_schema.events_statements_current WHERE END_EVENT_ID IS NULL";
        assert_eq!(r.rows(current), ["SELECT SLEEP(1) NULL 1 1 NULL"]);
        let list = "SELECT ID, USER, DB, COMMAND, INFO FROM information_schema.processlist";
        assert_eq!(r.rows(list), ["7 bob shop Query SELECT SLEEP(1)"]);
        let accounts = "SELECT USER, HOST, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM \
                        performance_schema.accounts WHERE USER IS NOT NULL";
        assert_eq!(r.rows(accounts), ["bob h2 1 1"]);
        drop(opens);
        thread.join().unwrap();
    });
    let users = "SELECT USER, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM performance_schema.users \
                 WHERE USER = 'bob'";
    assert_eq!(r.rows(users), ["bob 0 1"]);
    let hosts = "SELECT HOST, CURRENT_CONNECTIONS FROM performance_schema.hosts WHERE HOST = 'H2'";
    assert_eq!(r.rows(hosts), ["h2 0"]);
}

#[test]
fn transactions_count_by_mode_and_end() {
    use tare::transaction::{Mode, start as begin};
    let r = start(Config::everything());
    let work = |_: usize| {
        let write = begin(&TRX, Mode::default());
        write.savepoint();
        write.savepoint();
        write.rollback_to_savepoint();
        write.trx_id(77);
        write.commit();
        begin(
            &TRX,
            Mode {
                read_only: true,
                autocommit: true,
                ..Mode::default()
            },
        )
        .rollback();
    };
    with_threads(2, work, || {
        let summary = "SELECT COUNT_STAR, COUNT_READ_WRITE, COUNT_READ_ONLY, \
                       ABS(SUM_TIMER_WAIT - SUM_TIMER_READ_WRITE - SUM_TIMER_READ_ONLY) < 1000 FROM \
                       performance_schema.events_transactions_summary_global_by_event_name";
        assert_eq!(r.rows(summary), ["4 2 2 1"]);
        let history = "SELECT DISTINCT STATE, TRX_ID, ACCESS_MODE, ISOLATION_LEVEL, AUTOCOMMIT, \
                       NUMBER_OF_SAVEPOINTS, NUMBER_OF_ROLLBACK_TO_SAVEPOINT FROM \
                       performance_schema.events_transactions_history ORDER BY 1";
        assert_eq!(
            r.rows(history),
            [
                "COMMITTED 77 READ WRITE REPEATABLE READ NO 2 1",
                "ROLLED BACK NULL READ ONLY REPEATABLE READ YES 0 0",
            ]
        );
    });
}

#[test]
fn locks_show_who_holds_them() {
    let r = start(Config::everything());
    let mutex = tare::sync::Mutex::new(&LOCK_A, ());
    let rwlock = tare::sync::RwLock::new(&LOCK_RW, ());
    let owner = "SELECT PROCESSLIST_ID FROM performance_schema.mutex_instances \
                 LEFT JOIN performance_schema.threads ON THREAD_ID = LOCKED_BY_THREAD_ID \
                 WHERE performance_schema.mutex_instances.NAME LIKE '%/test/%'";
    let readers = "SELECT WRITE_LOCKED_BY_THREAD_ID, READ_LOCKED_BY_COUNT FROM \
                   performance_schema.rwlock_instances WHERE NAME LIKE '%/test/%'";
    let (inside, leave) = (Barrier::new(3), Gate::default());
    std::thread::scope(|scope| {
        for i in 0..2 {
            let (inside, leave, mutex, rwlock) = (&inside, &leave, &mutex, &rwlock);
            scope.spawn(move || {
                tare::thread::set_processlist_id(40 + i);
                let _read = rwlock.read();
                let _held = (i == 1).then(|| mutex.lock());
                inside.wait();
                leave.wait();
            });
        }
        let _opens = Opens(&leave);
        inside.wait();
        assert_eq!(r.rows(owner), ["41"]);
        assert_eq!(r.rows(readers), ["NULL 2"]);
    });
    assert_eq!(r.rows(owner), ["NULL"]);
    assert_eq!(r.rows(readers), ["NULL 0"]);
    drop(mutex);
    assert_eq!(r.rows(owner), [] as [&str; 0]);
}

#[test]
fn memory_balances() {
    let r = start(Config::everything());
    tare::memory::allocated(&MEMORY, 1000);
    tare::memory::allocated(&MEMORY, 500);
    // Freed by another thread than the one that allocated it.
    std::thread::scope(|scope| {
        scope.spawn(|| tare::memory::freed(&MEMORY, 1000));
    });
    let memory = "SELECT COUNT_ALLOC, COUNT_FREE, SUM_NUMBER_OF_BYTES_ALLOC, SUM_NUMBER_OF_BYTES_FREE, \
                  CURRENT_COUNT_USED, HIGH_COUNT_USED, CURRENT_NUMBER_OF_BYTES_USED, HIGH_NUMBER_OF_BYTES_USED \
                  FROM performance_schema.memory_summary_global_by_event_name WHERE EVENT_NAME = 'memory/test/buffer'";
    assert_eq!(r.rows(memory), ["2 1 1500 1000 1 2 500 1500"]);
    r.truncate("memory_summary_global_by_event_name");
    assert_eq!(r.rows(memory), ["1 0 500 0 1 1 500 500"]);
    tare::memory::allocated(&MEMORY, 1);
    assert_eq!(r.rows(memory), ["2 0 501 0 2 2 501 501"]);
}

#[test]
fn setup_tables_rule_the_running_host() {
    let r = start(Config::nothing());
    let mutex = tare::sync::Mutex::new(&LOCK_A, ());
    let count = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a'";
    drop(mutex.lock());
    assert_eq!(r.number(count), 0);
    let on = "UPDATE performance_schema.setup_instruments SET ENABLED = 'yes', TIMED = 'YES' \
              WHERE NAME LIKE 'wait/%/test/%'";
    assert_eq!(r.execute(on), Ok(4));
    let set = "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments \
               WHERE NAME LIKE 'wait/%/test/%' AND ENABLED = 'YES' ORDER BY 1";
    assert_eq!(r.rows(set).len(), 4);
    drop(mutex.lock());
    assert_eq!(r.number(count), 1);

    // Consumers: no history until they are on.
    let history = "SELECT COUNT(*) FROM performance_schema.events_waits_history";
    tare::thread::set_processlist_id(9);
    drop(tare::table::wait(&TABLE, Operation::Fetch));
    assert_eq!(r.number(history), 0);
    let consumers = "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE 'events_waits%'";
    assert_eq!(r.execute(consumers), Ok(3));
    drop(tare::table::wait(&TABLE, Operation::Fetch));
    assert_eq!(r.number(history), 1);

    // Threads.
    let thread =
        |set: &str| format!("UPDATE performance_schema.threads SET {set} WHERE PROCESSLIST_ID = 9");
    let flags =
        "SELECT INSTRUMENTED, HISTORY FROM performance_schema.threads WHERE PROCESSLIST_ID = 9";
    let table = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    assert_eq!(r.execute(&thread("HISTORY = 'NO'")), Ok(1));
    drop(tare::table::wait(&TABLE, Operation::Fetch));
    assert_eq!((r.number(history), r.number(table)), (1, 3));
    assert_eq!(r.rows(flags), ["YES NO"]);
    assert_eq!(
        r.execute(&thread("HISTORY = 'YES', INSTRUMENTED = 'NO'")),
        Ok(1)
    );
    assert_eq!(r.rows(flags), ["NO YES"]);
    drop(tare::table::wait(&TABLE, Operation::Fetch));
    assert_eq!(r.number(table), 3);
    assert_eq!(r.execute(&thread("INSTRUMENTED = 'YES'")), Ok(1));
    assert_eq!(r.rows(flags), ["YES YES"]);
    drop(tare::table::wait(&TABLE, Operation::Fetch));
    assert_eq!((r.number(history), r.number(table)), (2, 4));

    // Timers.
    let timer =
        "UPDATE performance_schema.setup_timers SET TIMER_NAME = 'MICROSECOND' WHERE NAME = 'wait'";
    assert_eq!(r.execute(timer), Ok(1));
    let timers = "SELECT NAME, TIMER_NAME FROM performance_schema.setup_timers";
    let expected = [
        "idle CYCLE",
        "wait MICROSECOND",
        "stage CYCLE",
        "statement CYCLE",
        "transaction CYCLE",
    ];
    assert_eq!(r.rows(timers), expected);
    drop(tare::table::wait(&TABLE, Operation::Insert));
    let whole = "SELECT TIMER_WAIT / 1000 < 1000000000 FROM performance_schema.events_waits_history \
                 WHERE OPERATION = 'insert'";
    assert_eq!(r.rows(whole), ["1"]);
}

#[test]
fn wrong_values_are_refused_and_change_nothing() {
    let r = start(Config::everything());
    // A thread to change.
    tare::thread::set_processlist_id(1);
    let before = r.rows("SELECT * FROM performance_schema.setup_consumers");
    let errno = |sql: &str| r.execute(sql).unwrap_err().errno;
    assert_eq!(
        errno("UPDATE performance_schema.setup_consumers SET ENABLED = 'MAYBE'"),
        1265
    );
    assert_eq!(
        errno("UPDATE performance_schema.setup_consumers SET ENABLED = NULL"),
        1048
    );
    assert_eq!(
        errno("UPDATE performance_schema.setup_consumers SET NAME = 'x'"),
        1683
    );
    assert_eq!(
        errno("UPDATE performance_schema.threads SET PROCESSLIST_USER = 'x'"),
        1683
    );
    assert_eq!(
        errno("UPDATE performance_schema.setup_timers SET TIMER_NAME = 'SUNDIAL'"),
        1265
    );
    assert_eq!(
        errno("UPDATE performance_schema.setup_timers SET TIMER_NAME = 'TICK'"),
        1683
    );
    assert_eq!(
        errno("DELETE FROM performance_schema.setup_consumers"),
        1142
    );
    assert_eq!(
        r.rows("SELECT * FROM performance_schema.setup_consumers"),
        before
    );
}

#[test]
fn truncate_starts_a_table_anew_and_only_that() {
    let r = start(Config::everything());
    let summary = |by: &str| format!("events_waits_summary_{by}_by_event_name");
    let count = |by: &str| {
        r.number(&format!(
            "SELECT SUM(COUNT_STAR) FROM performance_schema.{} WHERE EVENT_NAME = 'wait/io/table/test/handler'",
            summary(by)
        ))
    };
    let counts = || [count("global"), count("by_thread"), count("by_account")];
    let wait = |n: usize| (0..n).for_each(|_| drop(tare::table::wait(&TABLE, Operation::Fetch)));
    wait(3);
    assert_eq!(counts(), [3, 3, 3]);
    r.truncate(&summary("global"));
    // The table of all threads takes the others with it.
    assert_eq!(counts(), [0, 0, 0]);
    let zero = "SELECT COUNT_STAR, SUM_TIMER_WAIT, MIN_TIMER_WAIT, AVG_TIMER_WAIT, MAX_TIMER_WAIT FROM \
                performance_schema.events_waits_summary_global_by_event_name \
                WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    assert_eq!(r.rows(zero), ["0 0 0 0 0"]);
    wait(2);
    assert_eq!(counts(), [2, 2, 2]);
    let bounds = "SELECT MIN_TIMER_WAIT <= AVG_TIMER_WAIT AND AVG_TIMER_WAIT <= MAX_TIMER_WAIT AND \
                  MAX_TIMER_WAIT <= SUM_TIMER_WAIT FROM \
                  performance_schema.events_waits_summary_global_by_event_name \
                  WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    assert_eq!(r.rows(bounds), ["1"]);
    r.truncate(&summary("by_thread"));
    r.truncate(&summary("by_account"));
    wait(1);
    assert_eq!(counts(), [3, 1, 1]);

    let histogram = "SELECT SUM(count_bucket), MAX(bucket_quantile) FROM tare.histogram_by_event_name \
                     WHERE event_name = 'wait/io/table/test/handler'";
    assert_eq!(r.rows(histogram), ["3 1"]);

    let history =
        |table: &str| r.number(&format!("SELECT COUNT(*) FROM performance_schema.{table}"));
    assert!(history("events_waits_history") >= 6);
    r.truncate("events_waits_history");
    assert_eq!(history("events_waits_history"), 0);
    assert!(history("events_waits_history_long") >= 6);
    wait(1);
    assert_eq!(history("events_waits_history"), 1);

    let statement = || {
        let statement = tare::statement::start(&SELECT);
        statement.text("SELECT 1");
    };
    statement();
    assert_eq!(history("events_statements_summary_by_digest"), 1);
    r.truncate("events_statements_summary_by_digest");
    assert_eq!(history("events_statements_summary_by_digest"), 0);
    statement();
    assert_eq!(
        r.number("SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_digest"),
        1
    );

    let file = tare::file::Instance::open(&FILE, "/tmp/truncated");
    drop(file.wait(Operation::Read));
    let by_file = "SELECT COUNT_STAR FROM performance_schema.file_summary_by_instance WHERE FILE_NAME = '/tmp/truncated'";
    assert_eq!(r.number(by_file), 1);
    r.truncate("file_summary_by_instance");
    assert_eq!(r.number(by_file), 0);
    drop(file.wait(Operation::Read));
    assert_eq!(r.number(by_file), 1);
}

#[test]
fn contention_tells_waiting_from_taking() {
    let r = start(Config::everything());
    let mutex = tare::sync::Mutex::new(&LOCK_A, ());
    let held = mutex.lock();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| drop(mutex.lock()));
        // The wait is there before the lock is let go.
        let waiting = "SELECT COUNT(*) FROM performance_schema.events_waits_current \
                       WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a' AND END_EVENT_ID IS NULL";
        while r.number(waiting) == 0 {
            std::thread::yield_now();
        }
        drop(held);
        waiter.join().unwrap();
    });
    let contention = "SELECT count_star, count_contended, contended_pct, avg_timer_contended > 0, \
                      max_timer_wait >= p99_timer_wait, p50_timer_wait <= p99_timer_wait \
                      FROM tare.contention_by_event_name WHERE event_name = 'wait/synch/mutex/test/LOCK_a'";
    assert_eq!(r.rows(contention), ["2 1 50 1 1 1"]);
    let global = "SELECT COUNT_STAR, MIN_TIMER_WAIT, MAX_TIMER_WAIT > 0 FROM \
                  performance_schema.events_waits_summary_global_by_event_name \
                  WHERE EVENT_NAME = 'wait/synch/mutex/test/LOCK_a'";
    assert_eq!(r.rows(global), ["2 0 1"]);
}

#[test]
fn a_statement_sees_one_snapshot() {
    let r = start(Config::everything());
    let count = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    let wait = || drop(tare::table::wait(&TABLE, Operation::Fetch));
    wait();
    let guard = r.catalog.statement();
    assert_eq!(r.number(count), 1);
    wait();
    assert_eq!(r.number(count), 1);
    drop(guard);
    assert_eq!(r.number(count), 2);
}

#[test]
fn variables_and_status_come_from_the_segment() {
    let config = Config {
        limits: tare::Limits {
            threads: 16,
            history: 5,
            ..Default::default()
        },
        ..Config::everything()
    };
    let r = start(config);
    let variable = |name: &str| {
        r.one(&format!(
            "SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = '{name}'"
        ))
    };
    assert_eq!(variable("performance_schema"), "ON");
    assert_eq!(variable("performance_schema_max_thread_instances"), "16");
    assert_eq!(
        variable("performance_schema_events_waits_history_size"),
        "5"
    );
    assert_eq!(variable("tare_lock_timing"), "contended");
    let lost = "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
                WHERE VARIABLE_NAME = 'Performance_schema_thread_instances_lost'";
    assert_eq!(r.one(lost), "0");
    with_threads(
        20,
        |_| drop(tare::table::wait(&TABLE, Operation::Fetch)),
        || {
            assert!(r.number(lost) >= 4);
        },
    );
    let segment =
        "SELECT pid, state, layout_version, lock_timing, threads_lost > 0 FROM tare.segments";
    assert_eq!(
        r.rows(segment),
        [format!("{} live 2 contended 1", std::process::id())]
    );
}

/// A segment whose writer has ended.
struct Saved(std::sync::Arc<tare_reader::Segment>);

impl catalog::Source for Saved {
    fn segment(&self) -> Option<std::sync::Arc<tare_reader::Segment>> {
        Some(self.0.clone())
    }
}

#[test]
fn a_saved_segment_answers_every_table_and_changes_none() {
    let directory = std::env::temp_dir().join(format!("tare-tables-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("tare.segment");
    // Small: copying makes what were holes.
    let limits = tare::Limits {
        threads: 16,
        accounts: 8,
        classes: 256,
        instances: 256,
        files: 16,
        digests: 16,
        history_long: 64,
        arena_lines: 1024,
        ..Default::default()
    };
    let running = start(Config {
        segment: Some(path.clone()),
        limits,
        ..Config::everything()
    });
    with_threads(
        1,
        |_| {
            drop(tare::table::wait(&TABLE, Operation::Fetch));
            let statement = tare::statement::start(&SELECT);
            statement.text("SELECT 'the last'");
        },
        || {
            // What a crash leaves: threads are there, in the middle of what they did.
            let copy = directory.join("saved.segment");
            std::fs::copy(&path, &copy).unwrap();
            let target = tare_reader::Target::Path(copy);
            let segment = tare_reader::Segment::attach(target).expect("a saved segment");
            let conn = rusqlite::Connection::open_in_memory().unwrap();
            let source = std::sync::Arc::new(Saved(std::sync::Arc::new(segment)));
            let saved = catalog::install(&conn, source).unwrap();
            for table in catalog::tables() {
                let sql = format!(
                    "SELECT COUNT(*) FROM {}.\"{}\"",
                    table.schema(),
                    table.name()
                );
                conn.query_row(&sql, [], |row| row.get::<_, i64>(0))
                    .expect(&sql);
            }
            let one = |sql: &str| {
                conn.query_row(sql, [], |row| row.get::<_, String>(0))
                    .unwrap()
            };
            let last = "SELECT SQL_TEXT FROM performance_schema.events_statements_current \
                        WHERE SQL_TEXT IS NOT NULL";
            assert_eq!(one(last), "SELECT 'the last'");
            assert_eq!(one("SELECT state FROM tare.segments"), "dead");
            let update = "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO'";
            let error = MySqlError::from_sqlite(&conn.execute(update, []).unwrap_err()).unwrap();
            assert_eq!(error.errno, 1105);
            assert!(error.message.contains("has ended"), "{error}");
            for table in catalog::tables()
                .iter()
                .filter(|table| table.can_truncate())
                // What the server tells of itself is not in the segment.
                .filter(|t| t.name() != "host_cache" && !t.name().starts_with("status_by_"))
            {
                let refused = saved.truncate(table.schema(), table.name());
                assert!(matches!(refused, Some(Err(_))), "{}", table.name());
            }
        },
    );
    drop(running);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn all_else_starts_anew_with_the_digest_table() {
    let limits = tare::Limits {
        digests: 2,
        ..Default::default()
    };
    let r = start(Config {
        limits,
        ..Config::everything()
    });
    let run = |text: &str| tare::statement::start(&SELECT).text(text);
    let digests = || {
        r.rows(
            "SELECT DIGEST IS NULL, COUNT_STAR FROM \
             performance_schema.events_statements_summary_by_digest ORDER BY 1",
        )
    };
    let status = |name: &str| {
        r.one(&format!(
            "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
             WHERE VARIABLE_NAME = 'Performance_schema_digest_{name}'"
        ))
    };
    run("SELECT 1");
    run("SELECT a FROM b");
    run("DELETE FROM c");
    assert_eq!(digests(), ["0 1", "1 2"]);
    assert_eq!(
        (status("lost"), status("evicted")),
        ("0".into(), "2".into())
    );
    r.truncate("events_statements_summary_by_digest");
    assert_eq!(digests(), [] as [&str; 0]);
    run("SELECT 1");
    assert_eq!(digests(), ["0 1"]);
    run("SELECT a FROM b");
    assert_eq!(digests(), ["0 1", "1 1"]);
}
