//! `--pid` of a process that does not use Tare: its threads and the processes below it, through /proc.

#[path = "support/history.rs"]
mod history;
mod support;

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use history::{files, rows};
use serde_json::Value;
use support::{Directory, Process, finish, tare_as_nobody, wait_for};
use tare_reader::process::{Stat, stat_line};

/// Threads of this process with names: one spins, one sleeps, one reads. They end with the value.
struct Threads {
    stop: Arc<AtomicBool>,
    output: Option<std::io::PipeWriter>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    fn start(prefix: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (mut input, output) = std::io::pipe().expect("a pipe");
        let stopped = Arc::clone(&stop);
        let spin = move || {
            while !stopped.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let stopped = Arc::clone(&stop);
        let sleep = move || {
            while !stopped.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(200));
            }
        };
        let read = move || {
            let _ = input.read(&mut [0]);
        };
        let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
            let name = format!("{prefix}-{name}");
            let named = thread::Builder::new().name(name.clone());
            let thread = named.spawn(run).expect("started");
            // Observers read the name of a thread once per second.
            task(&name);
            thread
        };
        let handles = vec![
            start("spin", Box::new(spin)),
            start("sleep", Box::new(sleep)),
            start("read", Box::new(read)),
        ];
        Self {
            stop,
            output: Some(output),
            handles,
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.output.take());
        for thread in self.handles.drain(..) {
            let _ = thread.join();
        }
    }
}

fn seconds<'a>(rows: impl IntoIterator<Item = &'a Value>) -> f64 {
    rows.into_iter()
        .map(|row| row["seconds"].as_f64().expect("a number"))
        .sum()
}

/// This process's thread of a name, which a new thread sets itself.
fn task(name: &str) -> PathBuf {
    let of_name = |task: &PathBuf| {
        fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    };
    wait_for(name, || {
        let tasks = fs::read_dir("/proc/self/task").expect("its threads");
        tasks.flatten().map(|task| task.path()).find(of_name)
    })
}

/// CPU time of this process's thread of a name, in nanoseconds.
fn cpu_ns(name: &str) -> u64 {
    let text = fs::read_to_string(task(name).join("schedstat")).expect("it runs");
    text.split(' ')
        .next()
        .and_then(|ns| ns.parse().ok())
        .expect("a number")
}

#[test]
fn a_recorder_samples_all_threads_of_a_process_and_of_its_children() {
    let directory = Directory::new("processes");
    let history = directory.path().join("history");
    let threads = Threads::start("rec");
    let script = "while :; do sleep 0.05; done";
    let child = Process::start(Command::new("sh").args(["-c", script]));
    let before = cpu_ns("rec-spin");
    let pid = std::process::id().to_string();
    let words = [
        "record", "--pid", &pid, "--dir", "history", "--rate", "100", "--for", "2s",
    ];
    let finished = finish(&mut directory.tare(words));
    let used = cpu_ns("rec-spin") - before;
    drop(threads);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let line = format!("({pid}) does not use Tare: observed are its threads");
    assert!(finished.stderr.contains(&line), "{finished:?}");
    assert!(!finished.stderr.contains("is not recorded"), "{finished:?}");

    let moments = rows(&history, "moments");
    let samples = rows(&history, "samples");
    // Each thread has one row in each moment.
    let observed = seconds(&moments);
    for (thread, state, call) in [
        ("rec-sleep", "blocked elsewhere", "clock_nanosleep"),
        ("rec-read", "blocked elsewhere", "read"),
    ] {
        let of_thread: Vec<&Value> = samples
            .iter()
            .filter(|row| row["thread"] == thread)
            .collect();
        assert_eq!(of_thread.len(), moments.len(), "{thread}");
        assert!((seconds(of_thread.iter().copied()) - observed).abs() < 1e-6);
        let is_asleep = |row: &&&Value| row["state"] == state && row["system_call"] == call;
        let asleep = of_thread.iter().filter(is_asleep).count();
        // The sleeper wakes up five times a second.
        assert!(
            asleep * 10 > of_thread.len() * 8,
            "{thread}: {asleep} of {}",
            of_thread.len()
        );
        assert!(
            of_thread
                .iter()
                .all(|row| row["process_id"].as_u64() == pid.parse().ok())
        );
    }
    let spins: Vec<&Value> = samples
        .iter()
        .filter(|row| row["thread"] == "rec-spin")
        .collect();
    assert_eq!(spins.len(), moments.len());
    let runs = |row: &&Value| row["state"] == "on cpu" || row["state"] == "waiting for cpu";
    assert!(spins.iter().all(runs), "a thread that spins never sleeps");
    // Processes that live for 50 ms.
    let is_child =
        |row: &&Value| row["thread"] == "sleep" && row["process_id"].as_u64() != pid.parse().ok();
    let children: Vec<u64> = (samples.iter().filter(is_child))
        .map(|row| row["process_id"].as_u64().expect("an id"))
        .collect();
    assert!(children.first() != children.last(), "{children:?}");
    assert!(
        samples
            .iter()
            .any(|row| row["process_id"] == child.pid() && row["thread"] == "sh")
    );

    let growth = rows(&history, "growth");
    let time = |kind: &str, name: &str| -> u64 {
        let of = growth
            .iter()
            .filter(|row| row["kind"] == kind && row["name"] == name);
        of.map(|row| row["time_ns"].as_u64().expect("timed")).sum()
    };
    let cpu = time("cpu", "rec-spin");
    assert!(0 < cpu && cpu <= used, "{cpu} of {used}");
    assert!(time("process", "cpu") + 50_000_000 >= cpu, "{growth:?}");
    let io = growth.iter().filter(|row| row["kind"] == "io");
    assert!(io.clone().count() > 0 && io.clone().all(|row| row["bytes_written"].is_u64()));
}

#[test]
fn a_recording_ends_with_the_process() {
    let directory = Directory::new("processes-end");
    let history = directory.path().join("history");
    let sleeper = Process::start(Command::new("sleep").arg("3600"));
    wait_for("sleep", || {
        let line = stat_line(sleeper.pid()).expect("it runs");
        (Stat::parse(&line)?.state() == Some('S')).then_some(())
    });
    let pid = sleeper.pid().to_string();
    let words = [
        "record",
        "--pid",
        &pid,
        "--dir",
        "history",
        "--write-every",
        "0.1s",
    ];
    let mut recorder = Process::start(directory.tare(words).stderr(Stdio::piped()));
    wait_for("a piece", || {
        let pieces = files(&history.join(".open"));
        let mut names = pieces.iter().map(|path| path.to_string_lossy());
        names.any(|name| name.contains("samples@")).then_some(())
    });
    drop(sleeper);
    assert_eq!(recorder.wait().code(), Some(1));
    let message = recorder.stderr();
    assert!(
        message.contains(&format!("process {pid} has ended")),
        "{message}"
    );
    let samples = rows(&history, "samples");
    assert!(
        samples
            .iter()
            .all(|row| row["system_call"] == "clock_nanosleep"),
        "{samples:?}"
    );
    assert!(!samples.is_empty());
}

#[test]
fn a_process_that_may_not_be_read_is_refused_with_its_user() {
    // Process 1 is root's.
    for words in [
        &["record", "--dir", "/nonexistent", "--pid", "1"][..],
        &["top", "--batch", "1", "--pid", "1"],
        &["live", "--listen", "127.0.0.1:0", "--pid", "1"],
    ] {
        let finished = finish(&mut tare_as_nobody(words));
        assert_eq!(finished.code, Some(1), "{finished:?}");
        let message = "process 1 belongs to the user with id 0, and this user may not read";
        assert!(finished.stderr.contains(message), "{words:?} {finished:?}");
    }
}

/// Prints one interval of a page as JSON.
fn top(directory: &Directory, pid: &str, page: &str) -> Value {
    let words = [
        "top",
        "--pid",
        pid,
        "--batch",
        "1",
        "--interval",
        "0.5",
        "--format",
        "json",
    ];
    let mut command = directory.tare(words);
    let finished = finish(command.args(["--rows", "1000", "--page", page]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stderr.contains("does not use Tare"),
        "{finished:?}"
    );
    serde_json::from_str(&finished.stdout).expect("one object")
}

#[test]
fn top_has_threads_and_processes() {
    let directory = Directory::new("processes-top");
    let _threads = Threads::start("top");
    let child = Process::start(Command::new("sleep").arg("3600"));
    let pid = std::process::id().to_string();
    let before = cpu_ns("top-spin");
    let threads = top(&directory, &pid, "threads");
    let used = cpu_ns("top-spin") - before;
    let rows = threads["rows"].as_array().expect("rows");
    let of_name = |name: &str| rows.iter().find(|row| row["name"] == name).expect(name);
    let spins = of_name("top-spin");
    let cpu_ps = spins["cpu_ps"].as_u64().expect("a time");
    assert!(0 < cpu_ps && cpu_ps <= used * 1000, "{spins} of {used} ns");
    assert!(
        spins["state"] == "on cpu" || spins["state"] == "waiting for cpu",
        "{spins}"
    );
    let reads = of_name("top-read");
    assert_eq!(
        (&reads["state"], &reads["call"]),
        (&"blocked elsewhere".into(), &"read".into())
    );
    assert_eq!(
        (reads["cpu_ps"].as_u64(), reads["process"].to_string()),
        (Some(0), pid.clone())
    );
    let processes = top(&directory, &pid, "processes");
    let rows = processes["rows"].as_array().expect("rows");
    let of_pid = |pid: &str| {
        rows.iter()
            .find(|row| row["process"].as_u64() == pid.parse().ok())
    };
    let sleeps = of_pid(&child.pid().to_string()).expect("a child");
    assert_eq!(
        (sleeps["name"].as_str(), sleeps["parent"].to_string()),
        (Some("sleep"), pid.clone())
    );
    assert_eq!(sleeps["threads"], 1);
    assert!(sleeps["memory_bytes"].as_u64() > Some(0));
    let own = of_pid(&pid).expect("this process");
    assert!(
        own["threads"].as_u64() >= Some(4) && own["cpu_ps"].as_u64() > Some(0),
        "{own}"
    );
    for page in ["statements", "nonsense"] {
        let finished =
            finish(&mut directory.tare(["top", "--pid", &pid, "--batch", "1", "--page", page]));
        assert_eq!(finished.code, Some(2), "{page}: {finished:?}");
    }
}

#[test]
fn other_commands_need_a_segment() {
    let directory = Directory::new("processes-sql");
    let pid = std::process::id().to_string();
    let finished = finish(&mut directory.tare(["sql", "--pid", &pid, "-e", "SELECT 1"]));
    assert_eq!(finished.code, Some(3), "{finished:?}");
    assert!(
        finished.stderr.contains("tare top, record and live"),
        "{finished:?}"
    );
}
