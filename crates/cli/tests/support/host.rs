//! A program that uses Tare: the test program runs itself again.

use std::process::Command;

use tare_reader::{Segment, Target};

use super::{Directory, Process};

tare::classes! {
    static LOCK_HOST: Mutex = "wait/synch/mutex/host/LOCK_host", enabled;
    static QUERY: Statement = "statement/host/query", enabled;
}

/// The environment variable that says how the host ends.
const END_VARIABLE: &str = "TARE_TEST_HOST";

/// Adds to a command the arguments that start a host, which ends as `how` says.
pub fn add_arguments(command: &mut Command, how: &str) {
    let program = std::env::current_exe().expect("known");
    command
        .arg(program)
        .args(arguments())
        .env(END_VARIABLE, how);
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
pub fn start(directory: &Directory) -> Process {
    let mut command = Command::new(std::env::current_exe().expect("known"));
    command
        .current_dir(directory.path())
        .args(arguments())
        .env(END_VARIABLE, "wait");
    let mut running = Process::start(&mut command);
    assert_eq!(pid(&mut running), running.pid());
    running
}

/// Waits until a host has recorded something, and gives its pid.
pub fn pid(running: &mut Process) -> u32 {
    loop {
        if let Some(pid) = running.line().strip_prefix("ready ") {
            return pid.parse().expect("a pid");
        }
    }
}

/// The host. Run as a test, it stops the engine and ends.
#[test]
fn program() {
    tare::start(tare::Config::everything()).expect("Tare starts");
    let lock = tare::sync::Mutex::new(&LOCK_HOST, 0);
    let statement = tare::statement::start(&QUERY);
    statement.text("SELECT 'from the host'");
    *lock.lock() += 1;
    drop(statement);
    let how = std::env::var(END_VARIABLE).unwrap_or_default();
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
