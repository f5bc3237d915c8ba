//! The writer's locks, on loom's atomics and a model of the kernel's futex. See `build.rs`.
#![cfg(loom)]
#![allow(dead_code, missing_docs)]

/// The list of free slots, banks and instances.
pub mod freelist {
    include!(concat!(env!("OUT_DIR"), "/freelist.rs"));
}

pub mod class {
    /// A class without anything.
    #[derive(Debug)]
    pub struct Class;
}

pub mod source {
    /// The place where a lock is taken, which is not recorded here.
    #[derive(Debug)]
    pub struct Source;

    impl Source {
        pub fn here() -> Self {
            Self
        }
    }
}

/// The interface of lock_api, without the constant that loom's atomics cannot be in.
pub mod lock_api {
    #[derive(Debug)]
    pub struct GuardNoSend;

    /// # Safety
    /// As in lock_api.
    pub unsafe trait RawMutex {
        type GuardMarker;
        fn lock(&self);
        fn try_lock(&self) -> bool;
        /// # Safety
        /// The caller holds it.
        unsafe fn unlock(&self);
        fn is_locked(&self) -> bool;
    }

    /// # Safety
    /// As in lock_api.
    pub unsafe trait RawMutexTimed: RawMutex {
        type Duration;
        type Instant;
        fn try_lock_for(&self, timeout: Self::Duration) -> bool;
        fn try_lock_until(&self, timeout: Self::Instant) -> bool;
    }

    /// # Safety
    /// As in lock_api.
    pub unsafe trait RawRwLock {
        type GuardMarker;
        fn lock_shared(&self);
        fn try_lock_shared(&self) -> bool;
        /// # Safety
        /// The caller holds it.
        unsafe fn unlock_shared(&self);
        fn lock_exclusive(&self);
        fn try_lock_exclusive(&self) -> bool;
        /// # Safety
        /// The caller holds it.
        unsafe fn unlock_exclusive(&self);
        fn is_locked(&self) -> bool;
        fn is_locked_exclusive(&self) -> bool;
    }
}

pub mod lock {
    pub mod mutex {
        include!(concat!(env!("OUT_DIR"), "/mutex.rs"));
    }

    pub mod rwlock {
        include!(concat!(env!("OUT_DIR"), "/rwlock.rs"));
    }

    pub mod point {
        use crate::source::Source;

        /// How a lock is taken.
        #[derive(Clone, Copy, Debug)]
        pub enum LockMode {
            Exclusive,
            Shared,
        }

        /// The points, as they are without instrumentation.
        pub trait Point {
            fn take(
                &self,
                _: LockMode,
                _: Source,
                quick: impl Fn() -> bool,
                slow: impl FnOnce() -> bool,
            ) -> bool {
                quick() || slow()
            }

            fn try_take(&self, _: LockMode, quick: impl Fn() -> bool) -> bool {
                quick()
            }

            fn retaken(&self, _: LockMode) {}

            fn released(&self, _: LockMode) {}
        }
    }

    /// Does not spin: sleeping can go wrong, and spinning only multiplies the interleavings.
    pub mod spin {
        pub const NOWHERE: u32 = u32::MAX;

        #[derive(Debug)]
        pub struct Spin;

        impl Spin {
            pub fn new() -> Self {
                Self
            }

            pub fn again(&mut self, _: u32) -> bool {
                false
            }
        }

        pub fn processor() -> u32 {
            0
        }
    }

    /// A model of the kernel's futex: a queue of sleepers, accessed by one thread at a time.
    pub mod futex {
        use std::time::Instant;

        use loom::sync::atomic::{AtomicU32, Ordering};
        use loom::sync::{Arc, Condvar, Mutex};

        struct Sleeper {
            word: usize,
            woken: Arc<Mutex<bool>>,
            bell: Arc<Condvar>,
        }

        loom::lazy_static! {
            static ref QUEUE: Mutex<Vec<Sleeper>> = Mutex::new(Vec::new());
        }

        fn address(word: &AtomicU32) -> usize {
            std::ptr::from_ref(word).addr()
        }

        pub fn wait(word: &AtomicU32, expected: u32, _: Option<Instant>) -> bool {
            let (woken, bell) = {
                let mut queue = QUEUE.lock().unwrap();
                // Under the queue's lock: a thread that changes the word and then wakes finds us here.
                if word.load(Ordering::SeqCst) != expected {
                    return true;
                }
                let (woken, bell) = (Arc::new(Mutex::new(false)), Arc::new(Condvar::new()));
                queue.push(Sleeper {
                    word: address(word),
                    woken: woken.clone(),
                    bell: bell.clone(),
                });
                (woken, bell)
            };
            let mut woken = woken.lock().unwrap();
            while !*woken {
                woken = bell.wait(woken).unwrap();
            }
            true
        }

        pub fn wake(word: &AtomicU32, threads: u32) {
            let mut queue = QUEUE.lock().unwrap();
            for _ in 0..threads {
                let Some(at) = queue
                    .iter()
                    .position(|sleeper| sleeper.word == address(word))
                else {
                    return;
                };
                let sleeper = queue.remove(at);
                *sleeper.woken.lock().unwrap() = true;
                sleeper.bell.notify_one();
            }
        }
    }
}

pub mod sync {
    pub mod condvar {
        include!(concat!(env!("OUT_DIR"), "/condvar.rs"));
    }

    pub mod instrumented {
        use crate::class::Class;

        #[derive(Debug)]
        pub struct LockPoint;

        impl LockPoint {
            pub fn new(_: &'static Class) -> Self {
                Self
            }
        }

        impl crate::lock::point::Point for LockPoint {}

        #[derive(Debug)]
        pub struct Cond;

        impl Cond {
            pub fn new(_: &'static Class) -> Self {
                Self
            }

            pub fn wait(&self, _: bool) {}
        }
    }

    use crate::lock::{mutex, rwlock};
    pub use condvar::Condvar;
    pub type RawMutex<P = instrumented::LockPoint> = mutex::RawMutex<P>;
    pub type RawRwLock<P = instrumented::LockPoint> = rwlock::RawRwLock<P>;

    impl mutex::RawMutex<instrumented::LockPoint> {
        pub fn new(class: &'static crate::class::Class) -> Self {
            Self::with(instrumented::LockPoint::new(class))
        }
    }

    impl rwlock::RawRwLock<instrumented::LockPoint> {
        pub fn new(class: &'static crate::class::Class) -> Self {
            Self::with(instrumented::LockPoint::new(class))
        }
    }

    /// The part of lock_api's mutex that the condition variable uses.
    pub struct Mutex<T: ?Sized> {
        raw: RawMutex,
        value: std::cell::UnsafeCell<T>,
    }

    // SAFETY: as for lock_api's.
    unsafe impl<T: Send> Sync for Mutex<T> {}
    // SAFETY: as for lock_api's.
    unsafe impl<T: Send> Send for Mutex<T> {}

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self {
                raw: RawMutex::new(&crate::class::Class),
                value: std::cell::UnsafeCell::new(value),
            }
        }

        pub fn lock(&self) -> MutexGuard<'_, T> {
            crate::lock_api::RawMutex::lock(&self.raw);
            MutexGuard { mutex: self }
        }
    }

    impl<T: ?Sized> Mutex<T> {
        /// # Safety
        /// As in lock_api.
        pub unsafe fn raw(&self) -> &RawMutex {
            &self.raw
        }
    }

    pub struct MutexGuard<'a, T: ?Sized> {
        mutex: &'a Mutex<T>,
    }

    impl<'a, T: ?Sized> MutexGuard<'a, T> {
        pub fn mutex(guard: &Self) -> &'a Mutex<T> {
            guard.mutex
        }
    }

    impl<T: ?Sized> std::ops::Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            // SAFETY: the guard holds the lock.
            unsafe { &*self.mutex.value.get() }
        }
    }

    impl<T: ?Sized> std::ops::DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: the guard holds the lock.
            unsafe { &mut *self.mutex.value.get() }
        }
    }

    impl<T: ?Sized> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            // SAFETY: the guard holds the lock.
            unsafe { crate::lock_api::RawMutex::unlock(&self.mutex.raw) };
        }
    }
}
