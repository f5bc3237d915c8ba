//! What each call of the interface does in Tare's engine, written once.
//!
//! What differs between releases (a field's offset in a structure of the server, how a class is registered)
//! comes from [`crate::interface::Interface`].
//!
//! The server stores the pointers that it gets from us and passes them back, but never dereferences them,
//! except for one byte in newer servers ([`flagged`]). What a call needs until its event ends is in the state
//! that the server lends for it.
//!
//! The functions that a statement runs through are next to each other, in the section `tare_hot` of the
//! library, and so are those of the engine that they call. Spread over all of the code they would take three
//! times as many pages, and a server that evicts them from the TLB pays for each page (docs/overhead.md).

#![allow(
    missing_docs,
    reason = "the interface names the functions that the server calls"
)]

pub(crate) mod active;
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
pub(crate) mod level;
pub mod limited;
pub mod lock;
mod lock_cache;
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

/// Whether a function does nothing with the options that Tare was started with: then its calls need not
/// arrive.
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
