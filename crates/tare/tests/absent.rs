//! Without the feature `instrument` guards have size zero, and locks are no larger than plain ones.
//! `benches/instructions.rs` checks that they take no additional instruction.
#![cfg(not(feature = "instrument"))]

use std::mem::{needs_drop, size_of};

use tare::sync::{Condvar, Mutex, PlainMutex, PlainRwLock, RwLock};

#[test]
fn guards_are_of_no_size_and_do_nothing_when_dropped() {
    assert_eq!(size_of::<tare::wait::Wait>(), 0);
    assert_eq!(size_of::<tare::statement::Statement>(), 0);
    assert_eq!(size_of::<tare::task::statement::Statement>(), 0);
    assert_eq!(size_of::<tare::task::stage::Stage>(), 0);
    assert_eq!(size_of::<tare::transaction::Transaction>(), 0);
    assert_eq!(size_of::<tare::thread::ThreadSession>(), 0);
    assert_eq!(size_of::<tare::digest::Digest>(), 0);
    assert_eq!(size_of::<tare::file::Instance>(), 0);
    assert_eq!(size_of::<tare::socket::Instance>(), 0);
    assert_eq!(size_of::<tare::table::Table>(), 0);
    assert_eq!(size_of::<tare::table::Handle>(), 0);
    assert_eq!(size_of::<tare::metadata::MetadataLock>(), 0);
    assert_eq!(size_of::<tare::prepared::Prepared>(), 0);
    assert_eq!(size_of::<tare::program::Call>(), 0);
    assert_eq!(size_of::<tare::task::SessionPool>(), 0);
    assert!(!needs_drop::<tare::wait::Wait>());
    assert!(!needs_drop::<tare::statement::Statement>());
    assert!(!needs_drop::<tare::task::statement::Statement>());
    assert!(!needs_drop::<tare::task::stage::Stage>());
    assert!(!needs_drop::<tare::transaction::Transaction>());
    assert!(!needs_drop::<tare::thread::ThreadSession>());
    assert!(!needs_drop::<tare::file::Instance>());
    assert!(!needs_drop::<tare::socket::Instance>());
    assert!(!needs_drop::<tare::table::Table>());
    assert!(!needs_drop::<tare::table::Handle>());
    assert!(!needs_drop::<tare::metadata::MetadataLock>());
    assert!(!needs_drop::<tare::prepared::Prepared>());
    assert!(!needs_drop::<tare::program::Call>());
    assert!(!needs_drop::<tare::task::SessionPool>());
}

/// A future in a session, or that is a wait, is as large as it is elsewhere.
#[test]
fn futures_are_as_large_as_the_host_s_own() {
    tare::classes! {
        static WORKER: Thread = "thread/absent/worker";
        static LOCK: Mutex = "wait/synch/mutex/absent/LOCK";
    }
    let new = || std::future::ready(1_u64);
    let session = tare::thread::ThreadSession::new(&WORKER);
    let scope = tare::task::scope(session, new());
    let branch = tare::task::branch(new());
    let wait = tare::wait::future(&LOCK, tare::Operation::Lock, new());
    for size in [
        size_of_val(&scope),
        size_of_val(&branch),
        size_of_val(&wait),
    ] {
        assert_eq!(size, size_of_val(&new()));
    }
}

#[test]
fn locks_are_as_large_as_plain_ones() {
    assert_eq!(size_of::<Mutex<u64>>(), size_of::<PlainMutex<u64>>());
    assert_eq!(size_of::<Mutex<()>>(), size_of::<PlainMutex<()>>());
    assert_eq!(size_of::<RwLock<u64>>(), size_of::<PlainRwLock<u64>>());
    assert!(!needs_drop::<Mutex<u64>>() || needs_drop::<PlainMutex<u64>>());
    // The lock's own word, and the processor of its holder.
    assert_eq!(size_of::<Mutex<()>>(), 8);
    assert_eq!(size_of::<Condvar>(), 4);
}

#[test]
fn a_tracked_allocator_has_the_size_of_its_inner_one() {
    use std::alloc::System;
    assert_eq!(
        size_of::<tare::memory::Tracked<System>>(),
        size_of::<System>()
    );
}
