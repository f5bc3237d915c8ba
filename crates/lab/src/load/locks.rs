//! Threads that take one lock of Tare, pthreads, std or parking_lot. A separate process (a hidden
//! subcommand of `tare`) runs them, so that their CPU can be measured.

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex as StdMutex};
use std::time::{Duration, Instant};

use super::LoadReport;
use crate::cell::Latency;

/// The subcommand.
pub const COMMAND: &str = "weigh-locks";

tare::classes! {
    /// The lock that recipe `locks` weighs.
    static LOCK_WEIGHED: Mutex = "wait/synch/mutex/tare/LOCK_weighed";
}

/// The options of the subcommand.
#[derive(Debug, Clone)]
pub struct Request {
    /// tare, tare-counted, pthread, std or parking_lot.
    pub lock: String,
    /// Threads.
    pub threads: u32,
    /// Seconds.
    pub seconds: u32,
    /// Nanoseconds of work while it is held.
    pub hold_ns: u64,
    /// Nanoseconds of work before it is taken again.
    pub outside_ns: u64,
}

/// The locks that can be weighed.
pub const LOCKS: [&str; 5] = ["tare", "tare-counted", "pthread", "std", "parking_lot"];

/// A lock that guards the number of acquisitions, which is wrong if the lock does not exclude.
trait Lock: Sync {
    fn with(&self, work: impl FnOnce(&mut u64));
}

impl Lock for tare::sync::Mutex<u64> {
    #[inline]
    fn with(&self, work: impl FnOnce(&mut u64)) {
        work(&mut self.lock());
    }
}

impl Lock for StdMutex<u64> {
    #[inline]
    fn with(&self, work: impl FnOnce(&mut u64)) {
        work(
            &mut self
                .lock()
                .expect("no thread panics while it holds the lock"),
        );
    }
}

impl Lock for parking_lot::Mutex<u64> {
    #[inline]
    fn with(&self, work: impl FnOnce(&mut u64)) {
        work(&mut self.lock());
    }
}

/// A pthread mutex at an address that does not change.
struct Pthread {
    raw: UnsafeCell<libc::pthread_mutex_t>,
    value: UnsafeCell<u64>,
}

// SAFETY: a pthread mutex may be used by several threads, and only the holder of `raw` accesses `value`.
unsafe impl Sync for Pthread {}

impl Lock for Box<Pthread> {
    #[inline]
    fn with(&self, work: impl FnOnce(&mut u64)) {
        // SAFETY: initialised statically, boxed so that it never moves, and unlocked by who locked it;
        // `work` does not panic, and between the two calls nobody else touches `value`.
        unsafe {
            libc::pthread_mutex_lock(self.raw.get());
            work(&mut *self.value.get());
            libc::pthread_mutex_unlock(self.raw.get());
        }
    }
}

/// Runs the threads and prints how often each acquired the lock.
///
/// # Errors
/// An unknown lock, or one that let two threads in at once.
pub fn main(request: &Request) -> Result<ExitCode, String> {
    let report = match request.lock.as_str() {
        "tare" => weigh(request, &tare::sync::Mutex::new(&LOCK_WEIGHED, 0)),
        "tare-counted" => {
            let config = tare::Config::everything();
            tare::start(config).map_err(|error| error.to_string())?;
            weigh(request, &tare::sync::Mutex::new(&LOCK_WEIGHED, 0))
        }
        "std" => weigh(request, &StdMutex::new(0)),
        "parking_lot" => weigh(request, &parking_lot::Mutex::new(0)),
        "pthread" => {
            let lock = Pthread {
                raw: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
                value: UnsafeCell::new(0),
            };
            weigh(request, &Box::new(lock))
        }
        other => return Err(format!("no lock '{other}'; there are {}", LOCKS.join(", "))),
    }?;
    println!(
        "{}",
        serde_json::to_string(&report).map_err(|error| error.to_string())?
    );
    Ok(ExitCode::SUCCESS)
}

/// The printed report.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Report {
    seconds: f64,
    acquired: Vec<u64>,
}

fn weigh(request: &Request, lock: &impl Lock) -> Result<Report, String> {
    let turns = turns_per_ns();
    let turns = |ns: u64| (ns as f64 * turns) as u64;
    let (hold, outside) = (turns(request.hold_ns), turns(request.outside_ns));
    let stop = AtomicBool::new(false);
    let begin = Barrier::new(request.threads as usize + 1);
    let (seconds, acquired) = std::thread::scope(|scope| {
        let run = || {
            begin.wait();
            let mut acquired = 0u64;
            while !stop.load(Ordering::Relaxed) {
                lock.with(|value| {
                    *value += 1;
                    work(hold);
                });
                acquired += 1;
                work(outside);
            }
            acquired
        };
        let threads: Vec<_> = (0..request.threads).map(|_| scope.spawn(run)).collect();
        begin.wait();
        let start = Instant::now();
        std::thread::sleep(Duration::from_secs(request.seconds.into()));
        stop.store(true, Ordering::Relaxed);
        let acquired: Vec<u64> = threads
            .into_iter()
            .map(|thread| thread.join().expect("it does not panic"))
            .collect();
        (start.elapsed().as_secs_f64(), acquired)
    });
    let mut value = 0;
    lock.with(|held| value = *held);
    match value == acquired.iter().sum::<u64>() {
        true => Ok(Report { seconds, acquired }),
        false => Err(format!(
            "lock '{}' let two threads in at once",
            request.lock
        )),
    }
}

/// A delay of so many turns of a loop.
#[inline]
fn work(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

/// The turns of [`work`] in a nanosecond.
fn turns_per_ns() -> f64 {
    const TURNS: u64 = 2_000_000;
    let once = || {
        let start = Instant::now();
        work(TURNS);
        TURNS as f64 / start.elapsed().as_nanos() as f64
    };
    // The fastest measurement was interrupted least.
    (0..5).map(|_| once()).fold(0.0, f64::max)
}

/// Parses the printed report.
pub(super) fn parse(output: &str) -> Result<LoadReport, String> {
    let report: Report = serde_json::from_str(output.trim())
        .map_err(|error| format!("printed no figures: {error}"))?;
    let all: u64 = report.acquired.iter().sum();
    if all == 0 {
        return Err("never got the lock".into());
    }
    let mean_ms = 1e3 * report.seconds * report.acquired.len() as f64 / all as f64;
    Ok(LoadReport {
        seconds: report.seconds,
        transactions: all as f64,
        // The time between two acquisitions of a thread.
        latency: Some(Latency {
            mean_ms,
            ..Latency::default()
        }),
        figure: Some(fairness(&report.acquired)),
        ..LoadReport::default()
    })
}

/// Jain's index: 1 if all shares are equal, 1/n if one thread has all.
pub fn fairness(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_jains_index() {
        assert_eq!(fairness(&[5, 5, 5, 5]), 1.0);
        assert_eq!(fairness(&[8, 0, 0, 0]), 0.25);
    }

    #[test]
    fn every_lock_excludes_and_reports_acquisitions_by_thread() {
        for lock in ["tare", "pthread", "std", "parking_lot"] {
            let request = Request {
                lock: lock.into(),
                threads: 3,
                seconds: 0,
                hold_ns: 10,
                outside_ns: 10,
            };
            // No time at all: a thread may have got it or not, and what it got adds up.
            assert!(main(&request).is_ok(), "{lock}");
        }
        let driven = parse("{\"seconds\":2.0,\"acquired\":[30,10]}").expect("figures");
        assert_eq!((driven.transactions, driven.figure), (40.0, Some(0.8)));
        assert!(parse("").is_err() && parse("{\"seconds\":1.0,\"acquired\":[0]}").is_err());
    }
}
