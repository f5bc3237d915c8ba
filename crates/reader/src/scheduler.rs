//! What the scheduler says of threads that run a statement, from /proc: running, or asleep, and where.
//!
//! `task.rs` has the files that are read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use tare_layout::View;
use tare_layout::object::target;

use crate::active::ActiveThread;
use crate::system_call;
use crate::task::{CpuShare, OpenThreads, Sleep, TaskFiles};

/// What a thread does at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It runs on a CPU.
    OnCpu,
    /// It could run, and has no CPU.
    WaitingForCpu,
    /// It sleeps inside a wait, which has a name.
    Waiting,
    /// It sleeps outside of any wait.
    Blocked,
    /// The kernel does not say.
    Unknown,
}

impl State {
    /// All states.
    pub const ALL: [Self; 5] = [
        Self::OnCpu,
        Self::WaitingForCpu,
        Self::Waiting,
        Self::Blocked,
        Self::Unknown,
    ];

    /// Its name, in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnCpu => "on cpu",
            Self::WaitingForCpu => "waiting for cpu",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked elsewhere",
            Self::Unknown => "unknown",
        }
    }

    /// The state of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// The state of a thread that the scheduler says this of. `draw`: a random number from 0 to 1.
    fn new(task: &TaskReading, has_wait: bool, draw: f64) -> Self {
        match (task.sleep.is_asleep, task.cpu_share) {
            (Some(true), _) if has_wait => Self::Waiting,
            (Some(true), _) => Self::Blocked,
            (Some(false), Some(share)) if draw < share => Self::OnCpu,
            (Some(false), Some(_)) => Self::WaitingForCpu,
            (Some(false), None) | (None, _) => Self::Unknown,
        }
    }
}

/// What a thread does, and the system call in which it sleeps outside of any wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The state.
    pub state: State,
    /// The system call, if it is [`State::Blocked`] and the kernel says so.
    pub system_call: Option<Arc<str>>,
}

/// A thread of the process.
#[derive(Default)]
struct Task {
    /// Open if there are few threads.
    files: Option<TaskFiles>,
    share: CpuShare,
    /// The number of the moment at which the thread was last read.
    moment: u64,
}

/// What the kernel says of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TaskReading {
    /// Whether it sleeps, and in which system call.
    pub sleep: Sleep,
    /// Of the time in which it could run lately, the share in which it did.
    pub cpu_share: Option<f64>,
}

impl TaskReading {
    /// Of a thread that sleeps in no system call.
    fn asleep() -> Self {
        let sleep = Sleep {
            is_asleep: Some(true),
            system_call: None,
        };
        Self {
            sleep,
            cpu_share: None,
        }
    }

    /// Reads the share of CPU time of a thread, of which `sleep` was read before, if it is used.
    fn complete(sleep: Sleep, files: &TaskFiles, share: &mut CpuShare) -> io::Result<Self> {
        let cpu_share = match share.is_needed(sleep) {
            true => share.update(files.read_accounting()?),
            false => None,
        };
        Ok(Self { sleep, cpu_share })
    }

    /// What the thread does, which is or is not inside a wait.
    pub fn activity(&self, has_wait: bool, random: &mut fastrand::Rng) -> Activity {
        let state = State::new(self, has_wait, random.f64());
        let number = self.sleep.system_call.filter(|_| state == State::Blocked);
        Activity {
            state,
            system_call: number.map(system_call::name),
        }
    }
}

/// The scheduler's word about the threads of one process, and of those that write the same segment.
pub struct Scheduler {
    /// `/proc/PID`.
    process: PathBuf,
    tasks: HashMap<u64, Task>,
    open: OpenThreads,
    /// Whether `syscall` may be read, as far as is known.
    may_read_system_calls: bool,
    /// Why states are unknown, if they are.
    problem: Option<String>,
    /// Whether threads can be read at all.
    is_readable: bool,
    moment: u64,
    random: fastrand::Rng,
}

impl Scheduler {
    /// The scheduler's word about a process on this machine.
    pub fn new(pid: u32) -> Self {
        Self::of(PathBuf::from(format!("/proc/{pid}")))
    }

    fn of(process: PathBuf) -> Self {
        let unreadable = explain_unreadable(&process);
        let has_schedstat = fs::read_to_string(process.join("schedstat")).is_ok();
        let missing = || format!("the kernel has no {}/schedstat", process.display());
        Self {
            is_readable: unreadable.is_none(),
            problem: unreadable.or_else(|| (!has_schedstat).then(missing)),
            process,
            tasks: HashMap::new(),
            open: OpenThreads::new(),
            may_read_system_calls: true,
            moment: 0,
            random: fastrand::Rng::new(),
        }
    }

    /// Why states are not known, in one sentence.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Begins a moment of sampling. Threads that were not read at the last one are forgotten if there are many.
    pub fn begin_moment(&mut self) {
        if self.open.is_full() {
            let (last, open) = (self.moment, &mut self.open);
            self.tasks.retain(|_, task| {
                let is_recent = task.moment == last;
                if !is_recent {
                    open.close(task.files.take());
                }
                is_recent
            });
        }
        self.moment += 1;
    }

    /// What a thread of a segment does. The thread may have gone on between the reading of its line and that
    /// of the scheduler's word, so it is read again, in `thread`, until both are of one moment.
    pub fn observe(&mut self, view: View<'_>, thread: &mut ActiveThread) -> Activity {
        for _ in 0..MAX_READS {
            let activity = self.read_thread(thread);
            thread.file = self.read_file(thread);
            match thread.read_again(view) {
                Some(now) if now.is_further_than(thread) => *thread = now,
                _ => return activity,
            }
        }
        let activity = self.read_thread(thread);
        thread.file = self.read_file(thread);
        activity
    }

    /// The path of the file that a thread waits for, if the segment has only the file's descriptor.
    fn read_file(&self, thread: &ActiveThread) -> Option<Arc<str>> {
        let descriptor = target::descriptor_of(thread.wait?.object)?;
        let process = process_of(&self.process, thread.process_id);
        let path = fs::read_link(process.join("fd").join(descriptor.to_string())).ok()?;
        Some(path.to_string_lossy().into())
    }

    /// What a thread of a segment does. No thread of the system works for one without an id there: it is a
    /// session between two polls of its task, and sleeps.
    fn read_thread(&mut self, thread: &ActiveThread) -> Activity {
        let has_wait = thread.wait.is_some();
        match thread.os_id {
            0 => TaskReading::asleep().activity(has_wait, &mut self.random),
            os_id => self.read_of(thread.process_id, os_id, has_wait),
        }
    }

    /// What a thread does that has this id in the operating system, and is or is not inside a wait.
    pub fn read(&mut self, os_id: u64, has_wait: bool) -> Activity {
        self.read_of(0, os_id, has_wait)
    }

    /// The same of a thread of another process, 0 = the scheduler's own.
    fn read_of(&mut self, process_id: u32, os_id: u64, has_wait: bool) -> Activity {
        let reading = match self.is_readable && os_id != 0 {
            true => self.task(process_id, os_id).unwrap_or_default(),
            false => TaskReading::default(),
        };
        reading.activity(has_wait, &mut self.random)
    }

    fn task(&mut self, process_id: u32, os_id: u64) -> Option<TaskReading> {
        let task = self.tasks.entry(os_id).or_default();
        task.moment = self.moment;
        if let Some(files) = &task.files {
            let sleep = files.read_sleep();
            let reading =
                sleep.and_then(|sleep| TaskReading::complete(sleep, files, &mut task.share));
            if let Ok(reading) = reading {
                return Some(reading);
            }
            // The thread has ended, and another one may have its id.
            self.open.close(task.files.take());
            task.share = CpuShare::default();
        }
        let process = process_of(&self.process, process_id);
        let directory = process.join("task").join(os_id.to_string());
        let Ok((files, sleep)) = TaskFiles::open(&directory, &mut self.may_read_system_calls)
        else {
            self.tasks.remove(&os_id);
            return None;
        };
        let reading = TaskReading::complete(sleep, &files, &mut task.share).ok();
        task.files = self.open.retain(files);
        reading
    }
}

/// The directory in /proc of the process with this number, 0 = of this process.
fn process_of(process: &Path, number: u32) -> PathBuf {
    match number {
        0 => process.to_owned(),
        other => process.with_file_name(other.to_string()),
    }
}

/// How often a thread that goes on is read.
const MAX_READS: usize = 3;

/// Why no thread of a process can be read.
fn explain_unreadable(process: &Path) -> Option<String> {
    let Ok(status) = fs::read(process.join("status")) else {
        return Some(format!("{} cannot be read", process.display()));
    };
    let status = String::from_utf8_lossy(&status);
    // One id for each namespace, from this process's to its own.
    let mut ids = status
        .lines()
        .filter_map(|line| line.strip_prefix("NSpid:"));
    let has_namespace = ids
        .next()
        .is_some_and(|ids| ids.split_whitespace().count() > 1);
    has_namespace.then(|| "the server's process has a pid namespace of its own".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_directory::Directory;

    fn task(is_asleep: Option<bool>, cpu_share: Option<f64>) -> TaskReading {
        let sleep = Sleep {
            is_asleep,
            system_call: None,
        };
        TaskReading { sleep, cpu_share }
    }

    #[test]
    fn a_moment_has_exactly_one_state() {
        let (run, sleep) = (Some(false), Some(true));
        for (is_asleep, share, has_wait, draw, expected) in [
            (run, Some(1.0), false, 0.99, State::OnCpu),
            (run, Some(1.0), true, 0.99, State::OnCpu), // In a wait for a table, or for a mutex, spinning.
            (run, Some(0.0), false, 0.0, State::WaitingForCpu),
            (run, Some(0.5), false, 0.49, State::OnCpu),
            (run, Some(0.5), true, 0.5, State::WaitingForCpu),
            (run, None, false, 0.0, State::Unknown),
            (run, None, true, 0.0, State::Unknown),
            (sleep, Some(1.0), true, 0.0, State::Waiting),
            (sleep, None, true, 0.0, State::Waiting),
            (sleep, Some(1.0), false, 0.0, State::Blocked),
            (sleep, None, false, 0.0, State::Blocked),
            (None, Some(1.0), false, 0.0, State::Unknown),
            (None, None, true, 0.0, State::Unknown),
        ] {
            let state = State::new(&task(is_asleep, share), has_wait, draw);
            assert_eq!(state, expected, "{is_asleep:?} {share:?} {has_wait} {draw}");
            assert_eq!(State::from_name(state.name()), Some(state));
        }
    }

    /// A directory like /proc/PID with these files.
    fn proc(name: &str, files: &[(&str, &str)]) -> Directory {
        let directory = Directory::new(name);
        for (path, text) in files {
            directory.write(path, text);
        }
        directory
    }

    const STATUS: (&str, &str) = ("status", "Name:\tmysqld\nNSpid:\t7\n");

    #[test]
    fn without_rights_or_accounting_a_running_thread_is_unknown() {
        let stat = "7 (my) sq) R 1 7 7 0 -1 0 1 0 0 0 3 4 0 0 20 0 9 0 55 0 0";
        let sleeps = stat.replace(") R", ") D");
        let files = [
            STATUS,
            ("schedstat", "9 9 9\n"),
            ("task/7/stat", stat),
            ("task/7/schedstat", "0 0 0\n"),
            ("task/8/stat", &sleeps),
        ];
        let proc = proc("rights", &files);
        let mut scheduler = Scheduler::of(proc.0.clone());
        assert_eq!(scheduler.problem(), None);
        let mut state = |os_id, has_wait| scheduler.read(os_id, has_wait).state;
        assert_eq!(state(7, false), State::Unknown);
        // A sleeping thread is known without accounting; its system call is not.
        assert_eq!(state(8, false), State::Blocked);
        assert_eq!(state(8, true), State::Waiting);
        // A thread that has ended, and one whose id the server does not say.
        assert_eq!(
            (state(9, true), state(0, false)),
            (State::Unknown, State::Unknown)
        );
    }

    #[test]
    fn threads_of_other_processes_are_read_there() {
        let stat = "17 (worker) S 1 7 7 0 -1 0 1 0 0 0 3 4 0 0 20 0 9 0 55 0 0";
        let files = [
            ("7/status", STATUS.1),
            ("7/schedstat", "9 9 9\n"),
            ("17/task/17/stat", stat),
            ("17/task/17/schedstat", "0 0 0\n"),
        ];
        let proc = proc("tree", &files);
        let mut scheduler = Scheduler::of(proc.0.join("7"));
        let mut state = |process| scheduler.read_of(process, 17, true).state;
        assert_eq!(state(0), State::Unknown);
        assert_eq!(state(17), State::Waiting);
    }

    #[test]
    fn an_unreadable_thread_is_reported_and_never_called_cpu() {
        let none = proc("none", &[]);
        let inner = ("status", "NSpid:\t4711\t7\n");
        let container = proc("container", &[inner, ("schedstat", "1 1 1\n")]);
        let old = proc("old", &[STATUS]);
        for (proc, text) in [
            (none, "cannot be read"),
            (container, "namespace"),
            (old, "schedstat"),
        ] {
            proc.write("task/7/syscall", "running\n");
            if text != "schedstat" {
                proc.write("task/7/schedstat", "100 0 1\n");
            }
            let mut scheduler = Scheduler::of(proc.0.clone());
            assert!(scheduler.problem().expect(text).contains(text));
            scheduler.begin_moment();
            assert_eq!(scheduler.read(7, false).state, State::Unknown);
        }
    }

    #[test]
    fn a_thread_whose_files_are_not_open_has_the_share_of_late() {
        let text = "running\n";
        let files = [
            STATUS,
            ("schedstat", "9 9 9\n"),
            ("task/7/syscall", text),
            ("task/7/schedstat", "5000 0 1\n"),
            ("task/8/syscall", text),
            ("task/8/schedstat", "5000 0 1\n"),
        ];
        let proc = proc("many", &files);
        let mut scheduler = Scheduler::of(proc.0.clone());
        scheduler.open = OpenThreads::with_limit(1);
        let mut read = |os_id| {
            scheduler.begin_moment();
            let has_space = !scheduler.open.is_full();
            (scheduler.read(os_id, false).state, has_space)
        };
        assert_eq!(read(7), (State::OnCpu, true));
        assert_eq!(read(8), (State::OnCpu, false));
        std::thread::sleep(crate::task::TICK);
        // It got no CPU since.
        proc.write("task/8/schedstat", "5000 5000 2\n");
        let waits = (0..20).map(|_| read(8).0);
        let waits = waits.filter(|state| *state == State::WaitingForCpu);
        assert_eq!(waits.count(), 20);
    }

    #[test]
    fn a_file_that_stays_open_is_read_again() {
        let files = [
            STATUS,
            ("schedstat", "9 9 9\n"),
            ("task/7/syscall", "running\n"),
            ("task/7/schedstat", "100 0 1\n"),
        ];
        let proc = proc("open", &files);
        let mut scheduler = Scheduler::of(proc.0.clone());
        assert_eq!(scheduler.read(7, false).state, State::OnCpu);
        proc.write("task/7/syscall", "230 0x0 0x0\n");
        let slept = scheduler.read(7, false);
        assert_eq!(slept.state, State::Blocked);
        let name = (libc::SYS_clock_nanosleep == 230).then_some("clock_nanosleep");
        assert!(name.is_none_or(|name| slept.system_call.as_deref() == Some(name)));
        // Inside a wait, the wait has a name already.
        let waits = scheduler.read(7, true);
        assert_eq!((waits.state, waits.system_call), (State::Waiting, None));
    }
}
