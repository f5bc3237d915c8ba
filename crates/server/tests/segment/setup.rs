//! The setup tables.

use super::*;

#[test]
fn setup_tables_control_the_running_host() {
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

    // Consumers: there is no history until they are enabled.
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
    let timer = "UPDATE tare.setup_timers SET TIMER_NAME = 'MICROSECOND' WHERE NAME = 'wait'";
    assert_eq!(r.execute(timer), Ok(1));
    let timers = "SELECT NAME, TIMER_NAME FROM tare.setup_timers";
    let expected = [
        "idle CYCLE",
        "wait MICROSECOND",
        "stage CYCLE",
        "statement CYCLE",
        "transaction CYCLE",
    ];
    assert_eq!(r.rows(timers), expected);
    drop(tare::table::wait(&TABLE, Operation::Insert));
    let is_short = "SELECT TIMER_WAIT / 1000 < 1000000000 FROM performance_schema.events_waits_history \
                 WHERE OPERATION = 'insert'";
    assert_eq!(r.rows(is_short), ["1"]);
}

#[test]
fn wrong_values_are_refused_and_change_nothing() {
    let r = start(Config::everything());
    // A thread for changes.
    tare::thread::set_processlist_id(1);
    let before = r.rows("SELECT * FROM performance_schema.setup_consumers");
    let errno = |sql: &str| r.execute(sql).unwrap_err().code;
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
        errno("UPDATE tare.setup_timers SET TIMER_NAME = 'SUNDIAL'"),
        1265
    );
    assert_eq!(
        errno("UPDATE tare.setup_timers SET TIMER_NAME = 'TICK'"),
        1683
    );
    assert_eq!(
        errno("DELETE FROM performance_schema.setup_consumers"),
        1142
    );
    // A server stores these; a segment does not.
    for table in [
        "setup_meters SET FREQUENCY = 1",
        "setup_loggers SET LEVEL = 'none'",
    ] {
        assert_eq!(errno(&format!("UPDATE performance_schema.{table}")), 1235);
    }
    assert_eq!(
        r.rows("SELECT * FROM performance_schema.setup_consumers"),
        before
    );
}
