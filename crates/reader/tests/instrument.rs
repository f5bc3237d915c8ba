//! The servers in Rust of docs/instrument.md, built as their reader builds them, count exactly.

mod support;
#[path = "../../abi/tests/totals/mod.rs"]
#[allow(dead_code, reason = "the test uses some of it")]
mod totals;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use support::scale;
use tare_reader::{Segment, Target};
use totals::Totals;

const CLIENTS: usize = 8;

/// The blocks of code of this language in docs/instrument.md.
fn documented(language: &str) -> Vec<String> {
    let page = include_str!("../../../docs/instrument.md");
    let begin = format!("```{language}\n");
    let blocks = page.split(begin.as_str()).skip(1);
    let codes = blocks.map(|block| block.split("```").next().expect("a block").to_string());
    codes.collect()
}

/// Builds a package of these two files in a folder of its own, and returns the program.
fn build(manifest: &str, code: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shop");
    // The folder is inside of Tare's workspace, and a reader's is not.
    let manifest = manifest.replace("../tare/", &format!("{root}/")) + "[workspace]\n";
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("written");
    std::fs::write(folder.join("src/main.rs"), code).expect("written");
    // The versions of dependencies that this machine has.
    std::fs::copy(format!("{root}/Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--target-dir", "target"])
        .args(["--config", "profile.dev.debug=0"])
        .current_dir(&folder)
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && errors.is_empty(), "{errors}");
    folder.join("target/debug/shop")
}

/// A child that is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends requests, and checks the answers that are the same whatever the other clients do.
fn work(stream: &TcpStream, client: usize, rounds: usize) {
    let mut answers = BufReader::new(stream).lines();
    let mut output = stream;
    let mut request = |line: String| -> usize {
        output.write_all(line.as_bytes()).expect("it reads");
        let answer = answers.next().expect("an answer").expect("it writes");
        answer.parse().expect("a number")
    };
    for round in 0..rounds {
        let number = client * rounds + round;
        assert_eq!(request(format!("set {number}\n")), number);
        request("get\n".to_string());
        request("get\n".to_string());
    }
}

#[test]
#[ignore = "compiles two programs: make test-long"]
fn the_documented_servers_in_rust_count_exactly() {
    let rounds = scale(100, 5_000);
    let (manifests, programs) = (documented("toml"), documented("rust"));
    assert_eq!((manifests.len(), programs.len()), (2, 2));
    for (manifest, code) in manifests.iter().zip(&programs) {
        let mut server = Running(
            Command::new(build(manifest, code))
                .arg("127.0.0.1:0")
                .env_remove("TARE_SEGMENT")
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts"),
        );
        let mut address = String::new();
        let mut output = BufReader::new(server.0.stdout.take().expect("piped"));
        output.read_line(&mut address).expect("its address");
        let connect = |_| TcpStream::connect(address.trim()).expect("it listens");
        let streams: Vec<_> = (0..CLIENTS).map(connect).collect();
        std::thread::scope(|scope| {
            for (client, stream) in streams.iter().enumerate() {
                scope.spawn(move || work(stream, client, rounds));
            }
        });
        let segment = Segment::attach(Target::Pid(server.0.id())).expect("it records");
        let totals = Totals::of(segment.view());
        let count = |name: &str| totals.class(name).count as usize;
        let sets = CLIENTS * rounds;
        assert_eq!(count("statement/shop/set"), sets);
        assert_eq!(count("statement/shop/get"), 2 * sets);
        assert_eq!(count("wait/synch/mutex/shop/LOCK_stock"), 3 * sets);
        assert_eq!(totals.digests, ["get", "set ?"]);
        assert_eq!(totals.accounts, ["@127.0.0.1"]);
        let all = tare_reader::threads(segment.view());
        let classes = tare_reader::Classes::read(segment.view());
        let client = classes.find("thread/shop/client").expect("a class").id;
        let clients = all.iter().filter(|thread| thread.class == client);
        assert_eq!(clients.count(), CLIENTS);
        assert_eq!(totals.lost, 0);
    }
}
