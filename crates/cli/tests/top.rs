//! `tare top` on `tare serve`, the system's MariaDB, and a MySQL that `scripts/servers run` started;
//! and the state of the terminal afterwards.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mysql::prelude::Queryable;
use support::server::{Server, Work, mysql};
use support::terminal::{ENTER_ALTERNATE_SCREEN, LEAVE_ALTERNATE_SCREEN, Terminal};
use support::{CommandResult, Directory, PAGES, Process, finish, host, wait_for};

/// Runs one interval of a page.
fn batch(dsn: &Path, page: &str) -> CommandResult {
    let directory = Directory::new("batch");
    let dsn = dsn.to_str().expect("UTF-8");
    finish(&mut directory.tare([
        "top", "--dsn", dsn, "--batch", "1", "-i", "0.3", "--rows", "500", "--page", page,
    ]))
}

/// The cells of the row that contains a text. Two or more spaces separate cells.
fn row<'a>(finished: &'a CommandResult, with: &str) -> Vec<&'a str> {
    let line = finished
        .stdout
        .lines()
        .skip(2)
        .find(|line| line.contains(with));
    let line = line.unwrap_or_else(|| panic!("no row with {with:?}: {finished:?}"));
    line.split("  ")
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect()
}

fn column_heads(finished: &CommandResult) -> Vec<&str> {
    finished
        .stdout
        .lines()
        .nth(1)
        .expect("heads")
        .split("  ")
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect()
}

fn assert_work_is_visible(socket: &Path) {
    let statements = batch(socket, "statements");
    // Its own queries are left out.
    assert!(
        !statements
            .stdout
            .contains("events_statements_summary_by_digest"),
        "{statements:?}"
    );
    assert_eq!(statements.code, Some(0), "{statements:?}");
    assert_eq!(
        column_heads(&statements),
        [
            "TIME",
            "%",
            "CALLS/s",
            "AVG",
            "SENT/s",
            "EXAMINED/s",
            "ERRORS/s",
            "DB",
            "STATEMENT"
        ]
    );
    let update = row(&statements, "UPDATE `shop` . `stock` SET `n` = `n` + ?");
    assert!(
        update[2].parse::<f64>().expect("a rate") > 0.0,
        "{update:?}"
    );
    // UPDATE sends no rows.
    assert_eq!(update[4], "0", "{update:?}");
    let tables = batch(socket, "tables");
    assert_eq!(row(&tables, "stock").last(), Some(&"stock"));
    let threads = batch(socket, "threads");
    let workers = threads
        .stdout
        .lines()
        .skip(2)
        .filter(|line| line.contains(" root "))
        .count();
    // Its own connection is left out.
    assert_eq!(workers, 1, "the worker: {threads:?}");
    assert!(row(&batch(socket, "waits"), "wait/io/table/sql/handler").len() >= 5);
}

#[test]
fn tare_serve_has_all_pages() {
    let server = Server::tare(&["--performance-schema-instrument=stage/%=ON"]);
    let _work = Work::start(server.socket());
    assert_work_is_visible(server.socket());
    for page in PAGES {
        let finished = batch(server.socket(), page);
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (Some(0), ""),
            "{page}: {finished:?}"
        );
        assert!(finished.stdout.lines().count() > 2, "{page}: {finished:?}");
    }
}

#[test]
fn mariadb_has_all_pages() {
    let server = Server::mariadb(&["--performance-schema=ON"]);
    let _work = Work::start(server.socket());
    assert_work_is_visible(server.socket());
    for page in PAGES {
        let finished = batch(server.socket(), page);
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (Some(0), ""),
            "{page}: {finished:?}"
        );
    }
}

/// `scripts/servers run 5.7 cargo test -p tare-cli --test top -- --ignored`
#[test]
#[ignore = "needs a MySQL: make test-long"]
fn mysql_has_all_pages() {
    let socket = mysql();
    let _work = Work::start(&socket);
    assert_work_is_visible(&socket);
    for page in PAGES {
        let finished = batch(&socket, page);
        let is_missing = finished.stderr.contains("has no such tables");
        assert!(
            finished.code == Some(0) || is_missing,
            "{page}: {finished:?}"
        );
    }
}

/// Pages prepared and statements while two connections execute one prepared statement.
fn pages_with_prepared_statements(server: &Server) -> (CommandResult, CommandResult) {
    let stop = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let (mut conn, stop) = (server.connect(), Arc::clone(&stop));
            std::thread::spawn(move || {
                let statement = conn.prep("SELECT 'prepared', ?").expect("prepared");
                while !stop.load(Ordering::Relaxed) {
                    conn.exec_drop(&statement, (1,)).expect("executed");
                }
            })
        })
        .collect();
    // Wait until both have executed it.
    let mut root = server.connect();
    wait_for("executions", || {
        let counts = "SELECT COUNT(*) FROM performance_schema.prepared_statements_instances WHERE COUNT_EXECUTE > 0";
        let open: Option<u64> = root.query_first(counts).expect("answers");
        (open == Some(2)).then_some(())
    });
    let pages = ["prepared", "statements"].map(|page| batch(server.socket(), page));
    stop.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.join().expect("ends");
    }
    pages.into()
}

#[test]
fn prepared_statements_of_all_connections_are_a_row() {
    let current = "--performance-schema-consumer-events-statements-current=ON";
    let server = Server::mariadb(&["--performance-schema=ON", current]);
    let (prepared, statements) = pages_with_prepared_statements(&server);
    let line = row(&prepared, "SELECT 'prepared', ?");
    assert_eq!(line[1], "100.0", "both are one row: {prepared:?}");
    assert!(line[2].parse::<f64>().expect("a rate") > 0.0, "{line:?}");
    // MariaDB has no digest of them, but they are with the others while they are open, in one row.
    row(&statements, "SELECT 'prepared', ?");
    assert_eq!(
        statements.stdout.matches("SELECT 'prepared', ?").count(),
        1,
        "{statements:?}"
    );
    assert!(
        statements.stdout.contains("while they are open"),
        "{statements:?}"
    );

    // `tare serve` has digests of prepared statements, so page statements has them, too.
    let server = Server::tare(&[]);
    let (prepared, statements) = pages_with_prepared_statements(&server);
    row(&prepared, "SELECT 'prepared', ?");
    row(&statements, "SELECT ?, ...");
    assert!(!statements.stdout.contains("page 9"), "{statements:?}");
}

#[test]
fn a_page_is_empty_because_its_instruments_are_off() {
    let server = Server::tare(&[]);
    let mut connection = server.connect();
    connection
        .query_drop("UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME LIKE 'stage/%'")
        .expect("switched off");
    let stages = batch(server.socket(), "stages");
    assert!(
        stages
            .stdout
            .contains("all instruments stage/% are off: UPDATE"),
        "{stages:?}"
    );
    connection
        .query_drop("UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'")
        .expect("switched off");
    let statements = batch(server.socket(), "statements");
    assert!(
        statements
            .stdout
            .contains("the consumer statements_digest is off: UPDATE"),
        "{statements:?}"
    );
}

#[test]
fn intervals_are_lines_of_json() {
    let server = Server::tare(&[]);
    let _work = Work::start(server.socket());
    let directory = Directory::new("json");
    let dsn = server.socket().to_str().expect("UTF-8");
    let finished = finish(&mut directory.tare([
        "top", "--dsn", dsn, "--batch", "2", "-i", "0.3", "--format", "json", "--page", "threads",
    ]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let intervals: Vec<serde_json::Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(intervals.len(), 2);
    for interval in &intervals {
        assert_eq!(interval["page"], "threads");
        assert!(interval["seconds"].as_f64().expect("a number") > 0.0);
        let rows = interval["rows"].as_array().expect("rows");
        let thread = &rows[0];
        assert!(
            thread["thread"].is_i64() && thread["time_ps"].is_i64(),
            "{thread}"
        );
        assert!(thread["calls_per_s"].is_number(), "{thread}");
    }
}

#[test]
fn without_performance_schema_the_message_names_the_option() {
    let server = Server::mariadb(&[]);
    let finished = batch(server.socket(), "statements");
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished.stderr.contains("--performance-schema=ON"),
        "{finished:?}"
    );
}

#[test]
fn a_program_is_watched_by_its_pid_and_a_saved_segment_has_its_totals() {
    let directory = Directory::new("segment");
    let host = host::start(&directory);
    let pid = host.pid().to_string();
    let live = finish(&mut directory.tare([
        "top", "--pid", &pid, "--batch", "1", "-i", "0.2", "--page", "memory",
    ]));
    assert_eq!(live.code, Some(0), "{live:?}");
    assert!(
        live.stdout.contains(&format!("({pid}) (segment), 0.")),
        "{live:?}"
    );

    let mut command = directory.tare(["run", "--segment", "x.segment"]);
    host::add_arguments(command.arg("--"), "abort");
    finish(&mut command);
    let saved = finish(&mut directory.tare([
        "top",
        "--segment",
        "x.segment",
        "--batch",
        "3",
        "-i",
        "0.2",
        "--page",
        "waits",
    ]));
    assert_eq!(saved.code, Some(0), "{saved:?}");
    assert!(
        saved.stdout.contains("LOCK_host") && saved.stdout.contains("since counting began"),
        "{saved:?}"
    );
    assert_eq!(
        saved.stdout.matches("since counting began").count(),
        1,
        "{saved:?}"
    );
}

#[test]
fn without_a_terminal_the_message_names_batch() {
    let server = Server::tare(&[]);
    let directory = Directory::new("none");
    let finished = finish(&mut directory.tare(["top", "--dsn", server.socket().to_str().unwrap()]));
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("--batch"), "{finished:?}");
}

#[test]
fn the_terminal_is_restored_however_it_ends() {
    let server = Server::tare(&[]);
    for end in ["q", "\x03", "TERM", "INT", "HUP"] {
        let mut terminal = Terminal::start(server.socket());
        terminal.wait_for_text(ENTER_ALTERNATE_SCREEN);
        terminal.wait_for_text("STATEMENT");
        assert!(!terminal.has_line_mode(), "raw");
        match end {
            "q" | "\x03" => terminal.press(end),
            signal => terminal.running.signal(signal),
        }
        terminal.wait_for_text(LEAVE_ALTERNATE_SCREEN);
        let status = terminal.running.wait();
        assert!(terminal.has_line_mode(), "{end}");
        assert_eq!(
            status.success(),
            ["q", "\x03"].contains(&end),
            "{end}: {status:?}"
        );
    }
}

#[test]
fn it_can_be_suspended_and_goes_on() {
    let server = Server::tare(&[]);
    let mut terminal = Terminal::start(server.socket());
    for how in ["\x1a", "TSTP"] {
        terminal.wait_for_text("STATEMENT");
        match how {
            "TSTP" => terminal.running.signal(how),
            key => terminal.press(key),
        }
        terminal.wait_for_text(LEAVE_ALTERNATE_SCREEN);
        let stat = format!("/proc/{}/stat", terminal.running.pid());
        wait_for("it to stop", || {
            std::fs::read_to_string(&stat)
                .expect("it is there")
                .contains(") T ")
                .then_some(())
        });
        assert!(terminal.has_line_mode(), "{how}");
        terminal.running.signal("CONT");
        terminal.wait_for_text(ENTER_ALTERNATE_SCREEN);
    }
    terminal.wait_for_text("STATEMENT");
    terminal.press("q");
    assert!(terminal.running.wait().success());
}

#[test]
fn keys_turn_pages_and_drill_down_on_a_real_server() {
    let server = Server::tare(&["--performance-schema-instrument=stage/%=ON"]);
    let mut conn = server.connect();
    conn.query_drop("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'")
        .expect("updated");
    let _work = Work::start(server.socket());
    let mut terminal = Terminal::start(server.socket());
    terminal.wait_for_text("UPDATE");
    // The statement with the most calls, which is one of the client's.
    terminal.press("c/shop\r\r");
    // Search for single words: unchanged cells, such as blanks, are not sent again.
    terminal.wait_for_text("(events_statements_history_long):");
    terminal.press("\x1b");
    terminal.wait_for_text("CALLS");
    terminal.press("8");
    terminal.wait_for_text("memory/sqlite/heap");
    terminal.resize(50, 60);
    terminal.wait_for_text("ALLOCS");
    terminal.press("\x0c");
    terminal.wait_for_text("ALLOCS");
    terminal.press("q");
    assert!(terminal.running.wait().success());
}

#[test]
fn top_waits_for_a_lost_server() {
    let server = Server::tare(&[]);
    let data = server.socket().parent().expect("a directory").to_owned();
    let mut terminal = Terminal::start(server.socket());
    terminal.wait_for_text("STATEMENT");
    support::signal(server.pid(), "KILL");
    terminal.wait_for_text("waiting for the server");
    let directory = Directory::new("again");
    let mut again = directory.tare([
        "serve",
        "--skip-networking",
        "--data",
        data.join("data").to_str().unwrap(),
        "--socket",
        server.socket().to_str().unwrap(),
    ]);
    let _again = Process::start(&mut again);
    // A page that only the new server can fill. Control-L redraws everything, because unchanged cells are not
    // sent again.
    terminal.press("2");
    wait_for("an answer of the new server", || {
        terminal.press("\x0c");
        terminal
            .output
            .lock()
            .unwrap()
            .contains("EVENT")
            .then_some(())
    });
    terminal.press("q");
    assert!(terminal.running.wait().success());
}

#[test]
fn sampled_pages_are_marked() {
    let server = Server::tare(&[
        "--performance-schema-instrument=stage/%=ON",
        "--sampling",
        "1/2",
    ]);
    let _work = Work::start(server.socket());
    for (page, is_estimated) in [("statements", false), ("waits", true), ("memory", false)] {
        let finished = batch(server.socket(), page);
        let title = finished.stdout.lines().next().expect("a title");
        assert!(title.ends_with(", sampled: 1/2"), "{finished:?}");
        let heads = column_heads(&finished);
        assert_eq!(heads.contains(&"+-%"), is_estimated, "{finished:?}");
        let note = "sampled 1/2: counts and times are estimates";
        assert_eq!(finished.stdout.contains(note), is_estimated, "{finished:?}");
        let of_memory = finished.stdout.contains("\nmemory sampled 1/2: ");
        assert_eq!(of_memory, page == "memory", "{finished:?}");
    }
}
