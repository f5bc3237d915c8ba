//! The reader.

pub mod discover;
