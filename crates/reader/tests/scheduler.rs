//! What the scheduler says of this process's own threads, and of threads with an instrumented statement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tare_reader::scheduler::{Scheduler, State};

/// The tests use all processors.
static EXCLUSIVE: Mutex<()> = Mutex::new(());

fn thread_id() -> u64 {
    // SAFETY: gettid has no arguments and cannot fail.
    u64::from(unsafe { libc::gettid() }.unsigned_abs())
}

/// Threads that each call `work` until they are stopped.
struct Threads {
    ids: Vec<u64>,
    stop: Arc<AtomicBool>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    fn start(count: usize, work: fn()) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, ids) = channel();
        let handles = (0..count).map(|_| {
            let (stop, sender) = (Arc::clone(&stop), sender.clone());
            thread::spawn(move || {
                sender.send(thread_id()).expect("received");
                while !stop.load(Ordering::Relaxed) {
                    work();
                }
            })
        });
        Self {
            handles: handles.collect(),
            ids: ids.iter().take(count).collect(),
            stop,
        }
    }

    /// CPU time and run delay of the threads in nanoseconds.
    fn accounting(&self) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for id in &self.ids {
            let text = std::fs::read_to_string(format!("/proc/self/task/{id}/schedstat"));
            let text = text.expect("readable");
            for (sum, field) in sums.iter_mut().zip(text.split_whitespace()) {
                *sum += field.parse::<f64>().expect("a number");
            }
        }
        sums
    }

    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for handle in self.handles {
            handle.join().expect("no panic");
        }
    }
}

fn spin() {
    for n in 0..1000 {
        std::hint::black_box(n);
    }
}

#[test]
fn twice_as_many_busy_threads_as_processors_run_or_wait_for_one_as_is_accounted() {
    let _exclusive = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = Threads::start(2 * processors, spin);
    let mut scheduler = Scheduler::new(std::process::id());
    let before = threads.accounting();
    let (mut on_cpu, mut waiting) = (0, 0);
    for _ in 0..100 {
        thread::sleep(Duration::from_millis(25));
        scheduler.begin_moment();
        for id in &threads.ids {
            match scheduler.read(*id, false).state {
                State::OnCpu => on_cpu += 1,
                State::WaitingForCpu => waiting += 1,
                other => panic!("a busy thread is {other:?}"),
            }
        }
    }
    let after = threads.accounting();
    threads.end();
    let [cpu, delay] = [after[0] - before[0], after[1] - before[1]];
    let expected = cpu / (cpu + delay);
    let share = f64::from(on_cpu) / f64::from(on_cpu + waiting);
    // 400 or more moments: 0.12 is more than four standard errors.
    assert!((share - expected).abs() < 0.12, "{share} of {expected}");
    assert!(waiting > 0 && on_cpu > 0, "{on_cpu} {waiting}");
}

#[test]
fn a_sleep_outside_of_a_wait_is_blocked_elsewhere_in_its_system_call() {
    let _exclusive = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let threads = Threads::start(1, || thread::sleep(Duration::from_millis(200)));
    let mut scheduler = Scheduler::new(std::process::id());
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut asleep = 0;
    while asleep < 20 {
        assert!(Instant::now() < deadline, "it sleeps nearly always");
        thread::sleep(Duration::from_millis(3));
        scheduler.begin_moment();
        let activity = scheduler.read(threads.ids[0], false);
        if activity.state == State::Blocked {
            asleep += 1;
            assert_eq!(activity.system_call.as_deref(), Some("clock_nanosleep"));
            assert_ne!(scheduler.read(threads.ids[0], true).state, State::Blocked);
        }
    }
    threads.end();
}
