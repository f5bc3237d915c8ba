//! mini-redis, which nobody here wrote, with the layer in its `main`, under load: the counts are exact.

#[path = "../../abi/tests/totals/mod.rs"]
#[allow(dead_code, reason = "the test uses some of it")]
mod totals;

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tare_reader::{Classes, Segment, Target, threads};
use totals::Totals;

/// So much time is as good as never.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);
const CLIENTS: u64 = 8;
const ROUNDS: u64 = 2_000;

/// A child that is killed when the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[track_caller]
fn run(command: &mut Command) {
    let status = command.status().expect("it starts");
    assert!(status.success(), "{command:?}: {status}");
}

#[track_caller]
fn wait_for<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        assert!(since.elapsed() < HANG_TIMEOUT);
        std::thread::sleep(Duration::from_millis(5));
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(port: u16) -> Self {
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok();
        Self(BufReader::new(wait_for(connect)))
    }

    fn send(&mut self, command: &[&str]) {
        let mut frame = format!("*{}\r\n", command.len());
        for word in command {
            frame += &format!("${}\r\n{word}\r\n", word.len());
        }
        let sent = self.0.get_mut().write_all(frame.as_bytes());
        sent.expect("it reads");
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("it writes");
        line.trim_end().to_owned()
    }

    fn request(&mut self, command: &[&str]) -> String {
        self.send(command);
        self.read_line()
    }

    fn work(&mut self, own: u64) {
        for round in 0..ROUNDS {
            // No other client has the key.
            let (key, value) = (format!("key{own}"), format!("{round:04}"));
            assert_eq!(self.request(&["SET", &key, &value]), "+OK");
            assert_eq!(self.request(&["GET", &key]), "$4");
            assert_eq!(self.read_line(), value);
            assert_eq!(self.request(&["PUBLISH", "news", &value]), ":0");
        }
        let answer = self.request(&["NONSENSE"]);
        assert_eq!(answer, "-ERR unknown command 'nonsense'");
    }
}

#[test]
#[ignore = "fetches and compiles mini-redis: make test-long"]
fn mini_redis_counts_exactly() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mini-redis");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/mini-redis");
    run(Command::new(script).arg(&folder));
    // A free port: mini-redis does not say which one it has.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
    let port = port.expect("a free port").port();
    let mut server = Running(
        Command::new(folder.join("mini-redis-server"))
            .args(["--port", &port.to_string()])
            .env_remove("TARE_SEGMENT")
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts"),
    );
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| Client::connect(port)).collect();
    std::thread::scope(|scope| {
        for (own, client) in (0..).zip(&mut clients) {
            scope.spawn(move || client.work(own));
        }
    });
    let segment = Segment::attach(Target::Pid(server.0.id())).expect("it records");
    let class = Classes::read(segment.view())
        .find("thread/tracing/server::run")
        .expect("a class")
        .id;
    let live = || {
        let all = threads(segment.view());
        all.iter().filter(|thread| thread.class == class).count() as u64
    };
    assert_eq!(live(), CLIENTS);
    // A client may leave in the middle of a command, or break the protocol.
    clients[0].send(&["GET"]);
    let cut = clients[1].0.get_mut().write_all(b"*3\r\n$3\r\nSET\r\n");
    cut.expect("it reads");
    // A span ends later than its answer is read, and before its connection's.
    drop(clients);
    wait_for(|| (live() == 0).then_some(()));

    let totals = Totals::of(segment.view());
    let count = |name: &str| {
        totals
            .class(&format!("statement/tracing/{name}::apply"))
            .count
    };
    assert_eq!(count("set"), CLIENTS * ROUNDS);
    assert_eq!(count("get"), CLIENTS * ROUNDS);
    assert_eq!(count("unknown"), CLIENTS);
    let expected = ["get::apply", "set::apply", "unknown::apply"];
    assert_eq!(totals.digests, expected);
    assert_eq!(totals.lost, 0);
    run(Command::new("kill").args(["-INT", &server.0.id().to_string()]));
    assert!(server.0.wait().expect("it ends").success());
    assert!(!segment.is_live());
}
