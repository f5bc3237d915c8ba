//! A program that uses Tare: the test program itself, run again.

use std::process::Command;

use tare_reader::{Segment, Target};

use super::{Directory, Running};

tare::classes! {
    static LOCK_HOST: Mutex = "wait/synch/mutex/host/LOCK_host", enabled;
    static QUERY: Statement = "statement/host/query", enabled;
}

/// How it is to end, by name.
const HOW: &str = "TARE_TEST_HOST";

/// Adds to a command the arguments that become a host which ends like this.
pub fn that(command: &mut Command, how: &str) {
    let program = std::env::current_exe().expect("known");
    command.arg(program).args(arguments()).env(HOW, how);
}

fn arguments() -> [&'static str; 4] {
    [
        "--exact",
        "support::host::program",
        "--nocapture",
        "--quiet",
    ]
}

/// Starts a host that records and then waits to be killed.
pub fn start(directory: &Directory) -> Running {
    let mut command = Command::new(std::env::current_exe().expect("known"));
    command
        .current_dir(directory.path())
        .args(arguments())
        .env(HOW, "wait");
    let mut running = Running::start(&mut command);
    assert_eq!(pid(&mut running), running.pid());
    running
}

/// Waits until a host has recorded something, and gives its pid.
pub fn pid(running: &mut Running) -> u32 {
    loop {
        if let Some(pid) = running.line().strip_prefix("ready ") {
            return pid.parse().expect("a pid");
        }
    }
}

/// The program itself. Run as a test, it is a host that ends as it should.
#[test]
fn program() {
    tare::start(tare::Config::everything()).expect("Tare starts");
    let lock = tare::sync::Mutex::new(&LOCK_HOST, 0);
    let statement = tare::statement::start(&QUERY);
    statement.text("SELECT 'from the host'");
    *lock.lock() += 1;
    drop(statement);
    let how = std::env::var(HOW).unwrap_or_default();
    if !how.is_empty() {
        println!("\nready {}", std::process::id());
    }
    match how.as_str() {
        "wait" => loop {
            std::thread::park();
        },
        "abort" => std::process::abort(),
        "fail" => std::process::exit(9),
        "leave" => std::process::exit(0),
        "stop" => {
            tare::stop();
            std::process::exit(9);
        }
        _ => {
            let own = || Segment::attach(Target::Pid(std::process::id()));
            assert!(own().expect("a running segment is found").is_live());
            tare::stop();
            assert!(!own().is_ok_and(|segment| segment.is_live()), "stopped");
        }
    }
}
