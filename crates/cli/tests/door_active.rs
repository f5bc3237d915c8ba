//! The MySQL door at the level `active`: what a connection waits for is read from its thread's line, all
//! statements are counted, and levels change while statements run.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::thread::JoinHandle;

use mysql::Conn;
use mysql::prelude::Queryable;
use tare_reader::{ActiveThread, Classes, Segment, Target, active_threads};

use servers::{Engine, Server, Version, run};

const ROW: &str = "statement/tare/active";

struct Observer(Segment);

impl Observer {
    fn of(server: &Server) -> Self {
        Self(Segment::attach(Target::Pid(server.pid)).expect("attached"))
    }

    fn name(&self, class: usize) -> String {
        let classes = Classes::read(self.0.view());
        classes
            .get(class)
            .map(|class| class.name.to_string())
            .unwrap_or_default()
    }

    /// The thread of a connection, while it runs a statement.
    fn thread(&self, connection: u32) -> Option<ActiveThread> {
        let threads = active_threads(self.0.view()).active;
        let mut threads = threads.into_iter();
        threads.find(|thread| thread.processlist_id == u64::from(connection))
    }

    /// Waits until a connection is in a wait of a class that begins like this, and checks its statement.
    fn expect_wait(&self, connection: u32, wait: &str, text: &str) {
        let thread = support::wait_for(&format!("{text} in {wait}"), || {
            let thread = self.thread(connection)?;
            let class = self.name(thread.wait.as_ref()?.head.class);
            class.starts_with(wait).then_some(thread)
        });
        let statement = thread.statement.expect("a statement");
        assert_eq!(statement.text.as_deref(), Some(text));
        assert!(statement.head.start.is_some());
        assert!(
            self.name(statement.head.class)
                .starts_with("statement/sql/")
        );
        assert!(self.name(thread.stage).starts_with("stage/"), "{text}");
        // The system's thread, which sleeps.
        let stat = format!("/proc/{}/task/{}/stat", self.0.pid(), thread.os_id);
        let stat = std::fs::read_to_string(stat).expect("the thread lives");
        let state = stat.rsplit_once(')').expect("a state").1.trim_start();
        assert!(state.starts_with('S'), "{text}: {state}");
    }
}

/// Runs a statement on a connection of its own.
fn start(mut connection: Conn, text: &'static str) -> JoinHandle<Conn> {
    std::thread::spawn(move || {
        // A statement that was killed has failed.
        let _killed = connection.query_drop(text);
        connection
    })
}

fn sum(server: &Server, condition: &str) -> u64 {
    let rows = server.tare(&format!(
        "SELECT COALESCE(SUM(COUNT_STAR), 0) AS n \
         FROM performance_schema.events_statements_summary_global_by_event_name WHERE {condition}"
    ));
    let text = servers::json_text(&rows[0]["n"]);
    text.parse().expect("a number")
}

/// Checks that as many statements were counted as the server counts, and returns the number.
fn check_questions(server: &Server, connection: &mut Conn) -> u64 {
    let mut questions = || -> u64 {
        let row: Option<(String, u64)> = connection
            .query_first("SHOW GLOBAL STATUS LIKE 'Queries'")
            .expect("answered");
        row.expect("a row").1
    };
    let (before, counted) = (questions(), sum(server, "1 = 1"));
    for i in 0..50 {
        connection
            .query_drop(format!("SELECT {i}"))
            .expect("selected");
    }
    connection
        .query_drop("SELECT nonsense")
        .expect_err("it fails");
    let row: Option<(String, u64)> = connection
        .query_first("SHOW GLOBAL STATUS LIKE 'Queries'")
        .expect("answered");
    let queried = row.expect("a row").1 - before;
    assert_eq!(queried, 52);
    support::wait_for("the count of the last statement", || {
        (sum(server, "1 = 1") - counted == queried).then_some(())
    });
    queried
}

fn check(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Sampled("active"), &[]);
    let observer = Observer::of(&server);
    let mut connection = server.connect();
    run(
        &mut connection,
        &[
            "CREATE DATABASE moments",
            "CREATE TABLE moments.t (a BIGINT PRIMARY KEY, b BIGINT) ENGINE = InnoDB",
            "INSERT INTO moments.t VALUES (1, 1), (2, 2)",
        ],
    );
    let errors = || {
        let rows = server.tare(&format!(
            "SELECT SUM_ERRORS AS n, SUM_TIMER_WAIT > 0 AS timed \
             FROM performance_schema.events_statements_summary_global_by_event_name \
             WHERE EVENT_NAME = '{ROW}'"
        ));
        (rows[0]["n"].as_u64(), servers::json_text(&rows[0]["timed"]))
    };
    let before = errors().0.expect("a number");
    check_questions(&server, &mut connection);
    assert_eq!(errors(), (Some(before + 1), "1".into()));
    assert_eq!(sum(&server, &format!("EVENT_NAME <> '{ROW}'")), 0);

    // A condition.
    let other = server.connect();
    let id = other.connection_id();
    let kill = |connection: &mut Conn, id| run(connection, &[&format!("KILL QUERY {id}")]);
    let sleeps = start(other, "SELECT SLEEP(1000)");
    observer.expect_wait(id, "wait/synch/cond/sql/", "SELECT SLEEP(1000)");
    kill(&mut connection, id);
    let other = sleeps.join().expect("the sleeper");
    // A row.
    run(
        &mut connection,
        &["BEGIN", "UPDATE moments.t SET b = 3 WHERE a = 1"],
    );
    const UPDATE: &str = "UPDATE moments.t SET b = 4 WHERE a = 1";
    let updates = start(other, UPDATE);
    observer.expect_wait(id, "wait/io/table/sql/handler", UPDATE);
    kill(&mut connection, id);
    let other = updates.join().expect("the updater");
    // A table, which the transaction has used. 5.6 does not report metadata locks.
    const ALTER: &str = "ALTER TABLE moments.t ADD COLUMN c BIGINT";
    let alters = start(other, ALTER);
    let lock = match version {
        Version::Mysql56 => "wait/synch/cond/sql/MDL_context::COND_wait_status",
        _ => "wait/lock/metadata/sql/mdl",
    };
    observer.expect_wait(id, lock, ALTER);
    kill(&mut connection, id);
    let mut other = alters.join().expect("the one who alters");
    run(&mut connection, &["ROLLBACK"]);

    // Statements that run while the level changes count once, as ones of the level `active`.
    let count = || {
        (
            sum(&server, &format!("EVENT_NAME <> '{ROW}'")),
            sum(&server, "1 = 1"),
        )
    };
    other.query_drop("DO 0").expect("done");
    for level in ["every", "active"] {
        let (exact, all) = count();
        let sleeps = start(other, "SELECT SLEEP(1000)");
        support::wait_for("a sleeping thread", || {
            let rows = server.tare(
                "SELECT COUNT(*) AS n FROM performance_schema.threads \
                 WHERE PROCESSLIST_STATE = 'User sleep'",
            );
            (rows[0]["n"].as_u64() == Some(1)).then_some(())
        });
        server.tare(&format!(
            "UPDATE tare.setup_sampling SET sampling = '{level}'"
        ));
        kill(&mut connection, id);
        other = sleeps.join().expect("the sleeper");
        other.query_drop("DO 0").expect("done");
        // The sleep, KILL and DO.
        support::wait_for("the statements of the switch", || {
            (count().1 == all + 3).then_some(())
        });
        let of_exact = if level == "every" { 2 } else { 0 };
        assert_eq!(count().0, exact + of_exact, "at {level}");
        check_questions(&server, &mut connection);
    }
    server.stop();
}

/// In MariaDB's pool a session's statements run on one thread after another.
#[test]
fn a_session_of_a_pool_has_the_thread_that_serves_it() {
    let pool = ["--thread-handling=pool-of-threads", "--thread-pool-size=1"];
    let server = Server::start(Version::Mariadb, Engine::Sampled("active"), &pool);
    let observer = Observer::of(&server);
    let mut connection = server.connect();
    let mut others: Vec<Conn> = (0..4).map(|_| server.connect()).collect();
    for _ in 0..3 {
        let ids: Vec<u32> = others.iter().map(Conn::connection_id).collect();
        let computing: Vec<_> = (others.drain(..))
            .map(|other| start(other, "SELECT BENCHMARK(100000000000, MD5('x'))"))
            .collect();
        // A session may have the statement of the round before, and its thread, for a moment. And a thread that
        // does not compute would wait until the server ends.
        let mut first: Vec<(u64, u64)> = Vec::new();
        support::wait_for("a thread that computes for each", || {
            let mut threads: Vec<u64> = (ids.iter())
                .map(|&id| Some(observer.thread(id)?.os_id))
                .collect::<Option<_>>()?;
            threads.sort_unstable();
            threads.dedup();
            let now: Vec<(u64, u64)> = (threads.into_iter())
                .map(|thread| (thread, cpu_ticks(&server, thread)))
                .collect();
            let have_computed = now.len() == ids.len()
                && now.len() == first.len()
                && (first.iter().zip(&now)).all(|(first, now)| now.0 == first.0 && now.1 > first.1);
            if now.len() != first.len() || first.iter().zip(&now).any(|(a, b)| a.0 != b.0) {
                first = now;
            }
            have_computed.then_some(())
        });
        for id in ids {
            run(&mut connection, &[&format!("KILL QUERY {id}")]);
        }
        others.extend(computing.into_iter().map(|one| one.join().expect("ended")));
    }
    server.stop();
}

/// The CPU time in user mode of a thread of the server, in ticks.
fn cpu_ticks(server: &Server, thread: u64) -> u64 {
    let stat = format!("/proc/{}/task/{thread}/stat", server.pid);
    let stat = std::fs::read_to_string(stat).expect("the thread lives");
    let fields = stat.rsplit_once(')').expect("a name").1;
    let utime = fields.split_whitespace().nth(11).expect("utime");
    utime.parse().expect("a number")
}

#[test]
fn mysql_9_7() {
    check(Version::Mysql97);
}

#[test]
fn mysql_5_7() {
    check(Version::Mysql57);
}

#[test]
fn mariadb_10_11() {
    check(Version::Mariadb);
}

#[test]
fn mariadb_11_4() {
    check(Version::Mariadb114);
}

#[test]
#[ignore = "make test-long runs it"]
fn mariadb_11_8() {
    check(Version::Mariadb118);
}

#[test]
#[ignore = "make test-long runs it"]
fn mysql_8_0() {
    check(Version::Mysql80);
}

#[test]
#[ignore = "make test-long runs it"]
fn mysql_5_6() {
    check(Version::Mysql56);
}
