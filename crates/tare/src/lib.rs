//! The writer.
