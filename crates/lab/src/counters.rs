//! Hardware counters of a process: instructions, cycles, cache and TLB misses. Many virtual machines
//! have none.

use std::fs;
use std::io;
use std::time::Duration;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Event, Hardware};
use perf_event::{Builder, Counter, ReadFormat};
use serde::{Deserialize, Serialize};

/// The most threads that are counted: each takes four file descriptors.
const THREADS: usize = 200;

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Retired instructions.
    pub instructions: f64,
    /// Cycles.
    pub cycles: f64,
    /// Misses of the last-level cache.
    pub cache_misses: f64,
    /// Data TLB misses of loads.
    pub tlb_misses: f64,
}

/// The counters of all threads of a process, and of those that they start.
#[derive(Debug)]
pub struct Counters(Vec<[Counter; 4]>);

impl Counters {
    /// Opens the counters of a process, which count from now on.
    ///
    /// # Errors
    /// The machine has no counters, or this process may not read them.
    pub fn of(pid: u32) -> io::Result<Self> {
        Self::opened(pid, of_task)
    }

    /// Opens the counters of each thread, with the kernel's part if that is allowed.
    fn opened(pid: u32, open: fn(i32, bool) -> io::Result<[Counter; 4]>) -> io::Result<Self> {
        let tasks: Vec<i32> = fs::read_dir(format!("/proc/{pid}/task"))?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        if tasks.len() > THREADS {
            return Err(io::Error::other("too many threads to count"));
        }
        // The server's time in the kernel is part of its cost.
        let all = |kernel: bool| tasks.iter().map(|task| open(*task, kernel)).collect();
        let counters: io::Result<Vec<_>> = all(true);
        counters.or_else(|_| all(false)).map(Self)
    }

    /// The sums over all threads.
    ///
    /// # Errors
    /// A counter cannot be read.
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

/// Why this machine has no counters; `None` where it has.
pub fn unavailable_reason() -> Option<String> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    of_task(own, false).err().map(|error| error.to_string())
}

fn of_task(task: i32, kernel: bool) -> io::Result<[Counter; 4]> {
    let tlb = Cache {
        which: CacheId::DTLB,
        operation: CacheOp::READ,
        result: CacheResult::MISS,
    };
    Ok([
        counting(task, kernel, Hardware::INSTRUCTIONS)?,
        counting(task, kernel, Hardware::CPU_CYCLES)?,
        counting(task, kernel, Hardware::CACHE_MISSES)?,
        counting(task, kernel, tlb)?,
    ])
}

/// A counter of a thread and of those that it starts.
fn counting(task: i32, kernel: bool, event: impl Event) -> io::Result<Counter> {
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let mut builder = Builder::new(event);
    builder
        .observe_pid(task)
        .any_cpu()
        .inherit(true)
        .enabled(true);
    builder.read_format(times).exclude_kernel(!kernel);
    builder.build()
}

/// Reads a counter. Events that share a hardware counter run only part of the time, so the count is
/// scaled.
fn scaled(counter: &mut Counter) -> io::Result<f64> {
    let data = counter.read_full()?;
    let times = data.time_enabled().zip(data.time_running());
    Ok(scale_up(data.count(), times))
}

/// Scales a count from the time that the event ran to the time that it was enabled.
fn scale_up(count: u64, times: Option<(Duration, Duration)>) -> f64 {
    let part = times.map_or(1.0, |(enabled, running)| {
        enabled.as_secs_f64() / running.as_secs_f64().max(1e-9)
    });
    count as f64 * part.max(1.0)
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

    /// The kernel's own counts, which machines without the processor's have.
    fn of_the_kernel(task: i32, kernel: bool) -> io::Result<[Counter; 4]> {
        use perf_event::events::Software;
        Ok([
            counting(task, kernel, Software::TASK_CLOCK)?,
            counting(task, kernel, Software::PAGE_FAULTS)?,
            counting(task, kernel, Software::CONTEXT_SWITCHES)?,
            counting(task, kernel, Software::DUMMY)?,
        ])
    }

    #[test]
    fn counters_are_summed_over_threads() {
        let counters = Counters::opened(std::process::id(), of_the_kernel);
        let mut counters = match counters {
            Ok(counters) => counters,
            // A sandbox that has no perf_event_open at all: the fields below are then all that is
            // checked.
            Err(error) => return println!("perf_event_open is not for us here: {error}"),
        };
        assert!(!counters.0.is_empty());
        let before = counters.read().expect("read");
        let touched = std::thread::spawn(|| {
            let mut pages = vec![0u8; 4 << 20];
            pages.iter_mut().step_by(4096).for_each(|page| *page += 1);
            std::hint::black_box(pages).len()
        });
        assert_eq!(touched.join().expect("ended"), 4 << 20);
        let counted = counters.read().expect("read") - before;
        // CPU in the first place, in nanoseconds, and page faults in the second: of the thread that was
        // started since, too.
        assert!(counted.instructions > 0.0, "{counted:?}");
        assert!(counted.cycles >= 1.0, "{counted:?}");
        assert_eq!(counted.tlb_misses, 0.0);
    }

    #[test]
    fn multiplexed_counts_are_scaled_to_the_enabled_time() {
        let ms = Duration::from_millis;
        assert_eq!(scale_up(100, Some((ms(40), ms(10)))), 400.0);
        assert_eq!(scale_up(100, Some((ms(40), ms(40)))), 100.0);
        assert_eq!(scale_up(100, None), 100.0);
        let counts = |n: f64| Counts {
            instructions: n,
            cycles: 2.0 * n,
            cache_misses: 3.0 * n,
            tlb_misses: 4.0 * n,
        };
        assert_eq!(
            [counts(1.0), counts(2.0)].into_iter().sum::<Counts>(),
            counts(3.0)
        );
        assert_eq!(counts(3.0) - counts(1.0), counts(2.0));
    }

    #[test]
    fn a_loop_is_counted_or_a_reason_given() {
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
                assert_eq!(unavailable_reason(), None);
            }
            Err(error) => {
                println!("no counters here: {error}");
                assert!(unavailable_reason().is_some_and(|why| !why.is_empty()));
            }
        }
    }
}
