//! Points of instruments that are off stop at one word, and notice when they are switched on again.
#![cfg(feature = "instrument")]

mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use support::{Running, everything, start};
use tare::sync::Mutex;
use tare::transaction::Mode;
use tare::{Class, Config, Operation};
use tare_layout::control::host;

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/settings/LOCK";
    static DATA: File = "wait/io/file/settings/data";
    static STAGE: Stage = "stage/settings/one";
    static OTHER: Stage = "stage/settings/other";
    static QUERY: Statement = "statement/settings/query";
    static TRANSACTION: Transaction = "transaction";
    static HEAP: Memory = "memory/settings/heap";
}

const ALL: [&Class; 7] = [&LOCK, &DATA, &STAGE, &OTHER, &QUERY, &TRANSACTION, &HEAP];

/// Waits until the host has followed the change, as a reader that makes a change does.
fn followed(tare: &Running) {
    let control = tare.view.control();
    let change = control.changes.fetch_add(1, Ordering::SeqCst) + 1;
    // SAFETY: wakes the thread that sleeps on the word; the kernel only uses the address as a key.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            control.changes.as_ptr(),
            libc::FUTEX_WAKE,
            i32::MAX,
        )
    };
    while control.followed.load(Ordering::SeqCst) != change {
        std::thread::sleep(Duration::from_micros(50));
    }
}

fn watched() -> Running {
    let tare = start(Config::everything());
    tare::watch_settings();
    while tare.view.control().host.load(Ordering::SeqCst) & host::FOLLOWS == 0 {
        std::thread::sleep(Duration::from_micros(50));
    }
    followed(&tare);
    tare
}

fn set(tare: &Running, classes: &[&Class], enabled: bool) {
    for class in classes {
        tare.set_instrument(class, enabled, enabled);
    }
    followed(tare);
}

/// One event of each class.
fn events(lock: &Mutex<()>) {
    let statement = tare::statement::start(&QUERY);
    tare::stage::set(&STAGE);
    tare::stage::set(&OTHER);
    drop(tare::transaction::start(&TRANSACTION, Mode::default()));
    drop(lock.lock());
    drop(tare::wait::start(&DATA, Operation::Read));
    drop(statement);
    tare::memory::allocated(&HEAP, 64);
    tare::memory::freed(&HEAP, 64);
}

fn counts(tare: &Running) -> [u64; 7] {
    let number = |class: &Class| tare.class_number(class.name());
    ALL.map(|class| number(class).map_or(0, |_| tare.total(class).count))
}

#[test]
fn instruments_are_counted_only_while_they_are_on() {
    let tare = watched();
    let lock = Mutex::new(&LOCK, ());
    events(&lock);
    let before = counts(&tare);
    assert!(before.iter().all(|count| *count > 0), "{before:?}");
    // The state of threads is also recorded, while both of these are on.
    let consumers = tare.view.control().consumers.swap(0, Ordering::SeqCst);
    set(&tare, &ALL, false);
    assert!(ALL.iter().all(|class| !class.is_counted()));
    events(&lock);
    assert_eq!(counts(&tare), before);
    tare.view
        .control()
        .consumers
        .store(consumers, Ordering::SeqCst);
    set(&tare, &ALL, true);
    assert!(ALL.iter().all(|class| class.is_counted()));
    events(&lock);
    assert_eq!(counts(&tare), before.map(|count| 2 * count));
    assert_eq!(tare.losses(), []);
}

#[test]
fn kinds_are_switched_off_separately() {
    let tare = watched();
    let lock = Mutex::new(&LOCK, ());
    set(&tare, &[&LOCK, &DATA], false);
    events(&lock);
    let counted = counts(&tare).map(|count| count > 0);
    assert_eq!(counted, [false, false, true, true, true, true, true]);
    // One instrument of a kind enables the kind's points.
    set(&tare, &[&DATA], true);
    events(&lock);
    let counted = counts(&tare).map(|count| count > 0);
    assert_eq!(counted, [false, true, true, true, true, true, true]);
}

#[test]
fn events_that_began_before_a_switch_off_are_ended() {
    let tare = watched();
    let lock = Mutex::new(&LOCK, ());
    let held = lock.lock();
    let statement = tare::statement::start(&QUERY);
    let wait = tare::wait::start(&DATA, Operation::Read);
    tare::stage::set(&STAGE);
    tare.view.control().consumers.store(0, Ordering::SeqCst);
    set(&tare, &ALL, false);
    let instances = tare.instances(&LOCK);
    assert_eq!(tare.held(instances[0]).len(), 1);
    drop(held);
    assert_eq!(tare.held(instances[0]), []);
    tare::stage::set(&OTHER);
    assert_eq!(tare.total(&STAGE).count, 1);
    drop(wait);
    drop(statement);
    assert_eq!((tare.total(&DATA).count, tare.total(&QUERY).count), (1, 1));
}

#[test]
fn a_restart_counts_at_once() {
    let tare = watched();
    tare.view.control().consumers.store(0, Ordering::SeqCst);
    set(&tare, &ALL, false);
    drop(tare);
    // No thread watches this one: its points read their own flags.
    let tare = everything(Default::default());
    events(&Mutex::new(&LOCK, ()));
    assert!(counts(&tare).iter().all(|count| *count > 0));
    set_setup_byte(&tare);
    let before = counts(&tare);
    events(&Mutex::new(&LOCK, ()));
    assert_eq!(counts(&tare), before);
}

fn set_setup_byte(tare: &Running) {
    for class in ALL {
        tare.set_instrument(class, false, false);
    }
}
