//! What processes share that record into one segment, children of fork (docs/many-processes.md).

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::system;

/// What the processes share beside the segment.
pub struct Tree {
    shared: NonNull<Shared>,
    /// Locks with a timeout of a clock that nobody sets: glibc has it since 2.30.
    clock_lock: Option<ClockLock>,
}

/// pthread_mutex_clocklock.
type ClockLock = unsafe extern "C" fn(
    *mut libc::pthread_mutex_t,
    libc::clockid_t,
    *const libc::timespec,
) -> libc::c_int;

/// In memory that children of fork inherit.
struct Shared {
    /// Robust: if its owner dies, the next one learns of it.
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    /// The process in the segment's header.
    owner: AtomicU64,
    /// After this number of threads that come, dead processes are searched.
    before_search: AtomicU32,
    /// The same from this second since boot on.
    next_search_s: AtomicU32,
}

/// For how long a process waits for the lock, which others have for microseconds. One that a debugger has
/// stopped meanwhile must not stop all others.
const LOCK_TIMEOUT_S: libc::time_t = 3;

// SAFETY: atomics, and a mutex for threads of many processes.
unsafe impl Send for Tree {}
// SAFETY: as above.
unsafe impl Sync for Tree {}

impl Tree {
    /// The tree of the calling process.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a new mapping at an address that the kernel chooses.
        let place = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Shared>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let Some(shared) = NonNull::new(place.cast::<Shared>()) else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        // SAFETY: a C string.
        let place = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"pthread_mutex_clocklock".as_ptr()) };
        // SAFETY: null is `None`; the function that has this name has this type.
        let clock_lock =
            unsafe { std::mem::transmute::<*mut libc::c_void, Option<ClockLock>>(place) };
        let tree = Self { shared, clock_lock };
        let mut attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        // SAFETY: `attributes` is initialised before it is used; the mutex is in memory of its own, which
        // nobody else has yet.
        let results = unsafe {
            [
                libc::pthread_mutexattr_init(attributes.as_mut_ptr()),
                libc::pthread_mutexattr_setpshared(
                    attributes.as_mut_ptr(),
                    libc::PTHREAD_PROCESS_SHARED,
                ),
                system::set_robust(attributes.as_mut_ptr()),
                libc::pthread_mutexattr_settype(
                    attributes.as_mut_ptr(),
                    libc::PTHREAD_MUTEX_RECURSIVE,
                ),
                libc::pthread_mutex_init(tree.mutex(), attributes.as_ptr()),
                libc::pthread_mutexattr_destroy(attributes.as_mut_ptr()),
            ]
        };
        match results.into_iter().find(|error| *error != 0) {
            Some(error) => Err(io::Error::from_raw_os_error(error)),
            None => Ok(tree),
        }
    }

    fn shared(&self) -> &Shared {
        // SAFETY: mapped by `new`; zeroes are valid integers.
        unsafe { self.shared.as_ref() }
    }

    /// Locks the tree's mutex. True: the process that had it died. `None`: a process that has it does not go
    /// on.
    pub fn lock(&self) -> Option<(Exclusive<'_>, bool)> {
        // SAFETY: initialised by `new`; the ends are of the clocks that the two functions read.
        let result = unsafe {
            match self.clock_lock {
                Some(lock) => {
                    let end = end_of_wait(libc::CLOCK_MONOTONIC);
                    lock(self.mutex(), libc::CLOCK_MONOTONIC, &raw const end)
                }
                None => {
                    let end = end_of_wait(libc::CLOCK_REALTIME);
                    system::pthread_mutex_timedlock(self.mutex(), &raw const end)
                }
            }
        };
        let owner_died = result == libc::EOWNERDEAD;
        if owner_died {
            // SAFETY: locked above. If this process dies before it unlocks, the next one learns of it again.
            unsafe { system::pthread_mutex_consistent(self.mutex()) };
        }
        (result == 0 || owner_died).then_some((Exclusive { tree: self }, owner_died))
    }

    fn mutex(&self) -> *mut libc::pthread_mutex_t {
        self.shared().mutex.get()
    }

    /// The process in the segment's header.
    pub fn owner(&self) -> &AtomicU64 {
        &self.shared().owner
    }

    /// See [`Shared::before_search`].
    pub fn before_search(&self) -> &AtomicU32 {
        &self.shared().before_search
    }

    /// See [`Shared::next_search_s`].
    pub fn next_search_s(&self) -> &AtomicU32 {
        &self.shared().next_search_s
    }
}

/// When a wait for the lock that begins now ends, by this clock.
fn end_of_wait(clock: libc::clockid_t) -> libc::timespec {
    let mut end = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for the time.
    unsafe { libc::clock_gettime(clock, &raw mut end) };
    end.tv_sec += LOCK_TIMEOUT_S;
    end
}

impl Drop for Tree {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`. Other processes have mappings of their own.
        unsafe { libc::munmap(self.shared.as_ptr().cast(), size_of::<Shared>()) };
    }
}

/// Unlocks the tree's mutex when it is dropped.
pub struct Exclusive<'a> {
    tree: &'a Tree,
}

impl Drop for Exclusive<'_> {
    fn drop(&mut self) {
        // SAFETY: locked by `Tree::lock` on this thread.
        unsafe { libc::pthread_mutex_unlock(self.tree.mutex()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(child: libc::pid_t, options: i32) {
        // SAFETY: a child of ours; the status is not read.
        let ended = unsafe { libc::waitpid(child, std::ptr::null_mut(), options) };
        assert_eq!(ended, child);
    }

    #[test]
    fn nobody_waits_for_a_process_that_is_stopped_or_dead() {
        let tree = Tree::new().expect("memory");
        // SAFETY: the child makes system calls only.
        let child = match unsafe { libc::fork() } {
            0 => {
                let locked = tree.lock();
                // SAFETY: stops this process, and then ends it.
                unsafe {
                    libc::raise(libc::SIGSTOP);
                    libc::_exit(i32::from(locked.is_none()))
                }
            }
            child => child,
        };
        wait(child, libc::WUNTRACED);
        assert!(tree.lock().is_none());
        // SAFETY: a child of ours.
        assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0);
        wait(child, 0);
        let repairs = |owner_died: bool| {
            let (exclusive, is_dead) = tree.lock().expect("locked");
            assert_eq!(is_dead, owner_died);
            // Once more, by the same thread.
            drop(tree.lock().expect("locked"));
            drop(exclusive);
        };
        repairs(true);
        repairs(false);
    }
}
