//! A thread's turn of its event loop: from the return of one poll to the next poll. A thread that serves many
//! connections reads and executes their commands one after the other, so each waits for those before it.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use engine::statement::ticks_of_us;
use engine::thread::{self, ThreadSession};
use engine::{idle, periods, statement};

/// A turn of this length, in microseconds, is long: what arrived meanwhile has waited for a noticeable time, and is
/// worth a system call. The kernel's clock for it ticks every 1 to 10 milliseconds.
const LONG_US: u64 = 10_000;

/// How a thread polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// By epoll.
    Epoll,
    /// By poll, select and others. A thread that has used epoll does not poll its connections by these: it waits
    /// within a command, as Redis does in MIGRATE.
    Other,
}

struct Thread {
    /// When its last poll returned, 0 = it has not polled.
    woken: Cell<u64>,
    /// When the last command of the turn ended, 0 = unknown.
    ended: Cell<u64>,
    /// When the turn before began, if that was long; 0 = it was not.
    late: Cell<u64>,
    /// Whether it has used epoll.
    uses_epoll: Cell<bool>,
    /// Whether it serves a session.
    is_serving: Cell<bool>,
    /// Whether a command's execution has no end yet.
    is_executing: Cell<bool>,
    /// Where the end of that execution is stored.
    execution: RefCell<ManuallyDrop<Option<Arc<AtomicU64>>>>,
}

thread_local! {
    // Without a destructor, so that it can be used at any time in a thread's life.
    static THREAD: Thread = const {
        Thread {
            woken: Cell::new(0),
            ended: Cell::new(0),
            late: Cell::new(0),
            uses_epoll: Cell::new(false),
            is_serving: Cell::new(false),
            is_executing: Cell::new(false),
            execution: RefCell::new(ManuallyDrop::new(None)),
        }
    };
}

/// When the last poll of any thread returned.
static WOKEN: AtomicU64 = AtomicU64::new(0);

/// Whether a thread that does not poll reads connections, for one that does.
static HAS_READERS: AtomicBool = AtomicBool::new(false);

impl Thread {
    /// Whether this poll ends a turn and begins the next.
    #[inline]
    fn is_between_turns(&self, poll: Poll) -> bool {
        match poll {
            Poll::Epoll => {
                self.uses_epoll.set(true);
                true
            }
            Poll::Other => !self.uses_epoll.get(),
        }
    }
}

/// The thread's poll has returned at this moment: what it reads now arrived by then.
pub fn begin(poll: Poll, moment: u64) {
    let is_turn = THREAD.with(|thread| {
        if !thread.is_between_turns(poll) {
            return false;
        }
        let (before, ended) = (thread.woken.replace(moment), thread.ended.replace(0));
        thread
            .late
            .set(match ended.saturating_sub(before) > long_ticks() {
                true => before,
                false => 0,
            });
        true
    });
    if is_turn {
        WOKEN.store(moment, Ordering::Relaxed);
    }
}

fn long_ticks() -> u64 {
    static TICKS: OnceLock<u64> = OnceLock::new();
    *TICKS.get_or_init(|| ticks_of_us(LONG_US))
}

/// The thread is about to poll.
#[inline]
pub fn end(poll: Poll) {
    let is_turn = THREAD.with(|thread| thread.is_between_turns(poll));
    if !is_turn {
        return;
    }
    end_execution();
    THREAD.with(|thread| {
        if thread.is_serving.replace(false) {
            thread::serve_none();
        }
    });
}

/// The calling thread's last statement has just ended.
#[inline]
pub fn note_end() {
    THREAD.with(|thread| thread.ended.set(statement::last_end()));
}

/// When the last poll of the thread returned, or, for a thread that does not poll, that of any other; 0 = none has.
#[inline]
pub fn woken() -> u64 {
    match THREAD.with(|thread| thread.woken.get()) {
        0 => WOKEN.load(Ordering::Relaxed),
        own => own,
    }
}

/// When what the thread reads now arrived: its poll returned then, or, for a thread that does not poll, the
/// last poll of another thread that passes on what arrives.
pub fn arrived() -> u64 {
    let own = THREAD.with(|thread| thread.woken.get());
    // A poll is not observed while everything is off.
    let began = periods::present_began();
    if own != 0 {
        return own.max(began);
    }
    HAS_READERS.store(true, Ordering::Relaxed);
    match WOKEN.load(Ordering::Relaxed) {
        0 => idle::now(),
        woken => woken.max(began),
    }
}

/// The same of what it reads from this socket. If the turn before was long, it may have arrived then: the kernel
/// knows when, of TCP.
pub fn arrived_at(socket: c_int) -> u64 {
    let woken = arrived();
    match THREAD.with(|thread| thread.late.get()) {
        0 => woken,
        late => {
            let late = late.max(periods::present_began()).min(woken);
            let waited = last_received_us(socket).map(ticks_of_us);
            waited.map_or(woken, |ticks| {
                idle::now().saturating_sub(ticks).clamp(late, woken)
            })
        }
    }
}

/// How long ago the last bytes arrived at a TCP socket, in microseconds.
#[cold]
fn last_received_us(socket: c_int) -> Option<u64> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `info` is as large as `length` says.
    let result = unsafe {
        libc::getsockopt(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut length,
        )
    };
    // SAFETY: zeroes are valid, and the kernel has written numbers.
    let info = unsafe { info.assume_init() };
    (result == 0).then(|| 1000 * u64::from(info.tcpi_last_data_recv))
}

/// Whether the calling thread polls and reads connections, and no other thread reads them for it: then it executes a
/// command when it has read it.
#[inline]
pub fn is_only_reader() -> bool {
    THREAD.with(|thread| thread.woken.get()) != 0 && !HAS_READERS.load(Ordering::Relaxed)
}

/// The thread executes commands of this session, until it serves another one or polls.
#[inline]
pub fn serve(session: &ThreadSession) {
    if is_only_reader() {
        thread::serve(session);
        THREAD.with(|thread| thread.is_serving.set(true));
    }
}

/// The thread begins at this moment to execute commands. Their end will be stored in `end`. The execution before has
/// ended.
pub fn begin_execution(moment: u64, end: &Arc<AtomicU64>) {
    end.store(0, Ordering::Relaxed);
    THREAD.with(|thread| {
        let next = ManuallyDrop::new(Some(Arc::clone(end)));
        let before = ManuallyDrop::into_inner(thread.execution.replace(next));
        if let Some(before) = before.filter(|before| !Arc::ptr_eq(before, end)) {
            before.store(moment, Ordering::Relaxed);
        }
        thread.is_executing.set(true);
    });
}

/// The thread executes no more commands, because it writes replies or polls.
#[inline]
pub fn end_execution() {
    if THREAD.with(|thread| thread.is_executing.get()) {
        store_end();
    }
}

#[cold]
fn store_end() {
    THREAD.with(|thread| {
        thread.is_executing.set(false);
        let execution = thread.execution.replace(ManuallyDrop::new(None));
        if let Some(end) = ManuallyDrop::into_inner(execution) {
            end.store(idle::now(), Ordering::Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_ends_where_the_next_begins() {
        let [first, second] = [(); 2].map(|()| Arc::new(AtomicU64::new(7)));
        begin_execution(10, &first);
        assert_eq!(first.load(Ordering::Relaxed), 0);
        begin_execution(20, &second);
        assert_eq!(first.load(Ordering::Relaxed), 20);
        end_execution();
        let end = second.load(Ordering::Relaxed);
        assert!(end > 20);
        // It has ended once.
        end_execution();
        assert_eq!(second.load(Ordering::Relaxed), end);
    }

    #[test]
    fn only_after_a_long_turn_something_may_have_arrived_before_the_poll() {
        let late = || THREAD.with(|thread| thread.late.get());
        begin(Poll::Other, 1000);
        THREAD.with(|thread| thread.ended.set(1000 + 2 * long_ticks()));
        begin(Poll::Other, 1000 + 3 * long_ticks());
        assert_eq!(late(), 1000);
        // No socket: the kernel knows nothing.
        assert_eq!(arrived_at(-1), arrived());
        begin(Poll::Other, 1000 + 9 * long_ticks());
        assert_eq!(late(), 0, "idle");
    }
}
