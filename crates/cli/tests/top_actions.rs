//! `tare top` with several servers by name, blocked sessions, KILL, and --record.

mod support;

use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use support::server::Server;
use support::terminal::{LEAVE_ALTERNATE_SCREEN, Terminal};
use support::{CommandResult, Directory, finish, wait_for};

/// Escape sequences that switch mouse reports on and off.
const MOUSE: &str = "\x1b[?1000h";
const NO_MOUSE: &str = "\x1b[?1000l";

/// Writes a configuration that names these servers.
fn write_config(directory: &Directory, servers: &[(&str, &Path)]) {
    let folder = directory.path().join("tare");
    std::fs::create_dir_all(&folder).expect("made");
    let text = servers.iter().map(|(name, socket)| {
        let socket = socket.display();
        format!("[servers.{name}]\nsocket = '{socket}'\nuser = 'root'\n")
    });
    std::fs::write(folder.join("config.toml"), text.collect::<String>()).expect("written");
}

/// `tare` with that configuration.
fn tare(directory: &Directory, arguments: &[&str]) -> Command {
    let mut command = directory.tare(arguments);
    command.env("XDG_CONFIG_HOME", directory.path());
    command
}

/// Waits for a statement that begins like this, and returns its connection.
fn wait_for_statement(root: &mut Conn, statement: &str) -> u64 {
    let question = format!(
        "SELECT PROCESSLIST_ID FROM performance_schema.threads WHERE PROCESSLIST_INFO LIKE '{statement}%'"
    );
    wait_for(statement, || {
        root.query_first::<u64, _>(&question).expect("answers")
    })
}

/// Starts a client that sleeps until it is killed.
fn sleeper(server: &Server) -> JoinHandle<mysql::Result<()>> {
    let mut conn = server.connect();
    std::thread::spawn(move || conn.query_drop("SELECT SLEEP(1000) AS sleeper"))
}

/// The rows of one interval of page threads.
fn threads(socket: &Path) -> (CommandResult, Vec<Value>) {
    let directory = Directory::new("threads");
    let dsn = socket.to_str().expect("UTF-8");
    let finished = finish(&mut directory.tare([
        "top", "--dsn", dsn, "--batch", "1", "-i", "0.2", "--format", "json", "--page", "threads",
    ]));
    let interval: Value = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {finished:?}"));
    let rows = interval["rows"].as_array().expect("rows").clone();
    (finished, rows)
}

#[test]
fn named_servers_have_tabs_and_a_lost_one_is_marked() {
    let servers = [Server::tare(&[]), Server::tare(&[])];
    let directory = Directory::new("tabs");
    write_config(
        &directory,
        &[
            ("prod1", servers[0].socket()),
            ("prod2", servers[1].socket()),
        ],
    );
    let mut terminal = Terminal::of(&mut tare(
        &directory,
        &["top", "-i", "0.2", "prod1", "prod2"],
    ));
    terminal.wait_for_text(MOUSE);
    terminal.wait_for_text("prod1");
    terminal.wait_for_text("STATEMENT");
    // The second one, by its tab: SGR's press and release at column 10 of line 2.
    terminal.press("\x1b[<0;10;2M\x1b[<0;10;2m");
    // Control-L redraws everything, until the headline is the second server's.
    let other = servers[1].socket().display().to_string();
    wait_for("the second server", || {
        terminal.press("\x0c");
        terminal
            .output
            .lock()
            .unwrap()
            .contains(&other)
            .then_some(())
    });
    let [first, _second] = servers;
    drop(first);
    // The tab of a server that is not displayed marks the lost connection.
    terminal.wait_for_text("prod1!");
    terminal.press("q");
    terminal.wait_for_text(NO_MOUSE);
    terminal.wait_for_text(LEAVE_ALTERNATE_SCREEN);
    assert!(terminal.running.wait().success());
}

#[test]
fn top_waits_for_an_unreachable_server_among_several() {
    let server = Server::tare(&[]);
    let directory = Directory::new("late");
    let late = directory.path().join("late");
    write_config(&directory, &[("here", server.socket()), ("late", &late)]);
    let mut terminal = Terminal::of(&mut tare(&directory, &["top", "-i", "0.2", "here", "late"]));
    terminal.wait_for_text("late!");
    terminal.press("q");
    assert!(terminal.running.wait().success());
    // A single server that is not there is an error, and so is an unknown name.
    let single = finish(&mut tare(&directory, &["top", "late", "--batch", "1"]));
    assert_eq!(single.code, Some(1), "{single:?}");
    let unknown = finish(&mut tare(&directory, &["top", "prod9", "--batch", "1"]));
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.stderr.contains("names here, late"), "{unknown:?}");
}

/// Selects the sleeper's row on page threads, kills it with this key, and waits for the expected message.
fn kill(terminal: &mut Terminal, key: &str, expected: &str) {
    // It is ready for keys.
    terminal.wait_for_text("STATEMENT");
    terminal.press("7/sleeper\r");
    // Search for single words: unchanged blanks are not sent again.
    terminal.wait_for_text("(Esc:");
    // Control-L redraws everything, because an unchanged row is not sent again either.
    terminal.press("\x0c");
    terminal.wait_for_text("Query");
    terminal.press(key);
    terminal.wait_for_text("yes,");
    terminal.press("y");
    terminal.wait_for_text(expected);
    terminal.press("q");
    assert!(terminal.running.wait().success());
}

#[test]
fn a_statement_and_a_session_are_killed_after_confirmation() {
    let server = Server::tare(&[]);
    let mut root = server.connect();
    let sleeps = sleeper(&server);
    wait_for_statement(&mut root, "SELECT SLEEP");
    kill(&mut Terminal::start(server.socket()), "K", "done");
    // The sleep is interrupted. Whether that is an error depends on the server.
    let _ = sleeps.join().expect("ends");

    // With --pid, KILL goes through the socket on which the server listens.
    let sleeps = sleeper(&server);
    let id = wait_for_statement(&mut root, "SELECT SLEEP");
    let directory = Directory::new("kill");
    let pid = server.pid().to_string();
    let mut command = directory.tare(["top", "-i", "0.2", "--pid", &pid]);
    command.env("HOME", directory.path());
    kill(&mut Terminal::of(&mut command), "X", "done");
    let _ = sleeps.join().expect("ends");
    wait_for("its connection to be gone", || {
        let left =
            format!("SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = {id}");
        let left: Option<u64> = root.query_first(left).expect("answers");
        (left == Some(0)).then_some(())
    });
}

#[test]
fn a_key_opens_and_ends_an_exact_window() {
    let server = Server::tare(&["--sampling", "active"]);
    let mut root = server.connect();
    let mut level = || -> String {
        let rule = "SELECT sampling FROM tare.setup_sampling WHERE event_type = 'wait'";
        root.query_first(rule).expect("answers").expect("a row")
    };
    const WINDOW: &str = "every, then active";
    let directory = Directory::new("window");
    let pid = server.pid().to_string();
    let start = |options: &[&str]| {
        let mut command = directory.tare(["top", "-i", "0.2"].iter().chain(options));
        let terminal = Terminal::of(command.env("HOME", directory.path()));
        terminal.wait_for_text("ACTIVE");
        terminal
    };
    let mut terminal = start(&["--pid", &pid]);
    terminal.press("e");
    terminal.wait_for_text("counted");
    assert_eq!(level(), WINDOW);
    terminal.wait_for_text("EXACT");
    terminal.press("e");
    terminal.wait_for_text("ended");
    assert_eq!(level(), "active");
    // It ends with the screen.
    terminal.press("e");
    terminal.wait_for_text("counted");
    assert_eq!(level(), WINDOW);
    terminal.press("q");
    assert!(terminal.running.wait().success());
    assert_eq!(level(), "active");

    let mut terminal = start(&["--dsn", server.socket().to_str().expect("UTF-8")]);
    terminal.press("e");
    terminal.wait_for_text("memory");
    assert_eq!(level(), "active");
    terminal.press("q");
    assert!(terminal.running.wait().success());
}

#[test]
fn an_account_that_may_not_kill_gets_the_servers_error() {
    let server = Server::mariadb(&["--performance-schema=ON"]);
    let mut root = server.connect();
    root.query_drop("CREATE USER monitor@localhost IDENTIFIED BY 'm'")
        .expect("an account");
    root.query_drop("GRANT SELECT ON performance_schema.* TO monitor@localhost")
        .expect("a right");
    let sleeps = sleeper(&server);
    let id = wait_for_statement(&mut root, "SELECT SLEEP");
    let directory = Directory::new("monitor");
    let socket = server.socket().to_str().expect("UTF-8");
    let mut command = directory.tare(["top", "-i", "0.2", "-S", socket, "-u", "monitor"]);
    command.env("MYSQL_PWD", "m");
    kill(&mut Terminal::of(&mut command), "K", "1095");
    root.query_drop(format!("KILL {id}")).expect("killed");
    let _ = sleeps.join().expect("ends");
}

#[test]
fn a_blocked_session_comes_first_with_its_blocker() {
    let server = Server::mariadb(&[
        "--performance-schema=ON",
        "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON",
    ]);
    let mut holder = server.connect();
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.t (id INT PRIMARY KEY, n INT) ENGINE = InnoDB",
        "INSERT INTO shop.t VALUES (1, 0)",
        "BEGIN",
        "UPDATE shop.t SET n = 1 WHERE id = 1",
    ] {
        holder.query_drop(statement).expect(statement);
    }
    for statement in ["UPDATE shop.t SET n = 2", "ALTER TABLE shop.t ADD m INT"] {
        let mut waiter = server.connect();
        let id = u64::from(waiter.connection_id());
        let text = statement.to_owned();
        let waits = std::thread::spawn(move || waiter.query_drop(text));
        // InnoDB's tables report a wait some time after it began.
        let rows = wait_for("a blocked session", || {
            let (_, rows) = threads(server.socket());
            (rows[0]["blocked_by"] != Value::Null).then_some(rows)
        });
        let by = holder.connection_id().to_string();
        assert_eq!(
            (rows[0]["conn"].as_u64(), &rows[0]["blocked_by"]),
            (Some(id), &by.into()),
            "{rows:?}"
        );
        assert_eq!(
            rows[1]["conn"].as_u64(),
            Some(holder.connection_id().into()),
            "{rows:?}"
        );
        assert_eq!(rows[1]["blocks"], 1, "{rows:?}");
        let mut root = server.connect();
        root.query_drop(format!("KILL {id}")).expect("killed");
        assert!(waits.join().expect("ends").is_err());
    }
}

#[test]
fn json_has_one_object_per_interval_until_the_pipe_closes() {
    use std::io::{BufRead, BufReader};
    let server = Server::tare(&[]);
    let _work = support::server::Work::start(server.socket());
    let directory = Directory::new("endless");
    let dsn = server.socket().to_str().expect("UTF-8");
    let mut command = directory.tare(["top", "--dsn", dsn, "-i", "0.2", "--format", "json"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    for number in 0..3 {
        let line = lines.next().expect("a line").expect("UTF-8");
        let interval: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(interval["page"], "statements");
        assert!(
            interval["unix_s"].as_f64().expect("a number") > 1.7e9,
            "{line}"
        );
        assert!(
            interval["calls_per_s"].as_f64().expect("a number") > 0.0,
            "{number}: {line}"
        );
        assert!(interval["active_sessions"].is_number(), "{line}");
        assert!(
            interval["top_wait"]
                .as_str()
                .is_some_and(|name| name.starts_with("wait/")),
            "{line}"
        );
    }
    // It ends when the pipe is closed.
    drop(lines);
    let status = wait_for("its end", || child.try_wait().expect("is ours"));
    assert!(status.success(), "{status:?}");
}

#[cfg(feature = "tools")]
#[test]
fn record_writes_the_files_of_tare_record() {
    let server = Server::tare(&[]);
    let _work = support::server::Work::start(server.socket());
    let directory = Directory::new("recorded");
    write_config(&directory, &[("prod1", server.socket())]);
    let history = directory.path().join("history");
    let options = ["--record", history.to_str().expect("UTF-8"), "-i", "0.2"];
    let has_table = |table: &str| std::fs::read_dir(history.join(table)).is_ok();
    // In batch mode.
    let batch = [
        &["top", "prod1", "--batch", "8", "--rows", "500"],
        &options[..],
    ]
    .concat();
    let finished = finish(&mut tare(&directory, &batch));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stderr.contains("recorded as prod1 in"),
        "{finished:?}"
    );
    assert!(has_table("growth") && has_table("digests"), "{finished:?}");
    // The recorder's own queries are left out, too.
    let recorder_queries = [
        "prepared_statements_instances",
        "table_io_waits_summary",
        "SUM_TIMER_WAIT",
        "GROUP BY",
    ];
    for text in recorder_queries {
        assert!(!finished.stdout.contains(text), "{text}: {finished:?}");
    }
    std::fs::remove_dir_all(&history).expect("removed");
    // On a terminal, ended by a key and by a signal.
    for end in ["q", "TERM"] {
        let arguments = [&["top", "prod1"], &options[..]].concat();
        let mut terminal = Terminal::of(&mut tare(&directory, &arguments));
        terminal.wait_for_text("recorded");
        match end {
            "q" => terminal.press(end),
            signal => terminal.running.signal(signal),
        }
        terminal.wait_for_text(LEAVE_ALTERNATE_SCREEN);
        terminal.running.wait();
        assert!(has_table("growth"), "{end}");
        let open = std::fs::read_dir(history.join(".open")).expect("there");
        assert_eq!(open.count(), 0, "all files are in their places");
        std::fs::remove_dir_all(&history).expect("removed");
    }
}

/// Asserts that statements of one `tare top` are on no page of another.
fn assert_own_statements_hidden(server: &Server) {
    let directory = Directory::new("own");
    let dsn = server.socket().to_str().expect("UTF-8");
    for page in ["threads", "waits", "locks", "prepared", "statements"] {
        let arguments = [
            "top", "--dsn", dsn, "-i", "0.1", "--format", "json", "--page", page,
        ];
        let mut other = support::Process::start(&mut directory.tare(arguments));
        other.line();
        let batch = [
            "top", "--dsn", dsn, "-i", "0.5", "--batch", "2", "--rows", "500",
        ];
        let finished = finish(&mut directory.tare(batch));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        for text in ["performance_schema", "information_schema", "`tare`"] {
            assert!(!finished.stdout.contains(text), "{page}: {finished:?}");
        }
        other.line();
    }
}

#[test]
fn no_page_has_top_own_statements() {
    assert_own_statements_hidden(&Server::tare(&[]));
    assert_own_statements_hidden(&Server::mariadb(&["--performance-schema=ON"]));
}

/// `scripts/servers run 5.7 cargo test -p tare-cli --test top_actions -- --ignored`
#[test]
#[ignore = "needs a MySQL: make test-long"]
fn no_page_has_top_own_statements_on_mysql() {
    use support::server::mysql;
    assert_own_statements_hidden(&Server::external(mysql()));
}
