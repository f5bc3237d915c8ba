//! What the tables of all four event types share: an event's identity, times and nesting, and a
//! summary's owner and timing.

use std::sync::Arc;

use super::lists::stats;
use crate::cell::Cell;
use crate::describe::{Column, Key, U64, col, null};

/// An event's columns that every type has. Times in picoseconds from the segment's start.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// THREAD_ID.
    pub thread_id: u64,
    /// EVENT_ID.
    pub event_id: u64,
    /// END_EVENT_ID; `None` while the event runs.
    pub end_event_id: Option<u64>,
    /// EVENT_NAME.
    pub name: Arc<str>,
    /// SOURCE.
    pub source: Option<Arc<str>>,
    /// TIMER_START; `None` if the event is counted, not timed.
    pub timer_start: Option<u64>,
    /// TIMER_END; of a running event, the time of the snapshot.
    pub timer_end: Option<u64>,
    /// TIMER_WAIT.
    pub timer_wait: Option<u64>,
    /// NESTING_EVENT_ID.
    pub nesting_event_id: Option<u64>,
    /// NESTING_EVENT_TYPE.
    pub nesting_event_type: Option<&'static str>,
}

/// A row that is an event.
pub trait HasEvent: 'static {
    /// Its common columns.
    fn event(&self) -> &Event;
}

/// THREAD_ID to EVENT_NAME.
pub const fn identity<R: HasEvent>() -> [Column<R>; 4] {
    [
        col("THREAD_ID", U64, "The thread that ran the event.", |r| {
            r.event().thread_id.into()
        }),
        col(
            "EVENT_ID",
            U64,
            "The event's number, counted in its thread.",
            |r| r.event().event_id.into(),
        ),
        null(
            "END_EVENT_ID",
            U64,
            "The thread's last event number when this one ended; NULL while it runs.",
            |r| Cell::opt(r.event().end_event_id),
        ),
        col(
            "EVENT_NAME",
            "varchar(128)",
            "The instrument that made the event.",
            |r| (&*r.event().name).into(),
        ),
    ]
}

/// SOURCE to TIMER_WAIT.
pub const fn times<R: HasEvent>() -> [Column<R>; 4] {
    [
        null(
            "SOURCE",
            "varchar(64)",
            "File and line of the instrument point. Tare does not know it: NULL.",
            |r| Cell::opt(r.event().source.as_deref()),
        ),
        null(
            "TIMER_START",
            U64,
            "When it began, in picoseconds; NULL if it is counted only.",
            |r| Cell::opt(r.event().timer_start),
        ),
        null(
            "TIMER_END",
            U64,
            "When it ended, or the time of this reading while it runs.",
            |r| Cell::opt(r.event().timer_end),
        ),
        null(
            "TIMER_WAIT",
            U64,
            "How long it took, or has taken so far.",
            |r| Cell::opt(r.event().timer_wait),
        ),
    ]
}

/// MySQL's type of NESTING_EVENT_TYPE.
const NESTING: &str = "enum('TRANSACTION','STATEMENT','STAGE','WAIT')";

/// NESTING_EVENT_ID and NESTING_EVENT_TYPE.
pub const fn nesting<R: HasEvent>() -> [Column<R>; 2] {
    [
        null(
            "NESTING_EVENT_ID",
            U64,
            "EVENT_ID of the event within which this one ran.",
            |r| Cell::opt(r.event().nesting_event_id),
        ),
        null(
            "NESTING_EVENT_TYPE",
            NESTING,
            "The type of that event.",
            |r| Cell::opt(r.event().nesting_event_type),
        ),
    ]
}

/// How often and how long, in picoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Events counted.
    pub count: u64,
    /// The sum of their times.
    pub sum: u64,
    /// The shortest; 0 if none is timed.
    pub min: u64,
    /// The longest.
    pub max: u64,
}

impl Stat {
    /// SUM over COUNT; 0 without events.
    pub fn avg(&self) -> u64 {
        self.sum.checked_div(self.count).unwrap_or(0)
    }
}

/// A row that has a `Stat`.
pub trait HasStat: 'static {
    /// It.
    fn stat(&self) -> &Stat;
}

impl HasStat for Stat {
    fn stat(&self) -> &Stat {
        self
    }
}

/// COUNT_STAR to MAX_TIMER_WAIT.
pub const fn timing<R: HasStat>() -> [Column<R>; 5] {
    stats!("COUNT_STAR", "TIMER_WAIT", "Events counted.", r => r.stat())
}

/// Whose sums a row of a summary has. Which of the fields count depends on the table.
#[derive(Debug, Clone, Default)]
pub struct Owner {
    /// The thread, in summaries by thread.
    pub thread_id: u64,
    /// The account's user; NULL for background threads.
    pub user: Option<Arc<str>>,
    /// The account's host; NULL for background threads.
    pub host: Option<Arc<str>>,
}

/// A row of a summary.
pub trait HasOwner: 'static {
    /// Whose it is.
    fn owner(&self) -> &Owner;
}

/// One row of a summary by event name.
#[derive(Debug, Clone)]
pub struct Summary<S> {
    /// Whose it is.
    pub owner: Owner,
    /// The instrument.
    pub name: Arc<str>,
    /// What is summed.
    pub sums: S,
}

impl<S: HasStat> HasStat for Summary<S> {
    fn stat(&self) -> &Stat {
        self.sums.stat()
    }
}

impl<S: 'static> HasOwner for Summary<S> {
    fn owner(&self) -> &Owner {
        &self.owner
    }
}

/// THREAD_ID of a summary.
pub const fn by_thread<R: HasOwner>() -> [Column<R>; 1] {
    [col("THREAD_ID", U64, "The thread.", |r| {
        r.owner().thread_id.into()
    })]
}

/// USER of a summary.
pub const fn by_user<R: HasOwner>() -> [Column<R>; 1] {
    [null(
        "USER",
        "char(32)",
        "The user; NULL for threads without one.",
        |r: &R| Cell::opt(r.owner().user.as_deref()),
    )
    .binary()]
}

/// HOST of a summary.
pub const fn by_host<R: HasOwner>() -> [Column<R>; 1] {
    [null(
        "HOST",
        "char(60)",
        "The host; NULL for threads without one.",
        |r: &R| Cell::opt(r.owner().host.as_deref()),
    )]
}

/// EVENT_NAME of a summary.
pub const fn by_name<S: 'static>() -> [Column<Summary<S>>; 1] {
    [col("EVENT_NAME", "varchar(128)", "The instrument.", |r| {
        (&*r.name).into()
    })]
}

/// The keys of current and history.
pub const EVENT_KEYS: &[Key] = &[Key::Primary(&["THREAD_ID", "EVENT_ID"])];
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_of_nothing_is_zero() {
        assert_eq!(Stat::default().avg(), 0);
        assert_eq!(
            Stat {
                count: 3,
                sum: 10,
                min: 1,
                max: 7
            }
            .avg(),
            3
        );
    }
}
