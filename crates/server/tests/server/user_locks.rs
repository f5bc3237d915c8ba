//! GET_LOCK: its locks are metadata locks, and its waits are visible. The values are MySQL 9.7.4's.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

#[cfg(feature = "instrument")]
use super::support::rows;
use super::support::{Running, TIMEOUT, code, errno, exec, one};
use mysql::Conn;
use mysql::prelude::Queryable;

/// A statement that runs in a thread. Returns its result, and the connection.
struct Waiter {
    id: String,
    /// All servers of a process share performance_schema, so that only this number names the session there.
    thread: String,
    ended: mpsc::Receiver<(u16, Conn)>,
}

impl Waiter {
    fn start(mut conn: Conn, sql: &str) -> Self {
        let id = one(&mut conn, "SELECT CONNECTION_ID()");
        let thread = one(&mut conn, "SELECT ps_current_thread_id()");
        let (sender, ended) = mpsc::channel();
        let sql = sql.to_owned();
        thread::spawn(move || {
            let code = code(conn.query_drop(sql));
            let _ = sender.send((code, conn));
        });
        Self { id, thread, ended }
    }

    fn wait_for_state(&self, root: &mut Conn, state: &str) {
        let since = Instant::now();
        let query = format!(
            "SELECT COUNT(*) FROM performance_schema.threads WHERE THREAD_ID = {} AND \
             PROCESSLIST_STATE = '{state}'",
            self.thread
        );
        while one(root, &query) != "1" {
            assert!(
                since.elapsed() < TIMEOUT,
                "connection {} is not in {state}",
                self.id
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn end(self) -> (u16, Conn) {
        self.ended.recv_timeout(TIMEOUT).expect("it ends")
    }
}

#[cfg(feature = "instrument")]
#[test]
fn locks_and_their_waiters_are_metadata_locks() {
    for running in [Running::start(), Running::pool()] {
        let mut holder = running.client();
        let waiting = running.client();
        let mut observer = running.root();
        let id = one(&mut holder, "SELECT ps_current_thread_id()");
        assert_eq!(one(&mut holder, "SELECT GET_LOCK('My Lock', 0)"), "1");
        assert_eq!(one(&mut holder, "SELECT GET_LOCK('my lock', 0)"), "1");
        let waiter = Waiter::start(waiting, "SELECT GET_LOCK('MY LOCK', -1)");
        waiter.wait_for_state(&mut observer, "User lock");
        let waiter_thread = waiter.thread.clone();
        // Each session has one row, however often it has taken the lock.
        let locks = |observer: &mut Conn| {
            rows(
                observer,
                "SELECT OBJECT_SCHEMA, OBJECT_NAME, COLUMN_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS, \
                 OWNER_THREAD_ID FROM performance_schema.metadata_locks \
                 WHERE OBJECT_TYPE = 'USER LEVEL LOCK' AND OBJECT_NAME = 'my lock' ORDER BY LOCK_STATUS",
            )
        };
        let row = |status: &str, thread: &str| -> Vec<String> {
            [
                "NULL",
                "my lock",
                "NULL",
                "EXCLUSIVE",
                "EXPLICIT",
                status,
                thread,
            ]
            .map(str::to_owned)
            .into()
        };
        let both = [row("GRANTED", &id), row("PENDING", &waiter_thread)];
        assert_eq!(locks(&mut observer), both);
        let waits = format!(
            "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, OPERATION FROM \
             performance_schema.events_waits_current WHERE THREAD_ID = {waiter_thread} \
             AND EVENT_NAME = 'wait/lock/metadata/sql/mdl' AND END_EVENT_ID IS NULL"
        );
        let enabled = running.enable("setup_consumers", "events_waits_current");
        assert_eq!(one(&mut holder, "SELECT RELEASE_LOCK('my lock')"), "1");
        assert_eq!(one(&mut holder, "SELECT RELEASE_LOCK('my lock')"), "1");
        let (code, mut waiting) = waiter.end();
        assert_eq!(code, 0);
        assert_eq!(locks(&mut observer), [row("GRANTED", &waiter_thread)]);
        // With its consumer on, the wait is an event with its object.
        let waiter = Waiter::start(holder, "SET @taken = GET_LOCK('my lock', -1)");
        waiter.wait_for_state(&mut observer, "User lock");
        let pending = waits.replace(&waiter_thread, &id);
        let wait = one(&mut observer, &pending);
        assert_eq!(wait, "USER LEVEL LOCK|NULL|my lock|metadata lock");
        drop(enabled);
        // A killed wait leaves no row, and neither does a session that ends.
        exec(&mut observer, &format!("KILL QUERY {}", waiter.id));
        let (code, _holder) = waiter.end();
        assert_eq!(code, 1317);
        assert_eq!(locks(&mut observer), [row("GRANTED", &waiter_thread)]);
        exec(&mut waiting, "DO 0");
        drop(waiting);
        let since = Instant::now();
        while !locks(&mut observer).is_empty() {
            assert!(since.elapsed() < TIMEOUT, "a lock outlives its session");
        }
    }
}

#[test]
fn sessions_that_wait_for_one_another_are_a_deadlock() {
    let running = Running::start();
    let mut observer = running.root();
    let [mut a, mut b] = [running.client(), running.client()];
    assert_eq!(one(&mut a, "SELECT GET_LOCK('one', 0)"), "1");
    assert_eq!(one(&mut b, "SELECT GET_LOCK('two', 0)"), "1");
    let waiter = Waiter::start(a, "SELECT GET_LOCK('two', -1)");
    waiter.wait_for_state(&mut observer, "User lock");
    assert_eq!(errno(&mut b, "SELECT GET_LOCK('one', -1)"), 3058);
    assert_eq!(one(&mut b, "SELECT RELEASE_ALL_LOCKS()"), "1");
    assert_eq!(waiter.end().0, 0);
}

#[test]
fn a_sleep_is_a_state() {
    let running = Running::start();
    let mut observer = running.root();
    let waiter = Waiter::start(running.client(), "SELECT SLEEP(100000)");
    waiter.wait_for_state(&mut observer, "User sleep");
    exec(&mut observer, &format!("KILL QUERY {}", waiter.id));
    assert_eq!(waiter.end().0, 0);
}

#[test]
fn names_and_timeouts_are_read_as_mysql_does() {
    let running = Running::start();
    let [mut a, mut b] = [running.client(), running.client()];
    assert_eq!(one(&mut a, "SELECT GET_LOCK('held', 0)"), "1");
    for (call, value) in [
        ("GET_LOCK('free', NULL)", "1"),
        ("GET_LOCK('held', NULL)", "0"),
        ("GET_LOCK('held', 0.4)", "0"),
        ("GET_LOCK('held', 'x')", "0"),
        ("GET_LOCK('free', -1)", "1"),
        ("RELEASE_LOCK('held')", "0"),
        ("RELEASE_LOCK('none')", "NULL"),
        ("IS_FREE_LOCK('HELD')", "0"),
        ("RELEASE_ALL_LOCKS()", "2"),
    ] {
        assert_eq!(one(&mut b, &format!("SELECT {call}")), value, "{call}");
    }
    let long = "a".repeat(65);
    for (call, number, message) in [
        (
            "GET_LOCK(NULL, 0)".to_owned(),
            3057,
            "Incorrect user-level lock name 'NULL'. The name is empty, NULL, or can not be expressed in the \
             current character-set."
                .to_owned(),
        ),
        (
            "IS_FREE_LOCK('')".to_owned(),
            3057,
            "Incorrect user-level lock name ''. The name is empty, NULL, or can not be expressed in the \
             current character-set."
                .to_owned(),
        ),
        (
            format!("GET_LOCK('{long}', 0)"),
            4163,
            format!("User-level lock name '{long}' should not exceed 64 characters."),
        ),
    ] {
        match b.query_drop(format!("SELECT {call}")) {
            Err(mysql::Error::MySqlError(e)) => {
                assert_eq!((e.code, e.message), (number, message), "{call}");
            }
            other => panic!("{call}: {other:?}"),
        }
    }
}
