//! The series of servers that are known: their structures and their entries.

pub mod m57;
