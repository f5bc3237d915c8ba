//! `tare top --history` on files that the recorder's writer wrote.

#[path = "support/history.rs"]
mod history;
mod support;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use ::mysql::prelude::Queryable;
use history::{START, add_blocks, at, grown};
use serde_json::Value;
use support::server::Server;
use support::terminal::Terminal;
use support::{CommandResult, Directory, finish};
use tare_history::{Moment, Sample, Text, Writer};

/// Writes growth of ten seconds each from 14:00:10 to 14:01:00, more each time, and samples each five
/// seconds, in which thread 2 waits for thread 1.
fn write(history: &Path, host: &str, server: &str) {
    let mut writer = Writer::start(history, host, server, at(0)).expect("a writer");
    let mut texts = vec![Text {
        schema: Some("shop".into()),
        digest: "d1".into(),
        text: "SELECT ?".into(),
    }];
    for step in 1..=6 {
        for half in 0..2 {
            let sample = |id: u64| Sample {
                thread_id: id,
                connection_id: Some(id + 100),
                user: Some("ann".into()),
                command: Some("Query".into()),
                statement_id: Some(step * 10 + id),
                digest: Some("d1".into()),
                wait: (id == 2).then(|| "wait/lock/metadata/sql/mdl".into()),
                blocker: (id == 2).then_some(1),
                ..Sample::default()
            };
            let moment = Moment {
                at: at(step * 10 - 5 + half * 5),
                threads: Some(5),
                is_exact: Some(true),
                samples: vec![sample(1), sample(2)],
            };
            writer
                .add_moment(&moment, Duration::from_secs(5))
                .expect("written");
        }
        let digest = [10 * step, step * 1_000_000, 0, 0, 0, 0, 10, 20];
        let statement = [10 * step, step * 1_000_000];
        let grown = [
            grown("digest", Some("shop"), "d1", &digest),
            grown("statement", None, "statement/sql/select", &statement),
            grown("wait", None, "wait/synch/mutex/a", &[step, step * 1000]),
        ];
        writer.add_growth(&grown, &texts, at(step * 10), (10.0, Some(true)));
        texts.clear();
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
}

fn create_history(name: &str) -> (Directory, PathBuf) {
    let directory = Directory::new(name);
    let path = directory.path().join("history");
    write(&path, "db1", "shop");
    (directory, path)
}

fn top(directory: &Directory, history: &Path, options: &[&str]) -> CommandResult {
    let mut command = directory.tare(["top", "--history"]);
    // Times are in UTC whatever the time zone.
    command.arg(history).args(options).env("TZ", "Asia/Tokyo");
    finish(&mut command)
}

/// The intervals that were printed.
fn intervals(finished: &CommandResult) -> Vec<Value> {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let lines = finished.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect()
}

#[test]
fn recorded_intervals_are_printed_to_the_end() {
    let (directory, history) = create_history("top-history");
    let options = ["--at", "2026-11-22 14:00:40.001", "--format", "json"];
    let printed = intervals(&top(&directory, &history, &options));
    let calls: Vec<_> = printed
        .iter()
        .map(|one| {
            (
                (one["unix_s"].as_f64().expect("a time") * 1000.0).round() as u64 - START * 1000,
                one["calls_per_s"].as_f64().expect("calls"),
                one["rows"][0]["calls_per_s"].as_f64().expect("of the row"),
                one["active_sessions"].as_f64().expect("sessions"),
            )
        })
        .collect();
    // Growth is recorded for each ten seconds, and that is the shortest interval.
    let expected = [(40_001, 4.0), (50_001, 5.0), (60_001, 6.0)];
    let expected = expected.map(|(until, calls)| (until, calls, calls, 2.0));
    assert_eq!(calls, expected, "{printed:?}");
    let row = &printed[0]["rows"][0];
    assert_eq!(row["statement"], "SELECT ?");
    assert_eq!(row["time_ps"], 4_000_000_u64);
    assert_eq!(printed[0]["top_wait"], "wait/synch/mutex/a");
    assert_eq!(printed[0]["server"], "shop of db1");
}

#[test]
fn sessions_are_the_sampled_ones_with_their_blockers() {
    let (directory, history) = create_history("top-history-threads");
    let options = ["--page", "threads", "--batch", "1", "--format", "json"];
    let printed = intervals(&top(&directory, &history, &options));
    let rows = printed[0]["rows"].as_array().expect("rows");
    let of = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (
            row["thread"].as_u64(),
            row["time_ps"].as_u64(),
            text("blocked_by"),
            row["blocks"].as_u64(),
            text("state_statement"),
        )
    };
    let seconds = Some(10_000_000_000_000);
    assert_eq!(
        rows.iter().map(of).collect::<Vec<_>>(),
        [
            (
                Some(2),
                seconds,
                "101".into(),
                None,
                "wait/lock/metadata/sql/mdl SELECT ?".into()
            ),
            (Some(1), seconds, String::new(), Some(1), " SELECT ?".into()),
        ],
        "{printed:?}"
    );
}

#[test]
fn pages_and_times_that_a_history_lacks_are_reported() {
    let (directory, history) = create_history("top-history-not");
    let assert_prints = |options: &[&str], code: i32, message: &str| {
        let finished = top(&directory, &history, options);
        let text = format!("{}{}", finished.stdout, finished.stderr);
        assert_eq!(finished.code, Some(code), "{options:?}: {text}");
        assert!(text.contains(message), "{options:?}: {text}");
    };
    let one = ["--batch", "1"];
    let with = |more: &[&'static str]| [&one[..], more].concat();
    assert_prints(&with(&["--page", "locks"]), 1, "a history has no locks");
    assert_prints(&with(&["--page", "prepared"]), 1, "see statements");
    let early = ["--at", "2026-11-22 12:00"];
    assert_prints(
        &with(&early),
        1,
        "there is something from 2026-11-22 14:00:05 to 2026-11-22 14:01:00",
    );
    assert_prints(&with(&["--server", "other"]), 1, "nothing was recorded");
    assert_prints(&with(&["--dsn", "x"]), 2, "a server or a history");
    assert_prints(
        &["--at", "14:00", "--batch", "1", "--pid", "1"],
        2,
        "cannot be used with",
    );
    write(&history, "db2", "shop");
    assert_prints(
        &one,
        2,
        "the history has 2 servers then: name one, such as --host db1 --server shop, --host db2 --server shop",
    );
    assert_prints(
        &with(&["--host", "db2", "--server", "shop"]),
        0,
        "shop of db2",
    );
}

#[test]
fn a_gap_and_the_end_are_named() {
    let (directory, history) = create_history("top-history-gap");
    let options = ["--at", "2026-11-22 14:01:10.001", "--batch", "3"];
    let finished = top(&directory, &history, &options);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stdout.contains("the history ends here"),
        "{finished:?}"
    );
    assert!(
        finished.stdout.contains("until 2026-11-22 14:01:00 UTC"),
        "{finished:?}"
    );
    let early = ["--at", "2026-11-22 13:59:55", "--batch", "1"];
    let finished = top(&directory, &history, &early);
    let message = "nothing was recorded then; it goes on at 2026-11-22 14:00:05";
    assert!(finished.stdout.contains(message), "{finished:?}");
}

#[test]
fn keys_go_back_and_forward_but_kill_nothing() {
    let (_directory, history) = create_history("top-history-keys");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tare"));
    command.args([
        "top",
        "--at",
        "2026-11-22 14:00:40.001",
        "-i",
        "60",
        "--history",
    ]);
    let mut terminal = Terminal::of(command.arg(&history));
    // Only changed cells are sent, so search for words, not lines.
    terminal.wait_for_text("14:00:40");
    terminal.wait_for_text("SELECT");
    terminal.press("p{");
    terminal.wait_for_text("14:00:05");
    terminal.press("}");
    terminal.wait_for_text("SELECT");
    terminal.press("7");
    terminal.wait_for_text("BLOCKED");
    terminal.press("Ky");
    terminal.wait_for_text("past");
    terminal.press("q");
}

/// Thread 2 has a sample; threads 3 and 9 have none.
#[test]
fn holders_that_slept_and_deadlocks_are_on_the_page_of_threads() {
    let directory = Directory::new("top-history-blocks");
    let history = directory.path().join("history");
    let mut writer = Writer::start(&history, "db1", "shop", at(0)).expect("a writer");
    let sample = Sample {
        thread_id: 2,
        connection_id: Some(102),
        command: Some("Query".into()),
        ..Sample::default()
    };
    let moment = Moment {
        at: at(5),
        threads: None,
        is_exact: None,
        samples: vec![sample],
    };
    writer
        .add_moment(&moment, Duration::from_secs(1))
        .expect("written");
    add_blocks(&mut writer, [at(4), at(5)]);
    writer.write().expect("a piece");
    writer.end().expect("settled");
    let options = ["--page", "threads", "--batch", "1", "--format", "json"];
    let printed = intervals(&top(&directory, &history, &options));
    let rows = printed[0]["rows"].as_array().expect("rows").iter();
    let mut rows: Vec<_> = rows
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let of = (row["thread"].as_u64(), text("blocked_by"), text("command"));
            (of, text("state_statement"))
        })
        .collect();
    rows.sort();
    let row = |thread, by: &str, command: &str, text: &str| {
        (
            (Some(thread), by.to_owned(), command.to_owned()),
            text.to_owned(),
        )
    };
    let expected = [
        row(2, "109", "Query", ""),
        row(3, "unknown", "Query", "waits for a row lock: DROP TABLE t"),
        row(9, "", "Sleep", "after SELECT 9"),
    ];
    assert_eq!(rows, expected, "{printed:?}");
    let notes = printed[0]["notes"].to_string();
    for expected in [
        "a deadlock on shop.t between the connections 7,8 at 14:00:04 of the server's time",
        "a deadlock on an unknown table between unknown connections at 14:00:05",
    ] {
        assert!(notes.contains(expected), "{notes}");
    }
}

/// Writes growth of the last twenty minutes, of one statement that takes twice as long in the second ten.
fn write_until_now(history: &Path, server: &str, digest: &str) {
    let now = SystemTime::now();
    let mut writer = Writer::start(history, "db1", server, now).expect("a writer");
    for step in 1..=120 {
        let us = if step > 60 { 2_000 } else { 1_000 } + step % 7 * 10;
        let sums = [1_000, 1_000 * us * 1_000_000, 0, 0, 0, 0, 10_000, 10_000];
        let grown = [grown("digest", None, digest, &sums)];
        let at = now - Duration::from_secs(1_200 - step * 10);
        writer.add_growth(&grown, &[], at, (10.0, Some(true)));
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
}

/// Waits until the screen has these words in this order. Only cells that changed are sent, so it is drawn anew.
fn wait_for_words(terminal: &mut Terminal, words: &[&str]) {
    support::wait_for(words[0], || {
        terminal.output.lock().expect("read").clear();
        terminal.press("\x0c");
        std::thread::sleep(Duration::from_millis(200));
        let output = terminal.output.lock().expect("read");
        let mut rest = output.as_str();
        for word in words {
            rest = &rest[rest.find(word)? + word.len()..];
        }
        Some(())
    });
}

#[test]
fn enter_has_what_changed_of_a_statement() {
    let directory = Directory::new("top-changes");
    let history = directory.path().join("history");
    history::write(&history, "db1", history::sha256);
    history::write_plans(&history);
    let at = "2026-11-23 14:20:00.001";
    let mut command = directory.tare(["top", "-i", "60", "--at", at, "--history"]);
    let mut terminal = Terminal::of(command.arg(&history));
    terminal.resize(50, 160);
    terminal.wait_for_text("SELECT orders");
    terminal.press("p\r");
    // Its samples, and what changed.
    let words = [
        history::FILE_WAIT,
        "changed.",
        "Control:",
        "time/call:",
        "ms:",
        "calls/s",
        "day",
        "time/call:",
    ];
    wait_for_words(&mut terminal, &words);
    terminal.press("q");
}

#[test]
fn a_server_is_compared_with_its_history() {
    let server = Server::tare(&[]);
    let mut client = server.connect();
    client
        .query_drop("SELECT 1 AS with_a_history")
        .expect("run");
    let digests = "SELECT DIGEST FROM performance_schema.events_statements_summary_by_digest \
                   WHERE DIGEST_TEXT LIKE '%with_a_history%'";
    let digest: Option<String> = client.query_first(digests).expect("digests");
    let digest = digest.expect("a digest");
    let directory = Directory::new("top-compared");
    let history = directory.path().join("history");
    write_until_now(&history, "shop", &digest);
    let drill_down = |with: &[&OsStr]| {
        let mut command = directory.tare(["top", "-i", "60", "--dsn"]);
        let mut terminal = Terminal::of(command.arg(server.socket()).args(with));
        terminal.resize(50, 160);
        terminal.wait_for_text("`with_a_history`");
        terminal.press("/with_a\r\r");
        terminal
    };
    let with_history = [OsStr::new("--history"), history.as_os_str()];
    let mut terminal = drill_down(&with_history);
    let words = ["control:", "time/call:", "1.03", "2.03", "+97"];
    wait_for_words(&mut terminal, &words);
    terminal.press("q");
    let mut terminal = drill_down(&[]);
    wait_for_words(&mut terminal, &["(tare", "record"]);
    terminal.press("q");
    // Of two servers of the history, one has to be named.
    write_until_now(&history, "other", &digest);
    let mut terminal = drill_down(&with_history);
    wait_for_words(
        &mut terminal,
        &["--host-name", "other,", "--host-name", "shop"],
    );
    terminal.press("q");
    let named = [&with_history[..], &["--server".as_ref(), "shop".as_ref()]].concat();
    let mut terminal = drill_down(&named);
    wait_for_words(&mut terminal, &["+97"]);
    terminal.press("q");
}
