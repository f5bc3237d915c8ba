//! Statements that are killed, timed out or abandoned end soon, whatever runs them.
//!
//! The tests assert only that a statement ends that would go on for hours.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::support::{Raw, Running, TIMEOUT, code, errno, exec, one, runs, until};
use mysql::Conn;
use mysql::prelude::Queryable;

/// A server with a table `n` of a thousand numbers.
fn running() -> Running {
    let running = Running::start();
    exec(&mut running.root(), "SET GLOBAL max_execution_time = 0");
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE n (n INT PRIMARY KEY)");
    let numbers: Vec<String> = (1..=1000).map(|n| format!("({n})")).collect();
    let insert = format!("INSERT INTO n VALUES {}", numbers.join(","));
    exec(&mut conn, &insert);
    running
}

/// A session in a thread that runs statements and reports how each ended.
struct Worker {
    id: String,
    statements: mpsc::Sender<String>,
    codes: mpsc::Receiver<u16>,
}

impl Worker {
    fn start(running: &Running) -> Self {
        let mut conn = running.client();
        let id = one(&mut conn, "SELECT CONNECTION_ID()");
        let (statements, received) = mpsc::channel::<String>();
        let (sender, codes) = mpsc::channel();
        thread::spawn(move || {
            for sql in received {
                if sender.send(code(conn.query_drop(sql))).is_err() {
                    return;
                }
            }
        });
        Self {
            id,
            statements,
            codes,
        }
    }

    fn run(&self, sql: &str) -> u16 {
        self.statements.send(sql.to_owned()).expect("it lives");
        self.codes.recv_timeout(TIMEOUT).expect("an answer")
    }

    /// Kills a statement after it has run for a while. The next one is not interrupted.
    fn kill(&self, root: &mut Conn, sql: &str) -> u16 {
        self.statements.send(sql.to_owned()).expect("it lives");
        until(&format!("{sql} begins"), || runs(root, &self.id));
        thread::sleep(Duration::from_millis(5));
        exec(root, &format!("KILL QUERY {}", self.id));
        let code = self.codes.recv_timeout(TIMEOUT);
        assert_eq!(self.run("SELECT 1"), 0, "after the KILL of {sql}");
        code.unwrap_or_else(|_| panic!("{sql} goes on"))
    }
}

/// Statements that would go on for hours, in each part that runs them.
const ENDLESS: [&str; 9] = [
    // SQLite's virtual machine.
    "SELECT COUNT(*) FROM n a, n b, n c, n d WHERE a.n + b.n > c.n * d.n",
    // A sort, by our collation and by numbers.
    "SELECT COUNT(*) FROM (SELECT a.n FROM n a, n b, n c, n d ORDER BY CONCAT('é', b.n, c.n), a.n \
     LIMIT 100000000000) s",
    "SELECT MAX(s) FROM (SELECT a.n * 1.5 AS s FROM n a, n b, n c, n d ORDER BY 1 LIMIT 100000000000) s",
    // A GROUP BY.
    "SELECT COUNT(*) FROM (SELECT GROUP_CONCAT(b.n), SUM(c.n) FROM n a, n b, n c, n d GROUP BY a.n) s",
    "SELECT COUNT(DISTINCT a.n, b.n, c.n, d.n) FROM n a, n b, n c, n d",
    // Calls and comparisons of long texts, which cannot be interrupted themselves.
    "SELECT COUNT(REPLACE(UPPER(REPEAT('ab', a.n * 1000)), 'B', 'c')) FROM n a, n b, n c",
    "SELECT COUNT(REPEAT('%a', 1000000) LIKE REPEAT('%a', 500000)) FROM n a, n b, n c",
    // A sleep.
    "SELECT 7, SLEEP(100000)",
    // A write to a client that reads nothing: the result has 64 GB.
    "SELECT REPEAT('x', 64000) FROM n a, n b",
];

/// A client that has sent a statement and read nothing of the answer.
fn sent(running: &Running, sql: &str) -> Raw {
    let mut raw = Raw::root(running);
    raw.query("USE test");
    assert_eq!(raw.read().expect("an answer")[0], 0, "OK");
    raw.query(sql);
    raw
}

/// Waits until the statement runs.
fn begun(running: &Running, root: &mut Conn, sql: &str) -> Raw {
    let raw = sent(running, sql);
    until(&format!("{sql} begins"), || runs(root, &raw.id.to_string()));
    raw
}

#[test]
fn statements_can_be_killed_at_every_point() {
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
        // A client disconnects.
        let raw = begun(&running, &mut root, sql);
        let id = raw.id.to_string();
        drop(raw);
        until(&format!("{sql} is abandoned"), || !runs(&mut root, &id));
        // max_execution_time.
        let hinted = sql.replacen("SELECT", "SELECT /*+ MAX_EXECUTION_TIME(20) */", 1);
        if sql.contains("REPEAT") {
            // The client reads what was sent until then; the error may not reach it.
            let mut raw = sent(&running, &hinted);
            thread::sleep(Duration::from_millis(10));
            while raw.read().is_some_and(|packet| packet[0] != 0xff) {}
        } else {
            // A statement that is only SLEEP returns 1.
            let expected = if sql.contains("SLEEP") { 0 } else { 3024 };
            assert_eq!(errno(&mut running.client(), &hinted), expected, "{hinted}");
        }
    }
}

#[test]
fn a_transaction_continues_after_a_killed_statement() {
    let running = running();
    let (worker, mut root) = (Worker::start(&running), running.client());
    exec(&mut root, "CREATE TABLE long_one (t LONGTEXT)");
    exec(
        &mut root,
        "INSERT INTO long_one VALUES (REPEAT('a', 10000000))",
    );
    let endless = "SELECT COUNT(CONCAT(t, a.n)), MAX(t) FROM n a, n b, n c, long_one";
    assert_eq!(worker.run("BEGIN"), 0);
    assert_eq!(worker.run("INSERT INTO n VALUES (5000)"), 0);
    assert_eq!(worker.kill(&mut root, endless), 1317);
    assert_eq!(worker.run("COMMIT"), 0);
    assert_eq!(one(&mut root, "SELECT MAX(n) FROM n"), "5000");
}

#[test]
fn a_statement_is_killed_while_it_waits_for_another_process() {
    let running = running();
    let mut root = running.client();
    // A backup takes a write lock in the same way.
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

/// The packets of an answer up to its end, each by its first byte: 0 is OK, 254 the end of rows, 255 an error.
fn heads(raw: &mut Raw) -> Vec<u8> {
    std::iter::from_fn(|| raw.read()).map(|p| p[0]).collect()
}

/// The expected answers are MySQL 9.7.4's.
#[test]
fn a_killed_session_is_closed_without_an_answer() {
    for running in [running(), Running::pool()] {
        let mut root = running.client();
        exec(&mut root, "CREATE TABLE IF NOT EXISTS slept (n INT)");
        for sql in [
            "SELECT SLEEP(100000)",
            "SELECT SLEEP(100000) FROM (SELECT 1 UNION SELECT 2) d",
            "DO SLEEP(100000)",
            "SET @a = SLEEP(100000)",
            "SELECT SLEEP(100000) INTO @a",
            "INSERT INTO slept SELECT SLEEP(100000)",
            "SELECT SLEEP(100000); INSERT INTO slept VALUES (1)",
            "CALL sys.ps_statement_avg_latency_histogram(); SELECT SLEEP(100000)",
        ] {
            let mut raw = begun(&running, &mut root, sql);
            until("it sleeps", || {
                let sleeping = "SELECT COUNT(*) FROM information_schema.processlist \
                                WHERE info LIKE '%SLEEP(100000)%' AND id <> CONNECTION_ID()";
                one(&mut root, sleeping) == "1"
            });
            exec(&mut root, &format!("KILL {}", raw.id));
            let before = usize::from(sql.starts_with("CALL")) * 1000;
            assert!(heads(&mut raw).len() <= before, "{sql}");
        }
        assert_eq!(one(&mut root, "SELECT COUNT(*) FROM slept"), "0");
    }
}

/// The expected answers are MySQL 9.7.4's.
#[test]
fn an_interrupted_sleep_is_the_last_row() {
    let running = running();
    let mut root = running.client();
    let two = "FROM (SELECT 1 UNION SELECT 2) d";
    for (sql, packets) in [
        // Columns, their end, a row, and the end. An error replaces rows that were not sent.
        (
            "SELECT 7, SLEEP(100000)".to_owned(),
            vec![2, 3, 3, 254, 1, 254],
        ),
        (format!("SELECT SLEEP(100000) {two}"), vec![255]),
        ("DO SLEEP(100000)".to_owned(), vec![0]),
        ("SET @a = SLEEP(100000)".to_owned(), vec![0]),
    ] {
        let mut raw = begun(&running, &mut root, &sql);
        thread::sleep(Duration::from_millis(10));
        exec(&mut root, &format!("KILL QUERY {}", raw.id));
        let answer: Vec<u8> = packets
            .iter()
            .map_while(|_| raw.read())
            .map(|p| p[0])
            .collect();
        assert_eq!(answer, packets, "{sql}");
        assert!(raw.pings(), "{sql}");
    }
    let limited = "SELECT /*+ MAX_EXECUTION_TIME(20) */ SLEEP(100000)";
    assert_eq!(one(&mut root, limited), "1");
    assert_eq!(errno(&mut root, &format!("{limited} {two}")), 3024);
}

/// The expected answers are MySQL 9.7.4's.
#[test]
fn a_session_that_kills_itself_gets_1317() {
    let running = Running::start();
    let mut raw = Raw::root(&running);
    raw.query("KILL QUERY CONNECTION_ID(); SELECT 2");
    assert_eq!(raw.error(), 1317);
    assert!(raw.pings());
    raw.query("KILL CONNECTION_ID()");
    assert_eq!(raw.error(), 1317);
    assert_eq!(raw.read(), None, "it is closed");
    let mut root = running.root();
    for (id, number) in [
        ("NULL", "0"),
        ("'a'", "0"),
        ("'99999'", "99999"),
        ("-1", "4294967295"),
        ("99998 + 1.5", "100000"),
    ] {
        let error = root.query_drop(format!("KILL QUERY {id}"));
        let text = format!("ERROR 1094 (HY000): Unknown thread id: {number}");
        let error = error.expect_err("nobody").to_string();
        assert!(error.contains(&text), "{error}");
    }
}
