//! What observed threads and processes have used: CPU time, time without a CPU, and I/O.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::process::{Stat, stat_line_of};
use crate::task::Accounting;

/// Names of threads with sums of their own; those of further names are added up.
const MAX_NAMES: usize = 1_000;

/// The name of the others.
const OTHERS: &str = "(other)";

/// The I/O of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// System calls that read or write.
    pub calls: u64,
    /// Bytes that storage has read for it.
    pub read_bytes: u64,
    /// Bytes that storage has to write for it.
    pub written_bytes: u64,
}

impl Io {
    /// Reads proc(5)'s `io`.
    fn parse(text: &str) -> Self {
        let number = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|number| number.trim().parse().ok())
                .unwrap_or(0)
        };
        Self {
            calls: number("syscr:") + number("syscw:"),
            read_bytes: number("read_bytes:"),
            written_bytes: number("write_bytes:"),
        }
    }

    /// The I/O of a thread; `None` if it has ended or may not be read.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        let text = fs::read_to_string(directory.join("io")).ok()?;
        Some(Self::parse(&text))
    }

    /// What was added since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
        }
    }
}

/// What a thread has used, or all threads of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Time in which it was ready to run and had no CPU, in nanoseconds.
    pub delay_ns: u64,
    /// How often it got a CPU.
    pub slices: u64,
    /// Its I/O, up to the last call of [`ProcessTree::read_usages`](crate::ProcessTree::read_usages).
    pub io: Io,
}

impl Usage {
    /// Adds what another thread has used.
    pub fn add(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.delay_ns += other.delay_ns;
        self.slices += other.slices;
        self.add_io(other.io);
    }

    pub(crate) fn add_time(&mut self, grown: Accounting) {
        self.cpu_ns += grown.cpu;
        self.delay_ns += grown.delay;
        self.slices += grown.slices;
    }

    pub(crate) fn add_io(&mut self, grown: Io) {
        self.io.calls += grown.calls;
        self.io.read_bytes += grown.read_bytes;
        self.io.written_bytes += grown.written_bytes;
    }
}

/// What the threads of each name have used.
#[derive(Debug, Default)]
pub(crate) struct UsageByName(HashMap<Arc<str>, Usage>);

impl UsageByName {
    /// The sum of a name.
    pub fn get_mut(&mut self, name: &Arc<str>) -> &mut Usage {
        let has_space = self.0.len() < MAX_NAMES || self.0.contains_key(name);
        let name = if has_space {
            Arc::clone(name)
        } else {
            OTHERS.into()
        };
        self.0.entry(name).or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Usage)> {
        self.0.iter().map(|(name, usage)| (&**name, usage))
    }
}

/// A process, by its id and its start time.
pub(crate) type ProcessKey = (u32, u64);

/// CPU time of a process, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessCpu {
    parent: u32,
    /// Its own, ended threads included.
    own: u64,
    /// That of the ended children that it has waited for, and of theirs.
    waited: u64,
    /// Of that, what was counted while the children ran.
    counted: u64,
}

/// CPU time of processes, threads and children that have ended included.
#[derive(Debug, Default)]
pub(crate) struct CpuOfProcesses {
    processes: HashMap<ProcessKey, ProcessCpu>,
    ticks: u64,
    has_begun: bool,
}

impl CpuOfProcesses {
    /// Reads the processes, given with their parents, that run now. What they used before the first call does
    /// not count.
    pub fn read(&mut self, proc: &Path, running: impl Iterator<Item = (ProcessKey, u32)>) {
        let mut now = HashMap::new();
        for (key, parent) in running {
            let Some((own, waited)) = stat_line_of(proc, key.0).ok().and_then(|line| ticks(&line))
            else {
                continue;
            };
            let counted = 0;
            now.insert(
                key,
                ProcessCpu {
                    parent,
                    own,
                    waited,
                    counted,
                },
            );
        }
        let before = std::mem::replace(&mut self.processes, now);
        // A parent that waits for a child gets the child's time, which was counted until the last call.
        let mut ended: HashMap<u32, u64> = HashMap::new();
        for (_, cpu) in before
            .iter()
            .filter(|(key, _)| !self.processes.contains_key(key))
        {
            *ended.entry(cpu.parent).or_default() += cpu.own + cpu.waited;
        }
        for (key, cpu) in &mut self.processes {
            let before = match before.get(key) {
                Some(before) => *before,
                None if self.has_begun => ProcessCpu::default(),
                None => *cpu,
            };
            let waited = cpu.waited.saturating_sub(before.waited);
            let counted = before.counted + ended.get(&key.0).copied().unwrap_or(0);
            cpu.counted = counted.saturating_sub(waited);
            self.ticks += cpu.own.saturating_sub(before.own) + waited.saturating_sub(counted);
        }
        self.has_begun = true;
    }

    /// The sum since the first call.
    pub fn seconds(&self) -> f64 {
        self.ticks as f64 / rustix::param::clock_ticks_per_second() as f64
    }
}

/// The CPU time of a process and of its children that have ended, from its stat.
fn ticks(line: &str) -> Option<(u64, u64)> {
    let stat = Stat::parse(line)?;
    let number = |field| stat.number(field);
    Some((number(14)? + number(15)?, number(16)? + number(17)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_directory::Directory;

    #[test]
    fn io_is_parsed() {
        let text = "rchar: 99\nwchar: 98\nsyscr: 7\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 8192\n\
                    cancelled_write_bytes: 5\n";
        let io = Io::parse(text);
        assert_eq!((io.calls, io.read_bytes, io.written_bytes), (9, 4096, 8192));
        assert_eq!(Io::parse(""), Io::default());
    }

    #[test]
    fn the_names_of_threads_are_bounded() {
        let mut usages = UsageByName::default();
        for n in 0..2 * MAX_NAMES {
            usages.get_mut(&format!("thread {n}").into()).slices += 1;
        }
        assert_eq!(usages.iter().count(), MAX_NAMES + 1);
        let others = usages.iter().find(|(name, _)| *name == OTHERS);
        assert_eq!(
            others.map(|(_, usage)| usage.slices),
            Some(MAX_NAMES as u64)
        );
    }

    #[test]
    fn the_time_of_ended_children_counts_once() {
        let proc = Directory::new("usage");
        let mut cpu = CpuOfProcesses::default();
        // Id, parent, own ticks, ticks of ended children.
        let mut read = |processes: &[(u32, u32, u64, u64)]| {
            for (pid, parent, own, waited) in processes {
                let line = format!(
                    "{pid} (x) S {parent} 0 0 0 -1 0 0 0 0 0 {own} 0 {waited} 0 20 0 1 0 55"
                );
                proc.write(&format!("{pid}/stat"), &line);
            }
            let running = processes
                .iter()
                .map(|(pid, parent, ..)| ((*pid, 55), *parent));
            cpu.read(&proc.0, running);
            cpu.ticks
        };
        assert_eq!(read(&[(1, 0, 100, 50), (2, 1, 30, 0)]), 0, "the start");
        assert_eq!(read(&[(1, 0, 110, 50), (2, 1, 33, 0), (3, 1, 7, 0)]), 20);
        // 2 used another 4 before it ended, and a process between the calls 6. Its parent waited for both.
        assert_eq!(read(&[(1, 0, 110, 50 + 37 + 6), (3, 1, 7, 0)]), 30);
        // 3 has ended, and is waited for only later.
        assert_eq!(read(&[(1, 0, 111, 93)]), 31);
        assert_eq!(read(&[(1, 0, 111, 93 + 9)]), 33);
    }
}
