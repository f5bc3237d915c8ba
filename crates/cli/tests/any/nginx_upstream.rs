//! nginx before a second nginx: the stages of requests, and the connections to the upstream server, against both logs.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::thread;

use serde_json::Value as Json;

use super::support::{Directory, Process, finish, signal, wait_for};
use super::switching::switch;
use super::{library, number, rows, statements, tls};

/// Of both: FRONT or BACK is replaced.
const COMMON: &str = r#"
daemon off;
worker_processes 1;
pid DIR/NAME.pid;
error_log DIR/NAME.error;
user USER;
events { worker_connections 256; }
http {
    log_format sizes '$status $bytes_sent $request_length $connection $request_time $upstream_addr';
    access_log DIR/NAME.log sizes;
    client_body_temp_path DIR/body;
    proxy_temp_path DIR/proxy;
    fastcgi_temp_path DIR/fastcgi;
    uwsgi_temp_path DIR/uwsgi;
    scgi_temp_path DIR/scgi;
"#;

/// The upstream server. It answers one of the requests for /slow every tenth of a second.
const BACK: &str = r#"
    limit_req_zone $server_port zone=slow:64k rate=10r/s;
    server {
        listen 127.0.0.1:BACK;
        location /slow { limit_req zone=slow burst=9; root DIR/files; }
        location / { return 200 "hello\n"; }
    }
}
"#;

const FRONT: &str = r#"
    upstream kept { server 127.0.0.1:BACK; keepalive 4; }
    server {
        listen 127.0.0.1:FRONT;
        location /status { stub_status; }
        location /text { return 200 "text\n"; }
        location /new/ { proxy_pass http://127.0.0.1:BACK/; }
        location /kept/ {
            proxy_pass http://kept/;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }
        location /held/ { proxy_pass http://127.0.0.1:HELD/; }
    }
}
"#;

/// A program that the test ends by a signal, with all its processes.
struct Nginx {
    process: Process,
    pid: u32,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        signal(self.pid, "TERM");
        self.process.wait();
    }
}

/// Starts nginx on a configuration. `tare`: under `tare run`.
fn start(directory: &Directory, name: &str, text: &str, tare: bool) -> Nginx {
    let path = directory.path();
    let configuration = path.join(format!("{name}.conf"));
    std::fs::write(&configuration, text).expect("written");
    let mut command = match tare {
        true => {
            let mut run = directory.tare(["run", "--require", "--library"]);
            run.arg(library()).args(["--", "/usr/sbin/nginx"]);
            run
        }
        false => std::process::Command::new("/usr/sbin/nginx"),
    };
    let log = std::fs::File::create(path.join(format!("{name}.output"))).expect("a log");
    let process = Process::start_on(
        command.arg("-c").arg(&configuration).stderr(log),
        Stdio::null(),
    );
    let pid = wait_for("nginx to run", || {
        let pid = std::fs::read_to_string(path.join(format!("{name}.pid"))).ok()?;
        pid.trim().parse().ok()
    });
    Nginx { process, pid }
}

struct Servers {
    front: Nginx,
    _back: Nginx,
    ports: [u16; 3],
    directory: Directory,
}

impl Servers {
    fn start() -> Self {
        let directory = Directory::new("upstream");
        let ports = [(); 3].map(|()| tls::free_port());
        let files = directory.path().join("files");
        std::fs::create_dir(&files).expect("made");
        std::fs::write(files.join("slow"), "slow\n").expect("written");
        let user = match rustix::process::getuid().is_root() {
            true => "root",
            false => "nobody",
        };
        let text = |name: &str, own: &str| {
            let [front, back, held] = ports.map(|port| port.to_string());
            (COMMON.to_owned() + own)
                .replace("DIR", &directory.path().to_string_lossy())
                .replace("NAME", name)
                .replace("USER", user)
                .replace("FRONT", &front)
                .replace("BACK", &back)
                .replace("HELD", &held)
        };
        let back = start(&directory, "back", &text("back", BACK), false);
        let front = start(&directory, "front", &text("front", FRONT), true);
        wait_for("both to listen", || {
            ports[..2]
                .iter()
                .all(|&port| TcpStream::connect(("127.0.0.1", port)).is_ok())
                .then_some(())
        });
        Self {
            front,
            _back: back,
            ports,
            directory,
        }
    }

    fn rows(&self, sql: &str) -> Vec<Json> {
        rows(
            &self.directory,
            &["--pid", &self.front.pid.to_string()],
            sql,
        )
    }

    fn execute(&self, sql: &str) {
        let mut command = self.directory.tare(["sql", "-e", sql, "--pid"]);
        let finished = finish(command.arg(self.front.pid.to_string()));
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.ports[0])).expect("connected")
    }

    /// How often each stage was entered.
    fn stages(&self) -> [u64; 4] {
        let counts = statements(&self.rows(
            "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS name, COUNT_STAR AS n \
             FROM performance_schema.events_stages_summary_global_by_event_name WHERE EVENT_NAME LIKE 'stage/nginx/%'",
        ));
        ["reading", "processing", "upstream", "sending"].map(|name| counts[name])
    }
}

/// A line of a log.
struct Line {
    sent: u64,
    received: u64,
    connection: u64,
    milliseconds: u64,
    is_passed_on: bool,
}

fn log(directory: &Path, name: &str) -> Vec<Line> {
    let text = std::fs::read_to_string(directory.join(name)).expect("a log");
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse().expect("a number");
        Line {
            sent: number(1),
            received: number(2),
            connection: number(3),
            milliseconds: words[4].replace('.', "").parse().expect("a time"),
            is_passed_on: words[5] != "-",
        }
    };
    text.lines().map(line).collect()
}

/// The response to a request, with its headers.
fn call(stream: &mut TcpStream, path: &str) -> String {
    // In one packet.
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut response = Vec::new();
    while !response.ends_with(b"\n") || response.ends_with(b"\r\n") {
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).expect("read");
        assert!(length > 0, "{path}: {}", String::from_utf8_lossy(&response));
        response.extend_from_slice(&bytes[..length]);
    }
    String::from_utf8(response).expect("text")
}

#[test]
fn requests_that_are_passed_on_are_those_of_the_upstreams_log() {
    let servers = Servers::start();
    servers.execute(
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' \
         WHERE NAME LIKE 'stage/nginx/%' OR NAME LIKE 'wait/io/socket/%'",
    );
    // The worker notices it with its next event.
    let (mut first, mut second) = (servers.connect(), servers.connect());
    call(&mut first, "/text");
    let before = servers.stages();
    for round in 0..6 {
        // The connections that stay open serve the requests of several clients in turn.
        for client in [&mut first, &mut second] {
            call(client, "/text");
            call(client, "/kept/a");
            call(client, "/new/a");
            if round < 2 {
                call(client, "/kept/slow");
            }
        }
    }
    // At once.
    thread::scope(|scope| {
        for _ in 0..4 {
            let mut client = servers.connect();
            scope.spawn(move || {
                for _ in 0..5 {
                    call(&mut client, "/kept/b");
                    call(&mut client, "/new/b");
                }
            });
        }
    });
    let directory = servers.directory.path();
    let (passed_on, all) = (12 * 2 + 4 + 40, 12 * 3 + 4 + 40);
    // The logs are written behind the responses.
    let back = wait_for("the upstream's log", || {
        Some(log(directory, "back.log")).filter(|lines| lines.len() >= passed_on)
    });
    wait_for("the front's log", || {
        (log(directory, "front.log").len() > all).then_some(())
    });
    let front = log(directory, "front.log");
    assert_eq!(back.len(), passed_on);
    assert_eq!(
        front.iter().filter(|line| line.is_passed_on).count(),
        passed_on
    );
    let status = call(&mut first, "/status");
    let numbers = status.lines().rev().nth(1).expect("numbers");
    let requests: u64 = numbers
        .split_whitespace()
        .nth(2)
        .expect("requests")
        .parse()
        .expect("a number");
    assert_eq!(requests, all as u64 + 2);
    // Each request has each stage once; only those that are passed on have the upstream's.
    let stages = servers.stages();
    let (all, passed_on) = (all as u64 + 1, passed_on as u64);
    let counts = [0, 1, 2, 3].map(|at| stages[at] - before[at]);
    assert_eq!(counts, [all, all, passed_on, all]);

    // What the upstream server sent and received is what these connections received and sent, and no client's.
    let sums = |of: &str| -> [u64; 2] {
        let sql = format!(
            "SELECT SUM(SUM_NUMBER_OF_BYTES_READ) AS r, SUM(SUM_NUMBER_OF_BYTES_WRITE) AS w \
             FROM performance_schema.socket_summary_by_event_name WHERE EVENT_NAME LIKE '{of}'"
        );
        let row = servers.rows(&sql).remove(0);
        ["r", "w"].map(|name| number(&serde_json::json!({ "n": row[name] })))
    };
    let upstream = format!(
        "wait/io/socket/nginx/upstream/127.0.0.1:{}",
        servers.ports[1]
    );
    let (sent, received) = (|line: &Line| line.sent, |line: &Line| line.received);
    assert_eq!(
        sums(&upstream),
        [
            back.iter().map(sent).sum::<u64>(),
            back.iter().map(received).sum()
        ]
    );
    assert_eq!(sums("wait/io/socket/nginx/outgoing_connection"), [0, 0]);
    let requests = usize::try_from(requests).expect("a number");
    let front = wait_for("the front's log", || {
        Some(log(directory, "front.log")).filter(|lines| lines.len() == requests)
    });
    assert_eq!(
        sums("wait/io/socket/nginx/client_connection"),
        [
            front.iter().map(received).sum::<u64>(),
            front.iter().map(sent).sum()
        ]
    );
    // Connections that stay open serve several requests.
    let mut connections: Vec<u64> = back.iter().map(|line| line.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    let new = 12 + 20;
    assert!(
        connections.len() > new && connections.len() < back.len(),
        "{connections:?}"
    );

    // A request is in this stage for as long as the upstream server works for it. nginx's clock has milliseconds.
    let sql = "SELECT SUM_TIMER_WAIT AS n FROM performance_schema.events_stages_summary_global_by_event_name \
               WHERE EVENT_NAME = 'stage/nginx/upstream'";
    let waited = number(&servers.rows(sql)[0]) / 1_000_000_000;
    let worked: u64 = back.iter().map(|line| line.milliseconds).sum();
    assert!(waited + 2 * passed_on >= worked, "{waited} {worked}");
}

#[test]
fn a_request_that_waits_for_its_upstream_is_in_this_stage() {
    let servers = Servers::start();
    servers.execute(
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'stage/nginx/%'",
    );
    let listener = TcpListener::bind(("127.0.0.1", servers.ports[2])).expect("bound");
    let mut client = servers.connect();
    call(&mut client, "/text");
    write!(client, "GET /held/x HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    let (mut upstream, _) = listener.accept().expect("accepted");
    let mut request = [0; 4096];
    assert!(upstream.read(&mut request).expect("read") > 0);
    let running = "SELECT stage FROM tare.active_sessions WHERE statement = 'statement/nginx/get'";
    let stage = servers.rows(running);
    assert_eq!(stage[0]["stage"], "stage/nginx/upstream");
    // Another client's request does not change it.
    call(&mut servers.connect(), "/text");
    assert_eq!(servers.rows(running), stage);
    upstream
        .write_all(b"HTTP/1.0 200 OK\r\n\r\nheld\n")
        .expect("written");
    drop(upstream);
    let mut response = String::new();
    while !response.contains("held\n") {
        let mut bytes = [0; 4096];
        let length = client.read(&mut bytes).expect("read");
        response.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    wait_for("the request to end", || {
        servers.rows(running).is_empty().then_some(())
    });
    let [.., upstream, sending] = servers.stages();
    assert_eq!((upstream, sending), (1, 3));
}

#[test]
fn a_connection_that_was_opened_while_all_was_off_is_one_to_an_upstream_server() {
    let servers = Servers::start();
    servers.execute(&switch(false));
    let mut client = servers.connect();
    call(&mut client, "/kept/a");
    servers.execute(
        "UPDATE performance_schema.setup_instruments SET ENABLED = IF(NAME LIKE 'st%/nginx/%', 'YES', 'NO'), \
         TIMED = IF(NAME LIKE 'st%/nginx/%', 'YES', 'NO')",
    );
    servers.execute(&switch(true));
    // The client's connection is read again from its second request on.
    call(&mut client, "/kept/a");
    let before = servers.stages();
    call(&mut client, "/kept/a");
    let stages = servers.stages();
    let counts = [0, 1, 2, 3].map(|at| stages[at] - before[at]);
    assert_eq!(counts, [1, 1, 1, 1]);
    let back = log(servers.directory.path(), "back.log");
    assert!(
        back.iter()
            .all(|line| line.connection == back[back.len() - 1].connection),
        "one connection"
    );
}
