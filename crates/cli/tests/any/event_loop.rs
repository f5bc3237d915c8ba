//! Redis executes the commands of all clients one after the other: the stages of a command, and who holds the
//! event loop while others wait.

use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value as Json;

use super::client::{Client, words};
use super::live::Live;
use super::server::Server;
use super::support::{Process, wait_for};
use super::tools::{line, page};
use super::{number, rows, tls};

/// What a session waits for if its command was not read yet.
const WAIT: &str = "wait/synch/mutex/redis/event_loop";

/// The sessions that wait for the event loop, by the names of their clients: who waits, for whom.
const WAITING: &str = "SELECT w.ATTR_VALUE AS waiter, h.ATTR_VALUE AS holder, a.wait, a.state, a.statement \
    FROM tare.active_sessions AS a \
    JOIN performance_schema.session_connect_attrs AS w ON w.PROCESSLIST_ID = a.processlist_id \
    JOIN performance_schema.threads AS t ON t.THREAD_ID = a.blocker \
    JOIN performance_schema.session_connect_attrs AS h ON h.PROCESSLIST_ID = t.PROCESSLIST_ID \
    WHERE w.ATTR_NAME = 'program_name' AND h.ATTR_NAME = 'program_name' ORDER BY waiter";

/// Sets its flag when it is dropped, also if the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Redis on a port, which lets clients put it to sleep.
struct Redis {
    server: Server,
    port: u16,
}

impl Redis {
    fn start() -> Self {
        let port = tls::free_port();
        let options = ["--enable-debug-command", "yes", "--port", &port.to_string()];
        Self {
            server: Server::redis(&[], &options),
            port,
        }
    }

    /// A client of this name, over TCP.
    fn connect(&self, name: &str) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        let mut client = Client::new(OwnedFd::from(stream).into());
        client.call(&format!("CLIENT SETNAME {name}"));
        client
    }

    /// Records the stages of commands from now on, also as events.
    fn record_stages(&self) {
        self.server.execute(
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'stage/redis/%'",
        );
        self.server.execute(
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE 'events_stages_history%'",
        );
    }

    /// The last events of a client's session: statements, or stages with their names. Begin and end, in picoseconds.
    fn events(&self, kind: &str, client: &str) -> Vec<(String, u64, u64)> {
        let sql = format!(
            "SELECT SUBSTRING_INDEX(e.EVENT_NAME, '/', -1) AS name, e.TIMER_START AS begin, e.TIMER_END AS end \
             FROM performance_schema.events_{kind}_history AS e JOIN performance_schema.threads AS t USING (THREAD_ID) \
             JOIN performance_schema.session_connect_attrs AS a ON a.PROCESSLIST_ID = t.PROCESSLIST_ID \
             WHERE a.ATTR_NAME = 'program_name' AND a.ATTR_VALUE = '{client}' ORDER BY e.TIMER_START, e.TIMER_END"
        );
        let event = |row: &Json| {
            let time = |name: &str| row[name].as_u64().expect("a time");
            let name = row["name"].as_str().expect("a name").to_owned();
            (name, time("begin"), time("end"))
        };
        self.server.rows(&sql).iter().map(event).collect()
    }

    /// The stages of the last command of a client, which follow each other from its begin to its end: their times.
    fn stages(&self, client: &str, names: &[&str]) -> Vec<u64> {
        let statement = self.events("statements", client);
        let (_, begin, end) = statement.last().expect("a statement");
        let mut stages = self.events("stages", client);
        stages.retain(|(_, stage, _)| stage >= begin);
        let recorded: Vec<&str> = stages.iter().map(|(name, ..)| &**name).collect();
        assert_eq!(recorded, names, "{client}: {stages:?}, {statement:?}");
        assert_eq!((stages[0].1, stages[names.len() - 1].2), (*begin, *end));
        for pair in stages.windows(2) {
            assert_eq!(pair[0].2, pair[1].1, "{stages:?}");
        }
        stages.iter().map(|(_, begin, end)| end - begin).collect()
    }
}

const SECOND: u64 = 1_000_000_000_000;
const USUAL: [&str; 3] = ["queue", "execution", "write"];

#[test]
fn a_command_queues_while_another_one_is_executed() {
    let redis = Redis::start();
    let [mut holder, mut second, mut waiter] =
        ["holder", "second", "waiter"].map(|name| redis.connect(name));
    redis.record_stages();
    // After a setting has changed, a session's next command begins when it is read.
    for client in [&mut holder, &mut second, &mut waiter] {
        client.call("PING");
    }
    let blocked = |name: &str| {
        serde_json::json!({
            "waiter": name, "holder": "holder", "wait": WAIT, "state": "waiting", "statement": null
        })
    };
    // Both commands arrive while the first one is executed, in this order.
    let is_over = AtomicBool::new(false);
    let is_observed = thread::scope(|scope| {
        holder.send(&words("DEBUG SLEEP 2"));
        wait_for("the holder's command", || {
            let sql =
                "SELECT 1 FROM tare.active_sessions WHERE statement = 'statement/redis/debug'";
            (!redis.server.rows(sql).is_empty()).then_some(())
        });
        second.send(&words("DEBUG SLEEP 0.3"));
        waiter.send(&words("GET key"));
        let observer = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let waiting = redis.server.rows(WAITING);
                if waiting == [blocked("second"), blocked("waiter")] {
                    return true;
                }
            }
            false
        });
        holder.read();
        is_over.store(true, Ordering::Relaxed);
        observer.join().expect("an observer")
    });
    assert!(is_observed, "not within two seconds");
    second.read();
    waiter.read();
    let held = redis.stages("holder", &USUAL)[1];
    assert!(held >= 2 * SECOND, "{held}");
    let [queued, executed, _] = redis.stages("second", &USUAL)[..] else {
        unreachable!("three stages");
    };
    assert!(executed >= 3 * SECOND / 10, "{executed}");
    // It came while the first command was executed, as the kernel says, and waited for the rest.
    assert!(queued > 0 && queued < held + SECOND, "{queued}");
    let waited = redis.stages("waiter", &USUAL)[0];
    assert!(waited >= executed, "{waited} {executed}");
    let ended = |client| redis.events("statements", client).last().expect("one").2;
    let began = redis.events("statements", "waiter").last().expect("one").1;
    assert!(began < ended("holder"), "it waited for the first one, too");
}

#[test]
fn the_stages_of_a_command_are_its_time() {
    let redis = Redis::start();
    let mut client = redis.connect("client");
    // Off at the start.
    let count = "SELECT SUM(COUNT_STAR) AS n FROM performance_schema.events_stages_summary_global_by_event_name";
    assert_eq!(number(&redis.server.rows(count)[0]), 0);
    redis.record_stages();
    for _ in 0..50 {
        client.call("GET key");
    }
    let stages = |redis: &Redis| -> Vec<u64> {
        let sql = "SELECT COUNT_STAR AS n FROM performance_schema.events_stages_summary_global_by_event_name \
             WHERE EVENT_NAME IN ('stage/redis/queue', 'stage/redis/execution', 'stage/redis/blocked', 'stage/redis/write') \
             ORDER BY EVENT_NAME";
        redis.server.rows(sql).iter().map(number).collect()
    };
    let (blocked, others) = (0, 50);
    assert_eq!(stages(&redis), [blocked, others, others, others]);
    redis.stages("client", &USUAL);
    // Commands of a pipeline have them together.
    client.send(&words("INCR number").repeat(20));
    for _ in 0..20 {
        client.read();
    }
    assert_eq!(stages(&redis), [0, 70, 70, 70]);
    // One that waits for another client does not hold the loop.
    client.send(&words("BLPOP list 0"));
    let mut other = redis.connect("other");
    let running = "SELECT 1 FROM tare.active_sessions WHERE statement = 'statement/redis/blpop'";
    wait_for("BLPOP", || {
        (!redis.server.rows(running).is_empty()).then_some(())
    });
    assert_eq!(redis.server.rows(WAITING), [] as [Json; 0]);
    other.call("RPUSH list element");
    client.read();
    let times = redis.stages("client", &["queue", "execution", "blocked", "write"]);
    assert!(times[2] > times[1], "{times:?}");
    // A command without a reply has none.
    client.send(
        &[
            words("CLIENT REPLY SKIP"),
            words("SET key value"),
            words("GET key"),
        ]
        .concat(),
    );
    client.read();
    redis.stages("client", &USUAL);
}

#[test]
fn each_tool_names_who_holds_the_event_loop() {
    let redis = Redis::start();
    let is_over = AtomicBool::new(false);
    let directory = &redis.server.directory;
    let pid = redis.server.pid.to_string();
    let target = ["--pid", pid.as_str()];
    thread::scope(|scope| {
        let _over = SetOnDrop(&is_over);
        for (name, command) in [("holder", "DEBUG SLEEP 0.5"), ("waiter", "GET key")] {
            let (mut client, is_over) = (redis.connect(name), &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    client.call(command);
                }
            });
        }
        let connection = |name: &str| {
            let sql = format!(
                "SELECT PROCESSLIST_ID AS n FROM performance_schema.session_connect_attrs WHERE ATTR_VALUE = '{name}'"
            );
            redis.server.number(&sql)
        };
        let (holder, waiter) = (connection("holder"), connection("waiter"));
        let live = Live::start(directory, &target);
        // An instant between two commands may have no waiting session.
        wait_for("a page with the blocker", || {
            let threads = page(directory, &target, "threads");
            let cells = |line: &str| {
                line.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let mut lines = threads.stdout.lines().map(cells);
            let row = lines.find(|cells| cells.contains(&waiter.to_string()))?;
            row.contains(&holder.to_string()).then_some(())
        });
        wait_for("the live page's tree", || {
            let state = live.json("/api/state");
            let rows = state["blocking"]["rows"].as_array()?.clone();
            let is_blocked =
                |row: &&Json| row["wait"] == "the event loop" && row["connection"] == waiter;
            rows.iter().find(is_blocked).cloned()
        });
        let history = ["--history", "history"];
        let sql = format!(
            "SELECT digest, text, blocker_text, blocker_state FROM blocks \
             WHERE kind = 'event loop' AND connection_id = {waiter} AND blocker_connection_id = {holder} \
             AND blocker_state = 'running'"
        );
        // The recorder reads who waits once a second, and may miss the instants.
        let block = wait_for("a block", || {
            let mut recorder = directory.tare(["record", "--dir", "history"].iter().chain(&target));
            let mut recorder = Process::start(recorder.stderr(Stdio::piped()));
            recorder.message("recording ");
            thread::sleep(Duration::from_millis(1500));
            recorder.signal("INT");
            assert!(recorder.wait().success());
            rows(directory, &history, &sql).first().cloned()
        });
        assert_eq!(
            (&block["digest"], &block["text"]),
            (&Json::Null, &Json::Null)
        );
        assert_eq!(block["blocker_state"], "running");
        assert_eq!(block["blocker_text"], "DEBUG ?");
        let sql = format!(
            "SELECT s.blocker FROM samples AS s JOIN samples AS h ON h.thread_id = s.blocker AND h.sampled_at = s.sampled_at \
             WHERE s.wait = '{WAIT}' AND s.connection_id = {waiter} AND h.connection_id = {holder}"
        );
        assert!(!rows(directory, &history, &sql).is_empty());
        let threads = page(directory, &target, "stages");
        line(&threads, &["stage/"]);
    });
}
