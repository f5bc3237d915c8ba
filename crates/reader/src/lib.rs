//! The reader.
