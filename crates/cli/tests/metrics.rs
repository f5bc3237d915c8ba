//! `--metrics` end to end: what Prometheus scrapes, and the shipped rules and dashboard.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use mysql::Conn;
use mysql::prelude::Queryable;
use servers::{Engine, Server, Version};
use support::{CommandResult, Directory, Process, finish, finish_with_input, wait_for};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0";

/// A `tare` with --metrics, and its address.
struct Exporter {
    running: Process,
    address: String,
}

impl Exporter {
    fn start(directory: &Directory, arguments: &[&str]) -> Self {
        let tare = directory.tare(arguments.iter().chain(&["--metrics", "127.0.0.1:0"]));
        // Both outputs in one pipe keep their order.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 2>&1", "sh"]);
        command.arg(tare.get_program()).args(tare.get_args());
        command.current_dir(directory.path()).stdin(Stdio::null());
        let mut running = Process::start(&mut command);
        let address = loop {
            let line = running.line();
            if let Some(rest) = line.strip_prefix("tare: metrics at http://") {
                break rest.strip_suffix("/metrics").expect("a path").to_owned();
            }
        };
        Self { running, address }
    }

    fn serve(directory: &Directory) -> Self {
        let options = ["--data", "data", "--socket", "s"];
        let all = "--performance-schema-instrument=%=ON";
        Self::start(
            directory,
            &[&["serve", "--skip-networking"], &options[..], &[all]].concat(),
        )
    }

    /// Head and body of the response to GET /metrics.
    fn get(&self, accept: &str) -> (String, String) {
        get(&self.address, "/metrics", accept)
    }

    fn text(&self) -> String {
        self.get("").1
    }

    /// The value of a sample.
    fn value(&self, sample: &str) -> Option<f64> {
        let text = self.text();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        line.map(|value| value.parse().expect("a number"))
    }
}

fn get(address: &str, path: &str, accept: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.0\r\nAccept: {accept}\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, text) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), text.to_owned())
}

fn connect(directory: &Directory) -> Conn {
    let connection = support::server::connect(&directory.path().join("s"));
    connection.expect("the server takes a connection")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/prometheus")
}

fn promtool(arguments: &[&str]) -> CommandResult {
    let mut command = Command::new("promtool");
    finish(command.args(arguments).current_dir(examples()))
}

fn encode(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Debian's Prometheus, which scrapes an address each second.
struct Prometheus {
    _running: Process,
    address: String,
}

impl Prometheus {
    fn start(directory: &Directory, scraped: &str) -> Self {
        let config = directory.path().join("prometheus.yml");
        let text = format!(
            "scrape_configs:\n  - job_name: tare\n    scrape_interval: 1s\n    static_configs:\n      - targets: ['{scraped}']\n"
        );
        std::fs::write(&config, text).expect("written");
        // Prometheus does not choose a free port itself. If another process takes ours first, try again.
        loop {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
            let address = free.expect("a free port").to_string();
            let mut command = Command::new("prometheus");
            command.arg(format!("--config.file={}", config.display()));
            let data = directory.path().join("kept");
            command.arg(format!("--storage.tsdb.path={}", data.display()));
            command.arg(format!("--web.listen-address={address}"));
            command.arg("--enable-feature=exemplar-storage");
            command.stdin(Stdio::null()).stderr(Stdio::null());
            let mut running = Process::start(&mut command);
            let is_up = wait_for("Prometheus", || match running.has_ended() {
                true => Some(false),
                false => TcpStream::connect(&address).ok().map(|_| true),
            });
            if is_up && !running.has_ended() {
                return Self {
                    _running: running,
                    address,
                };
            }
        }
    }

    /// The first result of a query, once there is one.
    fn first(&self, query: &str) -> serde_json::Value {
        self.wait_for(query, &format!("query?query={}", encode(query)), |data| {
            data["result"].get(0).cloned()
        })
    }

    /// The labels of an exemplar of a metric, once there is one.
    fn exemplar(&self, metric: &str) -> serde_json::Value {
        let path = format!(
            "query_exemplars?start=0&end=9999999999&query={}",
            encode(metric)
        );
        self.wait_for(metric, &path, |data| {
            data[0]["exemplars"][0].get("labels").cloned()
        })
    }

    fn wait_for(
        &self,
        what: &str,
        path: &str,
        find: impl Fn(&serde_json::Value) -> Option<serde_json::Value>,
    ) -> serde_json::Value {
        wait_for(what, || {
            let (_, text) = get(&self.address, &format!("/api/v1/{path}"), "");
            let answer: serde_json::Value = serde_json::from_str(&text).ok()?;
            find(&answer["data"])
        })
    }
}

#[test]
fn prometheus_scrapes_a_server_and_promtool_finds_no_fault() {
    let directory = Directory::new("metrics");
    let exporter = Exporter::serve(&directory);
    let mut root = connect(&directory);
    root.query_drop("SELECT '<script>' AS `a\"b\\\\c`")
        .expect("runs");
    root.query_drop("SELECT missing").expect_err("unknown");

    let (head, text) = exporter.get("");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    let checked = finish_with_input(Command::new("promtool").args(["check", "metrics"]), &text);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert_eq!((&*checked.stdout, &*checked.stderr), ("", ""));
    let (head, open) = exporter.get(OPEN_METRICS);
    assert!(head.contains("application/openmetrics-text"), "{head}");
    assert!(open.ends_with("\n# EOF\n"));

    let prometheus = Prometheus::start(&directory, &exporter.address);
    assert_eq!(prometheus.first("tare_up == 1")["value"][1], "1");
    let failed = prometheus.first("tare_errors_total{error='ER_BAD_FIELD_ERROR'}");
    assert_eq!(failed["value"][1], "1");
    let digest = prometheus.first(
        "tare_digest_calls_total * on (digest, schema) group_left (text) tare_digest_info{text=~'SELECT . AS .*'}",
    );
    assert_eq!(digest["value"][1], "1");
    let text = digest["metric"]["text"].as_str().expect("a text");
    assert!(text.contains("a\"b"), "{text}");
    for query in [
        "tare_events_total{type='wait'} > 0",
        "tare_event_seconds_total{type='statement'} > 0",
        "tare_event_seconds_total{type='stage'} > 0",
        "tare_sessions{state='idle'} == 1",
        "tare_lost_total{what='digest'} == 0",
        "tare_instrumentation_cost_seconds_total{type='wait'} > 0",
        "tare_server_cpu_seconds_total > 0",
        "tare_scrape_seconds_total > 0",
        "tare_target_info{version=~'.*tare.*'}",
        "scrape_samples_scraped > 50",
    ] {
        prometheus.first(query);
    }
}

#[test]
fn a_server_behind_the_door_has_its_own_version() {
    let server = Server::start(Version::Mariadb, Engine::Tare, &[]);
    let pid = server.pid.to_string();
    let exporter = Exporter::start(
        &server.directory,
        &["record", "--pid", &pid, "--dir", "history"],
    );
    let text = exporter.text();
    let target = text
        .lines()
        .find(|line| line.starts_with("tare_target_info"))
        .expect("the target");
    assert!(target.contains("version=\"MariaDB 10.11."), "{target}");
    drop(exporter);
    server.stop();
}

#[test]
fn a_blocked_session_is_exported_with_its_waiting_time() {
    let directory = Directory::new("metrics-blocked");
    let exporter = Exporter::serve(&directory);
    let (mut holder, mut waiter) = (connect(&directory), connect(&directory));
    for sql in [
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'",
        "CREATE DATABASE held",
        "CREATE TABLE held.t (n INT)",
        "BEGIN",
        "INSERT INTO held.t VALUES (1)",
    ] {
        holder.query_drop(sql).expect(sql);
    }
    assert_eq!(exporter.value("tare_blocked_seconds"), Some(0.0));
    let waiting = thread::spawn(move || waiter.query_drop("INSERT INTO held.t VALUES (2)"));
    wait_for("a blocked session", || {
        (exporter.value("tare_sessions{state=\"blocked\"}") == Some(1.0)).then_some(())
    });
    wait_for("how long it waits", || {
        exporter
            .value("tare_blocked_seconds")
            .filter(|seconds| *seconds > 0.0)
    });
    holder.query_drop("COMMIT").expect("commits");
    waiting.join().expect("ends").expect("inserts");
    wait_for("nobody blocked", || {
        (exporter.value("tare_blocked_seconds") == Some(0.0)).then_some(())
    });
}

#[test]
fn a_recorder_exports_its_server_and_itself_with_bounded_digests() {
    let directory = Directory::new("metrics-record");
    let server = Exporter::serve(&directory);
    let mut root = connect(&directory);
    for n in 0..20 {
        root.query_drop(format!("SELECT 1 AS c{n}")).expect("runs");
    }
    let pid = server.running.pid().to_string();
    for target in [["--pid", &*pid], ["--dsn", "s"]] {
        let options = ["record", "--dir", "history", "--write-every", "0.1s"];
        let bound = ["--metrics-digests", "7", "--rate", "50"];
        let mut exporter = Exporter::start(&directory, &[&options[..], &bound, &target].concat());
        wait_for("moments", || {
            exporter
                .value("tare_record_moments_total")
                .filter(|n| *n > 0.0)
        });
        let text = exporter.text();
        let count = |what: &str| text.lines().filter(|line| line.starts_with(what)).count();
        assert_eq!(count("tare_digest_info{"), 7, "{target:?}");
        assert_eq!(count("tare_digest_calls_total{"), 7, "{target:?}");
        assert_eq!(count("tare_up 1"), 1, "{target:?}");
        assert!(exporter.value("tare_record_look_seconds_total") > Some(0.0));
        assert!(exporter.value("tare_server_cpu_seconds_total").is_some());
        exporter.running.signal("INT");
        assert!(exporter.running.wait().success());
    }
}

#[test]
fn a_digests_time_has_the_trace_of_a_sampled_statement() {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let directory = Directory::new("metrics-exemplars");
    let server = Exporter::serve(&directory);
    let (mut root, mut sleeper) = (connect(&directory), connect(&directory));
    // A digest has metrics once a statement has ended.
    root.query_drop("SELECT SLEEP(0)").expect("runs");
    let id: Option<u64> = sleeper.query_first("SELECT CONNECTION_ID()").expect("runs");
    let sleeping = thread::spawn(move || {
        let sql = format!("SELECT SLEEP(600) /*traceparent='00-{TRACE}-00f067aa0ba902b7-01'*/");
        let _ = sleeper.query_drop(sql);
    });
    let pid = server.running.pid().to_string();
    let options = ["record", "--dir", "history", "--pid", &pid];
    let recorder = Exporter::start(&directory, &options);
    let labels = format!(" # {{trace_id=\"{TRACE}\",span_id=\"00f067aa0ba902b7\"}} ");
    for exporter in [&server, &recorder] {
        wait_for("an exemplar", || {
            let (_, text) = exporter.get(OPEN_METRICS);
            let line = text.lines().find(|line| line.contains(&labels))?;
            assert!(line.starts_with("tare_digest_seconds_total{"), "{line}");
            Some(())
        });
        // The older format has none.
        assert!(!exporter.text().contains(TRACE));
    }
    let id = id.expect("an id");
    root.query_drop(format!("KILL QUERY {id}")).expect("killed");
    sleeping.join().expect("ends");
    // The recorder has sampled it; the server samples only what runs.
    let prometheus = Prometheus::start(&directory, &recorder.address);
    let exemplar = prometheus.exemplar("tare_digest_seconds_total");
    assert_eq!(exemplar["trace_id"], TRACE);
}

#[test]
fn tare_up_is_0_after_the_servers_end() {
    let directory = Directory::new("metrics-gone");
    let (elsewhere, other) = (
        Directory::new("metrics-other"),
        Directory::new("metrics-by"),
    );
    let mut server = Exporter::serve(&directory);
    let pid = server.running.pid().to_string();
    let options = [
        "serve",
        "--skip-networking",
        "--data",
        "data",
        "--socket",
        "s",
    ];
    let by = Exporter::start(&other, &[&options[..], &["--attach-pid", &pid]].concat());
    assert_eq!(by.value("tare_up"), Some(1.0));
    server.running.signal("KILL");
    server.running.wait();
    wait_for("tare_up to be 0", || {
        (by.value("tare_up") == Some(0.0)).then_some(())
    });
    assert_eq!(
        by.value("tare_statements_total"),
        None,
        "no incomplete answer"
    );
    // A server whose Performance Schema is off is not up.
    let options = [
        "serve",
        "--skip-networking",
        "--data",
        "data",
        "--socket",
        "s",
    ];
    let off = Exporter::start(
        &elsewhere,
        &[&options[..], &["--performance-schema=OFF"]].concat(),
    );
    assert_eq!(off.value("tare_up"), Some(0.0));
}

#[test]
fn a_taken_address_and_invalid_requests_are_refused() {
    let directory = Directory::new("metrics-refused");
    let exporter = Exporter::serve(&directory);
    let other = Directory::new("metrics-taken");
    let words = ["serve", "--skip-networking", "--data", "data", "--metrics"];
    let finished = finish(&mut other.tare(words.iter().chain(&[&*exporter.address])));
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished
            .stderr
            .contains("give another address with --metrics")
    );
    for (request, code) in [
        ("POST /metrics HTTP/1.0\r\n\r\n", "405"),
        ("DELETE / HTTP/1.0\r\n\r\n", "405"),
        ("GET /other HTTP/1.0\r\n\r\n", "404"),
        ("GET / HTTP/1.0\r\n\r\n", "200"),
        ("nonsense\r\n\r\n", "400"),
    ] {
        let mut stream = TcpStream::connect(&exporter.address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert_eq!(answer.split(' ').nth(1), Some(code), "{request}: {answer}");
    }
}

#[test]
fn the_shipped_prometheus_files_are_valid() {
    for words in [
        &["check", "config", "prometheus.yml"][..],
        &["check", "rules", "alerts.yml"],
        &["test", "rules", "alerts.test.yml"],
    ] {
        let finished = promtool(words);
        assert_eq!(finished.code, Some(0), "{words:?}: {finished:?}");
    }
    // The shipped files and docs/metrics.md name the metrics that the tools export.
    let read = |path: PathBuf| std::fs::read_to_string(&path).expect("a file");
    let page = read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md"));
    let documented = |name: &str| page.contains(&format!("| `{name}` |"));
    for file in ["alerts.yml", "dashboard.json"] {
        for name in names(&read(examples().join(file))) {
            assert!(documented(&name), "{file}: docs/metrics.md lacks {name}");
        }
    }
    let directory = Directory::new("metrics-named");
    let exporter = Exporter::serve(&directory);
    connect(&directory)
        .query_drop("SELECT missing")
        .expect_err("unknown");
    for line in exporter.text().lines() {
        let Some(rest) = line.strip_prefix("# TYPE ") else {
            continue;
        };
        let name = rest.split(' ').next().expect("a name");
        assert!(documented(name), "docs/metrics.md lacks {name}");
    }
    let dashboard = read(examples().join("dashboard.json"));
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).expect("JSON");
    for panel in dashboard["panels"].as_array().expect("panels") {
        for target in panel["targets"].as_array().expect("targets") {
            let expression = target["expr"].as_str().expect("an expression");
            let expression =
                (expression.replace("$__rate_interval", "5m")).replace("$__range", "1h");
            let file = directory.path().join("rule.yml");
            let rule = serde_json::json!({"groups": [{"name": "g", "rules": [{"record": "r", "expr": expression}]}]});
            std::fs::write(&file, rule.to_string()).expect("written");
            let finished = promtool(&["check", "rules", file.to_str().expect("UTF-8")]);
            assert_eq!(finished.code, Some(0), "{expression}: {finished:?}");
        }
    }
}

/// The names of metrics in a text.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_metric = |word: &&str| word.starts_with("tare_") || word.starts_with("process_");
    words.filter(is_metric).map(str::to_owned).collect()
}
