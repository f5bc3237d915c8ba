//! The interface for a host with locks, sessions and a parser of its own: the door into unmodified
//! servers.
#![cfg(feature = "instrument")]

mod support;

use std::sync::atomic::{AtomicU64, Ordering};

use support::{everything, start};
use tare::file::Instance;
use tare::host_lock::{self, HostLock};
use tare::thread::ThreadSession;
use tare::{Config, LockTiming, Operation, Source};

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/host/LOCK";
    static QUERY: Statement = "statement/host/query";
    static WORKER: Thread = "thread/host/worker";
    static DATA: File = "wait/io/file/host/data";
    static HEAP: Memory = "memory/host/heap";
}

fn lock(instance: u32, counts_all: bool) -> HostLock {
    HostLock {
        class: host_lock::class_number(&LOCK),
        instance,
        counts_all,
    }
}

#[test]
fn a_free_lock_is_counted_and_one_that_waits_is_timed() {
    let tare = everything(Default::default());
    let instance = host_lock::new_instance(host_lock::class_number(&LOCK), 0x1000);
    let lock = lock(instance, false);
    // The first event of a class creates its row: the fast path does not do that.
    assert!(!host_lock::try_count_uncontended(lock.class, || true));
    assert!(host_lock::take(lock, Operation::Lock, Source::UNKNOWN, || true).is_none());
    assert!(host_lock::try_count_uncontended(lock.class, || true));
    assert!(!host_lock::try_count_uncontended(lock.class, || false));
    let taking = host_lock::take(lock, Operation::Lock, Source::UNKNOWN, || false)
        .expect("it is waited for");
    std::thread::sleep(std::time::Duration::from_millis(2));
    taking.end(true);
    let sum = tare.total(&LOCK);
    assert_eq!((sum.count, sum.contended), (3, 1));
    assert!(sum.sum > 0 && sum.max == sum.sum);
    // The instance counts the acquisitions that waited, and has no holder.
    assert_eq!(tare.instance(instance, 0).count, 1);
    assert_eq!(tare.held(instance), []);
    host_lock::end_instance(instance);
    assert_eq!(tare.instances(&LOCK), []);
    assert_eq!(tare.losses(), []);
}

#[test]
fn a_lock_of_a_class_is_taken_once_and_timed_if_it_waits() {
    let tare = everything(Default::default());
    let take = |quick: bool, slow: Option<bool>| {
        let slow = || slow.expect("it was taken at once");
        host_lock::take_by_class(&LOCK, Operation::Lock, Source::UNKNOWN, || quick, slow)
    };
    assert!(take(true, None));
    assert!(take(false, Some(true)));
    // A timeout: it waited, and did not take it.
    assert!(!take(false, Some(false)));
    host_lock::count_by_class(&LOCK);
    let sum = tare.total(&LOCK);
    assert_eq!((sum.count, sum.contended, sum.extra), (4, 2, 2));
    tare.set_instrument(&LOCK, false, false);
    assert!(take(false, Some(true)));
    host_lock::count_by_class(&LOCK);
    assert_eq!(tare.total(&LOCK).count, 4);
    assert_eq!(tare.losses(), []);
    // `tare` lives on, so that no other test starts the engine meanwhile.
    tare::stop();
    assert!(take(true, None));
    assert!(take(false, Some(true)));
    drop(tare);
}

#[test]
fn an_instance_that_counts_all_records_its_holder() {
    let tare = everything(Default::default());
    let instance = host_lock::new_instance(host_lock::class_number(&LOCK), 0x1000);
    let lock = lock(instance, true);
    assert!(host_lock::take(lock, Operation::Lock, Source::UNKNOWN, || true).is_none());
    assert_eq!(tare.instance(instance, 0).count, 1);
    assert_eq!(tare.held(instance).len(), 1);
    host_lock::released(instance, Operation::Lock);
    assert_eq!(tare.held(instance), []);
    host_lock::end_instance(instance);
}

#[test]
fn every_lock_is_timed_on_request() {
    let tare = start(Config::everything().lock_timing(LockTiming::Every));
    let lock = lock(0, false);
    let taking = host_lock::take(lock, Operation::Lock, Source::UNKNOWN, || true)
        .expect("timed all the same");
    taking.end(true);
    let quick = || unreachable!("it is not asked whether it is free");
    let slow = || true;
    let source = Source::UNKNOWN;
    assert!(host_lock::take_by_class(
        &LOCK,
        Operation::Lock,
        source,
        quick,
        slow
    ));
    let sum = tare.total(&LOCK);
    // The host did not check whether it was free.
    assert_eq!((sum.count, sum.contended, sum.extra), (2, 0, 2));
    tare.set_instrument(&LOCK, false, false);
    assert!(host_lock::try_count_uncontended(lock.class, || false));
    assert!(host_lock::take(lock, Operation::Lock, Source::UNKNOWN, || false).is_none());
    assert_eq!(tare.total(&LOCK).count, 2);
}

#[test]
fn tokens_find_a_digest() {
    let tare = everything(Default::default());
    for (tokens, text) in [
        (&b"select-a"[..], "SELECT 1"),
        (b"select-a", "SELECT 2"),
        (b"select-b", "SELECT a"),
        // Without tokens the text distinguishes it.
        (b"", "SELECT a"),
    ] {
        let statement = tare::statement::start(&QUERY);
        assert!(statement.wants_digest() && statement.is_counted());
        statement.text_only(text);
        statement.digest_by_tokens(tokens, "", text);
    }
    let mut digests = tare.digests();
    digests.retain(|(_, text)| !text.is_empty());
    let texts: Vec<_> = digests.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["SELECT ?", "SELECT `a`"]);
    for (id, _) in digests {
        assert_eq!(tare.digest(id).count, 2);
    }
}

#[test]
fn a_discarded_statement_is_not_counted() {
    let tare = everything(Default::default());
    tare::statement::start(&QUERY).discard();
    assert!(!tare::statement::is_open());
    drop(tare::statement::start(&QUERY));
    assert_eq!(tare.total(&QUERY).count, 1);
}

#[test]
fn files_are_renamed_and_deleted() {
    let tare = everything(Default::default());
    let read = |path: &str| {
        let file = Instance::open(&DATA, path);
        file.wait(Operation::Read).bytes(10);
    };
    read("/data/a");
    Instance::renamed(&DATA, "/data/a", "/data/b");
    read("/data/b");
    let first = tare.file(&DATA, "/data/b").expect("renamed");
    assert_eq!(tare.file(&DATA, "/data/a"), None);
    assert_eq!(tare.instance(first, 0).count, 2);
    Instance::deleted(&DATA, "/data/b");
    assert_eq!(tare.file(&DATA, "/data/b"), None);
    // Its number belongs to another one now, which begins at zero.
    read("/data/c");
    let second = tare.file(&DATA, "/data/c").expect("there");
    assert_ne!(first, second);
    assert_eq!(tare.instance(second, 0).count, 1);
    assert_eq!(tare.total(&DATA).count, 3);
}

#[test]
fn counted_memory_is_reported() {
    let tare = everything(Default::default());
    assert!(tare::memory::allocated(&HEAP, 100));
    tare.set_instrument(&HEAP, false, false);
    assert!(!tare::memory::allocated(&HEAP, 100));
}

#[test]
fn a_thread_stays_in_a_session() {
    let tare = everything(Default::default());
    static THREAD_ID: AtomicU64 = AtomicU64::new(0);
    std::thread::spawn(|| {
        let session = ThreadSession::with_parent(&WORKER, 7);
        session.set_processlist_id(42);
        session.set_os_id(1);
        // SAFETY: left below, before it is dropped.
        unsafe { session.stay() };
        THREAD_ID.store(tare::thread::id(), Ordering::Relaxed);
        assert_eq!(tare::thread::id(), session.id());
        assert_eq!(tare::thread::event().0, session.id());
        drop(tare::statement::start(&QUERY));
        tare::thread::leave_session();
    })
    .join()
    .expect("no panic");
    assert_ne!(THREAD_ID.load(Ordering::Relaxed), 0);
    assert_eq!(tare.total(&QUERY).count, 1);
}

#[test]
fn a_session_takes_a_bank_when_it_counts() {
    let tare = start(Config::nothing());
    let lock = lock(0, false);
    let sessions =
        |n: usize| -> Vec<ThreadSession> { (0..n).map(|_| ThreadSession::new(&WORKER)).collect() };
    let count_in = |session: &mut ThreadSession, user: &str| {
        session.run(|| {
            tare::thread::set_account(user, "localhost");
            assert!(host_lock::take(lock, Operation::Lock, Source::UNKNOWN, || true).is_none());
        })
    };
    let before = tare.banks();
    let mut idle = sessions(8);
    for session in &mut idle {
        count_in(session, "off");
    }
    assert_eq!((tare.banks(), tare.total(&LOCK).count), (before, 0));
    tare.set_instrument(&LOCK, true, true);
    // Existing sessions count from now on, for their account.
    for session in &mut idle {
        count_in(session, "off");
    }
    assert_eq!((tare.banks(), tare.total(&LOCK).count), (before + 8, 8));
    drop(idle);
    // Banks of an account serve its next sessions.
    let mut again = sessions(8);
    for session in &mut again {
        count_in(session, "off");
    }
    assert_eq!((tare.banks(), tare.total(&LOCK).count), (before + 8, 16));
    assert_eq!(tare.losses(), []);
}
