//! The cost of instrumentation: tare.cost_by_event_name, and its unit costs.

use std::sync::Arc;

use tare_layout::Kind;

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, U64, col, null};

/// The cost of one event of Tare's engine without the clock, in clock reads (one `rdtsc`), and the number of its
/// reads when it is timed.
///
/// The figures are from docs/results/2026-11-21-engine (`make bench`, ratios to one rdtsc of the same run). What it
/// does not measure is computed from instruction counts (crates/tare/benches/instructions.tsv), at 0.0045 rdtsc each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Counting it, timed or not.
    pub counting: f64,
    /// Sum, extremes and histogram of its time. Below zero where the processor does the rest while it reads the clock.
    pub recording: f64,
    /// Clock reads.
    pub reads: u64,
}

/// The unit costs of a kind of event.
pub fn unit(kind: Kind) -> Unit {
    let of = |counting, recording, reads| Unit {
        counting,
        recording,
        reads,
    };
    match kind {
        // lock_contended_mode - lock_plain = 0.14; a contended one is a wait.
        Kind::Mutex | Kind::RwLock | Kind::SxLock => of(0.14, 0.59, 2),
        // counted - floor = 0.20; event_timed - floor = 2.79.
        Kind::Cond | Kind::File => of(0.20, 0.59, 2),
        // A socket's operation begins where what was before ended: one read.
        Kind::Socket => of(0.20, 0.59, 1),
        // Rows of a table and of its index: event_timed and 80 instructions.
        Kind::TableIo => of(0.56, 0.59, 2),
        // table - table_off - event_timed: 185 instructions for two.
        Kind::TableLock | Kind::MetadataLock => of(0.42, 0.59, 2),
        // Begins and ends at clock reads of a socket and a statement.
        Kind::Idle => of(0.20, 0.59, 0),
        // stage_counted - floor = 0.50; stage - floor = 1.17, its one read included.
        Kind::Stage => of(0.50, -0.33, 1),
        // statement: 1,120 instructions with digest and text, and two reads: 8.3 rdtsc in all.
        Kind::Statement => of(5.70, 0.60, 2),
        // The transaction of a single statement shares the statement's clock reads.
        Kind::Transaction => of(0.40, 0.59, 0),
        // One add for the count and one for the bytes; metric, without its loop, has 22 instructions.
        Kind::Memory => of(0.15, 0.0, 0),
        Kind::Error => of(0.20, 0.0, 0),
        Kind::Thread => of(0.0, 0.0, 0),
    }
}

/// An instrument's cost.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are the columns'")]
pub struct Cost {
    pub name: Arc<str>,
    pub kind: &'static str,
    pub enabled: bool,
    pub timed: Option<bool>,
    pub count: u64,
    pub count_timed: u64,
    pub timer_reads: u64,
    /// All in picoseconds.
    pub timer: u64,
    pub recording: i64,
    pub counting: u64,
    /// Its share of the sum of all instruments.
    pub share: f64,
}

impl Cost {
    /// The total.
    pub fn sum(&self) -> u64 {
        (self.timer + self.counting).saturating_add_signed(self.recording)
    }
}

#[rustfmt::skip] // One column, one line.
const COSTS: &[Column<Cost>] = &[
    col("event_name", "varchar(128)", "The instrument.", |r| (&*r.name).into()),
    col("event_type", "enum('idle','wait','stage','statement','transaction','memory')", "The event type.", |r| r.kind.into()),
    col("enabled", "enum('YES','NO')", "Whether events are recorded now.", |r| yes(r.enabled)),
    null("timed", "enum('YES','NO')", "Whether events are timed now; NULL if they have no duration.", |r| r.timed.map_or(Cell::Null, yes)),
    col("count_star", U64, "Events counted; for memory, allocations and frees.", |r| r.count.into()),
    col("count_timed", U64, "Events that were timed: a free lock is timed only if lock_timing is `every`.", |r| r.count_timed.into()),
    col("timer_reads", U64, "Timer reads for these events.", |r| r.timer_reads.into()),
    col("sum_cost_timer", U64, "The cost of timer reads, in picoseconds: each performance_timers.TIMER_OVERHEAD.", |r| r.timer.into()),
    col("sum_cost_recording", I64, "The cost of sums and histograms; negative if it overlaps timer reads.", |r| r.recording.into()),
    col("sum_cost_counting", U64, "What counting costs, in picoseconds: the cost that remains when TIMED is NO.", |r| r.counting.into()),
    col("sum_cost", U64, "The sum of the three costs, in picoseconds.", |r| r.sum().into()),
    col("avg_cost", U64, "The average cost of one event, in picoseconds.", |r| r.sum().checked_div(r.count).unwrap_or(0).into()),
    col("cost_pct", "double", "The percentage of the cost of all instruments.", |r| Cell::Real(r.share)),
];

fn yes(is: bool) -> Cell<'static> {
    if is { "YES".into() } else { "NO".into() }
}

static COST_BY_NAME: Spec<Cost> = Spec::new(
    "tare",
    "cost_by_event_name",
    "The estimated CPU cost of each instrument: events times the cost of one event; of sampled \
     ones, those that were observed. `tare explain` computes it for an interval and compares it with the CPU time of the program.",
    &[COSTS],
    |view, filter| view.snapshot.costs(filter),
)
.keys(&[Key::Primary(&["event_name"])])
.filters(&["event_name"]);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&COST_BY_NAME];
