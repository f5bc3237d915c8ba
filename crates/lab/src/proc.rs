//! CPU, memory and context switches of processes and of the machine, from /proc.

use std::collections::BTreeMap;
use std::fs;

use tare_reader::process::{self, cpu_seconds, stat_line};

use crate::cell::{Cpu, MachineCpu};

/// Fields of /proc/PID/stat.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stat {
    /// User time in seconds.
    pub user: f64,
    /// System time in seconds.
    pub system: f64,
    /// User time of children that it has waited for.
    pub children_user: f64,
    /// System time of children that it has waited for.
    pub children_system: f64,
    /// Mapped memory.
    pub virtual_kib: u64,
    /// Resident memory.
    pub resident_kib: u64,
}

/// Reads /proc/PID/stat, which a zombie has, too; `None` if there is no such process.
pub fn stat(pid: u32) -> Option<Stat> {
    let line = stat_line(pid).ok()?;
    let stat = process::Stat::parse(&line)?;
    Some(Stat {
        user: stat.seconds(14)?,
        system: stat.seconds(15)?,
        children_user: stat.seconds(16)?,
        children_system: stat.seconds(17)?,
        virtual_kib: stat.number(23)? / 1024,
        resident_kib: stat.number(24)? * rustix::param::page_size() as u64 / 1024,
    })
}

/// Resident KiB of the mappings of Tare's segment in a process; `None` if it has none.
pub fn segment_kib(pid: u32) -> Option<f64> {
    let maps = fs::read_to_string(format!("/proc/{pid}/smaps")).ok()?;
    let (mut within, mut sum) = (false, None);
    for line in maps.lines() {
        let first = line.split(' ').next().unwrap_or_default();
        match line.strip_prefix("Rss:") {
            Some(rest) if within => {
                let kib: f64 = rest.trim().trim_end_matches(" kB").parse().ok()?;
                *sum.get_or_insert(0.0) += kib;
            }
            // The line of a mapping begins with addresses; the lines about it begin with a name and a colon.
            None if !first.ends_with(':') => within = line.contains("memfd:tare"),
            _ => {}
        }
    }
    sum
}

/// The CPU that a process has used, ended threads included.
pub fn cpu(pid: u32) -> Option<Cpu> {
    let stat = stat(pid)?;
    Some(Cpu {
        seconds: cpu_seconds(pid).unwrap_or(stat.user + stat.system),
        user: stat.user,
        system: stat.system,
    })
}

/// The same, including the children that the process waited for: a shell's own CPU excludes its commands.
pub fn cpu_with_children(pid: u32) -> Option<Cpu> {
    let (own, stat) = (cpu(pid)?, stat(pid)?);
    Some(Cpu {
        seconds: own.seconds + stat.children_user + stat.children_system,
        user: own.user + stat.children_user,
        system: own.system + stat.children_system,
    })
}

/// The CPU that a process and all processes below it have used, with those that have ended and were waited for.
pub fn cpu_of_tree(pid: u32) -> Option<Cpu> {
    // A process that ends while its parent was read already is in neither: the list differs then.
    const MAX_READINGS: u32 = 5;
    let mut below = descendants(pid);
    let mut sum = None;
    for _ in 0..MAX_READINGS {
        let mut cpu = cpu_with_children(pid)?;
        for more in below.iter().filter_map(|&pid| cpu_with_children(pid)) {
            cpu += more;
        }
        sum = Some(cpu);
        let now = descendants(pid);
        if now == below {
            break;
        }
        below = now;
    }
    sum
}

/// All processes below a process.
fn descendants(pid: u32) -> Vec<u32> {
    let mut below = process::children(pid);
    let mut next = 0;
    while let Some(&child) = below.get(next) {
        below.extend(process::children(child));
        next += 1;
    }
    below
}

impl std::ops::AddAssign for Cpu {
    fn add_assign(&mut self, more: Self) {
        self.seconds += more.seconds;
        self.user += more.user;
        self.system += more.system;
    }
}

impl std::ops::Sub for Cpu {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            seconds: self.seconds - before.seconds,
            user: self.user - before.user,
            system: self.system - before.system,
        }
    }
}

/// Voluntary and involuntary context switches of each thread of a process.
pub fn switches(pid: u32) -> BTreeMap<u32, (u64, u64)> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let of_task = |entry: fs::DirEntry| {
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let number = |key: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            line.trim().parse().ok()
        };
        let task = entry.file_name().to_str()?.parse().ok()?;
        Some((
            task,
            (
                number("voluntary_ctxt_switches:")?,
                number("nonvoluntary_ctxt_switches:")?,
            ),
        ))
    };
    tasks.filter_map(of_task).collect()
}

/// The whole machine's counters, or what they grew by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine {
    user: f64,
    system: f64,
    idle: f64,
    stolen: f64,
    /// Context switches.
    pub switches: u64,
}

/// The machine's processors, whichever of them this process may use: it is all of them that /proc/stat
/// sums up.
pub fn processors() -> usize {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    count_processors(&text).max(1)
}

fn count_processors(text: &str) -> usize {
    let one = |line: &str| {
        let rest = line.strip_prefix("cpu");
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.lines().filter(|line| one(line)).count()
}

/// Reads /proc/stat.
pub fn machine() -> Machine {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    parse_machine(&text)
}

fn parse_machine(text: &str) -> Machine {
    let mut machine = Machine::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("cpu") => {
                let ticks: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
                let tick = |at: usize| ticks.get(at).copied().unwrap_or(0.0);
                // user nice system idle iowait irq softirq steal
                machine.user = tick(0) + tick(1);
                machine.system = tick(2) + tick(5) + tick(6);
                machine.idle = tick(3) + tick(4);
                machine.stolen = tick(7);
            }
            Some("ctxt") => {
                machine.switches = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
            }
            _ => {}
        }
    }
    machine
}

impl Machine {
    /// Splits a difference into percents.
    pub fn split(self) -> MachineCpu {
        let parts = [self.user, self.system, self.idle, self.stolen];
        let all: f64 = parts.iter().sum();
        let [user, system, idle, stolen] = parts.map(|part| 100.0 * part / all.max(1.0));
        MachineCpu {
            user,
            system,
            idle,
            stolen,
        }
    }
}

impl std::ops::Sub for Machine {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            user: self.user - before.user,
            system: self.system - before.system,
            idle: self.idle - before.idle,
            stolen: self.stolen - before.stolen,
            switches: self.switches.saturating_sub(before.switches),
        }
    }
}

impl std::ops::AddAssign for Machine {
    fn add_assign(&mut self, more: Self) {
        self.user += more.user;
        self.system += more.system;
        self.idle += more.idle;
        self.stolen += more.stolen;
        self.switches += more.switches;
    }
}

/// Processes whose command lines contain a text.
pub fn with_command(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            String::from_utf8_lossy(&line)
                .replace('\0', " ")
                .contains(text)
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, Write as _};

    use super::*;

    #[test]
    fn the_cpu_of_processes_below_counts_while_they_run_and_afterwards() {
        let script = "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo; read line'; echo; read line";
        let mut shell = std::process::Command::new("sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut lines = std::io::BufReader::new(shell.stdout.take().expect("piped")).lines();
        let pid = shell.id();
        let mut read = || {
            lines.next().expect("a line").expect("text");
            let (own, all) = (cpu(pid), cpu_of_tree(pid));
            (own.expect("runs").seconds, all.expect("runs").seconds)
        };
        let (own, all) = read();
        assert!(all > own + 0.01, "{all}, {own}");
        let mut stdin = shell.stdin.take().expect("piped");
        stdin.write_all(b"\n").expect("written");
        let (own, later) = read();
        assert!(later > own + 0.01 && later >= all - 0.02, "{all}, {later}");
        drop(stdin);
        shell.wait().expect("ends");
    }

    #[test]
    fn cpu_and_memory_of_this_process_are_read() {
        let pid = std::process::id();
        let before = cpu(pid).expect("we run");
        let mut x = 0u64;
        while cpu(pid).expect("we run").seconds - before.seconds < 0.03 {
            x = std::hint::black_box(x + 1);
        }
        let used = cpu(pid).expect("we run") - before;
        // The split is in steps of 10 ms; other tests of this process use CPU, too.
        assert!(used.user + used.system <= used.seconds + 0.04, "{used:?}");
        let stat = stat(pid).expect("we run");
        assert!(stat.resident_kib > 0 && stat.virtual_kib >= stat.resident_kib);
        assert!(!switches(pid).is_empty());
    }

    #[test]
    fn all_processors_of_the_machine_are_counted() {
        let text = "cpu  1 2 3\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n";
        assert_eq!(count_processors(text), 2);
        let ours = std::thread::available_parallelism().map_or(1, usize::from);
        assert!(processors() >= ours);
    }

    #[test]
    fn the_machines_time_is_split_into_percents() {
        let before = parse_machine("cpu  100 10 50 800 40 5 5 0 0 0\nctxt 1000\n");
        let after = parse_machine("cpu  150 10 70 810 50 5 5 10 0 0\nctxt 1500\n");
        let mut grown = after - before;
        let split = grown.split();
        assert_eq!(
            (split.user, split.system, split.idle, split.stolen),
            (50.0, 20.0, 20.0, 10.0)
        );
        assert_eq!(grown.switches, 500);
        grown += after - before;
        assert_eq!((grown.split().user, grown.switches), (50.0, 1_000));
    }
}
