//! memory_summary_global_by_event_name.

use std::sync::Arc;

use super::event::GLOBAL_KEYS;
use crate::catalog::{Column, I64, Spec, Table, U64, col};

/// The memory of one instrument.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Memory {
    pub name: Arc<str>,
    pub count_alloc: u64,
    pub count_free: u64,
    pub bytes_alloc: u64,
    pub bytes_free: u64,
    pub low_count: i64,
    pub count: i64,
    pub high_count: i64,
    pub low_bytes: i64,
    pub bytes: i64,
    pub high_bytes: i64,
}

const COLUMNS: &[Column<Memory>] = &[
    col("EVENT_NAME", "varchar(128)", "The instrument.", |r| {
        (&*r.name).into()
    }),
    col("COUNT_ALLOC", U64, "Allocations.", |r| r.count_alloc.into()),
    col("COUNT_FREE", U64, "Frees.", |r| r.count_free.into()),
    col(
        "SUM_NUMBER_OF_BYTES_ALLOC",
        U64,
        "Bytes allocated in all.",
        |r| r.bytes_alloc.into(),
    ),
    col(
        "SUM_NUMBER_OF_BYTES_FREE",
        U64,
        "Bytes freed in all.",
        |r| r.bytes_free.into(),
    ),
    col("LOW_COUNT_USED", I64, "The fewest blocks in use.", |r| {
        r.low_count.into()
    }),
    col("CURRENT_COUNT_USED", I64, "Blocks in use.", |r| {
        r.count.into()
    }),
    col("HIGH_COUNT_USED", I64, "The most blocks in use.", |r| {
        r.high_count.into()
    }),
    col(
        "LOW_NUMBER_OF_BYTES_USED",
        I64,
        "The fewest bytes in use.",
        |r| r.low_bytes.into(),
    ),
    col("CURRENT_NUMBER_OF_BYTES_USED", I64, "Bytes in use.", |r| {
        r.bytes.into()
    }),
    col(
        "HIGH_NUMBER_OF_BYTES_USED",
        I64,
        "The most bytes in use.",
        |r| r.high_bytes.into(),
    ),
];

static GLOBAL: Spec<Memory> = Spec::new(
    "performance_schema",
    "memory_summary_global_by_event_name",
    "Memory allocated and freed, by instrument.",
    &[COLUMNS],
    |view, filter| view.snapshot.memory(filter),
)
.keys(GLOBAL_KEYS)
.filters(&["EVENT_NAME"])
.expect(300)
.truncate(|view| view.snapshot.truncate_memory());

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&GLOBAL];
