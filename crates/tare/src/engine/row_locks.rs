//! Row locks of the host's storage engine, told when a reader asks: who holds which, and who waits for whom.
//!
//! A thread of the host's process sleeps until a reader asks, and has the host tell. So the host's own threads do nothing
//! for it, and who asks too often waits: telling takes at most a fifth of this thread's time.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::{Duration, Instant};

use tare_layout::View;
use tare_layout::name::Name;
use tare_layout::row_lock::{SILENT, Side, TELLS};
use tare_layout::shared::Lost;

use super::running::{NOW, engine};
use super::settings::{sleep, wake};
use super::state::Engine;
use super::{hot, own_thread};

/// Has the host tell what it knows.
pub type Teller = fn(&mut Sheet<'_>);

/// What the host fills.
#[derive(Debug)]
pub struct Sheet<'a> {
    view: View<'a>,
    locks: usize,
    waits: usize,
    /// Locks that waits name and that were not told yet: there is always room for them.
    awaited: HashSet<Box<str>>,
    lost: u64,
    until: Instant,
}

/// A lock that a transaction holds or wants. Empty texts are NULL.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowLock<'a> {
    /// The storage engine.
    pub engine: &'a str,
    /// Whose it is, and the engine's name for it.
    pub of: Party<'a>,
    /// The locked table's schema, name, partition, subpartition, and the index.
    pub object: [&'a str; 5],
    /// Its mode, type and status.
    pub lock: [&'a str; 3],
    /// The locked row's key, as the storage engine writes it.
    pub data: &'a str,
}

/// Whose a lock is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Party<'a> {
    /// The engine's name for the lock.
    pub id: &'a str,
    /// The transaction's number in its engine.
    pub transaction: u64,
    /// The thread that asked for it, 0 = not known.
    pub thread: u64,
    /// The event that did, 0 = not known.
    pub event: u64,
    /// The lock's address.
    pub address: u64,
}

/// Telling stops after this long: a server with millions of locks has something else to do.
const PATIENCE: Duration = Duration::from_secs(1);
/// For each moment of telling the thread rests so many.
const REST: u32 = 4;

impl Sheet<'_> {
    /// Whether more locks are wanted: there is room and time. What is not is counted as lost.
    pub fn wants_locks(&mut self) -> bool {
        let has_room = self.has_room() || !self.awaited.is_empty();
        self.has_time() && has_room || self.lose()
    }

    /// The same of waits.
    pub fn wants_waits(&mut self) -> bool {
        let has_room = self.waits < self.view.row_lock_waits().len();
        self.has_time() && has_room || self.lose()
    }

    fn has_time(&self) -> bool {
        Instant::now() < self.until
    }

    /// Whether there is room for a lock that nobody waits for.
    fn has_room(&self) -> bool {
        self.locks + self.awaited.len() < self.view.row_locks().len()
    }

    fn lose(&mut self) -> bool {
        self.lost += 1;
        false
    }

    /// A lock.
    pub fn lock(&mut self, lock: &RowLock<'_>) {
        let is_wanted = self.awaited.remove(lock.of.id) || self.has_room();
        let place = self.view.row_locks().get(self.locks);
        let Some(entry) = place.filter(|_| is_wanted) else {
            self.lose();
            return;
        };
        self.locks += 1;
        for (cell, value) in [
            (&entry.transaction, lock.of.transaction),
            (&entry.thread, lock.of.thread),
            (&entry.event, lock.of.event),
            (&entry.address, lock.of.address),
        ] {
            cell.store(value, Ordering::Relaxed);
        }
        entry.engine.set(lock.engine);
        entry.id.set(lock.of.id);
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

    /// A wait: who waits, and for whom.
    pub fn wait(&mut self, engine: &str, requesting: &Party<'_>, blocking: &Party<'_>) {
        let Some(entry) = self.view.row_lock_waits().get(self.waits) else {
            self.lose();
            return;
        };
        self.waits += 1;
        for party in [requesting, blocking] {
            if self.awaited.len() < self.view.row_locks().len() {
                self.awaited.insert(party.id.into());
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

fn set_side(side: &Side, party: &Party<'_>) {
    side.id.set(party.id);
    side.transaction.store(party.transaction, Ordering::Relaxed);
    side.thread.store(party.thread, Ordering::Relaxed);
    side.event.store(party.event, Ordering::Relaxed);
    side.address.store(party.address, Ordering::Relaxed);
}

/// Whether the thread was started.
static SERVES: AtomicBool = AtomicBool::new(false);

/// Has readers that ask answered by `teller`, on a thread of its own, which takes no signals. To be called once the host
/// does not fork any more.
pub fn serve(teller: Teller) {
    if SERVES.swap(true, Ordering::Relaxed) {
        return;
    }
    let running = {
        let _busy = hot::busy();
        engine(NOW.generation.load(Ordering::Relaxed)).map(|engine| Arc::clone(&engine))
    };
    if let Some(engine) = running {
        own_thread::start(c"tare-row-locks", move || answer(&engine, teller));
    }
}

fn answer(engine: &Engine, teller: Teller) {
    let (board, control) = (engine.view.row_lock_board(), engine.view.control());
    let mut answered = control.row_locks_asked.load(Ordering::SeqCst);
    board.answered.store(answered, Ordering::SeqCst);
    board.state.store(TELLS, Ordering::SeqCst);
    while engine.is_ours() && NOW.generation.load(Ordering::Relaxed) == engine.generation {
        let asked = control.row_locks_asked.load(Ordering::SeqCst);
        if asked == answered {
            sleep(&control.row_locks_asked, asked, None);
            continue;
        }
        let began = Instant::now();
        tell(engine, teller);
        answered = asked;
        // Release: who sees it sees what was told.
        board.answered.store(answered, Ordering::Release);
        wake(&board.answered);
        std::thread::sleep(began.elapsed().min(PATIENCE) * REST);
    }
    board.state.store(SILENT, Ordering::SeqCst);
}

fn tell(engine: &Engine, teller: Teller) {
    let board = engine.view.row_lock_board();
    let sequence = board.sequence.load(Ordering::Relaxed);
    board
        .sequence
        .store(sequence.wrapping_add(1), Ordering::Relaxed);
    // Odd before anything changes: pairs with the fence of who reads.
    fence(Ordering::Release);
    let mut sheet = Sheet {
        view: engine.view,
        locks: 0,
        waits: 0,
        awaited: HashSet::new(),
        lost: 0,
        until: Instant::now() + PATIENCE,
    };
    teller(&mut sheet);
    board.locks.store(sheet.locks as u32, Ordering::Relaxed);
    board.waits.store(sheet.waits as u32, Ordering::Relaxed);
    board
        .sequence
        .store(sequence.wrapping_add(2), Ordering::Release);
    if sheet.lost != 0 {
        engine.lose(Lost::RowLocks, sheet.lost);
    }
}
