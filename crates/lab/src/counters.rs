//! The processor's counters of a process: instructions, cycles, cache and TLB misses. Many virtual machines have none.

use std::fs;
use std::io;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware};
use perf_event::{Builder, Counter, ReadFormat};
use serde::{Deserialize, Serialize};

/// More threads than this are not counted: each takes four descriptors.
const THREADS: usize = 200;

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Instructions that were retired.
    pub instructions: f64,
    /// Cycles of the processor.
    pub cycles: f64,
    /// Misses of the last cache.
    pub cache_misses: f64,
    /// Loads whose page was not in the TLB.
    pub tlb_misses: f64,
}

/// The counters of all threads of a process, and of those that they start.
#[derive(Debug)]
pub struct Counters(Vec<[Counter; 4]>);

impl Counters {
    /// Counts from now on.
    ///
    /// # Errors
    /// The machine has none, or they are not for us.
    pub fn of(pid: u32) -> io::Result<Self> {
        let tasks: Vec<i32> = fs::read_dir(format!("/proc/{pid}/task"))?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        if tasks.len() > THREADS {
            return Err(io::Error::other("too many threads to count"));
        }
        // What the server does in the kernel is its cost, too, where we may see that.
        let all = |kernel: bool| tasks.iter().map(|task| of_task(*task, kernel)).collect();
        let counters: io::Result<Vec<_>> = all(true);
        counters.or_else(|_| all(false)).map(Self)
    }

    /// What they have counted.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read(&mut self) -> io::Result<Counts> {
        let mut sums = [0.0; 4];
        for task in &mut self.0 {
            for (sum, counter) in sums.iter_mut().zip(task) {
                *sum += scaled(counter)?;
            }
        }
        let [instructions, cycles, cache_misses, tlb_misses] = sums;
        Ok(Counts {
            instructions,
            cycles,
            cache_misses,
            tlb_misses,
        })
    }
}

/// Why this machine cannot count; none where it can.
pub fn missing() -> Option<String> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    of_task(own, false).err().map(|error| error.to_string())
}

fn of_task(task: i32, kernel: bool) -> io::Result<[Counter; 4]> {
    let tlb = Cache {
        which: CacheId::DTLB,
        operation: CacheOp::READ,
        result: CacheResult::MISS,
    };
    let dress = |builder: &mut Builder| -> io::Result<Counter> {
        let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
        builder
            .observe_pid(task)
            .any_cpu()
            .inherit(true)
            .enabled(true);
        builder.read_format(times).exclude_kernel(!kernel);
        builder.build()
    };
    Ok([
        dress(&mut Builder::new(Hardware::INSTRUCTIONS))?,
        dress(&mut Builder::new(Hardware::CPU_CYCLES))?,
        dress(&mut Builder::new(Hardware::CACHE_MISSES))?,
        dress(&mut Builder::new(tlb))?,
    ])
}

/// Where events take turns on the counters, the count is that of a part of the time.
fn scaled(counter: &mut Counter) -> io::Result<f64> {
    let data = counter.read_full()?;
    let times = data.time_enabled().zip(data.time_running());
    let part = times.map_or(1.0, |(enabled, running)| {
        enabled.as_secs_f64() / running.as_secs_f64().max(1e-9)
    });
    Ok(data.count() as f64 * part.max(1.0))
}

impl std::ops::Sub for Counts {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            instructions: self.instructions - before.instructions,
            cycles: self.cycles - before.cycles,
            cache_misses: self.cache_misses - before.cache_misses,
            tlb_misses: self.tlb_misses - before.tlb_misses,
        }
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            instructions: sum.instructions + one.instructions,
            cycles: sum.cycles + one.cycles,
            cache_misses: sum.cache_misses + one.cache_misses,
            tlb_misses: sum.tlb_misses + one.tlb_misses,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_are_counters_a_loop_is_counted_and_elsewhere_a_reason_is_given() {
        match Counters::of(std::process::id()) {
            Ok(mut counters) => {
                let before = counters.read().expect("read");
                let mut sum = 0u64;
                for addend in 0..1_000_000 {
                    sum = std::hint::black_box(sum + addend);
                }
                let counted = counters.read().expect("read") - before;
                assert!(
                    counted.instructions >= 1e6 && counted.cycles > 0.0,
                    "{counted:?}"
                );
                assert_eq!(missing(), None);
            }
            Err(error) => {
                println!("no counters here: {error}");
                assert!(missing().is_some_and(|why| !why.is_empty()));
            }
        }
    }
}
