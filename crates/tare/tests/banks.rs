//! Totals by account and by instance stay exact when a bank has no space for a row.
#![cfg(feature = "instrument")]

mod support;

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use support::{everything, scale, start};
use tare::sync::{Mutex, RwLock};
use tare::thread::ThreadSession;
use tare::{Class, Config, Kind, Limits, Operation};
use tare_layout::bank::line_of;
use tare_layout::line::memory;
use tare_layout::shared::Lost;

tare::classes! {
    static EVENT: MetadataLock = "wait/lock/metadata/banks/event";
    static DATA: File = "wait/io/file/banks/data";
    static LOCK_N: Mutex = "wait/synch/mutex/banks/LOCK_n";
    static LOCK_M: Mutex = "wait/synch/mutex/banks/LOCK_m";
    static LOCK_R: RwLock = "wait/synch/rwlock/banks/LOCK_r";
    static QUERY: Statement = "statement/banks/query";
    static STAGE: Stage = "stage/banks/stage";
    static CACHE: Memory = "memory/banks/cache";
    static CONNECTION: Thread = "thread/banks/connection";
}

fn event() {
    drop(tare::wait::start(&EVENT, Operation::MetadataLock));
}

/// Events of an account whose user is `name`.
fn of_user(segment: &support::Segment, name: &str) -> u64 {
    let shared = segment.view.shared();
    let users = shared.users_used.0.load(Ordering::Acquire) as usize;
    let user = (1..users).find(|&i| segment.view.user(i).name.is(name));
    let user = user.expect("a known user") as u32;
    let accounts = shared.accounts_used.0.load(Ordering::Acquire) as usize;
    (1..accounts)
        .filter(|&i| segment.view.account(i).user.load(Ordering::Relaxed) == user)
        .map(|i| segment.total_of_account(&EVENT, i).count)
        .sum()
}

#[test]
fn events_count_for_the_account_of_their_time() {
    let tare = everything(Limits::default());
    event();
    for (user, n) in [("alice", 3), ("bob", 5), ("alice", 7)] {
        tare::thread::set_account(user, "localhost");
        (0..n).for_each(|_| event());
    }
    assert_eq!(of_user(&tare, "alice"), 10);
    assert_eq!(of_user(&tare, "bob"), 5);
    assert_eq!(tare.total_of_account(&EVENT, 0).count, 1);
    tare::thread::set_account("", "");
    event();
    assert_eq!(tare.total_of_account(&EVENT, 0).count, 2);
    let shared = tare.view.shared();
    assert_eq!(
        shared.accounts_used.0.load(Ordering::Relaxed),
        3,
        "none of no name"
    );
    let alice = tare.view.account(1);
    assert_eq!(alice.total.load(Ordering::Relaxed), 2);
    assert_eq!(alice.current.load(Ordering::Relaxed), 0);
}

/// Events during a client's login count for the account once it is known, and are not visible before.
#[test]
fn events_of_a_login_count_for_its_account() {
    let tare = everything(Limits::default());
    // More and fewer times than can be deferred.
    for (user, events, of_all) in [("alice", 3, 4), ("bob", 40, 41), ("alice", 17, 22)] {
        let session = ThreadSession::new(&CONNECTION);
        session.await_account();
        // SAFETY: it is left before it is dropped, and is not moved.
        unsafe { session.stay() };
        (0..events).for_each(|_| event());
        assert_eq!(tare.total_of_account(&EVENT, 0).count, 0);
        tare::thread::set_account(user, "localhost");
        let total = tare.total(&EVENT);
        event();
        assert_eq!(of_user(&tare, user), of_all);
        assert_eq!(
            (total.count, total.buckets),
            (tare.total(&EVENT).count - 1, total.count)
        );
        tare::thread::leave_session();
    }
    // A session that never logs in counts as background.
    let session = ThreadSession::new(&CONNECTION);
    session.await_account();
    // SAFETY: as above.
    unsafe { session.stay() };
    event();
    tare::thread::leave_session();
    drop(session);
    assert_eq!(tare.total_of_account(&EVENT, 0).count, 1);
    assert_eq!(tare.total(&EVENT).count, 64);
    assert_eq!(tare.losses(), []);
}

#[test]
fn more_accounts_than_the_limit_count_as_background() {
    let limits = Limits::default().accounts(3);
    let tare = everything(limits);
    for i in 0..5 {
        tare::thread::set_account(&format!("user{i}"), "localhost");
        event();
    }
    assert_eq!(of_user(&tare, "user0"), 1);
    assert_eq!(of_user(&tare, "user1"), 1);
    assert_eq!(tare.total_of_account(&EVENT, 0).count, 3);
    assert_eq!(tare.lost(Lost::Accounts), 3);
    assert_eq!(tare.lost(Lost::Users), 0);
    // The thread still refers to its account.
    let slot = tare.view.slot(tare.slot_of(tare::thread::id()));
    let account = slot.account.load(Ordering::Relaxed) as usize;
    let user = tare.view.account(account).user.load(Ordering::Relaxed) as usize;
    assert!(tare.view.user(user).name.is("user4"));
}

/// Later names get no number, and do not replace earlier ones.
#[test]
fn more_schemas_than_the_limit_are_not_stored() {
    let limits = Limits::default().schemas(3);
    let tare = everything(limits);
    let slot = tare.view.slot(tare.slot_of(tare::thread::id()));
    let numbers = ["a", "b", "c", "b", "d", ""].map(|name| {
        tare::thread::set_db(name);
        slot.schema.load(Ordering::Relaxed)
    });
    assert_eq!(numbers, [1, 2, 0, 2, 0, 0]);
    assert_eq!(tare.lost(Lost::Schemas), 2);
}

/// A truncated account gives its number to the next one, and its figures to the background.
#[test]
fn a_forgotten_account_frees_its_number() {
    let limits = Limits::default().accounts(3);
    let tare = everything(limits);
    let be = |user: &str| {
        tare::thread::set_account(user, "localhost");
        event();
    };
    ["user0", "user1", "user2"].into_iter().for_each(be);
    assert_eq!(tare.lost(Lost::Accounts), 1);
    // As a reader does; user2 is connected.
    for i in 1..3 {
        let account = tare.view.account(i);
        let total = account.total.load(Ordering::Relaxed);
        account.forgotten.store(total, Ordering::Relaxed);
    }
    be("user3");
    be("user1");
    assert_eq!(tare.lost(Lost::Accounts), 1);
    assert_eq!((of_user(&tare, "user3"), of_user(&tare, "user1")), (1, 2));
    assert_eq!(tare.total_of_account(&EVENT, 1).count, 1, "user3's");
    // user2 and user0.
    assert_eq!(tare.total_of_account(&EVENT, 0).count, 2);
    assert_eq!(tare.total(&EVENT).count, 5);
    // There was no TRUNCATE since.
    be("user4");
    assert_eq!(tare.lost(Lost::Accounts), 2);
}

/// The same for a user, unless an account refers to it.
#[test]
fn a_forgotten_user_frees_its_number() {
    let limits = Limits::default().users(3);
    let tare = everything(limits);
    let be = |user: &str| {
        tare::thread::set_account(user, "localhost");
        event();
    };
    ["user0", "user1"].into_iter().for_each(be);
    let forget = |current: &AtomicU64, total: &AtomicU64, forgotten: &AtomicU64| {
        let ended = total.load(Ordering::Relaxed) - current.load(Ordering::Relaxed);
        forgotten.store(ended, Ordering::Relaxed);
    };
    for i in 1..3 {
        let user = tare.view.user(i);
        forget(&user.current, &user.total, &user.forgotten);
    }
    be("user2");
    assert_eq!(tare.lost(Lost::Users), 1, "user0's account is listed");
    for i in 1..4 {
        let account = tare.view.account(i);
        forget(&account.current, &account.total, &account.forgotten);
    }
    be("user3");
    assert_eq!(tare.lost(Lost::Users), 1);
    assert!(tare.view.user(1).name.is("user3"));
    assert!(tare.view.user(2).name.is("user1"));
}

/// While accounts and users are truncated and their numbers reused, a thread never appears under
/// another name.
#[test]
fn nobody_takes_an_account_that_is_being_entered() {
    let limits = Limits::default().accounts(4).users(4);
    let tare = everything(limits);
    let (threads, rounds) = (4, scale(2_000, 200_000));
    let running = AtomicU64::new(threads);
    let forget = |current: &AtomicU64, total: &AtomicU64, forgotten: &AtomicU64| {
        let before = total.load(Ordering::Acquire);
        let now = current.load(Ordering::Acquire);
        if total.load(Ordering::Acquire) == before {
            forgotten.store(before.saturating_sub(now), Ordering::Release);
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (tare, running) = (&tare, &running);
            scope.spawn(move || {
                for round in 0..rounds as u64 {
                    let name = format!("user{}", (thread * 7 + round * (thread + 1)) % 11);
                    tare::thread::set_account(&name, "localhost");
                    event();
                    let slot = tare.view.slot(tare.slot_of(tare::thread::id()));
                    let account = slot.account.load(Ordering::Relaxed) as usize;
                    let user = tare.view.account(account).user.load(Ordering::Relaxed);
                    let user = tare.view.user(user as usize);
                    assert!(user.name.is(&name), "{name} in round {round}");
                }
                tare::thread::set_account("", "");
                running.fetch_sub(1, Ordering::Release);
            });
        }
        while running.load(Ordering::Acquire) != 0 {
            let shared = tare.view.shared();
            for i in 1..shared.accounts_used.0.load(Ordering::Acquire) as usize {
                let account = tare.view.account(i);
                forget(&account.current, &account.total, &account.forgotten);
            }
            for i in 1..shared.users_used.0.load(Ordering::Acquire) as usize {
                let user = tare.view.user(i);
                forget(&user.current, &user.total, &user.forgotten);
            }
        }
    });
    assert_eq!(tare.total(&EVENT).count, threads * rounds as u64);
    let shared = tare.view.shared();
    let accounts = shared.accounts_used.0.load(Ordering::Relaxed) as usize;
    let connected = (1..accounts).map(|i| tare.view.account(i).current.load(Ordering::Relaxed));
    assert_eq!(connected.sum::<u64>(), 0);
}

/// Accounts beyond the limit of users still have their user's name; the user is lost once for each
/// account, as in MySQL.
#[test]
fn more_users_than_the_limit_have_accounts() {
    let limits = Limits::default().users(3);
    let tare = everything(limits);
    for user in ["user0", "user1", "user2", "user2", "user3"] {
        tare::thread::set_account(user, "localhost");
        event();
    }
    assert_eq!(of_user(&tare, "user2"), 2);
    assert_eq!(tare.lost(Lost::Users), 2);
    assert_eq!(tare.lost(Lost::Accounts), 0);
}

/// Many accounts and few banks: threads of one account after the other.
#[test]
fn banks_are_merged_and_totals_by_account_stay_exact() {
    let limits = Limits::default().threads(4).accounts(8);
    let tare = everything(limits);
    let mut expected = [0; 7];
    for round in 0..scale(12, 200) {
        for (account, expected) in expected.iter_mut().enumerate() {
            let n = account + round + 1;
            *expected += 4 * n as u64;
            // All four at once, so that each account in turn needs four banks.
            let together = Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        tare::thread::set_account(&format!("user{account}"), "localhost");
                        together.wait();
                        for i in 0..n {
                            event();
                            let statement = tare::statement::start(&QUERY);
                            statement.text("SELECT 1");
                            statement.rows_sent(2);
                            tare::stage::set(&STAGE);
                            drop(statement);
                            tare::memory::allocated(&CACHE, 10);
                            tare::memory::freed(&CACHE, 10);
                            tare::error::raised(1062);
                            let mut wait = tare::wait::start(&DATA, Operation::Write);
                            wait.bytes(i as u64);
                        }
                        together.wait();
                    });
                }
            });
            // Waits for their destructors, before the next four need their slots.
            while !tare.live().is_empty() {
                std::thread::yield_now();
            }
        }
    }
    let all: u64 = expected.iter().sum();
    assert_eq!(tare.losses(), []);
    assert!(tare.banks() <= 13, "threads, accounts, and one");
    for (account, expected) in expected.iter().enumerate() {
        assert_eq!(of_user(&tare, &format!("user{account}")), *expected);
    }
    for class in [&EVENT, &QUERY, &STAGE] {
        let total = tare.total(class);
        assert_eq!((total.count, total.buckets), (all, all), "{}", class.name());
        assert!(total.min.is_some());
    }
    assert_eq!(tare.cell(&QUERY, 1, 5), 2 * all);
    assert_eq!(tare.cell(&CACHE, 0, memory::ALLOC_BYTES), 10 * all);
    assert_eq!(tare.cell(&CACHE, 0, memory::FREE_BYTES), 10 * all);
    assert_eq!(tare.line(&DATA, 1).count, all);
    let error = tare
        .class_number("error/1062")
        .expect("a class of the error");
    let raised: u64 = (0..tare.banks())
        .map(|bank| {
            (
                bank,
                line_of(tare.view.class_index(bank)[error].load(Ordering::Acquire)),
            )
        })
        .filter(|(_, at)| *at != 0)
        .map(|(bank, at)| tare.view.arena(bank)[at].get(1))
        .sum();
    assert_eq!(raised, all);
    let digests = tare.digests();
    assert_eq!(digests.len(), 1);
    let digest = tare.digest(digests[0].0);
    assert_eq!((digest.count, digest.buckets), (all, all));
}

/// When no bank is free, a thread that changes its account empties its own.
#[test]
fn all_threads_change_their_accounts_at_once() {
    let limits = Limits::default().threads(8).accounts(3);
    let tare = everything(limits);
    let rounds = scale(200, 5_000);
    let together = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for round in 0..rounds {
                    event();
                    together.wait();
                    tare::thread::set_account(["alice", "bob"][round % 2], "localhost");
                }
                event();
            });
        }
    });
    assert_eq!(tare.losses(), []);
    let half = 4 * rounds as u64;
    assert_eq!(tare.total_of_account(&EVENT, 0).count, 8);
    assert_eq!(of_user(&tare, "alice"), half);
    assert_eq!(of_user(&tare, "bob"), half);
}

#[test]
fn instances_beyond_the_index_count_in_the_shared_lines() {
    let tare = everything(Limits::default());
    let locks: Vec<Mutex<u64>> = (0..300).map(|_| Mutex::new(&LOCK_N, 0)).collect();
    let threads = 8;
    let rounds = scale(20, 2_000);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..rounds {
                    for lock in &locks {
                        *lock.lock() += 1;
                    }
                }
            });
        }
    });
    let each = (threads * rounds) as u64;
    let ids = tare.instances(&LOCK_N);
    assert_eq!(ids.len(), locks.len());
    let mut shared = 0;
    for id in ids {
        assert_eq!(tare.instance(id, 0).count, each);
        assert_eq!(tare.held(id), []);
        shared += tare.instance_shared(id, 0);
    }
    assert!(shared > 0, "300 locks found 64 places");
    assert_eq!(tare.total(&LOCK_N).count, 300 * each);
    assert_eq!(tare.losses(), []);
    // Each new lock reuses the row of a dropped one: 10,000 locks one after the other.
    drop(locks);
    assert_eq!(tare.instances(&LOCK_N), []);
    for _ in 0..10_000 {
        *Mutex::new(&LOCK_M, 0).lock() += 1;
    }
    let used = tare.view.shared().instances_used.0.load(Ordering::Relaxed);
    assert!(used <= 310, "{used} instances");
    assert_eq!(tare.total(&LOCK_M).count, 10_000);
    assert_eq!(tare.losses(), []);
}

#[test]
fn locks_beyond_the_limit_of_instances_still_count_by_class() {
    let limits = Limits::default().instances(16);
    let tare = everything(limits);
    let locks: Vec<Mutex<u64>> = (0..20).map(|_| Mutex::new(&LOCK_N, 0)).collect();
    for _ in 0..2 {
        locks.iter().for_each(|lock| *lock.lock() += 1);
    }
    assert_eq!(tare.total(&LOCK_N).count, 40);
    assert_eq!(tare.instances(&LOCK_N).len(), 16);
    assert_eq!(tare.lost(Lost::Instances), 4);
}

/// Two threads use a lock, a file and a socket for the first time at the same moment.
#[test]
fn concurrent_first_uses_create_one_instance() {
    let tare = everything(Limits::default());
    for _ in 0..scale(300, 20_000) {
        let lock = Mutex::new(&LOCK_N, 0);
        let together = Barrier::new(2);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    together.wait();
                    *lock.lock() += 1;
                });
            }
        });
        assert_eq!(tare.instances(&LOCK_N).len(), 1);
    }
}

#[test]
fn the_holder_of_a_lock_is_recorded() {
    let tare = everything(Limits::default());
    let (mutex, rwlock) = (Mutex::new(&LOCK_N, 0), RwLock::new(&LOCK_R, 0));
    let me = tare.slot_of(tare::thread::id());
    let exclusive = 1 << 63;
    let held = mutex.lock();
    let id = tare.instances(&LOCK_N)[0];
    assert_eq!(tare.held(id), [(me, exclusive)]);
    drop(held);
    assert_eq!(tare.held(id), []);
    let tried = mutex.try_lock();
    assert_eq!(tare.held(id), [(me, exclusive)]);
    drop(tried);
    let (one, two) = (rwlock.read(), rwlock.read());
    let id = tare.instances(&LOCK_R)[0];
    assert_eq!(tare.held(id), [(me, 2)]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let three = rwlock.read();
            let other = tare.slot_of(tare::thread::id());
            let mut held = tare.held(id);
            held.sort_unstable();
            let mut expected = [(me, 2), (other, 1)];
            expected.sort_unstable();
            assert_eq!(held, expected);
            drop(three);
        });
    });
    drop(one);
    assert_eq!(tare.held(id), [(me, 1)]);
    drop(two);
    assert_eq!(tare.held(id), []);
    let writing = rwlock.write();
    assert_eq!(tare.held(id), [(me, exclusive)]);
    drop(writing);
    assert_eq!(tare.held(id), []);
}

/// Sixteen pages of counters, and no more.
#[test]
fn the_memory_limit_holds_and_lost_events_are_counted() {
    const CLASSES: usize = 600;
    let names: Vec<String> = (0..CLASSES)
        .map(|i| format!("wait/lock/metadata/banks/many{i}"))
        .collect();
    let classes: Vec<&'static Class> = names
        .into_iter()
        .map(|name| {
            let name = Box::leak(name.into_boxed_str());
            &*Box::leak(Box::new(Class::new(Kind::MetadataLock, name, "")))
        })
        .collect();
    let tare = start(
        Config::default()
            .memory_limit(8 * 4096)
            .limits(Limits::default().classes(2048))
            .instruments([("%", tare::Setting::Counted)]),
    );
    for round in 0..2 {
        for class in &classes {
            drop(tare::wait::start(class, Operation::MetadataLock));
        }
        let counted: u64 = classes.iter().map(|c| tare.total(c).count).sum();
        let lost = tare.lost(Lost::Rows);
        assert!(counted > 0 && lost > 0);
        assert_eq!(counted + lost, (round + 1) * CLASSES as u64);
        let touched = tare.view.shared().bank_bytes.0.load(Ordering::Relaxed);
        assert!(touched <= 8 * 4096, "{touched} bytes");
    }
}

#[test]
fn a_timed_event_without_a_histogram_is_still_counted() {
    // All lines of the arena are used by rows; none is left for histogram blocks.
    let limits = Limits::default().arena_lines(256).classes(2048);
    let tare = everything(limits);
    let classes: Vec<&'static Class> = (0..300)
        .map(|i| {
            let name = format!("wait/lock/metadata/banks/room{i}").into_boxed_str();
            &*Box::leak(Box::new(Class::new(
                Kind::MetadataLock,
                Box::leak(name),
                "",
            )))
        })
        .collect();
    for _ in 0..3 {
        for class in &classes {
            drop(tare::wait::start(class, Operation::MetadataLock));
        }
    }
    let totals: Vec<support::Sum> = classes.iter().map(|c| tare.total(c)).collect();
    let counted: u64 = totals.iter().map(|t| t.count).sum();
    assert_eq!(counted + tare.lost(Lost::Rows), 900);
    let buckets: u64 = totals.iter().map(|t| t.buckets).sum();
    assert!(tare.lost(Lost::Rows) > 0);
    assert_eq!(buckets + tare.lost(Lost::Histograms), counted);
}
