//! memcached with the instruments of examples/memcached, under load: Tare's counts are those of `stats`.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tare_layout::class::Counter;
use tare_reader::{Segment, Target};

use super::totals::Totals;
use super::{Running, installed, root, run};

/// So much time is as good as never.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);
const CLIENTS: usize = 8;
const ROUNDS: usize = 3000;

struct Client(BufReader<UnixStream>);

impl Client {
    fn connect(socket: &Path) -> Self {
        let since = Instant::now();
        loop {
            match UnixStream::connect(socket) {
                Ok(stream) => return Self(BufReader::new(stream)),
                Err(error) => assert!(since.elapsed() < HANG_TIMEOUT, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a command, and returns the first line of its reply that begins with one of these words.
    fn request(&mut self, command: &str, ends: &[&str]) -> (String, Vec<String>) {
        let command = format!("{command}\r\n");
        self.0.get_mut().write_all(command.as_bytes()).unwrap();
        let mut before = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "{command}");
            let line = line.trim_end().to_owned();
            if ends.iter().any(|end| line.starts_with(end)) {
                return (line, before);
            }
            before.push(line);
        }
    }

    /// A client's load. The value arrives apart from its command now and then.
    fn work(&mut self, own: usize) {
        for round in 0..ROUNDS {
            let key = format!("key{}", (own * 31 + round) % 500);
            if round % 5 == 0 {
                let command = format!("set {key} 0 0 5\r\n");
                self.0.get_mut().write_all(command.as_bytes()).unwrap();
                std::thread::yield_now();
                assert_eq!(self.request("12345", &["STORED"]).0, "STORED");
            } else {
                self.request(&format!("add {key} 0 0 1\r\n7"), &["STORED", "NOT_STORED"]);
            }
            self.request(&format!("get {key}"), &["END"]);
            self.request("get nothing", &["END"]);
            if round % 7 == 0 {
                self.request(&format!("gets {key} nothing key1 key2 key3"), &["END"]);
                self.request(&format!("touch {key} 1000"), &["TOUCHED", "NOT_FOUND"]);
                self.request(
                    &format!("incr {key} 1"),
                    &["NOT_FOUND", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
                );
                self.request(&format!("delete {key}"), &["DELETED", "NOT_FOUND"]);
                self.request("nonsense", &["ERROR"]);
            }
        }
    }

    fn statistics(&mut self) -> HashMap<String, u64> {
        let (_, lines) = self.request("stats", &["END"]);
        let lines = lines.iter().filter_map(|line| {
            let (name, value) = line.strip_prefix("STAT ")?.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        lines.collect()
    }
}

#[test]
#[ignore = "fetches and compiles memcached: make test-long"]
fn memcached_counts_what_its_own_statistics_count() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memcached");
    run(Command::new(root().join("scripts/memcached")).args([installed(), &folder]));
    let socket = folder.join("socket");
    let _ = std::fs::remove_file(&socket);
    let mut server = Running(
        Command::new(folder.join("memcached"))
            .args(["-u", "root", "-t", "4", "-m", "64", "-s"])
            .arg(&socket)
            .env_remove("TARE_SEGMENT")
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    std::thread::scope(|scope| {
        for own in 0..CLIENTS {
            let socket = &socket;
            scope.spawn(move || Client::connect(socket).work(own));
        }
    });
    let mut last = Client::connect(&socket);
    let statistics = last.statistics();
    let segment = Segment::attach(Target::Pid(server.0.id())).unwrap();
    let totals = Totals::of(segment.view());

    let command = |name: &str| totals.class(&format!("statement/memcached/{name}"));
    let count = |name: &str| command(name).count;
    let keys =
        |counter: Counter| ["get", "gets"].map(|name| command(name).counters[counter as usize]);
    let sum = |names: &[&str]| names.iter().map(|name| statistics[*name]).sum::<u64>();
    for (counted, names) in [
        (count("set") + count("add"), &["cmd_set"][..]),
        (keys(Counter::RowsExamined).iter().sum(), &["cmd_get"]),
        (keys(Counter::RowsSent).iter().sum(), &["get_hits"]),
        (count("touch"), &["cmd_touch"]),
        (count("delete"), &["delete_hits", "delete_misses"]),
        (count("incr"), &["incr_hits", "incr_misses"]),
    ] {
        assert_eq!(counted, sum(names), "{names:?}");
        assert!(counted > 0, "{names:?}");
    }
    let sevenths = (CLIENTS * ROUNDS.div_ceil(7)) as u64;
    assert_eq!(count("set"), (CLIENTS * ROUNDS / 5) as u64);
    assert_eq!(count("get"), (2 * CLIENTS * ROUNDS) as u64);
    assert_eq!((count("gets"), count("other")), (sevenths, sevenths));
    let expected = [
        "add", "delete", "get", "gets", "incr", "set", "stats", "touch",
    ];
    let mut digests: Vec<&str> = totals.digests.iter().map(String::as_str).collect();
    digests.retain(|digest| !digest.starts_with("other"));
    let expected = expected.map(|name| match name {
        "stats" => name.to_owned(),
        _ => format!("{name} ?"),
    });
    assert_eq!(digests, expected);
    // Each of these commands takes the lock of its item.
    let item_locks = totals.class("wait/synch/mutex/memcached/item_locks");
    assert!(
        item_locks.count >= count("set") + count("add"),
        "{item_locks:?}"
    );
    assert_eq!(totals.lost, 0);
    drop(last);
    // SAFETY: a signal to a child that was not waited for.
    let sent = unsafe { libc::kill(server.0.id() as i32, libc::SIGTERM) };
    assert_eq!(sent, 0);
    assert!(server.0.wait().unwrap().success());
    assert!(!segment.is_live());
}
