//! Schema `tare`: what MySQL does not have.

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::segment::{Contention, HistogramBucket, SegmentInfo};

impl Contention {
    fn contended_percent(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => self.contended as f64 * 100.0 / count as f64,
        }
    }

    fn percentile(&self, i: usize) -> Cell<'_> {
        Cell::opt(self.percentiles.map(|percentiles| percentiles[i]))
    }
}

#[rustfmt::skip] // One column, one line.
const CONTENTION: &[Column<Contention>] = &[
    col("event_name", "varchar(128)", "The instrument.", |r| (&*r.name).into()),
    col("count_star", U64, "Lock acquisitions.", |r| r.count.into()),
    col("count_contended", U64, "Lock acquisitions that had to wait.", |r| r.contended.into()),
    col("contended_pct", "double", "The percentage of acquisitions that had to wait.", |r| Cell::Real(r.contended_percent())),
    col("sum_timer_wait", U64, "Total wait time, in picoseconds.", |r| r.sum.into()),
    col("avg_timer_contended", U64, "The average contended wait, in picoseconds.", |r| r.sum.checked_div(r.contended).unwrap_or(0).into()),
    col("max_timer_wait", U64, "The longest wait, in picoseconds.", |r| r.max.into()),
    null("p50_timer_wait", U64, "The median, in picoseconds, accurate to 12.5 %; NULL if none was timed.", |r| r.percentile(0)),
    null("p95_timer_wait", U64, "The 95th percentile, in picoseconds; NULL if none was timed.", |r| r.percentile(1)),
    null("p99_timer_wait", U64, "The 99th percentile, in picoseconds; NULL if none was timed.", |r| r.percentile(2)),
];

static CONTENTION_BY_NAME: Spec<Contention> = Spec::new(
    "tare",
    "contention_by_event_name",
    "Lock contention by instrument: acquisitions, how many of them had to wait, and how long.",
    &[CONTENTION],
    |view, filter| view.snapshot.contention(filter),
)
.keys(&[Key::Primary(&["event_name"])])
.filters(&["event_name"]);

#[rustfmt::skip] // One column, one line.
const HISTOGRAM: &[Column<HistogramBucket>] = &[
    col("event_name", "varchar(128)", "The instrument.", |r| (&*r.name).into()),
    col("bucket_number", "int(10) unsigned", "The bucket's number. Buckets without events are not listed.", |r| r.number.into()),
    col("bucket_timer_low", U64, "The lower bound of the bucket, in picoseconds.", |r| r.low.into()),
    col("bucket_timer_high", U64, "The upper bound of the bucket, in picoseconds.", |r| r.high.into()),
    col("count_bucket", U64, "Timed events in this bucket.", |r| r.count.into()),
    col("bucket_quantile", "double", "The fraction of timed events that are in this bucket or a lower one.", |r| Cell::Real(r.quantile)),
];

static HISTOGRAM_BY_NAME: Spec<HistogramBucket> = Spec::new(
    "tare",
    "histogram_by_event_name",
    "Latency histograms of all event types, by instrument.",
    &[HISTOGRAM],
    |view, filter| view.snapshot.histograms(filter),
)
.keys(&[Key::Primary(&["event_name", "bucket_number"])])
.filters(&["event_name"])
.expect(10_000);

#[rustfmt::skip] // One column, one line.
const SEGMENT: &[Column<SegmentInfo>] = &[
    col("pid", U64, "The process that writes the segment.", |r| r.pid.into()),
    col("path", "varchar(512)", "The path through which it was attached.", |r| r.path.as_str().into()),
    col("program", "varchar(256)", "The program of that process.", |r| r.program.as_str().into()),
    col("layout_version", "int(10) unsigned", "The version of the segment's layout.", |r| r.layout_version.into()),
    col("state", "enum('live','stopped','dead')", "The writer's state; dead: it ended without stopping the engine.", |r| r.state.into()),
    col("started", "timestamp(6)", "When recording began.", |r| crate::time::timestamp(r.started_us).into()),
    null("uptime_s", "double", "Seconds since recording began; NULL once the writer has ended.", |r| Cell::opt(r.uptime_s)),
    null("resident_bytes", U64, "Resident memory of the segment, in bytes.", |r| Cell::opt(r.resident_bytes)),
    col("address_bytes", U64, "Address space of the segment, in bytes.", |r| r.address_bytes.into()),
    col("bank_bytes", U64, "Memory used by the threads' counters, in bytes.", |r| r.bank_bytes.into()),
    col("memory_limit", U64, "The limit on that memory, in bytes; 0 for no limit.", |r| r.memory_limit.into()),
    col("threads", U64, "Instrumented threads now.", |r| r.threads.into()),
    col("classes", U64, "Registered instruments.", |r| r.classes.into()),
    col("instances", U64, "Instrumented mutexes, rwlocks, conditions and sockets now.", |r| r.instances.into()),
    col("files", U64, "Instrumented files.", |r| r.files.into()),
    col("accounts", U64, "Accounts that have connected.", |r| r.accounts.into()),
    col("digests", U64, "Digests seen since the digest table was last truncated.", |r| r.digests.into()),
    col("clock", "enum('tsc','clock_gettime')", "The clock that the ticks come from.", |r| r.clock.into()),
    col("ticks_per_second", U64, "The frequency of that clock, in ticks per second.", |r| r.ticks_per_second.into()),
    col("lock_timing", "enum('contended','every')", "Which lock acquisitions are timed.", |r| r.lock_timing.into()),
];

#[rustfmt::skip] // One column, one line.
macro_rules! lost {
    ($($name:literal $lost:ident $doc:literal,)*) => {
        &[$(col($name, U64, $doc, |r| r.lost[tare_layout::shared::Lost::$lost as usize].into())),*]
    };
}

const LOST: &[Column<SegmentInfo>] = lost! {
    "threads_lost" Threads "Threads not instrumented because the limit was reached.",
    "thread_events_lost" ThreadEvents "Events of threads that were not instrumented.",
    "signal_events_lost" SignalEvents "Events in signal handlers that interrupted the registration of an instrument or a row.",
    "classes_lost" Classes "Instruments not registered because the limit was reached.",
    "class_events_lost" ClassEvents "Events of instruments that were not registered.",
    "instances_lost" Instances "Mutexes, rwlocks and conditions not instrumented because the limit was reached.",
    "files_lost" Files "Files not recorded because the limit was reached.",
    "accounts_lost" Accounts "Accounts not recorded because the limit was reached.",
    "users_lost" Users "Users not recorded because the limit was reached.",
    "hosts_lost" Hosts "Hosts not recorded because the limit was reached.",
    "schemas_lost" Schemas "Default databases not recorded because the limit was reached.",
    "digests_lost" Digests "Statements counted in the row with DIGEST NULL because the digest table was full.",
    "digests_evicted" DigestsEvicted "Digests evicted for newer ones. What they had counted moved to the row with DIGEST NULL.",
    "rows_lost" Rows "Events not counted because the memory limit was reached.",
    "histograms_lost" Histograms "Times missing from histograms because there was no room.",
    "nested_statements_lost" NestedStatements "Statements not recorded because they were nested too deeply.",
    "nested_waits_lost" NestedWaits "Waits not shown as current because they were nested too deeply.",
    "clock_backwards" ClockBackwards "Events that ended before they began, according to the clock.",
    "timer_changes" TimerChanges "Events counted but not timed because their timer changed while they ran.",
    "instance_events_lost" InstanceEvents "Lock acquisitions not counted by instance because there was no room.",
    "forks" Forks "Child processes that run without instrumentation.",
    "tables_lost" Tables "Tables not recorded because the limit was reached.",
    "programs_lost" Programs "Stored programs not recorded because the limit was reached.",
    "indexes_lost" Indexes "Indexes not recorded because the limit was reached: their I/O is counted for the table only.",
    "table_handles_lost" TableHandles "Table handles not recorded because the limit was reached.",
    "metadata_locks_lost" MetadataLocks "Metadata locks not recorded because the limit was reached.",
    "prepared_statements_lost" PreparedStatements "Prepared statements not recorded because the limit was reached.",
    "sockets_lost" Sockets "Sockets not recorded because the limit was reached.",
    "metrics_lost" Metrics "Metrics not recorded because the limit was reached.",
    "sources_lost" Sources "Events kept without their source because there was no room for another file and line.",
    "row_locks_lost" RowLocks "Row locks and waits beyond the limit of data_locks and data_lock_waits.",
    "attributes_lost" Attributes "Threads whose connection attributes did not all fit.",
};

static SEGMENTS: Spec<SegmentInfo> = Spec::new(
    "tare",
    "segments",
    "The segments that these tables show: the program, the contents, and what could not be recorded.",
    &[SEGMENT, LOST],
    |view, _| view.snapshot.segments(),
)
.keys(&[Key::Primary(&["pid"])])
.expect(1);

/// The tables of this file.
pub static TABLES: &[&[&dyn Table]] = &[
    &[&CONTENTION_BY_NAME, &HISTOGRAM_BY_NAME, &SEGMENTS],
    crate::cost::TABLES,
    crate::sampling::TABLES,
    crate::active::TABLES,
];

#[cfg(test)]
mod tests {
    #[test]
    fn every_loss_has_a_column() {
        assert_eq!(super::LOST.len(), tare_layout::shared::LOSSES);
    }
}
