//! Data that rows about events share: an event's identity, times and nesting; sums and their owners.

use std::sync::Arc;

/// An event's columns that every type has. Times in picoseconds from the segment's start.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Event {
    pub thread_id: u64,
    pub event_id: u64,
    /// END_EVENT_ID; `None` while the event runs.
    pub end_event_id: Option<u64>,
    /// EVENT_NAME.
    pub name: Arc<str>,
    pub source: Option<Arc<str>>,
    /// TIMER_START; `None` if the event is counted, not timed.
    pub timer_start: Option<u64>,
    /// TIMER_END; of a running event, the time of the snapshot.
    pub timer_end: Option<u64>,
    pub timer_wait: Option<u64>,
    pub nesting_event_id: Option<u64>,
    pub nesting_event_type: Option<&'static str>,
}

/// A row that is an event.
pub trait HasEvent: 'static {
    /// Its common columns.
    fn event(&self) -> &Event;
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
    /// The sums.
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
