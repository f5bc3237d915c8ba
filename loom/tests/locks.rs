//! Locks exclude, and no thread sleeps for ever (loom reports threads that all wait).
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use tare_loom::class::Class;
use tare_loom::lock_api::{RawMutex as _, RawRwLock as _};
use tare_loom::sync::{Condvar, Mutex, RawMutex, RawRwLock};

static CLASS: Class = Class;

/// A number and the lock that guards it; loom reports accesses that are not ordered by the lock.
struct Guarded<L> {
    lock: L,
    number: UnsafeCell<u32>,
}

// SAFETY: the number is accessed only under the lock, which this test checks.
unsafe impl<L: Sync> Sync for Guarded<L> {}
// SAFETY: as above.
unsafe impl<L: Send> Send for Guarded<L> {}

impl<L> Guarded<L> {
    fn new(lock: L) -> Arc<Self> {
        Arc::new(Self {
            lock,
            number: UnsafeCell::new(0),
        })
    }

    fn add(&self) {
        // SAFETY: under the lock.
        self.number.with_mut(|number| unsafe { *number += 1 });
    }

    fn get(&self) -> u32 {
        // SAFETY: under the lock.
        self.number.with(|number| unsafe { *number })
    }
}

fn add_locked(shared: &Guarded<RawMutex>) {
    shared.lock.lock();
    shared.add();
    // SAFETY: locked above.
    unsafe { shared.lock.unlock() };
}

fn write(shared: &Guarded<RawRwLock>) {
    shared.lock.lock_exclusive();
    shared.add();
    // SAFETY: locked above.
    unsafe { shared.lock.unlock_exclusive() };
}

fn read(shared: &Guarded<RawRwLock>) -> u32 {
    shared.lock.lock_shared();
    let number = shared.get();
    // SAFETY: locked above.
    unsafe { shared.lock.unlock_shared() };
    number
}

/// Runs `others` in threads of their own and `own` in this one.
fn together<T: Send + Sync + 'static>(shared: &Arc<T>, others: &[fn(&T)], own: fn(&T)) {
    let threads: Vec<_> = others
        .iter()
        .map(|&other| {
            let shared = shared.clone();
            thread::spawn(move || other(&shared))
        })
        .collect();
    own(shared);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_mutex_excludes_and_wakes() {
    loom::model(|| {
        let shared = Guarded::new(RawMutex::new(&CLASS));
        together(&shared, &[|s| (add_locked(s), add_locked(s)).0], |s| {
            (add_locked(s), add_locked(s)).0
        });
        assert_eq!(shared.get(), 4);
        assert!(!shared.lock.is_locked());
    });
}

#[test]
fn three_threads_take_a_mutex_in_turn() {
    loom::model(|| {
        let shared = Guarded::new(RawMutex::new(&CLASS));
        together(&shared, &[add_locked, add_locked], add_locked);
        assert_eq!(shared.get(), 3);
    });
}

#[test]
fn a_try_that_fails_takes_nothing() {
    loom::model(|| {
        let shared = Guarded::new(RawMutex::new(&CLASS));
        together(
            &shared,
            &[|s| {
                if s.lock.try_lock() {
                    s.add();
                    // SAFETY: locked by the try.
                    unsafe { s.lock.unlock() };
                }
            }],
            add_locked,
        );
        assert!((1..=2).contains(&shared.get()));
        assert!(!shared.lock.is_locked());
    });
}

#[test]
fn writers_exclude_each_other() {
    loom::model(|| {
        let shared = Guarded::new(RawRwLock::new(&CLASS));
        together(&shared, &[write, write], write);
        assert_eq!(shared.get(), 3);
        assert!(!shared.lock.is_locked());
    });
}

#[test]
fn a_writer_excludes_readers() {
    loom::model(|| {
        let shared = Guarded::new(RawRwLock::new(&CLASS));
        together(&shared, &[|s| (write(s), write(s)).0], |s| {
            let first = read(s);
            assert!(first <= read(s));
        });
        assert_eq!(shared.get(), 2);
        assert!(!shared.lock.is_locked());
    });
}

#[test]
fn readers_and_writers_wake_each_other() {
    loom::model(|| {
        let shared = Guarded::new(RawRwLock::new(&CLASS));
        together(&shared, &[write, |s| assert!(read(s) <= 2)], write);
        assert_eq!(shared.get(), 2);
        assert!(!shared.lock.is_locked());
    });
}

#[test]
fn two_readers_and_a_writer() {
    loom::model(|| {
        let shared = Guarded::new(RawRwLock::new(&CLASS));
        together(
            &shared,
            &[|s| assert!(read(s) <= 1), |s| assert!(read(s) <= 1)],
            write,
        );
        assert_eq!(shared.get(), 1);
        assert!(!shared.lock.is_locked());
    });
}

#[test]
fn a_notification_is_not_missed() {
    loom::model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new(&CLASS)));
        together(
            &shared,
            &[|s| {
                *s.0.lock() = true;
                s.1.notify_one();
            }],
            |s| {
                let mut ready = s.0.lock();
                while !*ready {
                    s.1.wait(&mut ready);
                }
            },
        );
    });
}

#[test]
fn a_notification_for_all_wakes_all() {
    loom::model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new(&CLASS)));
        let wait: fn(&(Mutex<bool>, Condvar)) = |s| {
            let mut ready = s.0.lock();
            s.1.wait_while(&mut ready, |ready| !*ready);
        };
        together(&shared, &[wait, wait], |s| {
            *s.0.lock() = true;
            s.1.notify_all();
        });
    });
}

/// The test of the tests: without a lock loom finds two threads inside. (That it finds sleepers whom no
/// thread wakes cannot be tested here: it then ends the process.)
#[test]
#[should_panic(expected = "Causality violation")]
fn the_model_finds_two_inside() {
    loom::model(|| {
        let shared = Guarded::new(RawMutex::new(&CLASS));
        together(&shared, &[add_locked], Guarded::add);
    });
}
