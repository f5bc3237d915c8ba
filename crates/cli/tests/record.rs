//! `tare record` end to end: the rows that it writes, and the files after a kill.

#[path = "support/history.rs"]
mod history;
mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use history::{files, rows};
use mysql::Conn;
use mysql::prelude::Queryable;
use support::server::Server;
use support::{Directory, Process, finish, wait_for};

/// Starts a client that sleeps until it is killed.
fn sleeper(server: &Server) -> thread::JoinHandle<()> {
    let mut conn = server.connect();
    thread::spawn(move || {
        let _ = conn.query_drop("SELECT SLEEP(1000)");
    })
}

/// Records until a sample is written, and then interrupts the recorder.
fn record_a_sample(directory: &Directory, history: &Path, target: [&str; 2], root: &mut Conn) {
    let path = history.to_str().expect("UTF-8");
    let options = [
        "record",
        "--dir",
        path,
        "--rate",
        "50",
        "--host-name",
        "db1",
    ];
    let more = ["--server", "shop", "--write-every", "0.1s"];
    let words = options.iter().chain(&more).chain(&target);
    let mut recorder = Process::start(&mut directory.tare(words));
    wait_for("a piece of samples", || {
        let open = files(&history.join(".open"));
        open.iter()
            .any(|path| path.to_string_lossy().contains("samples@"))
            .then_some(())
    });
    root.query_drop("SELECT 'meanwhile'").expect("runs");
    recorder.signal("INT");
    assert!(recorder.wait().success(), "{}", recorder.stderr());
}

#[test]
fn a_running_statement_is_sampled_from_shared_memory_and_by_sql() {
    let directory = Directory::new("record");
    let server = Server::tare(&[]);
    let mut root = server.connect();
    let sleeper = sleeper(&server);
    wait_for("the statement", || {
        let running =
            "SELECT id FROM information_schema.processlist WHERE info = 'SELECT SLEEP(1000)'";
        root.query_first::<u64, _>(running).expect("answers")
    });
    let pid = server.pid().to_string();
    let socket = server.socket().to_str().expect("UTF-8").to_owned();
    for target in [["--pid", &pid], ["--dsn", &socket]] {
        let history = directory.path().join(&target[0][2..]);
        record_a_sample(&directory, &history, target, &mut root);
        let samples = rows(&history, "samples");
        let asleep: Vec<_> = (samples.iter())
            .filter(|row| row["statement"] == "statement/sql/select" && row["user"] == "root")
            .filter(|row| row["text"] == "SELECT SLEEP(1000)" || row["digest"].is_string())
            .collect();
        assert!(!asleep.is_empty(), "{target:?}: {samples:?}");
        for row in &asleep {
            assert_eq!(row["server"], "shop");
            assert!(row["statement_ns"].as_u64().expect("timed") > 0, "{row}");
            assert!(row["connection_id"].is_u64(), "{row}");
        }
        assert!(!rows(&history, "moments").is_empty());
        let growth = rows(&history, "growth");
        let grew = |row: &&serde_json::Value| {
            row["kind"] == "statement" && row["name"] == "statement/sql/select"
        };
        let selects = growth.iter().find(grew).expect("it was counted");
        assert!(selects["count"].as_u64() >= Some(1), "{selects}");
        let cost = |row: &&serde_json::Value| {
            row["kind"] == "cost" && row["name"] == "statement/sql/select"
        };
        let cost = growth.iter().find(cost).expect("it was recorded");
        assert!(cost["count"].as_u64() >= Some(1), "{cost}");
        let open = fs::read_dir(history.join(".open")).expect("a directory");
        assert_eq!(open.count(), 0, "{target:?}");
    }
    let kill = "SELECT id FROM information_schema.processlist WHERE info = 'SELECT SLEEP(1000)'";
    let id: u64 = root.query_first(kill).expect("answers").expect("runs");
    root.query_drop(format!("KILL {id}")).expect("kills");
    sleeper.join().expect("ends");
}

#[test]
fn a_sample_of_a_lock_wait_names_the_holder() {
    let directory = Directory::new("record-blocked");
    let server = Server::tare(&["--performance-schema-instrument=%=ON"]);
    let history = |of: [&str; 2]| directory.path().join(&of[0][2..]);
    let pid = server.pid().to_string();
    let socket = server.socket().to_str().expect("UTF-8").to_owned();
    let (by_pid, by_sql) = (["--pid", &pid], ["--dsn", &socket]);
    let record = |target: [&str; 2]| {
        let history = history(target);
        let path = history.to_str().expect("UTF-8");
        let words = ["record", "--dir", path, "--rate", "50", "--for", "0.5s"];
        let words = words.iter().chain(&target);
        let finished = finish(&mut directory.tare(words));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stderr
    };
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    let run = |conn: &mut Conn, sql: &str| conn.query_drop(sql).expect(sql);
    for sql in [
        "CREATE DATABASE held",
        "CREATE TABLE held.t (n INT)",
        "BEGIN",
        "INSERT INTO held.t VALUES (1)",
    ] {
        run(&mut holder, sql);
    }
    let id =
        "SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()";
    let blocker: u64 = holder.query_first(id).expect("answers").expect("a thread");
    let blocked: u64 = waiter.query_first(id).expect("answers").expect("a thread");
    assert!(
        record(by_pid).contains("'events_waits_current'"),
        "it is off at first"
    );
    run(
        &mut holder,
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'",
    );
    let waiting = thread::spawn(move || waiter.query_drop("INSERT INTO held.t VALUES (2)"));
    // The recorder looks up blockers only of longer waits, so several recordings may be needed.
    let samples = wait_for("a blocked thread", || {
        assert!(!record(by_pid).contains("samples are incomplete"));
        let blocked: Vec<_> = (rows(&history(by_pid), "samples").into_iter())
            .filter(|row| row["thread_id"] == blocked && row["blocker"].is_u64())
            .collect();
        (!blocked.is_empty()).then_some(blocked)
    });
    for row in &samples {
        assert_eq!(row["blocker"], blocker, "{row}");
        assert_eq!(row["wait"], "wait/lock/metadata/sql/mdl", "{row}");
    }
    record(by_sql);
    let samples = rows(&history(by_sql), "samples");
    let samples: Vec<_> = samples
        .iter()
        .filter(|row| row["thread_id"] == blocked)
        .collect();
    assert!(!samples.is_empty());
    for row in samples {
        assert_eq!(row["wait"], "wait/lock/metadata/sql/mdl", "{row}");
    }
    holder.query_drop("COMMIT").expect("commits");
    waiting.join().expect("ends").expect("inserts");
}

/// MariaDB names the thread of a session twice. In a pool of threads neither is true.
#[test]
fn a_stock_mariadb_names_the_thread_of_a_session_unless_it_has_a_pool() {
    let server = Server::mariadb(&["--performance-schema=ON"]);
    let mut conn = server.connect();
    conn.query_drop("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'")
        .expect("switched");
    let sleeper = sleeper(&server);
    let questions: Vec<&str> = (tare_history::questions())
        .filter(|question| question.contains("THREAD_OS_ID") || question.contains("p.TID"))
        .collect();
    assert_eq!(questions.len(), 2);
    let ids = wait_for("a sleeping session", || {
        let ids = (questions.iter()).map(|question| {
            let rows: Vec<mysql::Row> = conn.query(question).expect(question);
            let mut of_sleeper = rows.into_iter().filter(|row| {
                let text: Option<String> = row.get(11).expect("a text");
                text.is_some_and(|text| text.starts_with("SELECT SLEEP"))
            });
            of_sleeper.next()?.get::<Option<u64>, _>(19)?
        });
        ids.collect::<Option<Vec<u64>>>()
    });
    let pid = server.pid();
    assert_eq!(ids[0], ids[1]);
    assert!(
        Path::new(&format!("/proc/{pid}/task/{}", ids[0])).exists() && ids[0] != u64::from(pid)
    );
    let id: u64 = conn
        .query_first(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'",
        )
        .expect("answers")
        .expect("runs");
    conn.query_drop(format!("KILL {id}")).expect("killed");
    sleeper.join().expect("ends");

    let server = Server::mariadb(&[
        "--performance-schema=ON",
        "--thread-handling=pool-of-threads",
    ]);
    let directory = Directory::new("record-pool");
    let socket = server.socket().to_str().expect("UTF-8");
    let mut record = directory.tare(["record", "--for", "0.3s", "--dsn", socket, "--dir"]);
    let finished = finish(record.arg(directory.path().join("history")));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stderr.contains("thread_handling=pool-of-threads"),
        "{finished:?}"
    );
}

#[test]
fn a_server_without_performance_schema_is_refused() {
    let directory = Directory::new("record-silent");
    let server = Server::tare(&["--performance-schema=OFF"]);
    let socket = server.socket().to_str().expect("UTF-8");
    for command in [
        ["record", "--dir", "history"],
        ["live", "--listen", "127.0.0.1:0"],
    ] {
        let done = finish(&mut directory.tare(command.iter().chain(&["--socket", socket])));
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stderr.contains("--performance-schema=OFF"), "{done:?}");
    }
    assert!(!directory.path().join("history").exists());
}

/// `make test-long` kills a hundred.
#[test]
fn a_recorder_that_is_killed_loses_no_file() {
    let kills = match std::env::var_os("TARE_TEST_LONG") {
        Some(_) => 100,
        None => 5,
    };
    let directory = Directory::new("record-killed");
    let history = directory.path().join("history");
    let server = Server::tare(&[]);
    let pid = server.pid().to_string();
    let path = history.to_str().expect("UTF-8").to_owned();
    let record = |more: &[&str]| {
        let options = [
            "record",
            "--pid",
            &pid,
            "--dir",
            &path,
            "--host-name",
            "db1",
            "--rate",
            "200",
        ];
        let often = ["--write-every", "0.1s", "--settle-every", "0.3s"];
        directory.tare(options.iter().chain(&often).chain(more))
    };
    let mut file_count = 0;
    for _ in 0..kills {
        let mut recorder = Process::start(&mut record(&[]));
        wait_for("more rows than before", || {
            let all = files(&history);
            (all.len() > file_count).then_some(())
        });
        recorder.signal("KILL");
        recorder.wait();
        file_count = files(&history).len();
    }
    let finished = finish(&mut record(&["--for", "0.2s"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    // Every file is complete, each sampling instant occurs once, and no piece is left open.
    let mut moments: Vec<String> = rows(&history, "moments")
        .iter()
        .map(|row| row["sampled_at"].to_string())
        .collect();
    let all = moments.len();
    moments.sort();
    moments.dedup();
    assert_eq!(moments.len(), all);
    assert!(all > kills, "{all} moments");
    let open = fs::read_dir(history.join(".open")).expect("a directory");
    assert_eq!(open.count(), 0);
}

/// The recorder goes on when nobody reads its messages any more, and waits for a server that restarts.
#[test]
fn a_recorder_outlives_its_server_and_the_reader_of_its_messages() {
    let directory = Directory::new("record-restart");
    let history = directory.path().join("history");
    let socket = directory.path().join("s");
    let serve = || {
        let mut command = directory.tare(["serve", "--skip-networking", "--data", "data"]);
        command.arg("--socket").arg(&socket).stderr(Stdio::null());
        let server = Process::start(&mut command);
        wait_for("the server", || support::server::connect(&socket).ok());
        server
    };
    let server = serve();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = directory.tare(["record", "--rate", "20", "--write-every", "0.1s"]);
    command
        .arg("--dir")
        .arg(&history)
        .arg("--dsn")
        .arg(&socket)
        .stderr(writer);
    let mut recorder = Process::start(&mut command);
    drop(command);
    let moments = || {
        files(&history)
            .iter()
            .filter(|path| path.to_string_lossy().contains("moments"))
            .count()
    };
    wait_for("a file of moments", || (moments() > 0).then_some(()));
    drop(reader);
    // Killed, not stopped: the socket's file stays.
    drop(server);
    wait_for("complete files", || {
        (!files(&history.join("moments")).is_empty()).then_some(())
    });
    let before = rows(&history, "moments").len();
    assert!(!recorder.has_ended());
    let _server = serve();
    wait_for("an open piece", || {
        (!files(&history.join(".open")).is_empty()).then_some(())
    });
    recorder.signal("INT");
    assert!(recorder.wait().success());
    assert!(rows(&history, "moments").len() > before);
}

/// An account without rights is told which it needs, before anything else is said or written.
#[test]
fn without_rights_the_message_names_the_grant() {
    let server = Server::mariadb(&["--performance-schema=ON"]);
    let mut root = server.connect();
    root.query_drop("CREATE USER nobody@localhost IDENTIFIED BY 'x'")
        .expect("created");
    let directory = Directory::new("record-rights");
    let socket = server.socket().to_str().expect("UTF-8");
    for command in [
        &["record", "--dir", "history"][..],
        &["live", "--listen", "127.0.0.1:0"],
    ] {
        let mut command = directory.tare(command);
        command.args(["-u", "nobody", "-px", "-S", socket]);
        let finished = finish(&mut command);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        let grant = "GRANT SELECT ON performance_schema.* TO 'nobody'@'localhost'";
        assert!(finished.stderr.contains(grant), "{finished:?}");
        assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
    }
    assert!(!directory.path().join("history").exists());
}

#[test]
fn a_failed_write_ends_the_recorder_with_a_reason() {
    let directory = Directory::new("record-full");
    let history = directory.path().join("history");
    let server = Server::tare(&[]);
    let pid = server.pid().to_string();
    let path = history.to_str().expect("UTF-8");
    let tare = directory.tare([
        "record",
        "--pid",
        &pid,
        "--dir",
        path,
        "--write-every",
        "0.1s",
    ]);
    // Files are limited to 512 bytes.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -f 1; exec \"$@\"", "sh"]);
    command.arg(tare.get_program()).args(tare.get_args());
    let finished = finish(&mut command);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished.stderr.contains("recording has stopped"),
        "{finished:?}"
    );
    assert!(files(&history).is_empty());
    let finished = finish(&mut directory.tare(["sql", "--pid", &pid, "-e", "SELECT 1"]));
    assert_eq!(finished.code, Some(0), "the server goes on: {finished:?}");
}
