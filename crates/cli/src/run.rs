//! `tare run`: starts a command, keeps the segments of its processes open, and saves those of processes
//! that crash.
//!
//! A memfd exists as long as a process has it open. So `tare run` opens each one in its process tree,
//! and still has it when the writer is gone. As a subreaper it stays the ancestor of processes whose
//! parent has ended.

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
    Pid, Signal, WaitOptions, WaitStatus, kill_process, set_child_subreaper, test_kill_process,
    wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;
use signal_hook::low_level::siginfo::Cause;
use signal_hook::low_level::signal_name;
use tare_image::OPTIONS_VARIABLE;
use tare_layout::header::{Header, LIVE};
use tare_reader::discover;
use tare_reader::process::{Stat, children, stat_line};

use crate::door;
use crate::exit::{CANNOT_EXECUTE, Failure, KILLED, NOT_FOUND, NOT_SERVED, RUN_FAILED};
use crate::save::save;
use crate::serve_options::sampling;

/// Run a program that uses Tare, and save its data if it crashes
///
/// A program's segment is memory that normally disappears with its process. `tare run` holds on to
/// it. When the process is killed, or fails without stopping Tare, `tare run` saves it as
/// tare-PID.segment in the current directory, which only you can read. Child processes are watched as
/// well. Signals are passed on to the command, and its exit code is returned.
///
/// With --segment the data is in that file from the first event. It survives whatever happens to
/// the program or to `tare run`, and it also stays after a clean exit.
///
/// A MySQL or MariaDB server (mysqld, mariadbd or mysqld_safe) gets Tare's engine in place of its
/// own Performance Schema; the server itself is not changed. It is recognised by its program file,
/// not by its name. Before your options, `tare run` adds options that turn its instruments on and
/// size its own buffers to zero. A server that Tare does not know is recorded from outside, as other
/// programs are, and one line says why.
///
/// Of any other program that uses the GNU C library dynamically, files, sockets, polls, sleeps and
/// threads are recorded, and the commands of Redis, Valkey and memcached, the statements of PostgreSQL,
/// MySQL and MariaDB, and the requests of nginx (docs/anyserver.md). One line says what is recorded.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Keep the program's segment in this file
    #[arg(long, value_name = "PATH")]
    segment: Option<PathBuf>,

    /// Do not start a server that Tare cannot instrument (exit code 4)
    #[arg(long)]
    require: bool,

    /// Record a MySQL or MariaDB server from outside: statements, files and sockets, without stages and locks
    #[arg(long, conflicts_with = "require")]
    no_door: bool,

    /// The server program, if the command is a script that starts it; nothing else is recorded
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,

    /// Path of libtare_psi.so or libtare_any.so [default: TARE_PSI_LIBRARY or TARE_ANY_LIBRARY, in tare's
    /// directory, or in ../lib]
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,

    /// Sample events: every (the default here; tare door install uses active), 1/N (what happens in windows of
    /// time that are an N-th of it), "budget P %", or active (keep what each thread does now, and count statements
    /// only). For programs that Tare instruments; of those that use Tare themselves, set it with tare sql
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
  tare run -- redis-server /etc/redis/redis.conf
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

/// The interval between scans of the process tree, which read a few files of /proc. It grows from the
/// first value to the last, so that a program that crashes soon after its start is not missed.
const FIRST_SCAN_INTERVAL: Duration = Duration::from_millis(1);
const LAST_SCAN_INTERVAL: Duration = Duration::from_millis(100);

/// The path of the command's segment; read by the engine.
const SEGMENT_VARIABLE: &str = "TARE_SEGMENT";

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
        // The command may change its working directory.
        .map(std::path::absolute)
        .transpose()
        .map_err(|error| broken("--segment", error))?;
    if let Some(path) = &segment {
        tare::check_segment_path(path).map_err(|error| broken("--segment", error))?;
    }
    let requirements = door::Requirements {
        require: args.require,
        server: args.server.clone(),
        library: args.library.clone(),
        no_door: args.no_door,
    };
    let mut plan = door::plan(&args.command, &requirements)?;
    if let Some(rule) = args.sampling {
        add_sampling_option(&mut plan, rule, &args.command[0])?;
    }
    for remark in &plan.remarks {
        print_message(remark);
    }
    let child = start(args, &plan, segment.as_deref())?;
    if let Some(server) = &plan.serves {
        let pid = pid_number(child);
        print_message(&format!(
            "{server} runs as process {pid}; query it with: tare sql --pid {pid}"
        ));
    }
    let mut tree = ProcessTree::new(child, segment);
    let status = tree.run_until_exit(&signals);
    tree.report(status);
    Ok(ExitCode::from(exit_code(status)))
}

/// Appends the sampling rule to the engine's options in the environment.
fn add_sampling_option(
    plan: &mut door::Plan,
    rule: tare::Rule,
    command: &OsStr,
) -> Result<(), Failure> {
    if !plan.preloads() {
        let why = plan
            .remarks
            .first()
            .map_or(String::new(), |why| format!(": {why}"));
        return Err(Failure::new(
            NOT_SERVED,
            format!(
                "--sampling is for programs that Tare instruments, and {} is none{why}. While a program that uses Tare \
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
            // ENOEXEC: the file is no program.
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
    // Reaped by `reap`, together with orphans.
    Ok(Pid::from_child(&child))
}

fn exit_code(status: WaitStatus) -> u8 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => KILLED.wrapping_add(signal as u8),
        (None, None) => RUN_FAILED,
    }
}

/// A segment that `tare run` holds open, so that it can be saved.
struct HeldSegment {
    pid: u32,
    program: String,
    /// Start time of the process in clock ticks, which distinguishes it from a later one with its pid.
    started: u64,
    file: File,
    path: PathBuf,
    /// The pid in the segment's header, which differs in a container.
    writer: u32,
}

impl HeldSegment {
    fn is_running(&self) -> bool {
        is_running(self.pid, self.started, stat_line(self.pid))
    }

    /// Whether the segment belongs to another process by now, or is being handed over: a server that
    /// goes into the background ends the process that had it.
    fn has_moved(&self) -> bool {
        let moved = |pid| pid != self.writer && (pid == IN_TRANSIT || is_alive(pid));
        self.is_live() && writer(&self.file).is_some_and(moved)
    }

    /// Whether the writer has not stopped Tare.
    fn is_live(&self) -> bool {
        let mut state = [0; 4];
        self.file
            .read_exact_at(&mut state, std::mem::offset_of!(Header, state) as u64)
            .is_ok()
            && u32::from_le_bytes(state) == LIVE
    }
}

/// The writer's pid while it forks, until the child sets its own.
const IN_TRANSIT: u32 = 0;

/// The pid of a segment's writer.
fn writer(segment: &File) -> Option<u32> {
    let mut pid = [0; 4];
    segment
        .read_exact_at(&mut pid, std::mem::offset_of!(Header, pid) as u64)
        .ok()?;
    Some(u32::from_le_bytes(pid))
}

/// The command's process tree.
struct ProcessTree {
    child: Pid,
    /// The file of --segment.
    segment_path: Option<PathBuf>,
    held: BTreeMap<(u64, u64), HeldSegment>,
    /// Exit statuses of reaped processes.
    statuses: BTreeMap<u32, WaitStatus>,
    saved: BTreeSet<(u64, u64)>,
}

impl ProcessTree {
    fn new(child: Pid, segment_path: Option<PathBuf>) -> Self {
        Self {
            child,
            segment_path,
            held: BTreeMap::new(),
            statuses: BTreeMap::new(),
            saved: BTreeSet::new(),
        }
    }

    /// Forwards signals and scans for segments until the command has ended.
    fn run_until_exit(&mut self, signals: &Receiver<Origin>) -> WaitStatus {
        let mut pause = FIRST_SCAN_INTERVAL;
        let mut next_scan = Instant::now();
        loop {
            if Instant::now() >= next_scan {
                // Every few milliseconds within the first second, and then slower.
                pause = LAST_SCAN_INTERVAL.min(pause + pause / 64 + Duration::from_micros(10));
                self.scan();
                self.save_ended();
                next_scan = Instant::now() + pause;
            }
            if let Some(&status) = self.statuses.get(&pid_number(self.child)) {
                return status;
            }
            let timeout = next_scan.saturating_duration_since(Instant::now());
            match signals.recv_timeout(timeout) {
                Ok(origin) if origin.signal == SIGCHLD => self.reap(),
                Ok(origin) => self.forward(&origin),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(timeout),
            }
        }
    }

    /// Opens the segments in the process tree that are not open yet.
    fn scan(&mut self) {
        for pid in descendants(std::process::id()) {
            for segment in discover::find_of_process(pid) {
                if let Some(held) = self.held.get_mut(&segment.identity) {
                    // A server that goes into the background retains its segment.
                    if held.pid != pid
                        && let Some(started) = start_time(pid)
                    {
                        (held.pid, held.started) = (pid, started);
                        held.path = segment.path;
                        held.writer = segment.writer;
                    }
                    continue;
                }
                let (Ok(file), Some(started)) = (File::open(&segment.path), start_time(pid)) else {
                    continue;
                };
                let program = program_name(pid);
                let held = HeldSegment {
                    pid,
                    program,
                    started,
                    writer: segment.writer,
                    file,
                    path: segment.path,
                };
                self.held.insert(segment.identity, held);
            }
        }
    }

    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.statuses.insert(pid_number(pid), status);
        }
    }

    /// Saves the segments of ended processes while the command runs.
    fn save_ended(&mut self) {
        let gone: Vec<(u64, u64)> = self
            .held
            .iter()
            .filter(|(_, held)| !held.is_running() && !held.has_moved())
            .map(|(&id, _)| id)
            .collect();
        // After the check, so that the statuses of ended children are available.
        self.reap();
        for identity in gone {
            if let Some(held) = self.held.remove(&identity) {
                let how = self.statuses.get(&held.pid).copied();
                self.save_after_crash(identity, &held, how);
            }
        }
    }

    fn save_after_crash(
        &mut self,
        identity: (u64, u64),
        held: &HeldSegment,
        how: Option<WaitStatus>,
    ) {
        if !held.is_live() || !self.saved.insert(identity) {
            return;
        }
        let ending = match how {
            Some(status) if status.exit_status() == Some(0) => return,
            Some(status) => describe(status),
            // Not our child, so the status is not known. Tare was not stopped.
            None => "ended without stopping Tare".to_owned(),
        };
        let HeldSegment { pid, program, .. } = held;
        let who = format!("{program} (pid {pid}) {ending}");
        if is_file(&held.path) {
            print_message(&format!("{who}; its segment is {}", held.path.display()));
            return print_reading_hint(&held.path);
        }
        let here = Path::new(".");
        let elsewhere = std::env::temp_dir();
        let saved = save(&held.file, *pid, here).or_else(|error| {
            print_message(&format!(
                "cannot save a segment in the current directory: {error}"
            ));
            save(&held.file, *pid, &elsewhere)
        });
        match saved {
            Ok(path) => {
                let path = path.strip_prefix(here).unwrap_or(&path);
                print_message(&format!(
                    "{who}; its segment is saved as {}",
                    path.display()
                ));
                print_reading_hint(path);
            }
            Err(error) => {
                print_message(&format!(
                    "{who}; its segment is lost: {}: {error}",
                    elsewhere.display()
                ));
            }
        }
    }

    /// Saves the last segments after the command's end.
    fn report(&mut self, status: WaitStatus) {
        self.scan();
        self.save_ended();
        // From here on nobody saves the segments of processes that still run.
        for held in self.held.values() {
            print_message(&format!(
                "{} (pid {}) still runs; its segment is not saved if it crashes",
                held.program, held.pid
            ));
        }
        if let Some(path) = &self.segment_path
            && !path.exists()
            && exit_code(status) == 0
        {
            print_message(&format!(
                "no segment was written to {}: does the command use Tare?",
                path.display()
            ));
        }
    }

    fn forward(&self, origin: &Origin) {
        // The terminal sends its signals to the command as well.
        if origin.cause == Cause::Kernel {
            return;
        }
        if let Some(signal) = Signal::from_named_raw(origin.signal) {
            // The process may have ended by now.
            let _ = kill_process(self.child, signal);
        }
    }
}

fn print_message(text: &str) {
    eprintln!("tare run: {text}");
}

fn print_reading_hint(path: &Path) {
    print_message(&format!(
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

fn pid_number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

/// Whether a segment has a path, unlike a memfd.
fn is_file(path: &Path) -> bool {
    !path.starts_with("/proc")
}

fn program_name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).map_or_else(
        |_| "a process".to_owned(),
        |name| name.trim_end().to_owned(),
    )
}

/// Start time of a process from /proc/PID/stat. `None` if it is gone, or a zombie without threads,
/// which has no memory either.
fn start_time(pid: u32) -> Option<u64> {
    started(&stat_line(pid).ok()?)
}

/// Whether a process that began at a time still runs. A stat that cannot be read does not mean that it has
/// ended: /proc may be mounted with hidepid, or this process has too many files open.
fn is_running(pid: u32, since: u64, stat: io::Result<String>) -> bool {
    match stat {
        Ok(stat) => started(&stat) == Some(since),
        Err(_) => exists(pid),
    }
}

/// Whether there is a process that is no zombie.
fn is_alive(pid: u32) -> bool {
    stat_line(pid).map_or_else(|_| exists(pid), |stat| started(&stat).is_some())
}

/// Whether the kernel has a process of this number.
fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// The start time in a /proc/PID/stat, in ticks.
fn started(stat: &str) -> Option<u64> {
    let stat = Stat::parse(stat).filter(|stat| !stat.has_ended())?;
    stat.start_ticks()
}

/// Every process below `root`.
fn descendants(root: u32) -> Vec<u32> {
    let mut pids = vec![root];
    let mut next = 0;
    while let Some(&pid) = pids.get(next) {
        next += 1;
        pids.extend(children(pid));
    }
    pids.remove(0);
    pids
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
        let since = start_time(pid).expect("a start time");
        let unreadable = || Err(io::ErrorKind::PermissionDenied.into());
        assert!(is_running(pid, since, stat_line(pid)) && is_running(pid, since, unreadable()));
        assert!(!is_running(pid, since + 1, stat_line(pid)));
        assert!(is_alive(pid));
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert_eq!(start_time(pid), None);
        assert!(!is_alive(pid) && !is_running(pid, since, unreadable()));
    }
}
