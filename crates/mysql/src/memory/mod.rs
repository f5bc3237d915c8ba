//! How much memory a statement and a session may take, counted on the thread that runs them, while it grows.
//!
//! Two allocators count: SQLite's, which fails beyond a limit, and the program's
//! ([`CountingAllocator`]), which cannot fail. So code that runs long, or builds something large, calls
//! [`admit`]. A statement's memory is given back when it is freed, or when the statement ends; a session's
//! ([`SessionMemory`]) when it is freed, or when the session ends.
//!
//! 1. (The rule for `unsafe` here.) The inner allocator gets the caller's own arguments, so that the caller's
//!    promise to `GlobalAlloc` holds for it. Counting neither allocates nor unwinds.

mod session;

use std::alloc::{GlobalAlloc, Layout};
use std::cell::{Cell, RefCell};

pub use self::session::{SessionMemory, TotalMemory};
use crate::error::SqlError;

/// The default limit of a statement.
pub const DEFAULT_BYTES: u64 = 256 << 20;

/// Why an allocation was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// The statement's own limit.
    Statement,
    /// The session's limit, and what it would hold.
    Session { limit: u64, held: u64 },
    /// The limit of all sessions, and what they would hold.
    Total { limit: u64, held: u64 },
}

/// The session that the thread serves.
struct Served {
    memory: SessionMemory,
    /// The balance at which it holds nothing.
    origin: i64,
}

impl Served {
    fn held(&self, balance: i64) -> u64 {
        u64::try_from(self.origin - balance).unwrap_or(0)
    }

    fn floor(&self) -> i64 {
        let reserved = i64::try_from(self.memory.reserved()).unwrap_or(i64::MAX);
        self.origin.saturating_sub(reserved)
    }
}

thread_local! {
    /// The bytes that the thread has freed, less those that it has allocated.
    static BALANCE: Cell<i64> = const { Cell::new(0) };
    /// The balance below which an allocation needs a check: the higher one of the two floors that follow.
    static FLOOR: Cell<i64> = const { Cell::new(i64::MIN) };
    static STATEMENT_FLOOR: Cell<i64> = const { Cell::new(i64::MIN) };
    static SESSION_FLOOR: Cell<i64> = const { Cell::new(i64::MIN) };
    /// The limit of the statement; 0 while none runs or there is no limit.
    static LIMIT_BYTES: Cell<u64> = const { Cell::new(0) };
    /// Why the last allocation was refused in this statement, or in this command before one.
    static REFUSED: Cell<Option<Refusal>> = const { Cell::new(None) };
    static SERVED: RefCell<Option<Served>> = const { RefCell::new(None) };
}

fn update_floor() {
    FLOOR.set(STATEMENT_FLOOR.get().max(SESSION_FLOOR.get()));
}

/// The thread serves a session until this is dropped.
#[derive(Debug)]
pub struct ServedSession(());

/// Begins to count what the thread allocates and frees as a session's.
#[inline]
pub fn serve_session(memory: SessionMemory) -> ServedSession {
    let held = i64::try_from(memory.held()).unwrap_or(i64::MAX);
    let origin = BALANCE.get().saturating_add(held);
    let served = Served { memory, origin };
    SESSION_FLOOR.set(served.floor());
    SERVED.set(Some(served));
    REFUSED.set(None);
    update_floor();
    ServedSession(())
}

impl ServedSession {
    /// Ends that, and returns the session's memory.
    #[inline]
    pub fn end(self) -> Option<SessionMemory> {
        let mut served = SERVED.take()?;
        let held = served.held(BALANCE.get());
        served.memory.settle(held);
        Some(served.memory)
    }
}

impl Drop for ServedSession {
    fn drop(&mut self) {
        SERVED.take();
        SESSION_FLOOR.set(i64::MIN);
        update_floor();
    }
}

/// Limits the thread's statement until it is dropped. Statements within it share its limit.
#[derive(Debug)]
pub struct StatementLimit {
    outermost: bool,
}

/// Begins a statement that may take `limit` bytes; 0 is no limit.
pub fn limit_statement(limit: u64) -> StatementLimit {
    let outermost = LIMIT_BYTES.get() == 0 && limit > 0;
    if outermost {
        LIMIT_BYTES.set(limit);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        STATEMENT_FLOOR.set(BALANCE.get().saturating_sub(limit));
        REFUSED.set(None);
        update_floor();
    }
    StatementLimit { outermost }
}

impl Drop for StatementLimit {
    fn drop(&mut self) {
        if self.outermost {
            LIMIT_BYTES.set(0);
            STATEMENT_FLOOR.set(i64::MIN);
            update_floor();
        }
    }
}

/// Counts bytes that are about to be allocated. False: they are beyond a limit.
#[inline]
pub fn take(bytes: usize) -> bool {
    let balance = BALANCE.get() - bytes as i64;
    if balance < FLOOR.get() && !is_admitted_slow(balance) {
        return false;
    }
    BALANCE.set(balance);
    true
}

/// Counts bytes that were freed.
#[inline]
pub fn give(bytes: usize) {
    BALANCE.set(BALANCE.get() + bytes as i64);
}

/// Counts bytes without checking a limit, for an allocator that cannot fail.
#[inline]
pub(crate) fn count(bytes: usize) {
    BALANCE.set(BALANCE.get() - bytes as i64);
}

/// Whether the statement or command may allocate so many bytes more. If not, it must end, with the error
/// [`exhausted`].
#[inline]
pub fn admit(bytes: usize) -> bool {
    let balance = BALANCE.get() - bytes as i64;
    balance >= FLOOR.get() || is_admitted_slow(balance)
}

/// Whether the balance may fall so far. The session may have to reserve more for that.
#[cold]
fn is_admitted_slow(balance: i64) -> bool {
    let refusal = match balance < STATEMENT_FLOOR.get() {
        true => Some(Refusal::Statement),
        false => SERVED.with_borrow_mut(|served| {
            let served = served.as_mut()?;
            let held = served.held(balance);
            let refusal = served.memory.reserve(held).err();
            SESSION_FLOOR.set(served.floor());
            refusal
        }),
    };
    update_floor();
    if refusal.is_some() {
        REFUSED.set(refusal);
    }
    refusal.is_none()
}

/// A program's allocator, which counts what its thread's statement takes.
#[derive(Debug)]
pub struct CountingAllocator<A>(pub A);

// SAFETY: rule 1.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes);
        give(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.realloc(memory, layout, bytes) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give(layout.size());
        // SAFETY: rule 1 (the caller's own arguments).
        unsafe { self.0.dealloc(memory, layout) }
    }
}

/// The numbers of the errors after which a session ends: it, or all sessions, would hold too much memory.
pub const SESSION_ERRORS: [u16; 2] = [4081, 4082];

/// 1041: there is no memory, or the statement may not have more. 4082 and 4081: its session, or all, may not.
pub fn exhausted() -> SqlError {
    let statement_limit = LIMIT_BYTES.get();
    match REFUSED.get() {
        Some(Refusal::Session { limit, held }) => SqlError::new(
            4082,
            format!(
                "Connection closed. Connection memory limit {limit} bytes exceeded. Consumed {held} bytes."
            ),
        ),
        Some(Refusal::Total { limit, held }) => SqlError::new(
            4081,
            format!(
                "Connection closed. Global connection memory limit {limit} bytes exceeded. Consumed {held} bytes."
            ),
        ),
        Some(Refusal::Statement) if statement_limit > 0 => SqlError::new(
            1041,
            format!(
                "Out of memory; the statement needs more than max_statement_memory ({statement_limit} bytes)"
            ),
        ),
        _ => SqlError::new(1041, "Out of memory"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_statement_takes_no_more_than_its_limit() {
        assert!(take(1 << 40), "no statement runs");
        give(1 << 40);
        let outer = limit_statement(1000);
        assert!(take(600) && !take(500));
        assert!(exhausted().message.contains("1000 bytes"));
        {
            let _inner = limit_statement(1 << 30);
            assert!(!take(500), "it is a part of the outer one");
        }
        give(600);
        assert!(take(900));
        drop(outer);
        assert!(take(1 << 40));
        assert_eq!(exhausted().message, "Out of memory");
        let _again = limit_statement(0);
        assert!(take(1 << 40), "no limit");
    }

    #[test]
    fn a_session_counts_from_command_to_command() {
        let total = Arc::new(TotalMemory::new(u64::MAX));
        let mut memory = SessionMemory::new(total.clone());
        memory.set_limit(1000);
        for held in [400, 800] {
            let served = serve_session(memory);
            let statement = limit_statement(1 << 30);
            assert!(take(400) && !take(1200 - held));
            assert_eq!(exhausted().code, 4082);
            assert!(exhausted().message.contains("Consumed 1200 bytes."));
            drop(statement);
            memory = served.end().expect("is served");
            assert_eq!(memory.held(), held as u64);
        }
        give(800);
        assert!(take(1 << 40), "no session is served");
        give(1 << 40);
        let served = serve_session(memory);
        assert!(take(200) && !take(1));
        give(1000);
        drop(served);
        assert_eq!(total.bytes(), 0, "a session that panics gives all back");
    }
}
