//! Children of fork record into their parent's segment. Without a harness, because a process with several
//! threads has no such children.
#![cfg_attr(not(feature = "instrument"), allow(dead_code, unused_imports))]

#[cfg(feature = "instrument")]
mod support;

#[cfg(not(feature = "instrument"))]
fn main() {}

#[cfg(feature = "instrument")]
fn main() {
    tests::run();
}

#[cfg(feature = "instrument")]
mod tests {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

    use tare::{Config, Operation};
    use tare_layout::header::{LIVE, STOPPED};
    use tare_layout::process;
    use tare_layout::shared::Lost;
    use tare_layout::slot;

    use super::support::{Random, Running, Segment, scale, start};

    tare::classes! {
        static LOCK: Mutex = "wait/synch/mutex/children/lock";
        static EVENT: MetadataLock = "wait/lock/metadata/children/event";
        static DATA: File = "wait/io/file/children/data";
        static CLIENT: Socket = "wait/io/socket/children/client";
        static QUERY: Statement = "statement/children/query";
        static WORKER: Thread = "thread/children/worker";
    }

    /// Runs the tests, or those whose name contains an argument.
    pub fn run() {
        let wanted: Vec<String> = std::env::args()
            .skip(1)
            .filter(|a| !a.starts_with('-'))
            .collect();
        macro_rules! tests {
            ($($name:ident,)*) => { [$((stringify!($name), $name as fn())),*] };
        }
        let all = tests![
            a_killed_child_is_not_listed_for_long,
            totals_are_those_of_all_processes,
            many_children_leak_nothing,
            killed_children_lose_their_last_event_only,
            a_name_has_one_number_in_all_processes,
            what_a_parent_opened_is_its_own,
            the_segment_ends_with_the_last_process,
            a_killed_owner_is_replaced_by_the_oldest,
            children_of_a_parent_with_threads_do_not_record,
            a_bank_of_another_process_begins_at_zero,
            a_process_that_gave_up_changes_nothing,
            a_process_without_its_first_thread_lives,
            a_child_stops_under_a_filter_of_system_calls,
            locks_of_children_have_no_instances,
        ];
        for (name, test) in all {
            if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
                println!("test {name}");
                // Nobody may hang. SAFETY: ends this process; each child sets its own.
                unsafe { libc::alarm(600) };
                test();
            }
        }
    }

    /// Stops the process at its next allocation: Tare allocates while it has the lock.
    static STOPS: AtomicBool = AtomicBool::new(false);

    struct Stopping;

    #[global_allocator]
    static ALLOCATOR: Stopping = Stopping;

    // SAFETY: the system's allocator.
    unsafe impl GlobalAlloc for Stopping {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if STOPS.load(Ordering::Relaxed) && STOPS.swap(false, Ordering::Relaxed) {
                // SAFETY: stops this process.
                unsafe { libc::raise(libc::SIGSTOP) };
            }
            // SAFETY: the caller's promise.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(place, layout) }
        }
    }

    fn many_processes() -> Running {
        start(Config {
            many_processes: true,
            ..Config::everything()
        })
    }

    fn event() {
        drop(tare::wait::start(&EVENT, Operation::MetadataLock));
    }

    /// Forks a child that runs `body` and ends without any destructor.
    fn fork(body: impl FnOnce()) -> libc::pid_t {
        // SAFETY: this process has one thread, and the child ends by _exit.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: ends the child if it hangs.
                unsafe { libc::alarm(300) };
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
                // SAFETY: ends the child.
                unsafe { libc::_exit(i32::from(result.is_err())) }
            }
            pid => {
                assert!(pid > 0, "fork: {}", std::io::Error::last_os_error());
                pid
            }
        }
    }

    fn wait(pid: libc::pid_t) -> i32 {
        let mut status = 0;
        // SAFETY: a child of ours, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        status
    }

    /// Runs `body` in a child until its end.
    fn in_child(body: impl FnOnce()) {
        assert_eq!(wait(fork(body)), 0);
    }

    /// Integers that children share with this process, and that survive them.
    fn tallies<const N: usize>() -> &'static [AtomicU64; N] {
        // SAFETY: a new mapping, which is never unmapped; zeroes are valid.
        unsafe {
            let place = libc::mmap(
                std::ptr::null_mut(),
                size_of::<[AtomicU64; N]>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(place, libc::MAP_FAILED);
            &*place.cast::<[AtomicU64; N]>()
        }
    }

    fn processes(tare: &Segment) -> BTreeSet<u32> {
        let slots = tare.live().into_iter().map(|i| tare.view.slot(i));
        slots
            .map(|slot| process::id(slot.process.load(Ordering::Relaxed)))
            .collect()
    }

    fn totals_are_those_of_all_processes() {
        let tare = many_processes();
        event();
        let parent = tare::thread::id();
        let turns = tallies::<1>();
        let pid = fork(|| {
            for _ in 0..3 {
                event();
            }
            std::thread::spawn(event).join().expect("no panic");
            turns[0].store(1, Ordering::Release);
            while turns[0].load(Ordering::Acquire) == 1 {
                std::thread::yield_now();
            }
        });
        while turns[0].load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
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
        turns[0].store(2, Ordering::Release);
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

    fn many_children_leak_nothing() {
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

    fn a_killed_child_is_not_listed_for_long() {
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

    fn killed_children_lose_their_last_event_only() {
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
    fn check_lists(tare: &Segment) {
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

    fn a_name_has_one_number_in_all_processes() {
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

    /// Drops a child's copy of something that its parent has. The child ends without dropping it again.
    fn drop_copy<T>(of_parent: &T) {
        // SAFETY: `fork` ends the child by _exit, so this copy is dropped once.
        drop(unsafe { std::ptr::read(of_parent) });
    }

    fn what_a_parent_opened_is_its_own() {
        let tare = many_processes();
        let mut session = tare::thread::ThreadSession::new(&WORKER);
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
            drop(session.enter());
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
        let entered = session.enter();
        event();
        drop(entered);
        assert_eq!(tare.total(&EVENT).count, 2);
        assert_eq!(tare.losses(), []);
    }

    fn the_segment_ends_with_the_last_process() {
        let tare = many_processes();
        let header = tare.view.header();
        let turns = tallies::<1>();
        let turn = |turn: u64| {
            while turns[0].load(Ordering::Acquire) < turn {
                std::thread::yield_now();
            }
        };
        // The first goes into the background: a child that has had no event yet.
        let first = std::process::id();
        let child = fork(|| {
            turn(1);
            event();
            assert_eq!(header.state.load(Ordering::Relaxed), LIVE);
            assert_eq!(header.pid.load(Ordering::Relaxed), std::process::id());
            let grandchild = fork(|| {
                event();
                turns[0].store(2, Ordering::Release);
                turn(3);
                assert_eq!(header.pid.load(Ordering::Relaxed), std::process::id());
                assert_eq!(header.state.load(Ordering::Relaxed), LIVE);
                tare::stop();
            });
            turn(2);
            tare::stop();
            turns[0].store(3, Ordering::Release);
            assert_eq!(wait(grandchild), 0);
        });
        event();
        assert_eq!(header.pid.load(Ordering::Relaxed), first);
        tare::stop();
        assert_eq!(header.state.load(Ordering::Relaxed), STOPPED);
        turns[0].store(1, Ordering::Release);
        assert_eq!(wait(child), 0);
        assert_eq!(header.state.load(Ordering::Relaxed), STOPPED);
        assert_eq!(tare.total(&EVENT).count, 3);
    }

    fn a_killed_owner_is_replaced_by_the_oldest() {
        let tare = many_processes();
        let header = tare.view.header();
        let turns = tallies::<1>();
        let turn = |turn: u64| {
            while turns[0].load(Ordering::Acquire) < turn {
                std::thread::yield_now();
            }
        };
        // The first process stops, and its child is in the header.
        let child = fork(|| {
            turn(1);
            event();
            let oldest = fork(|| {
                event();
                turns[0].store(2, Ordering::Release);
                turn(5);
            });
            turn(2);
            fork(|| {
                turn(4);
                event();
                assert_eq!(header.pid.load(Ordering::Relaxed), oldest as u32);
                assert_eq!(header.state.load(Ordering::Relaxed), LIVE);
                turns[0].store(5, Ordering::Release);
            });
            turns[0].store(3, Ordering::Release);
            turn(9);
        });
        tare::stop();
        turns[0].store(1, Ordering::Release);
        turn(3);
        assert_eq!(header.pid.load(Ordering::Relaxed), child as u32);
        // SAFETY: a child of ours.
        assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0);
        assert_eq!(wait(child), libc::SIGKILL);
        turns[0].store(4, Ordering::Release);
        turn(5);
        assert_eq!(tare.total(&EVENT).count, 3);
    }

    fn children_of_a_parent_with_threads_do_not_record() {
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
    fn a_bank_of_another_process_begins_at_zero() {
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

    /// It waits for the lock once, and then leaves slots and banks to the search that finds it dead.
    fn a_process_that_gave_up_changes_nothing() {
        let tare = many_processes();
        let shared = tare.view.shared();
        let lists = || {
            let free = shared.free_slots.0.load(Ordering::Relaxed);
            (free, tare.live(), tare.slots(), tare.banks())
        };
        event();
        in_child(|| {
            let mut session = tare::thread::ThreadSession::new(&WORKER);
            let entered = session.enter();
            event();
            drop(entered);
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

    fn a_process_without_its_first_thread_lives() {
        let tare = many_processes();
        let turns = tallies::<1>();
        let pid = fork(|| {
            let begin = || {
                event();
                turns[0].store(1, Ordering::Release);
                while turns[0].load(Ordering::Acquire) < 2 {
                    std::thread::yield_now();
                }
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
        while turns[0].load(Ordering::Acquire) == 0 || !is_zombie() {
            std::thread::yield_now();
        }
        for _ in 0..40 {
            in_child(event);
        }
        assert!(processes(&tare).contains(&(pid as u32)));
        turns[0].store(2, Ordering::Release);
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

    fn a_child_stops_under_a_filter_of_system_calls() {
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

    fn locks_of_children_have_no_instances() {
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
}
