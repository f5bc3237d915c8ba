//! The series of servers that are known: their structures and their entries.

pub mod m57;

use crate::gate::Series;

/// Every series that this build serves.
pub static ALL: &[&Series] = &[&m57::SERIES];
