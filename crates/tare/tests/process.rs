//! Forks, signals, dying threads and scarce memory: the host continues, and each lost event is counted.
#![cfg(feature = "instrument")]

mod support;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use support::{Tally, everything, scale, start};
use tare::sync::Mutex;
use tare::{Config, Limits, Operation, StartError};
use tare_layout::shared::Lost;

tare::classes! {
    static EVENT: MetadataLock = "wait/lock/metadata/process/event";
    static LOCK: Mutex = "wait/synch/mutex/process/LOCK";
    static LOCK_DYING: Mutex = "wait/synch/mutex/process/LOCK_dying";
    static STAGE: Stage = "stage/process/stage";
    static WORKER: Thread = "thread/process/worker";
}

fn event() {
    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
}

/// The code of a child of fork; 0 = success.
fn child(session: &mut tare::thread::ThreadSession) -> i32 {
    if tare::is_running() || tare::descriptor().is_ok() {
        return 1;
    }
    event();
    let lock = Mutex::new(&LOCK, 0);
    *lock.lock() += 1;
    tare::stage::set(&STAGE);
    if tare::thread::id() != 0 {
        return 2;
    }
    // The parent's session: leaving it must not free the parent's slot.
    *session = tare::thread::ThreadSession::new(&WORKER);
    // The child may record for itself.
    if tare::start(Config::everything()).is_err() {
        return 3;
    }
    event();
    let own = support::Segment::of_this_process();
    let counted = own.total(&EVENT).count;
    tare::stop();
    if counted == 1 { 0 } else { 4 }
}

#[test]
fn forks_in_the_middle_of_load_leave_the_parent_exact() {
    let tare = everything(Limits::default());
    let mut session = tare::thread::ThreadSession::new(&WORKER);
    let (stop, done) = (AtomicBool::new(false), Tally::new());
    let forks = scale(20, 500);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    // Short threads, so that a fork meets slots and banks that change hands.
                    std::thread::scope(|scope| {
                        scope.spawn(event);
                    });
                    event();
                    done.add(2);
                }
            });
        }
        for _ in 0..forks {
            // SAFETY: the child only runs the code of the test, and ends by _exit.
            let pid = unsafe { libc::fork() };
            assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
            if pid == 0 {
                let exit_status = child(&mut session);
                // SAFETY: ends the child without the parent's destructors.
                unsafe { libc::_exit(exit_status) };
            }
            let mut status = 0;
            // SAFETY: a child of ours, and a place for its status.
            assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
            assert_eq!(status, 0, "the child's check {} failed", status >> 8);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(tare.total(&EVENT).count, done.get());
    assert_eq!(tare.lost(Lost::Forks), forks as u64);
    assert_eq!(tare.losses(), [(Lost::Forks as usize, forks as u64)]);
    session.run(|| {
        event();
    });
    assert_eq!(tare.total(&EVENT).count, done.get() + 1);
    assert_eq!(
        tare.total(&LOCK).count,
        0,
        "the children counted nothing here"
    );
}

static IN_HANDLER: AtomicU64 = AtomicU64::new(0);

extern "C" fn on_alarm(_: libc::c_int) {
    event();
    IN_HANDLER.fetch_add(1, Ordering::Relaxed);
}

/// A timer whose signal only the calling thread gets.
fn alarm_every(microseconds: i64) -> libc::timer_t {
    // SAFETY: plain structures of integers, filled below; a handler that is async-signal-safe, as
    // points are for attached threads.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_alarm as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(
            libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut()),
            0
        );
        let mut to: libc::sigevent = std::mem::zeroed();
        to.sigev_notify = libc::SIGEV_THREAD_ID;
        to.sigev_signo = libc::SIGALRM;
        to.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = std::mem::zeroed();
        assert_eq!(
            libc::timer_create(libc::CLOCK_MONOTONIC, &mut to, &mut timer),
            0
        );
        let step = libc::timespec {
            tv_sec: 0,
            tv_nsec: microseconds * 1_000,
        };
        let times = libc::itimerspec {
            it_interval: step,
            it_value: step,
        };
        assert_eq!(
            libc::timer_settime(timer, 0, &times, std::ptr::null_mut()),
            0
        );
        timer
    }
}

#[test]
fn signal_handlers_count_into_the_class_that_they_interrupt() {
    for config in [
        Config::everything(),
        Config::default().instruments([("%", tare::Setting::Counted)]),
    ] {
        let tare = start(config);
        IN_HANDLER.store(0, Ordering::Relaxed);
        event();
        let timer = alarm_every(50);
        let (mut here, enough) = (1, scale(3_000, 60_000) as u64);
        let mut classes = Vec::new();
        while IN_HANDLER.load(Ordering::Relaxed) < enough {
            event();
            here += 1;
            if here % 1_000 == 0 && classes.len() < 300 {
                // Rows are also created in between.
                let name = format!("wait/lock/metadata/process/many{}", classes.len());
                let name = Box::leak(name.into_boxed_str());
                let class = tare::Class::new(tare::Kind::MetadataLock, name, "");
                classes.push(&*Box::leak(Box::new(class)));
                let newest = classes[classes.len() - 1];
                drop(tare::wait::start(newest, Operation::MetadataLock));
            }
        }
        // SAFETY: created above, deleted once.
        assert_eq!(unsafe { libc::timer_delete(timer) }, 0);
        let handled = IN_HANDLER.load(Ordering::Relaxed);
        // Events that interrupted the thread while it was busy are pending.
        EVENT.register();
        let lost = tare.lost(Lost::SignalEvents);
        assert_eq!(tare.total(&EVENT).count + lost, here + handled);
        for class in classes {
            assert_eq!(tare.total(class).count, 1, "{}", class.name());
        }
    }
}

thread_local! {
    static LAST_WORDS: LastWords = const { LastWords(Cell::new(0)) };
}

/// Uses locks after its thread has left Tare.
struct LastWords(Cell<u64>);

impl Drop for LastWords {
    fn drop(&mut self) {
        let lock = Mutex::new(&LOCK_DYING, 0);
        for _ in 0..self.0.get() {
            *lock.lock() += 1;
            event();
        }
        let statics: &'static Mutex<u64> = &DYING;
        *statics.lock() += 1;
    }
}

static DYING: Mutex<u64> = Mutex::new(&LOCK_DYING, 0);

#[test]
fn events_of_destructors_after_ours_are_counted_as_lost() {
    let tare = everything(Limits::default());
    let before = *DYING.lock();
    for _ in 0..10 {
        let thread = std::thread::spawn(|| {
            // Before the thread's first event: so it is dropped after Tare's own destructor.
            LAST_WORDS.with(|words| words.0.set(5));
            event();
        });
        thread.join().expect("no panic");
    }
    assert_eq!(*DYING.lock(), before + 10);
    // Five locks, five events, one more lock.
    assert_eq!(tare.lost(Lost::ThreadEvents), 10 * 11);
    assert_eq!(tare.total(&EVENT).count, 10);
    assert_eq!(tare.total(&LOCK_DYING).count, 2);
    assert_eq!(tare.live().len(), 1);
}

/// An instance that ends in a thread that has left frees its entry.
#[test]
fn a_lock_dropped_by_a_dying_thread_is_forgotten() {
    struct Holds(Cell<Option<Mutex<u64>>>);
    impl Drop for Holds {
        fn drop(&mut self) {
            drop(self.0.take());
        }
    }
    thread_local!(static HELD: Holds = const { Holds(Cell::new(None)) });
    let tare = everything(Limits::default());
    for _ in 0..10 {
        let thread = std::thread::spawn(|| {
            HELD.with(|held| {
                let lock = Mutex::new(&LOCK, 0);
                *lock.lock() += 1;
                held.0.set(Some(lock));
            });
        });
        thread.join().expect("no panic");
    }
    assert_eq!(tare.instances(&LOCK), []);
}

#[test]
fn without_memory_the_host_continues_and_the_failure_is_counted() {
    let exclusive = support::exclusive();
    tare::stop();
    let before = tare::failed_starts();
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a place for the limit.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) }, 0);
    let pages = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = pages
        .split(' ')
        .next()
        .and_then(|p| p.parse().ok())
        .expect("pages");
    let scarce = libc::rlimit {
        // Enough memory for the test, but not for a segment of gigabytes.
        rlim_cur: pages * 4096 + (256 << 20),
        rlim_max: limit.rlim_max,
    };
    // SAFETY: a valid limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &scarce) }, 0);
    let started = tare::start(Config::everything());
    // SAFETY: the previous limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    let Err(StartError::Segment { bytes, place, .. }) = &started else {
        panic!("{started:?}");
    };
    assert!(*bytes > 256 << 20 && place == "memory");
    assert_eq!(tare::failed_starts(), before + 1);
    assert!(!tare::is_running());
    let lock = Mutex::new(&LOCK, 0);
    *lock.lock() += 1;
    event();
    assert_eq!(*lock.lock(), 1);
    drop(exclusive);
    // No harm was done: now it starts.
    let tare = everything(Limits::default());
    event();
    assert_eq!(tare.total(&EVENT).count, 1);
}

#[test]
fn a_file_that_is_no_segment_is_not_replaced() {
    let exclusive = support::exclusive();
    tare::stop();
    let path = std::env::temp_dir().join(format!("tare-foreign-{}", std::process::id()));
    std::fs::write(&path, "precious").expect("written");
    let config = || Config::default().segment(path.clone());
    let error = tare::start(config()).expect_err("refused").to_string();
    assert!(
        error.contains(&format!("{} is no segment", path.display())),
        "{error}"
    );
    assert_eq!(
        std::fs::read_to_string(&path).expect("still there"),
        "precious"
    );
    event();
    // An empty file is replaced, and so is the segment of an earlier run.
    std::fs::write(&path, "").expect("written");
    for _ in 0..2 {
        tare::start(config()).expect("it starts");
        tare::stop();
    }
    std::fs::remove_file(&path).expect("a segment");
    drop(exclusive);
}

#[test]
fn an_impossible_path_is_an_error() {
    let exclusive = support::exclusive();
    tare::stop();
    let before = tare::failed_starts();
    let config = Config::default().segment("/nowhere/at/all/tare.segment");
    assert!(matches!(
        tare::start(config),
        Err(StartError::Segment { .. })
    ));
    let config = Config::default().consumers([("events_naps_current", true)]);
    assert!(matches!(tare::start(config), Err(StartError::Consumer(_))));
    assert_eq!(tare::failed_starts(), before + 2);
    drop(exclusive);
    let tare = everything(Limits::default());
    assert!(matches!(
        tare::start(Config::default()),
        Err(StartError::Running)
    ));
    assert_eq!(tare.losses(), []);
}

/// A daemon closes all descriptors when it starts, and its own files get their numbers.
#[test]
fn a_host_that_closes_all_descriptors_does_not_lose_its_files() {
    let path = std::env::temp_dir().join(format!("tare-closes-{}", std::process::id()));
    let file = path.clone();
    let in_child = move || {
        let path = file;
        tare::start(Config::default()).expect("started");
        event();
        // SAFETY: the child has no file of its own.
        unsafe { libc::close_range(3, u32::MAX, 0) };
        let before = tare::descriptor().is_ok();
        let mut files = Vec::new();
        for _ in 0..300 {
            let file = std::fs::File::options()
                .append(true)
                .create(true)
                .open(&path);
            files.push(file.expect("opened"));
        }
        std::io::Write::write_all(&mut files[0], &[b'x'; 1 << 16]).expect("written");
        event();
        let is_attachable = tare::descriptor().is_ok();
        tare::stop();
        let written = std::fs::read(&path).expect("read");
        let is_intact = written.len() == 1 << 16 && written.iter().all(|&byte| byte == b'x');
        let are_open = files.iter().all(|file| file.metadata().is_ok());
        match (before, is_attachable, is_intact, are_open) {
            (false, false, true, true) => 0,
            (_, _, false, _) => 1,
            (_, _, _, false) => 2,
            _ => 3,
        }
    };
    let status = status_of_child(in_child);
    let _ = std::fs::remove_file(&path);
    assert_eq!(status, 0);
}

/// After mlockall(MCL_FUTURE) the kernel gives memory to what a process maps.
#[cfg(target_os = "linux")]
#[test]
fn a_host_that_locks_its_future_memory_gives_none_to_the_segment() {
    let in_child = || {
        // SAFETY: locks memory without a change of its content.
        assert_eq!(unsafe { libc::mlockall(libc::MCL_FUTURE) }, 0);
        let limits = Limits::default().threads(64);
        // Without privileges the kernel refuses so large a mapping.
        let has_started = tare::start(Config::default().limits(limits)).is_ok();
        event();
        let status = std::fs::read_to_string("/proc/self/status").expect("read");
        let shared = status
            .lines()
            .find_map(|line| line.strip_prefix("RssShmem:"));
        let shared = shared.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        assert!(
            shared.is_some_and(|kilobytes| kilobytes < 64 << 10),
            "{shared:?}"
        );
        // SAFETY: the call only returns a number.
        assert!(has_started || unsafe { libc::geteuid() } != 0);
        0
    };
    assert_eq!(status_of_child(in_child), 0);
}

/// Runs `body` in a child process, and returns its status; 0 = `body` has returned 0.
fn status_of_child(body: impl FnOnce() -> i32 + std::panic::UnwindSafe) -> i32 {
    // SAFETY: the child only calls functions that work in the child of a process with threads, and ends.
    match unsafe { libc::fork() } {
        0 => {
            let code = std::panic::catch_unwind(body).unwrap_or(99);
            // SAFETY: ends the child.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = -1;
            // SAFETY: a child of this process.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            status
        }
    }
}
