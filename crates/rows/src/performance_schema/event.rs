//! What the tables of all four event types share: an event's identity, times and nesting, and a
//! summary's owner and timing.

use super::lists::stats;
use crate::cell::Cell;
use crate::describe::{Column, Key, U64, col, null};

use crate::record::event::{HasEvent, HasOwner, HasStat, Summary};

/// THREAD_ID to EVENT_NAME.
#[rustfmt::skip] // One column, one line.
pub const fn identity<R: HasEvent>() -> [Column<R>; 4] {
    [
        col("THREAD_ID", U64, "The thread that ran the event.", |r| r.event().thread_id.into()),
        col("EVENT_ID", U64, "The event's number, unique within its thread.", |r| r.event().event_id.into()),
        null("END_EVENT_ID", U64, "The thread's latest EVENT_ID when it ended; NULL while it runs.", |r| Cell::opt(r.event().end_event_id)),
        col("EVENT_NAME", "varchar(128)", "The instrument.", |r| (&*r.event().name).into()),
    ]
}

/// SOURCE to TIMER_WAIT.
#[rustfmt::skip] // One column, one line.
pub const fn times<R: HasEvent>() -> [Column<R>; 4] {
    [
        null("SOURCE", "varchar(64)", "The instrument point's file and line; NULL if unknown.", |r| Cell::opt(r.event().source.as_deref())),
        null("TIMER_START", U64, "When it began, in picoseconds; NULL if it is not timed.", |r| Cell::opt(r.event().timer_start)),
        null("TIMER_END", U64, "When it ended; while it runs, the time of this query.", |r| Cell::opt(r.event().timer_end)),
        null("TIMER_WAIT", U64, "How long it took, or has taken so far, in picoseconds.", |r| Cell::opt(r.event().timer_wait)),
    ]
}

/// MySQL's type of NESTING_EVENT_TYPE.
const NESTING: &str = "enum('TRANSACTION','STATEMENT','STAGE','WAIT')";

/// NESTING_EVENT_ID and NESTING_EVENT_TYPE.
#[rustfmt::skip] // One column, one line.
pub const fn nesting<R: HasEvent>() -> [Column<R>; 2] {
    [
        null("NESTING_EVENT_ID", U64, "EVENT_ID of the enclosing event.", |r| Cell::opt(r.event().nesting_event_id)),
        null("NESTING_EVENT_TYPE", NESTING, "The type of the enclosing event.", |r| Cell::opt(r.event().nesting_event_type)),
    ]
}

/// COUNT_STAR to MAX_TIMER_WAIT.
pub const fn timing<R: HasStat>() -> [Column<R>; 5] {
    stats!("COUNT_STAR", "TIMER_WAIT", "Events counted.", r => r.stat())
}

/// THREAD_ID of a summary.
#[rustfmt::skip] // One column, one line.
pub const fn by_thread<R: HasOwner>() -> [Column<R>; 1] {
    [col("THREAD_ID", U64, "The thread.", |r| r.owner().thread_id.into())]
}

/// MariaDB's types of USER and HOST in a summary.
pub type Names = (&'static str, &'static str);
/// The types in other summaries.
pub const WIDE: Names = ("char(128)", "char(255)");
/// The types in summaries of transactions and memory.
pub const NARROW: Names = ("char(32)", "char(60)");

/// USER of a summary.
#[rustfmt::skip] // One column, one line.
pub const fn by_user<R: HasOwner>(mariadb: Names) -> [Column<R>; 1] {
    [null("USER", "char(32)", "The user; NULL if none.", |r: &R| Cell::opt(r.owner().user.as_deref())).in_mariadb(mariadb.0).binary()]
}

/// HOST of a summary.
#[rustfmt::skip] // One column, one line.
pub const fn by_host<R: HasOwner>(mariadb: Names) -> [Column<R>; 1] {
    [null("HOST", "char(60)", "The host; NULL if none.", |r: &R| Cell::opt(r.owner().host.as_deref()))
        .in_9_7("char(255)")
        .in_mariadb(mariadb.1)]
}

/// EVENT_NAME of a summary.
#[rustfmt::skip] // One column, one line.
pub const fn by_name<S: 'static>() -> [Column<Summary<S>>; 1] {
    [col("EVENT_NAME", "varchar(128)", "The instrument.", |r| (&*r.name).into())]
}

/// The keys of current and history.
pub const EVENT_KEYS: &[Key] = &[Key::Primary(&["THREAD_ID", "EVENT_ID"])];
