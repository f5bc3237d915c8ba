//! The MySQL door at the level `active`: samples say of every moment what a session does, and their shares of
//! time are those that the exact level counts.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use tare_history::{NoRowLocks, Sample, SegmentSource, Source, State};
use tare_reader::estimate::{Estimate, Moments};
use tare_reader::{Schedule, Segment, Target, priority};

use servers::{Engine, Server, Version, run};

/// Samples of sessions while they run statements.
struct Observer {
    source: SegmentSource,
    rate: f64,
}

impl Observer {
    fn new(server: &Server, rate: f64) -> Self {
        let segment = Segment::attach(Target::Pid(server.pid)).expect("attached");
        Self {
            source: SegmentSource::new(Arc::new(segment), Box::new(NoRowLocks)),
            rate,
        }
    }

    /// Samples for so long; `each` gets each session and the seconds that the sample represents.
    fn sample(&mut self, time: Duration, mut each: impl FnMut(&Sample, f64)) -> Shares {
        let mut schedule = Schedule::new(self.rate);
        let mut shares = Shares::default();
        let began = Instant::now();
        while began.elapsed() < time {
            let raised = priority::raise();
            let next = schedule.next(Instant::now());
            thread::sleep(next.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            let moment = self.source.read_moment().expect("it runs");
            drop(raised);
            let (at, seconds) = (
                now.duration_since(began).as_secs_f64(),
                schedule.represent(now).as_secs_f64(),
            );
            shares.waits.begin(at, seconds);
            shares.statements.begin(at, seconds);
            let of_sessions =
                |sample: &&Sample| sample.connection_id.is_some() && sample.statement.is_some();
            for sample in moment.samples.iter().filter(of_sessions) {
                each(sample, seconds);
                let name = |name: &Option<Arc<str>>| name.as_deref().unwrap_or("none").to_owned();
                // A wait for a table contains others, which sums have twice.
                let wait = Some(name(&sample.wait)).filter(|wait| !wait.contains("/table/"));
                shares.waits.add(wait.unwrap_or_else(|| "none".to_owned()));
                shares.statements.add(name(&sample.statement));
            }
        }
        shares
    }
}

#[derive(Default)]
struct Shares {
    waits: Moments<String>,
    statements: Moments<String>,
}

/// Threads that repeat statements until they are stopped.
struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start(server: &Server, clients: usize, statements: impl Fn(usize) -> Vec<String>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..clients).map(|client| {
            let mut connection = server.connect();
            let (stop, statements) = (Arc::clone(&stop), statements(client));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    for statement in &statements {
                        // One that is killed at the end has failed.
                        let _ended = connection.query_drop(statement);
                    }
                }
            })
        });
        Self {
            threads: threads.collect(),
            stop,
        }
    }

    fn end(self, server: &Server) {
        self.stop.store(true, Ordering::Relaxed);
        let mut connection = server.connect();
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            let ids: Vec<u64> = connection
                .query("SELECT ID FROM information_schema.PROCESSLIST WHERE TIME >= 0 AND ID <> CONNECTION_ID() AND USER = 'root'")
                .expect("a list");
            for id in ids {
                // It may have ended.
                let _killed = connection.query_drop(format!("KILL QUERY {id}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        for thread in self.threads {
            thread.join().expect("no panic");
        }
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn is_long() -> bool {
    std::env::var_os("TARE_TEST_LONG").is_some()
}

/// Sessions that compute, sleep, wait for a row and commit: each moment has one of four states, and each state
/// is the right one.
fn check_states(version: Version) {
    if version.is_left_out() {
        return;
    }
    let options = [
        "--sync-binlog=1",
        "--innodb-flush-log-at-trx-commit=1",
        "--log-bin=binlog",
        "--server-id=1",
    ];
    let server = Server::start(version, Engine::Sampled("active"), &options);
    let mut root = server.connect();
    run(
        &mut root,
        &[
            "CREATE DATABASE truth",
            "CREATE TABLE truth.t (a BIGINT PRIMARY KEY, b BIGINT) ENGINE = InnoDB",
            "CREATE TABLE truth.log (a BIGINT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(200)) ENGINE = InnoDB",
            "INSERT INTO truth.t VALUES (1, 1), (2, 2)",
            "BEGIN",
            "UPDATE truth.t SET b = 3 WHERE a = 1",
        ],
    );
    const COMPUTES: &str = "SELECT BENCHMARK(1000000000000, 1 + 1)";
    const SLEEPS: &str = "SELECT SLEEP(1000)";
    const WAITS: &str = "UPDATE truth.t SET b = b + 1 WHERE a = 1";
    const INSERTS: &str = "INSERT INTO truth.log (b) VALUES (REPEAT('x', 200))";
    let load =
        |clients, statement: &str| Load::start(&server, clients, |_| vec![statement.to_owned()]);
    let loads = [
        load(2 * processors(), COMPUTES),
        load(1, SLEEPS),
        load(1, WAITS),
        load(6, INSERTS),
    ];
    let mut observer = Observer::new(&server, 100.0);
    let (mut states, mut blocked, mut named) = (BTreeMap::new(), 0_u32, 0_u32);
    let mut check = |sample: &Sample, _: f64| {
        let text = sample.text.as_deref().unwrap_or_default();
        let state = sample.state.expect("it runs a statement");
        assert_ne!(state, State::Unknown, "{sample:?}");
        *states
            .entry((text.to_owned(), state.name()))
            .or_insert(0_u32) += 1;
        if state == State::Blocked {
            blocked += 1;
            named += u32::from(sample.stage.is_some() && sample.system_call.is_some());
        }
    };
    let seconds = if is_long() { 60 } else { 6 };
    observer.sample(Duration::from_secs(seconds), &mut check);
    let of = |text: &str| -> BTreeMap<&str, u32> {
        let of = states.iter().filter(|((of, _), _)| of == text);
        of.map(|((_, state), count)| (*state, *count)).collect()
    };
    println!("{version}: {states:#?}");
    let asleep = [State::Waiting.name(), State::Blocked.name()];
    let running = [State::OnCpu.name(), State::WaitingForCpu.name()];
    let sum = |text, wanted: &[&str]| -> u32 {
        let counts = of(text);
        wanted.iter().filter_map(|state| counts.get(state)).sum()
    };
    // A session that computes never sleeps, except where it begins; one that
    // sleeps or waits for a row is in a wait with a name, except where it begins.
    for (text, wanted) in [
        (COMPUTES, &running[..]),
        (SLEEPS, &asleep[..1]),
        (WAITS, &asleep[..1]),
    ] {
        let (right, all) = (sum(text, wanted), of(text).values().sum::<u32>());
        assert!(all > 20, "{text}: {all}");
        assert!(
            f64::from(right) >= 0.95 * f64::from(all),
            "{text}: {:?}",
            of(text)
        );
    }
    // One that wakes while it is read has lost its system call; of few samples that is more than a percent.
    let unnamed = if is_long() {
        blocked / 100
    } else {
        2 + blocked / 20
    };
    println!("{version}: {named} of {blocked} have a stage and a system call");
    assert!(blocked - named <= unnamed, "{named} of {blocked}");
    run(&mut root, &["ROLLBACK"]);
    loads.into_iter().for_each(|load| load.end(&server));
    server.stop();
}

#[test]
fn every_moment_has_its_state_in_mysql_5_7() {
    check_states(Version::Mysql57);
}

#[test]
fn every_moment_has_its_state_in_mariadb_10_11() {
    check_states(Version::Mariadb);
}

/// Seconds that sessions have spent in waits and in statements, as the exact level counts them, with those of
/// events that have not ended: else an event would count with all its time where it ends.
fn exact(server: &Server) -> [BTreeMap<String, f64>; 2] {
    let read = |kind: &str, condition: &str| {
        let rows = server.tare(&format!(
            "SELECT event, SUM(ps) / 1e12 AS seconds FROM \
             (SELECT THREAD_ID, EVENT_NAME AS event, SUM_TIMER_WAIT AS ps \
             FROM performance_schema.events_{kind}_summary_by_thread_by_event_name UNION ALL \
             SELECT THREAD_ID, EVENT_NAME, TIMER_WAIT \
             FROM performance_schema.events_{kind}_current WHERE END_EVENT_ID IS NULL) AS e \
             JOIN performance_schema.threads USING (THREAD_ID) \
             WHERE PROCESSLIST_ID IS NOT NULL AND {condition} GROUP BY event"
        ));
        let of = |row: &serde_json::Map<String, serde_json::Value>| {
            let seconds = servers::json_text(&row["seconds"]).parse().unwrap_or(0.0);
            (servers::json_text(&row["event"]), seconds)
        };
        rows.iter().map(of).collect()
    };
    [
        read("waits", "event <> 'idle' AND event NOT LIKE '%/table/%'"),
        read("statements", "1 = 1"),
    ]
}

struct Sysbench(Child);

impl Sysbench {
    fn start(server: &Server, workload: &str, threads: usize) -> Self {
        let socket = format!(
            "--mysql-socket={}",
            server.directory.path().join("mysql.sock").display()
        );
        let threads = format!("--threads={threads}");
        let command = |action| {
            let mut command = Command::new("sysbench");
            command
                .args([
                    workload,
                    &socket,
                    "--mysql-user=root",
                    "--mysql-db=sbtest",
                    "--tables=2",
                ])
                .args([
                    "--table-size=10000",
                    "--time=0",
                    "--db-ps-mode=disable",
                    &threads,
                    action,
                ])
                .stdout(Stdio::null());
            command
        };
        let mut root = server.connect();
        run(
            &mut root,
            &["DROP DATABASE IF EXISTS sbtest", "CREATE DATABASE sbtest"],
        );
        assert!(
            command("prepare")
                .status()
                .expect("sysbench runs")
                .success()
        );
        Self(command("run").spawn().expect("sysbench runs"))
    }
}

impl Drop for Sysbench {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Shares of the time of sessions inside statements, in percent.
struct Row {
    name: String,
    exact: f64,
    /// Samples of the same time, at the exact level, with their standard error.
    same_time: (f64, f64),
    /// Samples of turns at the level `active`.
    active: (f64, f64),
}

/// Exact and active in turn, of one load. Both levels are sampled.
fn compare(server: &Server, turns: usize, time: Duration) -> Vec<Row> {
    let set = |level: &str| {
        server.tare(&format!(
            "UPDATE tare.setup_sampling SET sampling = '{level}'"
        ));
        // Statements of the level before end.
        thread::sleep(Duration::from_millis(500));
    };
    let mut observer = Observer::new(server, 100.0);
    let mut sums = [BTreeMap::<String, f64>::new(), BTreeMap::new()];
    let [mut same_time, mut active] = [Vec::new(), Vec::new()];
    for _ in 0..turns {
        set("every");
        let before = exact(server);
        same_time.push(observer.sample(time, |_, _| ()));
        for (at, now) in exact(server).into_iter().enumerate() {
            for (name, seconds) in now {
                let gain = seconds - before[at].get(&name).copied().unwrap_or(0.0);
                *sums[at].entry(name).or_default() += gain;
            }
        }
        set("active");
        active.push(observer.sample(time, |_, _| ()));
    }
    let [waits, statements] = &sums;
    let total: f64 = statements.values().sum();
    let names: BTreeSet<&String> = waits.keys().chain(statements.keys()).collect();
    let rows = names.into_iter().map(|name| {
        let (exact, choose): (_, fn(&Shares) -> &Moments<String>) = match waits.get(name) {
            Some(seconds) => (seconds / total, |shares| &shares.waits),
            None => (statements[name] / total, |shares| &shares.statements),
        };
        let percent = |sampled: &[Shares]| {
            let shares: Vec<_> = sampled.iter().map(choose).collect();
            mean_percent(&shares, name)
        };
        Row {
            name: name.clone(),
            exact: 100.0 * exact,
            same_time: percent(&same_time),
            active: percent(&active),
        }
    });
    let mut rows: Vec<_> = rows
        .filter(|row| row.exact.max(row.same_time.0).max(row.active.0) > 0.5)
        .collect();
    rows.sort_by(|a, b| b.exact.total_cmp(&a.exact));
    rows
}

/// The share of a name over turns, in percent, with its standard error.
fn mean_percent(turns: &[&Moments<String>], name: &str) -> (f64, f64) {
    let of = |turn: &&Moments<String>| -> Estimate {
        let mut all = turn.shares();
        let of = all.find(|(of, _)| *of == name);
        of.map(|(_, share)| share).unwrap_or_default()
    };
    let estimates: Vec<Estimate> = turns.iter().map(of).collect();
    let n = estimates.len() as f64;
    let share = estimates.iter().map(|one| one.value).sum::<f64>() / n;
    let variance: f64 = estimates.iter().map(|one| one.standard_error.powi(2)).sum();
    (100.0 * share, 100.0 * variance.sqrt() / n)
}

/// Threads that keep the disk of a directory busy: each writes 64 KiB, waits until they are on the disk, and goes on.
struct DiskQueue {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl DiskQueue {
    /// More requests than a disk works on at a time.
    const THREADS: usize = 16;

    fn start(directory: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..Self::THREADS).map(|number| {
            let (stop, path) = (Arc::clone(&stop), directory.join(format!("queue-{number}")));
            thread::spawn(move || {
                let file = File::create(path).expect("created");
                let bytes = [7; 64 << 10];
                for at in (0..64_u64).cycle() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    file.write_all_at(&bytes, at * bytes.len() as u64)
                        .expect("written");
                    file.sync_data().expect("synced");
                }
            })
        });
        Self {
            threads: threads.collect(),
            stop,
        }
    }

    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("no panic");
        }
    }
}

/// A server whose shares of samples are compared with the exact ones of the same time, and with those of turns at
/// the level active: see docs/results/2026-11-28-active-truth.
struct Comparison {
    version: Version,
    server: Server,
}

impl Comparison {
    fn start(version: Version) -> Self {
        let options = ["--innodb-flush-log-at-trx-commit=1"];
        let server = Server::start(version, Engine::Tare, &options);
        run(
            &mut server.connect(),
            &[
                "CREATE DATABASE truth",
                "CREATE TABLE truth.t (a BIGINT PRIMARY KEY, b BIGINT) ENGINE = InnoDB",
                "CREATE TABLE truth.log (a BIGINT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(200)) ENGINE = InnoDB",
                "INSERT INTO truth.t VALUES (1, 1), (2, 2)",
            ],
        );
        Self { version, server }
    }

    /// The largest differences beyond four standard errors, in points: of the same time, and of turns at the level
    /// active.
    fn report(&self, load: &str) -> (f64, f64) {
        let seconds = |name: &str, default| {
            let set = std::env::var(name).ok().and_then(|text| text.parse().ok());
            set.unwrap_or(default)
        };
        let turns = seconds("TARE_TEST_TURNS", 4) as usize;
        let time = Duration::from_secs(seconds("TARE_TEST_SECONDS", 20));
        let beyond = |exact: f64, (share, error): (f64, f64)| (share - exact).abs() - 4.0 * error;
        let rows = compare(&self.server, turns, time);
        // Samples of statements whose kind the server does not know yet; the exact level counts them as their kind.
        let unknown = |row: &&Row| row.name.starts_with("statement/abstract/");
        let unknown: f64 = rows.iter().filter(unknown).map(|row| row.same_time.0).sum();
        let mut worst = (0.0_f64, 0.0_f64);
        for row in rows {
            let ((same, same_error), (active, active_error)) = (row.same_time, row.active);
            println!(
                "{} | {load} | {} | {:.2} | {same:.2} ± {same_error:.2} | {active:.2} ± {active_error:.2}",
                self.version, row.name, row.exact
            );
            let less = match row.name.starts_with("statement/") {
                true => unknown,
                false => 0.0,
            };
            worst.0 = worst.0.max(beyond(row.exact, row.same_time) - less);
            worst.1 = worst.1.max(beyond(row.exact, row.active));
        }
        worst
    }
}

/// Where a clock makes the load the same in each turn, turns at the level active are compared, too.
#[test]
#[ignore = "make test-long runs it: 12 minutes"]
fn shares_are_the_exact_ones_in_mysql_5_7() {
    if Version::Mysql57.is_left_out() {
        return;
    }
    let comparison = Comparison::start(Version::Mysql57);
    let server = &comparison.server;
    let sysbench = [("oltp_read_only", 4), ("oltp_read_write", 8)].map(|(workload, threads)| {
        let _load = Sysbench::start(server, workload, threads);
        comparison.report(workload).0
    });
    let load = Load::start(server, 6, |_| {
        vec!["UPDATE truth.t SET b = b + SLEEP(0.005) WHERE a = 1".to_owned()]
    });
    let row_lock = comparison.report("row lock");
    load.end(server);
    let load = Load::start(server, 2 * processors(), |_| {
        vec![
            "SELECT BENCHMARK(300000, MD5('x'))".to_owned(),
            "DO BENCHMARK(100000, MD5('y'))".to_owned(),
        ]
    });
    let busy = comparison.report("twice as many busy sessions as processors");
    load.end(server);
    comparison.server.stop();
    // Where each statement wakes a client on the same processors, a sample comes some microseconds late.
    let [read_only, read_write] = sysbench;
    assert!(
        read_only <= 5.0,
        "{read_only} points beyond four standard errors"
    );
    for beyond in [read_write, row_lock.0, row_lock.1, busy.0] {
        assert!(beyond <= 1.0, "{beyond} points beyond four standard errors");
    }
}

/// Transactions that wait for a disk on which others write all the time.
#[test]
#[ignore = "make test-long runs it: 3 minutes"]
fn shares_of_a_full_disk_queue_are_the_exact_ones_in_mysql_5_7() {
    if Version::Mysql57.is_left_out() {
        return;
    }
    let comparison = Comparison::start(Version::Mysql57);
    let server = &comparison.server;
    let queue = DiskQueue::start(server.directory.path());
    let load = Load::start(server, 6, |_| {
        vec!["INSERT INTO truth.log (b) VALUES (REPEAT('x', 200))".to_owned()]
    });
    let (beyond, _) = comparison.report("full disk queue");
    load.end(server);
    queue.end();
    comparison.server.stop();
    assert!(beyond <= 1.0, "{beyond} points beyond four standard errors");
}
