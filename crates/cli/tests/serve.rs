//! `tare serve` as a process: ready lines, options, signals. The `mariadb` client queries it;
//! tare-server's own tests cover its answers.

mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use support::{CommandResult, Directory, Process, finish, host};

struct TareServer {
    running: Process,
    socket: PathBuf,
    port: u16,
}

/// Starts `tare serve` on a free port, and reads what it prints when it is ready.
fn serve(directory: &Directory, options: &[&str]) -> TareServer {
    let mut command = directory.tare(["serve", "--data", "data", "--port", "0"]);
    let mut running = Process::start(command.args(options).stderr(Stdio::piped()));
    let socket = running.line();
    let socket = socket
        .strip_prefix("Listening on ")
        .expect("the socket's line");
    let port = running.line();
    let port = port
        .strip_prefix("Listening on 127.0.0.1:")
        .expect("the port's line");
    let hint = running.line();
    assert_eq!(hint, format!("Connect with: mariadb --socket {socket}"));
    let socket = directory.path().join(socket);
    TareServer {
        running,
        socket,
        port: port.parse().expect("a port"),
    }
}

impl TareServer {
    fn query(&self, query: &str) -> CommandResult {
        let mut client = Command::new("mariadb");
        client
            .arg("--no-defaults")
            .arg("--socket")
            .arg(&self.socket);
        finish(client.args(["--user=root", "--batch", "--skip-column-names", "-e", query]))
    }

    /// COM_STATISTICS.
    fn statistics(&self) -> String {
        let mut client = Command::new("mariadb-admin");
        client
            .arg("--no-defaults")
            .arg("--socket")
            .arg(&self.socket);
        let finished = finish(client.args(["--user=root", "status"]));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stdout.trim().to_owned()
    }

    fn answer(&self, query: &str) -> String {
        let finished = self.query(query);
        assert_eq!(finished.code, Some(0), "{query}: {finished:?}");
        finished.stdout
    }
}

/// A statement is added to its digest when it ends, as in MySQL.
#[test]
fn truncating_the_digest_table_is_its_first_row() {
    let directory = Directory::new("truncate");
    let served = serve(&directory, &[]);
    let table = "performance_schema.events_statements_summary_by_digest";
    let (truncate, rows) = (
        format!("TRUNCATE TABLE {table}"),
        format!("SELECT DIGEST_TEXT, COUNT_STAR FROM {table}"),
    );
    let before = served.answer(&format!("SELECT 1; SELECT COUNT(*) > 0 FROM {table}"));
    assert_eq!(before, "1\n1\n");
    let expected =
        "TRUNCATE TABLE `performance_schema` . `events_statements_summary_by_digest`\t1\n";
    assert_eq!(served.answer(&format!("{truncate}; {rows}")), expected);
    // The same for a prepared statement.
    let prepared = format!("PREPARE p FROM '{truncate}'; EXECUTE p; {rows}");
    assert_eq!(served.answer(&prepared), format!("EXECUTE {expected}"));
}

#[test]
fn it_prints_its_addresses_and_stops_on_signals() {
    for signal in ["TERM", "INT"] {
        let directory = Directory::new("signal");
        let mut served = serve(&directory, &[]);
        assert_eq!(served.answer("SELECT 1"), "1\n");
        served.running.signal(signal);
        assert_eq!(served.running.wait().code(), Some(0), "after SIG{signal}");
        assert!(!served.socket.exists(), "the socket is removed");
    }
}

#[test]
fn cpu_time_is_measured_while_its_consumer_is_on() {
    let directory = Directory::new("cpu");
    let served = serve(&directory, &["--as", "9.7"]);
    let switch = |to: &str| {
        format!(
            "UPDATE performance_schema.setup_consumers SET ENABLED = '{to}' WHERE NAME = 'events_statements_cpu';"
        )
    };
    let busy = "SELECT SHA2(REPEAT('a', 1000000), 256) IS NULL;";
    let (on, off) = (switch("YES"), switch("NO"));
    let rows = served.answer(&format!(
        "{busy} {on} {busy} SELECT SLEEP(0.3); {off} {busy} \
         SELECT CPU_TIME > 0, CPU_TIME < TIMER_WAIT OR SQL_TEXT NOT LIKE '%SLEEP%' \
         FROM performance_schema.events_statements_history \
         WHERE (SQL_TEXT LIKE '%SHA2%' OR SQL_TEXT LIKE '%SLEEP%') AND EVENT_NAME = 'statement/sql/select' \
         AND THREAD_ID = PS_CURRENT_THREAD_ID() ORDER BY EVENT_ID; \
         SELECT SUM(d.SUM_CPU_TIME) = (SELECT SUM(h.CPU_TIME) FROM performance_schema.events_statements_history h \
         WHERE h.SQL_TEXT LIKE 'SELECT SHA2%') \
         FROM performance_schema.events_statements_summary_by_digest d WHERE d.DIGEST_TEXT LIKE 'SELECT `SHA2`%'; \
         SELECT MAX(IF(SQL_TEXT LIKE 'SELECT SLEEP%', CPU_TIME, 0)) < MAX(IF(SQL_TEXT LIKE 'SELECT SHA2%', CPU_TIME, 0)) \
         FROM performance_schema.events_statements_history"
    ));
    // The last row: CPU_TIME is the statement's, not the thread's.
    assert_eq!(rows, "0\n0\n0\n0\n0\t1\n1\t1\n1\t1\n0\t1\n1\n1\n");
    let consumers =
        "SELECT NAME FROM performance_schema.setup_consumers WHERE NAME LIKE 'events_statements%'";
    assert_eq!(
        served.answer(consumers),
        "events_statements_cpu\nevents_statements_current\nevents_statements_history\nevents_statements_history_long\n"
    );
}

#[test]
fn tcp_listens_on_the_given_address() {
    let directory = Directory::new("bind");
    let mut command = directory.tare([
        "serve",
        "--data",
        "data",
        "--port",
        "0",
        "--bind_address=127.0.0.2",
    ]);
    let mut running = Process::start(&mut command);
    let socket = running.line().replace("Listening on ", "");
    let tcp = running.line().replace("Listening on ", "");
    let port = tcp
        .strip_prefix("127.0.0.2:")
        .expect("the address that was given");
    std::net::TcpStream::connect(&tcp).expect("it listens there");
    assert!(
        std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err(),
        "and nowhere else"
    );
    let mut client = Command::new("mariadb");
    client.current_dir(directory.path()).args([
        "--no-defaults",
        "--socket",
        &socket,
        "--user=root",
    ]);
    let answer = finish(client.args([
        "--batch",
        "--skip-column-names",
        "-e",
        "SELECT @@bind_address",
    ]));
    assert_eq!(answer.stdout, "127.0.0.2\n", "{answer:?}");
}

#[test]
fn tcp_needs_the_password_of_the_file() {
    let directory = Directory::new("tcp");
    std::fs::write(directory.path().join("secret"), "correct horse\n").expect("written");
    let served = serve(&directory, &["--password-file", "secret"]);
    let connect = |password: &str| {
        let mut client = Command::new("mariadb");
        client.args([
            "--no-defaults",
            "-h",
            "127.0.0.1",
            "-u",
            "root",
            "-N",
            "-e",
            "SELECT 1",
        ]);
        client
            .arg(format!("--port={}", served.port))
            .arg(format!("--password={password}"));
        finish(&mut client)
    };
    assert_eq!(connect("correct horse").stdout, "1\n");
    let refused = connect("wrong");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("1045"), "{refused:?}");
}

#[test]
fn options_reach_the_setup_tables_and_variables() {
    let directory = Directory::new("options");
    let served = serve(
        &directory,
        &[
            "--performance_schema_instrument='%=OFF'",
            "--performance-schema-instrument=wait/io/file/%=COUNTED",
            "--performance-schema-consumer-events-waits-current=ON",
            "--performance-schema-consumer-statements-digest=0",
            "--max-connections=17",
            "--max_allowed_packet=2M",
            "--thread-handling=pool-of-threads",
        ],
    );
    let distinct = |columns, pattern| {
        let from = "performance_schema.setup_instruments";
        served.answer(&format!(
            "SELECT DISTINCT {columns} FROM {from} WHERE NAME LIKE '{pattern}'"
        ))
    };
    assert_eq!(distinct("ENABLED, TIMED", "wait/io/file/%"), "YES\tNO\n");
    assert_eq!(distinct("ENABLED", "wait/synch/%"), "NO\n");
    let consumers = "SELECT NAME, ENABLED FROM performance_schema.setup_consumers \
                     WHERE NAME IN ('events_waits_current', 'statements_digest') ORDER BY NAME";
    assert_eq!(
        served.answer(consumers),
        "events_waits_current\tYES\nstatements_digest\tNO\n"
    );
    assert_eq!(
        served.answer("SELECT @@max_connections, @@max_allowed_packet, @@thread_handling"),
        "17\t2097152\tpool-of-threads\n"
    );
}

#[test]
fn every_thread_has_a_name() {
    let directory = Directory::new("names");
    let served = serve(&directory, &[]);
    let names = served.answer("SELECT NAME FROM performance_schema.threads");
    assert!(names.contains("thread/sql/signal_handler\n"), "{names}");
    assert!(names.contains("thread/tare/starter\n"), "{names}");
    assert!(!names.contains("unknown"), "{names}");
}

/// The memory that docs/overhead.md promises. It once grew by half unnoticed.
#[cfg(feature = "instrument")]
#[test]
fn an_idle_connection_takes_less_than_16_kib_of_the_segment() {
    use mysql::prelude::Queryable;
    let directory = Directory::new("idle");
    let served = serve(&directory, &[]);
    let connect = |_| {
        let mut conn = support::server::connect(&served.socket).expect("connected");
        conn.query_drop("SELECT 1").expect("answered");
        conn
    };
    let resident = || -> u64 {
        let answer = served.answer("SELECT resident_bytes FROM tare.segments");
        answer.trim().parse().expect("bytes")
    };
    // The first few connections also allocate what all share.
    let _few: Vec<_> = (0..8).map(connect).collect();
    let before = resident();
    let many: Vec<_> = (0..64).map(connect).collect();
    let each = (resident() - before) / many.len() as u64;
    assert!(each < 16 << 10, "{each} bytes for an idle connection");
    assert!(each > 1 << 10, "{each} bytes are too few to be true");
}

#[test]
fn without_performance_schema_there_is_no_segment() {
    let directory = Directory::new("off");
    let served = serve(&directory, &["--performance-schema=OFF"]);
    assert_eq!(served.answer("SELECT @@performance_schema"), "0\n");
    assert_eq!(
        tare_reader::discover::find_of_process(served.running.pid()),
        []
    );
}

#[test]
fn an_attached_server_answers_about_another_program() {
    let directory = Directory::new("attach");
    let host = host::start(&directory);
    let served = serve(&directory, &["--attach-pid", &host.pid().to_string()]);
    assert_eq!(
        served.answer("SELECT pid FROM tare.segments"),
        format!("{}\n", host.pid())
    );
    let waits = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME LIKE '%/LOCK_host'";
    assert_eq!(served.answer(waits), "1\n");
}

#[test]
fn a_directory_in_use_is_refused() {
    let directory = Directory::new("use");
    let _served = serve(&directory, &[]);
    let second = finish(&mut directory.tare(["serve", "--data", "data", "--port", "0"]));
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("in use"), "{second:?}");
}

#[test]
fn tare_sql_connects_by_socket_and_by_address() {
    let directory = Directory::new("dsn");
    std::fs::write(directory.path().join("secret"), "pass").expect("written");
    let served = serve(&directory, &["--password-file", "secret"]);
    let query = |dsn: &str| {
        finish(&mut directory.tare([
            "sql",
            "--dsn",
            dsn,
            "-e",
            "SELECT 18446744073709551615 AS n, NULL AS x",
        ]))
    };
    let socket = served.socket.to_str().expect("UTF-8").to_owned();
    for dsn in [
        socket.clone(),
        format!("mysql://root@localhost?socket={socket}"),
        format!(
            "mysql://root:pass@127.0.0.1:{}/performance_schema",
            served.port
        ),
    ] {
        let finished = query(&dsn);
        assert_eq!(
            finished.stdout, "n\tx\n18446744073709551615\tNULL\n",
            "{dsn}: {finished:?}"
        );
    }
    let refused = query(&format!("mysql://root:no@127.0.0.1:{}/", served.port));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("ERROR 1045 (28000)"), "{refused:?}");
}

#[test]
fn an_interactive_session_prints_tables_and_survives_errors() {
    let directory = Directory::new("terminal");
    let served = serve(&directory, &[]);
    // script(1) gives it a terminal.
    let command = format!("{} sql --dsn {}", support::TARE, served.socket.display());
    let mut script = Command::new("script");
    script
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .env("TERM", "dumb");
    let input = "SELECT 1 AS a,\n'x' AS b;\nSELECT * FROM performance_schema.nowhere;\nCREATE DATABASE d;\nexit\n";
    let finished = support::finish_with_input(&mut script, input);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let output = finished.stdout.replace('\r', "");
    assert!(
        output.contains("| a | b |\n+---+---+\n| 1 | x |\n+---+---+\n1 row\n"),
        "{output}"
    );
    assert!(output.contains("ERROR 1146 (42S02): "), "{output}");
    assert!(output.contains("1 row changed\n"), "{output}");
}

/// The server's own counters do not describe the attached program.
#[test]
fn status_variables_are_the_attached_programs_or_absent() {
    let directory = Directory::new("status");
    let host = host::start(&directory);
    let served = serve(&directory, &["--attach-pid", &host.pid().to_string()]);
    let own_directory = Directory::new("alone");
    let own = serve(&own_directory, &[]);
    // Variables of the connection itself, of the segment and its process, and of the attachment.
    let prefixes = [
        "compression",
        "ssl_",
        "performance_schema_",
        "tare_",
        "threads_",
        "uptime",
    ];
    for from in [
        "SHOW GLOBAL STATUS",
        "SHOW STATUS",
        "SHOW LOCAL STATUS",
        "SELECT * FROM performance_schema.global_status",
        "SELECT * FROM performance_schema.session_status",
    ] {
        let rows = served.answer(from).to_lowercase();
        assert!(
            rows.contains("performance_schema_digest_lost"),
            "{from}: {rows}"
        );
        for name in rows.lines() {
            assert!(
                prefixes.iter().any(|prefix| name.starts_with(prefix)),
                "{from}: {name}"
            );
        }
        // A server that is not attached has them.
        let rows = own.answer(from).to_lowercase();
        for name in ["threads_connected", "questions", "uptime"] {
            assert!(
                rows.lines().any(|row| row.starts_with(name)),
                "{from}: {name}"
            );
        }
    }
    let pid = host.pid();
    assert_eq!(
        served.statistics(),
        format!("Attached to process: {pid}  Running: 1")
    );
    assert!(own.statistics().starts_with("Uptime: "));
}

#[test]
fn the_end_of_an_attached_program_is_reported() {
    let directory = Directory::new("ends");
    let host = host::start(&directory);
    let served = serve(&directory, &["--attach-pid", &host.pid().to_string()]);
    let status = |name: &str| {
        let row = served.answer(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
        row.trim().split('\t').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(status("Tare_attached_running"), "ON");
    assert_eq!(status("Tare_attached_pid"), host.pid().to_string());
    assert_eq!(served.answer("SELECT 1; SHOW WARNINGS"), "1\n");
    let pid = host.pid();
    support::signal(pid, "KILL");
    drop(host);
    support::wait_for("the end to be counted", || {
        (status("Tare_attached_ends") == "1").then_some(())
    });
    assert_eq!(status("Tare_attached_running"), "OFF");
    assert_eq!(
        served.statistics(),
        format!("Attached to process: {pid}  Running: 0")
    );
    let warned = served.answer("SELECT 1; SHOW WARNINGS; SELECT 2; SHOW WARNINGS");
    assert!(
        warned.contains(&format!("process {pid}, has ended")),
        "{warned}"
    );
    assert_eq!(warned.matches("has ended").count(), 1, "once: {warned}");
    // Its figures are still there.
    let waits = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME LIKE '%/LOCK_host'";
    assert_eq!(served.answer(waits), "1\n");
    let mut running = served.running;
    running.signal("TERM");
    running.wait();
    let log = running.stderr();
    assert!(log.contains(&format!("process {pid} has ended")), "{log}");
}

#[test]
fn a_successor_is_followed() {
    let directory = Directory::new("follow");
    let first = host::start(&directory);
    let served = serve(
        &directory,
        &["--attach-pid", &first.pid().to_string(), "--follow"],
    );
    support::signal(first.pid(), "KILL");
    drop(first);
    let second = host::start(&directory);
    support::wait_for("the successor to be found", || {
        let pid = served.answer("SELECT pid FROM tare.segments");
        (pid.trim() == second.pid().to_string()).then_some(())
    });
    let waits = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME LIKE '%/LOCK_host'";
    assert_eq!(served.answer(waits), "1\n");
    assert_eq!(
        served.answer("SHOW GLOBAL STATUS WHERE Variable_name = 'Tare_attached_running'"),
        "Tare_attached_running\tON\n"
    );
}
