//! nginx under `tare run`: requests of workers, against the access log and stub_status.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;
use std::thread;

use serde_json::Value as Json;

use super::support::{Directory, Process, finish, signal, wait_for};
use super::{execute, library, number, rows, statements, tls};

const CONFIGURATION: &str = r#"
daemon off;
worker_processes 2;
pid DIR/pid;
error_log DIR/error.log;
user USER;
events { worker_connections 256; }
http {
    log_format short '$request_method $status $uri';
    access_log DIR/access.log short;
    client_body_temp_path DIR/body;
    proxy_temp_path DIR/proxy;
    fastcgi_temp_path DIR/fastcgi;
    uwsgi_temp_path DIR/uwsgi;
    scgi_temp_path DIR/scgi;
    proxy_cache_path DIR/cache keys_zone=cache:64k;
    sendfile on;
    gzip_min_length 1;
    keepalive_requests 30;
    client_header_timeout 200ms;
    lingering_timeout 200ms;
    server {
        listen unix:DIR/socket;
        listen 127.0.0.1:PORT ssl http2;
        ssl_certificate DIR/cert.pem;
        ssl_certificate_key DIR/key.pem;
        root DIR/files;
        location /status { stub_status; }
        location /text { return 200 "text\n"; }
        location /fail { return 503; }
        location /empty { return 204; }
        location /close { return 444; }
        location /zip { gzip on; gzip_types *; }
        location /proxy/ { proxy_pass http://unix:DIR/upstream:/; }
        location /dead/ { proxy_pass http://unix:DIR/nobody:/; }
        location /private { auth_basic private; auth_basic_user_file DIR/users; }
        location /socket {
            proxy_pass http://unix:DIR/websocket:/;
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection upgrade;
        }
    }
    server { listen unix:DIR/upstream; root DIR/files; }
    server { listen unix:DIR/proxied proxy_protocol; root DIR/files; }
}
"#;

pub struct Nginx {
    directory: Directory,
    run: Process,
    /// The first process.
    pid: u32,
    port: u16,
}

impl Nginx {
    pub fn start() -> Self {
        let directory = Directory::new("nginx");
        let path = directory.path();
        tls::create_certificate(path);
        let files = path.join("files");
        std::fs::create_dir_all(files.join("users")).expect("made");
        let write =
            |name: &str, bytes: &[u8]| std::fs::write(files.join(name), bytes).expect("written");
        write("small.txt", b"small\n");
        write("zip.txt", &b"zip ".repeat(500));
        write("private.txt", b"private\n");
        write("large.bin", &vec![b'x'; 3_000_000]);
        for user in [1, 22, 4711] {
            write(&format!("users/{user}"), b"user\n");
        }
        std::fs::write(path.join("users"), "ann:{PLAIN}secret\n").expect("written");
        let port = tls::free_port();
        let user = if rustix::process::getuid().is_root() {
            "root"
        } else {
            "nobody"
        };
        let text = CONFIGURATION
            .replace("DIR", &path.to_string_lossy())
            .replace("PORT", &port.to_string())
            .replace("USER", user);
        let configuration = path.join("nginx.conf");
        std::fs::write(&configuration, text).expect("written");
        let log = std::fs::File::create(path.join("log")).expect("a log");
        let mut run = directory.tare(["run", "--require", "--library"]);
        run.arg(library())
            .args(["--", "nginx", "-c"])
            .arg(&configuration);
        let run = Process::start_on(run.stderr(log), Stdio::null());
        let pid = wait_for("nginx to listen", || {
            UnixStream::connect(path.join("upstream")).ok()?;
            let pid = std::fs::read_to_string(path.join("pid")).ok()?;
            pid.trim().parse().ok()
        });
        Self {
            directory,
            run,
            pid,
            port,
        }
    }

    fn connect_to(&self, socket: &str) -> Client {
        let stream = UnixStream::connect(self.directory.path().join(socket)).expect("connected");
        Client(BufReader::new(stream))
    }

    pub fn connect(&self) -> Client {
        self.connect_to("socket")
    }

    pub fn connect_tls(&self, options: &[&str]) -> Client {
        Client(BufReader::new(
            tls::connect(self.port, options).expect("connected"),
        ))
    }

    pub fn rows(&self, sql: &str) -> Vec<Json> {
        rows(&self.directory, &["--pid", &self.pid.to_string()], sql)
    }

    pub fn number(&self, sql: &str) -> u64 {
        number(&self.rows(sql)[0])
    }

    /// Runs a statement without rows.
    pub fn execute(&self, sql: &str) {
        execute(&self.directory, &["--pid", &self.pid.to_string()], sql);
    }

    /// Requests by method.
    pub fn counted(&self) -> BTreeMap<String, u64> {
        statements(&self.rows(
            "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS name, COUNT_STAR AS n \
             FROM performance_schema.events_statements_summary_global_by_event_name \
             WHERE COUNT_STAR > 0 AND EVENT_NAME LIKE 'statement/nginx/%'",
        ))
    }

    /// Errors by number.
    fn errors(&self) -> BTreeMap<String, u64> {
        statements(&self.rows(
            "SELECT CAST(ERROR_NUMBER AS CHAR) AS name, SUM_ERROR_RAISED AS n \
             FROM performance_schema.events_errors_summary_global_by_error WHERE SUM_ERROR_RAISED > 0",
        ))
    }

    /// The lines of the access log: method, status, path.
    fn log(&self) -> Vec<[String; 3]> {
        let text = std::fs::read_to_string(self.directory.path().join("access.log"));
        let text = text.expect("a log");
        let lines = text.lines().map(|line| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            [0; 3].map(|_| words.next().expect("three words"))
        });
        lines.collect()
    }

    /// Waits until the requests by method and the errors by number equal what the access log has. Without
    /// `by_method`, only the sum of the requests: the log has no method if the first line is malformed.
    fn check_counts(&self, by_method: bool) {
        let listed = ["GET", "HEAD", "POST", "PUT", "DELETE"];
        wait_for("the counts to equal the access log's", || {
            let (mut methods, mut errors) = (BTreeMap::new(), BTreeMap::new());
            for [method, status, _] in self.log() {
                let name = match listed.contains(&method.as_str()) {
                    true => method.to_ascii_lowercase(),
                    false => "other".to_owned(),
                };
                *methods.entry(name).or_insert(0) += 1;
                // Without a response there is no status.
                let number = match &*status {
                    "408" | "444" | "499" => "1105".to_owned(),
                    status => status.to_owned(),
                };
                if *status >= *"400" {
                    *errors.entry(number).or_insert(0) += 1;
                }
            }
            let mut counted = (self.counted(), self.errors());
            if !by_method {
                for methods in [&mut counted.0, &mut methods] {
                    *methods = BTreeMap::from([("all".to_owned(), methods.values().sum())]);
                }
            }
            if counted != (methods.clone(), errors.clone()) {
                std::fs::write(
                    self.directory.path().join("difference"),
                    format!("{counted:?}\n{methods:?} {errors:?}\n"),
                )
                .expect("written");
                return None;
            }
            Some(())
        });
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        if thread::panicking() {
            for file in ["difference", "log", "error.log"] {
                let text = std::fs::read_to_string(self.directory.path().join(file));
                eprintln!("{file}: {}", text.unwrap_or_default());
            }
        }
        // Workers live on if only the first process is killed.
        signal(self.pid, "TERM");
        self.run.wait();
    }
}

pub struct Client(BufReader<UnixStream>);

impl Client {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // The server may have closed the connection.
        let _ = self.0.get_mut().write_all(bytes.as_ref());
    }

    /// The next response: its status, and its body. `None`: the connection has ended.
    pub fn read(&mut self, has_body: bool) -> Option<(u16, Vec<u8>)> {
        let line = |from: &mut BufReader<UnixStream>| {
            let mut line = String::new();
            from.read_line(&mut line)
                .ok()
                .filter(|&length| length != 0)?;
            Some(line.trim_end().to_ascii_lowercase())
        };
        let status = line(&mut self.0)?.split(' ').nth(1)?.parse().ok()?;
        let (mut length, mut is_chunked) = (None, false);
        loop {
            let header = line(&mut self.0)?;
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length: ") {
                length = value.parse().ok();
            }
            is_chunked |= header == "transfer-encoding: chunked";
        }
        let mut body = Vec::new();
        match (length, is_chunked) {
            _ if !has_body || matches!(status, 100..200 | 204 | 304) => {}
            (Some(length), _) => {
                body = vec![0; length];
                self.0.read_exact(&mut body).ok()?;
            }
            (None, true) => loop {
                let length = usize::from_str_radix(&line(&mut self.0)?, 16).ok()?;
                let mut chunk = vec![0; length + 2];
                self.0.read_exact(&mut chunk).ok()?;
                if length == 0 {
                    break;
                }
                body.extend_from_slice(&chunk[..length]);
            },
            (None, false) => {
                let _ = self.0.read_to_end(&mut body);
            }
        }
        Some((status, body))
    }

    pub fn call(&mut self, request: &str) -> u16 {
        self.send(request);
        self.read(!request.starts_with("HEAD"))
            .map_or(0, |(status, _)| status)
    }

    /// Reads until the server closes the connection.
    fn finish(mut self) {
        let _ = self.0.read_to_end(&mut Vec::new());
    }
}

pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: example\r\n\r\n")
}

/// Requests of all kinds, each with the status of its response.
fn exchange(client: &mut Client, connect: &dyn Fn() -> Client) {
    let chunks = "5\r\nhello\r\n0\r\n\r\n";
    let large = "y".repeat(200_000);
    let requests = [
        (get("/small.txt"), 200),
        (get("/large.bin"), 200),
        (get("/text"), 200),
        (get("/none/17"), 404),
        (get("/fail"), 503),
        (get("/empty"), 204),
        (get("/users/4711"), 200),
        (get("/proxy/users/22?page=2"), 200),
        (get("/proxy/none"), 404),
        (get("/dead/x"), 502),
        (
            get("/zip.txt").replace("Host", "Accept-Encoding: gzip\r\nHost"),
            200,
        ),
        (get("/small.txt").replace("GET", "HEAD"), 200),
        (get("/none").replace("GET", "HEAD"), 404),
        (
            get("/small.txt").replace("Host", "Range: bytes=1-2\r\nHost"),
            206,
        ),
        (
            get("/small.txt").replace("Host", "If-None-Match: *\r\nHost"),
            304,
        ),
        (get("/small.txt").replace("GET", "BREW"), 405),
        (get("/small.txt").replace("GET", "DELETE"), 405),
        (
            "POST /text HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello".to_owned(),
            200,
        ),
        (
            format!(
                "POST /small.txt HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
            ),
            405,
        ),
        (
            format!("PUT /proxy/x HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{large}"),
            405,
        ),
    ];
    for (request, status) in requests {
        let name = request.lines().next().unwrap_or_default().to_owned();
        let mut answer = client.call(&request);
        if answer == 0 {
            // After keepalive_requests.
            *client = connect();
            answer = client.call(&request);
        }
        assert_eq!(answer, status, "{name}");
    }
}

#[test]
fn counts_equal_the_servers_own() {
    let nginx = Nginx::start();
    thread::scope(|scope| {
        for number in 0..3 {
            let nginx = &nginx;
            scope.spawn(move || {
                let connect: &dyn Fn() -> Client = match number {
                    0 => &|| nginx.connect_tls(&["-nbio"]),
                    _ => &|| nginx.connect(),
                };
                let mut client = connect();
                for _ in 0..4 {
                    exchange(&mut client, connect);
                }
                for _ in 0..20 {
                    let mut client = connect();
                    let close = get("/users/1").replace("Host", "Connection: close\r\nHost");
                    // Behind a request that closes the connection, nothing is read.
                    client.send(close + &get("/text"));
                    client.finish();
                }
                // A pipeline, in parts.
                let mut client = connect();
                let pipeline = get("/text").repeat(9) + &get("/large.bin") + &get("/small.txt");
                for part in pipeline.as_bytes().chunks(101) {
                    client.send(part);
                }
                for _ in 0..11 {
                    assert_eq!(client.read(true).expect("a response").0, 200);
                }
            });
        }
        // New workers serve new connections, and the old ones end.
        for _ in 0..2 {
            signal(nginx.pid, "HUP");
            assert_eq!(nginx.connect().call(&get("/text")), 200);
        }
    });
    nginx.check_counts(true);
    let mut client = nginx.connect();
    client.send(get("/status"));
    let (_, body) = client.read(true).expect("a response");
    let status = String::from_utf8(body).expect("text");
    let requests = status
        .lines()
        .nth(2)
        .expect("numbers")
        .split_whitespace()
        .nth(2);
    let requests: u64 = requests.expect("requests").parse().expect("a number");
    nginx.check_counts(true);
    assert_eq!(nginx.counted().values().sum::<u64>(), requests);
    // By path, too.
    let of_users = nginx
        .log()
        .iter()
        .filter(|line| line[2].starts_with("/users/"))
        .count();
    let by_digest = "SELECT SUM(COUNT_STAR) AS n FROM performance_schema.events_statements_summary_by_digest \
                     WHERE DIGEST_TEXT IN ('GET /users/?', 'GET /users/??page=?')";
    assert_eq!(number(&nginx.rows(by_digest)[0]), of_users as u64);
    let tls = "SELECT COUNT(*) AS n FROM performance_schema.threads WHERE NAME = 'thread/nginx/worker process'";
    assert_eq!(number(&nginx.rows(tls)[0]), 2);
}

#[test]
fn texts_users_and_databases_are_recorded_and_no_secret() {
    let nginx = Nginx::start();
    let consumers = "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'";
    let mut command = nginx.directory.tare(["sql", "-e", consumers, "--pid"]);
    let finished = finish(command.arg(nginx.pid.to_string()));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for mut client in [nginx.connect(), nginx.connect_tls(&["-nbio"])] {
        let with = |credentials: &str| {
            get("/private.txt?token=hidden&x=1").replace(
                "Host: example",
                &format!("Host: Shop.example:80\r\nAuthorization: Basic {credentials}"),
            )
        };
        // ann:wrong, bob:secret, ann:secret
        assert_eq!(client.call(&with("YW5uOndyb25n")), 401);
        assert_eq!(client.call(&with("Ym9iOnNlY3JldA==")), 401);
        assert_eq!(client.call(&with("YW5uOnNlY3JldA==")), 200);
    }
    let mut proxied = nginx.connect_to("proxied");
    proxied.send("PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n");
    assert_eq!(proxied.call(&get("/users/22")), 200);
    nginx.check_counts(true);
    let sql = "SELECT SQL_TEXT AS text, DIGEST_TEXT AS digest, CURRENT_SCHEMA AS db, MYSQL_ERRNO AS number, \
               MESSAGE_TEXT AS message FROM performance_schema.events_statements_history_long \
               WHERE EVENT_NAME LIKE 'statement/nginx/%' ORDER BY TIMER_START";
    let private = |number: u64, message: Option<&str>| {
        serde_json::json!({
            "text": "GET /private.txt?token=?&x=?", "digest": "GET /private.txt?token=?&x=?",
            "db": "shop.example", "number": number, "message": message,
        })
    };
    let refused = private(401, Some("401 Unauthorized"));
    let one = [refused.clone(), refused, private(0, None)];
    let user = serde_json::json!({
        "text": "GET /users/22", "digest": "GET /users/?", "db": "example", "number": 0, "message": null,
    });
    assert_eq!(nginx.rows(sql), [&one[..], &one, &[user]].concat());
    let sql = "SELECT CONCAT(COALESCE(USER, ''), '@', COALESCE(HOST, '')) AS name, COUNT_STAR AS n \
               FROM performance_schema.events_statements_summary_by_account_by_event_name \
               WHERE COUNT_STAR > 0 AND EVENT_NAME = 'statement/nginx/get'";
    let expected = [("@192.0.2.7", 1), ("@localhost", 4), ("ann@localhost", 2)];
    let expected = expected.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(statements(&nginx.rows(sql)), BTreeMap::from(expected));
    let sql = "SELECT DISTINCT CONNECTION_TYPE AS name, 1 AS n FROM performance_schema.threads \
               WHERE NAME = 'thread/nginx/client'";
    let types = statements(&nginx.rows(sql));
    assert!(
        types
            .keys()
            .all(|name| ["Socket", "SSL/TLS"].contains(&&**name)),
        "{types:?}"
    );
    // A client cannot choose its host: this port expects no such header.
    let mut direct = nginx.connect();
    assert_eq!(direct.call("PROXY TCP4 192.0.2.8 192.0.2.1 1 2\r\n"), 400);
    let sql = "SELECT HOST AS name, 1 AS n FROM performance_schema.hosts WHERE HOST LIKE '192.%'";
    assert_eq!(
        statements(&nginx.rows(sql)),
        BTreeMap::from([("192.0.2.7".to_owned(), 1)])
    );
}

#[test]
fn malformed_requests_and_other_protocols_do_not_mix() {
    let nginx = Nginx::start();
    // nginx answers each of these and closes the connection, or closes it after a time limit.
    let long = "x".repeat(100_000);
    let headers = "a: b\r\n".repeat(20_000);
    for bytes in [
        "garbage\r\n\r\n".into(),
        "GET /a b HTTP/1.1\r\n\r\n".into(),
        "GET /text HTTP/1.1\r\n\r\n".into(),
        "GET /text HTTP/3.7\r\nHost: a\r\n\r\n".into(),
        format!("GET /{long} HTTP/1.1\r\n\r\n"),
        format!("GET /text HTTP/1.1\r\nHost: a\r\n{headers}\r\n"),
        format!("GET /text HTTP/1.1\r\nHost: {long}"),
        "POST /text HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n".into(),
        "POST /text HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
            .into(),
        "GET /text\0 HTTP/1.1\r\nHost: a\r\n\r\n".into(),
        "GET /text HTTP/1.1\r\nHo".into(),
        "G".into(),
        "\u{16}\u{3}\u{1}".into(),
        get("/close"),
        "GET /text\r\n".into(),
        "GET /small.txt HTTP/1.0\r\n\r\n".into(),
    ] {
        let mut client = nginx.connect();
        client.send(bytes);
        client.finish();
    }
    nginx.check_counts(false);
    // Clients that end early: nginx logs a status that nobody gets.
    let early = "POST /proxy/x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx";
    let all = |nginx: &Nginx| nginx.counted().values().sum::<u64>();
    for bytes in [early, "GET /text HT"] {
        let before = all(&nginx);
        nginx.connect().send(bytes);
        wait_for("the request to end", || {
            (all(&nginx) == before + 1).then_some(())
        });
    }
    let before = all(&nginx);

    // HTTP/2 is not recorded, and nothing of it is taken for HTTP/1.
    let mut second = nginx.connect_tls(&["-alpn", "h2"]);
    second.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0");
    let mut frame = [0; 9];
    second.0.read_exact(&mut frame).expect("a frame");
    drop(second);

    // After an upgrade, what looks like requests is none.
    let path = nginx.directory.path().join("websocket");
    let listener = UnixListener::bind(path).expect("bound");
    let echo = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("accepted");
        let mut client = Client(BufReader::new(stream));
        let mut line = String::new();
        while client.0.read_line(&mut line).expect("read") > 2 {
            line.clear();
        }
        client.send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        );
        line.clear();
        client.0.read_line(&mut line).expect("read");
        client.send(line);
    });
    let mut client = nginx.connect();
    let upgrade =
        get("/socket").replace("Host", "Upgrade: websocket\r\nConnection: Upgrade\r\nHost");
    assert_eq!(client.call(&upgrade), 101);
    client.send(get("/text"));
    let mut line = String::new();
    client.0.read_line(&mut line).expect("read");
    assert!(line.starts_with("GET /text"), "{line}");
    drop(client);
    echo.join().expect("echoed");
    wait_for("the upgrade to count", || {
        (all(&nginx) == before + 1).then_some(())
    });
    assert_eq!(nginx.connect().call(&get("/text")), 200);
    let processes = "SELECT SUBSTRING_INDEX(NAME, '/', -1) AS name, COUNT(*) AS n FROM performance_schema.threads \
                     WHERE TYPE = 'BACKGROUND' GROUP BY NAME";
    wait_for("the processes to have their roles", || {
        let roles = statements(&nginx.rows(processes));
        let role = |name: &str| roles.get(name).copied().unwrap_or_default();
        let counts = (
            role("master"),
            role("worker process"),
            role("cache manager"),
        );
        (counts == (1, 2, 1)).then_some(())
    });
    let lost = "SELECT COUNT(*) AS n FROM performance_schema.global_status WHERE VARIABLE_VALUE <> '0' AND \
                (VARIABLE_NAME LIKE 'Performance_schema%lost' OR VARIABLE_NAME = 'Tare_forks')";
    assert_eq!(number(&nginx.rows(lost)[0]), 0);
    let message = finish(std::process::Command::new("cat").arg(nginx.directory.path().join("log")));
    assert!(
        message
            .stdout
            .contains("HTTP/1 requests with users and hosts"),
        "{message:?}"
    );
}
