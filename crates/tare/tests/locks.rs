//! The locks exclude, wake and time out as they should, whether Tare runs or not.

#[cfg(feature = "instrument")]
mod support;

use std::sync::Barrier;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tare::sync::{Condvar, Mutex, PlainMutex, RwLock};

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/locks/LOCK";
    static RWLOCK: RwLock = "wait/synch/rwlock/locks/LOCK_rw";
    static COND: Cond = "wait/synch/cond/locks/COND";
}

fn scale(short: usize, long: usize) -> usize {
    if std::env::var_os("TARE_TEST_LONG").is_some() {
        long
    } else {
        short
    }
}

/// Runs a test without Tare and, if it is compiled in, with everything on: once with only waits timed,
/// and once with all acquisitions timed.
fn with_and_without(test: impl Fn()) {
    #[cfg(feature = "instrument")]
    {
        let exclusive = support::exclusive();
        tare::stop();
        test();
        drop(exclusive);
        drop((support::start(tare::Config::everything()), test()));
        let every = tare::Config::everything().lock_timing(tare::LockTiming::Every);
        let tare = support::start(every);
        test();
        assert_eq!(tare.losses(), []);
    }
    #[cfg(not(feature = "instrument"))]
    test();
}

#[test]
fn a_mutex_lets_one_in() {
    with_and_without(|| {
        let (threads, n) = (8, scale(5_000, 500_000));
        // Only exclusion makes this count right: read, yield to others, write.
        let mutex = Mutex::new(&LOCK, 0u64);
        let inside = AtomicI64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (mutex, inside) = (&mutex, &inside);
                scope.spawn(move || {
                    for i in 0..n {
                        let mut count = match (thread + i) % 4 {
                            0 => loop {
                                if let Some(count) = mutex.try_lock() {
                                    break count;
                                }
                                std::thread::yield_now();
                            },
                            1 => loop {
                                let soon = Duration::from_micros(50);
                                if let Some(count) = mutex.try_lock_for(soon) {
                                    break count;
                                }
                            },
                            _ => mutex.lock(),
                        };
                        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
                        let now = *count;
                        if i % 64 == 0 {
                            std::thread::yield_now();
                        }
                        *count = now + 1;
                        inside.fetch_sub(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(mutex.into_inner(), (threads * n) as u64);
    });
}

#[test]
fn a_rwlock_lets_many_read_or_one_write() {
    with_and_without(|| {
        let n = scale(3_000, 300_000);
        let lock = RwLock::new(&RWLOCK, (0u64, 0u64));
        let readers = AtomicI64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let (lock, readers) = (&lock, &readers);
                scope.spawn(move || {
                    for i in 0..n {
                        if (thread + i) % 5 == 0 {
                            let mut pair = lock.write();
                            assert_eq!(readers.load(Ordering::Relaxed), 0);
                            pair.0 += 1;
                            if i % 64 == 0 {
                                std::thread::yield_now();
                            }
                            pair.1 += 1;
                        } else if (thread + i) % 5 == 1 {
                            if let Some(pair) = lock.try_read() {
                                assert_eq!(pair.0, pair.1);
                            }
                        } else {
                            let pair = lock.read();
                            readers.fetch_add(1, Ordering::Relaxed);
                            assert_eq!(pair.0, pair.1);
                            if i % 64 == 0 {
                                std::thread::yield_now();
                            }
                            readers.fetch_sub(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let (one, two) = lock.into_inner();
        let writes = (0..6).map(|t| (0..n).filter(|i| (t + i) % 5 == 0).count());
        assert_eq!((one, two), (one, writes.sum::<usize>() as u64));
        assert_eq!(one, two);
    });
}

#[test]
fn readers_share() {
    with_and_without(|| {
        let lock = RwLock::new(&RWLOCK, 1);
        let both = Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                // Readers meet inside: each holds the lock until all have it.
                scope.spawn(|| {
                    let one = lock.read();
                    both.wait();
                    assert_eq!(*one, 1);
                });
            }
        });
        assert!(lock.try_write().is_some());
        let reading = lock.read();
        assert!(lock.try_write().is_none());
        drop(reading);
        let writing = lock.write();
        assert!(lock.try_read().is_none());
        drop(writing);
    });
}

/// A thread that waits for a condition is woken, however the two sides meet.
#[test]
fn a_condition_is_passed_back_and_forth() {
    with_and_without(|| {
        let n = scale(3_000, 200_000);
        let (turn, changed) = (Mutex::new(&LOCK, 0usize), Condvar::new(&COND));
        std::thread::scope(|scope| {
            for side in 0..2 {
                let (turn, changed) = (&turn, &changed);
                scope.spawn(move || {
                    for _ in 0..n {
                        let mut turn = turn.lock();
                        changed.wait_while(&mut turn, |turn| *turn % 2 != side);
                        *turn += 1;
                        drop(turn);
                        changed.notify_one();
                    }
                });
            }
        });
        assert_eq!(turn.into_inner(), 2 * n);
    });
}

#[test]
fn notify_all_wakes_all() {
    with_and_without(|| {
        for _ in 0..scale(50, 5_000) {
            let (state, changed) = (Mutex::new(&LOCK, (0, false)), Condvar::new(&COND));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let mut state = state.lock();
                        state.0 += 1;
                        changed.notify_all();
                        changed.wait_while(&mut state, |state| !state.1);
                    });
                }
                let mut ready = state.lock();
                changed.wait_while(&mut ready, |state| state.0 < 4);
                ready.1 = true;
                drop(ready);
                changed.notify_all();
            });
        }
    });
}

/// Many short runs: a wake-up that is lost once in thousands hangs one of them.
#[test]
fn no_wake_up_is_lost() {
    with_and_without(|| {
        for run in 0..scale(150, 20_000) {
            let mutex = Mutex::new(&LOCK, 0);
            let rwlock = RwLock::new(&RWLOCK, 0);
            let together = Barrier::new(4);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (mutex, rwlock, together) = (&mutex, &rwlock, &together);
                    scope.spawn(move || {
                        together.wait();
                        for i in 0..20 {
                            let mut one = mutex.lock();
                            // Held for as long as a waiter needs to go to sleep.
                            if (run + i) % 7 == 0 {
                                std::thread::yield_now();
                            }
                            *one += 1;
                            drop(one);
                            if (thread + i) % 3 == 0 {
                                let mut two = rwlock.write();
                                std::thread::yield_now();
                                *two += 1;
                            } else {
                                let two = rwlock.read();
                                std::thread::yield_now();
                                assert!(*two <= 80);
                            }
                        }
                    });
                }
            });
            assert_eq!(*mutex.lock(), 80);
        }
    });
}

#[test]
fn a_lock_attempt_times_out() {
    with_and_without(|| {
        let mutex = Mutex::new(&LOCK, 0);
        let (taken, tried) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _held = mutex.lock();
                taken.wait();
                tried.wait();
            });
            taken.wait();
            assert!(mutex.try_lock().is_none());
            assert!(mutex.try_lock_for(Duration::from_millis(20)).is_none());
            assert!(mutex.try_lock_until(Instant::now()).is_none());
            assert!(mutex.try_lock_for(Duration::ZERO).is_none());
            assert!(mutex.is_locked());
            tried.wait();
            // The deadline does not matter: it will be free.
            assert!(mutex.try_lock_for(Duration::MAX).is_some());
        });
        let changed = Condvar::new(&COND);
        let mut held = mutex.lock();
        assert!(
            changed
                .wait_for(&mut held, Duration::from_millis(5))
                .timed_out()
        );
        assert!(changed.wait_until(&mut held, Instant::now()).timed_out());
        *held += 1;
        drop(held);
        assert!(!mutex.is_locked());
    });
}

#[test]
fn a_timed_out_waiter_does_not_consume_a_wake_up() {
    with_and_without(|| {
        let n = scale(300, 30_000);
        let mutex = Mutex::new(&LOCK, 0u64);
        let (taken, given_up) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (mutex, taken, given_up) = (&mutex, &taken, &given_up);
                scope.spawn(move || {
                    for _ in 0..n {
                        let got = if thread == 0 {
                            Some(mutex.lock())
                        } else {
                            mutex.try_lock_for(Duration::from_micros(20))
                        };
                        match got {
                            Some(mut count) => {
                                *count += 1;
                                std::thread::yield_now();
                                taken.fetch_add(1, Ordering::Relaxed);
                            }
                            None => _ = given_up.fetch_add(1, Ordering::Relaxed),
                        }
                    }
                });
            }
        });
        assert_eq!(*mutex.lock(), taken.load(Ordering::Relaxed));
        let all = taken.load(Ordering::Relaxed) + given_up.load(Ordering::Relaxed);
        assert_eq!(all, 4 * n as u64);
    });
}

#[test]
fn a_panic_inside_lets_the_lock_go() {
    with_and_without(|| {
        let mutex = Mutex::new(&LOCK, 0);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = mutex.lock();
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err());
        assert!(mutex.try_lock().is_some());
    });
}

/// Locks without a class and plain ones exclude, too.
#[test]
fn plain_locks_exclude() {
    use lock_api::RawMutex as _;
    static UNNAMED: lock_api::Mutex<tare::sync::RawMutex, u64> =
        lock_api::Mutex::from_raw(tare::sync::RawMutex::INIT, 0);
    with_and_without(|| {
        let plain = PlainMutex::new(0);
        *UNNAMED.lock() = 0;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        *plain.lock() += 1;
                        *UNNAMED.lock() += 1;
                    }
                });
            }
        });
        assert_eq!(*plain.lock(), 8_000);
        assert_eq!(*UNNAMED.lock(), 8_000);
    });
}
