//! MySQL 5.7, as of 5.7.22: 135 functions `pfs_*_v1`, exported and called directly.

use crate::gate::{Entry, Series};

/// MySQL 5.7.
pub static SERIES: Series = Series {
    series: tare_image::Series::Mysql57,
    entries: ENTRIES,
};

/// Grows until it has all 135; the gate refuses a list that does not cover what the server exports.
pub static ENTRIES: &[Entry] = &[];
