//! `tare mcp` with the official client of the protocol, which validates each answer by its tool's schema.

#[path = "support/history.rs"]
mod history;
mod support;

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use history::{add_blocks, at, grown};
use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::{Value, json};
use support::python::program;
use support::server::Server;
use support::{Directory, TARE, finish_with_input, wait_for};
use tare_history::{Moment, Sample, Text, Writer};

const TOOLS: [&str; 6] = [
    "load",
    "top_statements",
    "waits",
    "blockers",
    "diff",
    "explain",
];

/// A user who may do nothing but read the tables that the tools read.
const USER: &str = "assistant";

/// Calls tools, with `mode` of the client, and returns what it prints.
fn call(mode: &str, options: &[&str], calls: Value) -> Value {
    let mut client = program("mcp_client.py");
    client.args([mode, TARE, "mcp"]).args(options);
    let done = finish_with_input(&mut client, &calls.to_string());
    assert_eq!(done.code, Some(0), "{done:?}");
    serde_json::from_str(&done.stdout).expect("JSON")
}

/// The structured result of a call that succeeded.
fn object(answer: &Value, number: usize) -> &Value {
    let result = &answer["results"][number];
    assert_eq!(result["is_error"], false, "{result}");
    assert!(
        !result["text"].as_str().unwrap_or_default().is_empty(),
        "{result}"
    );
    &result["object"]
}

/// 14:00:00 to 14:03:20, in ten seconds each: from 14:01:40 on a statement takes twice the time. At the end
/// there are blocked sessions.
fn write(history: &Path) {
    let mut writer = Writer::start(history, "db1", "shop", at(0)).expect("a writer");
    let text = Text {
        schema: Some("shop".into()),
        digest: "d1".into(),
        text: "SELECT ?".into(),
    };
    let mut texts = vec![text];
    for step in 1..=20 {
        let calls = 1000 + step % 3;
        let us = if step > 10 { 2000 } else { 1000 };
        for second in 0..5 {
            let sample = Sample {
                thread_id: 1,
                connection_id: Some(101),
                digest: Some("d1".into()),
                ..Sample::default()
            };
            let moment = Moment {
                at: at(step * 10 - 9 + second * 2),
                threads: Some(5),
                is_exact: Some(true),
                samples: vec![sample; usize::from((step + second) % 2 == 0)],
            };
            let represented = Duration::from_secs(2);
            writer.add_moment(&moment, represented).expect("written");
        }
        let sums = [calls, calls * us * 1_000_000, 0, 0, 0, 0, calls, calls];
        let rows = [
            grown("digest", Some("shop"), "d1", &sums),
            grown("statement", None, "statement/sql/select", &sums[..2]),
            grown("wait", None, "wait/synch/mutex/a", &[step, step * 1000]),
        ];
        writer.add_growth(&rows, &texts, at(step * 10), (10.0, Some(true)));
        texts.clear();
    }
    add_blocks(&mut writer, [at(192), at(194)]);
    writer.write().expect("a piece");
    writer.end().expect("settled");
}

/// What the tools might change: settings, and what the user's statements were.
fn read_state(root: &mut Conn) -> (Vec<String>, Vec<String>) {
    let mut settings = Vec::new();
    for table in ["consumers", "instruments", "actors", "objects", "threads"] {
        let query = match table {
            "threads" => "SELECT NAME, INSTRUMENTED, HISTORY FROM performance_schema.threads \
                          WHERE TYPE = 'BACKGROUND'"
                .to_owned(),
            _ => format!("SELECT * FROM performance_schema.setup_{table}"),
        };
        let rows: Vec<mysql::Row> = root.query(query).expect("rows");
        settings.extend(
            rows.into_iter()
                .map(|row| format!("{table} {:?}", row.unwrap())),
        );
    }
    let statements = format!(
        "SELECT EVENT_NAME FROM performance_schema.events_statements_summary_by_user_by_event_name \
         WHERE USER = '{USER}' AND COUNT_STAR > 0"
    );
    (settings, root.query(statements).expect("rows"))
}

/// A server with a load, and a session that waits for a lock of another.
fn with_load(test: impl FnOnce(&Server, &str)) {
    let server = Server::tare(&[]);
    let mut root = server.connect();
    for statement in [
        format!("CREATE USER {USER}@localhost IDENTIFIED BY 'm'"),
        format!("GRANT SELECT ON performance_schema.* TO {USER}@localhost"),
    ] {
        root.query_drop(&statement).expect(&statement);
    }
    let mut holder = server.connect();
    holder
        .query_drop("SELECT GET_LOCK('shop', 1)")
        .expect("a lock");
    let mut waiter = server.connect();
    let waits = std::thread::spawn(move || waiter.query_drop("SELECT GET_LOCK('shop', 100)"));
    let (stop, stopped) = channel::<()>();
    let mut client = server.connect();
    let load = std::thread::spawn(move || {
        // A hundred statements in a second, so that the load takes little CPU.
        let pause = Duration::from_millis(10);
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            client.query_drop("SELECT 1 AS stock").expect("a row");
        }
    });
    test(&server, &holder.connection_id().to_string());
    drop(stop);
    load.join().expect("ends");
    drop(holder);
    let _ = waits.join().expect("ends");
}

#[test]
fn a_client_reads_a_server_and_a_history_and_changes_nothing() {
    let directory = Directory::new("mcp");
    let history = directory.path().join("history");
    write(&history);
    let history = history.to_str().expect("UTF-8");
    with_load(|server, holder| {
        let socket = server.socket().to_str().expect("UTF-8");
        let mut root = server.connect();
        let before = read_state(&mut root);
        let options = ["-S", socket, "-u", USER, "-pm", "--history", history];
        let at = "2026-11-22 14:03:20";
        let calls = json!([
            ["load", { "seconds": 0.5 }],
            ["top_statements", { "seconds": 0.5, "rows": 3 }],
            ["waits", { "seconds": 0.5, "sort": "count" }],
            ["blockers", { "seconds": 0.5 }],
            ["load", { "at": at, "seconds": 100 }],
            ["top_statements", { "at": at, "filter": "select" }],
            ["blockers", { "at": at }],
            ["diff", { "deploy": "2026-11-22 14:01:40/100s" }],
        ]);
        let answer = call("auto", &options, calls);
        assert_eq!(
            (&answer["version"], &answer["server"]),
            (&"2026-07-28".into(), &"tare".into())
        );
        check_tools(&answer["tools"]);

        let load = object(&answer, 0);
        assert!(load["calls_per_s"].as_f64() > Some(0.0), "{load}");
        // The session that waits is always active, and the load nearly always.
        let active = load["active_sessions"].as_f64();
        assert!(
            active >= Some(1.0) && load["active_sessions_interval"][1].as_f64() >= active,
            "{load}"
        );
        let statements = object(&answer, 1);
        let rows = statements["rows"].as_array().expect("rows");
        let is_load = |row: &Value| row["statement"].to_string().contains("stock");
        assert!(rows.len() <= 3 && rows.iter().any(is_load), "{statements}");
        assert_eq!(object(&answer, 2)["page"], "waits");
        let blocked = object(&answer, 3);
        assert_eq!(blocked["rows"][0]["blocked_by"], holder, "{blocked}");
        assert_eq!(
            blocked["rows"].as_array().map(Vec::len),
            Some(2),
            "{blocked}"
        );

        let load = object(&answer, 4);
        assert_eq!(
            (&load["until"], &load["seconds"]),
            (&at.into(), &100.0.into()),
            "{load}"
        );
        assert!(
            (load["active_sessions"].as_f64().expect("a number") - 0.5).abs() < 0.01,
            "{load}"
        );
        let interval = [0, 1].map(|side| load["active_sessions_interval"][side].as_f64());
        assert!(interval[0] < Some(0.5) && interval[1] > Some(0.5), "{load}");
        assert_eq!(object(&answer, 5)["rows"][0]["statement"], "SELECT ?");
        let blocked = object(&answer, 6)["rows"].as_array().expect("rows");
        let by: Vec<&Value> = blocked.iter().map(|row| &row["blocked_by"]).collect();
        assert!(by.contains(&&"109".into()), "{blocked:?}");
        let diff = object(&answer, 7);
        let slower = &diff["statements"][0]["seconds_per_call"];
        assert_eq!(slower["is_changed"], true, "{diff}");
        assert!(
            (slower["change"].as_f64().expect("a change") - 1.0).abs() < 0.01,
            "{slower}"
        );
        let text = answer["results"][7]["text"].as_str().unwrap_or_default();
        assert!(text.contains("time/call"), "{text}");

        let after = read_state(&mut root);
        assert_eq!(before.0, after.0, "a setting changed");
        let reads = ["select", "set_option", "show_", "com/"];
        let is_read = |name: &String| reads.iter().any(|read| name.contains(read));
        assert!(
            !after.1.is_empty() && after.1.iter().all(is_read),
            "{:?}",
            after.1
        );
    });
}

/// Each tool has a description, schemas of its arguments and answer, and says that it only reads.
fn check_tools(tools: &Value) {
    let tools = tools.as_array().expect("tools");
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, TOOLS);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert!(
            tool["description"].as_str().map_or(0, str::len) > 80,
            "{tool}"
        );
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
            assert_eq!(tool[schema]["additionalProperties"], false, "{tool}");
        }
    }
}

#[test]
fn an_earlier_client_is_served_and_errors_give_advice() {
    let directory = Directory::new("mcp-legacy");
    let history = directory.path().join("history");
    write(&history);
    let history = history.to_str().expect("UTF-8");
    let calls = json!([
        ["load", {}],
        ["explain", {}],
        ["diff", { "before": "2026-11-22 14:00/1m" }],
        ["diff", { "deploy": "soon" }],
        ["waits", { "row": 3 }],
        ["waits", { "at": "2020-01-01" }],
        ["load", { "at": "2026-11-22 14:01:00" }],
    ]);
    let answer = call("legacy", &["--history", history], calls);
    assert_eq!(answer["version"], "2025-11-25");
    assert!(
        answer["instructions"]
            .as_str()
            .is_some_and(|text| text.contains("only read"))
    );
    check_tools(&answer["tools"]);
    // The newest interval is the default of a history, whose length is a minute.
    assert_eq!(object(&answer, 0)["seconds"], 60.0);
    assert_eq!(object(&answer, 0)["until"], "2026-11-22 14:03:19");
    assert_eq!(object(&answer, 6)["until"], "2026-11-22 14:01:00");
    let words = [
        "--dsn URL or --pid N",
        "give 'deploy', or 'before' and 'after'",
        "'deploy': ",
        "there is no argument 'row', but seconds, at, sort, filter, rows",
        "there is something from 2026-11-22 14:00:01",
    ];
    for (result, words) in answer["results"].as_array().expect("results")[1..]
        .iter()
        .zip(words)
    {
        let text = result["text"].as_str().unwrap_or_default();
        assert!(
            result["is_error"] == true && text.contains(words),
            "{words}: {result}"
        );
    }
}

/// The history stays open between calls, so that one call does not select the server of the next.
#[test]
fn each_call_on_a_history_finds_its_server() {
    let directory = Directory::new("mcp-servers");
    let history = directory.path().join("history");
    for (server, start) in [("one", 0), ("two", 1), ("two", 600)] {
        let mut writer = Writer::start(&history, "db1", server, at(start)).expect("a writer");
        let moment = Moment {
            at: at(start + 5),
            threads: None,
            is_exact: None,
            samples: Vec::new(),
        };
        let represented = Duration::from_secs(10);
        writer.add_moment(&moment, represented).expect("written");
        writer.write().expect("a piece");
        writer.end().expect("settled");
    }
    let request = |at: &str| {
        let params = json!({ "name": "load", "arguments": { "at": at } });
        let request =
            json!({ "jsonrpc": "2.0", "id": at, "method": "tools/call", "params": params });
        format!("{request}\n")
    };
    let times = [
        "2026-11-22 14:10:10",
        "2026-11-22 14:00:10",
        "2026-11-22 14:10:10",
    ];
    let mut server = directory.tare(["mcp", "--history", "history"]);
    let done = finish_with_input(&mut server, &times.map(request).concat());
    let answers = done.stdout.lines();
    let answers: Vec<Value> = answers
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    for at in [0, 2] {
        let load = &answers[at]["result"]["structuredContent"];
        assert_eq!(load["server"], "two of db1", "{done:?}");
    }
    let text = answers[1]["result"]["content"][0]["text"].as_str();
    let words = "the history has 2 servers then: name one, such as --host-name db1 --server one";
    assert!(text.is_some_and(|text| text.contains(words)), "{text:?}");
}

#[test]
fn a_segment_is_read_and_a_server_that_is_gone_is_an_error() {
    let server = Server::tare(&[]);
    let pid = server.pid().to_string();
    let calls = json!([
        ["explain", { "seconds": 0.5 }],
        ["waits", { "seconds": 0.5, "at": "14:00" }],
    ]);
    let answer = call("auto", &["--pid", &pid], calls);
    let cost = object(&answer, 0);
    assert!(
        cost["cost_s"].as_f64() >= Some(0.0) && !cost["savings"].to_string().is_empty(),
        "{cost}"
    );
    let text = answer["results"][1]["text"].as_str().unwrap_or_default();
    assert!(text.contains("--history DIR"), "{text}");
    drop(server);
    wait_for("the process to end", || {
        (!Path::new("/proc").join(&pid).exists()).then_some(())
    });
    for option in [["--pid", &pid], ["--dsn", "/nonexistent/mysqld.sock"]] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                              "params": { "name": "load" } });
        let mut server = Directory::new("gone").tare(["mcp"]);
        let done = finish_with_input(
            server.args(option).current_dir("/"),
            &format!("{request}\n"),
        );
        let answer: Value = serde_json::from_str(&done.stdout).expect("JSON");
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
}
