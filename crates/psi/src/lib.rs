//! The door: the code between the Performance Schema interface of an unmodified server and Tare's engine.
//!
//! `libtare_psi.so` is preloaded into mysqld or mariadbd. Before `main` it recognises the server's release,
//! and replaces all functions that the server's instrument points call with its own, or none ([`hook`]).
//! docs/door-internals.md explains how the parts work together.
//!
//! | module | what it has |
//! |---|---|
//! | interface | the ground floor: what differs between releases, and how their structures and texts are read |
//! | door | what each call means in Tare's engine, written once |
//! | releases | per release: its structures' offsets, and its entries |
//! | memory, signals | the server's mlockall; its action for SIGBUS, and the signals that it blocks |
//! | start | starts the engine within a server |
//! | hook | recognises the server, finds the entries, patches all of them or none |
//!
//! A module uses those in lines above its own.
//!
//! # Safety
//!
//! The server calls the `extern "C"` functions as its interface declares. The SAFETY comments of this crate
//! cite these rules:
//!
//! 1. A pointer to an object (a lock, a thread, a table, ...) is NULL, or the one that our function returned
//!    when it created the object. The server does not use an object after it has destroyed it, and uses
//!    sockets, table handles, metadata locks and records of threads on one thread at a time.
//! 2. A locker is NULL, or the one that our function returned when the event started. The event ends once, on
//!    the thread that started it.
//! 3. The state that the server lends for an event is writable, aligned to 8 bytes, as large as the interface
//!    declares, and lives until the event ends.
//! 4. A text is NULL or readable for its length, and a C string is NULL or ends with a zero. They live as
//!    long as the call; the text and the tokens of a statement, as long as the statement.
//! 5. A structure of the server (TABLE_SHARE, Diagnostics_area, an instrument's info, ...) is NULL or laid
//!    out as the release declares, and lives as long as the call.
//! 6. A pointer to a result is NULL or writable.
//! 7. A lock stays at the address that it was created with until it is destroyed, and is of its class's kind.
//! 8. The caller of an unsafe function fulfils what its `# Safety` section requires. For an `extern "C"`
//!    function, and for one that it passes its arguments to, these are rules 1 to 7.

// The contract of the `extern "C"` functions is that of the interface: see above.
#![allow(clippy::missing_safety_doc)]

pub mod door;
pub mod hook;
pub mod interface;
pub mod memory;
pub mod releases;
pub mod signals;
pub mod start;

/// The dynamic linker runs it before `main` when the library is preloaded. In the program of this crate's
/// tests it finds no server's symbols and does nothing.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = constructor;

extern "C" fn constructor() {
    signals::find_all();
    hook::open();
}
