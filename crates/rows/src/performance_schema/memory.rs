//! memory_summary_*_by_event_name.

use super::event::*;
use super::lists::summaries;
use crate::describe::{Column, I64, Key, Spec, Table, U64, col};
use crate::record::event::*;
use crate::record::memory::Memory;
use crate::snapshot::By;

type Row = Summary<Memory>;

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Row>] = &[
    col("COUNT_ALLOC", U64, "Allocations.", |r| r.sums.count_alloc.into()),
    col("COUNT_FREE", U64, "Frees.", |r| r.sums.count_free.into()),
    col("SUM_NUMBER_OF_BYTES_ALLOC", U64, "Bytes allocated, in total.", |r| r.sums.bytes_alloc.into()),
    col("SUM_NUMBER_OF_BYTES_FREE", U64, "Bytes freed, in total.", |r| r.sums.bytes_free.into()),
    col("LOW_COUNT_USED", I64, "The low-water mark of blocks in use.", |r| r.sums.low_count.into()),
    col("CURRENT_COUNT_USED", I64, "Allocated blocks that are in use now.", |r| r.sums.count.into()),
    col("HIGH_COUNT_USED", I64, "The high-water mark of blocks in use.", |r| r.sums.high_count.into()),
    col("LOW_NUMBER_OF_BYTES_USED", I64, "The low-water mark of bytes in use.", |r| r.sums.low_bytes.into()),
    col("CURRENT_NUMBER_OF_BYTES_USED", I64, "Bytes in use now.", |r| r.sums.bytes.into()),
    col("HIGH_NUMBER_OF_BYTES_USED", I64, "The high-water mark of bytes in use.", |r| r.sums.high_bytes.into()),
];

summaries!(
    Row,
    "memory",
    "event_name",
    "Memory usage",
    [&by_name(), COLUMNS],
    "EVENT_NAME",
    300,
    NARROW,
    memory,
    truncate_memory
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&GLOBAL, &THREAD, &ACCOUNT, &USER, &HOST];
