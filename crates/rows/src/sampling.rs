//! Tables of schema `tare` about sampling: how events are sampled, and how good the estimates are.

use std::sync::Arc;

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, Update, col, null};

/// The rule while an exact window is open.
pub const EXACT_WINDOW: &str = "every, then active";

/// How events of a type are sampled.
#[derive(Debug, Clone)]
pub struct SamplingSetting {
    /// The group's number.
    pub id: u32,
    /// Its name.
    pub event_type: &'static str,
    /// `every`, `1/N`, `budget P %` or `active`.
    pub sampling: String,
    /// N.
    pub one_in: u64,
}

#[rustfmt::skip] // One column, one line.
static SETUP_SAMPLING: Spec<SamplingSetting> = Spec::new(
    "tare",
    "setup_sampling",
    "How events of each type are sampled. Statements, digests and errors are always counted exactly; `wait` includes \
     idle times. `1/N`: windows that are 1/N of the time are observed, or one allocation in N. `budget P %`: N is \
     chosen so that instrumentation takes at most P % of the program's CPU time. Of `memory`, allocations \
     below 4 KiB are drawn one by one, in servers behind the door; other programs count them all. `active`, which is \
     the level of all types: nothing is counted but statements in total, and each thread keeps what it does now.",
    &[&[
        col("event_type", "varchar(64)", "The event type.", |r: &SamplingSetting| r.event_type.into()),
        col("sampling", "varchar(64)", "`every`, `1/N`, `budget P %` or `active`; can be updated. `every, then active`: an exact window is open.", |r| r.sampling.as_str().into()),
        col("one_in", U64, "N at present.", |r| r.one_in.into()),
    ]],
    |view, _| view.snapshot.sampling_settings(),
)
.keys(&[Key::Primary(&["event_type"])])
.expect(4)
.update(
    |r| i64::from(r.id),
    Update {
        columns: &["sampling"],
        apply: |view, rowid, changes| view.snapshot.set_sampling(rowid as u32, changes),
    },
);

/// An estimate and its error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate {
    /// COUNT_STAR of the summary.
    pub count: u64,
    /// SUM_TIMER_WAIT of the summary, in picoseconds; of memory, bytes allocated.
    pub sum: u64,
    /// Events that were observed in windows.
    pub observed: u64,
    /// The windows with these events.
    pub windows: u64,
    /// What those events represent.
    pub weighted: u64,
    /// Standard error of the count.
    pub count_error: f64,
    /// Standard error of the sum, in its unit.
    pub sum_error: f64,
}

impl Estimate {
    /// Half the 95 % interval of the count, in percent of the count.
    pub fn percent(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => 100.0 * 1.96 * self.count_error / count as f64,
        }
    }

    fn weight(&self) -> Option<f64> {
        (self.observed != 0).then(|| self.weighted as f64 / self.observed as f64)
    }
}

/// An estimate of an instrument.
#[derive(Debug, Clone)]
pub struct InstrumentEstimate {
    /// The instrument.
    pub name: Arc<str>,
    /// The figures.
    pub estimate: Estimate,
}

impl AsRef<Estimate> for InstrumentEstimate {
    fn as_ref(&self) -> &Estimate {
        &self.estimate
    }
}

/// The columns that estimates share.
#[rustfmt::skip] // One column, one line.
const fn figures<R: AsRef<Estimate>>() -> [Column<R>; 9] {
    [
        col("count_star", U64, "Events: what was counted exactly, and what the observed ones stand for.", |r| r.as_ref().count.into()),
        col("count_error", "double", "The standard error of count_star; 0 if the count is exact.", |r| Cell::Real(r.as_ref().count_error)),
        col("count_error_pct", "double", "Half of the 95 % interval of count_star, in percent.", |r| Cell::Real(r.as_ref().percent())),
        col("sum_timer_wait", U64, "The estimated total wait time, in picoseconds; of memory, bytes.", |r| r.as_ref().sum.into()),
        col("sum_error", "double", "The standard error of sum_timer_wait, in the same unit.", |r| Cell::Real(r.as_ref().sum_error)),
        col("events_observed", U64, "Events observed in windows, or allocations drawn: the sample's size.", |r| r.as_ref().observed.into()),
        col("windows", U64, "Windows with these events; below 30 the error is inaccurate. 0 of memory.", |r| r.as_ref().windows.into()),
        col("events_represented", U64, "What these events stand for in count_star.", |r| r.as_ref().weighted.into()),
        null("avg_weight", "double", "The mean of events that one represents.", |r| Cell::opt(r.as_ref().weight())),
    ]
}

static INSTRUMENT_FIGURES: [Column<InstrumentEstimate>; 9] = figures();

#[rustfmt::skip] // One column, one line.
static BY_INSTRUMENT: Spec<InstrumentEstimate> = Spec::new(
    "tare",
    "sampling_by_instrument",
    "How good the estimates by event name are: of each instrument that was observed in windows, or of whose \
     allocations some were drawn.",
    &[
        &[col("event_name", "varchar(128)", "The instrument.", |r: &InstrumentEstimate| (&*r.name).into())],
        &INSTRUMENT_FIGURES,
    ],
    |view, _| view.snapshot.estimates(),
)
.keys(&[Key::Primary(&["event_name"])]);

/// What the governor decided.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Its number, from 1.
    pub number: u64,
    /// Microseconds since 1970.
    pub at_us: u64,
    /// The event type.
    pub event_type: &'static str,
    /// Why.
    pub reason: &'static str,
    /// N before, and from then on.
    pub rates: [u64; 2],
    /// Thousandths of a percent of CPU time: the budget, and what was spent just before.
    pub budget_spent: [u64; 2],
    /// Events a second.
    pub events: u64,
    /// What one costs, in picoseconds.
    pub unit_ps: u64,
}

#[rustfmt::skip] // One column, one line.
static GOVERNOR: Spec<Decision> = Spec::new(
    "tare",
    "governor",
    "What the governor of sampling decided: the last 256 changes of N of event types that have a budget.",
    &[&[
        col("decision", U64, "Its number.", |r: &Decision| r.number.into()),
        col("decided", "timestamp(6)", "When it was made.", |r| crate::time::timestamp(r.at_us).into()),
        col("event_type", "varchar(64)", "The event type.", |r| r.event_type.into()),
        col("reason", "varchar(64)", "Why N was changed.", |r| r.reason.into()),
        col("one_in_before", U64, "N before.", |r| r.rates[0].into()),
        col("one_in", U64, "N from then on.", |r| r.rates[1].into()),
        col("budget_pct", "double", "The budget, in percent of the program's CPU time.", |r| Cell::Real(r.budget_spent[0] as f64 / 1000.0)),
        col("spent_pct", "double", "The cost before, in percent of the CPU time.", |r| Cell::Real(r.budget_spent[1] as f64 / 1000.0)),
        col("events_per_second", U64, "Events a second, observed or not, estimated.", |r| r.events.into()),
        col("event_cost", U64, "What an observed event costs, in picoseconds, as measured when the governor began.", |r| r.unit_ps.into()),
    ]],
    |view, _| view.snapshot.decisions(),
)
.keys(&[Key::Primary(&["decision"])]);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&SETUP_SAMPLING, &BY_INSTRUMENT, &GOVERNOR];
