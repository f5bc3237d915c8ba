//! A process or thread as /proc/PID/stat describes it, and the CPU time of a process.

use std::path::Path;
use std::{fs, io};

use crate::mapping;

/// Where the kernel lists processes.
pub(crate) const PROC: &str = "/proc";

/// The line of proc(5)'s `stat`, after the name of the program.
#[derive(Clone, Copy, Debug)]
pub struct Stat<'t>(&'t str);

impl<'t> Stat<'t> {
    /// Finds the fields in a line. The name, field 2, may hold anything but ends with the last parenthesis.
    pub fn parse(line: &'t str) -> Option<Self> {
        let (_, fields) = line.rsplit_once(')')?;
        Some(Self(fields.trim_ascii_start()))
    }

    /// The name of its program or thread, from the line that was parsed.
    pub fn name(line: &'t str) -> Option<&'t str> {
        let (name, _) = line.rsplit_once(')')?;
        Some(name.split_once('(')?.1)
    }

    /// A field by proc(5)'s number, from 3.
    pub fn field(&self, number: usize) -> Option<&'t str> {
        self.0.split_ascii_whitespace().nth(number.checked_sub(3)?)
    }

    /// A number by proc(5)'s number of the field.
    pub fn number(&self, field: usize) -> Option<u64> {
        self.field(field)?.parse().ok()
    }

    /// A time in seconds by proc(5)'s number of the field, which has it in ticks.
    pub fn seconds(&self, field: usize) -> Option<f64> {
        Some(self.number(field)? as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// The state: R, S, D, T, Z and so on.
    pub fn state(&self) -> Option<char> {
        self.0.chars().next()
    }

    /// Whether it neither runs nor is ready to run.
    pub fn is_asleep(&self) -> bool {
        self.state() != Some('R')
    }

    /// Whether it is a zombie without threads, which has no memory either. Threads may outlive the first one.
    pub fn has_ended(&self) -> bool {
        matches!(self.state(), Some('Z' | 'X')) && self.threads().is_none_or(|threads| threads <= 1)
    }

    /// The number of threads.
    pub fn threads(&self) -> Option<u64> {
        self.number(20)
    }

    /// Ticks from the machine's start to the process's.
    pub fn start_ticks(&self) -> Option<u64> {
        self.number(22)
    }
}

/// The line of a process.
///
/// # Errors
/// There is none, or it may not be read.
pub fn stat_line(pid: u32) -> io::Result<String> {
    stat_line_of(Path::new(PROC), pid)
}

/// The same, where /proc is mounted at `proc`.
pub(crate) fn stat_line_of(proc: &Path, pid: u32) -> io::Result<String> {
    let line = fs::read(proc.join(pid.to_string()).join("stat"))?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Whether a process exists and has not ended.
pub fn is_running(pid: u32) -> bool {
    stat_line(pid).is_ok_and(|line| Stat::parse(&line).is_some_and(|stat| !stat.has_ended()))
}

/// The CPU time of a process in seconds, ended threads included. Its resolution is nanoseconds; /proc
/// has 10 ms.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    Some(mapping::cpu_time(pid)?.as_secs_f64())
}

/// The resident memory of a process in bytes: field 2 of its statm, in pages.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let statm = fs::read_to_string(format!("{PROC}/{pid}/statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// The children of a process, of all its threads. A process that ends meanwhile may hide another one.
/// Empty if the kernel does not list children (CONFIG_PROC_CHILDREN).
pub fn children(pid: u32) -> Vec<u32> {
    children_of(Path::new(PROC), pid)
}

/// The same, where /proc is mounted at `proc`.
pub(crate) fn children_of(proc: &Path, pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(proc.join(pid.to_string()).join("task"));
    let mut children = Vec::new();
    for task in tasks.into_iter().flatten().flatten() {
        let line = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(
            line.split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_the_name() {
        let line = "17 (a) b) (c) S 1 17 17 0 -1 4 129 0 0 0 5 6 0 0 20 0 3 0 1798103 2990080 391";
        let stat = Stat::parse(line).expect("fields");
        assert_eq!((stat.state(), stat.field(4)), (Some('S'), Some("1")));
        assert_eq!((stat.field(14), stat.field(15)), (Some("5"), Some("6")));
        assert_eq!(
            (stat.threads(), stat.start_ticks()),
            (Some(3), Some(1_798_103))
        );
        assert!(stat.is_asleep() && stat.field(2).is_none() && stat.field(99).is_none());
        assert!(Stat::parse("").is_none());
        assert_eq!((Stat::name(line), Stat::name("")), (Some("a) b) (c"), None));
    }

    #[test]
    fn a_zombie_has_ended_unless_other_threads_run() {
        let has_ended = |state: char, threads: u32| {
            let line =
                format!("7 (x) {state} 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 {threads} 0 55 0 0");
            Stat::parse(&line).expect("fields").has_ended()
        };
        assert!(has_ended('Z', 1) && has_ended('X', 0));
        assert!(!has_ended('Z', 2) && !has_ended('S', 1));
    }

    #[test]
    fn this_process_runs_and_uses_cpu_time() {
        let own = std::process::id();
        assert!(is_running(own) && !is_running(u32::MAX >> 1));
        assert!(resident_bytes(own) > Some(0) && resident_bytes(u32::MAX >> 1).is_none());
        let before = cpu_seconds(own).expect("it runs");
        let mut x = 0u64;
        while cpu_seconds(own).expect("it runs") - before < 0.03 {
            x = std::hint::black_box(x + 1);
        }
        // stat has at least what was used before it was read, in ticks of 10 ms.
        let line = stat_line(own).expect("it runs");
        let stat = Stat::parse(&line).expect("fields");
        let in_stat = stat
            .seconds(14)
            .zip(stat.seconds(15))
            .map(|(user, system)| user + system);
        assert!(in_stat >= Some(before), "{in_stat:?} {before}");
        assert_eq!((cpu_seconds(0), cpu_seconds(u32::MAX >> 1)), (None, None));
    }
}
