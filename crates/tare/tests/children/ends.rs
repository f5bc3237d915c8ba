//! Processes that stop, give up, or end.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use tare_layout::header::{LIVE, STOPPED};
use tare_layout::shared::Lost;

use super::counts::check_lists;
use super::{EVENT, STOPS, Turns, WORKER, event, fork, in_child, many_processes, processes, wait};

pub fn the_segment_ends_with_the_last_process() {
    let tare = many_processes();
    let header = tare.view.header();
    let turns = Turns::new();
    // The first goes into the background: a child that has had no event yet.
    let first = std::process::id();
    let child = fork(|| {
        turns.wait_for(1);
        event();
        assert_eq!(header.state.load(Ordering::Relaxed), LIVE);
        assert_eq!(header.pid.load(Ordering::Relaxed), std::process::id());
        let grandchild = fork(|| {
            event();
            turns.set(2);
            turns.wait_for(3);
            assert_eq!(header.pid.load(Ordering::Relaxed), std::process::id());
            assert_eq!(header.state.load(Ordering::Relaxed), LIVE);
            tare::stop();
        });
        turns.wait_for(2);
        tare::stop();
        turns.set(3);
        assert_eq!(wait(grandchild), 0);
    });
    event();
    assert_eq!(header.pid.load(Ordering::Relaxed), first);
    tare::stop();
    assert_eq!(header.state.load(Ordering::Relaxed), STOPPED);
    turns.set(1);
    assert_eq!(wait(child), 0);
    assert_eq!(header.state.load(Ordering::Relaxed), STOPPED);
    assert_eq!(tare.total(&EVENT).count, 3);
}

pub fn a_killed_owner_is_replaced_by_the_oldest() {
    let tare = many_processes();
    let header = tare.view.header();
    let turns = Turns::new();
    // The first process stops, and its child is in the header.
    let child = fork(|| {
        turns.wait_for(1);
        event();
        let oldest = fork(|| {
            event();
            turns.set(2);
            turns.wait_for(5);
        });
        turns.wait_for(2);
        fork(|| {
            turns.wait_for(4);
            event();
            assert_eq!(header.pid.load(Ordering::Relaxed), oldest as u32);
            assert_eq!(header.state.load(Ordering::Relaxed), LIVE);
            turns.set(5);
        });
        turns.set(3);
        turns.wait_for(9);
    });
    tare::stop();
    turns.set(1);
    turns.wait_for(3);
    assert_eq!(header.pid.load(Ordering::Relaxed), child as u32);
    // SAFETY: a child of ours.
    assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0);
    assert_eq!(wait(child), libc::SIGKILL);
    turns.set(4);
    turns.wait_for(5);
    assert_eq!(tare.total(&EVENT).count, 3);
}

/// It waits for the lock once, and then leaves slots and banks to the search that finds it dead.
pub fn a_process_that_gave_up_changes_nothing() {
    let tare = many_processes();
    let shared = tare.view.shared();
    let lists = || {
        let free = shared.free_slots.0.load(Ordering::Relaxed);
        (free, tare.live(), tare.slots(), tare.banks())
    };
    event();
    in_child(|| {
        let mut session = tare::thread::ThreadSession::new(&WORKER);
        session.run(|| {
            event();
        });
        let stopped = fork(|| {
            // SAFETY: this process ends with its parent, also while it is stopped.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            event();
            STOPS.store(true, Ordering::Relaxed);
            tare::error::raised(7);
        });
        let mut status = 0;
        // SAFETY: a child of ours, and a place for its status.
        unsafe { libc::waitpid(stopped, &mut status, libc::WUNTRACED) };
        assert!(libc::WIFSTOPPED(status));
        let before = lists();
        std::thread::spawn(event).join().expect("no panic");
        assert!(!tare::is_running());
        drop(session);
        assert_eq!(lists(), before);
        // SAFETY: a child of ours.
        assert_eq!(unsafe { libc::kill(stopped, libc::SIGKILL) }, 0);
        assert_eq!(wait(stopped), libc::SIGKILL);
        in_child(|| {
            assert!(!tare::is_running());
            event();
        });
        tare::stop();
        assert_eq!(lists(), before);
    });
    assert_eq!(shared.lost[Lost::Forks as usize].load(Ordering::Relaxed), 2);
    let header = tare.view.header();
    assert_eq!(header.state.load(Ordering::Relaxed), LIVE);
    for _ in 0..40 {
        in_child(event);
    }
    check_lists(&tare);
    assert_eq!(tare.total(&EVENT).count, 43);
}

pub fn a_process_without_its_first_thread_lives() {
    let tare = many_processes();
    let turns = Turns::new();
    let pid = fork(|| {
        let begin = || {
            event();
            turns.set(1);
            turns.wait_for(2);
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) }
        };
        std::thread::scope(|scope| {
            scope.spawn(begin);
            // SAFETY: ends this thread, whose memory remains.
            unsafe { libc::syscall(libc::SYS_exit, 0) };
        });
    });
    let is_zombie = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("/proc");
        stat.contains(") Z ")
    };
    turns.wait_for(1);
    while !is_zombie() {
        std::thread::yield_now();
    }
    for _ in 0..40 {
        in_child(event);
    }
    assert!(processes(&tare).contains(&(pid as u32)));
    turns.set(2);
    assert_eq!(wait(pid), 0);
    assert_eq!(tare.total(&EVENT).count, 41);
}

/// From here on kill(2) and openat(2) end the process.
fn forbid_searches() {
    let word = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let is = |call: libc::c_long, skips| {
        let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        word(equal, skips, 0, call as u32)
    };
    let mut filter = [
        // The number of the system call.
        word(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        is(libc::SYS_kill, 2),
        is(libc::SYS_openat, 1),
        word(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        word(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_KILL_PROCESS,
        ),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: a filter that is valid during the call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(
            libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program),
            0
        );
    }
}

pub fn a_child_stops_under_a_filter_of_system_calls() {
    let tare = many_processes();
    event();
    in_child(|| {
        event();
        forbid_searches();
        tare::stop();
    });
    assert_eq!(processes(&tare), BTreeSet::from([std::process::id()]));
    assert_eq!(tare.view.header().state.load(Ordering::Relaxed), LIVE);
}
