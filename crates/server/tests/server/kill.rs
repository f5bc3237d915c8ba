//! A statement that is killed, timed out or abandoned ends soon, whatever it is in.
//!
//! Nothing here asserts how soon: that a statement ends at all says enough where it would go on for hours.
//! The times are printed: `TARE_TEST_LONG=1 cargo test --release -p tare-server --test server kill:: --
//! --nocapture` makes docs/security.md's. What other programs take of the processors delays the end, and
//! the statement's thread computes no longer for it: so its CPU time is printed, too. With
//! `TARE_TEST_TRANSACTION=1` each statement is part of a transaction, which is not refused memory.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::calls::{OWN, TEXTS, fill, functions, is_long};
use super::support::{Raw, Running, TIMEOUT, code, errno, exec, one, runs};
use mysql::Conn;
use mysql::prelude::Queryable;

/// Whatever MySQL's dialect has as an operator, over numbers as large as they get.
const OPERATORS: [&str; 24] = [
    "-t",
    "ABS(t - 1)",
    "CASE WHEN t THEN a.n ELSE 1 END",
    "CASE t WHEN a.n THEN 2 END",
    "NOT t",
    "a.n < t",
    "t * t",
    "t <=> a.n",
    "t AND a.n",
    "t BETWEEN 1 AND a.n",
    "t COLLATE utf8mb4_bin < CONCAT(t, 'b')",
    "t DIV a.n",
    "t IN (1, a.n)",
    "t IS TRUE",
    "t OR a.n = 0",
    "t XOR a.n",
    "t || a.n",
    "~t",
    "t = REVERSE(t)",
    "CONCAT(t, 'a') < CONCAT(t, 'b')",
    "t IN ('x', t)",
    "CAST(t AS DECIMAL(65,30)) * a.n / 7",
    "t + a.n",
    "HEX(t) | a.n",
];

/// A server with long texts.
fn running() -> Running {
    let running = Running::start();
    exec(&mut running.root(), "SET GLOBAL max_execution_time = 0");
    // A text has 64 MiB at most.
    fill(&running, if is_long() { 60_000_000 } else { 300_000 });
    running
}

/// A session that is told what to run, and tells how it ended, and when.
struct Worker {
    id: String,
    /// The kernel's number of the thread that runs its statements.
    thread: String,
    work: mpsc::Sender<String>,
    ended: mpsc::Receiver<(u16, Instant)>,
}

/// How long a statement went on after its KILL.
#[derive(Debug, Clone, Copy, Default)]
struct After {
    /// What its thread computed.
    cpu: Duration,
    elapsed: Duration,
}

impl std::fmt::Display for After {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |d: Duration| d.as_secs_f64() * 1000.0;
        write!(
            f,
            "{:7.1} ms of CPU, {:7.1} ms",
            ms(self.cpu),
            ms(self.elapsed)
        )
    }
}

impl Worker {
    fn of(running: &Running) -> Self {
        let mut conn = running.client();
        if std::env::var_os("TARE_TEST_TRANSACTION").is_some() {
            exec(&mut conn, "BEGIN");
        }
        let id = one(&mut conn, "SELECT CONNECTION_ID()");
        let thread = one(
            &mut conn,
            "SELECT THREAD_OS_ID FROM performance_schema.threads \
             WHERE THREAD_ID = PS_CURRENT_THREAD_ID()",
        );
        let (work, statements) = mpsc::channel::<String>();
        let (results, ended) = mpsc::channel();
        thread::spawn(move || {
            for sql in statements {
                let result = code(conn.query_drop(sql));
                if results.send((result, Instant::now())).is_err() {
                    return;
                }
            }
        });
        Self {
            id,
            thread,
            work,
            ended,
        }
    }

    /// What the thread has computed since it began. The server runs in this process.
    fn cpu(&self) -> Duration {
        let path = format!("/proc/self/task/{}/schedstat", self.thread);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let nanoseconds = text.split(' ').next().and_then(|n| n.parse().ok());
        Duration::from_nanos(nanoseconds.unwrap_or_else(|| panic!("{path}: {text}")))
    }

    /// Runs a statement, and kills it when it has run for a while: how it ended, and how long after the
    /// KILL.
    fn kill(&self, root: &mut Conn, sql: &str) -> (u16, After) {
        // What came too late for the one before.
        while self.ended.try_recv().is_ok() {}
        self.work.send(sql.to_owned()).expect("the worker lives");
        let since = Instant::now();
        while !runs(root, &self.id) {
            if let Ok((code, _)) = self.ended.try_recv() {
                return (code, After::default());
            }
            assert!(since.elapsed() < TIMEOUT, "{sql} begins");
        }
        thread::sleep(Duration::from_millis(if is_long() { 40 } else { 5 }));
        let (before, killed) = (self.cpu(), Instant::now());
        exec(root, &format!("KILL QUERY {}", self.id));
        let (code, ended) = self
            .ended
            .recv_timeout(TIMEOUT)
            .unwrap_or_else(|_| panic!("{sql} goes on"));
        let after = After {
            cpu: self.cpu().saturating_sub(before),
            elapsed: ended.saturating_duration_since(killed),
        };
        // The next statement is not told of it.
        self.work
            .send("SELECT 1".to_owned())
            .expect("the worker lives");
        let next = self.ended.recv_timeout(TIMEOUT).expect("an answer");
        assert_eq!(next.0, 0, "after the KILL of {sql}");
        (code, after)
    }
}

/// Statements that would go on for hours, each calling it again and again.
fn statements(call: &str, kind: &str, is_aggregate: bool) -> Vec<String> {
    let big = format!("(SELECT t FROM big WHERE kind = '{kind}') x");
    match is_aggregate {
        // An aggregate of an outer column would be the outer query's, and MAX of it one look at an index.
        true => vec![format!(
            "SELECT COUNT(v) FROM (SELECT (SELECT {} FROM n b, {big} WHERE b.n % 10 = 0 OR a.n = 0) \
             AS v FROM n a, n c, n d) e",
            call.replace("a.n", "b.n")
        )],
        false => vec![
            format!("SELECT COUNT({call}) FROM n a, n b, n c, {big}"),
            format!(
                "SELECT COUNT(v) FROM (SELECT {call} OVER (ORDER BY a.n) AS v FROM n a, n b, {big}) d"
            ),
        ],
    }
}

/// Kills statements that call a function, until one was: the longest that one took to end; `None`, where
/// all of them ended by themselves.
fn kill_all(
    worker: &Worker,
    root: &mut Conn,
    (name, calls, is_aggregate): (&str, Vec<String>, bool),
    slowest: &mut Vec<(After, String)>,
) -> bool {
    let mut killed = false;
    for call in calls {
        for (kind, _) in TEXTS {
            for sql in statements(&call, kind, is_aggregate) {
                let (code, after) = worker.kill(root, &sql);
                // A search cannot be ended: a text that is too long for it is refused.
                killed |= code == 3699;
                if code == 1317 {
                    killed = true;
                    slowest.push((after, format!("{call} of {kind}")));
                }
                assert_ne!(code, 0, "{name}: {sql} ends by itself");
                if killed && !is_long() {
                    return true;
                }
            }
        }
    }
    killed
}

/// Prints what took longest to end.
fn print_slowest(slowest: &mut [(After, String)]) {
    println!("{} statements killed", slowest.len());
    print_by("CPU", |after| after.cpu, slowest);
    print_by("wall", |after| after.elapsed, slowest);
}

fn print_by(name: &str, of: fn(&After) -> Duration, slowest: &mut [(After, String)]) {
    slowest.sort_by_key(|(after, _)| of(after));
    println!("the slowest to end, by {name} time:");
    for (after, call) in slowest.iter().rev().take(25) {
        println!("  {after}  {call}");
    }
    for part in [50, 90, 99] {
        if let Some((after, _)) = slowest.get(slowest.len() * part / 100) {
            println!("  {part} %: {:.1} ms", of(after).as_secs_f64() * 1000.0);
        }
    }
}

#[test]
fn every_function_ends_when_its_statement_is_killed() {
    let running = running();
    let (worker, mut root) = (Worker::of(&running), running.client());
    let mut slowest = Vec::new();
    let mut none = Vec::new();
    for (name, is_aggregate, calls) in functions() {
        if !kill_all(
            &worker,
            &mut root,
            (name, calls, is_aggregate),
            &mut slowest,
        ) {
            none.push(name);
        }
        if is_long() {
            let of_it = slowest.iter().filter(|(_, call)| call.starts_with(name));
            if let Some((after, call)) = of_it.max_by_key(|(after, _)| after.cpu) {
                println!("{after}  {call}");
            }
        }
    }
    for call in OWN.iter().chain(&OPERATORS) {
        if !kill_all(
            &worker,
            &mut root,
            (call, vec![(*call).to_owned()], false),
            &mut slowest,
        ) {
            none.push(call);
        }
    }
    print_slowest(&mut slowest);
    assert!(
        none.is_empty(),
        "no call of these could be killed: {none:?}"
    );
}

/// Statements that would go on for hours: each part of what runs them.
const ENDLESS: [&str; 7] = [
    // SQLite's machine.
    "SELECT COUNT(*) FROM n a, n b, n c, n d WHERE a.n + b.n > c.n * d.n",
    // A sort, by a collation of ours and by numbers.
    "SELECT COUNT(*) FROM (SELECT a.n FROM n a, n b, n c, n d ORDER BY CONCAT('é', b.n, c.n), a.n \
     LIMIT 100000000000) s",
    "SELECT MAX(s) FROM (SELECT a.n * 1.5 AS s FROM n a, n b, n c, n d ORDER BY 1 LIMIT 100000000000) s",
    // Groups.
    "SELECT COUNT(*) FROM (SELECT GROUP_CONCAT(b.n), SUM(c.n) FROM n a, n b, n c, n d GROUP BY a.n) s",
    "SELECT COUNT(DISTINCT a.n, b.n, c.n, d.n) FROM n a, n b, n c, n d",
    // It waits.
    "SELECT 7, SLEEP(100000)",
    // A client that takes in nothing: there are 64 GB to send.
    "SELECT REPEAT('x', 64000) FROM n a, n b",
];

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A client that sends a statement, and has read nothing of the answer.
fn sent(running: &Running, sql: &str) -> Raw {
    let mut raw = Raw::root(running);
    raw.query("USE test");
    assert_eq!(raw.read().expect("an answer")[0], 0, "OK");
    raw.query(sql);
    raw
}

/// Waits until it runs.
fn begun(running: &Running, root: &mut Conn, sql: &str) -> Raw {
    let raw = sent(running, sql);
    until(&format!("{sql} begins"), || runs(root, &raw.id.to_string()));
    raw
}

#[test]
fn a_statement_can_be_ended_wherever_it_is() {
    let running = running();
    let mut root = running.client();
    for sql in ENDLESS {
        for end in ["KILL QUERY", "KILL"] {
            let raw = begun(&running, &mut root, sql);
            thread::sleep(Duration::from_millis(10));
            let code = errno(&mut root, &format!("{end} {}", &raw.id.to_string()));
            assert_eq!(code, 0, "{end}: {sql}");
            until(&format!("{sql} ends by {end}"), || {
                !runs(&mut root, &raw.id.to_string())
            });
        }
        // A client that goes away.
        let raw = begun(&running, &mut root, sql);
        let id = raw.id.to_string();
        drop(raw);
        until(&format!("{sql} is abandoned"), || !runs(&mut root, &id));
        // And time.
        let hinted = sql.replacen("SELECT", "SELECT /*+ MAX_EXECUTION_TIME(20) */", 1);
        if sql.contains("REPEAT") {
            // The client takes in what was sent until then, and may be told no more.
            let mut raw = sent(&running, &hinted);
            thread::sleep(Duration::from_millis(10));
            while raw.read().is_some_and(|packet| packet[0] != 0xff) {}
        } else {
            // SLEEP by itself returns 1.
            let expected = if sql.contains("SLEEP") { 0 } else { 3024 };
            assert_eq!(errno(&mut running.client(), &hinted), expected, "{hinted}");
        }
    }
}

/// A killed statement outside of a transaction is refused memory. SQLite would give a transaction up for that.
#[test]
fn a_transaction_goes_on_when_a_statement_of_it_was_killed() {
    let running = Running::start();
    fill(&running, 1000);
    let (worker, mut root) = (Worker::of(&running), running.client());
    exec(&mut root, "CREATE TABLE long_one (t LONGTEXT)");
    exec(
        &mut root,
        "INSERT INTO long_one VALUES (REPEAT('a', 10000000))",
    );
    let run = |sql: &str| {
        worker.work.send(sql.to_owned()).expect("the worker lives");
        let ended = worker.ended.recv_timeout(TIMEOUT).expect("an answer");
        assert_eq!(ended.0, 0, "{sql}");
    };
    let endless = "SELECT COUNT(CONCAT(t, a.n)), MAX(t) FROM n a, n b, n c, long_one";
    assert_eq!(worker.kill(&mut root, endless).0, 1317);
    run("BEGIN");
    run("INSERT INTO n VALUES (5000)");
    assert_eq!(worker.kill(&mut root, endless).0, 1317);
    run("COMMIT");
    assert_eq!(one(&mut root, "SELECT MAX(n) FROM n"), "5000");
}

#[test]
fn a_statement_is_killed_while_it_waits_for_another_process() {
    let running = running();
    let mut root = running.client();
    // As a backup would: nobody may write.
    let file = running.directory.path().join("test.db");
    let other = rusqlite::Connection::open(&file).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let raw = begun(&running, &mut root, "UPDATE n SET n = n + 1000");
    exec(&mut root, &format!("KILL QUERY {}", &raw.id.to_string()));
    until("it ends", || !runs(&mut root, &raw.id.to_string()));
    drop(other);
    assert_eq!(one(&mut root, "SELECT MAX(n) FROM n"), "1000");
}

#[test]
fn translating_a_statement_counts_as_its_memory() {
    let running = Running::with(|c| c.max_statement_memory = 16 << 20);
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a INT, b INT)");
    let rows = |count: usize| format!("INSERT INTO t VALUES (1,2){}", ",(1,2)".repeat(count));
    exec(&mut conn, &rows(1000));
    for sql in [
        rows(1_000_000),
        format!("SELECT 1 IN (1{})", ",1".repeat(3_000_000)),
        format!("SELECT {}1", "1,".repeat(3_000_000)),
        format!("SET @a = CONCAT('a'{})", ",'a'".repeat(1_000_000)),
    ] {
        assert_eq!(errno(&mut conn, &sql), 1041, "{}", &sql[..40]);
        assert!(conn.prep(&sql).is_err(), "{}", &sql[..40]);
    }
    assert_eq!(one(&mut conn, "SELECT COUNT(*) FROM t"), "1001");
}
