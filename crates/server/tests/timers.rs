//! tare.setup_timers changed while events run: no event has a wrong time.

#![cfg(feature = "instrument")]

mod support;

use std::time::Duration;

use support::{Running, start};
use tare::{Config, Operation};

tare::classes! {
    static TABLE: TableIo = "wait/io/table/test/handler";
    static STAGE: Stage = "stage/test/One";
    static SELECT: Statement = "statement/sql/select";
    static TRX: Transaction = "transaction";
}

const TYPES: [(&str, &str); 4] = [
    ("waits", "wait/io/table/test/handler"),
    ("stages", "stage/test/One"),
    ("statements", "statement/sql/select"),
    ("transactions", "transaction"),
];

fn timers(r: &Running, timer: &str) {
    let sql = format!("UPDATE tare.setup_timers SET TIMER_NAME = '{timer}' WHERE NAME <> 'idle'");
    assert_eq!(r.execute(&sql), Ok(4), "{timer}");
}

/// One event of each type, nested, around ten milliseconds of sleep and `meanwhile`.
fn events(meanwhile: impl FnOnce()) {
    let transaction = tare::transaction::start(&TRX, tare::transaction::Mode::default());
    let statement = tare::statement::start(&SELECT);
    statement.text("SELECT 1");
    tare::stage::set(&STAGE);
    let wait = tare::table::wait(&TABLE, Operation::Fetch);
    std::thread::sleep(Duration::from_millis(10));
    meanwhile();
    drop(wait);
    drop(statement);
    transaction.commit();
}

/// For each type: the events, whether each took ten milliseconds to a minute, and whether none was timed.
fn sums(r: &Running) -> Vec<String> {
    let row = |(table, class): (&str, &str)| {
        r.one(&format!(
            "SELECT COUNT_STAR, SUM_TIMER_WAIT BETWEEN COUNT_STAR * 10000000000 AND COUNT_STAR * 60000000000000, \
             SUM_TIMER_WAIT = 0 AND MAX_TIMER_WAIT = 0 FROM \
             performance_schema.events_{table}_summary_global_by_event_name WHERE EVENT_NAME = '{class}'"
        ))
    };
    TYPES.into_iter().map(row).collect()
}

fn changes(r: &Running) -> i64 {
    r.number(
        "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Tare_timer_changes'",
    )
}

#[test]
fn events_across_a_change_of_timer_are_not_timed() {
    let r = start(Config::everything());
    for (from, to) in [("NANOSECOND", "THREAD_CPU"), ("THREAD_CPU", "MICROSECOND")] {
        let before = changes(&r);
        timers(&r, from);
        for (table, _) in TYPES {
            r.truncate(&format!("events_{table}_summary_global_by_event_name"));
        }
        r.truncate("events_statements_summary_by_digest");
        events(|| timers(&r, to));
        assert_eq!(sums(&r), ["1 0 1"; 4], "{from} to {to}");
        assert_eq!(changes(&r) - before, 4, "{from} to {to}");
        let last = "SELECT EVENT_NAME, END_EVENT_ID IS NOT NULL, TIMER_WAIT FROM \
                    performance_schema.events_statements_history_long ORDER BY EVENT_ID DESC LIMIT 1";
        assert_eq!(
            r.rows(last),
            ["statement/sql/select 1 NULL"],
            "{from} to {to}"
        );
        let digest = "SELECT COUNT_STAR, SUM_TIMER_WAIT, LAST_SEEN >= FIRST_SEEN FROM \
                      performance_schema.events_statements_summary_by_digest";
        assert_eq!(r.rows(digest), ["1 0 1"], "{from} to {to}");
    }
}

#[test]
fn events_across_timers_of_one_clock_are_timed() {
    let r = start(Config::everything());
    let pairs = [
        ("CYCLE", "NANOSECOND"),
        ("CYCLE", "THREAD_CPU"),
        ("NANOSECOND", "CYCLE"),
        ("NANOSECOND", "MICROSECOND"),
        ("MILLISECOND", "NANOSECOND"),
    ];
    for (from, to) in pairs {
        timers(&r, from);
        for (table, _) in TYPES {
            r.truncate(&format!("events_{table}_summary_global_by_event_name"));
        }
        events(|| timers(&r, to));
        // One millisecond less, for a clock with that resolution.
        if from != "MILLISECOND" {
            assert_eq!(sums(&r), ["1 1 0"; 4], "{from} to {to}");
        }
    }
    assert_eq!(changes(&r), 0);
}
