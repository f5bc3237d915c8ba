//! Locks and their owners, memory, contention.

use super::*;

#[test]
fn lock_instances_name_their_owners() {
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
        let _opens = GateOpener(&leave);
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
    // Another thread frees it than the one that allocated it.
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
fn contention_counts_only_locks_that_were_waited_for() {
    let r = start(Config::everything());
    let mutex = tare::sync::Mutex::new(&LOCK_A, ());
    let held = mutex.lock();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| drop(mutex.lock()));
        // The wait is recorded before the lock is released.
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
fn a_cost_is_events_times_the_cost_of_one() {
    let r = start(Config::everything());
    let mutex = tare::sync::Mutex::new(&LOCK_A, ());
    for _ in 0..1000 {
        drop(mutex.lock());
    }
    for _ in 0..10 {
        drop(tare::statement::start(&SELECT));
    }
    let of = |name: &str, what: &str| {
        r.rows(&format!(
            "SELECT {what} FROM tare.cost_by_event_name WHERE event_name = '{name}'"
        ))
    };
    // Without contention no clock is read: waits are only counted.
    let lock = "wait/synch/mutex/test/LOCK_a";
    assert_eq!(
        of(
            lock,
            "event_type, enabled, timed, count_star, count_timed, timer_reads, sum_cost_timer"
        ),
        ["wait YES YES 1000 0 0 0"]
    );
    assert_eq!(
        of(
            lock,
            "sum_cost > 0, sum_cost = sum_cost_counting, avg_cost = sum_cost / 1000"
        ),
        ["1 1 1"]
    );
    let statement = "statement/sql/select";
    assert_eq!(
        of(
            statement,
            "event_type, count_star, count_timed, timer_reads"
        ),
        ["statement 10 10 20"]
    );
    assert_eq!(
        of(
            statement,
            "sum_cost = sum_cost_timer + sum_cost_recording + sum_cost_counting"
        ),
        ["1"]
    );
    // Reading the clock costs what performance_timers says.
    let read = "SELECT c.sum_cost_timer BETWEEN 19.9 * t.o AND 20.1 * t.o FROM tare.cost_by_event_name c, \
                (SELECT TIMER_OVERHEAD * 1e12 / TIMER_FREQUENCY AS o FROM performance_schema.performance_timers WHERE TIMER_NAME = 'CYCLE') t \
                WHERE c.event_name = 'statement/sql/select'";
    assert_eq!(r.rows(read), ["1"]);
    assert_eq!(
        r.rows("SELECT ROUND(SUM(cost_pct)) FROM tare.cost_by_event_name"),
        ["100"]
    );
}
