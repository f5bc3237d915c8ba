//! tokio's locks, counted.
#![cfg(all(feature = "instrument", feature = "tokio"))]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use support::everything;
use tare::Limits;
use tare::sync::asynchronous::{Mutex, Notify, RwLock, Semaphore};
use tare::task::scope;
use tare::thread::ThreadSession;
use tokio::runtime::Builder;
use tokio::task::yield_now;

tare::classes! {
    static SESSION: Thread = "thread/asynchronous/session";
    static MUTEX: Mutex = "wait/synch/mutex/asynchronous/MUTEX";
    static RWLOCK: RwLock = "wait/synch/rwlock/asynchronous/RWLOCK";
    static SEMAPHORE: Cond = "wait/synch/cond/asynchronous/SEMAPHORE";
    static NOTIFY: Cond = "wait/synch/cond/asynchronous/NOTIFY";
    static WORKER: Thread = "thread/asynchronous/worker";
    static IDLE: Idle = "idle";
}

#[test]
fn free_locks_are_counted_and_waits_are_timed() {
    let tare = everything(Limits::default());
    let mutex = Mutex::new(&MUTEX, 1);
    let rwlock = RwLock::new(&RWLOCK, 2);
    let semaphore = Semaphore::new(&SEMAPHORE, 1);
    let notify = Notify::new(&NOTIFY);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        // The first task holds each while the second waits for it.
        let first = async {
            let (mutex, rwlock) = (mutex.lock().await, rwlock.write().await);
            let permit = semaphore.acquire().await.expect("open");
            yield_now().await;
            drop((mutex, rwlock, permit));
            // The second waits for the notification then.
            for _ in 0..8 {
                yield_now().await;
            }
            notify.notify_one();
        };
        let second = async {
            assert_eq!(*mutex.lock().await, 1);
            assert_eq!(*rwlock.read().await, 2);
            drop(semaphore.acquire_many(1).await);
            notify.notified().await;
        };
        tokio::join!(first, second);
        // Both wait until the others have gone.
        let held = (rwlock.write().await, semaphore.acquire().await);
        let third = async {
            drop(rwlock.read().await);
            drop(semaphore.acquire().await);
        };
        tokio::join!(third, async {
            yield_now().await;
            drop(held.0);
            yield_now().await;
            drop(held.1);
        });
    });
    drop(mutex.try_lock().expect("free"));
    drop(rwlock.try_read().expect("free"));
    drop(rwlock.try_write().expect("free"));
    drop(semaphore.try_acquire().expect("free"));
    {
        let _held = mutex.blocking_lock(); // tokio's: not counted
        assert!(mutex.try_lock().is_err());
    }
    let locks = [&MUTEX, &RWLOCK].map(|class| {
        let sum = tare.total(class);
        (sum.count, sum.contended, sum.extra, sum.buckets)
    });
    assert_eq!(locks, [(3, 1, 1, 1), (6, 1, 1, 1)]);
    let others = [&SEMAPHORE, &NOTIFY].map(|class| {
        let sum = tare.total(class);
        (sum.count, sum.buckets)
    });
    assert_eq!(others, [(5, 1), (1, 1)]);
    for class in [&MUTEX, &RWLOCK, &SEMAPHORE, &NOTIFY] {
        let instances = tare.instances(class);
        assert_eq!(instances.len(), 1);
        let (instance, sum) = (tare.instance(instances[0], 0), tare.total(class));
        assert_eq!((instance.count, instance.sum), (sum.count, sum.sum));
        assert_eq!(tare.held(instances[0]), []);
    }
    drop((mutex, rwlock, semaphore, notify));
    assert_eq!(tare.instances(&MUTEX), []);
    assert_eq!(tare.losses(), []);
}

#[test]
fn counts_are_exact_between_the_threads_of_a_runtime() {
    let tare = everything(Limits::default());
    let runtime = Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .expect("a runtime");
    let shared = Arc::new((Mutex::new(&MUTEX, 0), RwLock::new(&RWLOCK, 0)));
    runtime.block_on(async {
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let shared = Arc::clone(&shared);
                tokio::spawn(scope(ThreadSession::new(&SESSION), async move {
                    for _ in 0..100 {
                        *shared.0.lock().await += 1;
                        *shared.1.write().await += 1;
                        yield_now().await;
                        let _ = *shared.1.read().await;
                    }
                }))
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
    let (mutex, rwlock) = (tare.total(&MUTEX), tare.total(&RWLOCK));
    assert_eq!((mutex.count, rwlock.count), (5_000, 10_000));
    for sum in [mutex, rwlock] {
        assert_eq!((sum.extra, sum.buckets), (sum.contended, sum.contended));
    }
    assert_eq!(
        runtime.block_on(async { (*shared.0.lock().await, *shared.1.read().await) }),
        (5_000, 5_000)
    );
    assert_eq!(tare.losses(), []);
}

#[test]
fn the_threads_of_a_runtime_have_slots_and_idle_times() {
    let tare = everything(Limits::default());
    let mut builder = Builder::new_multi_thread();
    let runtime = tare::runtime::register_threads(builder.worker_threads(3), &WORKER, &IDLE)
        .build()
        .expect("a runtime");
    let workers = || {
        let class = |slot| tare.view.slot(slot).class.load(Ordering::Relaxed) as usize;
        let live = tare.live().into_iter();
        live.filter(|slot| Some(class(*slot)) == tare.class_number(WORKER.name()))
            .count()
    };
    while workers() < 3 {
        std::thread::yield_now();
    }
    let is_idle = || tare.class_number(IDLE.name()).is_some() && tare.total(&IDLE).count > 0;
    while !is_idle() {
        // A thread wakes and is parked again.
        runtime
            .block_on(async { tokio::spawn(yield_now()).await })
            .expect("no panic");
    }
    drop(runtime);
    assert_eq!(workers(), 0);
    let idle = tare.total(&IDLE);
    assert_eq!(idle.count, idle.buckets);
    assert_eq!(tare.losses(), []);
}
