//! Classes that are frequent have the first numbers, whenever they are registered.
#![cfg(feature = "instrument")]

mod support;

use support::start;
use tare::{Class, Config, Kind, Operation, host_lock};

static RARE: Class = Class::new(Kind::Mutex, "wait/synch/mutex/frequent/RARE", "");
static ALSO_RARE: Class = Class::new(Kind::Mutex, "wait/synch/mutex/frequent/ALSO_RARE", "");
static FIRST: Class = Class::new(Kind::Mutex, "wait/synch/mutex/frequent/FIRST", "").frequent();
static SECOND: Class = Class::new(Kind::Mutex, "wait/synch/mutex/frequent/SECOND", "").frequent();
static THIRD: Class = Class::new(Kind::Mutex, "wait/synch/mutex/frequent/THIRD", "").frequent();

#[test]
fn frequent_classes_have_the_first_numbers() {
    // One is Tare's own: statement/tare/active.
    let running = start(Config::everything().frequent_classes(3));
    let [rare, first, second] = [&RARE, &FIRST, &SECOND].map(host_lock::class_number);
    assert_eq!((first, second), (2, 3));
    assert!(rare > 3, "{rare}");
    // No number is left for it.
    assert!(host_lock::class_number(&THIRD) > rare);
    assert!(host_lock::class_number(&ALSO_RARE) > rare);
    assert_eq!(host_lock::class_number(&FIRST), 2);

    drop(tare::wait::start(&SECOND, Operation::Lock));
    for _ in 0..2 {
        drop(tare::wait::start(&RARE, Operation::Lock));
    }
    assert_eq!(running.total(&SECOND).count, 1);
    assert_eq!(running.total(&RARE).count, 2);
    assert_eq!(running.total(&FIRST).count, 0);
}
