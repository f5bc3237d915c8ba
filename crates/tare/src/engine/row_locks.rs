//! Row locks of the host's storage engine: which transaction holds or waits for which. Read on request.
//!
//! One thread in the host's process sleeps until a reader requests the locks, and then reads them from the
//! storage engine. The host's other threads do nothing for it. Reading takes at most a fifth of this
//! thread's time, so a reader that requests too often waits.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::{Duration, Instant};

use tare_layout::View;
use tare_layout::name::Name;
use tare_layout::row_lock::{NOT_SERVING, SERVING, Side};
use tare_layout::shared::Lost;

use super::running::{NOW, engine};
use super::state::Engine;
use super::system::{sleep, wake};
use super::{hot, own_thread};
use crate::payload::IS_COMPILED_IN;

/// The host's function that writes its locks and waits into the sheet.
pub type RowLockSource = fn(&mut Sheet<'_>);

/// The locks and waits of one answer, which the host fills in.
#[derive(Debug)]
pub struct Sheet<'a> {
    view: View<'a>,
    locks: usize,
    waits: usize,
    /// Locks that waits name and that are not written yet: space is reserved for them.
    awaited: HashSet<Box<str>>,
    lost: u64,
    deadline: Instant,
}

/// A lock that a transaction holds or wants. Empty texts are NULL.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowLock<'a> {
    /// The storage engine.
    pub engine: &'a str,
    /// The transaction that holds or wants it, and the engine's name for it.
    pub owner: LockOwner<'a>,
    /// The locked table's schema, name, partition, subpartition, and the index.
    pub object: [&'a str; 5],
    /// Its mode, type and status.
    pub lock: [&'a str; 3],
    /// The locked row's key, as the storage engine writes it.
    pub data: &'a str,
}

/// The transaction that holds or wants a lock.
#[derive(Clone, Copy, Debug, Default)]
pub struct LockOwner<'a> {
    /// The engine's name for the lock.
    pub id: &'a str,
    /// The transaction's number in its engine.
    pub transaction: u64,
    /// The thread that requested it, 0 = unknown.
    pub thread: u64,
    /// The event that did, 0 = unknown.
    pub event: u64,
    /// The lock's address.
    pub address: u64,
}

/// Reading stops after this long, so that it does not occupy a server with millions of locks.
const READ_TIMEOUT: Duration = Duration::from_secs(1);
/// The thread rests for this many times the duration of a read.
const REST_PER_READ: u32 = 4;

impl Sheet<'_> {
    /// Whether the host writes one more lock: there is space and time. If not, the lock counts as lost.
    pub fn accept_more_locks(&mut self) -> bool {
        let has_space = self.has_space() || !self.awaited.is_empty();
        self.is_in_time() && has_space || self.lose()
    }

    /// The same for one more wait.
    pub fn accept_more_waits(&mut self) -> bool {
        let has_space = self.waits < self.view.row_lock_waits().len();
        self.is_in_time() && has_space || self.lose()
    }

    fn is_in_time(&self) -> bool {
        Instant::now() < self.deadline
    }

    /// Whether there is space for a lock that has no waiter.
    fn has_space(&self) -> bool {
        self.locks + self.awaited.len() < self.view.row_locks().len()
    }

    fn lose(&mut self) -> bool {
        self.lost += 1;
        false
    }

    /// Writes a lock.
    pub fn lock(&mut self, lock: &RowLock<'_>) {
        let is_wanted = self.awaited.remove(lock.owner.id) || self.has_space();
        let place = self.view.row_locks().get(self.locks);
        let Some(entry) = place.filter(|_| is_wanted) else {
            self.lose();
            return;
        };
        self.locks += 1;
        for (cell, value) in [
            (&entry.transaction, lock.owner.transaction),
            (&entry.thread, lock.owner.thread),
            (&entry.event, lock.owner.event),
            (&entry.address, lock.owner.address),
        ] {
            cell.store(value, Ordering::Relaxed);
        }
        entry.engine.set(lock.engine);
        entry.id.set(lock.owner.id);
        let names = [
            &entry.schema,
            &entry.table,
            &entry.partition,
            &entry.subpartition,
            &entry.index,
        ];
        set_all(names, lock.object);
        set_all([&entry.mode, &entry.kind, &entry.status], lock.lock);
        entry.data.set(lock.data);
    }

    /// Writes a wait: `requesting` waits for `blocking`.
    pub fn wait(&mut self, engine: &str, requesting: &LockOwner<'_>, blocking: &LockOwner<'_>) {
        let Some(entry) = self.view.row_lock_waits().get(self.waits) else {
            self.lose();
            return;
        };
        self.waits += 1;
        for owner in [requesting, blocking] {
            if self.awaited.len() < self.view.row_locks().len() {
                self.awaited.insert(owner.id.into());
            }
        }
        entry.engine.set(engine);
        set_side(&entry.requesting, requesting);
        set_side(&entry.blocking, blocking);
    }
}

fn set_all<const N: usize, const WORDS: usize>(cells: [&Name<WORDS>; N], texts: [&str; N]) {
    for (cell, text) in cells.into_iter().zip(texts) {
        cell.set(text);
    }
}

fn set_side(side: &Side, owner: &LockOwner<'_>) {
    side.id.set(owner.id);
    side.transaction.store(owner.transaction, Ordering::Relaxed);
    side.thread.store(owner.thread, Ordering::Relaxed);
    side.event.store(owner.event, Ordering::Relaxed);
    side.address.store(owner.address, Ordering::Relaxed);
}

/// Whether the thread has been started.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Starts the thread that answers readers with what `source` writes. It takes no signals. Call this once the
/// host no longer forks.
pub fn serve(source: RowLockSource) {
    if !IS_COMPILED_IN || STARTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let running = {
        let _busy = hot::busy();
        engine(NOW.generation.load(Ordering::Relaxed)).map(|engine| Arc::clone(&engine))
    };
    if let Some(engine) = running {
        own_thread::start(c"tare-row-locks", move || serve_readers(&engine, source));
    }
}

fn serve_readers(engine: &Engine, source: RowLockSource) {
    let (board, control) = (engine.view.row_lock_board(), engine.view.control());
    let mut answered = control.row_lock_requests.load(Ordering::SeqCst);
    board.answered.store(answered, Ordering::SeqCst);
    board.state.store(SERVING, Ordering::SeqCst);
    while engine.is_ours() && NOW.generation.load(Ordering::Relaxed) == engine.generation() {
        let request = control.row_lock_requests.load(Ordering::SeqCst);
        if request == answered {
            sleep(&control.row_lock_requests, request, None);
            continue;
        }
        let began = Instant::now();
        read_row_locks(engine, source);
        answered = request;
        // Release: a reader that sees this sees the answer.
        board.answered.store(answered, Ordering::Release);
        wake(&board.answered);
        std::thread::sleep(began.elapsed().min(READ_TIMEOUT) * REST_PER_READ);
    }
    board.state.store(NOT_SERVING, Ordering::SeqCst);
}

fn read_row_locks(engine: &Engine, source: RowLockSource) {
    let board = engine.view.row_lock_board();
    let sequence = board.sequence.load(Ordering::Relaxed);
    board
        .sequence
        .store(sequence.wrapping_add(1), Ordering::Relaxed);
    // Odd before anything changes: pairs with the reader's fence.
    fence(Ordering::Release);
    let mut sheet = Sheet {
        view: engine.view,
        locks: 0,
        waits: 0,
        awaited: HashSet::new(),
        lost: 0,
        deadline: Instant::now() + READ_TIMEOUT,
    };
    source(&mut sheet);
    board.locks.store(sheet.locks as u32, Ordering::Relaxed);
    board.waits.store(sheet.waits as u32, Ordering::Relaxed);
    board
        .sequence
        .store(sequence.wrapping_add(2), Ordering::Release);
    if sheet.lost != 0 {
        engine.lose(Lost::RowLocks, sheet.lost);
    }
}
