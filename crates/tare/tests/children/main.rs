//! Children of fork record into their parent's segment. Without a harness, because a process with several
//! threads has no such children.
//!
//! | file | contents |
//! |---|---|
//! | counts | counts and lists, of many children and of those that are killed |
//! | inherited | what a child has from its parent |
//! | ends | processes that stop, give up, or end |

mod counts;
mod ends;
mod inherited;
#[path = "../support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tare::{Config, Operation};
use tare_layout::process;

use support::{Running, Segment, start};

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/children/lock";
    static EVENT: MetadataLock = "wait/lock/metadata/children/event";
    static DATA: File = "wait/io/file/children/data";
    static CLIENT: Socket = "wait/io/socket/children/client";
    static QUERY: Statement = "statement/children/query";
    static WORKER: Thread = "thread/children/worker";
}

/// Runs the tests, or those whose name contains an argument.
fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    macro_rules! tests {
        ($($file:ident::$name:ident,)*) => { [$((stringify!($name), $file::$name as fn())),*] };
    }
    let all = tests![
        counts::a_killed_child_is_not_listed_for_long,
        counts::totals_are_those_of_all_processes,
        counts::many_children_leak_nothing,
        counts::killed_children_lose_their_last_event_only,
        counts::a_name_has_one_number_in_all_processes,
        inherited::what_a_parent_opened_is_its_own,
        inherited::a_child_that_was_forked_in_a_session_is_in_none,
        ends::the_segment_ends_with_the_last_process,
        ends::a_killed_owner_is_replaced_by_the_oldest,
        inherited::children_of_a_parent_with_threads_do_not_record,
        inherited::a_bank_of_another_process_begins_at_zero,
        ends::a_process_that_gave_up_changes_nothing,
        ends::a_process_without_its_first_thread_lives,
        ends::a_child_stops_under_a_filter_of_system_calls,
        inherited::locks_of_children_have_no_instances,
    ];
    for (name, test) in all {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            println!("test {name}");
            // Nobody may hang. SAFETY: ends this process; each child sets its own.
            unsafe { libc::alarm(600) };
            test();
        }
    }
}

/// Stops the process at its next allocation: Tare allocates while it has the lock.
static STOPS: AtomicBool = AtomicBool::new(false);

struct Stopping;

#[global_allocator]
static ALLOCATOR: Stopping = Stopping;

// SAFETY: the system's allocator.
unsafe impl GlobalAlloc for Stopping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if STOPS.load(Ordering::Relaxed) && STOPS.swap(false, Ordering::Relaxed) {
            // SAFETY: stops this process.
            unsafe { libc::raise(libc::SIGSTOP) };
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }
}

fn many_processes() -> Running {
    start(Config::everything().many_processes(true))
}

fn event() {
    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
}

/// Forks a child that runs `body` and ends without any destructor.
fn fork(body: impl FnOnce()) -> libc::pid_t {
    // SAFETY: this process has one thread, and the child ends by _exit.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: ends the child if it hangs.
            unsafe { libc::alarm(300) };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(result.is_err())) }
        }
        pid => {
            assert!(pid > 0, "fork: {}", std::io::Error::last_os_error());
            pid
        }
    }
}

fn wait(pid: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: a child of ours, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

/// Runs `body` in a child until its end.
fn in_child(body: impl FnOnce()) {
    assert_eq!(wait(fork(body)), 0);
}

/// Integers that children share with this process, and that survive them.
fn tallies<const N: usize>() -> &'static [AtomicU64; N] {
    // SAFETY: a new mapping, which is never unmapped; zeroes are valid.
    unsafe {
        let place = libc::mmap(
            std::ptr::null_mut(),
            size_of::<[AtomicU64; N]>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(place, libc::MAP_FAILED);
        &*place.cast::<[AtomicU64; N]>()
    }
}

fn processes(tare: &Segment) -> BTreeSet<u32> {
    let slots = tare.live().into_iter().map(|i| tare.view.slot(i));
    slots
        .map(|slot| process::id(slot.process.load(Ordering::Relaxed)))
        .collect()
}

/// Turns of processes, which only grow.
#[derive(Clone, Copy)]
struct Turns(&'static AtomicU64);

impl Turns {
    fn new() -> Self {
        Self(&tallies::<1>()[0])
    }

    fn set(self, turn: u64) {
        self.0.store(turn, Ordering::Release);
    }

    fn wait_for(self, turn: u64) {
        while self.0.load(Ordering::Acquire) < turn {
            std::thread::yield_now();
        }
    }
}
