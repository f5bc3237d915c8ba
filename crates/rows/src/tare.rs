//! Schema `tare`: what MySQL does not have.

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::segment::{Contention, HistogramBucket, SegmentInfo};

const CONTENTION: &[Column<Contention>] = &[
    col("event_name", "varchar(128)", "The instrument.", |r| {
        (&*r.name).into()
    }),
    col("count_star", U64, "Acquisitions.", |r| r.count.into()),
    col(
        "count_contended",
        U64,
        "Acquisitions that had to wait.",
        |r| r.contended.into(),
    ),
    col(
        "contended_pct",
        "double",
        "The share of those, in percent.",
        |r| {
            Cell::Real(if r.count == 0 {
                0.0
            } else {
                r.contended as f64 * 100.0 / r.count as f64
            })
        },
    ),
    col(
        "sum_timer_wait",
        U64,
        "Time waited in all, in picoseconds.",
        |r| r.sum.into(),
    ),
    col(
        "avg_timer_contended",
        U64,
        "Average of a contended acquisition, in picoseconds.",
        |r| r.sum.checked_div(r.contended).unwrap_or(0).into(),
    ),
    col(
        "max_timer_wait",
        U64,
        "The longest wait, in picoseconds.",
        |r| r.max.into(),
    ),
    null(
        "p50_timer_wait",
        U64,
        "The median of the timed waits, in picoseconds, within 12.5 %; NULL if none was timed.",
        |r| Cell::opt(r.percentiles.map(|p| p[0])),
    ),
    null(
        "p95_timer_wait",
        U64,
        "95 % of the timed waits took at most this; NULL if none was timed.",
        |r| Cell::opt(r.percentiles.map(|p| p[1])),
    ),
    null(
        "p99_timer_wait",
        U64,
        "99 % of the timed waits took at most this; NULL if none was timed.",
        |r| Cell::opt(r.percentiles.map(|p| p[2])),
    ),
];

static CONTENTION_BY_NAME: Spec<Contention> = Spec::new(
    "tare",
    "contention_by_event_name",
    "Locks by instrument: how often they are taken, how often that had to wait, and how long.",
    &[CONTENTION],
    |view, filter| view.snapshot.contention(filter),
)
.keys(&[Key::Primary(&["event_name"])])
.filters(&["event_name"]);

const HISTOGRAM: &[Column<HistogramBucket>] = &[
    col("event_name", "varchar(128)", "The instrument.", |r| {
        (&*r.name).into()
    }),
    col(
        "bucket_number",
        "int(10) unsigned",
        "The bucket; only those with events are listed.",
        |r| r.number.into(),
    ),
    col(
        "bucket_timer_low",
        U64,
        "The shortest time that falls into it, in picoseconds.",
        |r| r.low.into(),
    ),
    col(
        "bucket_timer_high",
        U64,
        "The shortest time beyond it, in picoseconds.",
        |r| r.high.into(),
    ),
    col("count_bucket", U64, "Timed events in it.", |r| {
        r.count.into()
    }),
    col(
        "bucket_quantile",
        "double",
        "The share of timed events in it and the buckets below.",
        |r| Cell::Real(r.quantile),
    ),
];

static HISTOGRAM_BY_NAME: Spec<HistogramBucket> = Spec::new(
    "tare",
    "histogram_by_event_name",
    "Latency histograms of every type of event, by instrument.",
    &[HISTOGRAM],
    |view, filter| view.snapshot.histograms(filter),
)
.keys(&[Key::Primary(&["event_name", "bucket_number"])])
.filters(&["event_name"])
.expect(10_000);

const SEGMENT: &[Column<SegmentInfo>] = &[
    col("pid", U64, "The process that writes it.", |r| r.pid.into()),
    col("path", "varchar(512)", "Where it was attached.", |r| {
        r.path.as_str().into()
    }),
    col("program", "varchar(256)", "That process's program.", |r| {
        r.program.as_str().into()
    }),
    col(
        "layout_version",
        "int(10) unsigned",
        "The version of the segment's layout.",
        |r| r.layout_version.into(),
    ),
    col(
        "state",
        "enum('live','stopped','dead')",
        "Whether it is being written: dead if the writer ended without saying so.",
        |r| r.state.into(),
    ),
    col(
        "started",
        "timestamp(6)",
        "When recording began, in UTC.",
        |r| crate::time::timestamp(r.started_us).into(),
    ),
    null(
        "uptime_s",
        "double",
        "Seconds recorded; NULL once the writer is gone.",
        |r| Cell::opt(r.uptime_s),
    ),
    null(
        "resident_bytes",
        U64,
        "Memory that the segment takes.",
        |r| Cell::opt(r.resident_bytes),
    ),
    col("address_bytes", U64, "Address space that it spans.", |r| {
        r.address_bytes.into()
    }),
    col("bank_bytes", U64, "Memory of the threads' counters.", |r| {
        r.bank_bytes.into()
    }),
    col(
        "memory_limit",
        U64,
        "Limit on the threads' counters; 0 if there is none.",
        |r| r.memory_limit.into(),
    ),
    col("threads", U64, "Threads now.", |r| r.threads.into()),
    col("classes", U64, "Instruments registered.", |r| {
        r.classes.into()
    }),
    col(
        "instances",
        U64,
        "Locks, conditions and sockets now.",
        |r| r.instances.into(),
    ),
    col("files", U64, "Files seen.", |r| r.files.into()),
    col("accounts", U64, "Accounts seen.", |r| r.accounts.into()),
    col(
        "digests",
        U64,
        "Digests seen since the digest table was last truncated.",
        |r| r.digests.into(),
    ),
    col(
        "clock",
        "enum('tsc','clock_gettime')",
        "What ticks are.",
        |r| r.clock.into(),
    ),
    col("ticks_per_second", U64, "How fast they tick.", |r| {
        r.ticks_per_second.into()
    }),
    col(
        "lock_timing",
        "enum('contended','every')",
        "Which lock acquisitions are timed.",
        |r| r.lock_timing.into(),
    ),
];

macro_rules! lost {
    ($($name:literal $lost:ident $doc:literal,)*) => {
        &[$(col($name, U64, $doc, |r: &SegmentInfo| {
            r.lost[tare_layout::shared::Lost::$lost as usize].into()
        })),*]
    };
}

const LOST: &[Column<SegmentInfo>] = lost! {
    "threads_lost" Threads "Threads beyond the limit.",
    "thread_events_lost" ThreadEvents "Events of threads without a slot.",
    "signal_events_lost" SignalEvents "Events of signal handlers that interrupted the first event of a kind.",
    "classes_lost" Classes "Instruments beyond the limit.",
    "class_events_lost" ClassEvents "Events of instruments that were not registered.",
    "instances_lost" Instances "Locks and conditions beyond the limit.",
    "files_lost" Files "Files beyond the limit.",
    "accounts_lost" Accounts "Accounts beyond the limit.",
    "users_lost" Users "Users beyond the limit.",
    "hosts_lost" Hosts "Hosts beyond the limit.",
    "schemas_lost" Schemas "Default databases beyond the limit.",
    "digests_lost" Digests "Statements counted as all else, because their digest found no room.",
    "digests_evicted" DigestsEvicted "Digests that made room for others; what they had counted is all else's.",
    "rows_lost" Rows "Events that found no row within the memory limit.",
    "histograms_lost" Histograms "Times that found no room in a histogram.",
    "nested_statements_lost" NestedStatements "Statements nested too deep.",
    "nested_waits_lost" NestedWaits "Waits nested too deep to be shown as current.",
    "clock_backwards" ClockBackwards "Events that ended before they began, by the clock.",
    "timer_changes" TimerChanges "Events whose timer was changed while they ran: counted, not timed.",
    "instance_events_lost" InstanceEvents "Lock acquisitions whose count by instance found no room.",
    "forks" Forks "Children that run without Tare.",
    "tables_lost" Tables "Tables beyond the limit.",
    "programs_lost" Programs "Stored programs beyond the limit.",
    "indexes_lost" Indexes "Indexes beyond the limit: their io is shown for the table alone.",
    "table_handles_lost" TableHandles "Open tables beyond the limit.",
    "metadata_locks_lost" MetadataLocks "Metadata locks beyond the limit.",
    "prepared_statements_lost" PreparedStatements "Prepared statements beyond the limit.",
    "sockets_lost" Sockets "Sockets beyond the limit.",
    "metrics_lost" Metrics "Metrics beyond the limit.",
};

static SEGMENTS: Spec<SegmentInfo> = Spec::new(
    "tare",
    "segments",
    "The segments that these tables show: whose they are, what they hold and what was lost.",
    &[SEGMENT, LOST],
    |view, _| view.snapshot.segments(),
)
.keys(&[Key::Primary(&["pid"])])
.expect(1);

/// The tables of this file.
pub static TABLES: &[&[&dyn Table]] = &[
    &[&CONTENTION_BY_NAME, &HISTOGRAM_BY_NAME, &SEGMENTS],
    crate::cost::TABLES,
];

#[cfg(test)]
mod tests {
    #[test]
    fn every_loss_has_a_column() {
        assert_eq!(super::LOST.len(), tare_layout::shared::LOSSES);
    }
}
