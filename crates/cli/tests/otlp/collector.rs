//! An OpenTelemetry Collector reads the spans, and passes on what it has read.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::receiver::{Request, receive};
use super::tls::write_certificate;
use super::{HOLDERS_TRACE, TRACE, attribute, record, server};
use crate::support::{Directory, Process, wait_for};

/// The collector's program, built at the first call.
fn program() -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("otel-collector");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/otel-collector");
    let status = Command::new(script).arg(&folder).status();
    assert!(status.expect("starts").success(), "{script} failed");
    folder.join("collector")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").port()
}

/// All spans of a request.
fn spans(request: &Request) -> Vec<Value> {
    let scopes = &request.body["resourceSpans"][0]["scopeSpans"][0];
    scopes["spans"].as_array().cloned().unwrap_or_default()
}

#[test]
#[ignore = "builds an OpenTelemetry Collector: make test-long"]
fn a_collector_reads_the_spans() {
    let program = program();
    let (directory, server) = (Directory::new("otlp"), server());
    write_certificate(directory.path(), "server");
    let (url, requests) = receive("200 OK", "{}");
    let port = free_port();
    let configuration = format!(
        "
receivers:
  otlp:
    protocols:
      http:
        endpoint: localhost:{port}
        tls: {{ cert_file: server.pem, key_file: server.key }}
exporters:
  otlp_http:
    endpoint: {url}
    encoding: json
    compression: none
service:
  telemetry: {{ metrics: {{ level: none }} }}
  pipelines:
    traces: {{ receivers: [otlp], exporters: [otlp_http] }}
"
    );
    fs::write(directory.path().join("collector.yaml"), configuration).expect("written");
    let mut collector = Command::new(program);
    let collector = collector.args(["--config", "file:collector.yaml"]);
    let collector = collector.current_dir(directory.path());
    let mut collector = Process::start(collector.stderr(Stdio::inherit()));
    wait_for("the collector", || {
        assert!(!collector.has_ended(), "the collector has ended");
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    let mut command = record(&directory, &server, &format!("https://localhost:{port}"));
    command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", "server-ca.pem");
    command.env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    let mut recorder = Process::start(command.stderr(Stdio::inherit()));
    super::wait_for_a_lock(&directory, &server);
    let mut read = Vec::new();
    let span = wait_for("the span", || {
        read.extend(requests.try_iter().flat_map(|request| spans(&request)));
        read.iter().find(|span| span["traceId"] == TRACE).cloned()
    });
    recorder.signal("INT");
    assert!(recorder.wait().success());
    assert_eq!(span["parentSpanId"], "00f067aa0ba902b7", "{span:#}");
    assert_eq!(span["name"], "do", "{span:#}");
    assert_eq!(span["kind"], 2, "{span:#}");
    assert_eq!(span["links"][0]["traceId"], HOLDERS_TRACE, "{span:#}");
    assert_eq!(span["links"][0]["spanId"], "b7ad6b7169203331", "{span:#}");
    let events = span["events"].as_array().expect("events");
    let lock = events
        .iter()
        .find(|event| event["name"] == "wait/lock/metadata/sql/mdl");
    let lock = lock.unwrap_or_else(|| panic!("the wait: {span:#}"));
    assert!(attribute(lock, "tare.duration_ns").is_some(), "{span:#}");
    let state = attribute(&span, "tare.blocker.state");
    assert_eq!(state, Some(&Value::from("sleeping")), "{span:#}");
}
