//! What the scheduler says of threads that run a statement, from /proc: running, or asleep, and where.
//!
//! A thread is asked for at each moment of sampling, so its files stay open. `schedstat` has the thread's CPU
//! time and the time for which it was ready to run without a CPU. Whether it sleeps is in `syscall`, with the
//! system call, if this process may read it (ptrace rights); otherwise in `stat`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_layout::View;

use crate::active::{ActiveThread, active_thread};
use crate::process::Stat;
use crate::system_call;

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
        match (task.is_asleep, task.cpu_share) {
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

/// What the kernel says of a thread.
#[derive(Clone, Debug, Default, PartialEq)]
struct TaskReading {
    /// Whether it sleeps.
    is_asleep: Option<bool>,
    /// The number of the system call in which it sleeps; -1: it sleeps in none, for instance for a page.
    system_call: Option<i64>,
    /// Of the time in which it could run lately, the share in which it did.
    cpu_share: Option<f64>,
}

/// CPU time and time without a CPU of a thread since its start, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Accounting {
    cpu: u64,
    delay: u64,
}

impl Accounting {
    /// Reads schedstat; `None` if the kernel counts nothing.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || fields.next()?.ok();
        let (cpu, delay, slices) = (next()?, next()?, next()?);
        (slices != 0).then_some(Self { cpu, delay })
    }

    /// The share of CPU time in what was added since `before`. A thread that got no CPU time waited for one.
    fn cpu_share(self, before: Self) -> f64 {
        let cpu = self.cpu.saturating_sub(before.cpu) as f64;
        let delay = self.delay.saturating_sub(before.delay) as f64;
        if cpu == 0.0 { 0.0 } else { cpu / (cpu + delay) }
    }
}

/// The kernel adds the CPU time of a thread that runs at its ticks, which are at most this far apart.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// The share of CPU time is that since a reading at least this long ago: the kernel adds the time without a CPU
/// only when the thread gets one. Before there is such a reading, one that is a [`TICK`] old is used.
const SHARE_PERIOD: Duration = Duration::from_millis(250);

/// The accounting of a thread that sleeps is read when it wakes, or when the last reading is older than this.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Threads whose files stay open; those of others are opened each time.
const MAX_OPEN: usize = 200;

/// A thread of the process whose files are open.
struct Task {
    schedstat: Option<File>,
    sleep: File,
    /// Whether `sleep` is `syscall`; otherwise it is `stat`.
    has_system_call: bool,
    /// The reading from which the share counts; `None`: from the thread's start.
    before: Option<Accounting>,
    /// A later one, from which the share will count, and its time.
    next: Option<(Accounting, Instant)>,
    /// The number of the moment at which the thread was last read.
    moment: u64,
}

impl Task {
    /// Reads the thread; `None` if it has ended, or may not be read.
    fn read(&mut self, buffer: &mut [u8]) -> Option<TaskReading> {
        let text = read_text(&self.sleep, buffer)?;
        let (is_asleep, system_call) = match self.has_system_call {
            true => parse_system_call(text),
            false => (Stat::parse(text).map(|stat| stat.is_asleep()), None),
        };
        // Of a thread that sleeps, the share is not used.
        let age = self.next.map(|(_, at)| at.elapsed());
        let cpu_share = match is_asleep {
            Some(true) if age.is_some_and(|age| age < MAX_AGE) => None,
            _ => self.read_share(age, buffer)?,
        };
        Some(TaskReading {
            is_asleep,
            system_call,
            cpu_share,
        })
    }

    /// Reads the share of CPU time, if the kernel counts it. `age`: of the later reading.
    fn read_share(&mut self, age: Option<Duration>, buffer: &mut [u8]) -> Option<Option<f64>> {
        let Some(file) = &self.schedstat else {
            return Some(None);
        };
        let Some(now) = Accounting::parse(read_text(file, buffer)?) else {
            return Some(None);
        };
        let period = self.before.map_or(TICK, |_| SHARE_PERIOD);
        if age.is_none_or(|age| age >= period) {
            self.before = self.next.map(|(before, _)| before);
            self.next = Some((now, Instant::now()));
        }
        Some(Some(now.cpu_share(self.before.unwrap_or_default())))
    }
}

/// Reads `syscall`: whether the thread sleeps, and in which system call.
fn parse_system_call(text: &str) -> (Option<bool>, Option<i64>) {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    match (first, first.parse()) {
        ("running", _) => (Some(false), None),
        (_, Ok(number)) => (Some(true), Some(number)),
        _ => (None, None),
    }
}

/// A file's text, as far as the buffer holds it.
fn read_text<'b>(file: &File, buffer: &'b mut [u8]) -> Option<&'b str> {
    let length = file.read_at(buffer, 0).ok()?;
    // Only the name of a program, which comes early in stat, may be anything but ASCII.
    let end =
        std::str::from_utf8(&buffer[..length]).map_or_else(|error| error.valid_up_to(), str::len);
    match end == length {
        true => std::str::from_utf8(&buffer[..length]).ok(),
        false => {
            let name_end = buffer[..length].iter().rposition(|byte| *byte == b')')?;
            std::str::from_utf8(&buffer[name_end..length]).ok()
        }
    }
}

/// The scheduler's word about the threads of one process.
pub struct Scheduler {
    /// `/proc/PID`.
    process: PathBuf,
    open: HashMap<u64, Task>,
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
            open: HashMap::new(),
            may_read_system_calls: true,
            moment: 0,
            random: fastrand::Rng::new(),
        }
    }

    /// Why states are not known, in one sentence.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Begins a moment of sampling. Threads that were not read at the last one are closed if there are many.
    pub fn begin_moment(&mut self) {
        if self.open.len() >= MAX_OPEN {
            let last = self.moment;
            self.open.retain(|_, task| task.moment == last);
        }
        self.moment += 1;
    }

    /// What a thread of a segment does. The thread may have gone on between the reading of its line and that
    /// of the scheduler's word, so it is read again, in `thread`, until both are of one moment.
    pub fn observe(&mut self, view: View<'_>, thread: &mut ActiveThread) -> Activity {
        for _ in 0..MAX_READS {
            let activity = self.read(thread.os_id, thread.wait.is_some());
            match active_thread(view, thread.slot) {
                Some(now) if now.id == thread.id && now.is_further_than(thread) => *thread = now,
                _ => return activity,
            }
        }
        self.read(thread.os_id, thread.wait.is_some())
    }

    /// What a thread does that has this id in the operating system, and is or is not inside a wait.
    pub fn read(&mut self, os_id: u64, has_wait: bool) -> Activity {
        let reading = match self.is_readable && os_id != 0 {
            true => self.task(os_id).unwrap_or_default(),
            false => TaskReading::default(),
        };
        let state = State::new(&reading, has_wait, self.random.f64());
        let number = reading.system_call.filter(|_| state == State::Blocked);
        Activity {
            state,
            system_call: number.map(system_call::name),
        }
    }

    fn task(&mut self, os_id: u64) -> Option<TaskReading> {
        let mut buffer = [0; 1024];
        if let Some(task) = self.open.get_mut(&os_id) {
            task.moment = self.moment;
            if let Some(reading) = task.read(&mut buffer) {
                return Some(reading);
            }
            // The thread has ended, and another one may have its id.
            self.open.remove(&os_id);
        }
        let mut task = self.open_task(os_id)?;
        let reading = match task.read(&mut buffer) {
            None if task.has_system_call => {
                // Opening is allowed where reading is not.
                self.may_read_system_calls = false;
                task = self.open_task(os_id)?;
                task.read(&mut buffer)
            }
            reading => reading,
        };
        if self.open.len() < MAX_OPEN {
            self.open.insert(os_id, task);
        }
        reading
    }

    fn open_task(&mut self, os_id: u64) -> Option<Task> {
        let directory = self.process.join("task").join(os_id.to_string());
        let system_call = match self.may_read_system_calls {
            true => File::open(directory.join("syscall")).ok(),
            false => None,
        };
        Some(Task {
            schedstat: File::open(directory.join("schedstat")).ok(),
            has_system_call: system_call.is_some(),
            sleep: match system_call {
                Some(file) => file,
                None => File::open(directory.join("stat")).ok()?,
            },
            before: None,
            next: None,
            moment: self.moment,
        })
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

    fn task(is_asleep: Option<bool>, cpu_share: Option<f64>) -> TaskReading {
        TaskReading {
            is_asleep,
            system_call: None,
            cpu_share,
        }
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

    #[test]
    fn shares_come_from_what_was_added() {
        let at = |cpu, delay| Accounting { cpu, delay };
        assert_eq!(at(50, 10).cpu_share(at(20, 0)), 0.75);
        assert_eq!(at(50, 10).cpu_share(at(50, 10)), 0.0, "it got no CPU time");
        assert_eq!(at(50, 10).cpu_share(at(50, 0)), 0.0);
        assert_eq!(at(5, 0).cpu_share(at(50, 10)), 0.0, "of another thread");
        assert_eq!(Accounting::parse("70 30 2\n"), Some(at(70, 30)));
        for nothing in ["0 0 0\n", "", "70 30", "x 1 2"] {
            assert_eq!(Accounting::parse(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn the_system_call_of_a_thread_implies_that_it_sleeps() {
        let futex = "202 0x7f0 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7f1\n";
        assert_eq!(parse_system_call(futex), (Some(true), Some(202)));
        assert_eq!(parse_system_call("running\n"), (Some(false), None));
        assert_eq!(
            parse_system_call("-1 0x7ffd 0x7f1\n"),
            (Some(true), Some(-1))
        );
        assert_eq!(parse_system_call(""), (None, None));
    }

    /// A directory like /proc/PID, which is removed at the end.
    struct Proc(PathBuf);

    impl Proc {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let directory = format!("tare-scheduler-{}-{name}", std::process::id());
            let proc = Self(std::env::temp_dir().join(directory));
            for (path, text) in files {
                proc.write(path, text);
            }
            proc
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("created");
            fs::write(path, text).expect("written");
        }
    }

    impl Drop for Proc {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
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
        let proc = Proc::new("rights", &files);
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
    fn an_unreadable_thread_is_reported_and_never_called_cpu() {
        let none = Proc::new("none", &[]);
        let inner = ("status", "NSpid:\t4711\t7\n");
        let container = Proc::new("container", &[inner, ("schedstat", "1 1 1\n")]);
        let old = Proc::new("old", &[STATUS]);
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
    fn a_file_that_stays_open_is_read_again() {
        let files = [
            STATUS,
            ("schedstat", "9 9 9\n"),
            ("task/7/syscall", "running\n"),
            ("task/7/schedstat", "100 0 1\n"),
        ];
        let proc = Proc::new("open", &files);
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
