//! What a child has from its parent.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use tare::Operation;
use tare::task::SharedSession;
use tare::thread::ThreadSession;
use tare_layout::shared::Lost;

use super::{CLIENT, DATA, EVENT, LOCK, WORKER, event, fork, in_child, many_processes, wait};

/// Drops a child's copy of something that its parent has. The child ends without dropping it again.
fn drop_copy<T>(of_parent: &T) {
    // SAFETY: `fork` ends the child by _exit, so this copy is dropped once.
    drop(unsafe { std::ptr::read(of_parent) });
}

pub fn what_a_parent_opened_is_its_own() {
    let tare = many_processes();
    let mut session = ThreadSession::new(&WORKER);
    let socket = tare::socket::Instance::new(&CLIENT, 7);
    let file = tare::file::Instance::open(&DATA, "/children/open");
    drop((socket.wait(Operation::Recv), file.wait(Operation::Read)));
    let parents = (tare.sockets(&CLIENT), tare.live());
    let row = tare.file(&DATA, "/children/open").expect("a file");
    let entry = tare.view.file(tare_layout::instance::index_of(row));
    in_child(|| {
        drop_copy(&socket);
        drop_copy(&file);
        drop_copy(&session);
        event();
    });
    assert_eq!(entry.open.load(Ordering::Relaxed), 1);
    in_child(|| {
        session.run(|| ());
        drop((socket.wait(Operation::Recv), file.wait(Operation::Read)));
        assert_eq!(tare.sockets(&CLIENT).len(), 2);
        assert_eq!(entry.open.load(Ordering::Relaxed), 2);
        drop_copy(&socket);
        drop_copy(&file);
        drop_copy(&session);
    });
    assert_eq!(entry.open.load(Ordering::Relaxed), 1);
    assert_eq!(tare.sockets(&CLIENT), parents.0);
    assert!(parents.1.iter().all(|slot| tare.live().contains(slot)));
    assert_eq!(tare.total(&CLIENT).count, 2);
    session.run(|| {
        event();
    });
    assert_eq!(tare.total(&EVENT).count, 2);
    assert_eq!(tare.losses(), []);
}

pub fn a_child_that_was_forked_in_a_session_is_in_none() {
    let tare = many_processes();
    let mut session = ThreadSession::new(&WORKER);
    let shared = SharedSession::new(ThreadSession::new(&WORKER));
    let own = tare::thread::id();
    assert!(shared.enter());
    let parents = [own, session.id(), tare::thread::id()];
    let slots = [1, 2].map(|i| tare.view.slot(tare.slot_of(parents[i])));
    // SAFETY: no arguments.
    let thread = unsafe { libc::gettid() } as u64;
    let pid = session.run(|| {
        shared.run(|_| {
            // SAFETY: this process has one thread, and the child ends by _exit.
            let pid = unsafe { libc::fork() };
            if pid != 0 {
                assert_eq!(wait(pid), 0);
                let threads = slots.map(|slot| slot.os_id.load(Ordering::Relaxed));
                assert_eq!(threads, [thread; 2]);
            }
            pid
        })
    });
    if pid == 0 {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let own = tare::thread::id();
            assert!(shared.leave());
            let in_sessions = [
                session.run(tare::thread::id),
                shared.run(|_| tare::thread::id()),
            ];
            let all: BTreeSet<u64> = parents
                .into_iter()
                .chain([own])
                .chain(in_sessions)
                .collect();
            assert_eq!((all.len(), tare::thread::id()), (6, own), "{all:?}");
        }));
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(result.is_err())) }
    }
    assert_eq!(tare::thread::id(), parents[2]);
    assert!(shared.leave());
    assert_eq!(tare::thread::id(), own);
}

pub fn children_of_a_parent_with_threads_do_not_record() {
    let tare = many_processes();
    event();
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || receiver.recv());
    in_child(|| {
        assert!(!tare::is_running());
        event();
    });
    drop(sender);
    thread.join().expect("no panic").expect_err("no sender");
    assert_eq!(tare.total(&EVENT).count, 1);
    assert_eq!(tare.losses(), [(Lost::Forks as usize, 1)]);
    in_child(event);
    assert_eq!(tare.total(&EVENT).count, 2);
}

/// A thread's own counts are those since it took its bank, whoever had the bank before.
pub fn a_bank_of_another_process_begins_at_zero() {
    let tare = many_processes();
    let own = |thread: u64| {
        let bank = tare
            .view
            .slot(tare.slot_of(thread))
            .bank
            .load(Ordering::Relaxed);
        tare.own_count(&EVENT, bank as usize)
    };
    // The bank passes from this process to others and back, in three ways: given back, killed, and with
    // more rows than are listed.
    for round in 0..30 {
        let count = move || (0..=round).for_each(|_| event());
        let here = std::thread::spawn(count);
        here.join().expect("no panic");
        for is_killed in [false, true] {
            let pid = fork(|| {
                count();
                assert_eq!(own(tare::thread::id()), round + 1);
                if is_killed {
                    // SAFETY: this process.
                    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
                }
                std::thread::scope(|scope| {
                    let leaving = scope.spawn(|| {
                        count();
                        own(tare::thread::id())
                    });
                    assert_eq!(leaving.join().expect("no panic"), round + 1);
                });
            });
            assert_eq!(wait(pid), if is_killed { libc::SIGKILL } else { 0 });
        }
    }
    let rounds = 30 * 31 / 2;
    assert_eq!(tare.total(&EVENT).count, 4 * rounds);
}

pub fn locks_of_children_have_no_instances() {
    let tare = many_processes();
    let lock = tare::sync::Mutex::new(&LOCK, ());
    drop(lock.lock());
    let used = || tare.view.shared().instances_used.0.load(Ordering::Relaxed);
    let before = used();
    in_child(|| {
        drop(lock.lock());
        let own = tare::sync::Mutex::new(&LOCK, ());
        drop(own.lock());
    });
    assert_eq!(used(), before);
    assert_eq!(tare.total(&LOCK).count, 3);
}
