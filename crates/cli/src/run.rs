//! `tare run`: starts a command, holds the segments of all its processes open, and saves
//! those whose process died badly.
//!
//! A memfd lives as long as somebody has it open. So we open each one that appears anywhere
//! below us in the process tree; when its writer is gone we still have it. As a subreaper we stay
//! the ancestor of processes whose parent ended before them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, set_child_subreaper, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;
use signal_hook::low_level::siginfo::Cause;
use signal_hook::low_level::signal_name;
use tare_layout::header::{Header, LIVE};
use tare_reader::discover;

use crate::door;
use crate::exit::{CANNOT_EXECUTE, Failure, KILLED, NOT_FOUND, NOT_SERVED, RUN_FAILED};
use crate::save::save;
use crate::serve_options::sampling;

/// Run a program that uses Tare, and keep its data if it crashes
///
/// A program's segment is memory that normally disappears with its process. `tare run` holds on to
/// it. When the process is killed, or fails without stopping Tare, `tare run` saves it as
/// tare-PID.segment in the current directory, readable by you alone. Child processes are watched as
/// well. Signals are passed on to the command, and its exit code is returned.
///
/// With --segment the data is in that file from the first event. It survives whatever happens to
/// the program or to `tare run`, and it also stays after a clean exit.
///
/// A MySQL or MariaDB server (mysqld, mariadbd or mysqld_safe) gets Tare's engine in place of its
/// own Performance Schema; the server itself is not changed. It is recognised by its program file,
/// not by its name. Before your options, `tare run` adds options that turn its instruments on and
/// size its own buffers to zero. A server that Tare does not know starts unchanged, and one line
/// says why.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Keep the program's segment in this file
    #[arg(long, value_name = "PATH")]
    segment: Option<PathBuf>,

    /// Do not start a server that Tare cannot instrument (exit code 4)
    #[arg(long)]
    require: bool,

    /// The server program, if the command is a script that starts it
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,

    /// Path of libtare_psi.so [default: TARE_PSI_LIBRARY, beside tare, or in ../lib]
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,

    /// Sample events: every, 1/N (what happens in windows of time that are an N-th of it) or "budget P %". For servers that Tare
    /// instruments; of other programs, set it with tare sql
    #[arg(long, value_name = "RULE", value_parser = sampling)]
    sampling: Option<tare::Rule>,

    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

const HELP: &str = "\
Examples:
  tare run -- ./myserver --port 8080
  tare run --segment /var/tmp/myserver.segment -- ./myserver
  tare run -- mysqld --defaults-file=/etc/mysql/my.cnf
  tare run --require -- mysqld_safe --datadir=/srv/mysql
  tare run --sampling 1/16 -- mysqld --defaults-file=/etc/mysql/my.cnf

  # while it runs, and after a crash:
  tare sql -e 'SELECT NAME, PROCESSLIST_STATE FROM performance_schema.threads'
  tare sql --segment tare-4711.segment -e 'SELECT * FROM performance_schema.events_waits_current'

Exit code: the command's own, or 128+N when signal N killed it. 127 when the command does not
exist, 126 when it cannot be executed, 125 when tare run itself failed, 4 with --require when Tare
cannot instrument the server.";

/// Signals that are passed on to the command.
const FORWARDED: [i32; 6] = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2];

/// How long until the process tree is looked at again. A program that crashes soon after its
/// start would otherwise be missed, so it starts short; looking is a few reads of /proc.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(100);

/// Where a command that asked for a file keeps its segment; read by the engine.
const SEGMENT_VARIABLE: &str = "TARE_SEGMENT";
/// Options for the engine in a server, one a line.
const OPTIONS_VARIABLE: &str = "TARE_OPTIONS";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let broken = |what: &str, error: io::Error| {
        Failure::new(
            RUN_FAILED,
            format!("{what}: {error}; the command was not started"),
        )
    };
    set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| broken("cannot watch for orphaned processes", error.into()))?;
    let signals = watch_signals().map_err(|error| broken("cannot watch for signals", error))?;

    let segment = args
        .segment
        .as_deref()
        .map(absolute)
        .transpose()
        .map_err(|error| broken("--segment", error))?;
    let wishes = door::Wishes {
        require: args.require,
        server: args.server.clone(),
        library: args.library.clone(),
    };
    let mut plan = door::plan(&args.command, &wishes)?;
    if let Some(rule) = args.sampling {
        sample(&mut plan, rule, &args.command[0])?;
    }
    for remark in &plan.remarks {
        say(remark);
    }
    let child = start(args, &plan, segment.as_deref())?;
    if let Some(server) = &plan.serves {
        let pid = number(child);
        say(&format!(
            "{server} runs as process {pid}; look into it with: tare sql --pid {pid}"
        ));
    }
    let mut watch = Watch::new(child, segment);
    let status = watch.until_it_ends(&signals);
    watch.report(status);
    Ok(ExitCode::from(exit_code(status)))
}

/// Tells the engine behind a server's Performance Schema, after what the user's own variable says.
fn sample(plan: &mut door::Plan, rule: tare::Rule, command: &OsStr) -> Result<(), Failure> {
    if plan.serves.is_none() {
        let why = plan
            .remarks
            .first()
            .map_or(String::new(), |why| format!(": {why}"));
        return Err(Failure::new(
            NOT_SERVED,
            format!(
                "--sampling is for servers that Tare instruments, and {} is none{why}. While a program that uses Tare \
                 runs: tare sql -e \"UPDATE tare.setup_sampling SET sampling = '{rule}'\"",
                command.to_string_lossy()
            ),
        ));
    }
    let mut options = std::env::var_os(OPTIONS_VARIABLE).unwrap_or_default();
    options.push(format!("\nsampling={rule}"));
    plan.environment.push((OPTIONS_VARIABLE, options));
    Ok(())
}

/// The engine opens the file in the program's own working directory, which it may have changed.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

fn watch_signals() -> io::Result<Receiver<Origin>> {
    let watched = FORWARDED.iter().copied().chain([SIGCHLD]);
    let mut signals = SignalsInfo::<WithOrigin>::new(watched)?;
    let (sender, receiver) = channel();
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for origin in signals.forever() {
                if sender.send(origin).is_err() {
                    return;
                }
            }
        })?;
    Ok(receiver)
}

fn start(args: &Args, plan: &door::Plan, segment: Option<&Path>) -> Result<Pid, Failure> {
    let mut command = Command::new(&args.command[0]);
    command.args(&plan.arguments);
    for (variable, value) in &plan.environment {
        command.env(variable, value);
    }
    if let Some(path) = segment {
        command.env(SEGMENT_VARIABLE, path);
    }
    let child = command.spawn().map_err(|error| {
        let code = match error.kind() {
            io::ErrorKind::NotFound => NOT_FOUND,
            io::ErrorKind::PermissionDenied => CANNOT_EXECUTE,
            // ENOEXEC and its like: there is a file, and it is no program.
            _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                CANNOT_EXECUTE
            }
            _ => RUN_FAILED,
        };
        Failure::new(
            code,
            format!("{}: {error}", args.command[0].to_string_lossy()),
        )
    })?;
    // Reaped below, together with the orphans that come to us.
    Ok(Pid::from_child(&child))
}

fn exit_code(status: WaitStatus) -> u8 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => KILLED.wrapping_add(signal as u8),
        (None, None) => RUN_FAILED,
    }
}

/// A segment that we hold open.
struct Held {
    pid: u32,
    program: String,
    /// When the process started, in clock ticks: tells it from a later one with its number.
    started: u64,
    file: File,
    path: PathBuf,
    /// The process's number as the segment has it: in a container it is another one.
    writer: u32,
}

impl Held {
    fn is_running(&self) -> bool {
        start_time(self.pid) == Some(self.started)
    }

    /// Whether the segment is another process's by now, or on its way to it. A server that puts itself into the background
    /// ends processes that had it. One that was stopped in good order is nobody's, and its pages may be gone.
    fn has_moved(&self) -> bool {
        let moved = |pid| pid != self.writer && (pid == IN_TRANSIT || start_time(pid).is_some());
        self.is_live() && writer(&self.file).is_some_and(moved)
    }

    /// Whether the writer had not stopped Tare in good order.
    fn is_live(&self) -> bool {
        let mut state = [0; 4];
        self.file
            .read_exact_at(&mut state, std::mem::offset_of!(Header, state) as u64)
            .is_ok()
            && u32::from_le_bytes(state) == LIVE
    }
}

/// In place of a writer's number: it forks, and the child has not yet said its own.
const IN_TRANSIT: u32 = 0;

/// The number of the process that writes a segment.
fn writer(segment: &File) -> Option<u32> {
    let mut pid = [0; 4];
    segment
        .read_exact_at(&mut pid, std::mem::offset_of!(Header, pid) as u64)
        .ok()?;
    Some(u32::from_le_bytes(pid))
}

/// The command's process tree, as far as we know it.
struct Watch {
    child: Pid,
    /// The file that the user chose.
    chosen: Option<PathBuf>,
    held: BTreeMap<(u64, u64), Held>,
    /// How processes that we reaped ended.
    ended: BTreeMap<u32, WaitStatus>,
    saved: BTreeSet<(u64, u64)>,
}

impl Watch {
    fn new(child: Pid, chosen: Option<PathBuf>) -> Self {
        Self {
            child,
            chosen,
            held: BTreeMap::new(),
            ended: BTreeMap::new(),
            saved: BTreeSet::new(),
        }
    }

    /// Forwards signals and looks for segments until the command has ended.
    fn until_it_ends(&mut self, signals: &Receiver<Origin>) -> WaitStatus {
        let mut pause = FIRST_LOOK;
        let mut next_look = Instant::now();
        loop {
            if Instant::now() >= next_look {
                // Slower with time: within the first second a look every few milliseconds.
                pause = LAST_LOOK.min(pause + pause / 64 + Duration::from_micros(10));
                self.look();
                self.save_the_fallen();
                next_look = Instant::now() + pause;
            }
            if let Some(&status) = self.ended.get(&number(self.child)) {
                return status;
            }
            let patience = next_look.saturating_duration_since(Instant::now());
            match signals.recv_timeout(patience) {
                Ok(origin) if origin.signal == SIGCHLD => self.reap(),
                Ok(origin) => self.forward(&origin),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(patience),
            }
        }
    }

    /// Opens each segment below us that we do not have yet.
    fn look(&mut self) {
        for pid in descendants(std::process::id()) {
            for found in discover::find_of_process(pid) {
                if let Some(held) = self.held.get_mut(&found.identity) {
                    // A server that puts itself into the background takes its segment along.
                    if held.pid != pid
                        && let Some(started) = start_time(pid)
                    {
                        (held.pid, held.started) = (pid, started);
                        held.path = found.path;
                        held.writer = found.writer;
                    }
                    continue;
                }
                let (Ok(file), Some(started)) = (File::open(&found.path), start_time(pid)) else {
                    continue;
                };
                let program = program(pid);
                let held = Held {
                    pid,
                    program,
                    started,
                    writer: found.writer,
                    file,
                    path: found.path,
                };
                self.held.insert(found.identity, held);
            }
        }
    }

    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.ended.insert(number(pid), status);
        }
    }

    /// Saves the segments of processes that ended while the command goes on.
    fn save_the_fallen(&mut self) {
        let gone: Vec<(u64, u64)> = self
            .held
            .iter()
            .filter(|(_, held)| !held.is_running() && !held.has_moved())
            .map(|(&id, _)| id)
            .collect();
        // After they were seen to be gone, so that how our own children ended is known.
        self.reap();
        for identity in gone {
            if let Some(held) = self.held.remove(&identity) {
                let how = self.ended.get(&held.pid).copied();
                self.save_if_it_died_badly(identity, &held, how);
            }
        }
    }

    fn save_if_it_died_badly(
        &mut self,
        identity: (u64, u64),
        held: &Held,
        how: Option<WaitStatus>,
    ) {
        if !held.is_live() || !self.saved.insert(identity) {
            return;
        }
        let ending = match how {
            Some(status) if status.exit_status() == Some(0) => return,
            Some(status) => describe(status),
            // Not our child, so we do not know how; that Tare was not stopped is enough.
            None => "ended without stopping Tare".to_owned(),
        };
        let Held { pid, program, .. } = held;
        let who = format!("{program} (pid {pid}) {ending}");
        if is_file(&held.path) {
            say(&format!("{who}; its segment is {}", held.path.display()));
            return say_how_to_read(&held.path);
        }
        let here = Path::new(".");
        let elsewhere = std::env::temp_dir();
        let saved = save(&held.file, *pid, here).or_else(|error| {
            say(&format!(
                "cannot save a segment in the current directory: {error}"
            ));
            save(&held.file, *pid, &elsewhere)
        });
        match saved {
            Ok(path) => {
                let path = path.strip_prefix(here).unwrap_or(&path);
                say(&format!(
                    "{who}; its segment is saved as {}",
                    path.display()
                ));
                say_how_to_read(path);
            }
            Err(error) => {
                say(&format!(
                    "{who}; its segment is lost: {}: {error}",
                    elsewhere.display()
                ));
            }
        }
    }

    /// The command has ended: the last saves.
    fn report(&mut self, status: WaitStatus) {
        self.look();
        self.save_the_fallen();
        // A process that lives on has its segment still, and no longer anybody who keeps it.
        for held in self.held.values() {
            say(&format!(
                "{} (pid {}) still runs; its segment is no longer kept if it crashes",
                held.program, held.pid
            ));
        }
        if let Some(path) = &self.chosen
            && !path.exists()
            && exit_code(status) == 0
        {
            say(&format!(
                "no segment was written to {}: does the command use Tare?",
                path.display()
            ));
        }
    }

    fn forward(&self, origin: &Origin) {
        // What the terminal sends, it sends to the command as well.
        if origin.cause == Cause::Kernel {
            return;
        }
        if let Some(signal) = Signal::from_named_raw(origin.signal) {
            // It may have ended this moment; then there is nobody to tell.
            let _ = kill_process(self.child, signal);
        }
    }
}

fn say(text: &str) {
    eprintln!("tare run: {text}");
}

fn say_how_to_read(path: &Path) {
    say(&format!(
        "read it with: tare sql --segment {} -e 'SELECT * FROM performance_schema.threads'",
        path.display()
    ));
}

fn describe(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exited with {code} without stopping Tare"),
        (None, Some(signal)) => match signal_name(signal) {
            Some(name) => format!("was killed by {name}"),
            None => format!("was killed by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

/// Whether a segment has a name of its own, unlike a memfd.
fn is_file(path: &Path) -> bool {
    !path.starts_with("/proc")
}

fn program(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).map_or_else(
        |_| "a process".to_owned(),
        |name| name.trim_end().to_owned(),
    )
}

/// When a process started, from /proc/PID/stat, whose fields are counted after the command's
/// name, which may hold anything. `None` for a process that is gone, or a zombie: its memory is
/// gone too. One that is a zombie and still has threads is only missing its first.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    // From the third field of proc(5) on.
    let fields: Vec<&str> = fields.split(' ').collect();
    let (state, threads, started) = (*fields.first()?, *fields.get(17)?, *fields.get(19)?);
    let ended = matches!(state, "Z" | "X") && matches!(threads, "0" | "1");
    if ended { None } else { started.parse().ok() }
}

/// Every process below `root`, its own not included.
fn descendants(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        next += 1;
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(
                children
                    .split_whitespace()
                    .filter_map(|n| n.parse::<u32>().ok()),
            );
        }
    }
    found.remove(0);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_a_descendant_and_has_a_start_time() {
        let mut child = Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep starts");
        let pid = child.id();
        assert!(descendants(std::process::id()).contains(&pid));
        assert!(start_time(pid).is_some());
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert_eq!(start_time(pid), None);
    }
}
