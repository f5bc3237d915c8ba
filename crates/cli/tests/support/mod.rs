//! The end-to-end tests' temporary directory, and the real binary run in it.

#![allow(dead_code, reason = "each test program uses its own part")]

pub mod browser;
pub mod host;
pub mod python;
pub mod server;
pub mod terminal;
pub mod weigh;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// A test that waits longer than this fails: whatever it waits for hangs.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(300);

/// The pages of `tare top`.
pub const PAGES: [&str; 9] = [
    "statements",
    "waits",
    "stages",
    "files",
    "tables",
    "locks",
    "threads",
    "memory",
    "prepared",
];

/// The binary under test.
pub const TARE: &str = env!("CARGO_BIN_EXE_tare");

/// A directory that goes when the value goes.
pub struct Directory(PathBuf);

impl Directory {
    /// A new, empty directory named after the test.
    pub fn new(test: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Short: a Unix socket's path may have 107 bytes.
        let path =
            std::env::temp_dir().join(format!("tare-{}-{number}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The names in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.0)
            .expect("readable")
            .map(|entry| {
                entry
                    .expect("entry")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .collect();
        names.sort();
        names
    }

    /// `tare` with these arguments, to be run here.
    pub fn tare<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(TARE);
        command
            .current_dir(&self.0)
            .args(arguments)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The binary, as a user who owns nothing if the test runs as root, which gives up its rights.
pub fn tare_as_nobody(words: &[&str]) -> Command {
    let mut command = Command::new(TARE);
    if rustix::process::geteuid().is_root() {
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--clear-groups", TARE]);
    }
    // The home of root may have files that nobody else may read.
    command
        .args(words)
        .env("HOME", "/nonexistent")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null());
    command
}

/// Exit code and outputs of a command that has ended.
#[derive(Debug)]
pub struct CommandResult {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for CommandResult {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// Copies a program to where a test starts it. install(1) writes it, because a child that another thread
/// forks would inherit our open file, and Linux runs no file that is open for writing.
pub fn install(program: impl AsRef<Path>, at: &Path) {
    let mut command = Command::new("install");
    let status = command.arg("-D").arg(program.as_ref()).arg(at).status();
    assert!(
        status.expect("install starts").success(),
        "{}",
        at.display()
    );
}

/// Runs a command to its end.
pub fn finish(command: &mut Command) -> CommandResult {
    command.output().expect("the command starts").into()
}

/// Queries a history with `tare sql`, and returns its rows. There are none while the recorder has not created it.
pub fn query_history(directory: &Directory, history: &str, sql: &str) -> Vec<Value> {
    let words = ["sql", "--history", history, "--format", "json", "-e", sql];
    let done = finish(&mut directory.tare(words));
    match done.code {
        Some(0) => serde_json::from_str(&done.stdout).expect("rows"),
        _ if done.stderr.contains("no history") || done.stderr.contains("No such file") => {
            Vec::new()
        }
        _ => panic!("{sql}: {done:?}"),
    }
}

/// Runs a command to its end, with this on its standard input.
pub fn finish_with_input(command: &mut Command, input: &str) -> CommandResult {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin
        .write_all(input.as_bytes())
        .expect("the command reads its input");
    drop(stdin);
    child.wait_with_output().expect("the command ends").into()
}

/// A command that runs in the background; dropping it kills it.
pub struct Process {
    child: Child,
    lines: Option<BufReader<std::process::ChildStdout>>,
}

impl Process {
    /// Starts a command with its standard output piped to the test.
    pub fn start(command: &mut Command) -> Self {
        // In a process group of its own, so that drop also ends its children.
        let mut child = command
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let lines = child.stdout.take().map(BufReader::new);
        Self { child, lines }
    }

    /// Starts a command with this standard output.
    pub fn start_on(command: &mut Command, stdout: Stdio) -> Self {
        let child = command.process_group(0).stdout(stdout).spawn();
        Self {
            child: child.expect("the command starts"),
            lines: None,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it prints, without its newline.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let lines = self.lines.as_mut().expect("piped");
        lines.read_line(&mut line).expect("the output is UTF-8");
        assert!(
            line.ends_with('\n'),
            "the command ended instead of printing a line: {line:?}"
        );
        line.truncate(line.len() - 1);
        line
    }

    /// Everything on standard error, which must be piped. Blocks until the command closes it.
    pub fn stderr(&mut self) -> String {
        let mut text = String::new();
        let stderr = self.child.stderr.as_mut().expect("piped");
        std::io::Read::read_to_string(stderr, &mut text).expect("the output is UTF-8");
        text
    }

    /// The next line on standard error, which must be piped.
    pub fn stderr_line(&mut self) -> String {
        let mut line = Vec::new();
        let stderr = self.child.stderr.as_mut().expect("piped");
        // Without a buffer, which would take more than the line.
        for byte in std::io::Read::bytes(stderr) {
            match byte.expect("readable") {
                b'\n' => break,
                byte => line.push(byte),
            }
        }
        String::from_utf8(line).expect("the output is UTF-8")
    }

    /// The next message of Tare on standard error that begins like this.
    pub fn message(&mut self, beginning: &str) -> String {
        loop {
            let line = self.stderr_line();
            assert!(!line.is_empty(), "the command ended without {beginning:?}");
            if let Some(message) = line
                .strip_prefix("tare: ")
                .filter(|text| text.starts_with(beginning))
            {
                return message.to_owned();
            }
        }
    }

    /// Sends a signal by its name, as kill(1) does.
    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("can be waited for").is_some()
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the command to end", || {
            self.child.try_wait().expect("can be waited for")
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its children are in its group, and may outlive it.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Sends a signal by its name, as kill(1) does.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &pid.to_string()])
        .status()
        .expect("kill(1) starts");
    assert!(status.success(), "kill -s {name} {pid}");
}

/// Polls until there is a result, and returns it.
pub fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(result) = poll() {
            return result;
        }
        assert!(
            start.elapsed() < HANG_TIMEOUT,
            "waited {HANG_TIMEOUT:?} for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
