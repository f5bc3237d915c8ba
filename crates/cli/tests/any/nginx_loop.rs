//! A worker of nginx that a write to a log blocks: which request blocks it, and which sessions wait for it.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;

use super::support::{Directory, Process, finish, signal, wait_for};
use super::{library, rows, tls};

const CONFIGURATION: &str = r#"
daemon off;
worker_processes 1;
pid DIR/pid;
error_log DIR/errors;
user USER;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path DIR/body;
    proxy_temp_path DIR/proxy;
    fastcgi_temp_path DIR/fastcgi;
    uwsgi_temp_path DIR/uwsgi;
    scgi_temp_path DIR/scgi;
    server {
        listen 127.0.0.1:PORT;
        root DIR;
        location /text { return 200 "text\n"; }
    }
}
"#;

/// What a session waits for if its request was not read yet.
const WAIT: &str = "wait/synch/mutex/nginx/event_loop";

/// nginx with a pipe in place of its error log.
struct Nginx {
    directory: Directory,
    process: Process,
    pid: u32,
    port: u16,
    /// The log's other end.
    log: File,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        signal(self.pid, "KILL");
        self.process.wait();
    }
}

impl Nginx {
    fn start() -> Self {
        let directory = Directory::new("loop");
        let path = directory.path();
        let errors = path.join("errors");
        let status = Command::new("mkfifo")
            .args(["-m", "666"])
            .arg(&errors)
            .status();
        assert!(status.expect("mkfifo starts").success());
        // With both ends, no open waits for the other one.
        let log = OpenOptions::new().read(true).write(true).open(&errors);
        let port = tls::free_port();
        let user = match rustix::process::getuid().is_root() {
            true => "root",
            false => "nobody",
        };
        let text = CONFIGURATION
            .replace("DIR", &path.to_string_lossy())
            .replace("PORT", &port.to_string())
            .replace("USER", user);
        let configuration = path.join("conf");
        std::fs::write(&configuration, text).expect("written");
        let mut run = directory.tare(["run", "--require", "--library"]);
        run.arg(library())
            .args(["--", "/usr/sbin/nginx", "-c"])
            .arg(&configuration);
        let output = File::create(path.join("output")).expect("a file");
        let process = Process::start_on(run.stderr(output), Stdio::null());
        let pid = wait_for("nginx to run", || {
            TcpStream::connect(("127.0.0.1", port)).ok()?;
            let pid = std::fs::read_to_string(path.join("pid")).ok()?;
            pid.trim().parse().ok()
        });
        Self {
            directory,
            process,
            pid,
            port,
            log: log.expect("opened"),
        }
    }

    fn rows(&self, sql: &str) -> Vec<Json> {
        rows(&self.directory, &["--pid", &self.pid.to_string()], sql)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        let timeout = Some(Duration::from_millis(500));
        stream.set_read_timeout(timeout).expect("set");
        stream
    }
}

/// Sends a request. True: something of its response came within half a second.
fn call(stream: &mut TcpStream, path: &str) -> bool {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    is_answered(stream)
}

fn is_answered(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 4096]) {
        Ok(length) => length != 0,
        Err(error) => {
            assert!(matches!(
                error.kind(),
                ErrorKind::WouldBlock | ErrorKind::TimedOut
            ));
            false
        }
    }
}

#[test]
fn a_request_that_blocks_a_worker_is_the_blocker_of_the_others() {
    let mut nginx = Nginx::start();
    let (mut holder, mut waiter) = (nginx.connect(), nginx.connect());
    let missing = format!("/{}", "x".repeat(1500));
    let errors = nginx.directory.path().join("errors");
    for level in ["every", "active"] {
        let sql = format!("UPDATE tare.setup_sampling SET sampling = '{level}'");
        let pid = nginx.pid.to_string();
        let set = finish(&mut nginx.directory.tare(["sql", "--pid", &pid, "-e", &sql]));
        assert_eq!(set.code, Some(0), "{set:?}");
        assert!(call(&mut waiter, "/text"));
        // Each file that is missing is an error in the log, until the pipe is full.
        while call(&mut holder, &missing) {}
        assert!(!call(&mut waiter, "/text"));
        let holds = "SELECT thread_id, object_name, state FROM tare.active_sessions \
                     WHERE statement = 'statement/nginx/get' AND operation = 'write'";
        let held = wait_for("the request that writes", || nginx.rows(holds).pop());
        assert_eq!(held["object_name"].as_str(), errors.to_str(), "{level}");
        assert_eq!(held["state"], "waiting", "{level}");
        let waits =
            format!("SELECT blocker, state FROM tare.active_sessions WHERE wait = '{WAIT}'");
        let waiting = wait_for("the session that waits", || {
            Some(nginx.rows(&waits)).filter(|rows| !rows.is_empty())
        });
        let blocked = serde_json::json!({"blocker": held["thread_id"], "state": "waiting"});
        assert_eq!(waiting, [blocked], "{level}");
        // There is space in the log again.
        let mut is_holder_answered = false;
        while !is_holder_answered {
            nginx.log.read_exact(&mut [0; 1024]).expect("read");
            is_holder_answered = is_answered(&mut holder);
        }
        assert!(is_answered(&mut waiter));
        wait_for("both requests to end", || {
            let running = "SELECT 1 FROM tare.active_sessions";
            nginx.rows(running).is_empty().then_some(())
        });
    }
}
