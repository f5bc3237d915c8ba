//! setup_instruments, setup_consumers, setup_timers: what is recorded and how it is timed.
//! performance_timers: the clocks there are.

use std::sync::Arc;

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, Update, YES_NO, col, null};

/// An instrument.
#[derive(Debug, Clone)]
pub struct Instrument {
    /// The class's number in the segment.
    pub id: u32,
    /// NAME.
    pub name: Arc<str>,
    /// ENABLED.
    pub enabled: bool,
    /// TIMED; `None` for what has no duration (memory, errors, threads).
    pub timed: Option<bool>,
    /// PROPERTIES.
    pub properties: String,
    /// VOLATILITY.
    pub volatility: i64,
    /// DOCUMENTATION.
    pub documentation: Option<Arc<str>>,
}

const PROPERTIES: &str = "set('singleton','progress','user','global_statistics','mutable')";

const INSTRUMENTS: &[Column<Instrument>] = &[
    col("NAME", "varchar(128)", "The instrument.", |r| {
        (&*r.name).into()
    }),
    col(
        "ENABLED",
        YES_NO,
        "Whether its events are counted; can be set.",
        |r| Cell::yes_no(r.enabled),
    ),
    null(
        "TIMED",
        YES_NO,
        "Whether they are timed too; can be set. NULL for what has no duration.",
        |r| r.timed.map_or(Cell::Null, Cell::yes_no),
    ),
    col(
        "PROPERTIES",
        PROPERTIES,
        "What kind of instrument it is.",
        |r| r.properties.as_str().into(),
    ),
    col(
        "VOLATILITY",
        "int(11)",
        "How short-lived its objects are; 0 if that is not known.",
        |r| r.volatility.into(),
    ),
    null("DOCUMENTATION", "longtext", "What it instruments.", |r| {
        Cell::opt(r.documentation.as_deref())
    }),
];

static SETUP_INSTRUMENTS: Spec<Instrument> = Spec::new(
    "performance_schema",
    "setup_instruments",
    "The instruments, and whether they are on.",
    &[INSTRUMENTS],
    |view, filter| view.snapshot.instruments(filter),
)
.keys(&[Key::Primary(&["NAME"])])
.filters(&["NAME"])
.update(
    |r| i64::from(r.id),
    Update {
        columns: &["ENABLED", "TIMED"],
        apply: |view, rowid, changes| view.snapshot.set_instrument(rowid as u32, changes),
    },
);

/// A consumer.
#[derive(Debug, Clone)]
pub struct Consumer {
    /// Its bit in the control page.
    pub bit: u32,
    /// NAME.
    pub name: &'static str,
    /// ENABLED.
    pub enabled: bool,
}

static SETUP_CONSUMERS: Spec<Consumer> = Spec::new(
    "performance_schema",
    "setup_consumers",
    "Where events go, and whether they do. Without thread_instrumentation there are no single events, and sums by thread, account, user and host stand still; those of memory go on.",
    &[&[
        col("NAME", "varchar(64)", "The consumer.", |r: &Consumer| {
            r.name.into()
        }),
        col("ENABLED", YES_NO, "Whether it is on; can be set.", |r| {
            Cell::yes_no(r.enabled)
        }),
    ]],
    |view, _| view.snapshot.consumers(),
)
.keys(&[Key::Primary(&["NAME"])])
.expect(15)
.update(
    |r| i64::from(r.bit),
    Update {
        columns: &["ENABLED"],
        apply: |view, rowid, changes| view.snapshot.set_consumer(rowid as u32, changes),
    },
);

/// The timer of an event type.
#[derive(Debug, Clone)]
pub struct EventTimer {
    /// The event type's number.
    pub id: u32,
    /// NAME.
    pub name: &'static str,
    /// TIMER_NAME.
    pub timer: &'static str,
}

static SETUP_TIMERS: Spec<EventTimer> = Spec::new(
    "performance_schema",
    "setup_timers",
    "Which clock times which type of event.",
    &[&[
        col(
            "NAME",
            "varchar(64)",
            "The event type.",
            |r: &EventTimer| r.name.into(),
        ),
        col(
            "TIMER_NAME",
            "enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK')",
            "Its clock; can be set.",
            |r| r.timer.into(),
        ),
    ]],
    |view, _| view.snapshot.event_timers(),
)
.expect(5)
.update(
    |r| i64::from(r.id),
    Update {
        columns: &["TIMER_NAME"],
        apply: |view, rowid, changes| view.snapshot.set_event_timer(rowid as u32, changes),
    },
);

/// A clock.
#[derive(Debug, Clone)]
pub struct Timer {
    /// TIMER_NAME.
    pub name: &'static str,
    /// TIMER_FREQUENCY; `None` if the machine has no such clock.
    pub frequency: Option<i64>,
    /// TIMER_RESOLUTION.
    pub resolution: Option<i64>,
    /// TIMER_OVERHEAD.
    pub overhead: Option<i64>,
}

static PERFORMANCE_TIMERS: Spec<Timer> = Spec::new(
    "performance_schema",
    "performance_timers",
    "The clocks there are, as measured at the start.",
    &[&[
        col(
            "TIMER_NAME",
            "enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND')",
            "The clock.",
            |r: &Timer| r.name.into(),
        ),
        null(
            "TIMER_FREQUENCY",
            I64,
            "Ticks in a second; NULL if there is no such clock.",
            |r| Cell::opt(r.frequency),
        ),
        null("TIMER_RESOLUTION", I64, "The least step, in ticks.", |r| {
            Cell::opt(r.resolution)
        }),
        null(
            "TIMER_OVERHEAD",
            I64,
            "Cycles that one reading costs.",
            |r| Cell::opt(r.overhead),
        ),
    ]],
    |view, _| view.snapshot.timers(),
)
.expect(4);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &SETUP_INSTRUMENTS,
    &SETUP_CONSUMERS,
    &SETUP_TIMERS,
    &PERFORMANCE_TIMERS,
];
