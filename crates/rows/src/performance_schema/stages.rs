//! events_stages_*: the steps of a statement.

use super::event::*;
use super::lists::{events, summaries};
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, null};
use crate::record::event::*;
use crate::record::stage::Stage;
use crate::snapshot::{By, Which};

#[rustfmt::skip] // One column, one line.
const WORK: &[Column<Stage>] = &[
    null("WORK_COMPLETED", U64, "Units of work done, where the stage reports progress.", |r| Cell::opt(r.work_completed)),
    null("WORK_ESTIMATED", U64, "Units of work expected, where the stage reports progress.", |r| Cell::opt(r.work_estimated)),
];

const EVENT: &[&[Column<Stage>]] = &[&identity(), &times(), WORK, &nesting()];

events!(Stage, "stages", "stage", EVENT, stages, truncate_stages);

summaries!(
    Summary<Stat>,
    "events_stages",
    "event_name",
    "Stages",
    [&by_name(), &timing()],
    "EVENT_NAME",
    200,
    WIDE,
    stage_summary,
    truncate_stage_summary
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &CURRENT,
    &HISTORY,
    &HISTORY_LONG,
    &GLOBAL,
    &THREAD,
    &ACCOUNT,
    &USER,
    &HOST,
];
