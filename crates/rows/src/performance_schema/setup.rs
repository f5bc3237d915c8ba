//! setup_instruments, setup_consumers, tare.setup_timers, performance_timers.

use std::sync::Arc;

use tare_mysql::series::Series;

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, Update, YES_NO, col, null};

/// An instrument.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Instrument {
    /// The class's number in the segment.
    pub id: u32,
    pub name: Arc<str>,
    pub enabled: bool,
    /// TIMED; `None` for what has no duration (memory, errors, threads).
    pub timed: Option<bool>,
    pub properties: String,
    pub volatility: i64,
    pub documentation: Option<Arc<str>>,
}

const PROPERTIES: &str = "set('singleton','progress','user','global_statistics','mutable')";
const PROPERTIES_9_7: &str =
    "set('singleton','progress','user','global_statistics','mutable','controlled_by_default')";

impl Instrument {
    fn timed_or_no(&self) -> Cell<'_> {
        Cell::yes_no(self.timed == Some(true))
    }

    fn timed(&self) -> Cell<'_> {
        self.timed.map_or(Cell::Null, Cell::yes_no)
    }
}

#[rustfmt::skip] // One column, one line.
const INSTRUMENTS: &[Column<Instrument>] = &[
    col("NAME", "varchar(128)", "The instrument.", |r| (&*r.name).into()),
    col("ENABLED", YES_NO, "Whether events are recorded; can be updated.", |r| Cell::yes_no(r.enabled)),
    null("TIMED", YES_NO, "Whether events are timed; can be updated. NULL without a duration.", Instrument::timed).mysql_only(),
    col("TIMED", YES_NO, "Whether events are timed; can be updated. NO without a duration.", Instrument::timed_or_no)
        .mariadb_only(),
    col("PROPERTIES", PROPERTIES, "Its properties.", |r: &Instrument| r.properties.as_str().into()).mysql_only().in_9_7(PROPERTIES_9_7),
    null("FLAGS", "set('controlled')", "Always NULL: memory has no limit by connection.", |_| Cell::Null).since(Series::V9_7),
    col("VOLATILITY", "int(11)", "How short-lived its objects are; 0 if unknown.", |r: &Instrument| r.volatility.into()).mysql_only(),
    null("DOCUMENTATION", "longtext", "What the instrument measures.", |r: &Instrument| Cell::opt(r.documentation.as_deref())).mysql_only(),
];

static SETUP_INSTRUMENTS: Spec<Instrument> = Spec::new(
    "performance_schema",
    "setup_instruments",
    "The instruments, and whether they are enabled and timed.",
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
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Consumer {
    /// Its bit in the control page.
    pub bit: u32,
    pub name: &'static str,
    pub enabled: bool,
}

#[rustfmt::skip] // One column, one line.
static SETUP_CONSUMERS: Spec<Consumer> = Spec::new(
    "performance_schema",
    "setup_consumers",
    "The consumers, and whether they are enabled. While thread_instrumentation is disabled, \
     individual events are not recorded, and summaries by thread, account, user and host do not \
     change, except those of memory.",
    &[&[
        col("NAME", "varchar(64)", "The consumer.", |r: &Consumer| r.name.into()),
        col("ENABLED", YES_NO, "Whether the consumer is enabled; can be updated.", |r| Cell::yes_no(r.enabled)),
    ]],
    |view, _| view.snapshot.consumers(view.source.series()),
)
.keys(&[Key::Primary(&["NAME"])])
.expect(16)
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

/// A table of timers: where it is, what it is, its columns' names, and the timers that there are.
#[rustfmt::skip] // One column, one line.
macro_rules! setup_timers {
    ($schema:literal, $doc:literal, $name:literal, $timer:literal, $timers:literal) => {
        Spec::new(
            $schema,
            "setup_timers",
            $doc,
            &[&[
                col($name, "varchar(64)", "The event type.", |r: &EventTimer| r.name.into()),
                col($timer, $timers, "The timer; can be updated.", |r| r.timer.into()),
            ]],
            |view, _| view.snapshot.event_timers(),
        )
        .keys(&[Key::Primary(&[$name])])
        .expect(5)
        .update(
            |r| i64::from(r.id),
            Update {
                columns: &[$timer],
                apply: |view, rowid, changes| view.snapshot.set_event_timer(rowid as u32, changes),
            },
        )
    };
}

/// MySQL had it in performance_schema up to 5.7; its series that are served have not.
static SETUP_TIMERS: Spec<EventTimer> = setup_timers!(
    "tare",
    "The timer used for each event type, as performance_schema.setup_timers of MySQL 5.7.",
    "name",
    "timer_name",
    "enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','THREAD_CPU')"
);

static SETUP_TIMERS_OF_MARIADB: Spec<EventTimer> = setup_timers!(
    "performance_schema",
    "The timer used for each event type. TICK is not available: an UPDATE to it is refused.",
    "NAME",
    "TIMER_NAME",
    "enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK')"
)
.mariadb_only();

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

#[rustfmt::skip] // One column, one line.
static PERFORMANCE_TIMERS: Spec<Timer> = Spec::new(
    "performance_schema",
    "performance_timers",
    "The available timers, as measured at startup.",
    &[&[
        col("TIMER_NAME", "enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND')", "The timer.", |r: &Timer| r.name.into())
            .in_9_7("enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','THREAD_CPU')")
            .in_mariadb("enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK')"),
        null("TIMER_FREQUENCY", I64, "Ticks per second; NULL if the timer is not available.", |r| Cell::opt(r.frequency)),
        null("TIMER_RESOLUTION", I64, "The timer's resolution, in ticks.", |r| Cell::opt(r.resolution)),
        null("TIMER_OVERHEAD", I64, "What one reading costs, in CPU cycles.", |r| Cell::opt(r.overhead)),
    ]],
    |view, _| view.snapshot.timers(view.source.series()),
)
.expect(4);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &SETUP_INSTRUMENTS,
    &SETUP_CONSUMERS,
    &SETUP_TIMERS,
    &SETUP_TIMERS_OF_MARIADB,
    &PERFORMANCE_TIMERS,
];
