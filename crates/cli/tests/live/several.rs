//! Several servers on one page: a stock MariaDB, a `tare serve`, and those of a history.

use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use mysql::prelude::Queryable;
use serde_json::{Value, json};
use tare_history::{Moment, Sample, Writer};

use super::page::Live;
use super::support::server::Server;
use super::support::{Directory, finish, wait_for};
use super::{listed, sleeper};

/// A value as part of an address.
fn encoded(text: &str) -> String {
    text.replace('%', "%25")
        .replace('/', "%2F")
        .replace(' ', "%20")
}

/// A stock MariaDB whose current statements can be sampled.
pub fn start_mariadb() -> Server {
    Server::mariadb(&[
        "--performance-schema=ON",
        "--performance-schema-consumer-events-statements-current=ON",
        "--performance-schema-consumer-events-waits-current=ON",
    ])
}

/// A `tare serve` that records everything.
pub fn start_tare() -> Server {
    let server = Server::tare(&[]);
    let sql = "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'";
    server.connect().query_drop(sql).expect("updated");
    server
}

#[test]
fn each_server_has_its_own_samples_and_one_outlives_the_other() {
    let directory = Directory::new("live-several");
    let (tare, mariadb) = (start_tare(), start_mariadb());
    let threads = [sleeper(&tare, "of_tare"), sleeper(&mariadb, "of_mariadb")];
    let pid = tare.pid().to_string();
    let socket = mariadb.socket().to_str().expect("UTF-8").to_owned();
    let words = ["--pid", &pid, "--dsn", &socket, "--rate", "20"];
    let live = Live::start(&directory, &words);
    let second = encoded(&socket);
    let of_second = format!("/api/state?target={second}");
    let has = |path: &str, text: &str| {
        let state = live.json(path);
        let rows = listed(&state, "sql");
        rows.iter().any(|row| row.contains(text)).then_some(state)
    };
    // Without a name, a request is for the first server.
    let first = wait_for("the first", || has("/api/state", "of_tare"));
    let state = wait_for("the second", || has(&of_second, "of_mariadb"));
    for (state, other) in [(&first, "of_mariadb"), (&state, "of_tare")] {
        assert!(!listed(state, "sql").iter().any(|row| row.contains(other)));
    }
    let id = format!("process {pid}");
    let ids = |state: &Value| {
        state["servers"]
            .as_array()
            .map(|all| all.iter().map(|one| one["id"].clone()).collect())
    };
    assert_eq!(ids(&state), Some(vec![json!(id), json!(socket)]));
    assert_eq!(
        (&first["server"], &state["server"]),
        (&json!(id), &json!(socket))
    );
    assert_eq!(state["servers"][1]["name"], json!(socket));
    assert!(
        state["target"]
            .as_str()
            .is_some_and(|name| name.contains("MariaDB")),
        "{state}"
    );
    // A filter is for the selected server; the overview has all sessions of each.
    let none = live.json(&format!("{of_second}&user=nobody"));
    assert!(listed(&none, "sql").is_empty());
    for server in none["servers"].as_array().expect("servers") {
        let active = server["active"].as_f64();
        assert!(active.is_some_and(|active| active > 0.5), "{server}");
        assert!(
            server["error"].is_null() && server["is_now"] == true,
            "{server}"
        );
    }
    // Figures of InnoDB, and a statement's samples.
    let status = wait_for("a status", || {
        let status = live.json(&format!("/api/status?target={second}"));
        status["at"].is_i64().then_some(status)
    });
    assert!(status.to_string().contains("buffer pool"), "{status}");
    let sql = listed(&state, "sql")
        .into_iter()
        .find(|row| row.contains("of_mariadb"));
    let key = (state["tops"]["sql"].as_array().expect("rows").iter())
        .find(|row| row["text"].as_str().or(row["key"].as_str()) == sql.as_deref())
        .and_then(|row| row["key"].as_str())
        .expect("a key");
    let samples = |target: &str| {
        let answer = live.json(&format!("/api/statement?sql={}{target}", encoded(key)));
        answer["samples"].as_array().map_or(0, Vec::len)
    };
    assert!(samples(&format!("&target={second}")) > 0);
    assert_eq!(samples(""), 0);
    for path in ["state", "status", "statement"] {
        let (head, text) = live.request(&format!("GET /api/{path}?target=nobody"), &live.cookie());
        assert!(head.starts_with("HTTP/1.0 404"), "{head}");
        assert_eq!(text, "there is no server nobody here\n");
    }

    // Somebody who is blocked for more than a second is in the overview, of that server alone.
    let mut holder = mariadb.connect();
    for sql in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.stock (id INT PRIMARY KEY, n INT)",
        "INSERT INTO shop.stock VALUES (1, 1)",
        "BEGIN",
        "UPDATE shop.stock SET n = 2",
    ] {
        holder.query_drop(sql).expect(sql);
    }
    let mut waiter = mariadb.connect();
    let waits = thread::spawn(move || {
        let _ = waiter.query_drop("UPDATE shop.stock SET n = 3");
    });
    let blocked = |at: usize| live.json("/api/state")["servers"][at]["blocked"].clone();
    let waiting = wait_for("a blocked session", || {
        let blocked = blocked(1);
        (blocked["count"] == 1).then_some(blocked)
    });
    assert!(
        waiting["longest_ns"].as_u64() > Some(1_000_000_000),
        "{waiting}"
    );
    assert_eq!(blocked(0), json!({"count": 0, "longest_ns": null}));

    // The end of one is reported, and the other goes on.
    drop(holder);
    drop(mariadb);
    waits.join().expect("ends");
    let state = wait_for("the end of the second", || {
        let state = live.json(&of_second);
        state["error"].is_string().then_some(state)
    });
    let lost = &state["servers"][1];
    assert_eq!(lost["error"], state["error"]);
    assert!(
        lost["active"].is_null() && lost["blocked"]["count"] == 0,
        "{lost}"
    );
    assert!(
        listed(&state, "sql")
            .iter()
            .any(|row| row.contains("of_mariadb"))
    );
    let last = |state: &Value| state["span"][1].as_i64().expect("a time");
    let first = live.json("/api/state");
    assert!(first["error"].is_null(), "{first}");
    wait_for("later samples of the first", || {
        (last(&live.json("/api/state")) > last(&first) + 200).then_some(())
    });
    drop(tare);
    for thread in threads {
        thread.join().expect("ends");
    }
}

#[test]
fn a_server_that_is_not_there_yet_is_waited_for() {
    let directory = Directory::new("live-later");
    let tare = start_tare();
    let pid = tare.pid().to_string();
    // A name of its socket that does not exist yet.
    let later = directory.path().join("later");
    let later = later.to_str().expect("UTF-8");
    let mut live = Live::start(&directory, &[later, "--pid", &pid]);
    live.running.message(&format!("{later} does not answer: "));
    wait_for("samples of the second", || {
        let state = live.json(&format!(
            "/api/state?target={}",
            encoded(&format!("process {pid}"))
        ));
        (state["sampled"].as_f64() > Some(0.0)).then_some(())
    });
    wait_for("the error of the first", || {
        live.json("/api/state")["error"].is_string().then_some(())
    });
    std::os::unix::fs::symlink(tare.socket(), later).expect("linked");
    wait_for("samples of the first", || {
        let state = live.json("/api/state");
        (state["error"].is_null() && state["sampled"].as_f64() > Some(0.0)).then_some(())
    });
    let twice = finish(&mut directory.tare(["live", later, "--dsn", later]));
    assert_eq!(twice.code, Some(2), "{twice:?}");
    assert!(twice.stderr.contains("is named twice"), "{twice:?}");
    // A program must be there: another one may get its id.
    let gone = finish(&mut directory.tare(["live", later, "--pid", "2147483647"]));
    assert_eq!(gone.code, Some(3), "{gone:?}");
}

/// Writes a history of a server in which a user ran for a minute.
pub fn write_history(directory: &Path, host: &str, server: &str, user: &str) {
    let start = SystemTime::now() - Duration::from_secs(120);
    let mut writer = Writer::start(directory, host, server, start).expect("a writer");
    for second in 0..60 {
        let sample = Sample {
            thread_id: 1,
            statement: Some("statement/sql/select".into()),
            digest: Some("d".repeat(32).into()),
            user: Some(user.into()),
            ..Sample::default()
        };
        let moment = Moment {
            at: start + Duration::from_secs(second),
            threads: None,
            is_exact: None,
            samples: vec![sample],
        };
        (writer.add_moment(&moment, Duration::from_secs(1))).expect("written");
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
}

#[test]
fn a_history_offers_each_of_its_servers() {
    let directory = Directory::new("live-hosts");
    let history = directory.path().join("history");
    for (host, server, user) in [
        ("db1", "shop", "ann"),
        ("db1", "mail", "bob"),
        ("db2", "shop", "eve"),
    ] {
        write_history(&history, host, server, user);
    }
    let history = history.to_str().expect("UTF-8");
    let live = Live::start(&directory, &["--history", history]);
    let state = live.json("/api/state");
    let names = |state: &Value| -> Vec<String> {
        let servers = state["servers"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let name = |server: &Value| server["name"].as_str().expect("a name").to_owned();
        servers.iter().map(name).collect()
    };
    // Names that are the same have their host.
    assert_eq!(names(&state), ["mail", "shop (db1)", "shop (db2)"]);
    assert_eq!(listed(&state, "user"), ["bob"]);
    let eve = live.json("/api/state?target=db2%2Fshop");
    assert_eq!(listed(&eve, "user"), ["eve"]);
    assert_eq!(eve["history"], json!({"host": "db2", "server": "shop"}));
    for server in eve["servers"].as_array().expect("servers") {
        assert_eq!(
            (&server["active"], &server["is_now"]),
            (&json!(1.0), &json!(false)),
            "{server}"
        );
    }
    let one = Live::start(&directory, &["--history", history, "--server", "mail"]);
    let state = one.json("/api/state");
    assert!(names(&state).is_empty(), "{state}");
    assert_eq!(listed(&state, "user"), ["bob"]);
    let two = Live::start(&directory, &["--history", history, "--server", "shop"]);
    assert_eq!(names(&two.json("/api/state")), ["shop (db1)", "shop (db2)"]);
}
