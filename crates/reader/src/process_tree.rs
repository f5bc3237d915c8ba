//! A process without a segment, and all processes below it: what their threads do, as /proc says.
//! `docs/processes.md` describes what is observed.
//!
//! The list of threads is read again only if the kernel has started a process or thread since, which the last
//! field of `/proc/loadavg` says, or if a second has passed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::process::{PROC, Stat, children_of, stat_line_of};
use crate::process_usage::{CpuOfProcesses, Io, Usage, UsageByName};
use crate::scheduler::{Activity, State, TaskReading};
use crate::task::{Accounting, CpuShare, OpenThreads, Sleep, TaskFiles};

/// Threads that are observed.
const MAX_THREADS: usize = 10_000;

/// A thread that has not run for so long is idle.
const IDLE_AFTER: Duration = Duration::from_secs(10);

/// The age at which the list of threads is read again.
const LIST_MAX_AGE: Duration = Duration::from_secs(1);

/// The age at which the name of a thread is read again. A new thread gets its name soon after its start.
const NAME_MAX_AGE: Duration = Duration::from_secs(10);
const NEW_NAME_MAX_AGE: Duration = Duration::from_secs(1);

/// Why a process cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is none.
    #[error("there is no process {pid}")]
    None {
        /// Its id.
        pid: u32,
    },
    /// It has ended.
    #[error("process {pid} has ended")]
    Ended {
        /// Its id.
        pid: u32,
    },
    /// It is another user's.
    #[error(
        "process {pid} belongs to the user with id {user}, and this user may not read its system calls and \
         I/O: run tare as that user or as root"
    )]
    Denied {
        /// Its id.
        pid: u32,
        /// The real user id.
        user: u32,
    },
}

/// A process that is observed.
#[derive(Clone, Debug)]
pub struct Process {
    /// The name of its program.
    pub name: Arc<str>,
    /// The process that started it.
    pub parent: u32,
    /// When it started, in ticks since the machine's start. The id may be used again.
    start_ticks: u64,
}

/// What a thread does at a moment.
#[derive(Clone, Debug)]
pub struct ThreadActivity {
    /// Its process.
    pub process_id: u32,
    /// Its id in the operating system.
    pub thread_id: u32,
    /// Its name.
    pub name: Arc<str>,
    /// Its state and system call.
    pub activity: Activity,
    /// Whether it has not run for ten seconds.
    pub is_idle: bool,
    /// What it has used since the observation began.
    pub usage: Usage,
}

/// A thread that is observed.
struct Thread {
    process_id: u32,
    name: Arc<str>,
    name_expires: Instant,
    /// Open if there are few threads.
    files: Option<TaskFiles>,
    share: CpuShare,
    /// Whether it is older than the observation. What it had used before does not count.
    is_old: bool,
    /// What it had used when it was last read.
    last: Option<Accounting>,
    last_io: Option<Io>,
    last_ran: Instant,
    usage: Usage,
}

impl Thread {
    fn new(process_id: u32, is_old: bool) -> Self {
        let now = Instant::now();
        Self {
            process_id,
            name: "".into(),
            name_expires: now,
            files: None,
            share: CpuShare::default(),
            is_old,
            last: None,
            last_io: None,
            last_ran: now,
            usage: Usage::default(),
        }
    }

    /// Adds what it has used since it was last read, and returns that.
    fn update(&mut self, sleep: Sleep, accounting: Option<Accounting>, now: Instant) -> Accounting {
        let Some(accounting) = accounting else {
            // Without accounting nobody knows when it ran.
            self.last_ran = now;
            return Accounting::default();
        };
        let before = self.last.replace(accounting);
        if before != Some(accounting) || sleep.is_asleep == Some(false) {
            self.last_ran = now;
        }
        let start = if self.is_old {
            accounting
        } else {
            Accounting::default()
        };
        let grown = accounting.since(before.unwrap_or(start));
        self.usage.add_time(grown);
        grown
    }
}

/// The processes that are observed.
pub struct ProcessTree {
    /// `/proc`.
    proc: PathBuf,
    root: u32,
    processes: BTreeMap<u32, Process>,
    threads: BTreeMap<u32, Thread>,
    by_name: UsageByName,
    cpu: CpuOfProcesses,
    open: OpenThreads,
    /// The id that the kernel gave last, when the list of threads was read.
    newest: Option<String>,
    listed: Option<Instant>,
    may_read_system_calls: bool,
    random: fastrand::Rng,
}

impl ProcessTree {
    /// Observes a process and all below it.
    ///
    /// # Errors
    /// [`ProcessError`].
    pub fn new(pid: u32) -> Result<Self, ProcessError> {
        Self::below(Path::new(PROC), pid)
    }

    fn below(proc: &Path, pid: u32) -> Result<Self, ProcessError> {
        let directory = proc.join(pid.to_string());
        let status = fs::read(directory.join("status")).map_err(|_| ProcessError::None { pid })?;
        let status = String::from_utf8_lossy(&status);
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse().ok()
        };
        // The rights that fd needs are those of io and wchan.
        if let Err(error) = fs::read_dir(directory.join("fd"))
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            let user = number("Uid:").unwrap_or(0);
            return Err(ProcessError::Denied { pid, user });
        }
        // The id may be that of another thread of the process.
        let pid = number("Tgid:").unwrap_or(pid);
        let root = read_process(proc, pid).ok_or(ProcessError::None { pid })?;
        let mut tree = Self {
            proc: proc.to_owned(),
            root: pid,
            processes: BTreeMap::from([(pid, root)]),
            threads: BTreeMap::new(),
            by_name: UsageByName::default(),
            cpu: CpuOfProcesses::default(),
            open: OpenThreads::new(),
            newest: None,
            listed: None,
            may_read_system_calls: true,
            random: fastrand::Rng::new(),
        };
        tree.read()?;
        Ok(tree)
    }

    /// The process at the top.
    pub fn root(&self) -> (u32, &str) {
        let name = self.processes.get(&self.root);
        (self.root, name.map_or("", |process| &process.name))
    }

    /// The processes by id.
    pub fn processes(&self) -> &BTreeMap<u32, Process> {
        &self.processes
    }

    /// Whether system calls may be read. Otherwise the kernel's functions take their place.
    pub fn has_system_calls(&self) -> bool {
        self.may_read_system_calls
    }

    /// Why states are unknown, if they are.
    pub fn problem(&self) -> Option<String> {
        let schedstat = self.proc.join(self.root.to_string()).join("schedstat");
        let has_schedstat =
            fs::read(&schedstat).is_ok() || !self.processes.contains_key(&self.root);
        (!has_schedstat).then(|| format!("the kernel has no {}", schedstat.display()))
    }

    /// Reads what all threads do now.
    ///
    /// # Errors
    /// [`ProcessError::Ended`].
    pub fn read(&mut self) -> Result<Vec<ThreadActivity>, ProcessError> {
        let newest = newest_id(&self.proc);
        let is_recent = |listed: Instant| listed.elapsed() < LIST_MAX_AGE;
        if newest.is_none() || newest != self.newest || !self.listed.is_some_and(is_recent) {
            self.list()?;
            self.newest = newest;
        }
        let mut activities = Vec::with_capacity(self.threads.len());
        let mut ended = Vec::new();
        let ids: Vec<u32> = self.threads.keys().copied().collect();
        for id in ids {
            match self.read_thread(id) {
                Some(activity) => activities.push(activity),
                None => ended.push(id),
            }
        }
        for id in ended {
            self.remove_thread(id);
        }
        // All threads of the process may have ended since the list was read.
        if activities.is_empty() {
            self.list()?;
        }
        Ok(activities)
    }

    /// Reads the I/O of threads and the CPU time of processes. It opens a file for each thread.
    pub fn read_usages(&mut self) {
        for (id, thread) in &mut self.threads {
            let Some(io) = Io::read(&task_directory(&self.proc, thread.process_id, *id)) else {
                continue;
            };
            let start = if thread.is_old { io } else { Io::default() };
            let grown = io.since(thread.last_io.replace(io).unwrap_or(start));
            thread.usage.add_io(grown);
            self.by_name.get_mut(&thread.name).add_io(grown);
        }
        let processes = self.processes.iter();
        let running = processes.map(|(pid, process)| ((*pid, process.start_ticks), process.parent));
        self.cpu.read(&self.proc, running);
    }

    /// What a thread has used since the observation began, with its I/O up to the last call of
    /// [`Self::read_usages`].
    pub fn usage(&self, thread_id: u32) -> Option<Usage> {
        self.threads.get(&thread_id).map(|thread| thread.usage)
    }

    /// What the threads of each name have used since the observation began.
    pub fn usage_by_name(&self) -> impl Iterator<Item = (&str, &Usage)> {
        self.by_name.iter()
    }

    /// The CPU time of all processes since the first call of [`Self::read_usages`], in seconds. It includes
    /// threads and children that have ended.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu.seconds()
    }

    /// Finds the processes and threads that there are now.
    fn list(&mut self) -> Result<(), ProcessError> {
        let is_first = self.listed.is_none();
        self.listed = Some(Instant::now());
        let mut ended = BTreeSet::new();
        self.processes
            .retain(|pid, process| match read_process(&self.proc, *pid) {
                // It may have another name by now, and another parent.
                Some(now) if now.start_ticks == process.start_ticks => {
                    *process = now;
                    true
                }
                _ => {
                    ended.insert(*pid);
                    false
                }
            });
        if !self.processes.contains_key(&self.root) {
            return Err(ProcessError::Ended { pid: self.root });
        }
        let mut queue: Vec<u32> = self.processes.keys().copied().collect();
        let mut present = BTreeSet::new();
        while let Some(pid) = queue.pop() {
            for id in numbers(&self.proc.join(pid.to_string()).join("task")) {
                present.insert((pid, id));
            }
            for child in children_of(&self.proc, pid) {
                if child == std::process::id() || self.processes.contains_key(&child) {
                    continue;
                }
                // A process that ended since may have passed its id on.
                if let Some(process) =
                    read_process(&self.proc, child).filter(|new| new.parent == pid)
                {
                    self.processes.insert(child, process);
                    queue.push(child);
                }
            }
        }
        let has_ended = |(id, thread): &(&u32, &Thread)| {
            let pid = thread.process_id;
            ended.contains(&pid) || !present.contains(&(pid, **id))
        };
        let threads: Vec<u32> = (self.threads.iter().filter(has_ended))
            .map(|(id, _)| *id)
            .collect();
        for id in threads {
            self.remove_thread(id);
        }
        for (pid, id) in present {
            if self.threads.len() < MAX_THREADS && !self.threads.contains_key(&id) {
                self.threads.insert(id, Thread::new(pid, is_first));
            }
        }
        Ok(())
    }

    /// Reads a thread; `None` if it has ended.
    fn read_thread(&mut self, id: u32) -> Option<ThreadActivity> {
        let thread = self.threads.get_mut(&id)?;
        let process_id = thread.process_id;
        let directory = || task_directory(&self.proc, process_id, id);
        let (sleep, accounting) = match &thread.files {
            Some(files) => (files.read_sleep().ok()?, files.read_accounting().ok()?),
            None => {
                let (files, sleep) =
                    TaskFiles::open(&directory(), &mut self.may_read_system_calls).ok()?;
                let accounting = files.read_accounting().ok()?;
                thread.files = self.open.retain(files);
                (sleep, accounting)
            }
        };
        let now = Instant::now();
        if now >= thread.name_expires {
            let age = match thread.name.is_empty() {
                true => NEW_NAME_MAX_AGE,
                false => NAME_MAX_AGE,
            };
            thread.name = read_word(&directory().join("comm"))?;
            thread.name_expires = now + age;
        }
        let grown = thread.update(sleep, accounting, now);
        self.by_name.get_mut(&thread.name).add_time(grown);
        let cpu_share = thread.share.update(accounting);
        let reading = TaskReading { sleep, cpu_share };
        let mut activity = reading.activity(false, &mut self.random);
        if activity.state == State::Blocked && activity.system_call.is_none() {
            activity.system_call =
                read_word(&directory().join("wchan")).filter(|name| **name != *"0");
        }
        Some(ThreadActivity {
            process_id,
            thread_id: id,
            name: Arc::clone(&thread.name),
            is_idle: now.duration_since(thread.last_ran) >= IDLE_AFTER,
            activity,
            usage: thread.usage,
        })
    }

    fn remove_thread(&mut self, id: u32) {
        if let Some(thread) = self.threads.remove(&id) {
            self.open.close(thread.files);
        }
    }
}

fn task_directory(proc: &Path, pid: u32, id: u32) -> PathBuf {
    proc.join(format!("{pid}/task/{id}"))
}

/// Reads a process; `None` if it has ended.
fn read_process(proc: &Path, pid: u32) -> Option<Process> {
    let line = stat_line_of(proc, pid).ok()?;
    let stat = Stat::parse(&line).filter(|stat| !stat.has_ended())?;
    Some(Process {
        name: Stat::name(&line)?.into(),
        parent: u32::try_from(stat.number(4)?).ok()?,
        start_ticks: stat.start_ticks()?,
    })
}

/// The names in a directory that are numbers.
fn numbers(directory: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A file of one word.
fn read_word(path: &Path) -> Option<Arc<str>> {
    let word = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&word).trim_end().into())
}

/// The id that the kernel gave last to a process or thread.
fn newest_id(proc: &Path) -> Option<String> {
    let line = fs::read_to_string(proc.join("loadavg")).ok()?;
    Some(line.split_whitespace().next_back()?.to_owned())
}

#[cfg(test)]
mod tests;
