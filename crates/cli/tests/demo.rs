//! `scripts/demo`, on the binary under test and in its shortest form. Its figures mean nothing here;
//! what counts is that it ends, prints every part, and leaves nothing behind.

mod support;

use std::process::Command;

use support::{Directory, Running, finish, wait_for};

/// The demo, its temporary files in `directory`.
fn demo(directory: &Directory) -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/demo"));
    command
        .env("TMPDIR", directory.path())
        .env("TARE_DEMO_BINARY", support::TARE)
        .env("TARE_DEMO_BLOCKS", "2")
        .env("TARE_DEMO_SECONDS", "1");
    command
}

#[test]
fn it_shows_what_it_cost_and_collected_and_leaves_nothing() {
    let directory = Directory::new("demo");
    let finished = finish(&mut demo(&directory));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let shown = &finished.stdout;
    for words in [
        "\nWhat everything on costs\n",
        "server CPU/transaction, us",
        " events per second, ",
        "(with everything off: 0 in all)",
        "\nTop waits by time\n",
        "wait/io/socket/",
        "\nTop stages by time\n",
        "stage/sql/",
        "\nTop statements by time\n",
        "statement/com/Execute",
        "\nWhere to look next\n",
        "\nThe number of README, on this machine\n  Everything on and timed: ",
        "against the same server with everything off.",
    ] {
        assert!(shown.contains(words), "no {words:?} in:\n{shown}");
    }
    assert!(
        !shown.contains('\x1b'),
        "no colours without a terminal:\n{shown}"
    );
    assert_eq!(directory.names(), Vec::<String>::new());
}

#[test]
fn interrupted_it_leaves_nothing_either() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let directory = Directory::new("stop");
        let mut running = Running::start(demo(&directory).stderr(std::process::Stdio::piped()));
        // While the tables are loaded, and sysbench runs.
        let log = wait_for("the server's directory", || {
            let name = directory.names().pop()?;
            let socket = directory.path().join(&name).join("tare.sock");
            socket.exists().then_some(name)
        });
        running.signal(signal);
        assert_eq!(
            running.wait().code(),
            Some(code),
            "after SIG{signal} in {log}"
        );
        assert!(running.stderr().contains("cleaning up"));
        assert_eq!(directory.names(), Vec::<String>::new());
        let ours = directory.path().to_str().expect("UTF-8").to_owned();
        assert_eq!(
            commands_with(&ours),
            Vec::<String>::new(),
            "processes were left"
        );
    }
}

/// The command lines, of all processes, that have this in them.
fn commands_with(text: &str) -> Vec<String> {
    std::fs::read_dir("/proc")
        .expect("mounted")
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(text))
        .collect()
}
