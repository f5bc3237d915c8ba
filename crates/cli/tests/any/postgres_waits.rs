//! PostgreSQL's waits by its own names, and the roles of its processes.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::postgres::Postgres;
use super::support::{Directory, Process, finish, wait_for};
use super::{library, number, programs, rows};

impl Postgres {
    /// Number of a wait's events and their time in picoseconds.
    fn wait(&self, name: &str) -> (u64, u64) {
        let sql = format!(
            "SELECT COUNT_STAR AS n, SUM_TIMER_WAIT AS ps \
             FROM performance_schema.events_waits_summary_global_by_event_name \
             WHERE EVENT_NAME = 'wait/{name}'"
        );
        let rows = self.rows(&sql);
        let value = |name: &str| {
            rows.first()
                .map_or(0, |row| row[name].as_u64().expect("a sum"))
        };
        (value("n"), value("ps"))
    }
}

/// The WAL's writes and syncs are those that PostgreSQL counts, and so is the time of syncs.
fn check_wal(server: &Postgres) {
    const WRITE: &str = "io/file/postgres/WALWrite";
    const SYNC: &str = "io/file/postgres/WALSync";
    let mut before = (0, 0);
    // A process that the system suspends between PostgreSQL's clock and ours spoils one round.
    wait_for("a time of syncs that differs by less than 2 %", || {
        server.pgbench(&["-c", "2", "-t", "50"]);
        let mut readings = ((0, 0, 0), (0, 0), (0, 0));
        wait_for("equal numbers of writes and syncs", || {
            let [writes, syncs, ms] = server.wal();
            let wal = (writes as u64, syncs as u64, (ms * 1e9) as u64);
            readings = (wal, server.wait(WRITE), server.wait(SYNC));
            let (wal, write, sync) = readings;
            (wal.0 == write.0 && wal.1 == sync.0 && write.0 > 50).then_some(())
        });
        let (wal, _, sync) = readings;
        let (theirs, ours) = (wal.2 - before.0, sync.1 - before.1);
        before = (wal.2, sync.1);
        // Our interval is within PostgreSQL's. The clocks have different units and origins.
        assert!(ours <= theirs + theirs / 200, "{ours} of {theirs}");
        (ours >= theirs - theirs / 50).then_some(())
    });
    // The same calls, by file.
    let by_file = "SELECT SUM(COUNT_WRITE) AS n FROM performance_schema.file_summary_by_instance \
                   WHERE EVENT_NAME = 'wait/io/file/postgres/wal'";
    assert!(number(&server.rows(by_file)[0]) >= server.wait(WRITE).0);
}

/// A session waits for a row that another one has changed.
fn check_row_lock(server: &Postgres) {
    const LOCK: &str = "lock/metadata/postgres/transactionid";
    let before = server.wait(LOCK);
    let mut holder = server.interactive_psql();
    holder.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut holder = holder.spawn().expect("psql starts");
    let mut statements = holder.stdin.take().expect("piped");
    statements
        .write_all(b"BEGIN; UPDATE t SET n = 0 WHERE id = 1;\n")
        .expect("psql reads");
    let count = |sql: &str| server.query(sql).trim() == "1";
    wait_for("the holder", || {
        count("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'")
            .then_some(())
    });
    let began = Instant::now();
    let mut waiting = server.psql("UPDATE t SET n = 1 WHERE id = 1");
    let mut waiting = Process::start_on(&mut waiting, Stdio::null());
    let is_waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'transactionid'";
    wait_for("the wait", || count(is_waiting).then_some(()));
    let waits_since = Instant::now();
    std::thread::sleep(Duration::from_millis(300));
    let waited = waits_since.elapsed();
    statements.write_all(b"COMMIT;\n").expect("psql reads");
    drop(statements);
    assert!(waiting.wait().success());
    let longest = began.elapsed();
    assert!(holder.wait().expect("psql ends").success());
    let after = server.wait(LOCK);
    let time = Duration::from_nanos((after.1 - before.1) / 1_000);
    // A call ends at deadlock_timeout, and another one follows.
    assert!(after.0 - before.0 >= 2);
    // Within the clock's precision.
    assert!(
        time + Duration::from_millis(5) >= waited,
        "{time:?} of {waited:?}"
    );
    assert!(
        time <= longest + Duration::from_millis(5),
        "{time:?} of {longest:?}"
    );
}

/// A statement that waits for its client does not count as idle, as the wait for the next statement does.
fn check_client_read(server: &Postgres) {
    const READ: &str = "io/socket/postgres/ClientRead";
    let before = server.wait(READ);
    assert_eq!(before, (0, 0), "no statement has waited for its client");
    let mut copy = server.psql("COPY t FROM STDIN");
    let mut copy = copy
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("psql starts");
    let mut rows = copy.stdin.take().expect("piped");
    let is_waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientRead' \
                      AND state = 'active'";
    wait_for("the wait", || {
        (server.query(is_waiting).trim() == "1").then_some(())
    });
    let since = Instant::now();
    std::thread::sleep(Duration::from_millis(200));
    let waited = since.elapsed();
    rows.write_all(b"101\t0\n").expect("psql reads");
    drop(rows);
    assert!(copy.wait().expect("psql ends").success());
    let (_, ps) = server.wait(READ);
    let time = Duration::from_nanos(ps / 1_000);
    assert!(
        time + Duration::from_millis(5) >= waited,
        "{time:?} of {waited:?}"
    );
}

/// Threads have the roles of pg_stat_activity.
fn check_roles(server: &Postgres) {
    let mut sleeper = server.psql("SELECT pg_sleep(1000)");
    let _sleeper = Process::start_on(sleeper.stderr(Stdio::null()), Stdio::null());
    let sql =
        "SELECT pid, backend_type FROM pg_stat_activity WHERE pid <> pg_backend_pid() ORDER BY pid";
    let mut differences = Vec::new();
    wait_for("the roles", || {
        let activity = server.query(sql);
        let rows =
            server.rows("SELECT THREAD_OS_ID AS pid, NAME AS name FROM performance_schema.threads");
        let role = |pid: &str| {
            let row = rows
                .iter()
                .find(|row| row["pid"].as_u64() == pid.parse().ok())?;
            row["name"].as_str()?.strip_prefix("thread/postgres/")
        };
        let expected = activity
            .lines()
            .map(|line| line.split_once(' ').expect("two columns"));
        differences = (expected
            .clone()
            .filter(|(pid, name)| role(pid) != Some(name)))
        .map(|(pid, name)| format!("{pid} {name}"))
        .collect();
        let has_all = [
            "client backend",
            "checkpointer",
            "logical replication launcher",
        ]
        .iter()
        .all(|name| expected.clone().any(|(_, other)| other == *name));
        (has_all && differences.is_empty()).then_some(())
    });
    let listed = finish(
        &mut server
            .directory
            .tare(["ps", "--processes", "--format", "json"]),
    );
    let listed: Json = serde_json::from_str(&listed.stdout).expect("JSON");
    let listed = listed.as_array().expect("rows");
    let checkpointer =
        server.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
    let checkpointer: u64 = checkpointer.trim().parse().expect("a process");
    let row = |pid: u64| {
        listed
            .iter()
            .find(|row| row["PID"] == pid)
            .expect("it is listed")
    };
    let row_of_checkpointer = row(checkpointer);
    assert_eq!(row_of_checkpointer["ROLE"], "checkpointer");
    let first = row_of_checkpointer["SEGMENT_PID"]
        .as_u64()
        .expect("a process");
    assert_eq!(row(first)["ROLE"], "postmaster");
    assert_eq!(row(first)["THREADS"], 1);
    let target = ["--pid", &checkpointer.to_string()];
    let pid = rows(&server.directory, &target, "SELECT pid FROM tare.segments");
    assert_eq!(number(&pid[0]), first);
    let postmaster = "SELECT COUNT(*) AS n FROM performance_schema.threads \
                      WHERE NAME = 'thread/postgres/postmaster' AND PARENT_THREAD_ID IS NULL";
    assert_eq!(number(&server.rows(postmaster)[0]), 1);
}

/// At the level `active`, active sessions have PostgreSQL's wait events; afterwards, waits are counted again.
fn check_level(server: &Postgres) {
    let set = |level: &str| {
        let sql = format!("UPDATE tare.setup_sampling SET sampling = '{level}'");
        let mut command = server
            .directory
            .tare(["sql", "--segment", "segment", "-e", &sql]);
        let finished = finish(&mut command);
        assert_eq!(finished.code, Some(0), "{finished:?}");
    };
    // A process that lives through both levels.
    let mut session = server.interactive_psql();
    session.stdin(Stdio::piped()).stdout(Stdio::null());
    session.stderr(Stdio::null());
    let mut session = session.spawn().expect("psql starts");
    let mut statements = session.stdin.take().expect("piped");
    let mut execute = |sql: &[u8]| statements.write_all(sql).expect("psql reads");
    set("active");
    execute(b"SELECT 'first';\nSELECT pg_sleep(1000), 'second';\n");
    let sql = "SELECT wait, state FROM tare.active_sessions \
               WHERE sql_text LIKE '%second%' AND wait IS NOT NULL";
    let row = wait_for("an active session", || server.rows(sql).pop());
    assert_eq!(row["wait"], "wait/synch/cond/postgres/PgSleep");
    assert_eq!(row["state"], "waiting");
    let before = server.wait("synch/cond/postgres/PgSleep").0;
    set("every");
    server.query(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity \
         WHERE query LIKE '%second%' AND pid <> pg_backend_pid()",
    );
    execute(b"SELECT pg_sleep(0.1);\nSELECT pg_sleep(0.1);\n\\q\n");
    assert!(session.wait().expect("psql ends").success());
    assert!(server.wait("synch/cond/postgres/PgSleep").0 > before);
}

#[test]
fn waits_and_processes_have_postgresqls_names() {
    let server = Postgres::start(&["track_wal_io_timing=on", "deadlock_timeout=100ms"]);
    server.create_table();
    check_wal(&server);
    check_row_lock(&server);
    wait_for("a wait for a lock of the server's memory", || {
        server.pgbench(&["-c", "8", "-t", "20"]);
        (server.wait("synch/rwlock/postgres/WALWrite").0 > 0).then_some(())
    });
    assert_eq!(
        finish(&mut server.psql("SELECT pg_sleep(0.2)")).code,
        Some(0)
    );
    let (count, time) = server.wait("synch/cond/postgres/PgSleep");
    assert!(count >= 1 && time >= 199_000_000_000, "{count} {time}");
    check_client_read(&server);
    check_roles(&server);
    check_level(&server);
    let repeated = "SELECT NAME, COUNT(*) AS n FROM performance_schema.setup_instruments \
                    GROUP BY NAME HAVING n > 1";
    assert_eq!(server.rows(repeated), Vec::<Json>::new());
    let lost = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_status \
                WHERE VARIABLE_VALUE <> '0' AND VARIABLE_NAME LIKE 'Performance_schema%lost'";
    assert_eq!(server.rows(lost), Vec::<Json>::new());
}

#[test]
fn a_server_without_exported_wait_events_is_reported() {
    let directory = Directory::new("old-postgres");
    let program = programs::compile(&directory, "old_postgres.c", "postgres", &["-rdynamic"]);
    let mut run = directory.tare(["run", "--library"]);
    let finished = finish(run.arg(library()).arg("--").arg(program));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let lines = finished.stderr.lines();
    assert_eq!(
        lines
            .filter(|line| line.contains("before version 14"))
            .count(),
        1
    );
}
