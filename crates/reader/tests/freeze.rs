//! The consumer thread_instrumentation: without it, sums by thread, account, user and host are frozen.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use support::Running;
use tare::thread::ThreadSession;
use tare_layout::bank::baseline;
use tare_layout::class::Kind;
use tare_layout::control::CONSUMERS;
use tare_layout::line::{CELLS, COUNT, MAX, MIN, NO_MIN, SUM, error, memory};
use tare_reader::{Scope, Totals};

tare::classes! {
    static READ: File = "wait/io/file/test/read", enabled;
    static STEP: Stage = "stage/test/step", enabled;
    static HEAP: Memory = "memory/test/heap", enabled;
    static WORKER: Thread = "thread/test/worker";
}

fn reads(times: u64) {
    for _ in 0..times {
        tare::wait::start(&READ, tare::Operation::Read).bytes(3);
    }
}

fn long_read(at_least: Duration) {
    let _wait = tare::wait::start(&READ, tare::Operation::Read);
    thread::sleep(at_least);
}

fn switch(running: &Running, on: bool) {
    let number = CONSUMERS
        .iter()
        .position(|name| *name == "thread_instrumentation");
    let number = number.expect("MySQL has it");
    running.segment.set_consumer(number, on).expect("switched");
}

fn session(user: &str) -> ThreadSession {
    let mut session = ThreadSession::new(&WORKER);
    session.run(|| {
        tare::thread::set_account(user, "localhost");
    });
    session
}

fn own(running: &Running) -> Totals {
    let (view, id) = (running.segment.view(), tare::thread::id());
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let slot = (0..used)
        .find(|i| view.slot(*i).thread_id.load(Ordering::Relaxed) == id)
        .expect("it has one");
    let bank = view.slot(slot).bank.load(Ordering::Relaxed) as usize;
    running
        .banks()
        .thread(&running.selection(), slot, bank)
        .expect("we live")
}

fn of_account(running: &Running, scope: Scope, account: usize) -> Totals {
    let all = running.banks().accounts_of(scope, &running.selection());
    all.into_iter()
        .nth(account)
        .flatten()
        .expect("it has a bank")
}

fn count(running: &Running, totals: &Totals) -> u64 {
    let row = totals.row(running.class(READ.name()));
    row.map_or(0, |row| row[0][COUNT])
}

fn global(running: &Running) -> u64 {
    count(running, &running.global())
}

/// Counts of the first two accounts with users, which must be equal in all scopes.
fn accounts(running: &Running) -> [u64; 2] {
    let of = |scope| [1, 2].map(|i| count(running, &of_account(running, scope, i)));
    let counts = of(Scope::Account);
    assert_eq!(of(Scope::User), counts);
    assert_eq!(of(Scope::Host), counts);
    counts
}

#[test]
fn sums_by_thread_and_account_freeze_and_thaw() {
    let running = Running::new();
    let mut alice = session("alice");
    let own_of = |session: &mut ThreadSession| session.run(|| count(&running, &own(&running)));
    alice.run(|| reads(5));
    switch(&running, false);
    // Bob begins while it is off.
    let mut bob = session("bob");
    alice.run(|| reads(10));
    bob.run(|| reads(20));
    assert_eq!(global(&running), 35);
    assert_eq!(accounts(&running), [5, 0]);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [5, 0]);
    // Switching it off again changes nothing.
    switch(&running, false);
    assert_eq!(accounts(&running), [5, 0]);

    switch(&running, true);
    assert_eq!(global(&running), 35);
    assert_eq!(accounts(&running), [5, 0]);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [5, 0]);
    alice.run(|| reads(1));
    bob.run(|| reads(2));
    switch(&running, true);
    assert_eq!(global(&running), 38);
    assert_eq!(accounts(&running), [6, 2]);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [6, 2]);

    // A second time, with a thread that takes a bank that was left while the consumer was off.
    switch(&running, false);
    bob.run(|| reads(100));
    drop(bob);
    let mut bob = session("bob");
    bob.run(|| reads(7));
    assert_eq!(accounts(&running), [6, 2]);
    assert_eq!(own_of(&mut bob), 0);
    switch(&running, true);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [6, 0]);
    bob.run(|| reads(3));
    assert_eq!(accounts(&running), [6, 5]);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [6, 3]);
    assert_eq!(global(&running), 148);
}

#[test]
fn frozen_sums_can_be_truncated() {
    let running = Running::new();
    let mut alice = session("alice");
    let mut bob = session("bob");
    alice.run(|| reads(5));
    bob.run(|| reads(6));
    running.truncate(Scope::Account);
    running.truncate(Scope::User);
    running.truncate(Scope::Host);
    alice.run(|| reads(1));
    bob.run(|| reads(2));
    assert_eq!(accounts(&running), [1, 2]);
    switch(&running, false);
    alice.run(|| reads(10));
    assert_eq!(accounts(&running), [1, 2]);
    let own_of = |session: &mut ThreadSession| session.run(|| count(&running, &own(&running)));
    running.truncate(Scope::Thread);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [0, 0]);
    assert_eq!(accounts(&running), [1, 2]);
    running.truncate(Scope::Account);
    running.truncate(Scope::User);
    running.truncate(Scope::Host);
    alice.run(|| reads(10));
    assert_eq!(accounts(&running), [0, 0]);
    running.truncate(Scope::Global);
    assert_eq!(global(&running), 0);
    bob.run(|| reads(10));
    assert_eq!(global(&running), 10);
    switch(&running, true);
    assert_eq!(accounts(&running), [0, 0]);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [0, 0]);
    alice.run(|| reads(3));
    bob.run(|| reads(4));
    assert_eq!(accounts(&running), [3, 4]);
    assert_eq!([own_of(&mut alice), own_of(&mut bob)], [3, 4]);
    assert_eq!(global(&running), 17);
}

#[test]
fn times_and_extremes_are_frozen() {
    let running = Running::new();
    let class = running.class(READ.name());
    let mut alice = session("alice");
    alice.run(|| reads(4));
    let row = |totals: Totals| totals.row(class).expect("it has one")[0];
    let before = row(of_account(&running, Scope::Account, 1));
    let before_own = row(alice.run(|| own(&running)));
    switch(&running, false);
    alice.run(|| long_read(Duration::from_millis(20)));
    let account = row(of_account(&running, Scope::Account, 1));
    let thread = row(alice.run(|| own(&running)));
    for cell in [COUNT, SUM, MIN, MAX] {
        assert_eq!(account[cell], before[cell], "{cell}");
        assert_eq!(thread[cell], before_own[cell], "{cell}");
    }
    // Another thread in the same bank does not change the account's counts.
    drop(alice);
    let mut alice = session("alice");
    alice.run(|| long_read(Duration::from_millis(20)));
    let account = row(of_account(&running, Scope::Account, 1));
    for cell in [COUNT, SUM, MIN, MAX] {
        assert_eq!(account[cell], before[cell], "{cell}");
    }
    let thread = row(alice.run(|| own(&running)));
    assert_eq!(
        [thread[COUNT], thread[SUM], thread[MIN], thread[MAX]],
        [0, 0, NO_MIN, 0]
    );
    // Afterwards the long read is not among the displayed ones.
    switch(&running, true);
    let account = row(of_account(&running, Scope::Account, 1));
    assert_eq!(account[SUM], before[SUM]);
    assert!(account[MAX] <= before[SUM] && account[MIN] <= account[MAX]);
    assert!(row(running.global())[MAX] > account[MAX]);
}

#[test]
fn stages_and_errors_freeze_and_memory_does_not() {
    let running = Running::new();
    let mut alice = session("alice");
    let work = || {
        tare::stage::set(&STEP);
        tare::stage::end();
        tare::memory::allocated(&HEAP, 100);
        tare::error::raised(1146);
    };
    alice.run(|| (0..3).for_each(|_| work()));
    switch(&running, false);
    alice.run(|| (0..4).for_each(|_| work()));
    let sums = |totals: &Totals| {
        let of = |kind: Kind, cell: usize| -> u64 {
            let classes = tare_reader::Classes::read(running.segment.view());
            let ids = classes.iter().filter(|class| class.kind == kind);
            ids.filter_map(|class| Some(totals.row(class.id)?[0][cell]))
                .sum()
        };
        let heap = totals.row(running.class(HEAP.name())).expect("allocated")[0];
        [
            of(Kind::Stage, COUNT),
            of(Kind::Error, error::RAISED),
            heap[memory::ALLOC_COUNT],
        ]
    };
    assert_eq!(sums(&of_account(&running, Scope::Account, 1)), [3, 3, 7]);
    assert_eq!(sums(&running.global()), [7, 7, 7]);
    switch(&running, true);
    alice.run(work);
    assert_eq!(sums(&of_account(&running, Scope::Account, 1)), [4, 4, 8]);
    assert_eq!(sums(&running.global()), [8, 8, 8]);
}

/// A host that starts without the consumer has empty sums.
#[test]
fn sums_by_thread_may_be_frozen_from_the_start() {
    let running = Running::with(|config| {
        config
            .consumers
            .push(("thread_instrumentation".into(), false));
    });
    let mut alice = session("alice");
    let mut bob = session("bob");
    alice.run(|| reads(5));
    bob.run(|| reads(5));
    assert_eq!(accounts(&running), [0, 0]);
    assert_eq!(global(&running), 10);
    switch(&running, true);
    bob.run(|| reads(1));
    assert_eq!(accounts(&running), [0, 1]);
    assert_eq!(global(&running), 11);
}

/// Sums freeze and thaw correctly while banks are merged.
#[test]
fn frozen_sums_survive_a_merge_of_banks() {
    let running = Running::with_limits(tare::Limits::default().threads(8).accounts(16));
    let visit = |round: u64, times: u64| {
        let mut both = [ThreadSession::new(&WORKER), ThreadSession::new(&WORKER)];
        for session in &mut both {
            session.run(|| {
                tare::thread::set_account(&format!("user{}", round % 14), "localhost");
                reads(times);
            })
        }
    };
    let merges = || {
        let sequence = &running.segment.view().shared().merge_sequence.0;
        sequence.load(Ordering::Relaxed) / 2
    };
    let displayed = || -> u64 {
        let all = running.banks().accounts(&running.selection());
        all.iter()
            .flatten()
            .map(|totals| count(&running, totals))
            .sum()
    };
    (0..100).for_each(|round| visit(round, 4));
    assert_eq!((displayed(), global(&running)), (800, 800));
    switch(&running, false);
    let before = merges();
    (0..100).for_each(|round| visit(round, 1));
    assert!(
        merges() > before,
        "no banks were merged: the test tests nothing"
    );
    assert_eq!((displayed(), global(&running)), (800, 1000));
    switch(&running, true);
    assert_eq!((displayed(), global(&running)), (800, 1000));
    let before = merges();
    (0..100).for_each(|round| visit(round, 2));
    assert!(merges() > before);
    assert_eq!((displayed(), global(&running)), (1200, 1400));

    // Switched while banks are merged: no event is displayed that was not counted, and the sums settle.
    // Events while the sums were frozen may be hidden twice, so there is no lower bound.
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let load = scope.spawn(|| {
            (0..600).for_each(|round| visit(round, 1));
            done.store(true, Ordering::Release);
        });
        let mut on = false;
        while !done.load(Ordering::Acquire) {
            switch(&running, on);
            on = !on;
            assert!(displayed() <= 2600);
        }
        load.join().expect("no panic");
    });
    assert_eq!(global(&running), 2600);
    switch(&running, true);
    let rest = displayed();
    assert!(rest <= 2600, "{rest}");
    (0..100).for_each(|round| visit(round, 1));
    assert_eq!((displayed(), global(&running)), (rest + 200, 2800));
    running.truncate(Scope::Account);
    assert_eq!(displayed(), 0);
}

/// Hostile values in the baselines only make figures wrong.
#[test]
fn hostile_baselines_only_give_wrong_figures() {
    let running = Running::new();
    let mut alice = session("alice");
    let view = running.segment.writable().expect("we live");
    for nonsense in [u64::MAX, 1 << 63, 0x0101_0101_0101_0101, 7] {
        alice.run(|| reads(5));
        switch(&running, false);
        alice.run(|| reads(5));
        for number in 1..baseline::COUNT {
            for bank in 0..running.banks().count() {
                let used = view.bank(bank).used.load(Ordering::Acquire) as usize;
                for line in &view.baseline(number, bank)[..used] {
                    (0..CELLS).for_each(|i| line.set(i, nonsense));
                }
            }
        }
        for on in [false, true] {
            switch(&running, on);
            of_account(&running, Scope::Account, 1);
            of_account(&running, Scope::Host, 1);
            alice.run(|| own(&running));
        }
    }
    for scope in [Scope::Global, Scope::Account, Scope::User, Scope::Host] {
        running.truncate(scope);
    }
    alice.run(|| reads(2));
    assert_eq!(global(&running), 2);
    assert_eq!(count(&running, &of_account(&running, Scope::User, 1)), 2);
}
