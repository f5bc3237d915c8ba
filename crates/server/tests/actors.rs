//! setup_actors, setup_threads and threads.INSTRUMENTED: which threads' events are counted.

#![cfg(feature = "instrument")]

mod support;

use std::sync::mpsc;

use support::{Running, start};
use tare::{Config, Operation};

tare::classes! {
    static TABLE: TableIo = "wait/io/table/test/handler";
    static WORKER: Thread = "thread/test/worker", user;
    static ONLY: Thread = "thread/test/only", singleton;
}

/// A new thread waits three times. Returns its INSTRUMENTED and HISTORY, and the waits in its history.
fn thread(r: &Running, begin: impl FnOnce() + Send) -> String {
    let (send_id, ids) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            tare::thread::register(&WORKER);
            begin();
            (0..3).for_each(|_| drop(tare::table::wait(&TABLE, Operation::Fetch)));
            send_id.send(tare::thread::id()).unwrap();
            // It ends when the other end is dropped.
            let _ = released.recv();
        });
        let id = ids.recv().unwrap();
        let flags = r.one(&format!(
            "SELECT INSTRUMENTED, HISTORY, (SELECT COUNT(*) FROM \
             performance_schema.events_waits_history WHERE THREAD_ID = {id}) FROM \
             performance_schema.threads WHERE THREAD_ID = {id}"
        ));
        drop(release);
        worker.join().unwrap();
        flags
    })
}

/// The same for a connection of an account.
fn connection(r: &Running, user: &str, host: &str) -> String {
    thread(r, || tare::thread::set_account(user, host))
}

fn count(r: &Running) -> i64 {
    r.number(
        "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
         WHERE EVENT_NAME = 'wait/io/table/test/handler'",
    )
}

const RULES: &str = "SELECT HOST, USER, ROLE, ENABLED, HISTORY FROM performance_schema.setup_actors \
                     ORDER BY HOST, USER";

#[test]
fn the_best_matching_actor_rule_decides_what_is_counted() {
    let r = start(Config::everything());
    assert_eq!(r.rows(RULES), ["% % % YES YES"]);
    assert_eq!(connection(&r, "alice", "h1"), "YES YES 3");
    assert_eq!(count(&r), 3);

    let set = |sql: &str| r.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    set(
        "UPDATE performance_schema.setup_actors SET ENABLED = 'NO', HISTORY = 'NO' WHERE USER = '%'",
    );
    assert_eq!(connection(&r, "alice", "h1"), "NO NO 0");
    assert_eq!(count(&r), 3);
    set("INSERT INTO performance_schema.setup_actors (HOST, HISTORY) VALUES ('h1', 'NO')");
    set(
        "INSERT INTO performance_schema.setup_actors (USER, ENABLED, HISTORY) VALUES ('bob', 'NO', 'YES')",
    );
    set("INSERT INTO performance_schema.setup_actors VALUES ('h1', 'carol', '%', 'YES', 'YES')");
    assert_eq!(
        r.rows(RULES),
        [
            "% % % NO NO",
            "% bob % NO YES",
            "h1 % % YES NO",
            "h1 carol % YES YES"
        ]
    );
    // By host, by user (which precedes the host), exactly, not at all.
    assert_eq!(connection(&r, "alice", "h1"), "YES NO 0");
    assert_eq!(count(&r), 6);
    assert_eq!(connection(&r, "bob", "h1"), "NO YES 0");
    assert_eq!(count(&r), 6);
    assert_eq!(connection(&r, "carol", "h1"), "YES YES 3");
    assert_eq!(count(&r), 9);
    assert_eq!(connection(&r, "carol", "h2"), "NO NO 0");
    assert_eq!(count(&r), 9);

    set("DELETE FROM performance_schema.setup_actors WHERE USER = 'bob'");
    assert_eq!(connection(&r, "bob", "h1"), "YES NO 0");
    assert_eq!(count(&r), 12);
    r.truncate("setup_actors");
    assert!(r.rows(RULES).is_empty());
    assert_eq!(connection(&r, "carol", "h1"), "NO NO 0");
    assert_eq!(count(&r), 12);
    set("INSERT INTO performance_schema.setup_actors (HOST) VALUES ('%')");
    assert_eq!(connection(&r, "carol", "h1"), "YES YES 3");
    assert_eq!(count(&r), 15);
}

#[test]
fn wrong_actor_rules_are_refused() {
    let mut config = Config::everything();
    config.limits.actors = 2;
    let r = start(config);
    let errno = |sql: &str| r.execute(sql).unwrap_err().code;
    let insert = "INSERT INTO performance_schema.setup_actors";
    assert_eq!(errno(&format!("{insert} (HOST) VALUES ('%')")), 1022);
    assert_eq!(
        errno(&format!("{insert} (USER) VALUES ('{}')", "x".repeat(33))),
        1406
    );
    assert_eq!(
        errno(&format!("{insert} (USER, ENABLED) VALUES ('x', 'MAYBE')")),
        1265
    );
    assert_eq!(
        errno("UPDATE performance_schema.setup_actors SET USER = 'x'"),
        1683
    );
    r.execute(&format!("{insert} (USER) VALUES ('x')")).unwrap();
    assert_eq!(errno(&format!("{insert} (USER) VALUES ('y')")), 1114);
    assert_eq!(r.rows(RULES).len(), 2);
    // The place of a deleted row is free again.
    r.execute("DELETE FROM performance_schema.setup_actors WHERE USER = '%'")
        .unwrap();
    r.execute(&format!("{insert} (USER) VALUES ('y')")).unwrap();
    assert_eq!(r.rows(RULES), ["% x % YES YES", "% y % YES YES"]);
}

#[test]
fn threads_without_an_account_start_with_their_class_settings() {
    let r = start(Config::everything());
    let rows = "SELECT NAME, ENABLED, HISTORY, PROPERTIES, VOLATILITY FROM performance_schema.setup_threads \
                WHERE NAME LIKE 'thread/test/%' ORDER BY 1";
    assert_eq!(
        r.rows(rows),
        [
            "thread/test/only YES YES singleton 0",
            "thread/test/worker YES YES user 0"
        ]
    );
    let background = || thread(&r, || ());
    assert_eq!(background(), "YES YES 3");
    let set = |columns: &str| {
        let changed = r.execute(&format!(
            "UPDATE performance_schema.setup_threads SET {columns} WHERE NAME = 'thread/test/worker'"
        ));
        assert_eq!(changed, Ok(1), "{columns}");
    };
    set("HISTORY = 'NO'");
    assert_eq!(background(), "YES NO 0");
    assert_eq!(count(&r), 6);
    set("ENABLED = 'NO'");
    assert_eq!(background(), "NO NO 0");
    assert_eq!(count(&r), 6);
    // For a connection, setup_actors decides.
    assert_eq!(connection(&r, "alice", "h1"), "YES YES 3");
    assert_eq!(count(&r), 9);
    set("ENABLED = 'YES', HISTORY = 'YES'");
    assert_eq!(background(), "YES YES 3");
    let errno = r
        .execute("UPDATE performance_schema.setup_threads SET NAME = 'x'")
        .unwrap_err()
        .code;
    assert_eq!(errno, 1683);
}

#[test]
fn a_running_thread_is_switched_at_once() {
    let r = start(Config::everything());
    let wait = || drop(tare::table::wait(&TABLE, Operation::Fetch));
    let id = tare::thread::id();
    let set = |columns: &str| {
        let changed = r.execute(&format!(
            "UPDATE performance_schema.threads SET {columns} WHERE THREAD_ID = {id}"
        ));
        assert_eq!(changed, Ok(1), "{columns}");
    };
    let history = || {
        r.number(&format!(
            "SELECT COUNT(*) FROM performance_schema.events_waits_history WHERE THREAD_ID = {id}"
        ))
    };
    let long = || r.number("SELECT COUNT(*) FROM performance_schema.events_waits_history_long");
    wait();
    assert_eq!((count(&r), history(), long()), (1, 1, 1));
    set("HISTORY = 'NO'");
    wait();
    assert_eq!((count(&r), history(), long()), (2, 1, 1));
    set("INSTRUMENTED = 'NO'");
    wait();
    assert_eq!((count(&r), history(), long()), (2, 1, 1));
    set("INSTRUMENTED = 'YES', HISTORY = 'YES'");
    wait();
    assert_eq!((count(&r), history(), long()), (3, 2, 2));
}

#[test]
fn consumers_form_mysqls_hierarchy() {
    let r = start(Config::everything());
    let consumer = |name: &str, on: &str| {
        let sql = format!(
            "UPDATE performance_schema.setup_consumers SET ENABLED = '{on}' WHERE NAME = '{name}'"
        );
        assert_eq!(r.execute(&sql), Ok(1), "{sql}");
    };
    let id = tare::thread::id();
    let mut before = [0; 4];
    // One wait: its increments of the global sum, of the history and of the long history, and whether it is
    // the current one.
    let mut wait = || {
        r.truncate("events_waits_current");
        drop(tare::table::wait(&TABLE, Operation::Fetch));
        let rows = |table: &str| {
            r.number(&format!(
                "SELECT COUNT(*) FROM performance_schema.{table} WHERE THREAD_ID = {id}"
            ))
        };
        let now = [
            count(&r),
            rows("events_waits_history"),
            rows("events_waits_history_long"),
            rows("events_waits_current"),
        ];
        let added = [
            now[0] - before[0],
            now[1] - before[1],
            now[2] - before[2],
            now[3],
        ];
        before = now;
        added
    };
    assert_eq!(wait(), [1, 1, 1, 1]);
    consumer("events_waits_history", "NO");
    assert_eq!(wait(), [1, 0, 1, 1]);
    consumer("events_waits_history_long", "NO");
    assert_eq!(wait(), [1, 0, 0, 1]);
    consumer("events_waits_history", "YES");
    consumer("events_waits_history_long", "YES");
    // History needs the current event.
    consumer("events_waits_current", "NO");
    assert_eq!(wait(), [1, 0, 0, 0]);
    consumer("events_waits_current", "YES");
    // Without thread_instrumentation there are no events of single threads. Sums continue, except those by
    // thread, account, user and host.
    let still = || -> [i64; 4] {
        ["thread", "account", "user", "host"].map(|scope| {
            r.number(&format!(
                "SELECT SUM(COUNT_STAR) FROM performance_schema.events_waits_summary_by_{scope}_by_event_name"
            ))
        })
    };
    consumer("thread_instrumentation", "NO");
    let then = still();
    assert!(then.iter().all(|n| *n >= 1), "{then:?}");
    assert_eq!(wait(), [1, 0, 0, 0]);
    assert_eq!(still(), then);
    consumer("global_instrumentation", "NO");
    assert_eq!(wait(), [0, 0, 0, 0]);
    consumer("thread_instrumentation", "YES");
    assert_eq!(wait(), [0, 0, 0, 0]);
    consumer("global_instrumentation", "YES");
    assert_eq!(wait(), [1, 1, 1, 1]);
}
