//! events_stages_*: the steps of a statement.

use super::event::*;
use crate::catalog::{Cell, Column, Spec, Table, U64, null};
use crate::tables::snapshot::{By, Which};

/// A stage.
#[derive(Debug, Clone, Default)]
pub struct Stage {
    /// The common columns.
    pub event: Event,
    /// WORK_COMPLETED.
    pub work_completed: Option<u64>,
    /// WORK_ESTIMATED.
    pub work_estimated: Option<u64>,
}

impl HasEvent for Stage {
    fn event(&self) -> &Event {
        &self.event
    }
}

const WORK: &[Column<Stage>] = &[
    null(
        "WORK_COMPLETED",
        U64,
        "Units of work done, where the stage reports progress.",
        |r| Cell::opt(r.work_completed),
    ),
    null(
        "WORK_ESTIMATED",
        U64,
        "Units of work expected, where the stage reports progress.",
        |r| Cell::opt(r.work_estimated),
    ),
];

const EVENT: &[&[Column<Stage>]] = &[&identity(), &times(), WORK, &nesting()];

static CURRENT: Spec<Stage> = Spec::new(
    "performance_schema",
    "events_stages_current",
    "The stage that each thread is in, or its last one.",
    EVENT,
    |view, filter| view.snapshot.stages(Which::Current, filter),
)
.keys(EVENT_KEYS)
.filters(&["THREAD_ID"])
.expect(500)
.truncate(|view| view.snapshot.truncate_stages(Which::Current));

static HISTORY: Spec<Stage> = Spec::new(
    "performance_schema",
    "events_stages_history",
    "The last stages of each thread.",
    EVENT,
    |view, filter| view.snapshot.stages(Which::History, filter),
)
.keys(EVENT_KEYS)
.filters(&["THREAD_ID"])
.expect(5000)
.truncate(|view| view.snapshot.truncate_stages(Which::History));

static HISTORY_LONG: Spec<Stage> = Spec::new(
    "performance_schema",
    "events_stages_history_long",
    "The last stages of all threads.",
    EVENT,
    |view, filter| view.snapshot.stages(Which::HistoryLong, filter),
)
.filters(&["THREAD_ID"])
.expect(10_000)
.truncate(|view| view.snapshot.truncate_stages(Which::HistoryLong));

static GLOBAL: Spec<Summary<Stat>> = Spec::new(
    "performance_schema",
    "events_stages_summary_global_by_event_name",
    "Stages of all threads, by instrument.",
    &[&by_name(), &timing()],
    |view, filter| view.snapshot.stage_summary(By::Global, filter),
)
.keys(GLOBAL_KEYS)
.filters(&["EVENT_NAME"])
.truncate(|view| view.snapshot.truncate_stage_summary(By::Global));

static THREAD: Spec<Summary<Stat>> = Spec::new(
    "performance_schema",
    "events_stages_summary_by_thread_by_event_name",
    "Stages of each thread, by instrument.",
    &[&by_thread(), &by_name(), &timing()],
    |view, filter| view.snapshot.stage_summary(By::Thread, filter),
)
.keys(THREAD_KEYS)
.filters(&["THREAD_ID", "EVENT_NAME"])
.expect(50_000)
.truncate(|view| view.snapshot.truncate_stage_summary(By::Thread));

static ACCOUNT: Spec<Summary<Stat>> = Spec::new(
    "performance_schema",
    "events_stages_summary_by_account_by_event_name",
    "Stages of each account, by instrument.",
    &[&by_account(), &by_name(), &timing()],
    |view, filter| view.snapshot.stage_summary(By::Account, filter),
)
.keys(ACCOUNT_KEYS)
.filters(&["EVENT_NAME"])
.expect(5000)
.truncate(|view| view.snapshot.truncate_stage_summary(By::Account));

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &CURRENT,
    &HISTORY,
    &HISTORY_LONG,
    &GLOBAL,
    &THREAD,
    &ACCOUNT,
];
