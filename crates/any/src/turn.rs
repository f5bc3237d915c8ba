//! A thread's turn of its event loop: from the return of one poll to the next poll. A thread that serves many
//! connections reads and executes their commands one after the other, so each waits for those before it.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use engine::statement::ticks_of_us;
use engine::{Class, idle, periods, stage, thread};

/// What has waited for less than this, in microseconds, counts as if it had just arrived: the kernel's clock for it ticks
/// every 1 to 10 milliseconds.
const MIN_WAIT_US: u64 = 20_000;

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
    /// When the poll before returned, if that was long before; 0 = it was not.
    late: Cell<u64>,
    /// Whether it has used epoll.
    uses_epoll: Cell<bool>,
    /// Where the end of the execution that runs is stored.
    execution: RefCell<ManuallyDrop<Option<Arc<AtomicU64>>>>,
}

thread_local! {
    // Without a destructor, so that it can be used at any time in a thread's life.
    static THREAD: Thread = const {
        Thread {
            woken: Cell::new(0),
            late: Cell::new(0),
            uses_epoll: Cell::new(false),
            execution: RefCell::new(ManuallyDrop::new(None)),
        }
    };
}

/// When the last poll of any thread returned.
static WOKEN: AtomicU64 = AtomicU64::new(0);

/// Whether a thread that does not poll reads connections, for one that does.
static HAS_READERS: AtomicBool = AtomicBool::new(false);

/// A stage of the program's commands.
static STAGE: OnceLock<&'static Class> = OnceLock::new();

/// Whether stages of commands may be timed. Where they are not, nothing else is read.
static HAS_STAGES: AtomicBool = AtomicBool::new(false);

/// The program's commands have stages, such as this one.
pub fn set_stage(class: &'static Class) {
    let _ = STAGE.set(class);
}

/// Whether stages of commands may be timed.
#[inline(always)]
pub fn has_stages() -> bool {
    HAS_STAGES.load(Ordering::Relaxed)
}

/// The thread's poll has returned at this moment: what it reads now arrived by then.
pub fn begin(poll: Poll, moment: u64) {
    let is_turn = THREAD.with(|thread| {
        match poll {
            Poll::Epoll => thread.uses_epoll.set(true),
            Poll::Other if thread.uses_epoll.get() => return false,
            Poll::Other => {}
        }
        let before = thread.woken.replace(moment);
        let is_long = before != 0 && moment.saturating_sub(before) > min_wait();
        thread.late.set(if is_long { before } else { 0 });
        true
    });
    if is_turn {
        WOKEN.store(moment, Ordering::Relaxed);
        if let Some(class) = STAGE.get() {
            HAS_STAGES.store(stage::is_timed(class), Ordering::Relaxed);
        }
    }
}

/// [`MIN_WAIT_US`] in ticks.
fn min_wait() -> u64 {
    static TICKS: OnceLock<u64> = OnceLock::new();
    *TICKS.get_or_init(|| ticks_of_us(MIN_WAIT_US))
}

/// The thread is about to poll.
#[inline]
pub fn end(poll: Poll) {
    if poll == Poll::Epoll || !THREAD.with(|thread| thread.uses_epoll.get()) {
        end_execution();
        thread::serve_none();
    }
}

/// When the last poll of the thread returned, or, for a thread that does not poll, that of any other; 0 = none has.
#[inline]
pub fn woken() -> u64 {
    match THREAD.with(|thread| thread.woken.get()) {
        0 => WOKEN.load(Ordering::Relaxed),
        own => own,
    }
}

/// Whether the thread polls and reads connections, and no other thread reads them for it.
#[inline]
pub fn is_loop() -> bool {
    THREAD.with(|thread| thread.woken.get()) != 0 && !HAS_READERS.load(Ordering::Relaxed)
}

/// When what the thread reads now arrived: its poll returned then, or, for a thread that does not poll, the
/// last poll of another thread that passes on what arrives.
#[inline]
pub fn arrived() -> u64 {
    match THREAD.with(|thread| thread.woken.get()) {
        0 => arrived_elsewhere(),
        // A poll is not observed while everything is off.
        own => own.max(periods::present_began()),
    }
}

#[cold]
fn arrived_elsewhere() -> u64 {
    HAS_READERS.store(true, Ordering::Relaxed);
    match WOKEN.load(Ordering::Relaxed) {
        0 => idle::now(),
        woken => woken.max(periods::present_began()),
    }
}

/// What a thread reads.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrived.
    pub since: u64,
    /// Whether the thread polls and reads connections, and no other thread reads them for it: then it executes a
    /// command when it has read it.
    pub is_executed: bool,
}

/// What the thread has just read from this socket. If it has not polled for long, it may have arrived before the poll
/// returned: the kernel knows when, of TCP.
#[inline]
pub fn read(socket: c_int) -> Arrival {
    let (woken, late) = THREAD.with(|thread| (thread.woken.get(), thread.late.get()));
    let since = match (woken, late) {
        (0, _) => arrived_elsewhere(),
        (_, 0) => woken.max(periods::present_began()),
        _ => arrived_late(socket, late, woken),
    };
    Arrival {
        since,
        is_executed: woken != 0 && !HAS_READERS.load(Ordering::Relaxed),
    }
}

#[cold]
fn arrived_late(socket: c_int, late: u64, woken: u64) -> u64 {
    let woken = woken.max(periods::present_began());
    let late = late.max(periods::present_began()).min(woken);
    match last_received_us(socket).filter(|us| *us >= MIN_WAIT_US) {
        None => woken,
        Some(us) => {
            let received = idle::now().saturating_sub(ticks_of_us(us));
            received.clamp(late, woken)
        }
    }
}

/// How long ago the last bytes arrived at a TCP socket, in microseconds.
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
    });
}

/// The thread executes no more commands, because it writes replies or polls.
#[inline(always)]
pub fn end_execution() {
    if has_stages() {
        store_end();
    }
}

#[cold]
#[inline(never)]
fn store_end() {
    THREAD.with(|thread| {
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
        HAS_STAGES.store(true, Ordering::Relaxed);
        end_execution();
        let end = second.load(Ordering::Relaxed);
        assert!(end > 20);
        // It has ended once.
        end_execution();
        assert_eq!(second.load(Ordering::Relaxed), end);
    }

    #[test]
    fn only_after_a_long_time_something_may_have_arrived_before_the_poll() {
        let late = || THREAD.with(|thread| thread.late.get());
        begin(Poll::Other, 1000);
        assert_eq!(late(), 0, "the first poll");
        begin(Poll::Other, 1000 + 2 * min_wait());
        assert_eq!(late(), 1000);
        // No socket: the kernel knows nothing.
        assert_eq!(read(-1).since, arrived());
        begin(Poll::Epoll, 1001 + 2 * min_wait());
        assert_eq!(late(), 0);
        // Within a turn.
        begin(Poll::Other, 9000 + 9 * min_wait());
        assert_eq!(arrived(), 1001 + 2 * min_wait());
    }
}
