//! Context switches of all CPUs, through perf_event_open.
//!
//! For each switch the kernel reports whether the thread was pre-empted or had to wait, and the next
//! thread. The tracepoint sched_switch has the same data but needs tracefs.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;

use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag, Sampler};

/// Sizes of each CPU's ring of records, of which the largest permitted one is used. A switch has two
/// records of 32 bytes, so that the largest ring holds 65,000 switches. Without privileges
/// perf_event_mlock_kb, 516 KiB, is the limit.
const RING_BYTES: [usize; 3] = [4 << 20, 256 << 10, 64 << 10];

/// Switches that are stored for each thread, enough for a statement of minutes. The oldest are dropped.
const MAX_SWITCHES: usize = 100_000;

/// Record types and flags of linux/perf_event.h.
const RECORD_LOST: u32 = 2;
const RECORD_SWITCH_CPU_WIDE: u32 = 15;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// A thread lost its CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preemption {
    /// Its time on CLOCK_MONOTONIC, in nanoseconds.
    pub at_ns: i128,
    /// The command that got the CPU.
    pub by: String,
}

/// The switches of all CPUs.
pub struct Switches {
    samplers: Vec<Sampler>,
    /// Pre-emptions of the server's threads, by the system's thread id.
    by_thread: HashMap<u32, VecDeque<Preemption>>,
    /// Commands by the system's thread id, stored because a thread may end before its name is needed.
    commands: HashMap<u32, String>,
    /// Records that did not fit into a ring.
    pub lost: u64,
}

impl Switches {
    /// Opens a ring for each CPU.
    ///
    /// # Errors
    /// A sentence that says why that is not possible.
    pub fn start() -> Result<Self, String> {
        let mut samplers = Vec::new();
        for cpu in cpus() {
            samplers.push(sampler(cpu).map_err(|error| explain_refusal(&error))?);
        }
        Ok(Self {
            samplers,
            by_thread: HashMap::new(),
            commands: HashMap::new(),
            lost: 0,
        })
    }

    /// Reads the records about these threads.
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
                        let switches = self.by_thread.entry(switch.thread).or_default();
                        if switches.len() >= MAX_SWITCHES {
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

    /// The pre-emptions of this thread between these times. Earlier ones are dropped, because a
    /// thread's statements are looked up in order.
    pub fn during(&mut self, thread: u32, from_ns: i128, to_ns: i128) -> Vec<Preemption> {
        let Some(switches) = self.by_thread.get_mut(&thread) else {
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
    let mut result = Err(io::Error::other("no size was tried"));
    for bytes in RING_BYTES {
        result = builder.build().and_then(|counter| counter.sampled(bytes));
        if result.is_ok() {
            break;
        }
    }
    let mut sampler = result?;
    sampler.enable()?;
    Ok(sampler)
}

/// A switch away from a runnable thread.
#[derive(Debug, PartialEq, Eq)]
struct Switch {
    thread: u32,
    next_process: u32,
    next: u32,
    at_ns: i128,
}

impl Switch {
    /// Parses a record: the next process and thread; then, because of sample_id_all, this process,
    /// thread and time.
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

/// Reads a little-endian number.
fn number<const BYTES: usize>(data: &[u8], at: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[..BYTES].copy_from_slice(data.get(at..at + BYTES)?);
    Some(u64::from_le_bytes(bytes))
}

/// The name of a thread, or else of its process.
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

/// The CPUs that are online.
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

fn explain_refusal(error: &io::Error) -> String {
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
    fn a_switch_has_the_previous_and_the_next_thread() {
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
            by_thread: HashMap::new(),
            commands: HashMap::new(),
            lost: 0,
        };
        let at = |at_ns| Preemption {
            at_ns,
            by: "cc1".into(),
        };
        switches
            .by_thread
            .insert(7, [at(5), at(10), at(20), at(30)].into());
        assert_eq!(switches.during(7, 10, 20), [at(10), at(20)]);
        assert_eq!(switches.during(7, 21, 29), []);
        assert_eq!(switches.during(7, 30, 40), [at(30)]);
        assert_eq!(switches.during(8, 0, 100), []);
    }
}
