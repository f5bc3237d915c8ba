//! Spans of long statements, as `tare record --otlp` sends them to a receiver.

#[path = "otlp/collector.rs"]
mod collector;
#[path = "otlp/receiver.rs"]
mod receiver;
mod support;
#[path = "otlp/tls.rs"]
mod tls;

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use mysql::Conn;
use mysql::prelude::Queryable;
use receiver::{receive, receive_in_turn};
use serde_json::{Value, json};
use support::server::Server;
use support::{Directory, Process, query_history, wait_for};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const HOLDERS_TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn connection_id(conn: &mut Conn) -> u64 {
    let id = conn.query_first("SELECT CONNECTION_ID()").expect("answers");
    id.expect("an id")
}

/// The value of an attribute.
fn attribute<'v>(of: &'v Value, key: &str) -> Option<&'v Value> {
    let mut attributes = of["attributes"].as_array()?.iter();
    let attribute = attributes.find(|attribute| attribute["key"] == key)?;
    attribute["value"].as_object()?.values().next()
}

fn server() -> Server {
    let server = Server::tare(&[]);
    for statement in [
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'",
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'",
    ] {
        server.connect().query_drop(statement).expect(statement);
    }
    server
}

fn record(directory: &Directory, server: &Server, url: &str) -> Command {
    let pid = server.pid().to_string();
    let words = [
        "record",
        "--dir",
        "history",
        "--write-every",
        "0.2s",
        "--pid",
        &pid,
        "--otlp",
        url,
    ];
    let mut command = directory.tare(words);
    command.args(["--otlp-threshold", "0.1s"]);
    command
}

fn samples(directory: &Directory) -> u64 {
    let sql = "SELECT COUNT(*) AS n FROM samples WHERE trace_id IS NOT NULL";
    let rows = query_history(directory, "history", sql);
    rows.first().and_then(|row| row["n"].as_u64()).unwrap_or(0)
}

/// A session with a trace waits until another one, which has one, too, releases a lock, and both are recorded. Meanwhile
/// a third one runs a statement whose trace is not sampled. Returns the connections of the holder and the waiter.
fn wait_for_a_lock(directory: &Directory, server: &Server) -> [u64; 2] {
    let [mut holder, mut waiter, mut unsampled] = [(); 3].map(|()| server.connect());
    let [holder_id, waiter_id, unsampled_id] =
        [&mut holder, &mut waiter, &mut unsampled].map(connection_id);
    let held = format!(
        "DO GET_LOCK('report', 0) /*traceparent='00-{HOLDERS_TRACE}-b7ad6b7169203331-01'*/"
    );
    holder.query_drop(held).expect("granted");
    let waiting =
        format!("DO GET_LOCK('report', 600) /*traceparent='00-{TRACE}-00f067aa0ba902b7-01'*/");
    let waiting = thread::spawn(move || waiter.query_drop(waiting));
    let sleeping = thread::spawn(move || {
        let sql = format!("SELECT SLEEP(600) /*traceparent='00-{TRACE}-00f067aa0ba902b8-00'*/");
        let _ = unsampled.query_drop(sql);
    });
    let blocked = "SELECT COUNT(*) AS n FROM blocks WHERE blocker IS NOT NULL";
    wait_for("the blocker", || {
        let rows = query_history(directory, "history", blocked);
        (rows.first()?["n"].as_u64() > Some(0)).then_some(())
    });
    server
        .connect()
        .query_drop(format!("KILL {unsampled_id}"))
        .expect("killed");
    sleeping.join().expect("ends");
    holder
        .query_drop("DO RELEASE_LOCK('report')")
        .expect("released");
    waiting.join().expect("ends").expect("granted");
    [holder_id, waiter_id]
}

#[test]
fn a_span_has_its_parent_its_wait_and_its_blocker() {
    let (directory, server) = (Directory::new("otlp"), server());
    let (url, requests) = receive("200 OK", "{}");
    let mut recorder = Process::start(record(&directory, &server, &url).stderr(Stdio::null()));
    let [holder_id, waiter_id] = wait_for_a_lock(&directory, &server);
    let request = requests
        .recv_timeout(support::HANG_TIMEOUT)
        .expect("a request");
    assert_eq!(request.path, "/v1/traces");
    let request = request.body;
    recorder.signal("INT");
    assert!(recorder.wait().success());
    let of_resource = &request["resourceSpans"][0];
    assert_eq!(
        attribute(&of_resource["resource"], "service.name"),
        Some(&json!("tare"))
    );
    let spans = of_resource["scopeSpans"][0]["spans"]
        .as_array()
        .expect("spans");
    // The trace of the other statement is not recorded by its caller.
    let [span] = &spans[..] else {
        panic!("one span: {request:#}");
    };
    assert_eq!(span["traceId"], TRACE, "{span:#}");
    assert_eq!(span["parentSpanId"], "00f067aa0ba902b7", "{span:#}");
    let id = span["spanId"].as_str().expect("an id");
    assert!(
        id.len() == 16 && u64::from_str_radix(id, 16).is_ok_and(|id| id != 0),
        "{span:#}"
    );
    assert_eq!(span["name"], "do", "{span:#}");
    let time = |key: &str| -> u64 {
        span[key]
            .as_str()
            .expect("a time")
            .parse()
            .expect("a number")
    };
    assert!(
        time("endTimeUnixNano") - time("startTimeUnixNano") >= 100_000_000,
        "{span:#}"
    );
    let number = |id: u64| json!(id.to_string());
    assert_eq!(
        attribute(span, "tare.connection_id"),
        Some(&number(waiter_id)),
        "{span:#}"
    );
    assert_eq!(
        attribute(span, "tare.blocker.connection_id"),
        Some(&number(holder_id)),
        "{span:#}"
    );
    assert_eq!(
        attribute(span, "tare.blocker.state"),
        Some(&json!("sleeping")),
        "{span:#}"
    );
    let events = span["events"].as_array().expect("events");
    let lock = events
        .iter()
        .find(|event| event["name"] == "wait/lock/metadata/sql/mdl");
    let lock = lock.unwrap_or_else(|| panic!("the wait: {span:#}"));
    let duration = attribute(lock, "tare.duration_ns")
        .and_then(Value::as_str)
        .expect("a duration");
    assert!(duration.parse::<u64>().expect("a number") > 0, "{span:#}");
    assert_eq!(span["links"][0]["traceId"], HOLDERS_TRACE, "{span:#}");
    assert_eq!(span["links"][0]["spanId"], "b7ad6b7169203331", "{span:#}");
}

/// Runs a traced statement, and ends the recorder once there are samples. Returns the recorder's messages.
fn record_without_collector(url: &str) -> String {
    let (directory, server) = (Directory::new("otlp"), server());
    let mut command = record(&directory, &server, url);
    record_traced(&directory, &server, &mut command, &mut || true)
}

/// Runs a traced statement until there are samples and `is_done`, and ends the recorder. Returns its messages.
fn record_traced(
    directory: &Directory,
    server: &Server,
    command: &mut Command,
    is_done: &mut dyn FnMut() -> bool,
) -> String {
    let recorder = command.stderr(Stdio::piped()).spawn().expect("starts");
    let mut traced = server.connect();
    let sql = format!("SELECT SLEEP(0.5) /*traceparent='00-{TRACE}-00f067aa0ba902b7-01'*/");
    wait_for("samples", || {
        traced.query_drop(&sql).expect("sleeps");
        (samples(directory) > 3 && is_done()).then_some(())
    });
    let pid = rustix::process::Pid::from_raw(recorder.id() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("its own child");
    let done = recorder.wait_with_output().expect("ends");
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stderr).expect("text")
}

#[test]
fn a_collector_that_is_down_or_refuses_loses_spans_and_no_samples() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = closed.local_addr().expect("bound");
    drop(closed);
    let (refusing, _requests) = receive("503 Service Unavailable", "{}");
    let partly = r#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"not today"}}"#;
    let (rejecting, _requests) = receive("200 OK", partly);
    for url in [format!("http://{address}"), refusing, rejecting] {
        let messages = record_without_collector(&url);
        assert_eq!(messages.matches("spans are lost").count(), 1, "{messages}");
        assert!(messages.contains(" spans were lost"), "{messages}");
    }
}

#[test]
fn spans_are_sent_again_to_a_collector_that_was_overloaded_or_away() {
    let statuses = &[
        "",
        "429 Too Many Requests\r\nRetry-After: 0",
        "502 Bad Gateway\r\nRetry-After: 0",
        "503 Service Unavailable\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT",
        "504 Gateway Timeout\r\nRetry-After: 0",
        "200 OK",
    ];
    let (url, requests) = receive_in_turn(statuses);
    let (directory, server) = (Directory::new("otlp"), server());
    let mut command = record(&directory, &server, &url);
    let mut bodies = Vec::new();
    let messages = record_traced(&directory, &server, &mut command, &mut || {
        bodies.extend(requests.try_iter().map(|request| request.body));
        bodies.len() >= 5
    });
    // The same spans each time, until they are taken.
    assert!(bodies[1..5].iter().all(|body| *body == bodies[0]));
    let expected = format!("spans wait: {url}/v1/traces: ");
    assert_eq!(messages.matches(&expected).count(), 1, "{messages}");
    assert!(!messages.contains("lost"), "{messages}");
}

#[test]
fn what_would_fail_again_is_not_sent_again() {
    let (url, requests) = receive_in_turn(&["400 Bad Request\r\nRetry-After: 0", "200 OK"]);
    let (directory, server) = (Directory::new("otlp"), server());
    let mut command = record(&directory, &server, &url);
    let mut bodies = Vec::new();
    let messages = record_traced(&directory, &server, &mut command, &mut || {
        bodies.extend(requests.try_iter().map(|request| request.body));
        bodies.len() >= 2
    });
    assert_ne!(bodies[0], bodies[1]);
    let spans = &bodies[0]["resourceSpans"][0]["scopeSpans"][0]["spans"];
    let lost = spans.as_array().expect("spans").len();
    let expected = format!("spans are lost: {url}/v1/traces: http status: 400");
    assert_eq!(messages.matches(&expected).count(), 1, "{messages}");
    assert!(
        messages.contains(&format!("{lost} spans were lost")),
        "{messages}"
    );
}

#[test]
fn a_collector_that_does_not_answer_delays_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("bound"));
    let messages = record_without_collector(&url);
    assert!(messages.contains(" spans were lost"), "{messages}");
}
