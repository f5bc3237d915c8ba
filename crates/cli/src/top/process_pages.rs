//! The pages of a process that does not use Tare.

use super::drills::SHARE;
use super::sheet::{Measure, Sheet, col, sheet};

/// The pages, in the order of their keys.
pub static PROCESS_PAGES: [Sheet; 2] = [THREADS, PROCESSES];

// The second argument of a column names a field, which processes.rs fills.
const THREADS: Sheet = Sheet {
    has_idle_rows: true,
    ..sheet(
        "threads",
        "",
        &[
            col("CPU", "cpu", Measure::Time, 10),
            SHARE,
            col("DELAY", "delay", Measure::Time, 10),
            col("STATE", "state", Measure::Text, 17),
            col("CALL", "call", Measure::Text, 16),
            col("PROCESS", "process", Measure::KeyNumber, 8),
            col("THREAD", "thread", Measure::KeyNumber, 8),
            col("SLICES", "slices", Measure::Count, 8),
            col("READ", "read", Measure::Bytes, 10),
            col("WRITTEN", "written", Measure::Bytes, 10),
            col("NAME", "name", Measure::Text, 0),
        ],
    )
};

const PROCESSES: Sheet = Sheet {
    has_idle_rows: true,
    ..sheet(
        "processes",
        "",
        &[
            col("CPU", "cpu", Measure::Time, 10),
            SHARE,
            col("DELAY", "delay", Measure::Time, 10),
            col("SLICES", "slices", Measure::Count, 8),
            col("READ", "read", Measure::Bytes, 10),
            col("WRITTEN", "written", Measure::Bytes, 10),
            col("MEMORY", "memory", Measure::GaugeBytes, 10),
            col("THREADS", "threads", Measure::Gauge, 7),
            col("PARENT", "parent", Measure::Gauge, 8),
            col("PROCESS", "process", Measure::KeyNumber, 8),
            col("NAME", "name", Measure::Text, 0),
        ],
    )
};
