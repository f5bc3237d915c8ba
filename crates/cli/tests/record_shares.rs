//! The shares of waits that `tare record` samples agree with those that the engine counts.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mysql::prelude::Queryable;
use servers::{Engine, Server, Version};
use support::finish;

const CLIENTS: usize = 8;

/// The largest difference between shares after ten minutes, in percentage points.
const LONG_MAX_POINTS: f64 = 2.0;

/// Shares in percent, without waits for tables: a sample has the innermost wait, but sums count the outer wait
/// as well.
fn shares(of: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let inner = || of.iter().filter(|(name, _)| !name.contains("/table/"));
    let all: f64 = inner().map(|(_, time)| time).sum();
    inner()
        .map(|(name, time)| (name.clone(), 100.0 * time / all))
        .collect()
}

/// Clients' waits that the engine has counted, except idle, in seconds by name.
fn exact(server: &Server) -> BTreeMap<String, f64> {
    let rows = server.tare(
        "SELECT event_name AS name, SUM(sum_timer_wait) / 1e12 AS seconds \
         FROM performance_schema.events_waits_summary_by_thread_by_event_name \
         JOIN performance_schema.threads USING (thread_id) \
         WHERE processlist_user = 'root' AND event_name <> 'idle' GROUP BY event_name",
    );
    let seconds = |row: &serde_json::Map<String, serde_json::Value>| {
        let value = &row["seconds"];
        let number = value.as_f64();
        number
            .or_else(|| value.as_str()?.parse().ok())
            .unwrap_or(0.0)
    };
    let of = |row| {
        Some((
            <serde_json::Map<_, _>>::get(row, "name")?
                .as_str()?
                .to_owned(),
            seconds(row),
        ))
    };
    rows.iter().filter_map(of).collect()
}

/// Ten minutes under `make test-long`, with shares within 2 points. Otherwise ten seconds at 100
/// samples a second, within 10 points.
#[test]
fn shares_of_waits_are_those_of_the_exact_sums() {
    let (time, rate, points) = match std::env::var_os("TARE_TEST_LONG") {
        Some(_) => ("10m", "10", LONG_MAX_POINTS),
        None => ("10s", "100", 10.0),
    };
    let server = Server::start(
        Version::Mysql57,
        Engine::Tare,
        &[
            "--innodb-flush-log-at-trx-commit=1",
            "--innodb-flush-method=fsync",
        ],
    );
    let mut root = server.connect();
    for sql in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE shop.log (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200))",
        "INSERT INTO shop.t VALUES (1,0),(2,0),(3,0),(4,0),(5,0),(6,0),(7,0),(8,0)",
    ] {
        root.query_drop(sql).expect("runs");
    }
    let stop = AtomicBool::new(false);
    let (before, after, sampled) = thread::scope(|scope| {
        for client in 0..CLIENTS {
            let mut conn = server.connect();
            let stop = &stop;
            scope.spawn(move || {
                // Updates of rows that two clients share, inserts, and reads.
                let update = format!("UPDATE shop.t SET v = v + 1 WHERE id = {}", 1 + client / 2);
                for sql in [
                    update.as_str(),
                    "INSERT INTO shop.log (v) VALUES (REPEAT('x', 200))",
                    "SELECT SUM(v) FROM shop.t",
                ]
                .iter()
                .cycle()
                .take_while(|_| !stop.load(Ordering::Relaxed))
                {
                    conn.query_drop(*sql).expect("runs");
                }
            });
        }
        let before = exact(&server);
        let history = server.directory.path().join("history");
        let (pid, history) = (
            server.pid.to_string(),
            history.to_str().expect("UTF-8").to_owned(),
        );
        let record = [
            "record", "--pid", &pid, "--dir", &history, "--rate", rate, "--for", time,
        ];
        let done = finish(&mut server.directory.tare(record));
        assert_eq!(done.code, Some(0), "{done:?}");
        let after = exact(&server);
        stop.store(true, Ordering::Relaxed);
        let sql = "SELECT wait, SUM(seconds) FROM samples WHERE user = 'root' AND wait IS NOT NULL GROUP BY wait";
        let options = ["sql", "--history", &history, "--format", "tsv", "-e", sql];
        (before, after, finish(&mut server.directory.tare(options)))
    });
    assert_eq!(sampled.code, Some(0), "{sampled:?}");
    let row = |line: &str| {
        let (name, seconds) = line.split_once('\t')?;
        Some((name.to_owned(), seconds.parse().ok()?))
    };
    let sampled = shares(&sampled.stdout.lines().filter_map(row).collect());
    let grown = after.into_iter().map(|(name, seconds)| {
        let earlier = before.get(&name).copied().unwrap_or(0.0);
        (name, seconds - earlier)
    });
    let exact = shares(&grown.collect());
    let top = |of: &BTreeMap<String, f64>| {
        let mut all: Vec<_> = of
            .iter()
            .map(|(name, share)| (name.clone(), *share))
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(5);
        all
    };
    for (name, share) in top(&exact) {
        let sampled_share = sampled.get(&name).copied().unwrap_or(0.0);
        println!("{name}: {share:.1} % counted, {sampled_share:.1} % sampled");
    }
    assert!(exact.len() >= 4, "{exact:?}");
    for (name, share) in &exact {
        let sampled_share = sampled.get(name).copied().unwrap_or(0.0);
        assert!(
            (sampled_share - share).abs() <= points,
            "{name}: {share} % counted, {sampled_share} % sampled"
        );
    }
    if points == LONG_MAX_POINTS {
        // The fifth and the sixth may be too close to distinguish by samples.
        let fifth = top(&exact).last().expect("five").1;
        for (name, sampled_share) in top(&sampled) {
            let counted = exact.get(&name).copied().unwrap_or(0.0);
            assert!(
                counted >= fifth - 0.5,
                "{name}: {sampled_share} % sampled, {counted} % counted"
            );
        }
    }
    server.stop();
}
