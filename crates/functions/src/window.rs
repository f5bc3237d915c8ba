//! Functions of windows: SQLite's.

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    sqlites("cume_dist", 0, 0, Double),
    sqlites("dense_rank", 0, 0, Unsigned),
    sqlites("first_value", 1, 1, Same(0)),
    sqlites("lag", 1, 3, Same(0)),
    sqlites("last_value", 1, 1, Same(0)),
    sqlites("lead", 1, 3, Same(0)),
    sqlites("nth_value", 2, 2, Same(0)),
    sqlites("ntile", 1, 1, Unsigned),
    sqlites("percent_rank", 0, 0, Double),
    sqlites("rank", 0, 0, Unsigned),
    sqlites("row_number", 0, 0, Unsigned),
];
