//! PostgreSQL's processes, by what each of them publishes about itself: the wait event in which it is, and
//! its role.
//!
//! | file | what it has |
//! |---|---|
//! | events | a wait event's class |
//! | files | a file's kind, by its directory |
//! | role | a process's role |
//!
//! # Safety
//!
//! PostgreSQL's program exports its variables and functions for its extensions. The SAFETY comments cite
//! these rules:
//!
//! 1. A variable or function that the program exports under a name has the type that PostgreSQL declares for
//!    this name in each version that has it.
//! 2. `my_wait_event_info` always points to a word: one of the process's own, or one in shared memory that
//!    the process does not unmap while the variable points there.
//! 3. A name that PostgreSQL returns is NULL or a C string that it does not free.

mod events;
mod files;
mod role;

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

pub use files::{KINDS, kind_of};

use engine::host_lock::{self, HostLock, PendingLock};
use engine::wait::{self, Wait};
use engine::{Class, Kind, Operation, Source, idle, statement};

use crate::exports::exported;
use crate::names::Classes;
use events::Events;

/// What PostgreSQL exports.
struct Server {
    events: Option<Events>,
    role: Option<role::Role>,
}

/// PostgreSQL's exports; NULL in another program.
static SERVER: AtomicPtr<Server> = AtomicPtr::new(ptr::null_mut());

/// Whether the program is PostgreSQL.
pub fn is_postgres() -> bool {
    exported(c"PostmasterMain").is_some()
}

/// Reads PostgreSQL's variables from now on. False: it does not export its wait events.
pub fn open(classes: &Classes) -> bool {
    let server = Server {
        events: Events::find(),
        role: role::Role::find(),
    };
    if let Some(events) = &server.events {
        events.register(classes);
    }
    let has_events = server.events.is_some();
    SERVER.store(Box::into_raw(Box::new(server)), Ordering::Release);
    has_events
}

/// Whether the server may say in which wait event the calling process is.
#[inline(always)]
pub fn has_events() -> bool {
    !SERVER.load(Ordering::Relaxed).is_null()
}

/// The class of the wait event in which the calling process is. Also records the process's role, if it has
/// changed.
#[inline(always)]
fn current() -> Option<&'static Class> {
    // SAFETY: NULL, or stored by `open`, and never freed.
    let server = unsafe { SERVER.load(Ordering::Acquire).as_ref() }?;
    if let Some(role) = &server.role {
        role.update();
    }
    server.events.as_ref()?.current()
}

/// The class of a call on a file, if the server has set a wait event of class IO.
#[inline]
pub fn file_event() -> Option<&'static Class> {
    current().filter(|class| class.kind() == Kind::File)
}

/// A wait that runs.
pub enum Waiting {
    /// Not for a lock.
    Wait(Wait),
    /// For a lock. `None`: it is counted already.
    Lock(Option<PendingLock>),
}

/// Begins to wait: in the server's wait event, or else as `ordinary` does.
#[inline]
pub fn begin_wait(operation: Operation, ordinary: impl FnOnce() -> Wait) -> Waiting {
    match current() {
        None => Waiting::Wait(ordinary()),
        Some(class) => begin_event(class, operation, ordinary),
    }
}

fn begin_event(
    class: &'static Class,
    operation: Operation,
    ordinary: impl FnOnce() -> Wait,
) -> Waiting {
    let operation = match class.kind() {
        Kind::Idle => return Waiting::Wait(idle::start(class)),
        Kind::Socket if events::is_client_read(class) && !statement::is_open() => {
            return Waiting::Wait(ordinary());
        }
        // At the level `active` and when all is off, a point for locks does nothing.
        Kind::RwLock if wait::are_counted() => {
            let lock = HostLock {
                class: host_lock::class_number(class),
                instance: 0,
                counts_all: false,
            };
            let source = Source::here();
            return Waiting::Lock(host_lock::take(lock, Operation::Lock, source, || false));
        }
        Kind::RwLock => Operation::Lock,
        Kind::MetadataLock => Operation::MetadataLock,
        Kind::Socket => Operation::Select,
        // For what another process reads or writes.
        Kind::File => Operation::Sync,
        _ => operation,
    };
    Waiting::Wait(wait::start(class, operation))
}

impl Waiting {
    /// Ends it.
    pub fn end(self) {
        match self {
            Self::Wait(wait) => drop(wait),
            Self::Lock(lock) => {
                if let Some(lock) = lock {
                    lock.end(true);
                }
            }
        }
    }
}
