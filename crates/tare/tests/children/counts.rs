//! Counts and lists, of many children and of those that are killed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tare::Operation;
use tare_layout::slot;

use super::support::{Random, Segment, scale};
use super::{
    CLIENT, DATA, EVENT, QUERY, Turns, event, fork, in_child, many_processes, processes, tallies,
    wait,
};

pub fn totals_are_those_of_all_processes() {
    let tare = many_processes();
    event();
    let parent = tare::thread::id();
    let turns = Turns::new();
    let pid = fork(|| {
        for _ in 0..3 {
            event();
        }
        std::thread::spawn(event).join().expect("no panic");
        turns.set(1);
        turns.wait_for(2);
    });
    turns.wait_for(1);
    assert_eq!(
        processes(&tare),
        BTreeSet::from([std::process::id(), pid as u32])
    );
    let slots: Vec<_> = tare.live().into_iter().map(|i| tare.view.slot(i)).collect();
    let child = slots
        .iter()
        .find(|slot| slot.os_id.load(Ordering::Relaxed) == pid as u64);
    assert_eq!(
        child.expect("a slot").parent_id.load(Ordering::Relaxed),
        parent
    );
    assert_eq!(slots.len(), 2);
    turns.set(2);
    assert_eq!(wait(pid), 0);
    event();
    assert_eq!(tare.total(&EVENT).count, 6);
    assert_eq!(tare.losses(), []);
    // Children of children.
    in_child(|| {
        event();
        in_child(|| in_child(event));
        event();
    });
    assert_eq!(tare.total(&EVENT).count, 9);
}

pub fn many_children_leak_nothing() {
    let tare = many_processes();
    let children = scale(1_000, 10_000) as u64;
    for i in 0..children {
        in_child(|| {
            event();
            let file = tare::file::Instance::open(&DATA, "/children/data");
            drop(file.wait(Operation::Write));
            let socket = tare::socket::Instance::new(&CLIENT, 7);
            drop(socket.wait(Operation::Recv));
            // Most leave nothing to their successors; the others neither.
            if i % 2 == 0 {
                std::mem::forget(socket);
                std::mem::forget(file);
            }
            // Gives back the slot of the thread, and not the socket.
            if i % 4 == 0 {
                // SAFETY: ends the child.
                unsafe { libc::exit(0) };
            }
        });
    }
    assert_eq!(tare.total(&EVENT).count, children);
    assert_eq!(
        tare.total(&DATA).count + tare.line(&DATA, 1).count,
        children
    );
    assert!(tare.slots() <= 40, "{} slots", tare.slots());
    assert!(tare.banks() <= 40, "{} banks", tare.banks());
    let sockets = tare.view.shared().sockets_used.0.load(Ordering::Relaxed);
    assert!(sockets <= 40, "{sockets} sockets");
    assert_eq!(tare.view.shared().files_used.0.load(Ordering::Relaxed), 1);
    assert_eq!(tare.losses(), []);
}

pub fn a_killed_child_is_not_listed_for_long() {
    let tare = many_processes();
    let child = fork(|| {
        loop {
            event();
        }
    });
    while !processes(&tare).contains(&(child as u32)) {
        std::thread::yield_now();
    }
    // SAFETY: a child of ours.
    assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0);
    assert_eq!(wait(child), libc::SIGKILL);
    // Fewer than come between two searches if no time passes.
    for _ in 0..8 {
        std::thread::sleep(std::time::Duration::from_millis(300));
        in_child(event);
    }
    assert!(!processes(&tare).contains(&(child as u32)));
}

/// Everything that takes the lock, until the process is killed. `done`: the number of its events.
fn work(seed: u64, done: &AtomicU64) {
    let mut random = Random(seed);
    loop {
        match random.below(8) {
            0 => {
                let path = format!("/children/{}", random.below(32));
                let file = tare::file::Instance::open(&DATA, &path);
                drop(file.wait(Operation::Read));
                if random.below(4) == 0 {
                    drop(file);
                    tare::file::Instance::deleted(&DATA, &path);
                }
            }
            1 => {
                let user = format!("user{}", random.below(20));
                tare::thread::set_account(&user, "localhost");
            }
            2 => {
                _ = std::thread::Builder::new()
                    .spawn(|| {
                        event();
                        event();
                    })
                    .map(std::thread::JoinHandle::join);
                done.fetch_add(2, Ordering::Relaxed);
            }
            3 => {
                let statement = tare::statement::start(&QUERY);
                statement.text(&format!("SELECT a{} FROM t", random.below(100)));
            }
            4 => drop(tare::socket::Instance::new(&CLIENT, 7)),
            _ => {
                event();
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

pub fn killed_children_lose_their_last_event_only() {
    const WORKERS: usize = 4;
    let tare = many_processes();
    let done = tallies::<WORKERS>();
    let mut random = Random(11);
    let begin = |worker: usize, seed: u64| fork(|| work(seed, &done[worker]));
    let mut pids: [libc::pid_t; WORKERS] = std::array::from_fn(|i| begin(i, i as u64 + 1));
    let kills = scale(200, 1_000) as u64;
    for kill in 0..kills {
        let worker = random.below(WORKERS as u64) as usize;
        std::thread::sleep(std::time::Duration::from_micros(random.below(5_000)));
        // SAFETY: a child of ours.
        assert_eq!(unsafe { libc::kill(pids[worker], libc::SIGKILL) }, 0);
        assert_eq!(wait(pids[worker]), libc::SIGKILL);
        pids[worker] = begin(worker, 100 + kill);
    }
    for pid in pids {
        // SAFETY: children of ours.
        assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
        assert_eq!(wait(pid), libc::SIGKILL);
    }
    let counted = tare.total(&EVENT).count;
    let done: u64 = done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
    // A thread's two events and the worker's own are counted before they are tallied.
    let most = done + 2 * (kills + WORKERS as u64);
    assert!((done..=most).contains(&counted), "{counted} of {done}");
    // What the dead had is taken up.
    for _ in 0..100 {
        in_child(event);
    }
    assert_eq!(tare.total(&EVENT).count, counted + 100);
    check_lists(&tare);
    // At most 5 processes and 4 threads more lived at once, each search leaves place for as many and 16.
    let (slots, banks) = (tare.slots(), tare.banks());
    assert!(slots <= 2 * 9 + 17, "{slots} slots");
    assert!(banks <= 21 * 9, "{banks} banks");
    // As many rows as names.
    let files: Vec<String> = files(&tare);
    let names: BTreeSet<&String> = files.iter().collect();
    assert_eq!(names.len(), files.len(), "{files:?}");
    assert!(tare.view.shared().files_used.0.load(Ordering::Relaxed) <= 33);
    let texts: Vec<String> = tare.digests().into_iter().map(|(_, text)| text).collect();
    let distinct: BTreeSet<&String> = texts.iter().collect();
    assert_eq!(distinct.len(), texts.len());
    let accounts = tare.view.shared().accounts_used.0.load(Ordering::Relaxed);
    assert!(accounts <= 21, "{accounts} accounts");
}

/// Each slot and each bank is free, or somebody has it.
pub fn check_lists(tare: &Segment) {
    let view = &tare.view;
    let free_slots = listed(&view.shared().free_slots.0, |i| &view.slot(i).next_free);
    for number in 0..tare.slots() {
        let is_live = view.slot(number).state.load(Ordering::Relaxed) == slot::LIVE;
        assert_ne!(is_live, free_slots.contains(&number), "slot {number}");
    }
    let accounts = (0..=view.geometry().nobody()).map(|i| &view.account(i).free_banks);
    let free: Vec<usize> = accounts
        .flat_map(|head| listed(head, |i| &view.bank(i).next_free))
        .collect();
    assert_eq!(
        free.iter().collect::<BTreeSet<_>>().len(),
        free.len(),
        "{free:?}"
    );
    for number in 0..tare.banks() {
        let slot = view.bank(number).slot.load(Ordering::Relaxed) as usize;
        let is_taken = slot != 0 && {
            let slot = view.slot(slot - 1);
            slot.state.load(Ordering::Relaxed) == slot::LIVE
                && slot.bank.load(Ordering::Relaxed) as usize == number
        };
        assert_ne!(is_taken, free.contains(&number), "bank {number}");
    }
}

fn listed<'a>(head: &AtomicU64, link: impl Fn(usize) -> &'a AtomicU32) -> Vec<usize> {
    let mut next = head.load(Ordering::Relaxed) as u32;
    let indexes = std::iter::from_fn(|| {
        let index = next.checked_sub(1)? as usize;
        next = link(index).load(Ordering::Relaxed);
        Some(index)
    });
    indexes.collect()
}

fn files(tare: &Segment) -> Vec<String> {
    let used = tare.view.shared().files_used.0.load(Ordering::Relaxed) as usize;
    let files = (0..used).map(|i| tare.view.file(i));
    files
        .filter(|file| file.id.load(Ordering::Relaxed) != 0)
        .map(|file| {
            let mut name = [0; 64];
            String::from_utf8(file.name.get(&mut name).to_vec()).expect("UTF-8")
        })
        .collect()
}

pub fn a_name_has_one_number_in_all_processes() {
    const CLASSES: usize = 20;
    let tare = many_processes();
    let go = tallies::<1>();
    let pids: Vec<libc::pid_t> = (0..4)
        .map(|_| {
            fork(|| {
                while go[0].load(Ordering::Acquire) == 0 {}
                for i in 0..CLASSES {
                    let name = format!("wait/lock/metadata/children/of{i}").leak();
                    let class = tare::Class::new(tare::Kind::MetadataLock, name, "");
                    let class = Box::leak(Box::new(class));
                    drop(tare::wait::start(class, Operation::MetadataLock));
                    let path = format!("/children/{i}");
                    drop(tare::file::Instance::open(&DATA, &path).wait(Operation::Write));
                    tare::thread::set_db(&format!("schema{i}"));
                }
            })
        })
        .collect();
    go[0].store(1, Ordering::Release);
    for pid in pids {
        assert_eq!(wait(pid), 0);
    }
    for i in 0..CLASSES {
        let name = format!("wait/lock/metadata/children/of{i}").leak();
        let class = tare::Class::new(tare::Kind::MetadataLock, name, "");
        assert_eq!(tare.total(&class).count, 4);
    }
    assert_eq!(files(&tare).len(), CLASSES);
    assert_eq!(tare.line(&DATA, 1).count, 4 * CLASSES as u64);
    let schemas = tare.view.shared().schemas_used.0.load(Ordering::Relaxed);
    assert_eq!(schemas as usize, 1 + CLASSES);
}
