//! What each call of the interface means in Tare's engine.
//!
//! Written once; what differs between releases (where a field lies in a structure of the server's, how
//! a class is registered) comes from [`crate::interface::Interface`].
//!
//! Whatever the server is given as a pointer is ours to read back, and the server's to keep: it never
//! looks behind it, but for one byte in newer servers ([`flagged`]). What a call needs until its end lies
//! in the state that the server lends for it.
//!
//! What a statement runs through lies together, in the section `tare_hot` of the library, and so does what it calls of the
//! engine: spread over all of the code, it would take three times as many pages, and a server that has pushed them out of what
//! the processor keeps of page tables pays for each of them (docs/overhead.md).
//!
//! **Safety of everything here**: the functions are called by the server as the interface says: a pointer
//! that we gave comes back as it was, and not after it was destroyed; a state is writable, of its
//! release's size, and its locker ends once, on the thread that began it; texts are readable for their
//! length. This is the invariant that the SAFETY comments below call "the interface".

pub mod attributes;
mod by_address;
pub mod cond;
pub mod error;
pub(crate) mod exchange;
pub mod file;
pub mod flagged;
pub mod frequent;
pub mod identity;
pub mod idle;
pub mod keys;
pub mod limited;
pub mod lock;
pub mod memory;
pub mod metadata;
pub mod mutex;
pub mod naming;
pub mod other;
pub mod prepared;
pub mod program;
mod row_locks;
pub mod rwlock;
pub mod socket;
pub mod stage;
pub mod statement;
pub mod table;
pub mod thread;
pub mod transaction;

/// Whether nothing happens in a function as Tare was started: then the server's calls need not come to us.
pub fn does_nothing(function: *const ()) -> bool {
    let unlocks: [*const (); 4] = [
        mutex::unlock_mutex as *const (),
        rwlock::unlock_rwlock as *const (),
        flagged::unlock_mutex as *const (),
        flagged::unlock_rwlock as *const (),
    ];
    function == other::ignore as *const ()
        || unlocks.contains(&function) && !lock::are_unlocks_counted()
}
