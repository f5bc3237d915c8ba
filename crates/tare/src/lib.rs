//! The writer.

#[cfg(feature = "instrument")]
pub mod digest;
