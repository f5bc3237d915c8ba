//! The scheduler's word on who took the CPU from whom: context switches through perf_event_open.
//!
//! Of a switch the kernel says whether the thread could have gone on (it was pre-empted) or had to wait, and
//! who came next. That is what the tracepoint sched_switch says, without the file system that tracepoints need.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;

use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler};

/// Of each CPU's ring of records, the largest that is allowed: a record has 32 bytes, and two belong to a switch, so
/// that the largest holds 65,000 switches. Without rights it is perf_event_mlock_kb, 516 KiB, that limits.
const RING_BYTES: [usize; 3] = [4 << 20, 256 << 10, 64 << 10];

/// Of each thread: what a statement of minutes may come to. The oldest go first.
const KEPT: usize = 100_000;

/// Records of the kernel, and their flags; linux/perf_event.h.
const RECORD_LOST: u32 = 2;
const RECORD_SWITCH_CPU_WIDE: u32 = 15;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// A thread lost its CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preemption {
    /// When, on CLOCK_MONOTONIC, in nanoseconds.
    pub at_ns: i128,
    /// The command that got it.
    pub by: String,
}

/// The switches of all CPUs.
pub struct Switches {
    samplers: Vec<Sampler>,
    /// Pre-emptions of the server's threads, by thread of the system.
    of: HashMap<u32, VecDeque<Preemption>>,
    /// Commands by thread of the system: whoever ends soon is gone before it is asked about.
    commands: HashMap<u32, String>,
    /// Records that found no room.
    pub lost: u64,
}

impl Switches {
    /// Begins, for the threads of a process.
    ///
    /// # Errors
    /// A plain sentence on why not.
    pub fn start() -> Result<Self, String> {
        let mut samplers = Vec::new();
        for cpu in cpus() {
            samplers.push(sampler(cpu).map_err(|error| refused(&error))?);
        }
        Ok(Self {
            samplers,
            of: HashMap::new(),
            commands: HashMap::new(),
            lost: 0,
        })
    }

    /// Takes in what the kernel has written, of these threads.
    pub fn read(&mut self, is_ours: impl Fn(u32) -> bool) {
        for sampler in &mut self.samplers {
            while let Some(record) = sampler.next_record() {
                let (kind, misc, data) = (record.ty(), record.misc(), record.to_contiguous());
                match kind {
                    RECORD_LOST => self.lost += number::<8>(&data, 8).unwrap_or(1),
                    RECORD_SWITCH_CPU_WIDE
                        if misc & MISC_SWITCH_OUT != 0 && misc & MISC_SWITCH_OUT_PREEMPT != 0 =>
                    {
                        let Some(switch) = Switch::parse(&data) else {
                            continue;
                        };
                        if !is_ours(switch.thread) {
                            continue;
                        }
                        let command = self
                            .commands
                            .entry(switch.next)
                            .or_insert_with(|| command(switch.next_process, switch.next));
                        let switches = self.of.entry(switch.thread).or_default();
                        if switches.len() >= KEPT {
                            switches.pop_front();
                        }
                        switches.push_back(Preemption {
                            at_ns: switch.at_ns,
                            by: command.clone(),
                        });
                    }
                    _ => {}
                }
            }
        }
    }

    /// Who took the CPU from this thread between these times. What came before is forgotten: a thread's statements
    /// are asked about one after the other.
    pub fn during(&mut self, thread: u32, from_ns: i128, to_ns: i128) -> Vec<Preemption> {
        let Some(switches) = self.of.get_mut(&thread) else {
            return Vec::new();
        };
        while switches
            .front()
            .is_some_and(|switch| switch.at_ns < from_ns)
        {
            switches.pop_front();
        }
        switches
            .iter()
            .take_while(|switch| switch.at_ns <= to_ns)
            .cloned()
            .collect()
    }
}

fn sampler(cpu: usize) -> io::Result<Sampler> {
    let mut builder = Builder::new(Software::DUMMY);
    builder
        .any_pid()
        .one_cpu(cpu)
        .context_switch(true)
        .sample_id_all(true);
    builder
        .sample(SampleFlag::TID | SampleFlag::TIME)
        .clockid(Clock::MONOTONIC)
        .wakeup_events(1_000);
    let mut tried = Err(io::Error::other("no size was tried"));
    for bytes in RING_BYTES {
        tried = builder.build().and_then(|counter| counter.sampled(bytes));
        if tried.is_ok() {
            break;
        }
    }
    let mut sampler = tried?;
    sampler.enable()?;
    Ok(sampler)
}

/// A switch away from a thread that could have gone on.
#[derive(Debug, PartialEq, Eq)]
struct Switch {
    thread: u32,
    next_process: u32,
    next: u32,
    at_ns: i128,
}

impl Switch {
    /// The next process and thread; then, because of sample_id_all: this process, this thread, the time.
    fn parse(data: &[u8]) -> Option<Self> {
        let word = |at: usize| number::<4>(data, at).map(|word| word as u32);
        Some(Self {
            next_process: word(0)?,
            next: word(4)?,
            thread: word(12)?,
            at_ns: number::<8>(data, 16)?.into(),
        })
    }
}

/// A little-endian number of so many bytes.
fn number<const BYTES: usize>(data: &[u8], at: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[..BYTES].copy_from_slice(data.get(at..at + BYTES)?);
    Some(u64::from_le_bytes(bytes))
}

/// A thread's name, with its process's where they differ.
fn command(process: u32, thread: u32) -> String {
    let name = |path: String| {
        fs::read_to_string(path)
            .ok()
            .map(|name| name.trim_end().to_owned())
    };
    let own = name(format!("/proc/{process}/task/{thread}/comm"));
    own.or_else(|| name(format!("/proc/{process}/comm")))
        .unwrap_or_else(|| "(ended since)".to_owned())
}

/// The CPUs that run.
fn cpus() -> Vec<usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_else(|_| "0".into());
    text.trim()
        .split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.parse().ok()?..=last.parse().ok()?)
        })
        .flatten()
        .collect()
}

fn refused(error: &io::Error) -> String {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let level = level.trim();
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied if !level.is_empty() => format!(
            "; kernel.perf_event_paranoid is {level}: run as root, give tare the capability cap_perfmon, or set it to 0"
        ),
        _ => String::new(),
    };
    format!("the kernel does not allow tare to observe context switches: {error}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(words: [u32; 4], at: u64) -> Vec<u8> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(at.to_le_bytes());
        bytes
    }

    #[test]
    fn a_switch_says_who_went_and_who_came() {
        let expected = Switch {
            thread: 11,
            next_process: 20,
            next: 21,
            at_ns: 99,
        };
        assert_eq!(Switch::parse(&record([20, 21, 10, 11], 99)), Some(expected));
        assert_eq!(Switch::parse(&[0; 23]), None);
    }

    #[test]
    fn switches_belong_to_the_statement_that_ran() {
        let mut switches = Switches {
            samplers: Vec::new(),
            of: HashMap::new(),
            commands: HashMap::new(),
            lost: 0,
        };
        let at = |at_ns| Preemption {
            at_ns,
            by: "cc1".into(),
        };
        switches
            .of
            .insert(7, [at(5), at(10), at(20), at(30)].into());
        assert_eq!(switches.during(7, 10, 20), [at(10), at(20)]);
        assert_eq!(switches.during(7, 21, 29), []);
        assert_eq!(switches.during(7, 30, 40), [at(30)]);
        assert_eq!(switches.during(8, 0, 100), []);
    }
}
