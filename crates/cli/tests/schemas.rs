//! The output of each command with `--format json` is valid by its schema in docs/schemas.

#[path = "support/history.rs"]
mod history;
mod support;

use std::process::Stdio;
use std::time::Duration;

use history::{at, grown};
use serde_json::Value;
use support::python::validate;
use support::server::{Server, Work};
use support::{Directory, PAGES, finish};
use tare_history::{Moment, Sample, Writer};

/// The commands with `--format json`, by their schemas. `mcp-load` is of a tool of `tare mcp` (tests/mcp.rs),
/// `weigh-compare` is in tests/weigh_compare.rs.
const SCHEMAS: [&str; 7] = [
    "diff",
    "explain",
    "mcp-load",
    "ps",
    "sql",
    "top",
    "weigh-compare",
];

#[test]
fn each_command_with_json_has_a_schema() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("docs/schemas")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    assert_eq!(names, SCHEMAS);
    let directory = Directory::new("schemas");
    let help = finish(&mut directory.tare(["--help"])).stdout;
    let list = help.split_once("Commands:\n").expect("a list").1;
    let commands = list.lines().take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        let help = finish(&mut directory.tare([command, "--help"])).stdout;
        // No format but one of these is JSON.
        let has_json = help.contains("--format") && help.to_lowercase().contains("json");
        let has_schema = SCHEMAS.contains(&command) || command == "weigh";
        assert!(
            !has_json || has_schema,
            "docs/schemas has no {command}.json"
        );
    }
}

#[test]
fn the_output_of_commands_is_valid() {
    let server = Server::tare(&[]);
    let work = Work::start(server.socket());
    let (directory, pid) = (Directory::new("output"), server.pid().to_string());
    let start = |words: &[&str]| {
        let mut command = directory.tare(words);
        command.args(["--format", "json"]).stdout(Stdio::piped());
        command.spawn().expect("tare starts")
    };
    let live = |words: &[&str]| start(&[words, &["--pid", &pid]].concat());
    let sql =
        "SELECT 1 AS a, -1.5e0 AS b, 0.5 AS c, NULL AS d, 'x' AS e, 18446744073709551615 AS f";
    let pages = PAGES.map(|page| live(&["top", "--batch", "1", "-i", "0.2", "--page", page]));
    let explain = live(&["explain", "-i", "0.2"]);
    let others = [
        live(&["sql", "-e", sql]),
        start(&["ps"]),
        start(&["ps", "--processes"]),
    ];
    let read = |child: std::process::Child| {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let [rows, programs, processes] = others.map(read);
    validate("sql", &[rows]);
    validate("ps", &[programs, processes]);
    let process = start(&[
        "top",
        "--batch",
        "1",
        "-i",
        "0.2",
        "--pid",
        &std::process::id().to_string(),
    ]);
    let mut intervals = pages.map(read).to_vec();
    drop(work);
    assert!(
        intervals[0]["rows"]
            .as_array()
            .is_some_and(|rows| !rows.is_empty())
    );
    intervals.push(read(process));
    validate("top", &intervals);
    validate("explain", &[read(explain)]);
}

#[test]
fn the_output_of_diff_and_of_a_replay_is_valid() {
    let directory = Directory::new("diff-schema");
    let mut writer =
        Writer::start(&directory.path().join("history"), "db1", "shop", at(0)).expect("a writer");
    for step in 1..=20 {
        let name = if step > 10 { "after" } else { "before" };
        let sums = [100 + step, 1_000_000 * step, 0, 0, 0, 0, 7, 9];
        let rows = ["always", name].map(|name| grown("digest", Some("shop"), name, &sums));
        let moment = Moment {
            at: at(step * 10 - 5),
            threads: None,
            is_exact: None,
            samples: vec![Sample::default()],
        };
        let represented = Duration::from_secs(10);
        writer.add_moment(&moment, represented).expect("written");
        writer.add_growth(&rows, &[], at(step * 10), (10.0, Some(true)));
    }
    history::add_blocks(&mut writer, [at(155), at(156)]);
    writer.write().expect("a piece");
    writer.end().expect("settled");
    let run = |words: &[&str]| {
        let options = ["--history", "history", "--format", "json"];
        let done = finish(directory.tare(words).args(options));
        assert_eq!(done.code, Some(0), "{done:?}");
        serde_json::from_str::<Value>(&done.stdout).expect("JSON")
    };
    let diff = run(&["diff", "--deploy", "2026-11-22 14:01:40/100s"]);
    assert_eq!(
        diff["statements"].as_array().map(Vec::len),
        Some(3),
        "{diff}"
    );
    assert_eq!(
        diff["blocking"]["locks"].as_array().map(Vec::len),
        Some(3),
        "{diff}"
    );
    let idle = run(&["diff", "--deploy", "2026-11-22 14:01:10/70s"]);
    assert_eq!(idle["blocking"], Value::Null);
    validate("diff", &[diff, idle]);
    let pages = ["statements", "threads"];
    validate(
        "top",
        &pages.map(|page| run(&["top", "--batch", "1", "--page", page])),
    );
}
